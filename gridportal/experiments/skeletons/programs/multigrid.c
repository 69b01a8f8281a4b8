/* Cycles over finer and coarser grids for a Poisson equation on a plane cut into stripes of rows. Each level has
   persistent requests of its own: rows of many sizes go to the neighbours. Usage: multigrid POINTS CYCLES; POINTS in
   each direction, a power of two. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 20, SMOOTHINGS = 2, ON_COARSEST = 8 };

/* u and f have rows 0 and rows + 1, and columns 0 and width - 1, around what the rank has. */
struct level {
    int rows, width;
    double *u, *f, *next;
    MPI_Request requests[4];
};

static struct level levels[LEVELS];
static int rank, ranks;

static double *plane(const struct level *of)
{
    return calloc((size_t)(of->rows + 2) * of->width, sizeof(double));
}

static void make(struct level *level, int points)
{
    int above = rank > 0 ? rank - 1 : MPI_PROC_NULL, below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
    level->rows = points / ranks;
    level->width = points + 2;
    level->u = plane(level);
    level->f = plane(level);
    level->next = plane(level);
    double *first = level->u + level->width, *last = level->u + (long)level->rows * level->width;
    MPI_Send_init(first + 1, points, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &level->requests[0]);
    MPI_Send_init(last + 1, points, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &level->requests[1]);
    MPI_Recv_init(level->u + 1, points, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &level->requests[2]);
    MPI_Recv_init(last + level->width + 1, points, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &level->requests[3]);
}

/* What is around the rows of a rank: those of the neighbours, and at the walls what makes the value there zero. */
static void exchange(struct level *level)
{
    int width = level->width;
    double *u = level->u, *last = u + (long)level->rows * width;
    MPI_Startall(4, level->requests);
    for (int row = 1; row <= level->rows; row++) {
        u[(long)row * width] = -u[(long)row * width + 1];
        u[(long)(row + 1) * width - 1] = -u[(long)(row + 1) * width - 2];
    }
    MPI_Waitall(4, level->requests, MPI_STATUSES_IGNORE);
    for (int k = 1; k < width - 1; k++) {
        u[k] = rank == 0 ? -u[width + k] : u[k];
        last[width + k] = rank == ranks - 1 ? -last[k] : last[width + k];
    }
}

/* Damped Jacobi; rows of neighbours are exchanged before each. */
static void smooth(struct level *level, int times)
{
    int width = level->width;
    for (int time = 0; time < times; time++) {
        exchange(level);
        for (int row = 1; row <= level->rows; row++)
            for (int k = 1; k < width - 1; k++) {
                const double *u = level->u + (long)row * width + k;
                double mean = (u[-1] + u[1] + u[-width] + u[width] + level->f[(long)row * width + k]) / 4;
                level->next[(long)row * width + k] = u[0] + 0.8 * (mean - u[0]);
            }
        memcpy(level->u + width, level->next + width, sizeof(double) * (size_t)level->rows * width);
    }
}

/* f - A u into next. */
static void find_residual(struct level *level)
{
    int width = level->width;
    exchange(level);
    for (int row = 1; row <= level->rows; row++)
        for (int k = 1; k < width - 1; k++) {
            const double *u = level->u + (long)row * width + k;
            double applied = 4 * u[0] - u[-1] - u[1] - u[-width] - u[width];
            level->next[(long)row * width + k] = level->f[(long)row * width + k] - applied;
        }
}

/* Points of a coarser grid are means of four; what they are corrected by goes to all four. */
static void cycle(struct level *level, int left)
{
    if (left == 0) {
        smooth(level, ON_COARSEST);
        return;
    }
    struct level *coarse = level + 1;
    smooth(level, SMOOTHINGS);
    find_residual(level);
    memset(coarse->u, 0, sizeof(double) * (size_t)(coarse->rows + 2) * coarse->width);
    for (int row = 1; row <= coarse->rows; row++)
        for (int k = 1; k < coarse->width - 1; k++) {
            const double *r = level->next + (long)(2 * row - 1) * level->width + 2 * k - 1;
            coarse->f[(long)row * coarse->width + k] = r[0] + r[1] + r[level->width] + r[level->width + 1];
        }
    cycle(coarse, left - 1);
    for (int row = 1; row <= level->rows; row++)
        for (int k = 1; k < level->width - 1; k++)
            level->u[(long)row * level->width + k] += coarse->u[(long)((row + 1) / 2) * coarse->width + (k + 1) / 2];
    smooth(level, SMOOTHINGS);
}

static double residual(struct level *level)
{
    double mine = 0, all;
    find_residual(level);
    for (int row = 1; row <= level->rows; row++)
        for (int k = 1; k < level->width - 1; k++)
            mine += pow(level->next[(long)row * level->width + k], 2);
    MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sqrt(all);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    double started = MPI_Wtime();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int points = atoi(argv[1]), cycles = atoi(argv[2]), depth = 0;
    for (int here = points; here / ranks >= 2 && depth < LEVELS; here /= 2)
        make(&levels[depth++], here);
    struct level *finest = &levels[0];
    for (int row = 1; row <= finest->rows; row++)
        for (int k = 1; k < finest->width - 1; k++)
            finest->f[(long)row * finest->width + k] = sin(0.1 * k) * cos(0.3 * (row + rank));
    double first = residual(finest), last = first, worst = 0;
    for (int at = 0; at < cycles; at++) {
        cycle(finest, depth - 1);
        double before = last;
        last = residual(finest);
        worst = fmax(worst, at < 5 ? last / before : 0);
    }
    if (rank == 0)
        printf("seconds %.6f\nverified %s\n", MPI_Wtime() - started, worst < 0.9 && last < first ? "yes" : "no");
    for (int at = 0; at < 4 * depth; at++)
        MPI_Request_free(&levels[at / 4].requests[at % 4]);
    MPI_Finalize();
    return 0;
}
