/* What the calls of C and of Fortran share. */
#ifndef GRIDPORTAL_SRS_CALLS_H
#define GRIDPORTAL_SRS_CALLS_H

#include "agreement.h"
#include "gridportal_srs.h"

struct srs_registered {
    struct srs_array array; /* name, type, shape and layout */
    void *data;
    int64_t bytes;
};

struct SRS {
    MPI_Comm comm; /* the program's */
    int rank, size, restart, stopped;
    char *folder;
    int64_t number, from; /* of the last checkpoint, and of the one that the program goes on from */
    struct srs_checkpoint checkpoint;
    struct srs_registered *registered; /* by name */
    int64_t count;
    struct srs_stop stop;
    int told;                  /* whether the portal knows that all is read */
    int64_t written, read;     /* bytes of the last checkpoint, and those that were read */
    double reading;            /* seconds */
};

/* `turned`: shape and layout have the first dimension first that Fortran has, which is the last one in C. */
int srs_register(SRS *srs, const char *name, void *data, int64_t count, const char *type, int dimensions,
                 const int64_t *shape, const char *layout, int turned);
int srs_read(SRS *srs, const char *name, const char *old_layout, const char *new_layout, int turned);
int srs_local_shape(const SRS *srs, const char *layout, int dimensions, const int64_t *shape, int64_t *local,
                    int turned);
int srs_places(const SRS *srs, const char *layout, int dimensions, const int64_t *shape, int dimension,
               int64_t *places, int turned);

#endif
