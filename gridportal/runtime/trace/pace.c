/* How much work a cpu second is, where and when this program runs: of a skeleton's work, in units of the player.
 *
 * Asked at the start and at the end of the very run that is recorded, on its own node. */
#define _GNU_SOURCE
#include "trace.h"

#include "../player/loop.h"

#include <time.h>

#define PARTS 12
#define UNITS 250 /* of each part, about a millisecond; of the parts the best counts, for others disturb them */

static volatile double sum; /* volatile, so that no compiler does without it */

static double cpu(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

double pace(void)
{
    double best = 0.0;
    for (int part = 0; part < PARTS; part++) {
        double started = cpu();
        sum = chain(sum, (size_t)UNITS * UNIT);
        double spent = cpu() - started;
        if (spent > 0.0 && UNITS / spent > best)
            best = UNITS / spent;
    }
    return best;
}
