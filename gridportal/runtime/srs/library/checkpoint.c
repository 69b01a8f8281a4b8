/* Checkpoints as files: the format of checkpoint_files.py, and nothing else in C knows it.
 *
 * A folder checkpoint-00000012 with one raw file for each rank and array, and manifest.json, which comes last. Fields of
 * the manifest that are not known here are passed over. */
#define _POSIX_C_SOURCE 200809L
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION 1
#define WITH_DEPOTS 2 /* shards may be in depots too, or there only */
#define KEPT 2
#define PREFIX "checkpoint-"
#define MANIFEST "manifest.json"
#define CHUNK ((size_t)8 << 20)
#define PATH 4096
#define MAPPED (16 << 20) /* bytes of files that are in memory at once, about */

static int file_failed(const char *path)
{
    return srs_fail(SRS_BAD_FILES, "%s: %s.", path, strerror(errno));
}

static int checkpoint_path(char *into, const char *folder, int64_t number, const char *ending)
{
    char name[64];
    snprintf(name, sizeof name, PREFIX "%08" PRId64 "%s", number, ending);
    return srs_join(into, PATH, folder, name);
}

/* Types. */

static int is_little(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one;
}

/* Whether numpy has this kind in so many bytes. */
static int is_type(char kind, long long bytes)
{
    switch (kind) {
    case 'b': return bytes == 1;
    case 'i':
    case 'u': return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    case 'f': return bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
    case 'c': return bytes == 8 || bytes == 16 || bytes == 32;
    case 'M':
    case 'm': return bytes == 8;
    case 'S':
    case 'V':
    case 'U': return bytes > 0 && bytes < INT32_MAX;
    default: return 0;
    }
}

/* A type as numpy writes it, <f8: order, kind, size, and the unit of dates. Without order it is this machine's. */
int srs_type(const char *type, char *canonical, size_t size, int64_t *itemsize)
{
    const char *at = type ? type : "";
    char order = *at && strchr("<>|=", *at) ? *at++ : '=';
    char kind = *at ? *at++ : 0, *end = (char *)at;
    long long bytes = *at >= '1' && *at <= '9' ? strtoll(at, &end, 10) : 0;
    int dated = (kind == 'M' || kind == 'm') && *end == '[' && end[strlen(end) - 1] == ']';
    if (!is_type(kind, bytes) || (*end && !dated))
        return srs_refuse("type", type ? type : "", "a type as numpy names it, such as f8, i4, c16 or S12");
    *itemsize = kind == 'U' ? 4 * bytes : bytes;
    if (kind == 'S' || kind == 'V' || *itemsize == 1 || order == '|')
        order = '|';
    else if (order == '=')
        order = is_little() ? '<' : '>';
    snprintf(canonical, size, "%c%c%lld%s", order, kind, bytes, end);
    return 0;
}

/* Reading. */

/* The number of a complete checkpoint's name, -1 for others. */
static int64_t number_of(const char *name)
{
    const char *digits = name + strlen(PREFIX);
    size_t length = strlen(digits);
    return length && length < 18 && strspn(digits, "0123456789") == length ? strtoll(digits, NULL, 10) : -1;
}

static int newest_first(const void *one, const void *other)
{
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return a > b ? -1 : a < b;
}

int srs_numbers(const char *folder, int64_t **numbers, int64_t *count)
{
    char **names;
    size_t all;
    *numbers = NULL;
    *count = 0;
    int problem = srs_names(folder, PREFIX, &names, &all);
    if (problem)
        return problem;
    *numbers = srs_room(all, sizeof **numbers);
    for (size_t i = 0; *numbers && i < all; i++)
        if (number_of(names[i]) >= 0)
            (*numbers)[(*count)++] = number_of(names[i]);
    srs_names_free(names, all);
    if (!*numbers)
        return srs_no_memory();
    qsort(*numbers, (size_t)*count, sizeof **numbers, newest_first);
    return 0;
}

