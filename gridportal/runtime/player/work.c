/* Work of a known amount: additions that wait for each other, and additions over arrays that fit no cache.
 *
 * Computation is work and not sleep, so that it takes longer where an application's would: on a slower node, beside
 * another process, under a quota. A unit is UNIT additions. */
#define _POSIX_C_SOURCE 200809L
#include "player.h"

#include "loop.h"

#include <stdlib.h>
#include <time.h>

#define STREAM (4 * 1024 * 1024) /* doubles, of each of two arrays: 64 MiB in all */
#define PARTS 5

double worked, asked;
static double rate, stream_rate, streaming;
static volatile double near_sum; /* volatile, so that no compiler does without it */
static double *far_sum, *far_step;
static size_t far_at;

static void near_units(double units)
{
    near_sum = chain(near_sum, (size_t)(units * UNIT));
}

static void add(double *sum, const double *step, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += step[i];
}

/* Goes on where it stopped the last time, so that nothing is in a cache any more. */
static void far_units(double units)
{
    size_t left = (size_t)(units * UNIT);
    while (left) {
        size_t n = left < STREAM - far_at ? left : STREAM - far_at;
        add(far_sum + far_at, far_step + far_at, n);
        far_at = (far_at + n) % STREAM;
        left -= n;
    }
}

static int make_far(void)
{
    if (far_sum)
        return 0;
    far_sum = malloc(STREAM * sizeof(double));
    far_step = malloc(STREAM * sizeof(double));
    if (!far_sum || !far_step)
        return -1;
    for (size_t i = 0; i < STREAM; i++) {
        far_sum[i] = 0.0;
        far_step[i] = 1e-9;
    }
    return 0;
}

int prepare_work(const struct plan *plan)
{
    rate = plan->rate;
    stream_rate = plan->stream_rate;
    streaming = plan->streaming;
    near_units(20.0);
    return streaming > 0.0 ? make_far() : 0;
}

/* As much as takes `seconds` of cpu time where the rates were measured; `worked` is what it took here. */
void work(double seconds)
{
    double started = now();
    near_units(seconds * (1.0 - streaming) * rate);
    if (streaming > 0.0)
        far_units(seconds * streaming * stream_rate);
    worked += now() - started;
    asked += seconds;
}

static double cpu(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* Units for each cpu second here, from about `seconds` of work: the best of some parts, for others disturb it. 0 where
 * there is too little memory. */
double measured_rate(int far, double seconds)
{
    double best = 0.0;
    struct plan plan = {.streaming = far ? 1.0 : 0.0};
    if (prepare_work(&plan))
        return 0.0;
    for (int part = 0; part < PARTS; part++) {
        double units = 0.0, spent, started = cpu();
        while ((spent = cpu() - started) < seconds / PARTS) {
            if (far)
                far_units(50.0);
            else
                near_units(50.0);
            units += 50.0;
        }
        best = units / spent > best ? units / spent : best;
    }
    return best;
}
