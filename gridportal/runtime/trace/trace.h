/* What the recording library's files share: one event per MPI call, and where it goes. */
#ifndef GRIDPORTAL_TRACE_H
#define GRIDPORTAL_TRACE_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#define NOBODY (-1) /* MPI_PROC_NULL, or not known here */
#define ANYONE (-2) /* MPI_ANY_SOURCE, MPI_ANY_TAG */
#define NOTHING (-3) /* the call has no such field */

#pragma GCC visibility push(hidden) /* calls among ourselves go straight, and meet no other library's names */

struct thread;

/* One call while it is being written down. Ranks are those of MPI_COMM_WORLD, sizes are bytes. */
struct event {
    struct thread *thread; /* none: the call does not count */
    int nested; /* for another wrapped one is running */
    int failed; /* what it would have made is not there */
    int kind, comm, newcomm;
    int peer, source, tag, recv_tag, root, request;
    double bytes, recv_bytes;
    int n_requests, n_counts, n_peers;
    int n_remembered; /* requests that it was given */
    int *requests;
    double *counts;
    int *peers;
    double entered, left, gap, cpu, inside;
};

/* record.c: the state of the whole recording, and what time is whose */
void begin(struct event *event, int kind);
int leave(struct event *event, int code); /* true when the event is to be described; then commit() or polled() must follow */
void commit(struct event *event);
void polled(struct event *event); /* an unsuccessful test or probe */
void hold(void); /* the tables, against the other threads; begin() to leave() goes without */
void release(void);
void start_recording(void);
void start_session(MPI_Group world);
void finish_recording(int complete);
void *scratch(struct event *event, int which, size_t bytes); /* of this thread, until the next call for `which` */
void *next(const char *name); /* the MPI library's own function */
extern const char *const call_names[];

/* clocks.c: how much of a gap between two calls the thread computed, with as few looks at its cpu clock as will do */
struct clocks;
struct clocks *make_clocks(void);
void restart_clocks(struct clocks *clocks); /* of another thread from now on */
double now(void); /* s, monotonic */
double cpu_of_gap(struct clocks *clocks, double gap, double at); /* s; `at`: the time when it ends, now */
void gap_begins(struct clocks *clocks, double at);
double helped(void);
double ready(void);

/* pace.c: units of a skeleton's work for each cpu second, from some milliseconds of it */
double pace(void);

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
void makes_comm(struct event *event, MPI_Comm comm, MPI_Comm made);
int is_root(MPI_Comm comm, int root);
double size_of(MPI_Count count, MPI_Datatype type);
void forget_types(void); /* a type was freed: its handle may come again */

/* neighbours.c: who is beside whom in a topology */
void neighbours(struct event *event, MPI_Comm comm, MPI_Count count, MPI_Datatype type);
void neighbours_int(struct event *event, MPI_Comm comm, const int *counts, MPI_Datatype type, const MPI_Datatype *types);
void neighbours_big(struct event *e, MPI_Comm comm, const MPI_Count *counts, MPI_Datatype type, const MPI_Datatype *types);

/* windows.c: one-sided calls, and files */
void one_sided(struct event *event, MPI_Win win, int target, MPI_Count count, MPI_Datatype type);
void with_group(struct event *event, MPI_Win win, MPI_Group group);
void makes_window(struct event *event, MPI_Comm comm, MPI_Win win);
void makes_file(struct event *event, MPI_Comm comm, MPI_File file);
void file_bytes(struct event *event, MPI_File file, MPI_Count count, MPI_Datatype type);

/* comms.c: communicators, windows and files, and who is in them */
int comm_id(MPI_Comm comm);
int comm_of_window(MPI_Win win);
int comm_of_file(MPI_File file);
void keep_file(MPI_File file, int comm);
int frees_comm(struct event *event, MPI_Comm comm); /* before it is freed; which it was */
int frees_window(struct event *event, MPI_Win win);
int closes_file(struct event *event, MPI_File file);
void world_is(MPI_Group group);
int comm_size(int id);
int comm_rank(int id);
int is_inter(int id);
int world_rank(int id, int rank);
void world_ranks(MPI_Group group, int n, int *ranks);
int comm_neighbours(int id, int **ranks); /* kept before: how many destinations; -1: not yet */
void keep_neighbours(int id, int n, const int *ranks);
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
int any_active(struct event *event, int count);

/* marks.c: rounds of the outermost loop as they pass, for whoever watches the run */
void start_marks(const char *directory);
void mark_round(int place, int count, double seconds); /* since the recording began */

/* fold.c: the calls of a thread with their loops folded */
struct fold;
struct fold *make_fold(void);
int fold_event(struct fold *fold, const struct event *event); /* true when it took longer than usual */
void fold_finish(struct fold *fold);
int fold_ordered(const struct fold *fold);
int fold_raised(const struct fold *fold, int *count); /* by the last call: the outermost loop's place, how often it ran; -1 */
void write_body(FILE *file, struct fold *const *folds, int n);

#pragma GCC visibility pop

#endif
