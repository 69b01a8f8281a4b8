/* Copies lines: what lies along the last dimension, in the order of the target, whichever source it comes from. */
#include "copy_plan.h"
#include "streams.h"

/* Bytes of the target that are written together: within a second level cache, beside as much of the sources. */
#define TILE (256 << 10)
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

/* `times` runs of `bytes` bytes; of maps in portions, so that they can be let go of. */
static void copy_mapped(struct copy *copy, char *into, int64_t into_step, const char *from, int64_t from_step,
                        int64_t bytes, int64_t times)
{
    int64_t step = bytes > from_step ? bytes : from_step, at_once = step < PORTION ? PORTION / step : 1, some, part;
    if (!copy->mapped) {
        srs_copy_runs(copy->streams, into, into_step, from, from_step, bytes, times);
        return;
    }
    for (int64_t i = 0; i < times; i += some) {
        some = least(at_once, times - i);
        for (int64_t at = 0; at < bytes; at += part) {
            part = some > 1 ? bytes : least(bytes - at, PORTION);
            srs_touch(copy, from + i * from_step + at, (some - 1) * from_step + part);
            srs_copy_runs(copy->streams, into + i * into_step + at, into_step, from + i * from_step + at, from_step,
                          part, some);
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
            srs_touch(copy, runs[i].from + from * runs[i].from_step, (to - from - 1) * runs[i].from_step + runs[i].bytes);
        copy_in_turn(runs, group->count, from, to, all, least(AHEAD / bytes + 1, all));
    }
}

void srs_copy_line(struct copy *copy, int64_t rank, int64_t lines, char *into)
{
    const struct srs_axis *axis = copy->axes + copy->dimensions - 1;
    for (int64_t g = 0; g < copy->groups; g++) {
        const struct srs_piece *pieces = copy->pieces + copy->group[g].first;
        if (srs_has_long_runs(copy, copy->group + g)) {
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
