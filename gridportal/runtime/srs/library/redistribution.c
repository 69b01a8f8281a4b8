/* An array of a checkpoint in another layout: the pieces of each dimension, the shards that they are in, and their copies.
 *
 * Shards that are files are mapped, and one copy goes through all of them. Where some are in depots each is taken by
 * itself, several at once, from the first copy of it that can be had. */
#include "depots.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAPPED (16 << 20) /* bytes of files that are in memory at once, about */

struct way {
    int dimensions;
    struct srs_layout old, new;
    struct srs_axis axes[SRS_SENTENCE];
    int64_t shape[SRS_SENTENCE], shards;
    const char **sources; /* by old rank */
    void **mapped;
    size_t *bytes;
};

/* Both layouts for all dimensions; a scalar has one, of one element. */
static int widen(struct way *way, const struct srs_array *stored, const struct srs_layout *layout)
{
    int problem = srs_layout_copy(&stored->layout, &way->old);
    problem = problem ? problem : srs_layout_copy(layout, &way->new);
    way->dimensions = stored->dimensions ? stored->dimensions : 1;
    way->shape[0] = 1;
    for (int d = 0; d < stored->dimensions; d++)
        way->shape[d] = stored->shape[d];
    problem = problem ? problem : srs_layout_widen(&way->old, way->dimensions);
    return problem ? problem : srs_layout_widen(&way->new, way->dimensions);
}

static int make_axis(struct way *way, int d, int64_t part)
{
    struct srs_piece *pieces;
    const struct srs_dealing *old = way->old.dealings + d, *new = way->new.dealings + d;
    struct srs_axis *axis = way->axes + d;
    int problem = srs_overlaps(old, new, way->shape[d], part, &pieces, &axis->count);
    if (problem)
        return problem;
    int64_t *held = srs_room((size_t)old->parts, sizeof *held);
    axis->pieces = pieces;
    axis->held = held;
    axis->parts = old->parts;
    axis->mine = srs_dealing_held(new, way->shape[d], part);
    for (int64_t each = 0; held && each < old->parts; each++)
        held[each] = srs_dealing_held(old, way->shape[d], each);
    return held ? 0 : srs_no_memory();
}

/* Of each old rank whether something of it is taken, marked by anything but NULL. */
static void mark(const struct way *way, int d, int64_t rank)
{
    if (d == way->dimensions) {
        way->sources[rank] = "";
        return;
    }
    const struct srs_axis *axis = way->axes + d;
    char *seen = srs_room((size_t)axis->parts, 1);
    for (int64_t i = 0; i < axis->count; i++) {
        int64_t part = axis->pieces[i].source;
        if (!seen || !seen[part])
            mark(way, d + 1, rank * axis->parts + part);
        if (seen)
            seen[part] = 1;
    }
    free(seen);
}

/* Where something of each old rank is to be noted. */
static int find_sources(struct way *way)
{
    way->shards = srs_layout_ranks(&way->old);
    way->sources = srs_room((size_t)way->shards, sizeof *way->sources);
    way->mapped = srs_room((size_t)way->shards, sizeof *way->mapped);
    way->bytes = srs_room((size_t)way->shards, sizeof *way->bytes);
    if (!way->sources || !way->mapped || !way->bytes)
        return srs_no_memory();
    mark(way, 0, 0);
    return 0;
}

static int all_files(const struct way *way, const struct srs_array *stored)
{
    for (int64_t rank = 0; rank < way->shards; rank++)
        if (way->sources[rank] && (stored->shard[rank].depots || !stored->shard[rank].file))
            return 0;
    return 1;
}

