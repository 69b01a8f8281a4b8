/* Reads a plan: numbers and letters between white space, nothing else. Every rank reads all of it and keeps its own. */
#include "player.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 1000000000000000000LL
#define MOST_OPS 4000000
#define MOST_NODES 4000000
#define MOST_SLOTS 1000000
#define MOST_DEPTH 64
#define MOST_RUNS 5000000
#define MOST_TASKS 32000 /* a task's number is a tag, and MPI promises so many */

static const char *const names[KINDS] = {
    "work", "wait", "master", "worker", "closing", "send", "ssend", "recv", "sendrecv", "barrier", "bcast", "gather", "gatherv", "scatter", "scatterv",
    "allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw", "reduce", "allreduce", "reduce_scatter",
    "reduce_scatter_block", "scan", "exscan",
};

struct reader {
    const char *at, *end;
    char *problem;
    int failed, own; /* own: whether what is read now is this rank's */
    struct plan *plan;
};

static void fail(struct reader *in, const char *sentence)
{
    if (!in->failed)
        snprintf(in->problem, SENTENCE, "%s", sentence);
    in->failed = 1;
}

/* The next word, of at most `room` - 1 letters. */
static void word(struct reader *in, char *into, size_t room)
{
    size_t n = 0;
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\n'))
        in->at++;
    while (in->at < in->end && *in->at != ' ' && *in->at != '\n' && n + 1 < room)
        into[n++] = *in->at++;
    into[n] = 0;
    if (!n || n + 1 == room)
        fail(in, "The plan ends too early, or has a word that is too long.");
}

static long long whole(struct reader *in, long long low, long long high)
{
    char text[32], *rest;
    word(in, text, sizeof text);
    errno = 0;
    long long value = strtoll(text, &rest, 10);
    if (errno || *rest || value < low || value > high) {
        char sentence[SENTENCE];
        snprintf(sentence, sizeof sentence, "The plan has %s where a whole number from %lld to %lld is expected.", text,
                 low, high);
        fail(in, sentence);
    }
    return in->failed ? low : value;
}

static double figure(struct reader *in, double high)
{
    char text[40], *rest;
    word(in, text, sizeof text);
    double value = strtod(text, &rest);
    if (*rest || !(value >= 0.0 && value <= high)) {
        char sentence[SENTENCE];
        snprintf(sentence, sizeof sentence, "The plan has %s where a number from 0 to %g is expected.", text, high);
        fail(in, sentence);
    }
    return in->failed ? 0.0 : value;
}

static void expect(struct reader *in, const char *wanted)
{
    char text[32];
    word(in, text, sizeof text);
    if (strcmp(text, wanted)) {
        char sentence[SENTENCE];
        snprintf(sentence, sizeof sentence, "The plan has %s where %s is expected.", text, wanted);
        fail(in, sentence);
    }
}

/* Room for `n` of `size` bytes: as the text is bounded, so is what it asks for. */
static void *room(struct reader *in, size_t n, size_t size)
{
    void *made = calloc(n ? n : 1, size);
    if (!made)
        fail(in, "There is too little memory for the plan.");
    return made;
}

/* For tables that grow while they are read. */
static int grow(struct reader *in, void **table, int n, int *have, size_t size)
{
    if (n < *have)
        return 1;
    int more = *have ? 2 * *have : 256;
    void *made = realloc(*table, (size_t)more * size);
    if (!made) {
        fail(in, "There is too little memory for the plan.");
        return 0;
    }
    *table = made;
    *have = more;
    return 1;
}

static void read_comm(struct reader *in, struct comm *comm)
{
    comm->comm = MPI_COMM_NULL;
    comm->rank = -1;
    comm->size = (int)whole(in, 1, in->plan->ranks);
    comm->members = room(in, (size_t)comm->size, sizeof(int));
    for (int i = 0; i < comm->size && !in->failed; i++) {
        comm->members[i] = (int)whole(in, 0, in->plan->ranks - 1);
        if (comm->members[i] != in->plan->rank)
            continue;
        if (comm->rank >= 0)
            fail(in, "The plan has a communicator with one rank twice.");
        comm->rank = i;
    }
}

static enum kind kind_of(struct reader *in)
{
    char text[32];
    word(in, text, sizeof text);
    for (int kind = 0; kind < KINDS; kind++)
        if (!strcmp(text, names[kind]))
            return (enum kind)kind;
    char sentence[SENTENCE];
    snprintf(sentence, sizeof sentence, "The plan has the operation %s, which is not known here.", text);
    fail(in, sentence);
    return WORK;
}

