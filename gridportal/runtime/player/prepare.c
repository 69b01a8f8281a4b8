/* Makes a plan ready to be played: sizes as MPI wants them, buffers, communicators, connections. */
#define _POSIX_C_SOURCE 200809L
#include "player.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 65536 /* bytes that count as one element where an int cannot count bytes */
#define HELLO 32768

static MPI_Datatype block;

/* Sizes of buffers: one to send from, for reductions another, and one for each receive that may be under way. */
struct sizes {
    long long out, reduce_out, *in, *reduce_in;
};

static int is_reducing(enum kind kind)
{
    return kind >= REDUCE;
}

static int at_root(const struct plan *plan, const struct op *op)
{
    return plan->comms[op->comm].rank == op->root;
}

static void most(long long *have, long long size)
{
    if (size > *have)
        *have = size;
}

/* `bytes` in elements of `type`, rounded up. */
static int elements(MPI_Datatype type, long long bytes)
{
    return (int)(type == MPI_BYTE ? bytes : (bytes + BLOCK - 1) / BLOCK);
}

static long long size_of(MPI_Datatype type, long long count)
{
    return type == MPI_BYTE ? count : count * BLOCK;
}

static MPI_Datatype type_for(int huge)
{
    return huge ? block : MPI_BYTE;
}

/* Lengths and places of blocks for the v-calls, in elements; their sum. */
static long long laid_out(const long long *bytes, int n, MPI_Datatype type, int **lengths, int **places)
{
    long long sum = 0;
    *lengths = calloc((size_t)n + 1, sizeof(int));
    *places = calloc((size_t)n + 1, sizeof(int));
    if (!*lengths || !*places)
        return LLONG_MAX;
    for (int i = 0; i < n; i++) {
        (*lengths)[i] = elements(type, bytes[i]);
        (*places)[i] = (int)(sum > INT_MAX ? INT_MAX : sum);
        sum += (*lengths)[i];
    }
    return sum;
}

static int too_large(char *problem)
{
    snprintf(problem, SENTENCE, "The skeleton moves more at once than can be counted here.");
    return -1;
}

/* Counts of doubles for a reduction. */
static int prepare_reduction(struct plan *plan, struct op *op, struct sizes *sizes, char *problem)
{
    int size = plan->comms[op->comm].size;
    long long length = op->bytes / 8 ? op->bytes / 8 : 1, total = length;
    if (op->kind == REDUCE_SCATTER_BLOCK) {
        length = length / size ? length / size : 1;
        total = length * size;
    }
    if (op->kind == REDUCE_SCATTER) {
        op->lengths = calloc((size_t)size, sizeof(int));
        if (!op->lengths)
            return too_large(problem);
        total = op->n_counts ? 0 : length;
        op->lengths[0] = op->n_counts ? 0 : (int)length;
        for (int i = 0; i < op->n_counts; i++) {
            if (op->counts[i] / 8 > INT_MAX - total)
                return too_large(problem);
            op->lengths[i] = (int)(op->counts[i] / 8);
            total += op->lengths[i];
        }
    }
    if (total > INT_MAX)
        return too_large(problem);
    op->count = (int)length;
    op->type = MPI_DOUBLE;
    most(&sizes->reduce_out, 8 * total);
    most(&sizes->reduce_in[op->slot + 1], 8 * total);
    return 0;
}

static int prepare_blocks(const struct plan *plan, struct op *op, struct sizes *sizes, char *problem)
{
    int size = plan->comms[op->comm].size, rank = plan->comms[op->comm].rank;
    long long out = 0, in = 0;
    if (op->n_counts)
        out = laid_out(op->counts, size, op->type, &op->lengths, &op->places);
    if (op->n_from)
        in = laid_out(op->from_counts, size, op->type, &op->from_lengths, &op->from_places);
    if (out > INT_MAX || in > INT_MAX)
        return too_large(problem);
    if (op->kind == ALLGATHERV || op->kind == GATHERV) {
        in = out;
        out = op->kind == ALLGATHERV ? op->lengths[rank] : op->count;
    } else if (op->kind == SCATTERV) {
        in = op->count;
    }
    if (op->kind == ALLGATHERV)
        op->count = op->lengths[rank];
    if (op->kind == ALLTOALLW) {
        op->types = malloc((size_t)size * sizeof *op->types);
        if (!op->types)
            return too_large(problem);
        for (int i = 0; i < size; i++)
            op->types[i] = op->type;
    }
    most(&sizes->out, size_of(op->type, out));
    most(&sizes->in[op->slot + 1], size_of(op->type, in));
    return 0;
}

