/* How much work a cpu second is, where and when this program runs: of a skeleton's work, in units of the player.
 *
 * Asked at the start and at the end of the very run that is recorded, on its own node. */
#define _GNU_SOURCE
#include "trace.h"

#include "../player/loop.h"

#include <time.h>

#define PARTS 12
#define UNITS 250 /* of each part, about a millisecond; of the parts the best counts, for others disturb them */

static double sum[UNIT], step[UNIT];

static double cpu(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

double pace(void)
{
    for (int i = 0; i < UNIT; i++)
        step[i] = 1e-9;
    double best = 0.0;
    for (int part = 0; part < PARTS; part++) {
        double started = cpu();
        for (int i = 0; i < UNITS; i++)
            add(sum, step, UNIT);
        double spent = cpu() - started;
        if (spent > 0.0 && UNITS / spent > best)
            best = UNITS / spent;
    }
    return best;
}