/* Numbers of bytes, one for each rank of a communicator, or none; their sum. */
static long long read_counts(struct reader *in, int size, int *n, long long **counts)
{
    long long sum = 0;
    *n = (int)whole(in, 0, size);
    if (*n && *n != size)
        fail(in, "The plan has another number of counts than ranks in a communicator.");
    if (in->own && !in->failed)
        *counts = room(in, (size_t)*n, sizeof(long long));
    for (int i = 0; i < *n && !in->failed; i++) {
        long long count = whole(in, 0, MOST);
        sum = count > MOST - sum ? MOST : sum + count;
        if (in->own && !in->failed)
            (*counts)[i] = count;
    }
    return sum;
}

static void check_counts(struct reader *in, const struct op *op)
{
    int at_root = (op->kind == GATHERV || op->kind == SCATTERV) && op->root == in->plan->comms[op->comm].rank;
    int all = op->kind == ALLGATHERV || op->kind == ALLTOALLV || op->kind == ALLTOALLW;
    if ((all || at_root) && !op->n_counts)
        fail(in, "The plan has a call without the counts that it needs.");
    if ((op->kind == ALLTOALLV || op->kind == ALLTOALLW) && !op->n_from)
        fail(in, "The plan has an exchange without the counts of what comes.");
}

static void read_collective(struct reader *in, struct op *op)
{
    op->comm = (int)whole(in, 0, in->plan->n_comms - 1);
    if (in->failed)
        return;
    const struct comm *comm = &in->plan->comms[op->comm];
    op->bytes = whole(in, 0, MOST);
    op->root = (int)whole(in, 0, comm->size - 1);
    op->slot = (int)whole(in, NO_SLOT, MOST_SLOTS - 1);
    long long most = op->bytes, sum = read_counts(in, comm->size, &op->n_counts, &op->counts);
    if (op->kind == GATHER || op->kind == SCATTER || op->kind == ALLGATHER)
        most = most > MOST / comm->size ? MOST : most * comm->size;
    most = sum > most ? sum : most;
    sum = read_counts(in, comm->size, &op->n_from, &op->from_counts);
    most = sum > most ? sum : most;
    if (most > INT_MAX)
        in->plan->huge[op->kind] = 1;
    if (in->own && !in->failed && comm->rank < 0)
        fail(in, "The plan has a rank call a communicator that it is not in.");
    if (in->own && !in->failed)
        check_counts(in, op);
}

static void read_wait(struct reader *in, struct op *op)
{
    op->n_slots = (int)whole(in, 0, MOST_SLOTS);
    if (in->own && !in->failed && op->n_slots <= in->end - in->at)
        op->slots = room(in, (size_t)op->n_slots, sizeof(int));
    else if (in->own)
        fail(in, "The plan waits for more than it names.");
    for (int i = 0; i < op->n_slots && !in->failed; i++) {
        int slot = (int)whole(in, 0, MOST_SLOTS - 1);
        if (in->own && !in->failed)
            op->slots[i] = slot;
        if (in->own && slot >= in->plan->n_slots)
            in->plan->n_slots = slot + 1;
    }
}

static void read_message(struct reader *in, struct op *op)
{
    if (op->kind != RECV) {
        op->to = (int)whole(in, 0, in->plan->ranks - 1);
        op->bytes = whole(in, 0, MOST);
        op->tag = (int)whole(in, 0, INT_MAX);
    }
    if (op->kind == RECV || op->kind == SENDRECV) {
        op->from = (int)whole(in, 0, in->plan->ranks - 1);
        op->from_bytes = whole(in, 0, MOST);
        op->from_tag = (int)whole(in, 0, INT_MAX);
    }
    op->slot = (int)whole(in, NO_SLOT, MOST_SLOTS - 1);
}

static void read_tasks(struct reader *in, struct op *op)
{
    op->n_tasks = (int)whole(in, 0, MOST_TASKS);
    if (in->own && !in->failed)
        op->tasks = room(in, (size_t)op->n_tasks, sizeof *op->tasks);
    for (int i = 0; i < op->n_tasks && !in->failed; i++) {
        struct task task = {figure(in, 1e9), (int)whole(in, 0, INT_MAX), (int)whole(in, 0, INT_MAX)};
        if (in->own && !in->failed)
            op->tasks[i] = task;
    }
    if (!op->n_tasks && op->kind != CLOSING)
        fail(in, "The plan has a farm without tasks.");
}

static void read_farm(struct reader *in, struct op *op)
{
    op->seconds = figure(in, 1e9);
    op->bytes = whole(in, 0, INT_MAX);
    op->last = (int)whole(in, 0, INT_MAX);
    op->given = (int)whole(in, 0, MOST_RUNS);
    op->n_ranks = (int)whole(in, 1, in->plan->ranks);
    if (in->own && !in->failed)
        op->farm_ranks = room(in, (size_t)op->n_ranks, sizeof(int));
    for (int i = 0; i < op->n_ranks && !in->failed; i++) {
        int rank = (int)whole(in, 0, in->plan->ranks - 1);
        if (in->own && !in->failed)
            op->farm_ranks[i] = rank;
    }
    read_tasks(in, op);
}

