/* Plays a communication skeleton: `mpiexec -n RANKS player PLAN TIMES`. Words behind these are the application's own,
 * for wrappers in its launcher that look at them, and mean nothing here. `player --rate` and `player --mpi` tell what work
 * this machine does and which MPI this is.
 *
 * Every rank runs its own line of each segment in the order of the schedule, and notes of each execution when it came to
 * the first call, when it was through, and its work before that call and in all; of a worker in a farm what it did after its
 * last task was given to it counts to the closing. Rank 0 leaves these times in TIMES;
 * gridportal.runtime.prediction makes of them how long the application would take. Ends with 2 and one sentence for
 * what cannot be played. */
#define _POSIX_C_SOURCE 200809L
#include "player.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "gridportal-times 1"
#define HEAD 32
#define LIBRARY 128
#define MOST_TEXT (256L * 1024 * 1024)
#define MOST_TIMES (256.0 * 1024 * 1024) /* bytes of the file of all ranks */
#define FIGURES 4
#define PIECE 1000000
#define TIMES_TAG 18
#define CALIBRATION 0.25

struct record {
    double arrived, ended, first, worked;
};

static struct record *records;
static size_t n_records;
static MPI_Request *requests;

static void segment(const struct plan *plan, int number)
{
    const struct line *line = &plan->lines[number];
    const struct op *op = plan->ops + line->first, *end = op + line->n;
    struct record *record = &records[n_records++];
    double before = worked;
    if (op < end && op->kind == WORK)
        work((op++)->seconds);
    record->first = worked - before;
    record->arrived = now();
    for (; op < end; op++)
        perform(plan, op, requests);
    record->ended = now();
    record->worked = worked - before;
    if (line->n && plan->ops[line->first].kind == WORKER) {
        record->ended = farm_times.handed;
        record->worked -= farm_times.last_work;
    } else if (line->n && plan->ops[line->first].kind == CLOSING && plan->ops[line->first].n_ranks == 1) {
        *record = (struct record){farm_times.handed + farm_times.last_work, farm_times.stopped, farm_times.last_work,
                                  farm_times.last_work};
    }
}

static void body(const struct plan *plan, int at, int end)
{
    while (at < end) {
        const struct node *node = &plan->nodes[at++];
        if (!node->count)
            segment(plan, node->segment);
        for (int round = 0; round < node->count; round++)
            body(plan, at, at + node->n);
        at += node->n;
    }
}

/* All of a file, for rank 0. */
static char *text_of(const char *path, long *size, char *problem)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    snprintf(problem, SENTENCE, "The skeleton's plan cannot be read.");
    if (!file)
        return NULL;
    if (!fseek(file, 0, SEEK_END) && (*size = ftell(file)) > 0 && *size <= MOST_TEXT && !fseek(file, 0, SEEK_SET))
        text = malloc((size_t)*size);
    if (text && fread(text, 1, (size_t)*size, file) != (size_t)*size) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

