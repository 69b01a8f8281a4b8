/* Copies runs of bytes that lie apart by the same step. */
#include "copy_plan.h"

#include <string.h>

static void copy_long_runs(struct writer *writer, char *into, int64_t into_step, const char *from, int64_t from_step,
                           int64_t bytes, int64_t times)
{
    int64_t ahead = AHEAD / bytes + 1;
    for (int64_t i = 0; i < times; i++) {
        if (i + ahead < times)
            ask_for(from + (i + ahead) * from_step, bytes);
        srs_write_past(writer, into + i * into_step, from + i * from_step, bytes);
    }
}

/* `times` items of a size that the compiler knows. */
#define COPY_ITEMS(bytes)                                                                                             \
    for (int64_t i = 0; i < times; i++)                                                                               \
        memcpy(into + i * into_step, from + i * from_step, bytes);                                                    \
    break

static void copy_items(char *into, int64_t into_step, const char *from, int64_t from_step, int64_t bytes, int64_t times)
{
    switch (bytes) {
    case 1: COPY_ITEMS(1);
    case 2: COPY_ITEMS(2);
    case 4: COPY_ITEMS(4);
    case 8: COPY_ITEMS(8);
    case 16: COPY_ITEMS(16);
    case 32: COPY_ITEMS(32);
    case 64: COPY_ITEMS(64);
    default: COPY_ITEMS((size_t)bytes);
    }
}

void srs_copy_runs(struct writer *writer, char *into, int64_t into_step, const char *from, int64_t from_step,
                   int64_t bytes, int64_t times)
{
    if (into_step == bytes && from_step == bytes) {
        bytes *= times;
        times = 1;
    }
    if (writer && bytes > 2 * CACHE_LINE)
        copy_long_runs(writer, into, into_step, from, from_step, bytes, times);
    else
        copy_items(into, into_step, from, from_step, bytes, times);
}
