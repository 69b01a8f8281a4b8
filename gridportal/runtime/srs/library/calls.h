/* What the calls of C and of Fortran share. */
#ifndef GRIDPORTAL_SRS_CALLS_H
#define GRIDPORTAL_SRS_CALLS_H

#include "agreement.h"
#include "depots.h"
#include "gridportal_srs.h"

struct srs_registered {
    struct srs_array array; /* name, type, shape and layout */
    void *data;
    int64_t bytes;
    void *copy; /* for checkpoints in the background; it stays, for fresh memory costs more than a copy */
};

/* writing.c: a checkpoint that is being written, on this rank. */
struct srs_pending {
    int there, threaded;
    int64_t number, count;
    char token[SRS_TOKEN];
    struct srs_registered *arrays; /* what is written: the program's own data, or copies of them */
    struct srs_written *written;
    int done, problem; /* of this rank's shards, and its sentence */
    char message[SRS_SENTENCE];
    double began, left; /* when it began, and when the program went on */
    pthread_t thread;
};

struct SRS {
    MPI_Comm comm; /* the program's */
    int rank, size, restart, stopped;
    char *folder;
    struct srs_depots *depots; /* NULL for none */
    int64_t number, from; /* of the last checkpoint, and of the one that the program goes on from */
    struct srs_checkpoint checkpoint;
    struct srs_registered *registered; /* by name */
    int64_t count;
    struct srs_stop stop;
    int in_background;
    int64_t calls, every_calls; /* calls of SRS_CheckStop, and how many lie between checkpoints; 0: none */
    int64_t sequence;           /* checkpoints that were begun */
    int64_t unwritten;          /* checkpoints in a row that were not written */
    struct srs_pending pending;
    struct srs_sweep *sweep;    /* what depots are asked to let go of, by a thread of rank 0 */
    int told;                   /* whether the portal knows that all is read */
    int64_t written, read;      /* bytes of the last checkpoint, and those that were read */
    double took, writing, blocked, reading; /* seconds: of the last checkpoint, and of all */
};

/* newest.c: find the newest checkpoint that is whole; the program starts where there is none. */
int srs_find_newest(SRS *srs);

/* writing.c: collective, but for srs_done. */
int srs_write_checkpoint(SRS *srs);  /* now */
void srs_warn_unwritten(SRS *srs, int problem); /* once for all in a row */
void srs_count_unwritten(SRS *srs);             /* how many these were */
int srs_begin_checkpoint(SRS *srs);  /* in the background where memory allows */
int srs_finish_checkpoint(SRS *srs); /* wait for the one in the background, and complete it */
int64_t srs_done(const void *srs);   /* how many checkpoints this rank has done with */
int srs_has_memory(SRS *srs);

/* sweeping.c: around what takes checkpoints away, on rank 0. Depots let go of what they had of them; nobody waits. */
void srs_sweep_begin(SRS *srs, struct srs_traces *before);
void srs_sweep_end(SRS *srs, struct srs_traces *before);
void srs_sweep_wait(SRS *srs);

/* registered.c: what is registered as `name`, NULL for nothing; a layout of a text in the order of C; without dimensions at
 * the end that are whole; whether lengths are such. */
struct srs_registered *srs_find(const SRS *srs, const char *name);
int srs_lay_out(const char *text, int64_t ranks, const char *field, int dimensions, int turned, struct srs_layout *into);
void srs_shorten(struct srs_layout *layout);
int srs_check_numbers(const char *name, int dimensions, const int64_t *shape);

/* registered.c, reading.c, places.c. `turned`: shape and layout have the first dimension first that Fortran has, which is the last one in C. */
int srs_register(SRS *srs, const char *name, void *data, int64_t count, const char *type, int dimensions,
                 const int64_t *shape, const char *layout, int turned);
int srs_read(SRS *srs, const char *name, const char *old_layout, const char *new_layout, int turned);
int srs_local_shape(const SRS *srs, const char *layout, int dimensions, const int64_t *shape, int64_t *local,
                    int turned);
int srs_places(const SRS *srs, const char *layout, int dimensions, const int64_t *shape, int dimension,
               int64_t *places, int turned);

#endif
