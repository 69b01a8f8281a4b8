/* What a rank wants of a shard that is elsewhere, as requests to a depot: which bytes, and where they belong;
 * shard_parts.py in C. Cost: O(pieces of the plan) requests, or O(bytes / MOST_BYTES) where these are more. */
#include "depots.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BYTES (1 << 20)
#define MOST_SLABS 256
#define LONGEST_REQUEST (48 << 10) /* letters of its slabs, of 64 KiB that a depot reads */
#define MOST_STRIDES 32
#define AXES 96 /* three for each dimension: outer and inner repetitions, and elements */

/* Elements of the shard and of the target that belong together: `count[i]` times, with steps in bytes; only counts
 * above 1. */
struct srs_view {
    int axes;
    int64_t from, into, count[AXES], from_step[AXES], into_step[AXES];
};

int srs_wanted_begin(struct srs_wanted *wanted, int dimensions, const struct srs_axis *axes, const int64_t *parts,
                     int64_t itemsize)
{
    int64_t source = itemsize, target = itemsize;
    memset(wanted, 0, sizeof *wanted);
    if (3 * dimensions > AXES)
        return srs_fail(SRS_BAD_INPUT, "An array has %d dimensions; accepted is at most %d from depots.", dimensions,
                        AXES / 3);
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
    wanted->stack = srs_room(AXES + 2, sizeof *wanted->stack);
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

/* A slab: its first byte, a run of bytes, and strides; what follows in the shard is one run. */
static int add_slab(const struct srs_view *view, int64_t itemsize, struct srs_text *into)
{
    int64_t run = itemsize, count[AXES], step[AXES];
    int strides = 0;
    for (int i = view->axes - 1; i >= 0; i--) {
        if (!strides && view->from_step[i] == run)
            run *= view->count[i];
        else if (strides && view->from_step[i] == count[strides - 1] * step[strides - 1])
            count[strides - 1] *= view->count[i];
        else {
            count[strides] = view->count[i];
            step[strides++] = view->from_step[i];
        }
    }
    if (strides > MOST_STRIDES)
        return srs_fail(SRS_BAD_INPUT, "An array has %d strides; accepted is at most %d from depots.", strides,
                        MOST_STRIDES);
    srs_add(into, "%s[%" PRId64 ",%" PRId64 ",[", into->length ? "," : "", view->from, run);
    while (strides--)
        srs_add(into, "[%" PRId64 ",%" PRId64 "]%s", count[strides], step[strides], strides ? "," : "");
    srs_add(into, "]]");
    return 0;
}

/* Where its bytes belong, in the order of the shard: axes, run, place, and count and step of each axis. */
static int add_place(const struct srs_view *view, int64_t itemsize, struct srs_part *part)
{
    int axes = view->axes;
    int64_t run = itemsize, wanted = part->length + 3 + 2 * axes;
    if (wanted > part->room) {
        int64_t *more = realloc(part->places, sizeof *more * (size_t)(2 * wanted));
        if (!more)
            return srs_no_memory();
        part->places = more;
        part->room = 2 * wanted;
    }
    for (; axes && view->into_step[axes - 1] == run; axes--)
        run *= view->count[axes - 1];
    int64_t *at = part->places + part->length;
    *at++ = axes;
    *at++ = run;
    *at++ = view->into;
    for (int i = 0; i < axes; i++) {
        *at++ = view->count[i];
        *at++ = view->into_step[i];
    }
    part->length = at - part->places;
    return 0;
}

static int is_full(const struct srs_part *part, int64_t bytes)
{
    return part->count && (part->count == MOST_SLABS || part->bytes + bytes > MOST_BYTES ||
                           part->slabs.length > LONGEST_REQUEST);
}

int srs_wanted_next(struct srs_wanted *wanted, struct srs_part *part)
{
    int problem = 0;
    part->slabs.length = 0;
    part->count = part->bytes = part->length = 0;
    while (!problem && look(wanted)) {
        const struct srs_view *view = wanted->stack + wanted->depth - 1;
        int64_t bytes = bytes_of(view, wanted->itemsize);
        if (is_full(part, bytes))
            break;
        problem = add_slab(view, wanted->itemsize, &part->slabs);
        problem = problem ? problem : add_place(view, wanted->itemsize, part);
        part->count++;
        part->bytes += bytes;
        wanted->depth--;
    }
    return part->slabs.failed ? srs_no_memory() : problem;
}

/* One axis of items of a size that the compiler knows. */
#define SPREAD(bytes)                                                                                                 \
    for (int64_t i = 0; i < count; i++)                                                                               \
        memcpy(into + i * step, content + i * (bytes), bytes);                                                        \
    break

static void spread(char *into, const char *content, int64_t run, int64_t count, int64_t step)
{
    switch (run) {
    case 4: SPREAD(4);
    case 8: SPREAD(8);
    case 16: SPREAD(16);
    default: SPREAD((size_t)run);
    }
}

/* The bytes of one slab; the place of the bytes after it. */
static const char *fill(const int64_t *axes, int64_t count, int64_t run, const char *content, char *into)
{
    if (!count) {
        memcpy(into, content, (size_t)run);
        return content + run;
    }
    if (count == 1) {
        spread(into, content, run, axes[0], axes[1]);
        return content + run * axes[0];
    }
    for (int64_t i = 0; i < axes[0]; i++)
        content = fill(axes + 2, count - 1, run, content, into + i * axes[1]);
    return content;
}

void srs_part_fill(const struct srs_part *part, const char *content, char *into)
{
    for (const int64_t *at = part->places, *end = at + part->length; at < end; at += 3 + 2 * at[0])
        content = fill(at + 3, at[0], at[1], content, into + at[2]);
}

void srs_part_free(struct srs_part *part)
{
    srs_drop(&part->slabs);
    free(part->places);
    memset(part, 0, sizeof *part);
}
