/* Calls of every kind with figures that the test knows; argv[1]: how often the main loop runs. */
#include <mpi.h>
#include <stdlib.h>

static int rank, size, right, left;
static double out[4096], in[4096];

static void point_to_point(void)
{
    MPI_Request both[2];
    int flag = 0;
    MPI_Irecv(in, 1000, MPI_DOUBLE, left, 7, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(out, 1000, MPI_DOUBLE, right, 7, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    MPI_Sendrecv(out, 10, MPI_INT, right, 1, in, 10, MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(in, 4, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &both[0]);
    MPI_Send(out, 4, MPI_CHAR, right, 3, MPI_COMM_WORLD);
    while (!flag)
        MPI_Test(&both[0], &flag, MPI_STATUS_IGNORE);
    MPI_Send(out, 1, MPI_DOUBLE, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
}

static void persistent(int times)
{
    MPI_Request kept[2];
    MPI_Recv_init(in, 100, MPI_INT, left, 9, MPI_COMM_WORLD, &kept[0]);
    MPI_Send_init(out, 100, MPI_INT, right, 9, MPI_COMM_WORLD, &kept[1]);
    for (int i = 0; i < times; i++) {
        MPI_Startall(2, kept);
        MPI_Waitall(2, kept, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&kept[0]);
    MPI_Request_free(&kept[1]);
}

static void collectives(void)
{
    int *counts = malloc(size * sizeof(int)), *places = calloc(size, sizeof(int));
    for (int i = 0; i < size; i++)
        counts[i] = i + 1;
    MPI_Request request;
    MPI_Bcast(out, 50, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Allreduce(out, in, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Alltoall(out, 5, MPI_INT, in, 5, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        places[i] = 100 * i;
    MPI_Gatherv(out, rank + 1, MPI_INT, in, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgatherv(out, rank + 1, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
    MPI_Iallreduce(MPI_IN_PLACE, in, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(counts);
    free(places);
}

/* Odd and even ranks apart, in reversed order: rank 0 of each half is the last of it. */
static void halves(void)
{
    MPI_Comm half;
    int mine, most;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &half);
    MPI_Comm_rank(half, &mine);
    MPI_Comm_size(half, &most);
    if (mine == 0 && most > 1)
        MPI_Send(out, 20, MPI_CHAR, 1, 2, half);
    if (mine == 1)
        MPI_Recv(in, 20, MPI_CHAR, 0, 2, half, MPI_STATUS_IGNORE);
    MPI_Comm_free(&half);
}

int main(int argc, char **argv)
{
    int times = argc > 1 ? atoi(argv[1]) : 10;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    for (int i = 0; i < times; i++)
        point_to_point();
    persistent(times);
    collectives();
    for (int i = 0; i < 3; i++)
        halves();
    MPI_Finalize();
    return 0;
}
