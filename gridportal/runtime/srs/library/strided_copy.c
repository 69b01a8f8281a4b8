/* Copies what one rank takes of the others, in the order of its own memory: all that goes to one part of the target is
 * written while that is in the cache, whichever source it comes from. */
#define _DEFAULT_SOURCE
#include "strided_copy.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Bytes of the target that are written together: within a second level cache, beside as much of the sources. */
#define TILE (256 << 10)
/* Arrays of fewer bytes are written through the caches, where the program finds them. */
#define LARGE (4 << 20)
/* Bytes of a source that are asked for before they are needed. */
#define AHEAD 2048
/* Runs of more bytes are copied piece after piece: the target is written in long stretches then anyway. */
#define LONGEST_IN_TURN (16 << 10)
#define CACHE_LINE 64
#define PAGE 4096
/* Bytes of a map that are copied before it is looked whether some is to be let go of. */
#define PORTION (2 << 20)

/* Pieces of the last dimension that repeat alike and lie between each other. */
struct group {
    int64_t first, count;
};

struct copy {
    int dimensions;
    const struct srs_axis *axes;
    const char *const *sources;
    char *into;
    int streams; /* whether the target is large */
    int64_t itemsize, groups, mapped, touched;
    const char *last; /* where a source was touched last */
    struct srs_piece *pieces; /* of the last dimension, by groups */
    struct group *group;
    struct run *runs; /* room for those of one group */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A copy past the caches, where the processor can do that: what is written whole need not be read first. */
static void stream(char *into, const char *from, int64_t bytes)
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
static void end_streams(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

/* The processor foresees no run that begins elsewhere. */
static void ask_for(const char *from, int64_t bytes)
{
#ifdef __GNUC__
    for (int64_t at = 0; at < bytes && at < AHEAD; at += CACHE_LINE)
        __builtin_prefetch(from + at);
#else
    (void)from, (void)bytes;
#endif
}

static void copy_long_runs(char *into, int64_t into_step, const char *from, int64_t from_step, int64_t bytes,
                           int64_t times)
{
    int64_t ahead = AHEAD / bytes + 1;
    for (int64_t i = 0; i < times; i++) {
        if (i + ahead < times)
            ask_for(from + (i + ahead) * from_step, bytes);
        stream(into + i * into_step, from + i * from_step, bytes);
    }
}

/* `times` items of a size that the compiler knows. */
#define COPY_ITEMS(bytes)                                                                                             \
    for (int64_t i = 0; i < times; i++)                                                                               \
        memcpy(into + i * into_step, from + i * from_step, bytes);                                                    \
    break

static void copy_items(char *into, int64_t into_step, const char *from, int64_t from_step, int64_t bytes, int64_t times)
{
    switch (bytes) {
    case 1: COPY_ITEMS(1);
    case 2: COPY_ITEMS(2);
    case 4: COPY_ITEMS(4);
    case 8: COPY_ITEMS(8);
    case 16: COPY_ITEMS(16);
    case 32: COPY_ITEMS(32);
    case 64: COPY_ITEMS(64);
    default: COPY_ITEMS((size_t)bytes);
    }
}

/* `times` runs of `bytes` bytes, with steps in bytes. */
static void copy_runs(const struct copy *copy, char *into, int64_t into_step, const char *from, int64_t from_step,
                      int64_t bytes, int64_t times)
{
    if (into_step == bytes && from_step == bytes) {
        bytes *= times;
        times = 1;
    }
    if (copy->streams && bytes > 2 * CACHE_LINE)
        copy_long_runs(into, into_step, from, from_step, bytes, times);
    else
        copy_items(into, into_step, from, from_step, bytes, times);
}

/* Let go of what is in memory of old rank `rank`: it is a map of a file, and comes back from there. */
static void forget(const struct copy *copy, int64_t rank)
{
#ifdef __linux__
    int64_t bytes = copy->itemsize, page = sysconf(_SC_PAGESIZE);
    const char *begin = copy->sources[rank];
    for (int d = copy->dimensions - 1; d >= 0; rank /= copy->axes[d--].parts)
        bytes *= copy->axes[d].held[rank % copy->axes[d].parts];
    if (begin && (uintptr_t)begin % (uintptr_t)page == 0)
        madvise((void *)(uintptr_t)begin, (size_t)bytes, MADV_DONTNEED);
#else
    (void)copy, (void)rank;
#endif
}

/* `bytes` of a source are touched: with the pages around them, where they are not beside what was touched before. */
static void touch(struct copy *copy, const char *begin, int64_t bytes)
{
    int64_t gap = (int64_t)((intptr_t)begin - (intptr_t)copy->last), ranks = 1;
    copy->touched += bytes + (gap < 0 || gap > PAGE ? PAGE : gap);
    copy->last = begin + bytes;
    if (copy->touched < copy->mapped)
        return;
    copy->touched = 0;
    for (int d = 0; d < copy->dimensions; d++)
        ranks *= copy->axes[d].parts;
    for (int64_t rank = 0; rank < ranks; rank++)
        forget(copy, rank);
}

/* The same; of maps in portions, so that they can be let go of. */
static void copy_mapped(struct copy *copy, char *into, int64_t into_step, const char *from, int64_t from_step,
                        int64_t bytes, int64_t times)
{
    int64_t step = bytes > from_step ? bytes : from_step, at_once = step < PORTION ? PORTION / step : 1, some, part;
    if (!copy->mapped) {
        copy_runs(copy, into, into_step, from, from_step, bytes, times);
        return;
    }
    for (int64_t i = 0; i < times; i += some) {
        some = least(at_once, times - i);
        for (int64_t at = 0; at < bytes; at += part) {
            part = some > 1 ? bytes : least(bytes - at, PORTION);
            touch(copy, from + i * from_step + at, (some - 1) * from_step + part);
            copy_runs(copy, into + i * into_step + at, into_step, from + i * from_step + at, from_step, part, some);
        }
    }
}

/* Repetitions `from`..`to` of a piece; `into` and `source` are the line's beginnings. */
static void copy_piece(struct copy *copy, const struct srs_piece *piece, int64_t from, int64_t to, char *into,
                       const char *source)
{
    int64_t itemsize = copy->itemsize, bytes = piece->size * itemsize;
    char *at = into + (piece->target_place + from * piece->target_outer) * itemsize;
    const char *taken = source + (piece->source_place + from * piece->source_outer) * itemsize;
    if (piece->inner == 1) {
        copy_mapped(copy, at, piece->target_outer * itemsize, taken, piece->source_outer * itemsize, bytes, to - from);
        return;
    }
    for (int64_t time = from; time < to; time++) {
        copy_mapped(copy, at, piece->target_inner * itemsize, taken, piece->source_inner * itemsize, bytes, piece->inner);
        at += piece->target_outer * itemsize;
        taken += piece->source_outer * itemsize;
    }
}

/* Whether the pieces of a group are long runs, which are written past the caches. */
static int has_long_runs(const struct copy *copy, const struct group *group)
{
    for (int64_t i = 0; i < group->count; i++) {
        const struct srs_piece *piece = copy->pieces + group->first + i;
        int64_t bytes = piece->size * copy->itemsize;
        if (piece->inner > 1 || bytes <= 2 * CACHE_LINE || bytes > LONGEST_IN_TURN)
            return 0;
    }
    return copy->streams && group->count > 0;
}

/* A piece of a group at its first repetition, in bytes. */
struct run {
    char *into;
    const char *from;
    int64_t bytes, into_step, from_step;
    int64_t line; /* to the same place in the next line of its source, 0 where there is none */
};

/* Repetitions `from`..`to` of all runs, in the order of the target, so that it is written from its beginning to its end.
 * Runs are asked for early, beyond the last repetition those of the next line. */
static void copy_in_turn(const struct run *runs, int64_t count, int64_t from, int64_t to, int64_t all, int64_t ahead)
{
    for (int64_t time = from; time < to; time++) {
        int64_t later = time + ahead, over = later >= all;
        later -= over ? all : 0;
        for (int64_t i = 0; i < count; i++) {
            const struct run *run = runs + i;
            if (!over || run->line)
                ask_for(run->from + later * run->from_step + (over ? run->line : 0), run->bytes);
            stream(run->into + time * run->into_step, run->from + time * run->from_step, run->bytes);
        }
    }
}

/* A group of long runs. */
static void copy_group(struct copy *copy, const struct group *group, int64_t rank, int64_t lines, char *into)
{
    const struct srs_axis *axis = copy->axes + copy->dimensions - 1;
    const struct srs_piece *pieces = copy->pieces + group->first;
    int64_t itemsize = copy->itemsize, longest = 1, bytes = 0, all = pieces->outer;
    struct run *runs = copy->runs;
    for (int64_t i = 0; i < group->count; i++) {
        const struct srs_piece *piece = pieces + i;
        int64_t line = axis->held[piece->source] * itemsize;
        runs[i] = (struct run){into + piece->target_place * itemsize,
                               copy->sources[rank + piece->source] + lines * line + piece->source_place * itemsize,
                               piece->size * itemsize, piece->target_outer * itemsize, piece->source_outer * itemsize,
                               copy->dimensions > 1 ? line : 0};
        longest = most(longest, runs[i].from_step);
        bytes += runs[i].bytes;
    }
    int64_t at_once = copy->mapped ? most(1, PORTION / longest) : all;
    for (int64_t from = 0; from < all; from += at_once) {
        int64_t to = least(from + at_once, all);
        for (int64_t i = 0; copy->mapped && i < group->count; i++)
            touch(copy, runs[i].from + from * runs[i].from_step, (to - from - 1) * runs[i].from_step + runs[i].bytes);
        copy_in_turn(runs, group->count, from, to, all, least(AHEAD / bytes + 1, all));
    }
}

/* The last dimension, from the sources of ranks `rank` on, whose lines before this one are `lines`. */
static void copy_line(struct copy *copy, int64_t rank, int64_t lines, char *into)
{
    const struct srs_axis *axis = copy->axes + copy->dimensions - 1;
    for (int64_t g = 0; g < copy->groups; g++) {
        const struct srs_piece *pieces = copy->pieces + copy->group[g].first;
        if (has_long_runs(copy, copy->group + g)) {
            copy_group(copy, copy->group + g, rank, lines, into);
            continue;
        }
        int64_t step = pieces->target_outer * copy->itemsize, at_once = step > 0 && step < TILE ? TILE / step : 1;
        for (int64_t from = 0; from < pieces->outer; from += at_once)
            for (int64_t i = 0; i < copy->group[g].count; i++) {
                int64_t part = pieces[i].source;
                const char *source = copy->sources[rank + part] + lines * axis->held[part] * copy->itemsize;
                copy_piece(copy, pieces + i, from, least(from + at_once, pieces->outer), into, source);
            }
    }
}

static void copy_from(struct copy *copy, int d, int64_t rank, int64_t lines, int64_t place);

static void copy_inner(struct copy *copy, int d, int64_t rank, int64_t lines, int64_t place,
                       const struct srs_piece *piece, int64_t outer)
{
    for (int64_t inner = 0; inner < piece->inner; inner++)
        for (int64_t i = 0; i < piece->size; i++)
            copy_from(copy, d + 1, rank,
                      lines + piece->source_place + outer * piece->source_outer + inner * piece->source_inner + i,
                      place + piece->target_place + outer * piece->target_outer + inner * piece->target_inner + i);
}

/* Dimension d and those behind it. `rank`: of the old parts so far; `lines` and `place`: lines of the source and of the
 * target that lie before. */
static void copy_from(struct copy *copy, int d, int64_t rank, int64_t lines, int64_t place)
{
    const struct srs_axis *axis = copy->axes + d;
    rank *= axis->parts;
    if (d == copy->dimensions - 1) {
        copy_line(copy, rank, lines, copy->into + place * axis->mine * copy->itemsize);
        return;
    }
    for (int64_t p = 0; p < axis->count; p++)
        for (int64_t outer = 0; outer < axis->pieces[p].outer; outer++)
            copy_inner(copy, d, rank + axis->pieces[p].source, lines * axis->held[axis->pieces[p].source],
                       place * axis->mine, axis->pieces + p, outer);
}

/* One level of repetition is the outer one; runs that follow each other on both sides are one. */
static struct srs_piece simplified(struct srs_piece piece)
{
    if (piece.inner > 1 && piece.source_inner == piece.size && piece.target_inner == piece.size) {
        piece.size *= piece.inner;
        piece.inner = 1;
    }
    if (piece.outer == 1 && piece.inner > 1) {
        piece.outer = piece.inner;
        piece.source_outer = piece.source_inner;
        piece.target_outer = piece.target_inner;
        piece.inner = 1;
    }
    if (piece.outer == 1)
        piece.source_outer = piece.target_outer = 0;
    return piece;
}

static int by_repetition(const void *one, const void *other)
{
    const struct srs_piece *a = one, *b = other;
    if (a->outer != b->outer)
        return a->outer < b->outer ? -1 : 1;
    if (a->target_outer != b->target_outer)
        return a->target_outer < b->target_outer ? -1 : 1;
    return a->target_place < b->target_place ? -1 : a->target_place > b->target_place;
}

/* Groups of pieces: those that repeat alike, and begin before the first of them repeats. */
static void make_groups(struct copy *copy, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        struct group *last = copy->group + copy->groups - 1;
        const struct srs_piece *piece = copy->pieces + i, *first = copy->groups ? copy->pieces + last->first : NULL;
        if (first && piece->outer == first->outer && piece->target_outer == first->target_outer &&
            piece->target_place < first->target_place + first->target_outer) {
            last->count++;
            continue;
        }
        copy->group[copy->groups++] = (struct group){i, 1};
    }
}

static int is_large(int dimensions, const struct srs_axis *axes, int64_t itemsize)
{
    for (int d = 0; d < dimensions; d++)
        itemsize *= axes[d].mine;
    return itemsize >= LARGE;
}

/* Whether old and new leave a dimension whole. */
static int is_whole(const struct srs_axis *axis)
{
    const struct srs_piece *piece = axis->pieces;
    return axis->parts == 1 && axis->count == 1 && piece->size == axis->mine && axis->held[0] == axis->mine;
}

int srs_strided_copy(int dimensions, const struct srs_axis *axes, const char *const *sources, char *into,
                     int64_t itemsize, int64_t mapped)
{
    for (; dimensions > 1 && is_whole(axes + dimensions - 1); dimensions--)
        itemsize *= axes[dimensions - 1].mine; /* it is a part of the element */
    const struct srs_axis *axis = axes + dimensions - 1;
    struct copy copy = {.dimensions = dimensions, .axes = axes, .sources = sources, .into = into,
                        .itemsize = itemsize, .mapped = mapped};
    copy.streams = is_large(dimensions, axes, itemsize);
    copy.pieces = malloc(sizeof *copy.pieces * (size_t)(axis->count + 1));
    copy.group = malloc(sizeof *copy.group * (size_t)(axis->count + 1));
    copy.runs = malloc(sizeof *copy.runs * (size_t)(axis->count + 1));
    int problem = copy.pieces && copy.group && copy.runs ? 0 : -1;
    if (!problem) {
        for (int64_t i = 0; i < axis->count; i++)
            copy.pieces[i] = simplified(axis->pieces[i]);
        qsort(copy.pieces, (size_t)axis->count, sizeof *copy.pieces, by_repetition);
        make_groups(&copy, axis->count);
        copy_from(&copy, 0, 0, 0, 0);
        end_streams();
    }
    free(copy.pieces);
    free(copy.group);
    free(copy.runs);
    return problem;
}
