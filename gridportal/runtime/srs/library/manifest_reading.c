/* Reading the manifest of a checkpoint: the format of checkpoint_files.py, which only this and manifest_writing.c know.
 *
 * A folder checkpoint-00000012 has a raw file for each rank and array, or depots have them, and manifest.json, which comes
 * last. Fields of the manifest that are not known here are passed over. */
#include "checkpoint.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION 1
#define WITH_DEPOTS 2 /* shards may be in depots too, or there only */
#define MANIFEST "manifest.json"

int srs_manifest_text(const char *folder, int64_t number, char **text, size_t *length)
{
    char path[SRS_PATH], file[SRS_PATH];
    if (srs_checkpoint_path(path, folder, number, "") || srs_join(file, sizeof file, path, MANIFEST))
        return SRS_BAD_FILES;
    return srs_read_file(file, text, length);
}

static int wrong(const char *field, const char *accepted)
{
    return srs_fail(SRS_BAD_FILES, "%s is not as it was written; accepted is %s", field, accepted);
}

static char *copied(const char *text)
{
    char *into = malloc(strlen(text) + 1);
    return into ? strcpy(into, text) : NULL;
}

/* The nodes whose depots have a shard. */
static int parse_depots(const struct srs_json *list, const char *field, struct srs_shard *into)
{
    if (!list)
        return 0;
    if (list->kind != SRS_LIST || list->count > SRS_MOST_COPIES)
        return wrong(field, "a shard with a list of names of nodes");
    into->depot = srs_room((size_t)list->count, sizeof *into->depot);
    if (!into->depot)
        return srs_no_memory();
    for (; into->depots < list->count; into->depots++) {
        const struct srs_json *node = list->as.items + into->depots;
        if (node->kind != SRS_TEXT)
            return wrong(field, "a shard with a list of names of nodes");
        if (!(into->depot[into->depots] = copied(node->as.text)))
            return srs_no_memory();
    }
    return 0;
}

static int parse_file(const struct srs_json *file, const char *field, struct srs_shard *into)
{
    if ((!file || file->kind == SRS_NULL) && into->depots)
        return 0;
    if (!file || file->kind != SRS_TEXT || !*file->as.text || strchr(file->as.text, '/') ||
        !strcmp(file->as.text, ".") || !strcmp(file->as.text, ".."))
        return wrong(field, "a shard with the name of its file, or with depots");
    into->file = copied(file->as.text);
    return into->file ? 0 : srs_no_memory();
}

static int parse_shard(const struct srs_json *entry, const char *field, int64_t place, int with_depots,
                       struct srs_shard *into)
{
    const struct srs_json *rank = srs_json_entry(entry, "rank"), *length = srs_json_entry(entry, "bytes");
    const struct srs_json *checksum = srs_json_entry(entry, "crc32");
    if (!rank || rank->kind != SRS_WHOLE || rank->as.whole != place)
        return wrong(field, "a shard for each rank, in their order");
    if (!length || length->kind != SRS_WHOLE || !checksum || checksum->kind != SRS_WHOLE)
        return wrong(field, "a shard with bytes and crc32");
    if (length->as.whole != into->bytes)
        return wrong(field, "a shard of as many bytes as its rank has in the layout");
    into->checksum = (uint32_t)checksum->as.whole;
    int problem = with_depots ? parse_depots(srs_json_entry(entry, "depots"), field, into) : 0;
    return problem ? problem : parse_file(srs_json_entry(entry, "file"), field, into);
}

/* The bytes of an array's part, -1 for more than a machine can have. */
static int64_t bytes_held(const struct srs_array *array, int64_t rank)
{
    int64_t local[SRS_SENTENCE];
    srs_layout_local(&array->layout, array->dimensions, array->shape, rank, local);
    int64_t elements = srs_elements(array->dimensions, local);
    return elements < 0 || elements > SRS_MOST_PARTS / array->itemsize ? -1 : elements * array->itemsize;
}

static int parse_shards(const struct srs_json *list, const char *field, int with_depots, struct srs_array *into)
{
    int64_t wanted = into->layout.dimensions ? srs_layout_ranks(&into->layout) : 1;
    if (!list || list->kind != SRS_LIST || list->count != wanted)
        return wrong(field, "a shard for each rank");
    into->shard = srs_room((size_t)wanted, sizeof *into->shard);
    if (!into->shard)
        return srs_no_memory();
    into->shards = wanted;
    int problem = 0;
    for (int64_t place = 0; !problem && place < wanted; place++) {
        into->shard[place].bytes = bytes_held(into, place);
        problem = parse_shard(list->as.items + place, field, place, with_depots, into->shard + place);
    }
    return problem;
}

static int parse_shape(const struct srs_json *list, const char *field, struct srs_array *into)
{
    if (!list || list->kind != SRS_LIST || list->count > SRS_SENTENCE)
        return wrong(field, "a shape that is a list of lengths");
    into->shape = srs_room((size_t)list->count, sizeof *into->shape);
    if (!into->shape)
        return srs_no_memory();
    into->dimensions = (int)list->count;
    for (int d = 0; d < into->dimensions; d++) {
        const struct srs_json *length = list->as.items + d;
        if (length->kind != SRS_WHOLE || length->as.whole < 0 || length->as.whole > SRS_MOST_PARTS)
            return wrong(field, "a shape that is a list of lengths");
        into->shape[d] = length->as.whole;
    }
    return srs_elements(into->dimensions, into->shape) < 0 ? wrong(field, "a shape that a machine can have") : 0;
}

