/* Copies lines: what lies along the last dimension, in the order of the target, whichever source it comes from. */
#include "copy_plan.h"

#include <stddef.h>

/* Bytes of the target that are written together: within a second level cache, beside as much of the sources. */
#define TILE (256 << 10)
/* Bytes of the target that are put together before they are written: within a first level cache. */
#ifndef BUFFER
#define BUFFER (8 << 10)
#endif
/* Bytes of a map that are copied before it is looked whether some is to be let go of. */
#define PORTION (2 << 20)

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* `times` runs of `bytes` bytes, with a writer past the caches; of maps in portions, so that they can be let go of. */
static void copy_mapped(struct copy *copy, struct writer *writer, char *into, int64_t into_step, const char *from,
                        int64_t from_step, int64_t bytes, int64_t times)
{
    int64_t step = bytes > from_step ? bytes : from_step, at_once = step < PORTION ? PORTION / step : 1, some, part;
    if (!copy->mapped) {
        srs_copy_runs(writer, into, into_step, from, from_step, bytes, times);
        return;
    }
    for (int64_t i = 0; i < times; i += some) {
        some = least(at_once, times - i);
        for (int64_t at = 0; at < bytes; at += part) {
            part = some > 1 ? bytes : least(bytes - at, PORTION);
            srs_touch(copy, from + i * from_step + at, (some - 1) * from_step + part);
            srs_copy_runs(writer, into + i * into_step + at, into_step, from + i * from_step + at, from_step,
                          part, some);
        }
    }
}

/* Repetitions `from`..`to` of a piece to `at`; `source` is the line's beginning. */
static void copy_piece(struct copy *copy, struct writer *writer, const struct srs_piece *piece, int64_t from, int64_t to,
                       char *at, const char *source)
{
    int64_t itemsize = copy->itemsize, bytes = piece->size * itemsize;
    const char *taken = source + (piece->source_place + from * piece->source_outer) * itemsize;
    if (piece->inner == 1) {
        copy_mapped(copy, writer, at, piece->target_outer * itemsize, taken, piece->source_outer * itemsize, bytes,
                    to - from);
        return;
    }
    for (int64_t time = from; time < to; time++) {
        copy_mapped(copy, writer, at, piece->target_inner * itemsize, taken, piece->source_inner * itemsize, bytes,
                    piece->inner);
        at += piece->target_outer * itemsize;
        taken += piece->source_outer * itemsize;
    }
}

/* Repetitions `from`..`to` of a group to `into`, which is the place of the first piece. */
static void copy_repetitions(struct copy *copy, struct writer *writer, const struct group *group, int64_t from,
                             int64_t to, int64_t rank, int64_t lines, char *into)
{
    const struct srs_axis *axis = copy->axes + copy->dimensions - 1;
    const struct srs_piece *first = copy->pieces + group->first;
    for (int64_t i = 0; i < group->count; i++) {
        int64_t part = first[i].source;
        const char *source = copy->sources[rank + part] + lines * axis->held[part] * copy->itemsize;
        char *at = into + (first[i].target_place - first->target_place) * copy->itemsize;
        copy_piece(copy, writer, first + i, from, to, at, source);
    }
}

/* Repetitions `from`..`to` of all pieces of a group are needed soon. */
static void ask_for_repetitions(const struct copy *copy, const struct group *group, int64_t from, int64_t to,
                                int64_t rank, int64_t lines)
{
    const struct srs_axis *axis = copy->axes + copy->dimensions - 1;
    const struct srs_piece *piece = copy->pieces + group->first;
    for (int64_t i = 0; i < group->count; i++, piece++) {
        int64_t place = lines * axis->held[piece->source] + piece->source_place + from * piece->source_outer;
        const char *begin = copy->sources[rank + piece->source] + place * copy->itemsize;
        int64_t step = piece->source_outer * copy->itemsize, bytes = (to - from) * step;
        for (int64_t at = 0; at < bytes; at += most(step, CACHE_LINE))
            ask_for(begin + at, 1);
    }
}

/* A group of short runs: what lies together in the target is put together within the first level cache and written past
 * the caches from there, or else written run by run while a tile of the target is in the second level. */
static void copy_short_runs(struct copy *copy, const struct group *group, int64_t rank, int64_t lines, char *into)
{
    const struct srs_piece *first = copy->pieces + group->first;
    int64_t step = first->target_outer * copy->itemsize;
    int buffered = copy->streams && step > 0 && step <= BUFFER / 4 && srs_leaves_no_gap(copy, group);
    int64_t room = buffered ? BUFFER : TILE, at_once = step > 0 && step < room ? room / step : 1;
    char buffer[BUFFER];
    into += first->target_place * copy->itemsize;
    for (int64_t from = 0; from < first->outer; from += at_once) {
        int64_t to = least(from + at_once, first->outer);
        if (buffered) {
            ask_for_repetitions(copy, group, to, least(to + at_once, first->outer), rank, lines);
            copy_repetitions(copy, NULL, group, from, to, rank, lines, buffer);
            srs_write_past(&copy->writer, into + from * step, buffer, (to - from) * step);
        } else {
            copy_repetitions(copy, copy->streams ? &copy->writer : NULL, group, from, to, rank, lines, into + from * step);
        }
    }
}

/* Repetitions `from`..`to` of all runs, in the order of the target, so that it is written from its beginning to its end.
 * Runs are asked for early, beyond the last repetition those of the next line. */
static void copy_in_turn(struct writer *writer, const struct run *runs, int64_t count, int64_t from, int64_t to,
                         int64_t all, int64_t ahead)
{
    for (int64_t time = from; time < to; time++) {
        int64_t later = time + ahead, over = later >= all;
        later -= over ? all : 0;
        for (int64_t i = 0; i < count; i++) {
            const struct run *run = runs + i;
            if (!over || run->line)
                ask_for(run->from + later * run->from_step + (over ? run->line : 0), run->bytes);
            srs_write_past(writer, run->into + time * run->into_step, run->from + time * run->from_step, run->bytes);
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
            srs_touch(copy, runs[i].from + from * runs[i].from_step, (to - from - 1) * runs[i].from_step + runs[i].bytes);
        copy_in_turn(&copy->writer, runs, group->count, from, to, all, least(AHEAD / bytes + 1, all));
    }
}

void srs_copy_line(struct copy *copy, int64_t rank, int64_t lines, char *into)
{
    for (int64_t g = 0; g < copy->groups; g++)
        if (srs_has_long_runs(copy, copy->group + g))
            copy_group(copy, copy->group + g, rank, lines, into);
        else
            copy_short_runs(copy, copy->group + g, rank, lines, into);
}
