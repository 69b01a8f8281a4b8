/* Depots (gridportal.runtime.depot): the same file of access, frames and requests as Python's, and nothing of MPI. */
#ifndef GRIDPORTAL_SRS_DEPOTS_H
#define GRIDPORTAL_SRS_DEPOTS_H

#include "checkpoint.h"

#define SRS_HASH 32
#define SRS_NODE 256 /* letters of a node's name, with the one that ends it */
#define SRS_DEPOTS_AT_ONCE 8

/* sha256.c: HMAC-SHA-256 (RFC 2104, FIPS 180-4) over `count` pieces; and random bytes. */
struct srs_bytes {
    const void *at;
    size_t length;
};
void srs_hmac(const unsigned char key[SRS_HASH], const struct srs_bytes *pieces, int count,
              unsigned char into[SRS_HASH]);
int srs_random(unsigned char *into, size_t length);
void srs_hex(const unsigned char *bytes, size_t length, char *into);
int srs_unhex(const char *text, unsigned char *into, size_t length); /* whether it is so many bytes */

/* depot_access.c: what the runs of a job know, see depot_access.py. */
enum srs_keep { SRS_KEEP_DEPOTS, SRS_KEEP_BOTH, SRS_KEEP_FOLDER };
struct srs_access {
    char job[65];
    unsigned char key[SRS_HASH];
    enum srs_keep keep;
    int copies;
    struct srs_json document; /* with the addresses */
};
int srs_access_text(const char *file, char **text, size_t *length);
int srs_access_parse(const char *text, size_t length, struct srs_access *into);
void srs_access_free(struct srs_access *access);
int srs_access_address(const struct srs_access *access, const char *node, char *host, size_t size, char port[8]);
void srs_access_own_node(const struct srs_access *access, char into[SRS_NODE]);
/* The depots of all ranks. `own`: the node of each rank, in rooms of SRS_NODE letters. */
struct srs_depots {
    struct srs_access access;
    int copies;       /* of each shard: as many as are asked for and there are nodes */
    int64_t count;    /* nodes, in the order of their names */
    char **node;
    int64_t rank, ranks, *of_rank; /* which of these each rank is on */
};
int srs_depots_make(struct srs_depots *depots, const char *own, int64_t rank, int64_t ranks);
void srs_depots_free(struct srs_depots *depots);
/* The node of copy `copy` of what `rank` writes: its own first. */
const char *srs_depots_target(const struct srs_depots *depots, int64_t rank, int copy);

/* depot_wire.c: a connection that both ends have opened. A sentence and a code of these where something fails. */
enum srs_word { SRS_SAID = 0, SRS_NO_ANSWER = 64, SRS_BUSY, SRS_REFUSED };
struct srs_session {
    int socket;
    unsigned char key[SRS_HASH];
    uint64_t sent, received;
};
int srs_session_open(struct srs_session *session, const struct srs_access *access, const char *node);
void srs_session_close(struct srs_session *session);
int srs_session_send(struct srs_session *session, const struct srs_text *body);
/* The next answer, to be freed; what the depot refuses is an error. */
int srs_session_answer(struct srs_session *session, struct srs_json *into);
int srs_session_put(struct srs_session *session, const char *at, size_t length);
int srs_session_get(struct srs_session *session, char *into, size_t length);

/* slabs.c: what a rank wants of one shard, as requests to a depot: which bytes, and where they belong. */
struct srs_part {
    struct srs_text slabs; /* JSON, without the outer brackets */
    int64_t count, bytes;
    int64_t start, end; /* of the last slab while it is one run, and not in the text yet; end 0 for none */
    /* In the order in which bytes come: dimensions, run, place in the target (-1: they are left out), and count and step
     * of each dimension. */
    int64_t *places, length, room;
};
#define SRS_AXES 96 /* three for each dimension: outer and inner repetitions, and elements */
/* Elements of the shard and of the target that belong together: `count[i]` times, with steps in bytes; only counts
 * above 1. */
struct srs_view {
    int axes;
    int64_t from, into, count[SRS_AXES], from_step[SRS_AXES], into_step[SRS_AXES];
};
struct srs_wanted {
    int dimensions;
    const struct srs_axis *axes; /* with the pieces of this source only */
    int64_t itemsize, piece[SRS_SENTENCE], source_step[SRS_SENTENCE], target_step[SRS_SENTENCE];
    int over, depth;
    struct srs_view *stack; /* views that are to be cut, the next one last */
};
int srs_wanted_begin(struct srs_wanted *wanted, int dimensions, const struct srs_axis *axes, const int64_t *parts,
                     int64_t itemsize);
void srs_wanted_end(struct srs_wanted *wanted);
/* The next part; one of no bytes is the end. */
int srs_wanted_next(struct srs_wanted *wanted, struct srs_part *part);
/* part_places.c: where the bytes of a view belong, in the order of the shard; and bytes that nobody wants. */
int srs_part_place(struct srs_part *part, const struct srs_view *view, int64_t itemsize);
int srs_part_gap(struct srs_part *part, int64_t bytes);
void srs_part_fill(const struct srs_part *part, const char *content, char *into);
void srs_part_free(struct srs_part *part);

/* depot_client.c: with retry. SRS_SILENT where a depot does not answer, SRS_BAD_FILES for what it refuses. */
struct srs_fetch {
    int dimensions;
    const struct srs_axis *axes;
    const int64_t *parts; /* which part of each old dimension the shard is */
    int64_t itemsize;
    char *into;
};
int srs_depot_put(const struct srs_depots *depots, const char *node, const char *name, const void *data, int64_t bytes,
                  uint32_t *checksum);
int srs_depot_fetch(const struct srs_depots *depots, const char *node, const char *name,
                    const struct srs_fetch *fetch);
int srs_depot_check(const struct srs_depots *depots, const char *node, const char *name, int64_t bytes,
                    uint32_t *checksum);
int srs_depot_drop(const struct srs_depots *depots, const char *node, const char *token);

/* shard_depots.c: shards in the depots of a job. */
void srs_depot_name(char into[64], const char *token, int64_t place, int64_t rank);
int srs_put_shard(const struct srs_depots *depots, const char *token, int64_t place, const void *data, int64_t bytes,
                  struct srs_written *done);
int srs_intend(const char *folder, int64_t number, const char *token, const struct srs_depots *depots);
/* What is in depots for the checkpoints of a folder, whole, half or set aside. */
struct srs_traces {
    int64_t count;
    struct srs_json *documents;
};
void srs_traces_read(const char *folder, struct srs_traces *into);
void srs_traces_free(struct srs_traces *traces);
/* Take away the shards of those of `before` that are not in `after`. */
void srs_let_go(const struct srs_depots *depots, const struct srs_traces *before, const struct srs_traces *after);

#endif
