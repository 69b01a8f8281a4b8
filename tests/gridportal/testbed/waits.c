/* Rank 0 sleeps for two seconds and then sends; what the others use of their processors meanwhile, in seconds. */
#include <mpi.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static double worked(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}

int main(int count, char **words)
{
    int rank, nothing = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    double before = worked();
    if (rank == 0)
        sleep(2);
    MPI_Bcast(&nothing, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank)
        printf("rank %d used %.3f\n", rank, worked() - before);
    MPI_Finalize();
    return 0;
}
