/* What the parts of the copy share: one copy as it is going on. */
#ifndef GRIDPORTAL_COPY_PLAN_H
#define GRIDPORTAL_COPY_PLAN_H

#include "streams.h"
#include "strided_copy.h"

/* Pieces of the last dimension that repeat alike and lie between each other. */
struct group {
    int64_t first, count;
};

/* A piece of a group at its first repetition, in bytes. */
struct run {
    char *into;
    const char *from;
    int64_t bytes, into_step, from_step;
    int64_t line; /* to the same place in the next line of its source, 0 where there is none */
};

struct copy {
    int dimensions;
    const struct srs_axis *axes;
    const char *const *sources;
    char *into;
    int streams; /* whether the target is large */
    struct writer writer;
    int64_t itemsize, groups, mapped, touched;
    const char *last; /* where a source was touched last */
    struct srs_piece *pieces; /* of the last dimension, by groups */
    struct group *group;
    struct run *runs; /* room for those of one group */
};

/* Fill `pieces` and `group` of a copy, which have room for twice the pieces of `axis`, its last dimension. */
void srs_group_pieces(struct copy *copy, const struct srs_axis *axis);

/* Whether the pieces of a group fill the target from the first one on, so that their repetitions leave no gap. */
int srs_leaves_no_gap(const struct copy *copy, const struct group *group);

/* Whether the pieces of a group are long runs, which are written past the caches. */
int srs_has_long_runs(const struct copy *copy, const struct group *group);

/* The last dimension, from the sources of ranks `rank` on, whose lines before this one are `lines`. */
void srs_copy_line(struct copy *copy, int64_t rank, int64_t lines, char *into);

/* `times` runs of `bytes` bytes, with steps in bytes; with a writer, long ones past the caches. */
void srs_copy_runs(struct writer *writer, char *into, int64_t into_step, const char *from, int64_t from_step, int64_t bytes,
                   int64_t times);

/* `bytes` of a mapped source, from `begin` on, are touched. */
void srs_touch(struct copy *copy, const char *begin, int64_t bytes);

#endif
