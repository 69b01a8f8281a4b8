/* Writing the manifest of a checkpoint, as manifest_reading.c reads it. */
#include "depots.h"

#include <inttypes.h>

#define VERSION 1
#define WITH_DEPOTS 2 /* shards may be in depots too, or there only */

void srs_array_dump(const struct srs_array *array, struct srs_text *into)
{
    srs_add(into, "\"dtype\": ");
    srs_add_quoted(into, array->type);
    srs_add(into, ", \"shape\": [");
    for (int d = 0; d < array->dimensions; d++)
        srs_add(into, "%s%" PRId64, d ? ", " : "", array->shape[d]);
    srs_add(into, "], \"layout\": ");
    srs_layout_dump(&array->layout, into);
}

static void dump_depots(const struct srs_manifest *manifest, int64_t rank, uint64_t where, struct srs_text *into)
{
    const char *comma = "";
    srs_add(into, ", \"depots\": [");
    for (int copy = 0; copy < manifest->depots->copies; copy++) {
        if (!(where >> (1 + copy) & 1))
            continue;
        srs_add(into, "%s", comma);
        srs_add_quoted(into, srs_depots_target(manifest->depots, rank, copy));
        comma = ", ";
    }
    srs_add(into, "]");
}

static void dump_shard(const struct srs_manifest *manifest, int64_t place, int64_t rank, struct srs_text *into)
{
    char name[64];
    const struct srs_written *each = manifest->written + rank * manifest->count + place;
    srs_shard_name(name, sizeof name, place, rank);
    srs_add(into, "{\"rank\": %" PRId64 ", \"file\": ", rank);
    if (each->where & 1)
        srs_add_quoted(into, name);
    else
        srs_add(into, "null");
    srs_add(into, ", \"bytes\": %" PRId64 ", \"crc32\": %" PRIu64, each->bytes, each->checksum);
    if (*manifest->token)
        dump_depots(manifest, rank, each->where, into);
    srs_add(into, "}");
}

static void dump_array(const struct srs_manifest *manifest, int64_t place, struct srs_text *into)
{
    const struct srs_array *array = manifest->arrays + place;
    int64_t shards = array->layout.dimensions ? srs_layout_ranks(&array->layout) : 1;
    srs_add(into, "{\"name\": ");
    srs_add_quoted(into, array->name);
    srs_add(into, ", ");
    srs_array_dump(array, into);
    srs_add(into, ", \"shards\": [");
    for (int64_t rank = 0; rank < shards; rank++) {
        srs_add(into, "%s", rank ? ", " : "");
        dump_shard(manifest, place, rank, into);
    }
    srs_add(into, "]}");
}

void srs_manifest_dump(const struct srs_manifest *manifest, struct srs_text *into)
{
    double at = manifest->written_at;
    int micro = (int)(1e6 * (at - (double)(int64_t)at)); /* a locale may write commas */
    srs_add(into, "{\"version\": %d, \"number\": %" PRId64 ", \"written_at\": %" PRId64 ".%06d, \"ranks\": %" PRId64,
            *manifest->token ? WITH_DEPOTS : VERSION, manifest->number, (int64_t)at, micro, manifest->ranks);
    if (*manifest->token)
        srs_add(into, ", \"token\": \"%s\"", manifest->token);
    srs_add(into, ", \"arrays\": [");
    for (int64_t place = 0; place < manifest->count; place++) {
        srs_add(into, "%s", place ? ", " : "");
        dump_array(manifest, place, into);
    }
    srs_add(into, "]");
    if (!into->failed) /* of all that stands before it */
        srs_add(into, ", \"crc32\": %" PRIu32 "}", srs_crc32(0, into->at, into->length));
}
