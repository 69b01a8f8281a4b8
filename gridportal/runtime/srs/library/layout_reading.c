/* Layouts from what people and manifests write: texts as "block-cyclic:64:4", and JSON. */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reading texts. */

#define FORMS \
    "replicated:P, block:P, cyclic:P, block-cyclic:B:P or shares:N0,N1,..., with two dimensions " \
    "block-cyclic:MBxNB:PRxPC and the like"

static int bad_form(const char *field, const char *text)
{
    return srs_refuse(field, text, FORMS);
}

/* Whole numbers with `between` them; -1 where they are none. At most `most`; NULL for `into`: only counted. */
static int64_t numbers_of(const char *text, const char *end, char between, int64_t lowest, int64_t *into)
{
    int64_t count = 0;
    for (const char *at = text;; at++) {
        char *rest;
        if (at >= end || *at < '0' || *at > '9')
            return -1;
        long long number = strtoll(at, &rest, 10);
        if (rest - at > 16 || number < lowest || number > SRS_MOST_PARTS)
            return -1;
        if (into)
            into[count] = number;
        count++;
        at = rest;
        if (at >= end)
            return count;
        if (*at != between)
            return -1;
    }
}

static const char *until(const char *at, char letter)
{
    const char *end = strchr(at, letter);
    return end ? end : at + strlen(at);
}

/* Of all dimensions the blocks or the parts, between x. */
static int fill(struct srs_layout *layout, const char *text, const char *end, int blocks)
{
    int64_t numbers[SRS_SENTENCE];
    if (end - text >= SRS_SENTENCE)
        return 0;
    int64_t count = numbers_of(text, end, 'x', 1, numbers);
    if (count < 1 || (layout->dimensions && count != layout->dimensions))
        return 0;
    if (!layout->dimensions && srs_layout_make(layout, count))
        return 0;
    for (int64_t d = 0; d < count; d++)
        *(blocks ? &layout->dealings[d].block : &layout->dealings[d].parts) = numbers[d];
    return 1;
}

/* Whether pieces add up to no more than a machine can have. */
static int add_up(const struct srs_dealing *dealing)
{
    int64_t sum = 0;
    for (int64_t part = 0; part < dealing->parts; part++)
        if ((sum += dealing->lengths[part]) > SRS_MOST_PARTS)
            return 0;
    return 1;
}

static int parse_shares(const char *text, struct srs_layout *into)
{
    int64_t dimensions = 1, d = 0;
    for (const char *at = text; *at; at++)
        dimensions += *at == 'x';
    if (srs_layout_make(into, dimensions))
        return 0;
    for (const char *at = text; d < dimensions; at = until(at, 'x') + 1, d++) {
        struct srs_dealing *dealing = into->dealings + d;
        int64_t parts = numbers_of(at, until(at, 'x'), ',', 0, NULL);
        if (parts < 1)
            return 0;
        dealing->lengths = srs_room((size_t)parts, sizeof *dealing->lengths);
        if (!dealing->lengths)
            return 0;
        dealing->kind = SRS_SHARES;
        dealing->parts = numbers_of(at, until(at, 'x'), ',', 0, dealing->lengths);
        if (!add_up(dealing))
            return 0;
    }
    return 1;
}

static int is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && !memcmp(text, word, length);
}

static int parse_copies(const char *rest, int64_t ranks, struct srs_layout *into)
{
    into->copies = ranks;
    return !*rest || (numbers_of(rest, rest + strlen(rest), 'x', 1, NULL) == 1 &&
                      numbers_of(rest, rest + strlen(rest), 'x', 1, &into->copies) == 1);
}

/* The grid of a layout in blocks; "": all ranks in a row. */
static int parse_grid(const char *rest, int64_t ranks, struct srs_layout *into)
{
    if (*rest)
        return fill(into, rest, rest + strlen(rest), 0);
    if (!into->dimensions && srs_layout_make(into, 1))
        return 0;
    into->dealings[0].parts = ranks;
    return into->dimensions == 1;
}