static struct op read_op(struct reader *in)
{
    struct op op;
    memset(&op, 0, sizeof op);
    op.slot = NO_SLOT;
    op.to = op.from = -1;
    op.kind = kind_of(in);
    if (op.kind == WORK)
        op.seconds = figure(in, 1e9);
    else if (op.kind == WAIT)
        read_wait(in, &op);
    else if (op.kind < SEND)
        read_farm(in, &op);
    else if (op.kind < BARRIER)
        read_message(in, &op);
    else
        read_collective(in, &op);
    if (in->own && op.slot >= in->plan->n_slots)
        in->plan->n_slots = op.slot + 1;
    return op;
}

static void read_segments(struct reader *in)
{
    struct plan *plan = in->plan;
    int have = 0;
    expect(in, "segments");
    plan->n_segments = (int)whole(in, 0, in->end - in->at);
    plan->lines = room(in, (size_t)plan->n_segments, sizeof *plan->lines);
    for (int segment = 0; segment < plan->n_segments && !in->failed; segment++)
        for (int rank = 0; rank < plan->ranks && !in->failed; rank++) {
            int n = (int)whole(in, 0, MOST_OPS);
            in->own = rank == plan->rank;
            if (in->own)
                plan->lines[segment] = (struct line){plan->n_ops, n};
            for (int i = 0; i < n && !in->failed; i++) {
                struct op op = read_op(in);
                if (!in->own || in->failed)
                    continue;
                if (plan->n_ops == MOST_OPS)
                    fail(in, "The plan has too many operations for one rank.");
                else if (grow(in, (void **)&plan->ops, plan->n_ops, &have, sizeof op))
                    plan->ops[plan->n_ops++] = op;
            }
        }
    in->own = 0;
}

/* A list of runs and loops, and how often segments run in it. */
static long long read_body(struct reader *in, int depth, int *have)
{
    long long runs = 0;
    struct plan *plan = in->plan;
    int n = (int)whole(in, 0, MOST_NODES);
    if (depth > MOST_DEPTH)
        fail(in, "The plan has too many loops in each other.");
    for (int i = 0; i < n && !in->failed; i++) {
        char text[32];
        word(in, text, sizeof text);
        int loop = !strcmp(text, "loop");
        if (!loop && strcmp(text, "run"))
            fail(in, "The plan has neither a loop nor a run in its schedule.");
        int at = plan->n_nodes;
        if (in->failed || at == MOST_NODES || !grow(in, (void **)&plan->nodes, at, have, sizeof *plan->nodes)) {
            fail(in, "The plan has too long a schedule.");
            break;
        }
        plan->n_nodes++;
        plan->nodes[at] = (struct node){0, 0, 0};
        if (!loop) {
            plan->nodes[at].segment = (int)whole(in, 0, plan->n_segments - 1);
            runs++;
        } else {
            int count = (int)whole(in, 1, MOST_RUNS);
            long long inner = read_body(in, depth + 1, have);
            plan->nodes[at].count = count;
            plan->nodes[at].n = plan->n_nodes - at - 1;
            runs += count * inner; /* at most MOST_RUNS squared */
        }
        if (runs > MOST_RUNS)
            fail(in, "The plan runs too many segments.");
    }
    return in->failed ? 0 : runs;
}

int read_plan(struct plan *plan, const char *text, size_t size, int rank, char *problem)
{
    struct reader in = {text, text + size, problem, 0, 0, plan};
    int have = 0;
    memset(plan, 0, sizeof *plan);
    plan->rank = rank;
    expect(&in, "gridportal-plan");
    expect(&in, "2");
    expect(&in, "ranks");
    plan->ranks = (int)whole(&in, 1, MOST_RANKS);
    expect(&in, "work");
    plan->rate = figure(&in, 1e18);
    plan->touched = figure(&in, 1e18);
    plan->region = figure(&in, 1e18);
    expect(&in, "comms");
    plan->n_comms = (int)whole(&in, 0, in.end - in.at);
    plan->comms = room(&in, (size_t)plan->n_comms, sizeof *plan->comms);
    for (int i = 0; i < plan->n_comms && !in.failed; i++)
        read_comm(&in, &plan->comms[i]);
    if (!in.failed)
        read_segments(&in);
    if (!in.failed) {
        expect(&in, "schedule");
        plan->executions = read_body(&in, 0, &have);
        expect(&in, "end");
    }
    return in.failed ? -1 : 0;
}
