/* Ranks that exchange 8 bytes again and again and compute a little between; one rank alone exchanges with itself.
 *
 * argv: how many rounds, how much is computed in each. Prints the cpu seconds of rank 0 in the loop and its wall
 * seconds: a machine that others use as well changes the second, hardly the first. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile double sink;

static double cpu(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void compute(int amount)
{
    double x = sink;
    for (int i = 0; i < amount; i++)
        x = x * 0.999 + 1.0;
    sink = x;
}

static void exchange(int peer)
{
    double out = 1.0, in;
    MPI_Request both[2];
    MPI_Status statuses[2];
    MPI_Irecv(&in, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(&out, 1, MPI_DOUBLE, peer, 0, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, statuses);
}

int main(int argc, char **argv)
{
    int rank, ranks, rounds = atoi(argv[1]), amount = atoi(argv[2]);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Barrier(MPI_COMM_WORLD);
    double spent = cpu(), start = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        compute(amount);
        exchange(ranks - 1 - rank);
    }
    if (rank == 0)
        printf("%.9f %.9f\n", cpu() - spent, MPI_Wtime() - start);
    MPI_Finalize();
    return 0;
}
