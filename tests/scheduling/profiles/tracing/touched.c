/* Goes through BYTES of memory again and again, with a reduction between: touched BYTES SECONDS. */
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    size_t n = strtoul(argv[1], NULL, 10) / sizeof(double);
    double *memory = calloc(n, sizeof *memory), rounds = 0, all = 0, end = MPI_Wtime() + atof(argv[2]);
    for (int more = 1; more;) {
        for (size_t i = 0; i < n; i++)
            memory[i] += 1;
        rounds++;
        MPI_Allreduce(&rounds, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        more = MPI_Wtime() < end;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return all > 0 ? 0 : 1;
}
