/* What the recording library's files share: one event per MPI call, and where it goes. */
#ifndef GRIDPORTAL_TRACE_H
#define GRIDPORTAL_TRACE_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#define NOBODY (-1) /* MPI_PROC_NULL, or not known here */
#define ANYONE (-2) /* MPI_ANY_SOURCE, MPI_ANY_TAG */
#define NOTHING (-3) /* the call has no such field */

/* One call while it is being written down. Ranks are those of MPI_COMM_WORLD, sizes are bytes. */
struct event {
    int kind, comm, newcomm;
    int peer, source, tag, recv_tag, root, request;
    double bytes, recv_bytes;
    int n_requests, n_counts, n_peers;
    int *requests;
    double *counts;
    int *peers;
    double entered, gap, cpu, inside;
    int keep; /* whether it counts: not while another wrapped call is running */
};

/* record.c: time, and the state of the whole recording */
void begin(struct event *event, int kind);
int leave(struct event *event); /* true when the event is to be described; then commit() or polled() must follow */
void commit(struct event *event);
void polled(struct event *event); /* an unsuccessful test or probe */
void hold(void); /* the tables, against the other threads; begin() to leave() goes without */
void release(void);
void start_recording(void);
void finish_recording(int complete);
void *scratch(int which, size_t bytes); /* memory of this thread that holds until the next call for `which` */
void *next(const char *name); /* the MPI library's own function */
extern const char *const call_names[];

/* describe.c: what the arguments of a kind of call say */
void sends(struct event *event, MPI_Comm comm, int dest, int tag, MPI_Count count, MPI_Datatype type);
void receives(struct event *event, MPI_Comm comm, int source, int tag, MPI_Count count, MPI_Datatype type);
void probes(struct event *event, MPI_Comm comm, int source, int tag);
void matched(struct event *event, MPI_Count count, MPI_Datatype type);
void collective(struct event *event, MPI_Comm comm, MPI_Count count, MPI_Datatype type);
void rooted(struct event *event, MPI_Comm comm, int root, MPI_Count count, MPI_Datatype type);
void own_block(struct event *event, const void *sendbuf, MPI_Count count, MPI_Datatype type);
void to_all(struct event *event, const void *sendbuf, MPI_Count count, MPI_Datatype type, MPI_Count other, MPI_Datatype t);
void counts_int(struct event *event, const int *counts, MPI_Datatype type, const MPI_Datatype *types);
void counts_big(struct event *event, const MPI_Count *counts, MPI_Datatype type, const MPI_Datatype *types);
void block_sum(struct event *event, MPI_Comm comm);
void neighbours(struct event *event, MPI_Comm comm, MPI_Count count, MPI_Datatype type);
void neighbours_int(struct event *event, MPI_Comm comm, const int *counts, MPI_Datatype type, const MPI_Datatype *types);
void neighbours_big(struct event *e, MPI_Comm comm, const MPI_Count *counts, MPI_Datatype type, const MPI_Datatype *types);
void one_sided(struct event *event, MPI_Win win, int target, MPI_Count count, MPI_Datatype type);
void makes_comm(struct event *event, MPI_Comm comm, MPI_Comm made);
int is_root(MPI_Comm comm, int root);

/* comms.c: communicators and who is in them */
int comm_id(MPI_Comm comm);
int comm_of_window(MPI_Win win);
void forget_comm(MPI_Comm comm);
void forget_window(MPI_Win win);
int comm_size(int id);
int world_rank(int id, int rank);
void note_tag(int id, int tag);
int tags_count_up(int id); /* whether the tags seen on it never fell and rose more than twice */
void write_comms(FILE *file);

/* requests.c: slots of requests, and which a call completed */
void makes_request(struct event *event, MPI_Request request, int persistent);
void remember(struct event *event, int count, const MPI_Request *requests);
void completed_all(struct event *event, int count);
void completed_one(struct event *event, int index);
void completed_some(struct event *event, int count, const int *indices);
void started(struct event *event, int count, const MPI_Request *requests);
void freed(struct event *event);
void named(struct event *event);
int any_active(int count);

/* fold.c: the calls of a rank with their loops folded */
void fold_event(const struct event *event);
void fold_finish(void);
int fold_ordered(void);
void write_body(FILE *file);

#endif
