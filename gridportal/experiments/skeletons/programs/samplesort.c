/* Sorts random keys by samples: all ranks agree on splitters, and each key goes to the rank whose range it is in
   (alltoallv). Usage: samplesort KEYS ROUNDS; each rank begins with KEYS. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLES = 512 };

static int rank, ranks;

static uint64_t drawn(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}

static int ascending(const void *a, const void *b)
{
    uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
    return (one > other) - (one < other);
}

/* The first key of each rank's range but the first's, from samples of sorted keys. */
static void find_splitters(const uint64_t *keys, int count, uint64_t *all, uint64_t *splitters)
{
    uint64_t mine[SAMPLES];
    for (int k = 0; k < SAMPLES; k++)
        mine[k] = keys[(long)k * count / SAMPLES];
    MPI_Allgather(mine, SAMPLES, MPI_UINT64_T, all, SAMPLES, MPI_UINT64_T, MPI_COMM_WORLD);
    qsort(all, (size_t)ranks * SAMPLES, sizeof *all, ascending);
    for (int other = 1; other < ranks; other++)
        splitters[other - 1] = all[other * SAMPLES];
}

/* Whether ranges follow one another, hold sorted keys, and all keys that there were. */
static int in_order(const uint64_t *keys, int count, uint64_t sum, int made)
{
    uint64_t ends[2] = {count ? keys[0] : UINT64_MAX, count ? keys[count - 1] : 0}, here = 0;
    uint64_t *all = malloc(2 * sizeof *all * (size_t)ranks);
    int good = 1;
    for (int k = 0; k < count; k++) {
        here += keys[k];
        good &= k == 0 || keys[k - 1] <= keys[k];
    }
    MPI_Allgather(ends, 2, MPI_UINT64_T, all, 2, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int other = 1; other < ranks; other++)
        good &= all[2 * other - 1] <= all[2 * other];
    free(all);
    uint64_t change[2] = {here - sum, (uint64_t)count - (uint64_t)made}, whole[2];
    int everywhere;
    MPI_Allreduce(change, whole, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&good, &everywhere, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return everywhere && whole[0] == 0 && whole[1] == 0;
}

/* Sends each key to its rank; how many have come. */
static int exchange(const uint64_t *keys, int made, const uint64_t *splitters, uint64_t *into, int room)
{
    int *out = calloc(4 * (size_t)ranks, sizeof *out), *from = out + ranks, *in = from + ranks, *to = in + ranks;
    int other = 0, come = 0;
    for (int k = 0; k < made; k++) {
        while (other < ranks - 1 && keys[k] >= splitters[other])
            other++;
        out[other]++;
    }
    MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, MPI_COMM_WORLD);
    for (int k = 0; k < ranks; k++) {
        from[k] = k ? from[k - 1] + out[k - 1] : 0;
        to[k] = come;
        come += in[k];
    }
    if (come > room)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Alltoallv(keys, out, from, MPI_UINT64_T, into, in, to, MPI_UINT64_T, MPI_COMM_WORLD);
    free(out);
    return come;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    double started = MPI_Wtime();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int made = atoi(argv[1]), rounds = atoi(argv[2]), good = 1;
    uint64_t state = 88172645463325252u + 1000003u * (uint64_t)rank;
    uint64_t *keys = malloc(sizeof *keys * (size_t)made), *into = malloc(2 * sizeof *into * (size_t)made);
    uint64_t *samples = malloc(sizeof *samples * SAMPLES * (size_t)ranks);
    uint64_t *splitters = malloc(sizeof *splitters * (size_t)ranks);
    for (int round = 0; round < rounds; round++) {
        uint64_t sum = 0;
        for (int k = 0; k < made; k++)
            sum += keys[k] = drawn(&state);
        qsort(keys, (size_t)made, sizeof *keys, ascending);
        find_splitters(keys, made, samples, splitters);
        int come = exchange(keys, made, splitters, into, 2 * made);
        qsort(into, (size_t)come, sizeof *into, ascending);
        good &= in_order(into, come, sum, made);
    }
    if (rank == 0)
        printf("seconds %.6f\nverified %s\n", MPI_Wtime() - started, good ? "yes" : "no");
    MPI_Finalize();
    return 0;
}
