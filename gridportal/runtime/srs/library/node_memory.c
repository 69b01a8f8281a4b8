/* Whether the copies of all ranks of each node have room there. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>

#define PART_OF_MEMORY 2 /* one part in so many of the memory that is free on a node may be copies of data */

/* Bytes of the copies that this rank has not made yet. */
static int64_t wanted_here(const SRS *srs)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < srs->count; i++) {
        const struct srs_registered *each = srs->registered + i;
        if (!each->copy && (each->array.layout.dimensions || !srs->rank))
            bytes += each->bytes;
    }
    return bytes;
}

static int fits(const SRS *srs, const char *nodes, const int64_t *bytes)
{
    const char *mine = nodes + (size_t)srs->rank * MPI_MAX_PROCESSOR_NAME;
    int64_t wanted = 0;
    for (int rank = 0; rank < srs->size; rank++)
        if (!strcmp(nodes + (size_t)rank * MPI_MAX_PROCESSOR_NAME, mine))
            wanted += bytes[rank];
    return wanted <= srs_free_memory() / PART_OF_MEMORY;
}

int srs_has_memory(SRS *srs)
{
    char mine[MPI_MAX_PROCESSOR_NAME] = "";
    int length, there;
    int64_t wanted = wanted_here(srs), *bytes = srs_room((size_t)srs->size, sizeof *bytes);
    char *nodes = srs_room((size_t)srs->size, MPI_MAX_PROCESSOR_NAME);
    if (srs_agreed(srs->comm, bytes && nodes ? 0 : srs_no_memory())) {
        free(bytes);
        free(nodes);
        return 0;
    }
    MPI_Get_processor_name(mine, &length);
    MPI_Allgather(mine, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, nodes, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, srs->comm);
    MPI_Allgather(&wanted, 1, MPI_INT64_T, bytes, 1, MPI_INT64_T, srs->comm);
    there = fits(srs, nodes, bytes);
    MPI_Allreduce(MPI_IN_PLACE, &there, 1, MPI_INT, MPI_LAND, srs->comm);
    free(bytes);
    free(nodes);
    return there;
}
