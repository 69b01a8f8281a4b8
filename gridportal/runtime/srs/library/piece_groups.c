/* Groups of pieces of the last dimension: those that repeat alike and lie between each other are copied together. */
#include "copy_plan.h"

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

static int order(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_repetition(const void *one, const void *other)
{
    const struct srs_piece *a = one, *b = other;
    int first = order(a->target_outer, b->target_outer), second = order(a->outer, b->outer);
    return first ? first : second ? second : order(a->target_place, b->target_place);
}

static int by_place(const void *one, const void *other)
{
    const struct srs_piece *a = one, *b = other;
    return order(a->target_place, b->target_place);
}

/* Those of a group repeat alike, some once more, and all begin within one repetition. How many there are from piece
 * `first` on; `times` becomes how often all of them repeat. */
static int64_t group_from(const struct copy *copy, int64_t first, int64_t count, int64_t *times)
{
    const struct srs_piece *pieces = copy->pieces;
    int64_t step = pieces[first].target_outer, low = pieces[first].target_place, high = low, i = first + 1;
    *times = pieces[first].outer;
    for (; i < count && pieces[i].target_outer == step && pieces[i].outer - *times <= 1; i++) {
        int64_t place = pieces[i].target_place;
        if (place >= low + step || place + step <= high)
            break;
        low = place < low ? place : low;
        high = place > high ? place : high;
    }
    return i - first;
}

/* What a piece of a group repeats once more than the others is a piece of its own, behind all others. */
static void cut(struct copy *copy, struct srs_piece *piece, int64_t times, int64_t *count)
{
    if (piece->outer == times)
        return;
    struct srs_piece rest = *piece;
    rest.source_place += times * piece->source_outer;
    rest.target_place += times * piece->target_outer;
    rest.outer -= times;
    piece->outer = times;
    copy->pieces[(*count)++] = simplified(rest);
}

static void make_groups(struct copy *copy, int64_t count)
{
    int64_t all = count, times;
    for (int64_t at = 0, members; at < count; at += members) {
        members = group_from(copy, at, count, &times);
        for (int64_t i = at; i < at + members; i++)
            cut(copy, copy->pieces + i, times, &all);
        qsort(copy->pieces + at, (size_t)members, sizeof *copy->pieces, by_place);
        copy->group[copy->groups++] = (struct group){at, members};
    }
    for (; count < all; count++)
        copy->group[copy->groups++] = (struct group){count, 1};
}

void srs_group_pieces(struct copy *copy, const struct srs_axis *axis)
{
    for (int64_t i = 0; i < axis->count; i++)
        copy->pieces[i] = simplified(axis->pieces[i]);
    qsort(copy->pieces, (size_t)axis->count, sizeof *copy->pieces, by_repetition);
    make_groups(copy, axis->count);
}

int srs_leaves_no_gap(const struct copy *copy, const struct group *group)
{
    const struct srs_piece *first = copy->pieces + group->first;
    int64_t step = first->target_outer, filled = 0;
    for (int64_t i = 0; i < group->count; i++) {
        const struct srs_piece *piece = first + i;
        int64_t end = piece->target_place + (piece->inner - 1) * piece->target_inner + piece->size;
        if (end > first->target_place + step)
            return 0;
        filled += piece->size * piece->inner;
    }
    return filled == step;
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
