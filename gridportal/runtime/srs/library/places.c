/* How many elements a rank has, and where they are in the whole array. */
#define _POSIX_C_SOURCE 200809L
#include "calls.h"

static int lay_out_here(const SRS *srs, const char *layout, int dimensions, const int64_t *shape, int turned,
                        struct srs_array *into)
{
    int problem = srs_check_numbers("the array", dimensions, shape);
    problem = problem ? problem : srs_lay_out(layout, srs->size, "layout", dimensions, turned, &into->layout);
    for (int d = 0; !problem && d < dimensions; d++)
        into->shape[d] = shape[turned ? dimensions - 1 - d : d];
    problem = problem ? problem : srs_layout_check(&into->layout, dimensions, into->shape, srs->size);
    return problem;
}

int srs_local_shape(const SRS *srs, const char *layout, int dimensions, const int64_t *shape, int64_t *local,
                    int turned)
{
    int64_t lengths[SRS_MOST_DIMENSIONS], held[SRS_MOST_DIMENSIONS];
    struct srs_array array = {.shape = lengths};
    int problem = lay_out_here(srs, layout, dimensions, shape, turned, &array);
    if (!problem) {
        srs_layout_local(&array.layout, dimensions, lengths, srs->rank, held);
        for (int d = 0; d < dimensions; d++)
            local[d] = held[turned ? dimensions - 1 - d : d];
    }
    srs_layout_free(&array.layout);
    return problem;
}

/* Of a part of one dimension the place of each element in the whole. */
static void list_places(const struct srs_dealing *dealing, int64_t length, int64_t part, int64_t *places)
{
    int64_t held = srs_dealing_held(dealing, length, part), before = 0, parts = dealing->parts;
    int64_t block = dealing->block ? dealing->block : (length + parts - 1) / parts;
    for (int64_t each = 0; dealing->kind != SRS_BLOCKS && each < part; each++)
        before += dealing->lengths[each];
    for (int64_t i = 0; i < held; i++)
        places[i] = dealing->kind == SRS_MAP      ? dealing->places[before + i]
                    : dealing->kind == SRS_SHARES ? before + i
                                                  : (i / block * parts + part) * block + i % block;
}

int srs_places(const SRS *srs, const char *layout, int dimensions, const int64_t *shape, int dimension,
               int64_t *places, int turned)
{
    int64_t lengths[SRS_MOST_DIMENSIONS], parts[SRS_MOST_DIMENSIONS];
    struct srs_array array = {.shape = lengths};
    int problem = lay_out_here(srs, layout, dimensions, shape, turned, &array);
    if (!problem && (dimension < 0 || dimension >= dimensions))
        problem = srs_fail(SRS_BAD_INPUT, "dimension is %d; accepted is 0 to %d.", dimension, dimensions - 1);
    if (!problem) {
        int d = turned ? dimensions - 1 - dimension : dimension;
        srs_layout_parts(&array.layout, srs->rank, parts);
        if (d < array.layout.dimensions)
            list_places(array.layout.dealings + d, lengths[d], parts[d], places);
        for (int64_t i = 0; d >= array.layout.dimensions && i < lengths[d]; i++)
            places[i] = i;
    }
    srs_layout_free(&array.layout);
    return problem;
}
