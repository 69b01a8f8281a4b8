/* How bytes are written past the caches of a processor, where it can do that: what is written whole need not be read
 * first. */
#ifndef GRIDPORTAL_STREAMS_H
#define GRIDPORTAL_STREAMS_H

#include <stdint.h>

#define CACHE_LINE 64
/* Bytes of a source that are asked for before they are needed. */
#define AHEAD 2048

/* Writes runs past the caches. Runs that follow each other share lines of memory: a line that is not whole yet waits
 * here, from its byte `begin` to its byte `end`. */
struct writer {
    char *line; /* where the line is that waits, NULL for none */
    int begin, end, wide;
    char waiting[CACHE_LINE];
};

void srs_open_writer(struct writer *writer);

void srs_write_past(struct writer *writer, char *into, const char *from, int64_t bytes);

/* All is in memory, and seen before what is written later. */
void srs_close_writer(struct writer *writer);

/* The processor foresees no run that begins elsewhere. Into the second level: the first has too few places for lines
 * that are under way, and writing past the caches takes those too. */
static inline void ask_for(const char *from, int64_t bytes)
{
#ifdef __GNUC__
    for (int64_t at = 0; at < bytes && at < AHEAD; at += CACHE_LINE)
        __builtin_prefetch(from + at, 0, 2);
#else
    (void)from, (void)bytes;
#endif
}

#endif
