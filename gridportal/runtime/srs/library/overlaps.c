/* What parts of two ways to deal out a dimension share, as pieces that repeat: overlaps.py for one part of the new way.
 *
 * Cost and number of pieces: O(runs of both ways in their common period), which is no longer than the array. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* Run i begins at element starts[i], part owners[i] keeps it from its own element places[i] on. What follows `period`
 * elements repeats them, each part's own elements steps[part] further on. */
struct runs {
    int64_t count, period;
    int64_t *starts, *owners, *places, *steps;
};

/* The pieces of part `part` of the new way. `turned`: where the new way's runs are the long ones, see inside(). */
struct list {
    struct srs_piece *pieces;
    int64_t count, room, part;
    int turned;
};

static int64_t low_quotient(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static int64_t high_quotient(int64_t a, int64_t b)
{
    return -low_quotient(-a, b);
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void drop(struct runs *runs)
{
    free(runs->starts);
    free(runs->owners);
    free(runs->places);
    free(runs->steps);
    memset(runs, 0, sizeof *runs);
}

static int make(struct runs *runs, int64_t count, int64_t parts)
{
    memset(runs, 0, sizeof *runs);
    runs->starts = srs_room((size_t)count, sizeof *runs->starts);
    runs->owners = srs_room((size_t)count, sizeof *runs->owners);
    runs->places = srs_room((size_t)count, sizeof *runs->places);
    runs->steps = srs_room((size_t)parts, sizeof *runs->steps);
    if (runs->starts && runs->owners && runs->places && runs->steps)
        return 0;
    drop(runs);
    return srs_no_memory();
}

static int runs_of_blocks(const struct srs_dealing *dealing, int64_t length, struct runs *runs)
{
    int64_t parts = dealing->parts, block = dealing->block ? dealing->block : most(1, (length + parts - 1) / parts);
    int whole = block >= (length + parts - 1) / parts; /* one block a part, or none */
    int64_t dealt = least(parts, length / block + (length % block > 0));
    if (make(runs, dealt, parts))
        return SRS_NO_MEMORY;
    runs->count = dealt;
    runs->period = most(1, whole ? length : parts * block);
    for (int64_t part = 0; part < parts; part++)
        runs->steps[part] = whole ? srs_dealing_held(dealing, length, part) : block;
    for (int64_t i = 0; i < dealt; i++) {
        runs->starts[i] = i * block;
        runs->owners[i] = i;
    }
    return 0;
}

static int runs_of_shares(const struct srs_dealing *dealing, int64_t length, struct runs *runs)
{
    if (make(runs, dealing->parts, dealing->parts))
        return SRS_NO_MEMORY;
    runs->period = most(1, length);
    int64_t start = 0;
    for (int64_t part = 0; part < dealing->parts; part++) {
        runs->steps[part] = dealing->lengths[part];
        if (!dealing->lengths[part])
            continue;
        runs->starts[runs->count] = start;
        runs->owners[runs->count++] = part;
        start += dealing->lengths[part];
    }
    return 0;
}

/* Element after element, joined where a part's own elements go on. */
static int runs_of_map(const struct srs_dealing *dealing, int64_t length, struct runs *runs)
{
    if (make(runs, length, dealing->parts))
        return SRS_NO_MEMORY;
    int64_t *owners = srs_room((size_t)length, sizeof *owners), *places = srs_room((size_t)length, sizeof *places);
    const int64_t *at = dealing->places;
    for (int64_t part = 0; owners && places && part < dealing->parts; part++)
        for (int64_t i = 0; i < dealing->lengths[part]; i++, at++) {
            owners[*at] = part;
            places[*at] = i;
        }
    runs->period = most(1, length);
    for (int64_t i = 0; owners && places && i < length; i++) {
        if (i && owners[i] == owners[i - 1] && places[i] == places[i - 1] + 1)
            continue;
        runs->starts[runs->count] = i;
        runs->owners[runs->count] = owners[i];
        runs->places[runs->count++] = places[i];
    }
    for (int64_t part = 0; part < dealing->parts; part++)
        runs->steps[part] = dealing->lengths[part];
    int problem = owners && places ? 0 : srs_no_memory();
    free(owners);
    free(places);
    return problem;
}

static int runs_of(const struct srs_dealing *dealing, int64_t length, struct runs *runs)
{
    if (dealing->kind == SRS_BLOCKS)
        return runs_of_blocks(dealing, length, runs);
    return dealing->kind == SRS_SHARES ? runs_of_shares(dealing, length, runs) : runs_of_map(dealing, length, runs);
}

/* The runs of the first `span` elements, written out, without steps. */
static int until(const struct runs *runs, int64_t span, struct runs *into)
{
    int64_t times = span ? (span - 1) / runs->period + 1 : 0;
    if (make(into, times * runs->count, 1))
        return SRS_NO_MEMORY;
    for (int64_t time = 0; time < times; time++)
        for (int64_t i = 0; i < runs->count && time * runs->period + runs->starts[i] < span; i++) {
            into->starts[into->count] = time * runs->period + runs->starts[i];
            into->owners[into->count] = runs->owners[i];
            into->places[into->count++] = time * runs->steps[runs->owners[i]] + runs->places[i];
        }
    into->period = most(span, 1);
    return 0;
}

static int64_t end_of(const struct runs *runs, int64_t i, int64_t span)
{
    return i + 1 < runs->count ? runs->starts[i + 1] : span;
}

static int add(struct list *list, struct srs_piece piece)
{
    if (list->turned) {
        struct srs_piece other = piece;
        piece.source_place = other.target_place;
        piece.target_place = other.source_place;
        piece.source_inner = other.target_inner;
        piece.target_inner = other.source_inner;
    }
    if (list->count == list->room) {
        int64_t room = 2 * list->room + 16;
        struct srs_piece *pieces = realloc(list->pieces, sizeof *pieces * (size_t)room);
        if (!pieces)
            return srs_no_memory();
        list->pieces = pieces;
        list->room = room;
    }
    list->pieces[list->count++] = piece;
    return 0;
}

/* Cut where a run of either begins. */
static int cut(const struct runs *old, const struct runs *new, int64_t span, struct list *list)
{
    int64_t i = 0, j = 0, at = 0;
    while (at < span) {
        int64_t old_end = end_of(old, i, span), new_end = end_of(new, j, span), end = least(old_end, new_end);
        struct srs_piece piece = {old->owners[i], old->places[i] + at - old->starts[i],
                                  new->places[j] + at - new->starts[j], end - at, 1, 0, 0, 1, 0, 0};
        if (new->owners[j] == list->part && add(list, piece))
            return SRS_NO_MEMORY;
        i += end == old_end;
        j += end == new_end;
        at = end;
    }
    return 0;
}

/* From `repetition` on `times` repetitions of short run p in long run r, cut to low..high. */
static int add_inside(const struct runs *all, int64_t r, const struct runs *shorts, int64_t p, int64_t repetition,
                      int64_t times, int64_t low, int64_t high, struct list *list)
{
    int64_t owner = shorts->owners[p], at = shorts->starts[p] + repetition * shorts->period;
    int64_t off = most(low - at, 0);
    int64_t size = least(high, at + end_of(shorts, p, shorts->period) - shorts->starts[p]) - at - off;
    struct srs_piece piece = {list->turned ? owner : all->owners[r],
                              all->places[r] + at + off - all->starts[r],
                              shorts->places[p] + repetition * shorts->steps[owner] + off,
                              size, times, shorts->period, shorts->steps[owner], 1, 0, 0};
    return add(list, piece);
}

/* Short run p repeats within long run r: what lies whole in it, and at most a rest at its beginning and at its end. */
static int inside_run(const struct runs *all, int64_t r, int64_t end, const struct runs *shorts, int64_t p,
                      struct list *list)
{
    int64_t begin = all->starts[r], start = shorts->starts[p], period = shorts->period;
    int64_t size = end_of(shorts, p, period) - start;
    int64_t first = high_quotient(begin - start, period); /* the first repetition that begins in the run */
    int64_t last = most(high_quotient(end - start - size, period), first);
    int64_t head = start + (first - 1) * period + size, tail = start + last * period;
    if (last > first && add_inside(all, r, shorts, p, first, last - first, begin, end, list))
        return SRS_NO_MEMORY;
    if (head > begin && add_inside(all, r, shorts, p, first - 1, 1, begin, least(head, end), list))
        return SRS_NO_MEMORY;
    if (tail < end && tail >= begin && add_inside(all, r, shorts, p, last, 1, tail, end, list))
        return SRS_NO_MEMORY;
    return 0;
}

static int inside(const struct runs *all, const struct runs *shorts, int64_t span, struct list *list)
{
    for (int64_t r = 0; r < all->count; r++) {
        if (list->turned && all->owners[r] != list->part)
            continue;
        for (int64_t p = 0; p < shorts->count; p++)
            if ((list->turned || shorts->owners[p] == list->part) &&
                inside_run(all, r, end_of(all, r, span), shorts, p, list))
                return SRS_NO_MEMORY;
    }
    return 0;
}

static double usual_length(const struct runs *runs)
{
    return (double)runs->period / (double)most(1, runs->count);
}

/* The pieces of the first `span` elements, none of them with outer repetitions. */
static int within(const struct runs *old, const struct runs *new, int64_t span, struct list *list)
{
    struct runs olds = {0}, news = {0};
    int in_old = (double)new->period < usual_length(old);
    int in_new = !in_old && (double)old->period < usual_length(new);
    int problem = 0;
    list->turned = in_new;
    if (!in_new)
        problem = until(old, span, &olds);
    if (!problem && !in_old)
        problem = until(new, span, &news);
    if (!problem)
        problem = in_old ? inside(&olds, new, span, list)
                : in_new ? inside(&news, old, span, list) : cut(&olds, &news, span, list);
    drop(&olds);
    drop(&news);
    return problem;
}

/* The least common multiple, or `length` where it is not below it. */
static int64_t common_period(int64_t a, int64_t b, int64_t length)
{
    int64_t x = a, y = b;
    while (y) {
        int64_t rest = x % y;
        x = y;
        y = rest;
    }
    return a / x < (length + b - 1) / b ? least(a / x * b, length) : length;
}

static int repeated(const struct runs *old, const struct runs *new, int64_t length, struct list *list)
{
    int64_t span = common_period(old->period, new->period, length);
    if (span >= length)
        return within(old, new, length, list);
    int64_t times = length / span, new_step = new->steps[list->part] * (span / new->period);
    int problem = within(old, new, span, list);
    int64_t first_of_rest = list->count;
    for (int64_t i = 0; i < first_of_rest; i++) {
        list->pieces[i].outer = times;
        list->pieces[i].source_outer = old->steps[list->pieces[i].source] * (span / old->period);
        list->pieces[i].target_outer = new_step;
    }
    problem = problem ? problem : within(old, new, length % span, list);
    for (int64_t i = first_of_rest; i < list->count; i++) {
        list->pieces[i].source_place += times * old->steps[list->pieces[i].source] * (span / old->period);
        list->pieces[i].target_place += times * new_step;
    }
    return problem;
}

int srs_overlaps(const struct srs_dealing *old, const struct srs_dealing *new, int64_t length, int64_t part,
                 struct srs_piece **pieces, int64_t *count)
{
    struct runs olds = {0}, news = {0};
    struct list list = {NULL, 0, 0, part, 0};
    int problem = runs_of(old, length, &olds);
    problem = problem ? problem : runs_of(new, length, &news);
    problem = problem ? problem : repeated(&olds, &news, length, &list);
    drop(&olds);
    drop(&news);
    if (problem)
        free(list.pieces);
    *pieces = problem ? NULL : list.pieces;
    *count = problem ? 0 : list.count;
    return problem;
}