int srs_manifest_text(const char *folder, int64_t number, char **text, size_t *length)
{
    char path[PATH], file[PATH];
    if (checkpoint_path(path, folder, number, "") || srs_join(file, sizeof file, path, MANIFEST))
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

static int parse_shard(const struct srs_json *entry, const char *field, int64_t place, int64_t bytes,
                       struct srs_shard *into)
{
    const struct srs_json *file = srs_json_entry(entry, "file"), *rank = srs_json_entry(entry, "rank");
    const struct srs_json *length = srs_json_entry(entry, "bytes"), *checksum = srs_json_entry(entry, "crc32");
    if (file && file->kind == SRS_NULL && srs_json_entry(entry, "depots"))
        return srs_fail(SRS_ELSEWHERE, "%s is in depots only; accepted is a checkpoint in the folder: keep has to be both "
                        "or folder for programs in C.", field);
    if (!file || file->kind != SRS_TEXT || !*file->as.text || strchr(file->as.text, '/') ||
        !strcmp(file->as.text, ".") || !strcmp(file->as.text, "..") || !rank || rank->kind != SRS_WHOLE ||
        rank->as.whole != place)
        return wrong(field, "a shard with the name of its file, in the order of the ranks");
    if (!length || length->kind != SRS_WHOLE || !checksum || checksum->kind != SRS_WHOLE)
        return wrong(field, "a shard with bytes and crc32");
    if (length->as.whole != bytes)
        return wrong(field, "a shard of as many bytes as its rank has in the layout");
    into->file = copied(file->as.text);
    into->bytes = bytes;
    into->checksum = (uint32_t)checksum->as.whole;
    return into->file ? 0 : srs_no_memory();
}

/* The bytes of an array's part, -1 for more than a machine can have. */
static int64_t bytes_held(const struct srs_array *array, int64_t rank)
{
    int64_t local[SRS_SENTENCE];
    srs_layout_local(&array->layout, array->dimensions, array->shape, rank, local);
    int64_t elements = srs_elements(array->dimensions, local);
    return elements < 0 || elements > SRS_MOST_PARTS / array->itemsize ? -1 : elements * array->itemsize;
}

static int parse_shards(const struct srs_json *list, const char *field, struct srs_array *into)
{
    int64_t wanted = into->layout.dimensions ? srs_layout_ranks(&into->layout) : 1;
    if (!list || list->kind != SRS_LIST || list->count != wanted)
        return wrong(field, "a shard for each rank");
    into->shard = srs_room((size_t)wanted, sizeof *into->shard);
    if (!into->shard)
        return srs_no_memory();
    into->shards = wanted;
    int problem = 0;
    for (int64_t place = 0; !problem && place < wanted; place++)
        problem = parse_shard(list->as.items + place, field, place, bytes_held(into, place), into->shard + place);
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

static int parse_array(const struct srs_json *entry, int64_t place, struct srs_array *into)
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
    return problem ? problem : parse_shards(srs_json_entry(entry, "shards"), field, into);
}

static int parse_document(const struct srs_json *document, struct srs_checkpoint *into)
{
    const struct srs_json *version = srs_json_entry(document, "version"), *ranks = srs_json_entry(document, "ranks");
    const struct srs_json *at = srs_json_entry(document, "written_at"), *arrays = srs_json_entry(document, "arrays");
    if (!version || version->kind != SRS_WHOLE ||
        (version->as.whole != VERSION && version->as.whole != WITH_DEPOTS))
        return wrong("manifest", "a manifest of version 1 or 2");
    if (!ranks || ranks->kind != SRS_WHOLE || !at || (at->kind != SRS_WHOLE && at->kind != SRS_REAL) || !arrays ||
        arrays->kind != SRS_LIST)
        return wrong("manifest", "one with ranks, written_at and arrays");
    into->ranks = ranks->as.whole;
    into->array = srs_room((size_t)arrays->count, sizeof *into->array);
    if (!into->array)
        return srs_no_memory();
    into->arrays = arrays->count;
    int problem = 0;
    for (int64_t place = 0; !problem && place < into->arrays; place++)
        problem = parse_array(arrays->as.items + place, place, into->array + place);
    return problem;
}

int srs_manifest_parse(const char *folder, int64_t number, const char *text, size_t length,
                       struct srs_checkpoint *into)
{
    char path[PATH];
    struct srs_json document;
    memset(into, 0, sizeof *into);
    if (checkpoint_path(path, folder, number, ""))
        return SRS_BAD_FILES;
    into->folder = copied(path);
    int problem = into->folder ? srs_json_read(text, length, &document) : srs_no_memory();
    if (!problem) {
        problem = parse_document(&document, into);
        srs_json_free(&document);
    }
    if (!problem)
        return 0;
    srs_checkpoint_free(into);
    if (problem == SRS_NO_MEMORY)
        return problem;
    return srs_fail(problem == SRS_ELSEWHERE ? SRS_ELSEWHERE : SRS_BAD_FILES, "%s: %s", path, srs_message);
}

void srs_checkpoint_free(struct srs_checkpoint *checkpoint)
{
    for (int64_t i = 0; i < checkpoint->arrays; i++) {
        struct srs_array *array = checkpoint->array + i;
        for (int64_t rank = 0; rank < array->shards; rank++)
            free(array->shard[rank].file);
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

static int check_length(const struct srs_checkpoint *checkpoint, const struct srs_array *array, int64_t rank)
{
    char path[PATH];
    struct stat seen;
    const struct srs_shard *shard = array->shard + rank;
    if (srs_join(path, sizeof path, checkpoint->folder, shard->file))
        return SRS_BAD_FILES;
    if (stat(path, &seen))
        return srs_fail(SRS_BAD_FILES, "%s, what rank %" PRId64 " held of %s, is missing.", path, rank, array->name);
    if (seen.st_size != shard->bytes || !S_ISREG(seen.st_mode))
        return srs_fail(SRS_BAD_FILES, "%s has %lld bytes; %" PRId64 " were written of %s.", path,
                        (long long)seen.st_size, shard->bytes, array->name);
    return 0;
}

int srs_check_lengths(const struct srs_checkpoint *checkpoint)
{
    for (int64_t i = 0; i < checkpoint->arrays; i++)
        for (int64_t rank = 0; rank < checkpoint->array[i].shards; rank++)
            if (check_length(checkpoint, checkpoint->array + i, rank))
                return SRS_BAD_FILES;
    return 0;
}

static int checksum_of(const char *path, char *chunk, uint32_t *checksum)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return srs_fail(SRS_BAD_FILES, "%s cannot be read: %s.", path, strerror(errno));
    ssize_t got;
    *checksum = 0;
    while ((got = read(file, chunk, CHUNK)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            *checksum = srs_crc32(*checksum, chunk, (size_t)got);
    int problem = got < 0 ? srs_fail(SRS_BAD_FILES, "%s cannot be read: %s.", path, strerror(errno)) : 0;
    close(file);
    return problem;
}

static int verify_shard(const struct srs_checkpoint *checkpoint, const struct srs_array *array, int64_t rank,
                        char *chunk)
{
    char path[PATH];
    uint32_t checksum = 0;
    if (srs_join(path, sizeof path, checkpoint->folder, array->shard[rank].file) ||
        checksum_of(path, chunk, &checksum))
        return SRS_BAD_FILES;
    if (checksum == array->shard[rank].checksum)
        return 0;
    return srs_fail(SRS_BAD_FILES, "%s, what rank %" PRId64 " held of %s, was changed since it was written.", path, rank,
                    array->name);
}

int srs_verify(const struct srs_checkpoint *checkpoint, int64_t part, int64_t parts)
{
    char *chunk = malloc(CHUNK);
    int problem = chunk ? 0 : srs_no_memory();
    int64_t place = 0;
    for (int64_t i = 0; i < checkpoint->arrays; i++)
        for (int64_t rank = 0; !problem && rank < checkpoint->array[i].shards; rank++, place++)
            if (place % parts == part)
                problem = verify_shard(checkpoint, checkpoint->array + i, rank, chunk);
    free(chunk);
    return problem;
}

/* Redistribution: the pieces of each dimension, the shards that they are in, and one copy. */

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

static int map_shard(struct way *way, const struct srs_checkpoint *checkpoint, const struct srs_shard *shard,
                     int64_t rank)
{
    char path[PATH];
    if (srs_join(path, sizeof path, checkpoint->folder, shard->file))
        return SRS_BAD_FILES;
    struct stat seen;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return file_failed(path);
    int whole = !fstat(file, &seen) && seen.st_size == shard->bytes;
    void *at = whole ? mmap(NULL, (size_t)shard->bytes, PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
    int problem = at != MAP_FAILED ? 0
                : whole ? file_failed(path)
                        : srs_fail(SRS_BAD_FILES, "%s has not the %" PRId64 " bytes that were written.", path,
                                   shard->bytes);
    close(file);
    if (problem)
        return problem;
    way->sources[rank] = way->mapped[rank] = at;
    way->bytes[rank] = (size_t)shard->bytes;
    return 0;
}

static int map_shards(struct way *way, const struct srs_checkpoint *checkpoint, const struct srs_array *stored)
{
    way->shards = srs_layout_ranks(&way->old);
    way->sources = srs_room((size_t)way->shards, sizeof *way->sources);
    way->mapped = srs_room((size_t)way->shards, sizeof *way->mapped);
    way->bytes = srs_room((size_t)way->shards, sizeof *way->bytes);
    if (!way->sources || !way->mapped || !way->bytes)
        return srs_no_memory();
    mark(way, 0, 0);
    for (int64_t rank = 0; rank < way->shards; rank++)
        if (way->sources[rank] && map_shard(way, checkpoint, stored->shard + rank, rank))
            return SRS_BAD_FILES;
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
    if (problem || !elements)
        return problem;
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

/* Writing. */

/* Those in the folder whose name has this ending. */
static int remove_ending(const char *folder, const char *ending)
{
    char **names, path[PATH];
    size_t count;
    int problem = srs_names(folder, PREFIX, &names, &count);
    for (size_t i = 0; !problem && i < count; i++) {
        size_t length = strlen(names[i]), end = strlen(ending);
        if (length < end || strcmp(names[i] + length - end, ending))
            continue;
        problem = srs_join(path, sizeof path, folder, names[i]);
        problem = problem ? problem : srs_remove_tree(path);
    }
    srs_names_free(names, count);
    return problem;
}

int srs_clear(const char *folder)
{
    return remove_ending(folder, "");
}

int srs_begin(const char *folder, int64_t number)
{
    char path[PATH];
    int problem = srs_make_folders(folder);
    problem = problem ? problem : remove_ending(folder, ".part");
    problem = problem ? problem : checkpoint_path(path, folder, number, ".part");
    return problem ? problem : srs_make_folders(path);
}

void srs_abandon(const char *folder, int64_t number)
{
    char path[PATH], kept[SRS_SENTENCE];
    srs_copy_text(kept, sizeof kept, srs_message); /* why the checkpoint failed stays the message */
    if (!checkpoint_path(path, folder, number, ".part"))
        srs_remove_tree(path);
    srs_copy_text(srs_message, sizeof srs_message, kept);
}

int srs_set_aside(const char *folder, int64_t number)
{
    char path[PATH], bad[PATH];
    if (checkpoint_path(path, folder, number, "") || checkpoint_path(bad, folder, number, ".bad"))
        return SRS_BAD_FILES;
    return rename(path, bad) ? file_failed(path) : 0;
}

static int write_open(int file, const char *data, struct srs_checksum *done)
{
    uint32_t checksum = 0;
    for (size_t at = 0, length = (size_t)done->bytes, size; at < length; at += size) {
        size = length - at < CHUNK ? length - at : CHUNK;
        checksum = srs_crc32(checksum, data + at, size);
        if (srs_write_all(file, data + at, size))
            return -1;
    }
    done->checksum = checksum;
    return fsync(file);
}

static int shard_name(char *into, size_t size, int64_t place, int64_t rank)
{
    return snprintf(into, size, "%" PRId64 "-%" PRId64 ".raw", place, rank);
}

int srs_write_shard(const char *folder, int64_t number, int place, int rank, const void *data, int64_t bytes,
                    struct srs_checksum *done)
{
    char part[PATH], path[PATH], name[64];
    shard_name(name, sizeof name, place, rank);
    if (checkpoint_path(part, folder, number, ".part") || srs_join(path, sizeof path, part, name))
        return SRS_BAD_FILES;
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return file_failed(path);
    done->bytes = bytes;
    int problem = write_open(file, data, done) ? file_failed(path) : 0;
    if (close(file) && !problem)
        problem = file_failed(path);
    return problem;
}

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

static void dump_shards(const struct srs_array *array, int64_t place, int64_t count, const struct srs_checksum *done,
                        struct srs_text *into)
{
    int64_t shards = array->layout.dimensions ? srs_layout_ranks(&array->layout) : 1;
    srs_add(into, ", \"shards\": [");
    for (int64_t rank = 0; rank < shards; rank++) {
        char name[64];
        const struct srs_checksum *each = done + rank * count + place;
        shard_name(name, sizeof name, place, rank);
        srs_add(into, "%s{\"rank\": %" PRId64 ", \"file\": \"%s\", \"bytes\": %" PRId64 ", \"crc32\": %" PRIu64 "}",
                rank ? ", " : "", rank, name, each->bytes, each->checksum);
    }
    srs_add(into, "]}");
}

static int write_manifest(const char *part, int64_t number, int64_t ranks, double written_at,
                          const struct srs_array *arrays, int64_t count, const struct srs_checksum *done)
{
    struct srs_text text = {0};
    int micro = (int)(1e6 * (written_at - (double)(int64_t)written_at)); /* a locale may write commas */
    srs_add(&text, "{\"version\": %d, \"number\": %" PRId64 ", \"written_at\": %" PRId64 ".%06d, \"ranks\": %" PRId64
            ", \"arrays\": [", VERSION, number, (int64_t)written_at, micro, ranks);
    for (int64_t place = 0; place < count; place++) {
        srs_add(&text, "%s{\"name\": ", place ? ", " : "");
        srs_add_quoted(&text, arrays[place].name);
        srs_add(&text, ", ");
        srs_array_dump(arrays + place, &text);
        dump_shards(arrays + place, place, count, done, &text);
    }
    srs_add(&text, "]}");
    int problem = text.failed ? srs_no_memory() : srs_write_file(part, MANIFEST, text.at, text.length, 1);
    srs_drop(&text);
    return problem;
}

static int remove_old(const char *folder)
{
    int64_t *numbers, count;
    char path[PATH];
    int problem = srs_numbers(folder, &numbers, &count);
    for (int64_t i = KEPT; !problem && i < count; i++) {
        problem = checkpoint_path(path, folder, numbers[i], "");
        problem = problem ? problem : srs_remove_tree(path);
    }
    free(numbers);
    return problem ? problem : remove_ending(folder, ".bad");
}

int srs_complete(const char *folder, int64_t number, int64_t ranks, double written_at, const struct srs_array *arrays,
                 int64_t count, const struct srs_checksum *done)
{
    char part[PATH], path[PATH];
    if (checkpoint_path(part, folder, number, ".part") || checkpoint_path(path, folder, number, ""))
        return SRS_BAD_FILES;
    int problem = write_manifest(part, number, ranks, written_at, arrays, count, done);
    problem = problem ? problem : srs_sync_folder(part);
    if (!problem && rename(part, path))
        problem = file_failed(path);
    problem = problem ? problem : srs_sync_folder(folder);
    return problem ? problem : remove_old(folder);
}
