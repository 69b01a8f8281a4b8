/* Writes past the caches: whole lines at once where the processor has AVX-512, else by 16 bytes. */
#include "streams.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define WIDE __attribute__((target("avx512f,avx512bw,avx512vbmi2")))
#endif

/* Long runs are written some pages at a time, two lines of each in turn: memory gives more where it is asked for several
 * of its pages at once. Of each page what comes soon is asked for. */
#define PAGE 4096
#define PAGES (4 * PAGE)
#define SOON 512

static void write_narrow(char *into, const char *from, int64_t bytes)
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

#ifdef WIDE
/* Bytes `begin`..`end` of a line. */
WIDE static inline __mmask64 part(int begin, int end)
{
    return end == begin ? 0 : ~0ULL >> (CACHE_LINE - (end - begin)) << begin;
}

WIDE static inline void put_line(char *line, __m512i bytes, int begin, int end)
{
    if (begin == 0 && end == CACHE_LINE)
        _mm512_stream_si512((__m512i *)line, bytes);
    else
        _mm512_mask_storeu_epi8(line, part(begin, end), bytes);
}

WIDE static void put_waiting(struct writer *writer)
{
    if (writer->line)
        put_line(writer->line, _mm512_loadu_si512(writer->waiting), writer->begin, writer->end);
    writer->line = NULL;
}

/* The beginning of a run, in a line that has `from` bytes before it; bytes of the run that were taken. What is not asked
 * for by a mask is not touched. */
WIDE static int64_t fill_line(struct writer *writer, char *into, const char *from, int64_t bytes)
{
    int begin = (int)((uintptr_t)into % CACHE_LINE);
    char *line = into - begin;
    if (writer->line != line || writer->end != begin) {
        put_waiting(writer);
        writer->begin = begin;
    }
    int end = bytes < CACHE_LINE - begin ? begin + (int)bytes : CACHE_LINE;
    __m512i run = _mm512_maskz_loadu_epi8(part(0, end - begin), from);
    __m512i whole = _mm512_mask_expand_epi8(_mm512_loadu_si512(writer->waiting), part(begin, end), run);
    _mm512_storeu_si512(writer->waiting, whole);
    writer->line = line;
    writer->end = end;
    if (end == CACHE_LINE)
        put_waiting(writer);
    return end - begin;
}

/* PAGES bytes, to the beginning of a line. */
WIDE static void write_pages(char *into, const char *from)
{
    for (int line = 0; line < PAGE; line += 2 * CACHE_LINE)
        for (int at = line; at < PAGES; at += PAGE) {
            __builtin_prefetch(from + at + SOON, 0, 3);
            __m512i one = _mm512_loadu_si512(from + at), two = _mm512_loadu_si512(from + at + CACHE_LINE);
            _mm512_stream_si512((__m512i *)(into + at), one);
            _mm512_stream_si512((__m512i *)(into + at + CACHE_LINE), two);
        }
}

WIDE static void write_wide(struct writer *writer, char *into, const char *from, int64_t bytes)
{
    if ((uintptr_t)into % CACHE_LINE) {
        int64_t taken = fill_line(writer, into, from, bytes);
        into += taken;
        from += taken;
        bytes -= taken;
    }
    for (; bytes >= PAGES; bytes -= PAGES, into += PAGES, from += PAGES)
        write_pages(into, from);
    for (; bytes >= CACHE_LINE; bytes -= CACHE_LINE, into += CACHE_LINE, from += CACHE_LINE)
        _mm512_stream_si512((__m512i *)into, _mm512_loadu_si512(from));
    if (bytes)
        fill_line(writer, into, from, bytes);
}
#endif

void srs_open_writer(struct writer *writer)
{
    memset(writer, 0, sizeof *writer);
#ifdef WIDE
    writer->wide = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2");
#endif
}

void srs_write_past(struct writer *writer, char *into, const char *from, int64_t bytes)
{
#ifdef WIDE
    if (writer->wide) {
        write_wide(writer, into, from, bytes);
        return;
    }
#endif
    (void)writer;
    write_narrow(into, from, bytes);
}

void srs_close_writer(struct writer *writer)
{
#ifdef WIDE
    if (writer->wide)
        put_waiting(writer);
#endif
    (void)writer;
#ifdef __SSE2__
    _mm_sfence();
#endif
}
