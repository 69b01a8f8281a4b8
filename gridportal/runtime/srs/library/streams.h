/* How bytes are copied past the caches of a processor, where it can do that: what is written whole need not be read
 * first. In a header, so that compilers put it where it is used: runs are short. */
#ifndef GRIDPORTAL_STREAMS_H
#define GRIDPORTAL_STREAMS_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#define CACHE_LINE 64
/* Bytes of a source that are asked for before they are needed. */
#define AHEAD 2048

static inline void stream(char *into, const char *from, int64_t bytes)
{
#ifdef __SSE2__
    int64_t head = (int64_t)(-(uintptr_t)into & 15);
    if (head < bytes) {
        if (head)
            memcpy(into, from, (size_t)head);
        into += head;
        from += head;
        bytes -= head;
        for (; bytes >= CACHE_LINE; bytes -= CACHE_LINE, into += CACHE_LINE, from += CACHE_LINE) {
            const __m128i *taken = (const __m128i *)from;
            __m128i a = _mm_loadu_si128(taken), b = _mm_loadu_si128(taken + 1);
            __m128i c = _mm_loadu_si128(taken + 2), d = _mm_loadu_si128(taken + 3);
            _mm_stream_si128((__m128i *)into, a);
            _mm_stream_si128((__m128i *)into + 1, b);
            _mm_stream_si128((__m128i *)into + 2, c);
            _mm_stream_si128((__m128i *)into + 3, d);
        }
    }
#endif
    if (bytes)
        memcpy(into, from, (size_t)bytes);
}

/* What was streamed is seen before what is written later. */
static inline void end_streams(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

/* The processor foresees no run that begins elsewhere. */
static inline void ask_for(const char *from, int64_t bytes)
{
#ifdef __GNUC__
    for (int64_t at = 0; at < bytes && at < AHEAD; at += CACHE_LINE)
        __builtin_prefetch(from + at);
#else
    (void)from, (void)bytes;
#endif
}

#endif
