/* Particles on springs in cells, the cells in layers that are spread over a ring of ranks: each cell of an outer layer
   goes to the neighbour in a small message of its own. Usage: particles LAYERS CELLS STEPS; each rank has LAYERS of
   CELLS cells. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { EACH = 24 }; /* numbers of a cell: 8 particles, three directions */

static const double STEP = 0.05;
static int layers, cells, left, right;

static double *layer_of(double *all, int layer)
{
    return all + (size_t)layer * cells * EACH;
}

/* The outer layers of x to the neighbours, theirs into layers 0 and layers + 1. */
static void exchange(double *x, MPI_Request *requests)
{
    for (int cell = 0; cell < cells; cell++) {
        size_t at = (size_t)cell * EACH;
        MPI_Irecv(layer_of(x, 0) + at, EACH, MPI_DOUBLE, left, cell, MPI_COMM_WORLD, &requests[4 * cell]);
        MPI_Irecv(layer_of(x, layers + 1) + at, EACH, MPI_DOUBLE, right, cells + cell, MPI_COMM_WORLD,
                  &requests[4 * cell + 1]);
        MPI_Isend(layer_of(x, layers) + at, EACH, MPI_DOUBLE, right, cell, MPI_COMM_WORLD, &requests[4 * cell + 2]);
        MPI_Isend(layer_of(x, 1) + at, EACH, MPI_DOUBLE, left, cells + cell, MPI_COMM_WORLD, &requests[4 * cell + 3]);
    }
    MPI_Waitall(4 * cells, requests, MPI_STATUSES_IGNORE);
}

/* Each particle is drawn to its fellows in the layers beside it. */
static void push(double *x, double *v, double time)
{
    size_t width = (size_t)cells * EACH;
    for (size_t k = width; k < (size_t)(layers + 1) * width; k++)
        v[k] += time * (x[k - width] - 2 * x[k] + x[k + width]);
}

static double energy(const double *x, const double *v)
{
    size_t width = (size_t)cells * EACH;
    double mine = 0, all;
    for (size_t k = width; k < (size_t)(layers + 1) * width; k++)
        mine += v[k] * v[k] / 2 + (x[k + width] - x[k]) * (x[k + width] - x[k]) / 2;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    double started = MPI_Wtime(), first = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    layers = atoi(argv[1]);
    cells = atoi(argv[2]);
    int steps = atoi(argv[3]);
    left = (rank + ranks - 1) % ranks;
    right = (rank + 1) % ranks;
    size_t all = (size_t)(layers + 2) * cells * EACH;
    double *x = calloc(all, sizeof *x), *v = calloc(all, sizeof *v);
    MPI_Request *requests = malloc(4 * sizeof *requests * (size_t)cells);
    for (size_t k = (size_t)cells * EACH; k < all - (size_t)cells * EACH; k++)
        x[k] = sin((double)(k + all * (size_t)rank));
    exchange(x, requests);
    first = energy(x, v);
    for (int step = 0; step < steps; step++) {
        push(x, v, STEP / 2);
        for (size_t k = (size_t)cells * EACH; k < all - (size_t)cells * EACH; k++)
            x[k] += STEP * v[k];
        exchange(x, requests);
        push(x, v, STEP / 2);
    }
    double last = energy(x, v);
    if (rank == 0)
        printf("seconds %.6f\nverified %s\n", MPI_Wtime() - started, fabs(last / first - 1) < 0.01 ? "yes" : "no");
    MPI_Finalize();
    return 0;
}
