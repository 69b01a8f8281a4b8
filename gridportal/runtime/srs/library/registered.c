/* What a program registers. */
#define _POSIX_C_SOURCE 200809L
#include "calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *one, const void *other)
{
    return strcmp(((const struct srs_registered *)one)->array.name, ((const struct srs_registered *)other)->array.name);
}

struct srs_registered *srs_find(const SRS *srs, const char *name)
{
    for (int64_t i = 0; i < srs->count; i++)
        if (!strcmp(srs->registered[i].array.name, name))
            return srs->registered + i;
    return NULL;
}

static void drop(struct srs_array *array)
{
    srs_layout_free(&array->layout);
    free(array->name);
    free(array->type);
    free(array->shape);
}

/* The layout of a text in the order of C. */
int srs_lay_out(const char *text, int64_t ranks, const char *field, int dimensions, int turned,
                struct srs_layout *into)
{
    int problem = srs_layout_parse(text, ranks, field, into);
    if (problem || !turned || !into->dimensions || into->dimensions > dimensions)
        return problem;
    problem = srs_layout_widen(into, dimensions);
    srs_layout_turn(into);
    return problem;
}

/* Dimensions at the end that are whole say nothing. */
void srs_shorten(struct srs_layout *layout)
{
    while (layout->dimensions > 1) {
        const struct srs_dealing *last = layout->dealings + layout->dimensions - 1;
        if (last->parts > 1 || last->kind != SRS_BLOCKS || last->block)
            return;
        layout->dimensions--;
    }
}

int srs_check_numbers(const char *name, int dimensions, const int64_t *shape)
{
    if (dimensions < 0 || dimensions > SRS_MOST_DIMENSIONS || (dimensions && !shape))
        return srs_fail(SRS_BAD_INPUT, "%s has %d dimensions; accepted is 0 to %d.", name, dimensions,
                        SRS_MOST_DIMENSIONS);
    for (int d = 0; d < dimensions; d++)
        if (shape[d] < 0)
            return srs_fail(SRS_BAD_INPUT, "Length %d of %s is %lld; accepted is 0 or more.", d, name, (long long)shape[d]);
    if (srs_elements(dimensions, shape) < 0)
        return srs_fail(SRS_BAD_INPUT, "The shape of %s has too many elements; accepted is 2**53 at most.", name);
    return 0;
}

static int describe(const SRS *srs, const char *name, const char *type, int dimensions, const int64_t *shape,
                    const char *layout, int turned, struct srs_array *into)
{
    char canonical[64];
    if (!name || !*name)
        return srs_refuse("name", "", "a name");
    if (strlen(name) > SRS_SENTENCE / 4)
        return srs_refuse("name", name, "a name of at most 256 bytes");
    if (srs_find(srs, name))
        return srs_refuse("name", name, "a name that is not registered yet");
    int problem = srs_check_numbers(name, dimensions, shape);
    if (problem || (problem = srs_type(type, canonical, sizeof canonical, &into->itemsize)))
        return problem;
    if (strlen(canonical) > 40)
        return srs_refuse("type", type, "a shorter one");
    into->name = srs_room(strlen(name) + 1, 1);
    into->type = srs_room(strlen(canonical) + 1, 1);
    into->shape = srs_room((size_t)dimensions, sizeof *into->shape);
    if (!into->name || !into->type || !into->shape)
        return srs_no_memory();
    strcpy(into->name, name);
    strcpy(into->type, canonical);
    into->dimensions = dimensions;
    for (int d = 0; d < dimensions; d++)
        into->shape[d] = shape[turned ? dimensions - 1 - d : d];
    problem = srs_lay_out(layout, srs->size, "layout", dimensions, turned, &into->layout);
    problem = problem ? problem : srs_layout_check(&into->layout, dimensions, into->shape, srs->size);
    if (turned)
        srs_shorten(&into->layout);
    return problem;
}

static int check_count(const SRS *srs, const struct srs_array *array, const void *data, int64_t count, int64_t *bytes)
{
    char words[SRS_SENTENCE / 2];
    int64_t local[SRS_MOST_DIMENSIONS];
    srs_layout_local(&array->layout, array->dimensions, array->shape, srs->rank, local);
    int64_t elements = srs_elements(array->dimensions, local);
    srs_layout_words(&array->layout, words, sizeof words);
    if (count != elements)
        return srs_fail(SRS_BAD_INPUT, "%s has %" PRId64 " elements; accepted is %" PRId64 ", which rank %d has in %s.",
                        array->name, count, elements, srs->rank, words);
    if (elements && !data)
        return srs_fail(SRS_BAD_INPUT, "%s has no data; accepted is where its %" PRId64 " elements are.", array->name,
                        elements);
    if (elements > INT64_MAX / array->itemsize)
        return srs_fail(SRS_BAD_INPUT, "%s is larger than a machine can have; accepted is less.", array->name);
    *bytes = elements * array->itemsize;
    return 0;
}

