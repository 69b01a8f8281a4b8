/* One unit of work, for the player and for the recording library, which calibrates it where a program was traced.
 *
 * Additions of which each waits for the one before. So a cpu second holds as many beside a process that shares the
 * processor core as without, and what a program's cpu seconds lost there is not lost twice. */
#ifndef GRIDPORTAL_LOOP_H
#define GRIDPORTAL_LOOP_H

#include <stddef.h>

#define UNIT 2048 /* additions */

static double chain(double sum, size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum += 1e-9;
    return sum;
}

#endif
