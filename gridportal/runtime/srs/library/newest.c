/* Which checkpoint a program goes on from: the newest that is whole. One that is damaged is set aside. One that is in a
 * depot which does not answer stays where it is; without an earlier one the program ends, for to start from the beginning
 * would give up what it has computed. */
#define _POSIX_C_SOURCE 200809L
#include "calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FINISHED "finished"

/* A program that had come to its end starts from the beginning, and a stop that came too late for it is not meant for
 * this one. */
static int start_again(SRS *srs, const char *finished, const char *stop)
{
    struct srs_traces before;
    srs_sweep_begin(srs, &before);
    int problem = srs_clear(srs->folder);
    srs_sweep_end(srs, &before);
    if (problem)
        return problem;
    if (!remove(stop))
        fprintf(stderr, "%s came after the end of the last program, and is taken away.\n", stop);
    else if (errno != ENOENT)
        return srs_fail(SRS_BAD_FILES, "%s: %s.", stop, strerror(errno));
    return unlink(finished) ? srs_fail(SRS_BAD_FILES, "%s: %s.", finished, strerror(errno)) : 0;
}

/* Make the folder, so that a stop can be asked for. */
static int prepare(SRS *srs)
{
    char finished[SRS_PATH], stop[SRS_PATH];
    int problem = srs_make_folders(srs->folder);
    problem = problem ? problem : srs_join(finished, sizeof finished, srs->folder, FINISHED);
    problem = problem ? problem : srs_join(stop, sizeof stop, srs->folder, "stop");
    if (problem)
        return problem;
    if (!access(finished, F_OK))
        return start_again(srs, finished, stop);
    if (!access(stop, F_OK))
        fprintf(stderr, "%s was there before this program: it is stopped at once.\n", stop);
    return 0;
}

/* Let all ranks know which copies are not right. */
static int share_copies(SRS *srs)
{
    int64_t shards = 0, place = 0;
    struct srs_checkpoint *checkpoint = &srs->checkpoint;
    for (int64_t i = 0; i < checkpoint->arrays; i++)
        shards += checkpoint->array[i].shards;
    uint64_t *bad = srs_room((size_t)shards, sizeof *bad);
    int problem = srs_agreed(srs->comm, bad ? 0 : srs_no_memory());
    for (int64_t i = 0; !problem && i < checkpoint->arrays; i++)
        for (int64_t rank = 0; rank < checkpoint->array[i].shards; rank++)
            bad[place++] = checkpoint->array[i].shard[rank].bad;
    if (!problem)
        MPI_Allreduce(MPI_IN_PLACE, bad, (int)shards, MPI_UINT64_T, MPI_BOR, srs->comm);
    place = 0;
    for (int64_t i = 0; !problem && i < checkpoint->arrays; i++)
        for (int64_t rank = 0; rank < checkpoint->array[i].shards; rank++)
            checkpoint->array[i].shard[rank].bad = bad[place++];
    free(bad);
    return problem;
}

/* This rank's portion of all shards. Where some shard can never be had that counts, and not that one is silent. */
static int verify(SRS *srs)
{
    int problem = srs_verify(&srs->checkpoint, srs->rank, srs->size), damaged = problem && problem != SRS_SILENT;
    MPI_Allreduce(MPI_IN_PLACE, &damaged, 1, MPI_INT, MPI_LOR, srs->comm);
    if (damaged && problem == SRS_SILENT)
        problem = SRS_BAD_FILES;
    problem = srs_agreed(srs->comm, problem);
    return problem ? problem : share_copies(srs);
}

/* The manifest of a checkpoint, read by rank 0 and parsed by all; its shards, compared by all. */
static int open_checkpoint(SRS *srs, int64_t number)
{
    char *text = NULL;
    size_t length = 0;
    int problem = srs->rank ? 0 : srs_manifest_text(srs->folder, number, &text, &length);
    problem = srs_agreed(srs->comm, problem);
    problem = problem ? problem : srs_spread(srs->comm, &text, &length);
    if (!problem)
        problem = srs_manifest_parse(srs->folder, number, text, length, &srs->checkpoint);
    free(text);
    srs->checkpoint.depots = srs->depots;
    if (!problem && !srs->rank)
        problem = srs_check_lengths(&srs->checkpoint);
    problem = srs_agreed(srs->comm, problem);
    problem = problem ? problem : verify(srs);
    if (problem)
        srs_checkpoint_free(&srs->checkpoint);
    return problem;
}

/* A sentence; and where it can never be used it is none any more. */
static int pass_over(const SRS *srs, int64_t number, int problem)
{
    if (!srs->rank)
        fprintf(stderr, "Checkpoint %lld cannot be used: %s\n", (long long)number, srs_message);
    if (problem == SRS_SILENT)
        return 0;
    return srs_agreed(srs->comm, srs->rank ? 0 : srs_set_aside(srs->folder, number));
}

/* The complete checkpoints, the newest first, on all ranks. */
static int list_numbers(SRS *srs, int64_t **numbers, int64_t *count)
{
    int problem = srs->rank ? 0 : srs_numbers(srs->folder, numbers, count);
    problem = srs_agreed(srs->comm, problem);
    if (problem)
        return problem;
    MPI_Bcast(count, 1, MPI_INT64_T, 0, srs->comm);
    if (srs->rank)
        *numbers = srs_room((size_t)*count, sizeof **numbers);
    problem = srs_agreed(srs->comm, *numbers ? 0 : srs_no_memory());
    if (!problem)
        MPI_Bcast(*numbers, (int)*count, MPI_INT64_T, 0, srs->comm);
    return problem;
}

/* The number of the newest one that is left: the next one comes after it. */
static int last_number(SRS *srs)
{
    int64_t *numbers = NULL, count = 0;
    int problem = list_numbers(srs, &numbers, &count);
    srs->number = !problem && count ? numbers[0] : 0;
    free(numbers);
    return problem;
}

static int try_all(SRS *srs, const int64_t *numbers, int64_t count)
{
    char silent[SRS_SENTENCE] = "";
    for (int64_t i = 0; i < count; i++) {
        int problem = open_checkpoint(srs, numbers[i]);
        if (!problem) {
            srs->restart = 1;
            srs->from = numbers[i];
            return 0;
        }
        if (problem != SRS_BAD_FILES && problem != SRS_BAD_INPUT && problem != SRS_SILENT)
            return problem;
        if (problem == SRS_SILENT && !*silent)
            srs_copy_text(silent, sizeof silent, srs_message);
        if ((problem = pass_over(srs, numbers[i], problem)))
            return problem;
    }
    if (!*silent && count && !srs->rank)
        fprintf(stderr, "No other checkpoint is left: the program starts from the beginning.\n");
    if (!*silent)
        return 0;
    return srs_fail(SRS_SILENT, "There is no checkpoint to go on from now, and it is kept for later. %.800s", silent);
}

int srs_find_newest(SRS *srs)
{
    int64_t *numbers = NULL, count = 0;
    int problem = srs_agreed(srs->comm, srs->rank ? 0 : prepare(srs));
    problem = problem ? problem : list_numbers(srs, &numbers, &count);
    problem = problem ? problem : try_all(srs, numbers, count);
    free(numbers);
    return problem ? problem : last_number(srs);
}
