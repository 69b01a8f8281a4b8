/* Work of a known amount: additions that wait for each other, and memory that is touched as the application touches its own.
 *
 * Computation is work and not sleep, so that it takes longer where an application's would: on a slower node, beside
 * another process, under a quota. A unit is UNIT additions. What the trace says of touched memory is touched here too,
 * again and again in one region as large as the application's: so it stands in the same cache, or in none, and what MPI
 * and the kernel had there is as cold for them. Additions fill the rest of the time. */
#define _POSIX_C_SOURCE 200809L
#include "player.h"

#include "loop.h"

#include <stdlib.h>
#include <time.h>

#define MOST_REGION (64 * 1024 * 1024) /* bytes; no cache is larger for one rank */
#define PARTS 5
#define PACED 0.005 /* s of either kind of work, when a skeleton begins */
#define WATCHED 5e-5 /* s of work from which on looking at the cpu clock costs nothing that counts */

double worked, asked;
static double rate; /* units for each second that is asked for, of additions alone */
static double walk, added; /* bytes to walk for each such second, and the part of it that is left for additions */
static double here, cost; /* units of additions for each cpu second here, and cpu seconds for each that is asked for */
static double debt; /* cpu seconds that touching memory took beyond what was asked for */
static volatile double sum; /* volatile, so that no compiler does without it */
static double *region;
static size_t length, place; /* doubles */

static double cpu(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void add(double units)
{
    sum = chain(sum, (size_t)(units * UNIT));
}

/* Goes on where it stopped the last time. */
static void touch(double bytes)
{
    size_t left = (size_t)(bytes / sizeof *region);
    while (left) {
        size_t n = left < length - place ? left : length - place;
        for (size_t i = place; i < place + n; i++)
            region[i] += 1e-9;
        place = (place + n) % length;
        left -= n;
    }
}

/* Units for each cpu second here, from about `seconds` of work: the best of some parts, for others disturb it. */
double measured_rate(double seconds)
{
    double best = 0.0;
    for (int part = 0; part < PARTS; part++) {
        double units = 0.0, spent, started = cpu();
        while ((spent = cpu() - started) < seconds / PARTS) {
            add(50.0);
            units += 50.0;
        }
        best = units / spent > best ? units / spent : best;
    }
    return best;
}

/* Bytes for each cpu second here; all ranks ask it at the same time, for they touch their memory at the same time. */
static double measured_walk(double seconds)
{
    double bytes = 0.0, spent, started = cpu();
    while ((spent = cpu() - started) < seconds) {
        touch(65536.0);
        bytes += 65536.0;
    }
    return bytes / spent;
}

static int make_region(double bytes)
{
    length = (size_t)((bytes < MOST_REGION ? bytes : MOST_REGION) / sizeof *region);
    length = length ? length : 1;
    region = malloc(length * sizeof *region);
    if (!region)
        return -1;
    for (size_t i = 0; i < length; i++)
        region[i] = 0.0;
    return 0;
}

int prepare_work(const struct plan *plan)
{
    rate = plan->rate;
    walk = 0.0, added = 1.0;
    add(20.0);
    if (plan->touched <= 0.0)
        return 0;
    if (make_region(plan->region))
        return -1;
    /* A second of the traced run is `rate` units; so many bytes take as long here. */
    here = measured_rate(PACED);
    cost = rate / here;
    double a_second = cost * measured_walk(PACED);
    walk = plan->touched < a_second ? plan->touched : a_second;
    added = 1.0 - walk / a_second;
    return 0;
}

/* Touches what `seconds` touch and adds for as much cpu time as is left of them: how long memory takes hangs on what
 * else is in the caches, and some milliseconds before the first call do not tell it. */
static void watched(double seconds)
{
    double before = cpu();
    touch(seconds * walk);
    double left = seconds * cost - debt - (cpu() - before);
    if (left > 0.0)
        add(left * here);
    debt = left < 0.0 ? -left : 0.0;
    if (debt > seconds * cost)
        debt = seconds * cost;
}

/* As much as takes `seconds` of cpu time where the rate was measured; `worked` is what it took here. */
void work(double seconds)
{
    double started = now();
    if (walk > 0.0 && seconds >= WATCHED) {
        watched(seconds);
    } else {
        touch(seconds * walk);
        add(seconds * added * rate);
    }
    worked += now() - started;
    asked += seconds;
}
