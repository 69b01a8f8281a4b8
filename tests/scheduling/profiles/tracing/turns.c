/* Each rank in turn has three times as much to do, and all wait for all: turns ROUNDS MILLISECONDS INNER. A rank writes
   to FOLDER/RANK the cpu seconds of each round's work, one a line; a round has INNER calls more after its work. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double cpu(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

int main(int argc, char **argv)
{
    int rank, ranks, rounds = atoi(argv[1]), inner = atoi(argv[3]);
    double unit = 1e-3 * atof(argv[2]), one = 1, all;
    char name[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double *seconds = malloc((size_t)rounds * sizeof *seconds);
    for (int round = 0; round < rounds; round++) {
        double before = cpu(), until = before + (round % ranks == rank ? 3 : 1) * unit;
        while (cpu() < until)
            ;
        seconds[round] = cpu() - before;
        MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        for (int i = 0; i < inner; i++)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    snprintf(name, sizeof name, "FOLDER/%d", rank);
    FILE *file = fopen(name, "w");
    for (int round = 0; round < rounds; round++)
        fprintf(file, "%.9f\n", seconds[round]);
    return fclose(file);
}
