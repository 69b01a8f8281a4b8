/* What the player's files share: a skeleton's plan as one rank plays it, and what it sees of its times.
 *
 * The plan's grammar is in scheduling.skeletons.core.skeleton.plan, which writes it. */
#ifndef GRIDPORTAL_PLAYER_H
#define GRIDPORTAL_PLAYER_H

#include <mpi.h>
#include <stddef.h>

#define MOST_RANKS 65536
#define NO_SLOT (-1)
#define SENTENCE 240

enum kind {
    WORK, WAIT, MASTER, WORKER, CLOSING, SEND, SSEND, RECV, SENDRECV,
    BARRIER, BCAST, GATHER, GATHERV, SCATTER, SCATTERV, ALLGATHER, ALLGATHERV, ALLTOALL, ALLTOALLV, ALLTOALLW,
    REDUCE, ALLREDUCE, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN,
    KINDS
};

/* What a master hands out: work, and the bytes of its result and of the message that gives it. */
struct task {
    double seconds;
    int back, out;
};

/* One operation of this rank. Ranks are those of MPI_COMM_WORLD, sizes bytes; `root` is a rank of the communicator.
 * What stands after `prepared` is made by prepare(): counts in elements, and where they are in memory. */
struct op {
    enum kind kind;
    int comm, to, from, tag, from_tag, root, slot;
    int n_slots, n_counts, n_from;
    double seconds;
    long long bytes, from_bytes;
    int given, last, n_ranks, n_tasks; /* of a farm: tasks to give, bytes of the last message; who is at the other end */
    int *farm_ranks;
    struct task *tasks;
    int *slots;
    long long *counts, *from_counts;
    int prepared;
    MPI_Datatype type, from_type;
    int count, from_count;
    int *lengths, *places, *from_lengths, *from_places;
    MPI_Datatype *types;
    void *out, *in;
};

/* This rank's line of a segment. */
struct line {
    int first, n; /* its place among the operations */
};

/* A run of one segment (count 0), or a loop around the `n` nodes behind it. */
struct node {
    int segment, count, n;
};

struct comm {
    int size, rank; /* rank: this one's, -1 for none */
    int *members;
    MPI_Comm comm;
};

struct plan {
    int ranks, rank;
    double rate; /* units of work for each cpu second where the trace was made */
    double touched, region; /* bytes that each such second touches, and in how many bytes it does */
    int n_comms, n_segments, n_ops, n_nodes, n_slots;
    struct comm *comms;
    struct line *lines;
    struct op *ops;
    struct node *nodes;
    long long executions;
    int huge[KINDS]; /* whether a call of this kind moves more on some rank than an int counts */
};

/* plan.c: 0, or -1 with a sentence in `problem` */
int read_plan(struct plan *plan, const char *text, size_t size, int rank, char *problem);

/* prepare.c: buffers, communicators and connections; 0, or -1 with a sentence */
int prepare(struct plan *plan, char *problem);
void connect_peers(const struct plan *plan);

/* perform.c: one operation; `requests` has two for each slot, and as much room again */
void perform(const struct plan *plan, const struct op *op, MPI_Request *requests);

/* farm.c: a master gives tasks to whoever comes first; `handed` is when a worker got its last one, `last_work` what that
 * took of its work, `stopped` when it was let go */
struct farm_times {
    double handed, last_work, stopped;
};
extern struct farm_times farm_times;
void farm(const struct op *op);

/* work.c: work of a known amount */
extern double worked, asked;
int prepare_work(const struct plan *plan);
void work(double seconds);
double measured_rate(double seconds);

/* clocks.c */
double now(void);
double ahead_of_first(void);

#endif
