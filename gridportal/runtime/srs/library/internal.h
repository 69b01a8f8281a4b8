/* What the files of SRS share. checkpoint.h has checkpoints, depots.h depots, and calls.h what speaks MPI. */
#ifndef GRIDPORTAL_SRS_INTERNAL_H
#define GRIDPORTAL_SRS_INTERNAL_H

#include "strided_copy.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define SRS_SENTENCE 1024
#define SRS_MOST_PARTS (INT64_C(1) << 53)
#define SRS_MOST_RANKS (INT64_C(1) << 20)
#define SRS_MOST_FILE (64 << 20)
#define SRS_PATH 4096

/* As in gridportal_srs.h, which needs MPI. */
enum srs_code { SRS_OK, SRS_BAD_INPUT, SRS_BAD_FILES, SRS_NO_MEMORY, SRS_BAD_MPI, SRS_SILENT };

/* message.c: the sentence of the last error of this thread. */
extern __thread char srs_message[SRS_SENTENCE];
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

/* layouts.c, layout_reading.c, layout_writing.c: how an array is laid out over ranks, as layouts.py and dealing.py. */
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
int srs_layout_make(struct srs_layout *layout, int64_t dimensions); /* of one part each */
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
int64_t srs_dealing_total(const struct srs_dealing *dealing); /* elements of all parts of shares or a map */
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

/* at_once.c: steps 0 to count - 1 in at most `most` threads, which hear no signals; the first problem, with its sentence.
 * Threads of ours make no call of MPI. */
typedef int srs_step(void *context, int64_t number);
int srs_at_once(int64_t count, int most, srs_step *step, void *context);
int srs_start_thread(pthread_t *thread, void *(*body)(void *), void *context); /* 0, or an error code */

/* free_memory.c: bytes that this process may still take; 0 where nothing tells. */
int64_t srs_free_memory(void);

#endif