/* The plan, the same on every rank; -1 with a sentence on rank 0 at least. Collective. */
static int load(struct plan *plan, const char *path, int rank, int ranks, char *problem)
{
    long size = 0;
    char *text = rank ? NULL : text_of(path, &size, problem);
    if (!rank && !text)
        size = 0;
    MPI_Bcast(&size, 1, MPI_LONG, 0, MPI_COMM_WORLD);
    if (!size)
        return -1;
    if (rank && !(text = malloc((size_t)size)))
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Bcast(text, (int)size, MPI_CHAR, 0, MPI_COMM_WORLD);
    int failed = read_plan(plan, text, (size_t)size, rank, problem), anywhere;
    free(text);
    if (!failed && plan->ranks != ranks) {
        snprintf(problem, SENTENCE, "The skeleton was made for %d ranks and runs with %d.", plan->ranks, ranks);
        failed = -1;
    }
    if (!failed && (double)plan->executions * ranks * sizeof(struct record) > MOST_TIMES) {
        snprintf(problem, SENTENCE, "The skeleton runs too many segments on %d ranks to keep all their times.", ranks);
        failed = -1;
    }
    failed = failed ? rank + 1 : 0;
    MPI_Allreduce(&failed, &anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (anywhere)
        MPI_Bcast(problem, SENTENCE, MPI_CHAR, anywhere - 1, MPI_COMM_WORLD);
    return anywhere ? -1 : 0;
}

static void play(const struct plan *plan, double *figures)
{
    connect_peers(plan);
    double ahead = ahead_of_first();
    MPI_Barrier(MPI_COMM_WORLD);
    double started = now();
    body(plan, 0, plan->n_nodes);
    figures[0] = now() - started;
    figures[1] = worked;
    figures[2] = asked;
    for (size_t i = 0; i < n_records; i++) {
        records[i].arrived -= ahead;
        records[i].ended -= ahead;
    }
}

/* What a rank has: by itself into the file on rank 0, in pieces to rank 0 on the others. */
static int put(FILE *file, const double *values, size_t n)
{
    return fwrite(values, sizeof *values, n, file) == n ? 0 : -1;
}

static int collect(FILE *file, size_t n, int ranks)
{
    double *piece = malloc(PIECE * sizeof *piece);
    int failed = !piece;
    if (failed)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int rank = 1; rank < ranks; rank++)
        for (size_t at = 0; at < n; at += PIECE) {
            size_t part = n - at < PIECE ? n - at : PIECE;
            MPI_Recv(piece, (int)part, MPI_DOUBLE, rank, TIMES_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            failed = failed || put(file, piece, part);
        }
    free(piece);
    return failed;
}

/* The MPI's name without what follows it. */
static void name_mpi(char *name, size_t room)
{
    char mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(mpi, &length);
    for (char *at = mpi; *at; at++)
        *at = *at == '\t' ? ' ' : *at;
    snprintf(name, room, "%.*s", (int)strcspn(mpi, "\n,"), mpi);
}

static int leave_times(const char *path, const double *figures, int rank, int ranks)
{
    size_t n = n_records * 4;
    char head[HEAD] = MAGIC, partial[4096], library[LIBRARY] = "";
    int64_t counts[2] = {ranks, (int64_t)n_records};
    double *all = rank ? NULL : calloc((size_t)ranks * FIGURES, sizeof *all);
    int failed = 0;
    if (!rank && !all)
        MPI_Abort(MPI_COMM_WORLD, 2);
    MPI_Gather((void *)figures, FIGURES, MPI_DOUBLE, all, FIGURES, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (rank) {
        for (size_t at = 0; at < n; at += PIECE)
            MPI_Send((double *)records + at, (int)(n - at < PIECE ? n - at : PIECE), MPI_DOUBLE, 0, TIMES_TAG,
                     MPI_COMM_WORLD);
        return 0;
    }
    name_mpi(library, sizeof library);
    snprintf(partial, sizeof partial, "%s.part", path);
    FILE *file = fopen(partial, "wb");
    if (!file) {
        fprintf(stderr, "The skeleton's times cannot be written.\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
        return -1;
    }
    failed |= fwrite(head, sizeof head, 1, file) != 1 || fwrite(library, sizeof library, 1, file) != 1;
    failed |= fwrite(counts, sizeof counts, 1, file) != 1 || put(file, all, (size_t)ranks * FIGURES);
    failed |= put(file, (double *)records, n);
    failed |= collect(file, n, ranks);
    failed |= fclose(file);
    failed |= !failed && rename(partial, path);
    free(all);
    if (failed)
        fprintf(stderr, "The skeleton's times could not be completed.\n");
    return failed ? -1 : 0;
}

static int print_name(void)
{
    char name[LIBRARY];
    name_mpi(name, sizeof name);
    puts(name);
    return 0;
}

static int print_rate(void)
{
    printf("%.6g\n", measured_rate(CALIBRATION));
    return 0;
}

int main(int argc, char **argv)
{
    char problem[SENTENCE] = "";
    struct plan plan;
    double figures[FIGURES] = {0.0, 0.0, 0.0, 0.0};
    int rank, ranks;
    if (argc == 2 && !strcmp(argv[1], "--rate"))
        return print_rate();
    if (argc == 2 && !strcmp(argv[1], "--mpi"))
        return print_name();
    if (argc < 3) {
        fprintf(stderr, "Usage: player PLAN TIMES, started by mpiexec; or player --rate; or player --mpi.\n");
        return 2;
    }
    double started = now();
    MPI_Init(&argc, &argv);
    figures[3] = now() - started;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    int failed = load(&plan, argv[1], rank, ranks, problem) || prepare(&plan, problem);
    if (!failed) {
        records = calloc((size_t)plan.executions + 1, sizeof *records);
        requests = malloc(((size_t)plan.n_slots * 4 + 2) * sizeof *requests); /* and those that are waited for */
        if (!records || !requests)
            MPI_Abort(MPI_COMM_WORLD, 2);
        for (int i = 0; i < 2 * plan.n_slots; i++)
            requests[i] = MPI_REQUEST_NULL;
        play(&plan, figures);
        failed = leave_times(argv[2], figures, rank, ranks);
    } else if (!rank) {
        fprintf(stderr, "The skeleton cannot be played: %s\n", problem);
    }
    MPI_Finalize();
    return failed ? 2 : 0;
}
