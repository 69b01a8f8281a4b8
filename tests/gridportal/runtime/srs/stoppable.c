/* The program of stoppable.py in C: every element of an array is computed anew in each step, from its own place.
 *
 * usage: stoppable FOLDER LAYOUT SHAPE STEPS STOP_AT PAUSE OUTPUT [NODES [EVERY [EVERY_CALLS [IN_FOREGROUND [STEPS]]]]]
 * LAYOUT may be map:N, where rank r has the places r, r + N, ... in falling order. STOP_AT and PAUSE 0: none. With NODES
 * (n1,n2) the ranks take themselves for such of these nodes. Rank 0 writes its step into the file STEPS and the whole array
 * into OUTPUT, and prints one JSON line. */
#define _POSIX_C_SOURCE 200809L
#include <gridportal_srs.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, ranks;
static int64_t shape[3] = {1, 1, 1}, local[3] = {1, 1, 1}, *places[3];

/* All ranks get the same error: they can end in order, and launchers lose nothing of what was said. */
static void need(int problem)
{
    if (!problem)
        return;
    fprintf(stderr, "rank %d: %d: %s\n", rank, problem, SRS_Message());
    MPI_Finalize();
    exit(1);
}

static int lengths_of(char *text)
{
    int dimensions = 0;
    for (char *word = strtok(text, ","); word; word = strtok(NULL, ","))
        shape[dimensions++] = atoll(word);
    return dimensions;
}

static void lay_out(SRS *srs, const char *layout, int dimensions, int mapped)
{
    if (mapped)
        local[0] = (shape[0] - rank + ranks - 1) / ranks;
    else
        need(SRS_LocalShape(srs, layout, dimensions, shape, local));
    for (int d = 0; d < 3; d++)
        places[d] = calloc((size_t)local[d] + 1, sizeof **places);
    for (int d = 0; d < dimensions && !mapped; d++)
        need(SRS_Places(srs, layout, dimensions, shape, d, places[d]));
    for (int64_t i = 0; i < local[0] && mapped; i++)
        places[0][i] = rank + (local[0] - 1 - i) * ranks;
}

static int64_t place_of(int64_t i, int64_t j, int64_t k)
{
    return (places[0][i] * shape[1] + places[1][j]) * shape[2] + places[2][k];
}

/* Copy between the whole array and this rank's part. */
static void exchange(double *x, double *whole, int into_whole)
{
    for (int64_t i = 0; i < local[0]; i++)
        for (int64_t j = 0; j < local[1]; j++)
            for (int64_t k = 0; k < local[2]; k++, x++)
                *(into_whole ? whole + place_of(i, j, k) : x) = into_whole ? *x : (double)place_of(i, j, k);
}

static void write_whole(double *x, const char *output)
{
    int64_t elements = shape[0] * shape[1] * shape[2];
    double *mine = calloc((size_t)elements + 1, sizeof *mine), *all = calloc((size_t)elements + 1, sizeof *all);
    exchange(x, mine, 1);
    MPI_Reduce(mine, all, (int)elements, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    FILE *file = rank ? NULL : fopen(output, "wb");
    if (file) {
        fwrite(all, sizeof *all, (size_t)elements, file);
        fclose(file);
    }
    free(mine);
    free(all);
}

/* The node that this rank is to take itself for. */
static void take_place(char *nodes)
{
    int count = 1, turn = 0;
    for (char *at = nodes; *at; at++)
        count += *at == ',';
    for (char *name = strtok(nodes, ","); name; name = strtok(NULL, ","))
        if (turn++ == rank % count)
            setenv("GRIDPORTAL_NODE", name, 1);
}

static void note_step(const char *path, int64_t step)
{
    FILE *file = rank ? NULL : fopen(path, "w");
    if (!file)
        return;
    fprintf(file, "%lld", (long long)step);
    fclose(file);
}

int main(int argc, char **argv)
{
    SRS *srs;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    SRS_Settings settings = {argc > 9 ? atof(argv[9]) : 0, argc > 10 ? atoll(argv[10]) : 0,
                             argc > 11 ? atoi(argv[11]) : 0, NULL};
    if (argc > 8 && *argv[8])
        take_place(argv[8]);
    int dimensions = lengths_of(argv[3]), mapped = !strncmp(argv[2], "map:", 4), stopped = 0;
    int64_t step = 0, last = atoll(argv[4]), stop_at = atoll(argv[5]);
    double pause = atof(argv[6]);
    need(SRS_InitWith(MPI_COMM_WORLD, argv[1], &settings, &srs));
    lay_out(srs, argv[2], dimensions, mapped);
    int64_t n = local[0] * local[1] * local[2];
    double *x = calloc((size_t)n + 1, sizeof *x);
    if (mapped)
        need(SRS_RegisterMap(srs, "x", x, n, SRS_DOUBLE, places[0]));
    else
        need(SRS_Register(srs, "x", x, n, SRS_DOUBLE, dimensions, shape, argv[2]));
    need(SRS_Register(srs, "step", &step, 1, SRS_INT64, 1, (int64_t[]){1}, NULL));
    need(SRS_StoreMap(srs));
    exchange(x, NULL, 0);
    if (SRS_RestartValue(srs)) {
        memset(x, 0, sizeof *x * (size_t)n);
        need(SRS_Read(srs, "x", NULL, mapped ? NULL : argv[2]));
        need(SRS_Read(srs, "step", NULL, NULL));
    }
    int restart = SRS_RestartValue(srs);
    int64_t began = step;
    while (step < last) {
        for (int64_t i = 0; i < n; i++) {
            x[i] *= 1.0000001;
            x[i] += 0.1 * (double)step;
        }
        step++;
        if (step == stop_at && rank == ranks - 1)
            SRS_AskStop(srs);
        if ((stopped = SRS_CheckStop(srs)))
            break;
        if (argc > 12)
            note_step(argv[12], step);
        struct timespec rest = {(time_t)pause, (long)(1e9 * (pause - floor(pause)))};
        if (pause > 0)
            nanosleep(&rest, NULL);
    }
    double writing, blocked;
    SRS_Seconds(srs, &writing, &blocked, NULL);
    need(SRS_Finish(srs));
    write_whole(x, argv[7]);
    int64_t *steps = calloc((size_t)ranks, sizeof *steps);
    MPI_Gather(&step, 1, MPI_INT64_T, steps, 1, MPI_INT64_T, 0, MPI_COMM_WORLD);
    for (int r = 0; r < ranks && !rank; r++)
        printf("%s%lld%s", r ? ", " : "{\"steps\": [", (long long)steps[r], r == ranks - 1 ? "], " : "");
    if (!rank)
        printf("\"restart\": %d, \"began\": %lld, \"stopped\": %d, \"writing\": %f, \"blocked\": %f}\n", restart,
               (long long)began, stopped, writing, blocked);
    for (int d = 0; d < 3; d++)
        free(places[d]);
    free(x);
    free(steps);
    MPI_Finalize();
    return 0;
}