/* Old ranks whose shards are all files: they are mapped, and one copy goes through all of them. */
static int map_shards(struct way *way, const struct srs_checkpoint *checkpoint, const struct srs_array *stored)
{
    for (int64_t rank = 0; rank < way->shards; rank++) {
        const struct srs_shard *shard = stored->shard + rank;
        if (!way->sources[rank])
            continue;
        if (srs_map_shard(checkpoint, shard, way->mapped + rank)) {
            way->mapped[rank] = NULL;
            return SRS_BAD_FILES;
        }
        way->sources[rank] = way->mapped[rank];
        way->bytes[rank] = (size_t)shard->bytes;
    }
    return 0;
}

static void drop_way(struct way *way)
{
    for (int64_t rank = 0; way->mapped && way->bytes && rank < way->shards; rank++)
        if (way->mapped[rank])
            munmap(way->mapped[rank], way->bytes[rank]);
    free(way->sources);
    free(way->mapped);
    free(way->bytes);
    for (int d = 0; d < way->dimensions; d++) {
        free((void *)way->axes[d].pieces);
        free((void *)way->axes[d].held);
    }
    srs_layout_free(&way->old);
    srs_layout_free(&way->new);
    free(way);
}

/* Shard by shard. */

struct taking {
    const struct way *way;
    const struct srs_checkpoint *checkpoint;
    const struct srs_array *stored;
    int64_t rank, *sources; /* old ranks from which something is taken */
    char *into;
};

/* What is taken of one old rank: the pieces of its parts only. */
struct narrow {
    int64_t parts[SRS_SENTENCE];
    struct srs_axis axes[SRS_SENTENCE];
};

static void drop_narrow(struct narrow *narrow, int dimensions)
{
    for (int d = 0; d < dimensions; d++)
        free((void *)narrow->axes[d].pieces);
    free(narrow);
}

static int by_source(const void *one, const void *other)
{
    const struct srs_piece *a = one, *b = other;
    return a->source_place < b->source_place ? -1 : a->source_place > b->source_place;
}

/* In the order of the shard, so that what lies close together in it is asked for together. */
static int narrow_axis(const struct srs_axis *axis, int64_t part, struct srs_axis *into)
{
    struct srs_piece *pieces = srs_room((size_t)axis->count, sizeof *pieces);
    *into = *axis;
    into->count = 0;
    into->pieces = pieces;
    for (int64_t i = 0; pieces && i < axis->count; i++)
        if (axis->pieces[i].source == part)
            pieces[into->count++] = axis->pieces[i];
    if (pieces)
        qsort(pieces, (size_t)into->count, sizeof *pieces, by_source);
    return pieces ? 0 : srs_no_memory();
}

static int copy_file(const struct taking *taking, const struct narrow *narrow, int64_t source)
{
    const struct srs_shard *shard = taking->stored->shard + source;
    const char **sources = srs_room((size_t)taking->way->shards, sizeof *sources);
    void *at;
    int problem = sources ? srs_map_shard(taking->checkpoint, shard, &at) : srs_no_memory();
    if (!problem) {
        sources[source] = at;
        if (srs_strided_copy(taking->way->dimensions, narrow->axes, sources, taking->into, taking->stored->itemsize,
                             MAPPED))
            problem = srs_no_memory();
        munmap(at, (size_t)shard->bytes);
    }
    free(sources);
    return problem;
}

static int take_copy(const struct taking *taking, const struct narrow *narrow, int64_t source, int copy)
{
    char name[64];
    const struct srs_checkpoint *checkpoint = taking->checkpoint;
    const char *node = srs_copy_node(taking->stored->shard + source, copy);
    struct srs_fetch fetch = {taking->way->dimensions, narrow->axes, narrow->parts, taking->stored->itemsize,
                              taking->into};
    if (!node)
        return copy_file(taking, narrow, source);
    if (!checkpoint->depots)
        return srs_fail(SRS_SILENT, "It is in the depot of %s, which this program may not use.", node);
    srs_depot_name(name, checkpoint->token, taking->stored - checkpoint->array, source);
    return srs_depot_fetch(checkpoint->depots, node, name, &fetch);
}

/* The copies of a shard in the order in which they are tried: this node's own, others (not all ranks the same first),
 * the file. */
