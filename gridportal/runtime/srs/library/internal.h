/* What the files of SRS share. Only checkpoint.c knows how checkpoints look on disk; calls.c, agreement.c and stop.c
 * alone speak MPI. */
#ifndef GRIDPORTAL_SRS_INTERNAL_H
#define GRIDPORTAL_SRS_INTERNAL_H

#include "strided_copy.h"

#include <stddef.h>
#include <stdint.h>

#define SRS_SENTENCE 1024
#define SRS_MOST_PARTS (INT64_C(1) << 53)
#define SRS_MOST_RANKS (INT64_C(1) << 20)
#define SRS_MOST_FILE (64 << 20)

/* As in gridportal_srs.h, which needs MPI. */
enum srs_code { SRS_OK, SRS_BAD_INPUT, SRS_BAD_FILES, SRS_NO_MEMORY, SRS_BAD_MPI, SRS_ELSEWHERE };

/* message.c: the sentence of the last error. */
extern char srs_message[SRS_SENTENCE];
int srs_fail(enum srs_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));
int srs_no_memory(void);
int srs_refuse(const char *field, const char *value, const char *accepted);
void *srs_room(size_t count, size_t size); /* zeroed, never NULL for nothing */
void srs_copy_text(char *into, size_t size, const char *from); /* cut where it is too long */

/* text.c: a text that grows. `failed` where memory ended. */
struct srs_text {
    char *at;
    size_t length, size;
    int failed;
};
void srs_add(struct srs_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void srs_add_quoted(struct srs_text *text, const char *word);
void srs_drop(struct srs_text *text);

/* json.c: a strict reader. */
enum srs_kind { SRS_NULL, SRS_FALSE, SRS_TRUE, SRS_WHOLE, SRS_REAL, SRS_TEXT, SRS_LIST, SRS_OBJECT };
struct srs_json {
    enum srs_kind kind;
    union {
        int64_t whole;
        double real;
        char *text;
        struct srs_json *items; /* of an object: name, value, name, value... */
    } as;
    int64_t count; /* items, of an object twice its entries */
};
int srs_json_read(const char *text, size_t length, struct srs_json *into);
const struct srs_json *srs_json_entry(const struct srs_json *object, const char *name);
void srs_json_free(struct srs_json *value);

/* layouts.c: how an array is laid out over ranks, as layouts.py and dealing.py. */
enum srs_dealt { SRS_BLOCKS, SRS_SHARES, SRS_MAP };
struct srs_dealing {
    enum srs_dealt kind;
    int64_t parts, block; /* block 0: one block a part */
    int64_t *lengths;     /* of the parts, for shares and maps */
    int64_t *places;      /* of a map: of part after part, the places of its elements */
};
struct srs_layout {
    int dimensions; /* 0: whole on each of `copies` ranks */
    int64_t copies;
    struct srs_dealing *dealings;
};
int srs_layout_parse(const char *text, int64_t ranks, const char *field, struct srs_layout *into);
int srs_layout_load(const struct srs_json *value, const char *field, struct srs_layout *into);
void srs_layout_dump(const struct srs_layout *layout, struct srs_text *into);
void srs_layout_words(const struct srs_layout *layout, char *into, size_t size);
int srs_layout_check(const struct srs_layout *layout, int dimensions, const int64_t *shape, int64_t ranks);
int srs_layout_widen(struct srs_layout *layout, int dimensions);
void srs_layout_turn(struct srs_layout *layout);
int64_t srs_layout_ranks(const struct srs_layout *layout);
void srs_layout_parts(const struct srs_layout *layout, int64_t rank, int64_t *parts);
void srs_layout_local(const struct srs_layout *layout, int dimensions, const int64_t *shape, int64_t rank,
                      int64_t *local);
int srs_layout_copy(const struct srs_layout *layout, struct srs_layout *into);
void srs_layout_free(struct srs_layout *layout);
int64_t srs_dealing_held(const struct srs_dealing *dealing, int64_t length, int64_t part);
/* The elements of an array, or -1 where they are more than a machine can have. */
int64_t srs_elements(int dimensions, const int64_t *shape);

/* overlaps.c: the pieces that part `part` of `new` takes of all parts of `old`; to be freed. */
int srs_overlaps(const struct srs_dealing *old, const struct srs_dealing *new, int64_t length, int64_t part,
                 struct srs_piece **pieces, int64_t *count);

/* files.c: 0, or SRS_BAD_FILES with the sentence. */
int srs_make_folders(const char *path);
int srs_remove_tree(const char *path);
int srs_read_file(const char *path, char **text, size_t *length);
int srs_write_file(const char *folder, const char *name, const char *text, size_t length, int synced);
int srs_write_all(int file, const char *at, size_t length); /* or -1 with errno */
int srs_sync_folder(const char *path);
int srs_join(char *into, size_t size, const char *folder, const char *name);
uint32_t srs_crc32(uint32_t checksum, const void *bytes, size_t length);
/* Names in a folder that begin with `prefix`; to be freed. */
int srs_names(const char *folder, const char *prefix, char ***names, size_t *count);
void srs_names_free(char **names, size_t count);

/* checkpoint.c: the format. */
struct srs_shard {
    char *file;
    int64_t bytes;
    uint32_t checksum;
};
struct srs_array {
    char *name, *type; /* type: with its byte order, as "<f8" */
    int dimensions;
    int64_t *shape, itemsize;
    struct srs_layout layout;
    int64_t shards;
    struct srs_shard *shard;
};
struct srs_checkpoint {
    char *folder; /* of this checkpoint */
    int64_t ranks;
    int64_t arrays;
    struct srs_array *array;
};
struct srs_checksum {
    int64_t bytes;
    uint64_t checksum;
};
int srs_type(const char *type, char *canonical, size_t size, int64_t *itemsize);
int srs_numbers(const char *folder, int64_t **numbers, int64_t *count); /* the newest first */
int srs_manifest_text(const char *folder, int64_t number, char **text, size_t *length);
int srs_manifest_parse(const char *folder, int64_t number, const char *text, size_t length,
                       struct srs_checkpoint *into);
int srs_check_lengths(const struct srs_checkpoint *checkpoint);
int srs_verify(const struct srs_checkpoint *checkpoint, int64_t part, int64_t parts);
const struct srs_array *srs_stored(const struct srs_checkpoint *checkpoint, const char *name);
int srs_read_array(const struct srs_checkpoint *checkpoint, const struct srs_array *stored,
                   const struct srs_layout *layout, int64_t rank, void *into);
void srs_checkpoint_free(struct srs_checkpoint *checkpoint);
int srs_begin(const char *folder, int64_t number);
int srs_write_shard(const char *folder, int64_t number, int place, int rank, const void *data, int64_t bytes,
                    struct srs_checksum *done);
/* `arrays` with name, type, shape and layout; `done[rank * arrays + place]` as the ranks wrote them. */
int srs_complete(const char *folder, int64_t number, int64_t ranks, double written_at, const struct srs_array *arrays,
                 int64_t count, const struct srs_checksum *done);
void srs_abandon(const char *folder, int64_t number);
int srs_set_aside(const char *folder, int64_t number);
int srs_clear(const char *folder);
void srs_array_dump(const struct srs_array *array, struct srs_text *into); /* dtype, shape and layout, without braces */

#endif
