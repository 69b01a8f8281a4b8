/* What a rank wants of a shard that is elsewhere, as requests to a depot: which bytes, and where they belong;
 * shard_parts.py in C. Cost: O(pieces of the plan) requests, or O(bytes / MOST_BYTES) where these are more. */
#include "depots.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (1 << 20)
#define MOST_SLABS 256
#define NEAR 64 /* bytes between two runs that are asked for as one: another slab is as long, and costs a depot more */
#define LONGEST_REQUEST (48 << 10) /* letters of its slabs, of 64 KiB that a depot reads */
#define MOST_STRIDES 32

int srs_wanted_begin(struct srs_wanted *wanted, int dimensions, const struct srs_axis *axes, const int64_t *parts,
                     int64_t itemsize)
{
    int64_t source = itemsize, target = itemsize;
    memset(wanted, 0, sizeof *wanted);
    if (3 * dimensions > SRS_AXES)
        return srs_fail(SRS_BAD_INPUT, "An array has %d dimensions; accepted is at most %d from depots.", dimensions,
                        SRS_AXES / 3);
    wanted->dimensions = dimensions;
    wanted->axes = axes;
    wanted->itemsize = itemsize;
    for (int d = dimensions - 1; d >= 0; d--) {
        wanted->source_step[d] = source;
        wanted->target_step[d] = target;
        source *= axes[d].held[parts[d]];
        target *= axes[d].mine;
        wanted->over = wanted->over || !axes[d].count;
    }
    wanted->stack = srs_room(SRS_AXES + 2, sizeof *wanted->stack);
    return wanted->stack ? 0 : srs_no_memory();
}

void srs_wanted_end(struct srs_wanted *wanted)
{
    free(wanted->stack);
    wanted->stack = NULL;
}

static void add_axis(struct srs_view *view, int64_t count, int64_t from_step, int64_t into_step)
{
    if (count == 1)
        return;
    view->count[view->axes] = count;
    view->from_step[view->axes] = from_step;
    view->into_step[view->axes++] = into_step;
}

/* The view of the pieces at which `wanted` is, one of each dimension. */
static void view_pieces(const struct srs_wanted *wanted, struct srs_view *view)
{
    memset(view, 0, sizeof *view);
    for (int d = 0; d < wanted->dimensions; d++) {
        const struct srs_piece *piece = wanted->axes[d].pieces + wanted->piece[d];
        int64_t from = wanted->source_step[d], into = wanted->target_step[d];
        view->from += piece->source_place * from;
        view->into += piece->target_place * into;
        add_axis(view, piece->outer, piece->source_outer * from, piece->target_outer * into);
        add_axis(view, piece->inner, piece->source_inner * from, piece->target_inner * into);
        add_axis(view, piece->size, from, into);
    }
}

/* On to the next pieces, the last dimension first. */
static void step_on(struct srs_wanted *wanted)
{
    for (int d = wanted->dimensions - 1; d >= 0; d--) {
        if (++wanted->piece[d] < wanted->axes[d].count)
            return;
        wanted->piece[d] = 0;
    }
    wanted->over = 1;
}

static int64_t bytes_of(const struct srs_view *view, int64_t itemsize)
{
    for (int i = 0; i < view->axes; i++)
        itemsize *= view->count[i];
    return itemsize;
}

/* The first elements of a view, in its leading axis, so many that they fit; the others are left. */
static struct srs_view cut(struct srs_view *left, int64_t bytes)
{
    int64_t at_once = (int64_t)((double)MOST_BYTES * (double)left->count[0] / (double)bytes);
    at_once = at_once < 1 ? 1 : at_once;
    struct srs_view first = *left;
    first.count[0] = at_once;
    left->count[0] -= at_once;
    left->from += at_once * left->from_step[0];
    left->into += at_once * left->into_step[0];
    if (at_once == 1) {
        first.axes--;
        memmove(first.count, first.count + 1, sizeof *first.count * (size_t)first.axes);
        memmove(first.from_step, first.from_step + 1, sizeof *first.from_step * (size_t)first.axes);
        memmove(first.into_step, first.into_step + 1, sizeof *first.into_step * (size_t)first.axes);
    }
    return first;
}

