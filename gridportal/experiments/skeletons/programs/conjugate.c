/* Conjugate gradients for (4 + 1/16) u - neighbours = f on a plane cut into stripes of rows: a row to each neighbour and
   two sums over all ranks in each iteration. Usage: conjugate COLUMNS ROWS ITERATIONS SYSTEMS; each rank has ROWS. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int columns, rows, above, below;

static double *plane(void)
{
    return calloc((size_t)(rows + 2) * columns, sizeof(double));
}

static double sum(double mine)
{
    double all;
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static double product(const double *a, const double *b)
{
    double mine = 0;
    for (long k = columns; k < (long)(rows + 1) * columns; k++)
        mine += a[k] * b[k];
    return sum(mine);
}

/* out = A in; rows 0 and rows + 1 of `in` are those of the neighbours. */
static void apply(double *in, double *out)
{
    double *last = in + (long)rows * columns;
    MPI_Sendrecv(in + columns, columns, MPI_DOUBLE, above, 0, last + columns, columns, MPI_DOUBLE, below, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(last, columns, MPI_DOUBLE, below, 1, in, columns, MPI_DOUBLE, above, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    for (int row = 1; row <= rows; row++) {
        const double *here = in + (long)row * columns;
        double *there = out + (long)row * columns;
        for (int k = 0; k < columns; k++) {
            double west = k > 0 ? here[k - 1] : 0, east = k + 1 < columns ? here[k + 1] : 0;
            there[k] = 4.0625 * here[k] - west - east - here[k - columns] - here[k + columns];
        }
    }
}

/* How far f - A x is from zero, as a part of f. */
static double solve(const double *f, double *x, double *r, double *p, double *q, int iterations)
{
    size_t all = (size_t)(rows + 2) * columns;
    memset(x, 0, all * sizeof(double));
    memcpy(r, f, all * sizeof(double));
    memcpy(p, f, all * sizeof(double));
    double square = product(r, r), first = square;
    for (int k = 0; k < iterations; k++) {
        apply(p, q);
        double step = square / product(p, q);
        for (size_t at = columns; at < all - columns; at++) {
            x[at] += step * p[at];
            r[at] -= step * q[at];
        }
        double before = square;
        square = product(r, r);
        for (size_t at = columns; at < all - columns; at++)
            p[at] = r[at] + square / before * p[at];
    }
    apply(x, q);
    for (size_t at = columns; at < all - columns; at++)
        r[at] = f[at] - q[at];
    return sqrt(product(r, r) / first);
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    double started = MPI_Wtime(), worst = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    columns = atoi(argv[1]);
    rows = atoi(argv[2]);
    int iterations = atoi(argv[3]), systems = atoi(argv[4]);
    above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    double *f = plane(), *x = plane(), *r = plane(), *p = plane(), *q = plane();
    for (int system = 0; system < systems; system++) {
        for (long k = columns; k < (long)(rows + 1) * columns; k++)
            f[k] = sin((k + 1.0) * (system + 1) + rank);
        worst = fmax(worst, solve(f, x, r, p, q, iterations));
    }
    if (rank == 0)
        printf("seconds %.6f\nverified %s\n", MPI_Wtime() - started, worst < 1e-3 ? "yes" : "no");
    MPI_Finalize();
    return 0;
}
