/* What the calls share with how ranks agree. */
#ifndef GRIDPORTAL_SRS_AGREEMENT_H
#define GRIDPORTAL_SRS_AGREEMENT_H

#include "internal.h"

#include <mpi.h>

/* stop.c: from where a rank hears that the program is to stop, and how all learn it at the same call. */
struct srs_stop {
    MPI_Comm comm;
    const char *folder;
    double every, looked, written, took, began;
    int rank, asked, seen, unmovable, handles;
    int64_t calls, before, due, stretch;
    MPI_Request vote;
    int busy;                       /* whether a checkpoint is being written in the background: no other one falls due */
    double mine[4], all[4];
};

/* What a rank has heard, or all have together. `written`: how many checkpoints it, or all, have done with; -1 where that
 * was not asked. */
struct srs_wish {
    int stop, checkpoint;
    int64_t written;
};

int srs_stop_begin(struct srs_stop *stop, MPI_Comm comm, const char *folder, double every);
struct srs_wish srs_stop_vote(struct srs_stop *stop, int64_t (*done)(const void *), const void *writer);
void srs_stop_begun(struct srs_stop *stop); /* one was begun just now: the next is due by the clock only after it */
void srs_stop_written(struct srs_stop *stop, double took);
void srs_stop_answer(struct srs_stop *stop, int problem);
void srs_stop_end(struct srs_stop *stop);

/* agreement.c: the first error code of all ranks, with its sentence; on every rank the same. Collective. */
int srs_agreed(MPI_Comm comm, int problem);
/* Rank 0's text on every rank; to be freed. 0, or an error code. Collective. */
int srs_spread(MPI_Comm comm, char **text, size_t *length);

/* progress.c: let the portal know of a checkpoint. `total`: seconds until it was complete, below 0 where that is not
 * to be said. */
void srs_tell(const char *event, int64_t number, double seconds, int64_t bytes, double total);

double srs_now(void);       /* seconds of a clock that only goes on */
double srs_unix_time(void); /* seconds since 1970 */

#endif