static void put_in_order(const struct taking *taking, const struct srs_shard *shard, int *order)
{
    const struct srs_depots *depots = taking->checkpoint->depots;
    const char *own = depots ? srs_depots_target(depots, depots->rank, 0) : "";
    for (int i = 0; i < srs_copies(shard); i++)
        order[i] = i < shard->depots ? (int)((taking->rank + i) % shard->depots) : i;
    for (int i = 1; i < shard->depots; i++)
        if (!strcmp(shard->depot[order[i]], own)) {
            int first = order[i];
            memmove(order + 1, order, sizeof *order * (size_t)i);
            order[0] = first;
        }
}

/* From the first copy that can be had. */
static int take(void *context, int64_t number)
{
    const struct taking *taking = context;
    const struct way *way = taking->way;
    int64_t source = taking->sources[number];
    const struct srs_shard *shard = taking->stored->shard + source;
    struct narrow *narrow = srs_room(1, sizeof *narrow);
    int order[SRS_MOST_COPIES + 1], problem = 0;
    if (!narrow)
        return srs_no_memory();
    srs_layout_parts(&way->old, source, narrow->parts);
    for (int d = 0; !problem && d < way->dimensions; d++)
        problem = narrow_axis(way->axes + d, narrow->parts[d], narrow->axes + d);
    put_in_order(taking, shard, order);
    if (!problem)
        problem = srs_fail(SRS_BAD_FILES, "No copy of what rank %" PRId64 " held is as it was written.", source);
    for (int i = 0; problem && problem != SRS_NO_MEMORY && i < srs_copies(shard); i++)
        if (!(shard->bad >> order[i] & 1))
            problem = take_copy(taking, narrow, source, order[i]);
    drop_narrow(narrow, way->dimensions);
    return problem;
}

static int take_shards(const struct way *way, const struct srs_checkpoint *checkpoint, const struct srs_array *stored,
                       int64_t rank, void *into)
{
    struct taking taking = {way, checkpoint, stored, rank, srs_room((size_t)way->shards, sizeof(int64_t)), into};
    int64_t count = 0;
    if (!taking.sources)
        return srs_no_memory();
    for (int64_t source = 0; source < way->shards; source++)
        if (way->sources[source])
            taking.sources[count++] = source;
    int problem = srs_at_once(count, SRS_DEPOTS_AT_ONCE, take, &taking);
    free(taking.sources);
    return problem;
}

/* All. */

static int follow(struct way *way, const struct srs_checkpoint *checkpoint, const struct srs_array *stored,
                  const struct srs_layout *layout, int64_t rank, void *into)
{
    int64_t parts[SRS_SENTENCE], elements = 1;
    if (!srs_elements(stored->dimensions, stored->shape))
        return 0;
    int problem = widen(way, stored, layout);
    if (problem)
        return problem;
    srs_layout_parts(&way->new, layout->dimensions ? rank : 0, parts);
    for (int d = 0; !problem && d < way->dimensions; d++) {
        problem = make_axis(way, d, parts[d]);
        elements = way->axes[d].mine ? elements : 0;
    }
    if (problem || !elements || (problem = find_sources(way)))
        return problem;
    if (!all_files(way, stored))
        return take_shards(way, checkpoint, stored, rank, into);
    problem = map_shards(way, checkpoint, stored);
    if (!problem && srs_strided_copy(way->dimensions, way->axes, way->sources, into, stored->itemsize, MAPPED))
        problem = srs_no_memory();
    return problem;
}

int srs_read_array(const struct srs_checkpoint *checkpoint, const struct srs_array *stored,
                   const struct srs_layout *layout, int64_t rank, void *into)
{
    struct way *way = srs_room(1, sizeof *way);
    if (!way)
        return srs_no_memory();
    int problem = follow(way, checkpoint, stored, layout, rank, into);
    drop_way(way);
    return problem;
}
