/* The list of one thread: calls and loops, and where entries of the same hash stand. */
#ifndef GRIDPORTAL_FOLD_H
#define GRIDPORTAL_FOLD_H

#include "nodes.h"

#define LIMIT 16384 /* entries, a power of two */

/* A place in the list and the place before it whose hash falls in the same bucket; -1: none. */
struct chains {
    int heads[LIMIT];
    int before[LIMIT + 1];
};

struct fold {
    struct nodes nodes;
    struct node **list;
    uint32_t *hashes, *tails; /* of each entry, and of the last entry in its body */
    struct chains ends, bodies; /* by these */
    int n_list, window, patience;
    int slow; /* whether the last call took longer than usual */
    int raised; /* the first place of a loop that the last call has made or ended once more; -1: none */
};

#endif
