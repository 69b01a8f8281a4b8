/* SRS (Stop Restart Software) for C: a running MPI program stops as a whole, and goes on with other ranks and layouts.
 *
 * Files, meaning and layouts are those of gridportal.runtime.srs for Python: either reads what the other wrote. See
 * docs/stop-and-restart.md. Calls are collective over the communicator of SRS_Init, but for those that say otherwise.
 *
 * Calls give 0, or an error code, which is the same on all ranks; SRS_Message() is the sentence then.
 *
 * Arrays are in C order: the last index runs fastest, and ranks are numbered row by row in the process grid. */
#ifndef GRIDPORTAL_SRS_H
#define GRIDPORTAL_SRS_H

#include <mpi.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SRS_SUCCESS = 0,
    SRS_INPUT = 1,  /* a value that cannot be accepted; nothing was changed */
    SRS_FILES = 2,  /* the folder cannot be used */
    SRS_MEMORY = 3,
    SRS_MPI = 4,
    SRS_DEPOTS = 5 /* the only checkpoint is in a depot that does not answer; it is kept for later */
};

/* Types of elements, as numpy names them. Others are accepted too: "S12" for texts of 12 bytes, "V40" for records. */
#define SRS_INT8 "i1"
#define SRS_INT16 "i2"
#define SRS_INT32 "i4"
#define SRS_INT64 "i8"
#define SRS_UINT8 "u1"
#define SRS_UINT16 "u2"
#define SRS_UINT32 "u4"
#define SRS_UINT64 "u8"
#define SRS_FLOAT "f4"
#define SRS_DOUBLE "f8"
#define SRS_COMPLEX "c8"
#define SRS_DOUBLE_COMPLEX "c16"
#define SRS_BOOL "b1"

#define SRS_MOST_DIMENSIONS 32

typedef struct SRS SRS;

/* After MPI_Init. `folder`: where checkpoints are, reached by all ranks; NULL: what GRIDPORTAL_CHECKPOINTS names, else
 * "checkpoints". `every`: seconds between checkpoints that nobody asks for, 0 for none. SIGUSR1 to any rank asks for the
 * stop; a handler of the program from before is called too, and one that is set later takes our place. */
int SRS_Init(MPI_Comm comm, const char *folder, double every, SRS **srs);

/* The same with more of what may be set; fields that are 0 or NULL are as SRS_Init has them:
 *
 *     SRS_Settings settings = {.every_calls = 1000, .depots = "depots.json"};
 *     SRS_InitWith(MPI_COMM_WORLD, "checkpoints", &settings, &srs);
 */
typedef struct {
    double every;        /* seconds between checkpoints that nobody asks for */
    int64_t every_calls; /* calls of SRS_CheckStop between such checkpoints */
    int in_foreground;   /* 1: the program waits for them. 0: they are written in the background, from a copy of the data,
                          * where memory allows; one that falls due meanwhile is left out */
    const char *depots;  /* the file that lets the program use depots; NULL: what GRIDPORTAL_DEPOTS names. Rank 0 reads it */
} SRS_Settings;

int SRS_InitWith(MPI_Comm comm, const char *folder, const SRS_Settings *settings, SRS **srs);

/* Before MPI_Finalize. A program that was not stopped is done: its checkpoints go. `srs` is of no use after that. */
int SRS_Finish(SRS *srs);

/* 0 when the program starts, 1 when it goes on from a checkpoint. Not collective. */
int SRS_RestartValue(const SRS *srs);

/* 1: the checkpoint is written, and the program does its own last actions and ends. Else 0. All ranks get the same
 * answer at the same call; a call is under a microsecond when nobody asks. A checkpoint that cannot be written stops
 * nothing: the program goes on, and not-stopped.json says why. */
int SRS_CheckStop(SRS *srs);

/* Let checkpoints hold `data`, the `count` elements that this rank has of an array of `dimensions` lengths `shape`.
 *
 * `layout`: "block", "cyclic" or "block-cyclic:64" over all ranks, "block:2x3" or "block-cyclic:64x32:2x3" over a grid
 * of ranks, "shares:30,10,0" for pieces of any length, or a layout as JSON, as it is in manifests. "replicated" or NULL:
 * the same on all ranks, as a scalar is; then `dimensions` may be 0. */
int SRS_Register(SRS *srs, const char *name, void *data, int64_t count, const char *type, int dimensions,
                 const int64_t *shape, const char *layout);

/* The same for an array of one dimension whose elements lie in an order of the user's own: `places[i]` is the place of
 * this rank's element i in the whole array. Each place belongs to one rank. */
int SRS_RegisterMap(SRS *srs, const char *name, void *data, int64_t count, const char *type, const int64_t *places);

/* Fill what is registered as `name` from the checkpoint, whatever its layout and number of ranks were. The layouts then
 * and now are compared with what the checkpoint and SRS_Register say; NULL: they are not. */
int SRS_Read(SRS *srs, const char *name, const char *old_layout, const char *new_layout);

/* Write a checkpoint of all that is registered, now. */
int SRS_Checkpoint(SRS *srs);

/* Ask for the stop from inside the program, on any rank. Not collective. */
int SRS_AskStop(SRS *srs);

/* Leave maps.json in the folder: ranks, hosts, and each array's type, shape and layout. */
int SRS_StoreMap(SRS *srs);

/* How many elements this rank has in each dimension. Not collective. */
int SRS_LocalShape(const SRS *srs, const char *layout, int dimensions, const int64_t *shape, int64_t *local);

/* Of dimension `dimension`: the place in the whole array of each of this rank's elements. Not collective. */
int SRS_Places(const SRS *srs, const char *layout, int dimensions, const int64_t *shape, int dimension,
               int64_t *places);

/* Seconds so far: until checkpoints were written, for how much of that the program stood still, and reading. NULL for what
 * is not wanted. Not collective. */
int SRS_Seconds(const SRS *srs, double *writing, double *blocked, double *reading);

/* The sentence of the last call that gave an error code, or why the last checkpoint could not be written. */
const char *SRS_Message(void);

#ifdef __cplusplus
}
#endif
#endif
