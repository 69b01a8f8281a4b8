/* A flame goes round a ring of cells: in it the chemistry takes many short steps, elsewhere one, so that a rank has much
   to compute while the flame is in its cells, and else waits. Usage: flame CELLS WIDTH SUBSTEPS SPECIES STEPS; each rank
   has CELLS, the flame is WIDTH cells wide and moves as far in each step; ranks send SPECIES numbers to both sides. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static double burn(double value, int substeps)
{
    double length = 0.01 / substeps;
    for (int k = 0; k < substeps; k++)
        value -= value * length;
    return value;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    double started = MPI_Wtime();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long cells = atol(argv[1]), width = atol(argv[2]), all = cells * ranks, burnt = 0;
    int substeps = atoi(argv[3]), species = atoi(argv[4]), steps = atoi(argv[5]), wrong = 0, any;
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    double *value = malloc(sizeof *value * (size_t)cells), *out = malloc(sizeof *out * (size_t)species);
    double *in = malloc(sizeof *in * (size_t)species), sum = 0, heat;
    for (long k = 0; k < cells; k++)
        value[k] = 1;
    for (int step = 0; step < steps; step++) {
        long first = step * width % all;
        double released = 0;
        for (long k = 0; k < cells; k++) {
            int inside = (rank * cells + k - first + all) % all < width;
            double before = value[k];
            value[k] = burn(before, inside ? substeps : 1);
            released += before - value[k];
            burnt += inside;
        }
        for (int k = 0; k < species; k++)
            out[k] = rank + step;
        MPI_Sendrecv(out, species, MPI_DOUBLE, right, 0, in, species, MPI_DOUBLE, left, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        wrong += in[species - 1] != left + step;
        MPI_Sendrecv(out, species, MPI_DOUBLE, left, 1, in, species, MPI_DOUBLE, right, 1, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        wrong += in[species - 1] != right + step;
        MPI_Allreduce(&released, &heat, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        sum += heat;
    }
    double mine = 0, left_over;
    long in_flame;
    for (long k = 0; k < cells; k++)
        mine += value[k];
    MPI_Allreduce(&mine, &left_over, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&burnt, &in_flame, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("seconds %.6f\nverified %s\n", MPI_Wtime() - started,
               any == 0 && in_flame == width * steps && fabs(sum + left_over - (double)all) < 1e-6 * (double)all
                   ? "yes"
                   : "no");
    MPI_Finalize();
    return 0;
}
