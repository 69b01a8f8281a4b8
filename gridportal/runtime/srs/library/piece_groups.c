/* Groups of pieces of the last dimension: those that repeat alike and lie between each other are copied together. */
#include "copy_plan.h"
#include "streams.h"

#include <stdlib.h>

/* Runs of more bytes are copied piece after piece: the target is written in long stretches then anyway. */
#define LONGEST_IN_TURN (16 << 10)

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

/* Those of a group begin before the first of them repeats. */
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

void srs_group_pieces(struct copy *copy, const struct srs_axis *axis)
{
    for (int64_t i = 0; i < axis->count; i++)
        copy->pieces[i] = simplified(axis->pieces[i]);
    qsort(copy->pieces, (size_t)axis->count, sizeof *copy->pieces, by_repetition);
    make_groups(copy, axis->count);
}

int srs_has_long_runs(const struct copy *copy, const struct group *group)
{
    for (int64_t i = 0; i < group->count; i++) {
        const struct srs_piece *piece = copy->pieces + group->first + i;
        int64_t bytes = piece->size * copy->itemsize;
        if (piece->inner > 1 || bytes <= 2 * CACHE_LINE || bytes > LONGEST_IN_TURN)
            return 0;
    }
    return copy->streams && group->count > 0;
}
