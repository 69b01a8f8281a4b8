/* Where the bytes that a depot sends belong: noted by slabs when they are asked for, gone through when they come. */
#include "depots.h"

#include <stdlib.h>
#include <string.h>

static int make_room(struct srs_part *part, int64_t more)
{
    int64_t wanted = part->length + more;
    if (wanted <= part->room)
        return 0;
    int64_t *places = realloc(part->places, sizeof *places * (size_t)(2 * wanted));
    if (!places)
        return srs_no_memory();
    part->places = places;
    part->room = 2 * wanted;
    return 0;
}

int srs_part_gap(struct srs_part *part, int64_t bytes)
{
    if (make_room(part, 3))
        return SRS_NO_MEMORY;
    int64_t gap[] = {0, bytes, -1};
    memcpy(part->places + part->length, gap, sizeof gap);
    part->length += 3;
    part->bytes += bytes;
    return 0;
}

int srs_part_place(struct srs_part *part, const struct srs_view *view, int64_t itemsize)
{
    int axes = view->axes;
    int64_t run = itemsize;
    if (make_room(part, 3 + 2 * axes))
        return SRS_NO_MEMORY;
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
        content = at[2] < 0 ? content + at[1] : fill(at + 3, at[0], at[1], content, into + at[2]);
}

void srs_part_free(struct srs_part *part)
{
    srs_drop(&part->slabs);
    free(part->places);
    memset(part, 0, sizeof *part);
}
