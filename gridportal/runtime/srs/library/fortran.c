/* The calls of gridportal_srs.f90: communicators as Fortran's integers, shapes and layouts in Fortran's order. */
#include "calls.h"

#include <string.h>

int srs_f_init(const int *comm, const char *folder, const double *every, const int64_t *every_calls,
               const int *in_foreground, const char *depots, SRS **srs)
{
    SRS_Settings settings = {*every, *every_calls, *in_foreground, depots};
    return SRS_InitWith(MPI_Comm_f2c((MPI_Fint)*comm), *folder ? folder : NULL, &settings, srs);
}

int srs_f_register(SRS *srs, const char *name, void *data, const int64_t *count, const char *type,
                   const int *dimensions, const int64_t *shape, const char *layout)
{
    return srs_register(srs, name, data, *count, type, *dimensions, shape, *layout ? layout : NULL, 1);
}

int srs_f_read(SRS *srs, const char *name, const char *old_layout, const char *new_layout)
{
    return srs_read(srs, name, *old_layout ? old_layout : NULL, *new_layout ? new_layout : NULL, 1);
}

int srs_f_local_shape(const SRS *srs, const char *layout, const int *dimensions, const int64_t *shape, int64_t *local)
{
    return srs_local_shape(srs, layout, *dimensions, shape, local, 1);
}

/* Places and dimensions from 1 on. */
int srs_f_places(const SRS *srs, const char *layout, const int *dimensions, const int64_t *shape, const int *dimension,
                 const int64_t *count, int64_t *places)
{
    int64_t local[SRS_MOST_DIMENSIONS];
    int problem = srs_local_shape(srs, layout, *dimensions, shape, local, 1);
    if (!problem && *dimension >= 1 && *dimension <= *dimensions && local[*dimension - 1] != *count)
        problem = srs_fail(SRS_BAD_INPUT, "places has %lld elements; accepted is %lld, as many as this rank has.",
                           (long long)*count, (long long)local[*dimension - 1]);
    problem = problem ? problem : srs_places(srs, layout, *dimensions, shape, *dimension - 1, places, 1);
    for (int64_t i = 0; !problem && i < *count; i++)
        places[i]++;
    return problem;
}

void srs_f_message(char *into, const int64_t *size)
{
    size_t length = strlen(srs_message);
    memset(into, ' ', (size_t)*size);
    memcpy(into, srs_message, length < (size_t)*size ? length : (size_t)*size);
}

void srs_f_seconds(const SRS *srs, double *writing, double *blocked, double *reading)
{
    SRS_Seconds(srs, writing, blocked, reading);
}
