/* How much memory the program touches while it computes, from some of the gaps between two calls.
 *
 * Linux takes the marks of referenced pages away when it is asked to (/proc/self/clear_refs), and counts those that were
 * set since (smaps_rollup). Both go through all page tables of the process, so what that takes is measured, and it is
 * asked so seldom that it takes a two-hundredth of the time. Which gap is next has nothing to do with the program's
 * loops: some calls more or fewer are let pass each time. Where there are no such files, or the process has very much
 * memory, nothing is counted. */
#define _GNU_SOURCE
#include "record.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef SELDOM
#define SELDOM 200.0 /* times what a look takes, until the next */
#endif
#define SHORTEST 0.02 /* s between two */
#define PASSED 16 /* calls that are let pass at most */
#define MOST_RESIDENT (4L << 30) /* bytes; a look at more takes too long */
#define FLUSHED 256 /* pages; where so many go at once, processors forget all of the process's translations */
#define NEVER 1e300

/* A page whose translation a processor remembers gets no new mark: they forget them when a range of pages is given back,
 * of which the first and the last were used. */
static void forget_translations(void)
{
    static char *range;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = FLUSHED * page;
    if (!range) {
        void *got = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (got == MAP_FAILED)
            return;
        madvise(range = got, size, MADV_NOHUGEPAGE);
    }
    range[0] = range[size - page] = 1;
    madvise(range, size, MADV_DONTNEED);
}

static int clear_marks(void)
{
    int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC), done;
    if (file < 0)
        return 0;
    done = write(file, "1", 1) == 1;
    close(file);
    if (done)
        forget_translations();
    return done;
}

/* Bytes of the pages with a mark; -1 where nobody says it. */
static double marked(void)
{
    char line[256];
    double kilobytes = -1.0;
    FILE *file = fopen("/proc/self/smaps_rollup", "re");
    if (!file)
        return -1.0;
    while (kilobytes < 0.0 && fgets(line, sizeof line, file))
        if (sscanf(line, "Referenced: %lf kB", &kilobytes) != 1)
            kilobytes = -1.0;
    fclose(file);
    return kilobytes < 0.0 ? -1.0 : 1024.0 * kilobytes;
}

static double resident(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return NEVER;
    if (fscanf(file, "%*s %ld", &pages) != 1)
        pages = 0;
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void look_later(struct touched *touched, double at)
{
    double apart = SELDOM * touched->cost;
    touched->turn = touched->turn * 1103515245u + 12345u;
    touched->pass = (touched->turn >> 16) % PASSED;
    touched->next_at = at + (apart > SHORTEST ? apart : SHORTEST);
}

void begin_touched(struct touched *touched, double at)
{
    memset(touched, 0, sizeof *touched);
    look_later(touched, at);
}

double touched_gap_begins(struct touched *touched, double at)
{
    if (at < touched->next_at || touched->pass-- > 0)
        return at;
    touched->looking = resident() <= MOST_RESIDENT && clear_marks();
    double then = now();
    touched->cost = then - at;
    if (!touched->looking)
        touched->next_at = NEVER;
    return then;
}

double touched_gap_ends(struct touched *touched, double cpu, double at)
{
    double bytes = marked(), then = now();
    touched->looking = 0;
    touched->cost += then - at;
    if (bytes < 0.0) {
        touched->next_at = NEVER;
        return then;
    }
    touched->n++;
    touched->bytes += bytes;
    touched->cpu += cpu;
    touched->region += bytes * cpu;
    look_later(touched, then);
    return then;
}

void write_touched(FILE *file, const struct touched *touched)
{
    if (touched->n > 0.0 && touched->cpu > 0.0)
        fprintf(file, "\"touched\": {\"n\": %.0f, \"bytes\": %.6g, \"cpu\": %.6g, \"region\": %.6g}, ", touched->n,
                touched->bytes / touched->n, touched->cpu / touched->n, touched->region / touched->cpu);
}
