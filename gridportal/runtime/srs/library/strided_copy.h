/* Copies what one rank takes of the others, piece by piece. Knows neither MPI nor files: Python uses it too. */
#ifndef GRIDPORTAL_STRIDED_COPY_H
#define GRIDPORTAL_STRIDED_COPY_H

#include <stdint.h>

/* Elements of a dimension that part `source` of the old way shares with this rank's part of the new one: `size`
 * consecutive ones, again `inner` times, and all of that again `outer` times; see Overlaps in overlaps.py. */
struct srs_piece {
    int64_t source, source_place, target_place, size;
    int64_t inner, source_inner, target_inner;
    int64_t outer, source_outer, target_outer;
};

/* A dimension: its pieces, how many elements each of the `parts` old parts has (`held`), and this rank (`mine`). */
struct srs_axis {
    int64_t count;
    const struct srs_piece *pieces;
    int64_t parts;
    const int64_t *held;
    int64_t mine;
};

/* Fill `into` from `sources`, the arrays of the old ranks, numbered row by row in the grid of their parts; NULL where
 * nothing is taken. At least one dimension. `mapped`: all sources are maps of files, read only, of which so many bytes
 * may be in memory at once, about; 0 for sources that are none. 0, or -1 for want of memory. */
int srs_strided_copy(int dimensions, const struct srs_axis *axes, const char *const *sources, char *into,
                     int64_t itemsize, int64_t mapped);

#endif
