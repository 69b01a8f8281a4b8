/* How much work a cpu second is, where and when this program runs: of a skeleton's work, in units of the player.
 *
 * A processor's speed changes with what else its machine does. Found on a machine with two virtual ones: 257,000 to
 * 355,000 units within an hour. So it is asked at the start and at the end of the very run that is recorded. */
#define _GNU_SOURCE
#include "trace.h"

#include "../player/loop.h"

#include <time.h>

#define WARMING 300 /* units, about a millisecond */
#define COUNTED 3000

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
    for (int i = 0; i < WARMING; i++)
        add(sum, step, UNIT);
    double started = cpu();
    for (int i = 0; i < COUNTED; i++)
        add(sum, step, UNIT);
    double spent = cpu() - started;
    return spent > 0.0 ? COUNTED / spent : 0.0;
}
