/* Copies what one rank takes of the others, in the order of its own memory: all that goes to one part of the target is
 * written while that is in the cache, whichever source it comes from. */
#include "strided_copy.h"

#include "copy_plan.h"

#include <stdlib.h>

/* Arrays of fewer bytes are written through the caches, where the program finds them. */
#define LARGE (4 << 20)

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
        srs_copy_line(copy, rank, lines, copy->into + place * axis->mine * copy->itemsize);
        return;
    }
    for (int64_t p = 0; p < axis->count; p++)
        for (int64_t outer = 0; outer < axis->pieces[p].outer; outer++)
            copy_inner(copy, d, rank + axis->pieces[p].source, lines * axis->held[axis->pieces[p].source],
                       place * axis->mine, axis->pieces + p, outer);
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
    size_t room = 2 * (size_t)axis->count + 1;
    copy.pieces = malloc(sizeof *copy.pieces * room);
    copy.group = malloc(sizeof *copy.group * room);
    copy.runs = malloc(sizeof *copy.runs * room);
    int problem = copy.pieces && copy.group && copy.runs ? 0 : -1;
    if (!problem) {
        srs_group_pieces(&copy, axis);
        srs_open_writer(&copy.writer);
        copy_from(&copy, 0, 0, 0, 0);
        srs_close_writer(&copy.writer);
    }
    free(copy.pieces);
    free(copy.group);
    free(copy.runs);
    return problem;
}
