/* The recording of one process, and what each of its threads keeps. */
#ifndef GRIDPORTAL_RECORD_H
#define GRIDPORTAL_RECORD_H

#include "trace.h"

#include <sys/types.h>

#define SCRATCHES 5

/* Memory that gaps touched: sums over those that were looked at (touched.c). */
struct touched {
    double n, bytes, cpu, region; /* region: bytes times cpu seconds */
    double next_at, cost;
    unsigned turn, pass;
    int looking;
};

struct thread {
    int depth; /* of wrapped calls in each other; the outermost counts */
    int polled;
    unsigned turn;
    double lasts; /* what recording a call takes, s */
    double left_at;
    double poll_gap, poll_cpu, poll_wait; /* of polls since the last call, s */
    unsigned long long calls, polls;
    struct clocks *clocks;
    struct fold *fold;
    struct thread *before; /* the thread that called MPI first before this one */
    struct thread *idle; /* of those that have ended, the one that did so before */
    void *scratches[SCRATCHES];
    size_t scratch_sizes[SCRATCHES];
};

struct recording {
    const char *directory;
    int on, over, locked, rank, ranks, marks_only;
    pid_t owner;
    double started_at, helped, ready, pace;
    struct thread *main, *threads; /* the newest of all */
    struct touched touched; /* by the main thread */
};

#pragma GCC visibility push(hidden)
extern struct recording recording;

/* touched.c: what the next gap touches is looked at from now and then; when the gap begins, or the call after it */
void begin_touched(struct touched *touched, double at);
double touched_gap_begins(struct touched *touched, double at);
double touched_gap_ends(struct touched *touched, double cpu, double at);
void write_touched(FILE *file, const struct touched *touched);

/* file.c */
void write_recording(int complete);
#pragma GCC visibility pop

#endif
