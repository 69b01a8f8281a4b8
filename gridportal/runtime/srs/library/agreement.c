/* What one rank finds wrong all ranks learn at the same call, so that none waits for a rank that has given up. */
#define _POSIX_C_SOURCE 200809L
#include "agreement.h"

#include <stdlib.h>
#include <time.h>

static double seconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double srs_now(void)
{
    return seconds(CLOCK_MONOTONIC);
}

double srs_unix_time(void)
{
    return seconds(CLOCK_REALTIME);
}

int srs_agreed(MPI_Comm comm, int problem)
{
    int rank, size, first;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int mine = problem ? rank : size;
    if (MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm))
        return srs_fail(SRS_BAD_MPI, "MPI gave an error.");
    if (first == size)
        return 0;
    MPI_Bcast(&problem, 1, MPI_INT, first, comm);
    MPI_Bcast(srs_message, SRS_SENTENCE, MPI_CHAR, first, comm);
    return problem;
}

int srs_spread(MPI_Comm comm, char **text, size_t *length)
{
    int rank;
    int64_t size = (int64_t)*length;
    MPI_Comm_rank(comm, &rank);
    MPI_Bcast(&size, 1, MPI_INT64_T, 0, comm);
    if (rank)
        *text = malloc((size_t)size + 1);
    int problem = srs_agreed(comm, *text ? 0 : srs_no_memory());
    if (problem)
        return problem;
    MPI_Bcast(*text, (int)size, MPI_CHAR, 0, comm); /* a manifest is 64 MiB at most */
    (*text)[size] = 0;
    *length = (size_t)size;
    return 0;
}