/* `rest`: what follows the kind, without its colon. */
static int parse_rest(const char *kind, size_t length, const char *rest, int64_t ranks, struct srs_layout *into)
{
    const char *colon = until(rest, ':');
    if (is_word(kind, length, "replicated"))
        return parse_copies(rest, ranks, into);
    if (is_word(kind, length, "shares"))
        return parse_shares(rest, into);
    if (is_word(kind, length, "block-cyclic"))
        return fill(into, rest, colon, 1) && (!*colon || colon[1]) && parse_grid(*colon ? colon + 1 : "", ranks, into);
    if (!is_word(kind, length, "block") && !is_word(kind, length, "cyclic"))
        return 0;
    if (!parse_grid(rest, ranks, into))
        return 0;
    for (int d = 0; d < into->dimensions; d++)
        into->dealings[d].block = *kind == 'c';
    return 1;
}

static int check_ranks(const struct srs_layout *layout, const char *field)
{
    char words[SRS_SENTENCE];
    if (srs_layout_ranks(layout) <= SRS_MOST_RANKS)
        return 0;
    srs_layout_words(layout, words, sizeof words);
    return srs_refuse(field, words, "one for 1 to 1,048,576 ranks");
}

static int parse_json(const char *text, const char *field, struct srs_layout *into)
{
    struct srs_json value;
    if (srs_json_read(text, strlen(text), &value))
        return srs_fail(SRS_BAD_INPUT, "%s: %s.", field, srs_message);
    int problem = srs_layout_load(&value, field, into);
    srs_json_free(&value);
    return problem;
}

int srs_layout_parse(const char *text, int64_t ranks, const char *field, struct srs_layout *into)
{
    memset(into, 0, sizeof *into);
    text = text ? text : "replicated";
    if (*text == '{')
        return parse_json(text, field, into);
    const char *colon = until(text, ':');
    size_t length = (size_t)(colon - text);
    if (!parse_rest(text, length, *colon ? colon + 1 : "", ranks, into) || (*colon && !colon[1])) {
        srs_layout_free(into);
        return bad_form(field, text);
    }
    int problem = check_ranks(into, field);
    if (problem)
        srs_layout_free(into);
    return problem;
}

/* Reading JSON. */

static int load_wholes(const struct srs_json *list, const char *field, int64_t **into)
{
    if (list->kind != SRS_LIST)
        return srs_fail(SRS_BAD_INPUT, "%s is no list; accepted is a list of whole numbers.", field);
    *into = srs_room((size_t)list->count, sizeof **into);
    if (!*into)
        return srs_no_memory();
    for (int64_t i = 0; i < list->count; i++) {
        const struct srs_json *each = list->as.items + i;
        if (each->kind != SRS_WHOLE || each->as.whole < 0 || each->as.whole > SRS_MOST_PARTS)
            return srs_fail(SRS_BAD_INPUT, "%s[%" PRId64 "] is no whole number from 0 on; accepted is one.", field, i);
        (*into)[i] = each->as.whole;
    }
    return 0;
}

/* Each place from 0 to the length of all parts belongs to one part. */
static int check_places(const struct srs_dealing *dealing, const char *field)
{
    int64_t length = srs_dealing_total(dealing), i = 0;
    char *taken = srs_room((size_t)length, 1);
    if (!taken)
        return srs_no_memory();
    while (i < length && dealing->places[i] >= 0 && dealing->places[i] < length && !taken[dealing->places[i]])
        taken[dealing->places[i++]] = 1;
    free(taken);
    if (i == length)
        return 0;
    return srs_fail(SRS_BAD_INPUT, "%s has place %" PRId64 " %s; accepted is each place from 0 to %" PRId64
                    " once, over all parts.", field, dealing->places[i],
                    dealing->places[i] >= 0 && dealing->places[i] < length ? "twice" : "", length - 1);
}

