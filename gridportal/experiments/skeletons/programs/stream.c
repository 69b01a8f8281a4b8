/* Long arrays that fit no cache are added up again and again; a part of them goes round a ring of ranks. Usage: stream
   NUMBERS SHARED STEPS; each rank has three arrays of NUMBERS, SHARED of them go to the next rank in each step. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    double started = MPI_Wtime();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long numbers = atol(argv[1]);
    int shared = atoi(argv[2]), steps = atoi(argv[3]);
    double *a = malloc(sizeof *a * (size_t)numbers), *b = malloc(sizeof *b * (size_t)numbers);
    double *c = malloc(sizeof *c * (size_t)numbers), mine = 0, all;
    for (long k = 0; k < numbers; k++) {
        a[k] = 0;
        b[k] = 1;
        c[k] = rank;
    }
    for (int step = 0; step < steps; step++) {
        MPI_Sendrecv_replace(c, shared, MPI_DOUBLE, (rank + 1) % ranks, 0, (rank + ranks - 1) % ranks, 0,
                             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (long k = 0; k < numbers; k++)
            a[k] = b[k] + 2 * c[k];
        for (long k = 0; k < numbers; k++)
            b[k] = a[k] - 2 * c[k];
    }
    for (long k = 0; k < numbers; k++)
        mine += (b[k] - 1) + (k < shared ? c[k] - (rank + (long)ranks * steps - steps) % ranks : c[k] - rank);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("seconds %.6f\nverified %s\n", MPI_Wtime() - started, fabs(all) == 0 ? "yes" : "no");
    MPI_Finalize();
    return 0;
}
