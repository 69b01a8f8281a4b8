/* How an array is laid out over ranks: what layouts.py and dealing.py say, for C. */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t srs_elements(int dimensions, const int64_t *shape)
{
    int64_t elements = 1;
    int empty = 0;
    for (int d = 0; d < dimensions; d++) {
        if (shape[d] < 0)
            return -1;
        empty = empty || !shape[d];
    }
    for (int d = 0; !empty && d < dimensions; d++) {
        if (elements > SRS_MOST_PARTS / shape[d])
            return -1;
        elements *= shape[d];
    }
    return empty ? 0 : elements;
}

int64_t srs_dealing_held(const struct srs_dealing *dealing, int64_t length, int64_t part)
{
    if (dealing->kind != SRS_BLOCKS)
        return dealing->lengths[part];
    int64_t parts = dealing->parts, block = dealing->block ? dealing->block : (length + parts - 1) / parts;
    if (!block)
        return 0;
    int64_t blocks = length / block, rest = length % block;
    return blocks / parts * block + (part < blocks % parts ? block : part == blocks % parts ? rest : 0);
}

int64_t srs_layout_ranks(const struct srs_layout *layout)
{
    int64_t ranks = layout->dimensions ? 1 : layout->copies;
    for (int d = 0; d < layout->dimensions; d++) {
        int64_t parts = layout->dealings[d].parts;
        ranks = ranks > SRS_MOST_RANKS / parts ? SRS_MOST_RANKS + 1 : ranks * parts;
    }
    return ranks;
}

void srs_layout_parts(const struct srs_layout *layout, int64_t rank, int64_t *parts)
{
    for (int d = layout->dimensions - 1; d >= 0; d--) {
        parts[d] = rank % layout->dealings[d].parts;
        rank /= layout->dealings[d].parts;
    }
}

void srs_layout_local(const struct srs_layout *layout, int dimensions, const int64_t *shape, int64_t rank,
                      int64_t *local)
{
    srs_layout_parts(layout, rank, local);
    for (int d = 0; d < dimensions; d++)
        local[d] = d < layout->dimensions ? srs_dealing_held(layout->dealings + d, shape[d], local[d]) : shape[d];
}

void srs_layout_free(struct srs_layout *layout)
{
    for (int d = 0; d < layout->dimensions; d++) {
        free(layout->dealings[d].lengths);
        free(layout->dealings[d].places);
    }
    free(layout->dealings);
    memset(layout, 0, sizeof *layout);
}

/* Room for so many dimensions, of one part each. */
int srs_layout_make(struct srs_layout *layout, int64_t dimensions)
{
    memset(layout, 0, sizeof *layout);
    layout->dealings = srs_room((size_t)dimensions, sizeof *layout->dealings);
    if (!layout->dealings)
        return srs_no_memory();
    layout->dimensions = (int)dimensions;
    for (int d = 0; d < layout->dimensions; d++)
        layout->dealings[d].parts = 1;
    return 0;
}

int64_t srs_dealing_total(const struct srs_dealing *dealing)
{
    int64_t sum = 0;
    for (int64_t part = 0; part < dealing->parts; part++)
        sum += dealing->lengths[part];
    return sum;
}

static int64_t *copied(const int64_t *from, int64_t count)
{
    int64_t *into = from ? srs_room((size_t)count, sizeof *into) : NULL;
    if (into && count)
        memcpy(into, from, sizeof *into * (size_t)count);
    return into;
}

int srs_layout_copy(const struct srs_layout *layout, struct srs_layout *into)
{
    if (srs_layout_make(into, layout->dimensions))
        return SRS_NO_MEMORY;
    into->copies = layout->copies;
    for (int d = 0; d < layout->dimensions; d++) {
        const struct srs_dealing *from = layout->dealings + d;
        struct srs_dealing *to = into->dealings + d;
        *to = *from;
        to->lengths = copied(from->lengths, from->parts);
        to->places = from->places ? copied(from->places, srs_dealing_total(from)) : NULL;
        if ((from->lengths && !to->lengths) || (from->places && !to->places)) {
            srs_layout_free(into);
            return srs_no_memory();
        }
    }
    return 0;
}

int srs_layout_widen(struct srs_layout *layout, int dimensions)
{
    struct srs_layout wide;
    if (srs_layout_make(&wide, dimensions))
        return SRS_NO_MEMORY;
    if (layout->dimensions)
        memcpy(wide.dealings, layout->dealings, sizeof *wide.dealings * (size_t)layout->dimensions);
    free(layout->dealings);
    *layout = wide;
    return 0;
}

void srs_layout_turn(struct srs_layout *layout)
{
    for (int d = 0, last = layout->dimensions - 1; d < last; d++, last--) {
        struct srs_dealing kept = layout->dealings[d];
        layout->dealings[d] = layout->dealings[last];
        layout->dealings[last] = kept;
    }
}

static int check_dealing(const struct srs_dealing *dealing, int64_t length)
{
    if (dealing->kind == SRS_BLOCKS || srs_dealing_total(dealing) == length)
        return 0;
    return srs_fail(SRS_BAD_INPUT, "%s is for %" PRId64 " elements; accepted is one for %" PRId64
                    ", the length to deal out.", dealing->kind == SRS_MAP ? "map" : "shares",
                    srs_dealing_total(dealing), length);
}

int srs_layout_check(const struct srs_layout *layout, int dimensions, const int64_t *shape, int64_t ranks)
{
    char words[SRS_SENTENCE / 2], accepted[64];
    srs_layout_words(layout, words, sizeof words);
    if (layout->dimensions > dimensions) {
        snprintf(accepted, sizeof accepted, "one of at most %d dimensions, as the array has", dimensions);
        return srs_refuse("layout", words, accepted);
    }
    if (ranks && ranks != srs_layout_ranks(layout)) {
        snprintf(accepted, sizeof accepted, "one for %" PRId64 " ranks", ranks);
        return srs_refuse("layout", words, accepted);
    }
    for (int d = 0; d < layout->dimensions; d++)
        if (check_dealing(layout->dealings + d, shape[d]))
            return SRS_BAD_INPUT;
    return 0;
}