static int prepare_collective(struct plan *plan, struct op *op, struct sizes *sizes, char *problem)
{
    int size = plan->comms[op->comm].size;
    op->type = type_for(plan->huge[op->kind]);
    if (is_reducing(op->kind))
        return prepare_reduction(plan, op, sizes, problem);
    if (op->bytes / BLOCK > INT_MAX / size - 1)
        return too_large(problem);
    if (op->kind == ALLTOALLW && plan->huge[ALLTOALLW])
        op->kind = ALLTOALLV; /* its places are bytes */
    op->count = elements(op->type, op->kind == ALLTOALL ? op->bytes / size : op->bytes);
    if (op->kind == GATHERV || op->kind == SCATTERV || op->kind == ALLGATHERV || op->kind == ALLTOALLV ||
        op->kind == ALLTOALLW)
        return prepare_blocks(plan, op, sizes, problem);
    long long one = size_of(op->type, op->count), all = one * size;
    int root = at_root(plan, op);
    most(&sizes->out, op->kind == ALLTOALL || (op->kind == SCATTER && root) ? all : one);
    most(&sizes->in[op->slot + 1],
         op->kind == ALLTOALL || op->kind == ALLGATHER || (op->kind == GATHER && root) ? all : one);
    return 0;
}

static int prepare_message(struct op *op, struct sizes *sizes, char *problem)
{
    if (op->bytes / BLOCK >= INT_MAX || op->from_bytes / BLOCK >= INT_MAX)
        return too_large(problem);
    op->type = type_for(op->bytes > INT_MAX);
    op->from_type = type_for(op->from_bytes > INT_MAX);
    op->count = elements(op->type, op->bytes);
    op->from_count = elements(op->from_type, op->from_bytes);
    most(&sizes->out, size_of(op->type, op->count));
    most(&sizes->in[op->slot + 1], size_of(op->from_type, op->from_count));
    return 0;
}

/* Room for the largest message of a farm in each direction. */
static void prepare_farm(struct op *op, struct sizes *sizes)
{
    long long back = op->bytes, out = op->last;
    for (int i = 0; i < op->n_tasks; i++) {
        most(&back, op->tasks[i].back);
        most(&out, op->tasks[i].out);
    }
    long long larger = back > out ? back : out;
    op->from_count = (int)larger;
    most(&sizes->out, larger);
    most(&sizes->in[0], larger);
}

/* Written, for memory that nobody touched costs less to send. */
static void *memory(long long size)
{
    size_t bytes = (size_t)(size > 64 ? size : 64);
    void *made = malloc(bytes);
    if (made)
        memset(made, 0, bytes);
    return made;
}

/* One rank may use half of the memory of its node. */
static int fits(const struct plan *plan, const struct sizes *sizes)
{
    double all = (double)sizes->out + (double)sizes->reduce_out;
    double have = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    for (int slot = 0; slot <= plan->n_slots; slot++)
        all += (double)sizes->in[slot] + (double)sizes->reduce_in[slot];
    return all <= have / 2;
}

static int make_buffers(struct plan *plan, const struct sizes *sizes, char *problem)
{
    snprintf(problem, SENTENCE, "There is too little memory for the skeleton's messages.");
    if (!fits(plan, sizes))
        return -1;
    void **in = calloc((size_t)plan->n_slots + 1, sizeof *in), **sums = calloc((size_t)plan->n_slots + 1, sizeof *sums);
    void *out = memory(sizes->out), *reduced = memory(sizes->reduce_out);
    int good = in && sums && out && reduced;
    for (int slot = 0; slot <= plan->n_slots && good; slot++) {
        in[slot] = memory(sizes->in[slot]);
        sums[slot] = memory(sizes->reduce_in[slot]);
        good = in[slot] && sums[slot];
    }
    for (int i = 0; i < plan->n_ops && good; i++) {
        struct op *op = &plan->ops[i];
        op->out = is_reducing(op->kind) ? reduced : out;
        op->in = is_reducing(op->kind) ? sums[op->slot + 1] : in[op->slot + 1];
    }
    free(in);
    free(sums);
    return good ? 0 : -1;
}