static int parse_type(const struct srs_json *type, const char *field, struct srs_array *into)
{
    char canonical[64];
    if (!type || type->kind != SRS_TEXT || strlen(type->as.text) > 40 ||
        srs_type(type->as.text, canonical, sizeof canonical, &into->itemsize))
        return wrong(field, "a type of numpy");
    into->type = copied(canonical);
    return into->type ? 0 : srs_no_memory();
}

static int parse_array(const struct srs_json *entry, int64_t place, int with_depots, struct srs_array *into)
{
    char field[64], layout[96];
    snprintf(field, sizeof field, "arrays[%" PRId64 "]", place);
    snprintf(layout, sizeof layout, "%s.layout", field);
    const struct srs_json *name = srs_json_entry(entry, "name"), *laid = srs_json_entry(entry, "layout");
    if (!name || name->kind != SRS_TEXT)
        return wrong(field, "one with the name of an array");
    into->name = copied(name->as.text);
    if (!into->name)
        return srs_no_memory();
    int problem = laid ? srs_layout_load(laid, layout, &into->layout) : wrong(layout, "a layout");
    problem = problem ? problem : parse_shape(srs_json_entry(entry, "shape"), field, into);
    problem = problem ? problem : srs_layout_check(&into->layout, into->dimensions, into->shape, 0);
    problem = problem ? problem : parse_type(srs_json_entry(entry, "dtype"), field, into);
    return problem ? problem : parse_shards(srs_json_entry(entry, "shards"), field, with_depots, into);
}

static int parse_token(const struct srs_json *token, char into[SRS_TOKEN])
{
    if (token && (token->kind != SRS_TEXT || strlen(token->as.text) >= SRS_TOKEN))
        return wrong("manifest.token", "a word of 16 hexadecimal digits");
    srs_copy_text(into, SRS_TOKEN, token ? token->as.text : "");
    return 0;
}

static int parse_document(const struct srs_json *document, struct srs_checkpoint *into)
{
    const struct srs_json *version = srs_json_entry(document, "version"), *ranks = srs_json_entry(document, "ranks");
    const struct srs_json *at = srs_json_entry(document, "written_at"), *arrays = srs_json_entry(document, "arrays");
    if (!version || version->kind != SRS_WHOLE ||
        (version->as.whole != VERSION && version->as.whole != WITH_DEPOTS))
        return wrong("manifest", "a manifest of version 1 or 2");
    if (!ranks || ranks->kind != SRS_WHOLE || !at || (at->kind != SRS_WHOLE && at->kind != SRS_REAL) || !arrays ||
        arrays->kind != SRS_LIST || !arrays->count)
        return wrong("manifest", "one with ranks, written_at and arrays, one or more");
    int problem = version->as.whole == WITH_DEPOTS ? parse_token(srs_json_entry(document, "token"), into->token) : 0;
    if (problem)
        return problem;
    into->ranks = ranks->as.whole;
    into->array = srs_room((size_t)arrays->count, sizeof *into->array);
    if (!into->array)
        return srs_no_memory();
    into->arrays = arrays->count;
    for (int64_t place = 0; !problem && place < into->arrays; place++)
        problem = parse_array(arrays->as.items + place, place, *into->token, into->array + place);
    return problem;
}

/* The last field, where there is one, is the CRC-32 of all that stands before it. */
static int check_text(const struct srs_json *document, const char *text, size_t length)
{
    static const char mark[] = ", \"crc32\": ";
    char end[64];
    size_t at = length;
    if (!srs_json_entry(document, "crc32"))
        return 0;
    while (at && (length - at < sizeof mark - 1 || memcmp(text + at, mark, sizeof mark - 1)))
        at--;
    int digits = snprintf(end, sizeof end, "%s%" PRIu32 "}", mark, srs_crc32(0, text, at));
    if (length - at != (size_t)digits || memcmp(text + at, end, (size_t)digits))
        return srs_fail(SRS_BAD_FILES, "The manifest was changed since it was written.");
    return 0;
}

int srs_manifest_parse(const char *folder, int64_t number, const char *text, size_t length,
                       struct srs_checkpoint *into)
{
    char path[SRS_PATH];
    struct srs_json document;
    memset(into, 0, sizeof *into);
    if (srs_checkpoint_path(path, folder, number, ""))
        return SRS_BAD_FILES;
    into->number = number;
    into->folder = copied(path);
    int problem = into->folder ? srs_json_read(text, length, &document) : srs_no_memory();
    if (!problem) {
        problem = parse_document(&document, into);
        problem = problem ? problem : check_text(&document, text, length);
        srs_json_free(&document);
    }
    if (!problem)
        return 0;
    srs_checkpoint_free(into);
    if (problem == SRS_NO_MEMORY)
        return problem;
    return srs_fail(SRS_BAD_FILES, "%s: %s", path, srs_message);
}

static void drop_shard(struct srs_shard *shard)
{
    while (shard->depots)
        free(shard->depot[--shard->depots]);
    free(shard->depot);
    free(shard->file);
}

void srs_checkpoint_free(struct srs_checkpoint *checkpoint)
{
    for (int64_t i = 0; i < checkpoint->arrays; i++) {
        struct srs_array *array = checkpoint->array + i;
        for (int64_t rank = 0; rank < array->shards; rank++)
            drop_shard(array->shard + rank);
        free(array->shard);
        srs_layout_free(&array->layout);
        free(array->shape);
        free(array->name);
        free(array->type);
    }
    free(checkpoint->array);
    free(checkpoint->folder);
    memset(checkpoint, 0, sizeof *checkpoint);
}

const struct srs_array *srs_stored(const struct srs_checkpoint *checkpoint, const char *name)
{
    for (int64_t i = checkpoint->arrays - 1; i >= 0; i--) /* the last one of a name counts, as in Python */
        if (!strcmp(checkpoint->array[i].name, name))
            return checkpoint->array + i;
    return NULL;
}
