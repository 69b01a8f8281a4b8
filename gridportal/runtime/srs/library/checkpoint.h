/* Checkpoints: what a manifest says (manifest_reading.c), the folder that holds them (checkpoint.c), their shards as files
 * (shard_files.c) and in depots (depots.h), and an array read from them in any layout (redistribution.c). */
#ifndef GRIDPORTAL_SRS_CHECKPOINT_H
#define GRIDPORTAL_SRS_CHECKPOINT_H

#include "internal.h"

#define SRS_PREFIX "checkpoint-"
#define SRS_PART ".part"
#define SRS_BAD ".bad"
#define SRS_INTENT "depots.json"
#define SRS_TOKEN 17       /* 16 hexadecimal digits */
#define SRS_MOST_COPIES 60 /* copies of a shard that are looked at */

struct srs_depots;

struct srs_shard {
    char *file; /* NULL: none */
    int64_t bytes;
    uint32_t checksum;
    int depots; /* how many nodes have it, and their names */
    char **depot;
    uint64_t bad; /* the copies that are not right: bit i the one of depot i, the bit after these the file */
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
    char *folder;          /* of this checkpoint */
    char token[SRS_TOKEN]; /* by which depots know it, empty where they have nothing of it */
    int64_t number, ranks;
    int64_t arrays;
    struct srs_array *array;
    const struct srs_depots *depots; /* those that the program may use, NULL for none */
};
/* What a rank has written of an array. `where`: bit 0 a file, bit 1 + i the depot that is i nodes after its own. */
struct srs_written {
    int64_t bytes;
    uint64_t checksum, where;
};

/* types.c */
int srs_type(const char *type, char *canonical, size_t size, int64_t *itemsize);

/* manifest_reading.c */
int srs_manifest_text(const char *folder, int64_t number, char **text, size_t *length);
int srs_manifest_parse(const char *folder, int64_t number, const char *text, size_t length,
                       struct srs_checkpoint *into);
const struct srs_array *srs_stored(const struct srs_checkpoint *checkpoint, const char *name);
void srs_checkpoint_free(struct srs_checkpoint *checkpoint);

/* manifest_writing.c: a checkpoint that is written: its number, token ("" without depots), ranks and Unix time, `arrays` with name, type,
 * shape and layout, and what ranks wrote, as written[rank * count + place]. */
struct srs_manifest {
    int64_t number, ranks, count;
    const char *token;
    double written_at;
    const struct srs_array *arrays;
    const struct srs_written *written;
    const struct srs_depots *depots;
};
void srs_array_dump(const struct srs_array *array, struct srs_text *into); /* dtype, shape and layout, without braces */
void srs_manifest_dump(const struct srs_manifest *manifest, struct srs_text *into);

/* checkpoint_names.c */
int srs_checkpoint_path(char *into, const char *folder, int64_t number, const char *ending);
int srs_shard_name(char *into, size_t size, int64_t place, int64_t rank);

/* checkpoint.c */
int srs_numbers(const char *folder, int64_t **numbers, int64_t *count); /* the newest first */
int srs_begin(const char *folder, int64_t number);
int srs_complete(const char *folder, const struct srs_manifest *manifest);
void srs_abandon(const char *folder, int64_t number);
int srs_set_aside(const char *folder, int64_t number);
int srs_clear(const char *folder);
int srs_remove_aside(const char *folder); /* those that cannot be used */

/* checkpoint_room.c */
int64_t srs_on_disk(int64_t bytes);                       /* what a shard of so many takes, with what is said of it */
int srs_make_room(const char *folder, int64_t wanted); /* for so many bytes; the older checkpoint may go */

/* shard_files.c */
int srs_write_shard(const char *folder, int64_t number, int64_t place, int64_t rank, const void *data, int64_t bytes,
                    struct srs_written *done);
int srs_check_lengths(const struct srs_checkpoint *checkpoint);
int srs_verify_file(const struct srs_checkpoint *checkpoint, const struct srs_array *array, int64_t rank);
int srs_map_shard(const struct srs_checkpoint *checkpoint, const struct srs_shard *shard, void **at);

/* verification.c: every `parts`th shard; a copy that is not right is marked. SRS_SILENT where one cannot be had now. */
int srs_verify(struct srs_checkpoint *checkpoint, int64_t part, int64_t parts);
int srs_copies(const struct srs_shard *shard);
const char *srs_copy_node(const struct srs_shard *shard, int copy); /* NULL for the file */

/* redistribution.c */
int srs_read_array(const struct srs_checkpoint *checkpoint, const struct srs_array *stored,
                   const struct srs_layout *layout, int64_t rank, void *into);

#endif