static int prepare_ops(struct plan *plan, char *problem)
{
    struct sizes sizes = {0, 0, NULL, NULL};
    sizes.in = calloc((size_t)plan->n_slots + 1, sizeof *sizes.in);
    sizes.reduce_in = calloc((size_t)plan->n_slots + 1, sizeof *sizes.reduce_in);
    int failed = !sizes.in || !sizes.reduce_in ? too_large(problem) : 0;
    for (int i = 0; i < plan->n_ops && !failed; i++) {
        struct op *op = &plan->ops[i];
        if (op->kind >= BARRIER)
            failed = prepare_collective(plan, op, &sizes, problem);
        else if (op->kind >= SEND)
            failed = prepare_message(op, &sizes, problem);
        else if (op->kind >= MASTER)
            prepare_farm(op, &sizes);
    }
    failed = failed || make_buffers(plan, &sizes, problem);
    free(sizes.in);
    free(sizes.reduce_in);
    return failed ? -1 : 0;
}

static void make_comms(struct plan *plan)
{
    MPI_Group world, group;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < plan->n_comms; i++) {
        struct comm *comm = &plan->comms[i];
        if (comm->rank < 0)
            continue;
        MPI_Group_incl(world, comm->size, comm->members, &group);
        MPI_Comm_create_group(MPI_COMM_WORLD, group, i % 32768, &comm->comm);
        MPI_Group_free(&group);
    }
    MPI_Group_free(&world);
}

int prepare(struct plan *plan, char *problem)
{
    MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
    MPI_Type_commit(&block);
    int failed = prepare_ops(plan, problem), anywhere;
    if (!failed && prepare_work(plan)) {
        snprintf(problem, SENTENCE, "There is too little memory for the skeleton's work.");
        failed = -1;
    }
    failed = failed ? plan->rank + 1 : 0;
    MPI_Allreduce(&failed, &anywhere, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!anywhere) {
        make_comms(plan);
        return 0;
    }
    MPI_Bcast(problem, SENTENCE, MPI_CHAR, anywhere - 1, MPI_COMM_WORLD);
    return -1;
}

/* Let every pair that will talk talk once, so that connections are there when the clock starts. */
void connect_peers(const struct plan *plan)
{
    int n = 0, *peer = calloc((size_t)plan->ranks, sizeof *peer);
    char *hello = calloc(1, HELLO), *back;
    for (int i = 0; i < plan->n_comms; i++) {
        const struct comm *comm = &plan->comms[i];
        if (comm->rank < 0)
            continue;
        char *out = calloc((size_t)comm->size, 16);
        if (!out)
            MPI_Abort(MPI_COMM_WORLD, 2);
        MPI_Alltoall(out, 8, MPI_BYTE, out + 8 * (size_t)comm->size, 8, MPI_BYTE, comm->comm);
        free(out);
    }
    for (int i = 0; i < plan->n_ops && peer; i++) {
        const struct op *op = &plan->ops[i];
        for (int k = 0; k < op->n_ranks; k++)
            peer[op->farm_ranks[k]] = 1;
        if (op->kind < SEND || op->kind > SENDRECV)
            continue;
        if (op->to >= 0)
            peer[op->to] = 1;
        if (op->from >= 0)
            peer[op->from] = 1;
    }
    back = malloc((size_t)plan->ranks * HELLO);
    MPI_Request *requests = calloc((size_t)plan->ranks * 2, sizeof *requests);
    if (!peer || !hello || !back || !requests)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int other = 0; other < plan->ranks; other++)
        if (peer[other])
            MPI_Irecv(back + (size_t)other * HELLO, HELLO, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[n++]);
    for (int other = 0; other < plan->ranks; other++)
        if (peer[other])
            MPI_Isend(hello, HELLO, MPI_BYTE, other, 0, MPI_COMM_WORLD, &requests[n++]);
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    free(peer);
    free(hello);
    free(back);
    free(requests);
}
