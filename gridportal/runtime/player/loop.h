/* One unit of work, for the player and for the recording library, which calibrates it where a program was traced. */
#ifndef GRIDPORTAL_LOOP_H
#define GRIDPORTAL_LOOP_H

#include <stddef.h>

#define UNIT 16384 /* doubles of each of two arrays: they fit a second-level cache */

static void add(double *sum, const double *step, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum[i] += step[i];
}

#endif