static int load_map(const struct srs_json *lists, const char *field, struct srs_dealing *into)
{
    int64_t length = 0;
    if (lists->kind != SRS_LIST || !lists->count)
        return srs_fail(SRS_BAD_INPUT, "%s.map is no list of parts; accepted is a list for each part.", field);
    for (int64_t part = 0; part < lists->count; part++)
        length += lists->as.items[part].kind == SRS_LIST ? lists->as.items[part].count : 0;
    into->kind = SRS_MAP;
    into->parts = lists->count;
    into->lengths = srs_room((size_t)lists->count, sizeof *into->lengths);
    into->places = srs_room((size_t)length, sizeof *into->places);
    if (!into->lengths || !into->places)
        return srs_no_memory();
    length = 0;
    for (int64_t part = 0; part < lists->count; part++) {
        int64_t *places = NULL;
        int problem = load_wholes(lists->as.items + part, field, &places);
        if (!problem && (into->lengths[part] = lists->as.items[part].count))
            memcpy(into->places + length, places, sizeof *places * (size_t)into->lengths[part]);
        length += into->lengths[part];
        free(places);
        if (problem)
            return problem;
    }
    return check_places(into, field);
}

static int load_shares(const struct srs_json *list, const char *field, struct srs_dealing *into)
{
    int problem = load_wholes(list, field, &into->lengths);
    if (problem)
        return problem;
    if (!list->count)
        return srs_refuse(field, "", "a whole number of elements for each part");
    into->kind = SRS_SHARES;
    into->parts = list->count;
    return add_up(into) ? 0 : srs_refuse(field, "more", "shares that add up to what a machine can have");
}

static int load_blocks(const struct srs_json *entry, const char *field, struct srs_dealing *into)
{
    const struct srs_json *parts = srs_json_entry(entry, "parts"), *block = srs_json_entry(entry, "block");
    if (!parts || parts->kind != SRS_WHOLE || parts->as.whole < 1 || parts->as.whole > SRS_MOST_PARTS)
        return srs_fail(SRS_BAD_INPUT, "%s.parts is none; accepted is a whole number from 1 on.", field);
    into->parts = parts->as.whole;
    if (!block || block->kind == SRS_NULL)
        return 0;
    if (block->kind != SRS_WHOLE || block->as.whole < 1 || block->as.whole > SRS_MOST_PARTS)
        return srs_fail(SRS_BAD_INPUT, "%s.block is none; accepted is a whole number from 1 on.", field);
    into->block = block->as.whole;
    return 0;
}

static int load_dimension(const struct srs_json *entry, const char *field, int d, struct srs_dealing *into)
{
    char place[SRS_SENTENCE / 2];
    snprintf(place, sizeof place, "%s.dimensions[%d]", field, d);
    const struct srs_json *shares = srs_json_entry(entry, "shares"), *map = srs_json_entry(entry, "map");
    if (entry->kind != SRS_OBJECT)
        return srs_fail(SRS_BAD_INPUT, "%s is no object; accepted is one.", place);
    return shares ? load_shares(shares, place, into) : map ? load_map(map, place, into) : load_blocks(entry, place, into);
}

int srs_layout_load(const struct srs_json *value, const char *field, struct srs_layout *into)
{
    memset(into, 0, sizeof *into);
    const struct srs_json *copies = srs_json_entry(value, "replicated"), *list = srs_json_entry(value, "dimensions");
    if (copies) {
        if (copies->kind != SRS_WHOLE || copies->as.whole < 1 || copies->as.whole > SRS_MOST_RANKS)
            return srs_fail(SRS_BAD_INPUT, "%s.replicated is none; accepted is a number of ranks.", field);
        into->copies = copies->as.whole;
        return 0;
    }
    if (!list || list->kind != SRS_LIST || !list->count || list->count > SRS_SENTENCE)
        return srs_fail(SRS_BAD_INPUT, "%s.dimensions is no list; accepted is a list with an entry for each dimension.",
                        field);
    int problem = srs_layout_make(into, list->count);
    for (int d = 0; !problem && d < into->dimensions; d++)
        problem = load_dimension(list->as.items + d, field, d, into->dealings + d);
    problem = problem ? problem : check_ranks(into, field);
    if (problem)
        srs_layout_free(into);
    return problem;
}