/* Whether all ranks register the same: name, type, shape and layout are those of rank 0. */
static int check_alike(const SRS *srs, const struct srs_array *array)
{
    struct srs_text mine = {0};
    srs_add_quoted(&mine, array->name);
    srs_add(&mine, ": ");
    srs_array_dump(array, &mine);
    int problem = srs_agreed(srs->comm, mine.failed ? srs_no_memory() : 0);
    char *first = mine.at;
    size_t length = mine.length;
    if (!problem)
        problem = srs_spread(srs->comm, &first, &length);
    if (!problem && strcmp(first, mine.at)) {
        srs_fail(SRS_BAD_INPUT, "Rank %d registers %.200s; accepted is %.200s, as rank 0 has it.", srs->rank, mine.at,
                 first);
        problem = SRS_BAD_INPUT;
    }
    if (first != mine.at)
        free(first);
    srs_drop(&mine);
    return srs_agreed(srs->comm, problem);
}

/* Takes over what `array` holds. */
static int keep(SRS *srs, const struct srs_array *array, void *data, int64_t bytes)
{
    struct srs_registered *more = realloc(srs->registered, sizeof *more * (size_t)(srs->count + 1));
    int problem = srs_agreed(srs->comm, more ? 0 : srs_no_memory());
    srs->registered = more ? more : srs->registered;
    if (problem)
        return problem;
    more[srs->count++] = (struct srs_registered){.array = *array, .data = data, .bytes = bytes};
    qsort(more, (size_t)srs->count, sizeof *more, by_name);
    return 0;
}

int srs_register(SRS *srs, const char *name, void *data, int64_t count, const char *type, int dimensions,
                 const int64_t *shape, const char *layout, int turned)
{
    struct srs_array array = {0};
    int64_t bytes = 0;
    int problem = describe(srs, name, type, dimensions, shape, layout, turned, &array);
    problem = problem ? problem : check_count(srs, &array, data, count, &bytes);
    problem = srs_agreed(srs->comm, problem);
    problem = problem ? problem : check_alike(srs, &array);
    problem = problem ? problem : keep(srs, &array, data, bytes);
    if (problem)
        drop(&array);
    return problem;
}

/* A layout as JSON from the places of all ranks. */
static char *map_document(int size, const int64_t *counts, const int64_t *places)
{
    struct srs_text text = {0};
    srs_add(&text, "{\"dimensions\": [{\"map\": [");
    for (int rank = 0; rank < size; rank++) {
        srs_add(&text, "%s[", rank ? "," : "");
        for (int64_t i = 0; i < counts[rank]; i++)
            srs_add(&text, "%s%" PRId64, i ? "," : "", *places++);
        srs_add(&text, "]");
    }
    srs_add(&text, "]}]}");
    if (text.failed)
        srs_drop(&text);
    return text.at;
}

/* All ranks' places, one after the other. MPI counts them in ints. */
static int gather_places(const SRS *srs, int64_t count, const int64_t *places, int64_t *counts, int64_t **all)
{
    int64_t sum = 0;
    int *lengths = srs_room((size_t)srs->size, sizeof *lengths), *begins = srs_room((size_t)srs->size, sizeof *begins);
    MPI_Allgather(&count, 1, MPI_INT64_T, counts, 1, MPI_INT64_T, srs->comm);
    for (int rank = 0; lengths && begins && rank < srs->size; sum += counts[rank++]) {
        lengths[rank] = (int)counts[rank];
        begins[rank] = (int)sum;
    }
    int problem = lengths && begins && (*all = srs_room((size_t)sum, sizeof **all)) ? 0 : srs_no_memory();
    if (sum > INT32_MAX)
        problem = srs_fail(SRS_BAD_INPUT, "The map has %" PRId64 " places; accepted is 2,147,483,647 at most.", sum);
    problem = srs_agreed(srs->comm, problem);
    if (!problem)
        MPI_Allgatherv(places, (int)count, MPI_INT64_T, *all, lengths, begins, MPI_INT64_T, srs->comm);
    free(lengths);
    free(begins);
    return problem;
}

int SRS_RegisterMap(SRS *srs, const char *name, void *data, int64_t count, const char *type, const int64_t *places)
{
    int64_t *all = NULL, length = 0;
    int64_t *counts = srs_room((size_t)srs->size, sizeof *counts);
    int problem = !counts ? srs_no_memory()
                : count < 0 || (count && !places) ? srs_fail(SRS_BAD_INPUT, "The map of rank %d is none; accepted is a "
                                                             "place for each element.", srs->rank)
                                                  : 0;
    problem = srs_agreed(srs->comm, problem);
    problem = problem ? problem : gather_places(srs, count, places, counts, &all);
    char *layout = problem ? NULL : map_document(srs->size, counts, all);
    for (int rank = 0; !problem && rank < srs->size; rank++)
        length += counts[rank];
    problem = problem ? problem : srs_agreed(srs->comm, layout ? 0 : srs_no_memory());
    problem = problem ? problem : srs_register(srs, name, data, count, type, 1, &length, layout, 0);
    free(layout);
    free(all);
    free(counts);
    return problem;
}