/* The next view of at most MOST_BYTES, on top of the stack; 0 where there is none. */
static int look(struct srs_wanted *wanted)
{
    if (!wanted->depth) {
        if (wanted->over)
            return 0;
        view_pieces(wanted, wanted->stack);
        wanted->depth = 1;
        step_on(wanted);
    }
    for (;;) {
        struct srs_view *top = wanted->stack + wanted->depth - 1;
        int64_t bytes = bytes_of(top, wanted->itemsize);
        if (bytes <= MOST_BYTES || !top->axes)
            return 1;
        struct srs_view first = cut(top, bytes);
        if (!top->count[0])
            wanted->depth--;
        wanted->stack[wanted->depth++] = first;
    }
}

/* A slab: its first byte, a run of bytes, and strides, the fastest first. */
struct slab {
    int64_t start, run, count[SRS_AXES], step[SRS_AXES];
    int strides;
};

/* What follows in the shard is one run. */
static void make_slab(const struct srs_view *view, int64_t itemsize, struct slab *slab)
{
    slab->start = view->from;
    slab->run = itemsize;
    slab->strides = 0;
    for (int i = view->axes - 1; i >= 0; i--) {
        int last = slab->strides - 1;
        if (last < 0 && view->from_step[i] == slab->run)
            slab->run *= view->count[i];
        else if (last >= 0 && view->from_step[i] == slab->count[last] * slab->step[last])
            slab->count[last] *= view->count[i];
        else {
            slab->count[++last] = view->count[i];
            slab->step[last] = view->from_step[i];
            slab->strides = last + 1;
        }
    }
}

static void begin_text(struct srs_part *part, int64_t start, int64_t run)
{
    srs_add(&part->slabs, "%s[%" PRId64 ",%" PRId64 ",[", part->slabs.length ? "," : "", start, run);
}

/* The run behind which nothing follows closely. */
static void close_run(struct srs_part *part)
{
    if (part->end) {
        begin_text(part, part->start, part->end - part->start);
        srs_add(&part->slabs, "]]");
    }
    part->end = 0;
}

/* Bytes of the shard between the last slab and this one where both are one run; else -1. */
static int64_t gap_before(const struct srs_part *part, const struct slab *slab)
{
    int64_t gap = slab->start - part->end;
    return part->end && !slab->strides && gap >= 0 && gap <= NEAR ? gap : -1;
}

static int add_slab(const struct slab *slab, struct srs_part *part)
{
    if (slab->strides > MOST_STRIDES)
        return srs_fail(SRS_BAD_INPUT, "An array has %d strides; accepted is at most %d from depots.", slab->strides,
                        MOST_STRIDES);
    close_run(part);
    part->count++;
    if (!slab->strides) {
        part->start = slab->start;
        part->end = slab->start + slab->run;
        return 0;
    }
    begin_text(part, slab->start, slab->run);
    for (int i = slab->strides - 1; i >= 0; i--)
        srs_add(&part->slabs, "[%" PRId64 ",%" PRId64 "]%s", slab->count[i], slab->step[i], i ? "," : "");
    srs_add(&part->slabs, "]]");
    return 0;
}

static int is_full(const struct srs_part *part, int64_t bytes, int64_t gap)
{
    if (gap >= 0)
        return part->bytes + gap + bytes > MOST_BYTES;
    return part->count && (part->count == MOST_SLABS || part->bytes + bytes > MOST_BYTES ||
                           part->slabs.length > LONGEST_REQUEST);
}

/* A view, which goes on with the last slab where it begins at most `gap` bytes behind that. */
static int add_view(const struct srs_view *view, const struct slab *slab, int64_t gap, int64_t itemsize,
                    struct srs_part *part)
{
    int problem = gap < 0 ? add_slab(slab, part) : gap > 0 ? srs_part_gap(part, gap) : 0;
    if (gap >= 0)
        part->end = slab->start + slab->run;
    part->bytes += bytes_of(view, itemsize);
    return problem ? problem : srs_part_place(part, view, itemsize);
}

int srs_wanted_next(struct srs_wanted *wanted, struct srs_part *part)
{
    int problem = 0;
    struct slab slab;
    part->slabs.length = 0;
    part->count = part->bytes = part->length = part->end = 0;
    while (!problem && look(wanted)) {
        const struct srs_view *view = wanted->stack + wanted->depth - 1;
        make_slab(view, wanted->itemsize, &slab);
        int64_t gap = gap_before(part, &slab);
        if (is_full(part, bytes_of(view, wanted->itemsize), gap))
            break;
        problem = add_view(view, &slab, gap, wanted->itemsize, part);
        wanted->depth--;
    }
    close_run(part);
    return part->slabs.failed ? srs_no_memory() : problem;
}
