/* How much of the time between two calls the thread computed.
 *
 * The cpu clock of a thread is a system call (0.2 to 0.8 us), ten times what reading the time costs, so it is read
 * seldom: where a gap was so long that the reading costs little of it, and at the end of a call when the last
 * reading is as old. Within shorter gaps nobody takes the processor away; some are measured all the same, for a program
 * may sleep there again and again, and the others count as these. A long gap that began without a reading counts with
 * what the calls and gaps since the last one used, so with at most one `enough` too much. */
#include "trace.h"

#include <stdlib.h>
#include <time.h>

#define READINGS 256 /* a gap is long when it takes so many times as long as reading the cpu clock */
#define SAMPLED 0.0625 /* of a long gap: from here on gaps are measured where they began with a reading */
#define WEIGHT 0.125 /* of the newest sample in the mean */

struct clocks {
    double enough; /* s */
    double checked, checked_at; /* the cpu clock at its last reading, and the time then */
    double counted; /* cpu s of the gaps since */
    double share; /* of a short gap that is spent computing */
    int exact; /* whether the gap began with a reading */
};

static double read_clock(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

double now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

static double thread_cpu(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* What the other threads of this process have had of the processors, s. */
double helped(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID) - thread_cpu();
}

/* How long this thread was ready and others had the processor, s; 0 where the kernel does not count it. */
double ready(void)
{
    unsigned long long waited = 0;
    FILE *counts = fopen("/proc/thread-self/schedstat", "r");
    if (!counts)
        return 0.0;
    if (fscanf(counts, "%*u %llu", &waited) != 1)
        waited = 0;
    fclose(counts);
    return 1e-9 * (double)waited;
}

static void check(struct clocks *clocks, double at)
{
    clocks->checked = thread_cpu();
    clocks->checked_at = at;
    clocks->counted = 0.0;
}

struct clocks *make_clocks(void)
{
    struct clocks *clocks = calloc(1, sizeof *clocks);
    double cheapest = 1.0;
    if (!clocks)
        abort();
    for (int i = 0; i < 8; i++) {
        double before = now(), after;
        thread_cpu();
        after = now();
        if (after - before < cheapest)
            cheapest = after - before;
    }
    clocks->enough = READINGS * cheapest;
    clocks->share = 1.0;
    restart_clocks(clocks);
    return clocks;
}

void restart_clocks(struct clocks *clocks)
{
    clocks->exact = 1;
    check(clocks, now());
}

double cpu_of_gap(struct clocks *clocks, double gap, double at)
{
    double spent = gap;
    int sample = gap >= SAMPLED * clocks->enough;
    if (gap >= clocks->enough || (sample && clocks->exact)) {
        double before = clocks->checked + clocks->counted;
        check(clocks, at);
        spent = clocks->checked > before ? clocks->checked - before : 0.0;
        spent = spent < gap ? spent : gap;
        if (gap < clocks->enough)
            clocks->share += WEIGHT * (spent / gap - clocks->share);
        return spent;
    }
    if (sample)
        spent *= clocks->share;
    clocks->counted += spent;
    return spent;
}

void gap_begins(struct clocks *clocks, double at)
{
    clocks->exact = at - clocks->checked_at >= clocks->enough;
    if (clocks->exact)
        check(clocks, at);
}
