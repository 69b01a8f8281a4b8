/* Sources that are maps of files: what was read of them is let go of, so that it takes no memory of the program. */
#define _DEFAULT_SOURCE
#include "copy_plan.h"

#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

/* Let go of what is in memory of old rank `rank`: it is a map of a file, and comes back from there. */
static void forget(const struct copy *copy, int64_t rank)
{
#ifdef __linux__
    int64_t bytes = copy->itemsize, page = sysconf(_SC_PAGESIZE);
    const char *begin = copy->sources[rank];
    for (int d = copy->dimensions - 1; d >= 0; rank /= copy->axes[d--].parts)
        bytes *= copy->axes[d].held[rank % copy->axes[d].parts];
    if (begin && (uintptr_t)begin % (uintptr_t)page == 0)
        madvise((void *)(uintptr_t)begin, (size_t)bytes, MADV_DONTNEED);
#else
    (void)copy, (void)rank;
#endif
}

/* With the pages around them, where they are not beside what was touched before. */
void srs_touch(struct copy *copy, const char *begin, int64_t bytes)
{
    int64_t gap = (int64_t)((intptr_t)begin - (intptr_t)copy->last), ranks = 1;
    copy->touched += bytes + (gap < 0 || gap > PAGE ? PAGE : gap);
    copy->last = begin + bytes;
    if (copy->touched < copy->mapped)
        return;
    copy->touched = 0;
    for (int d = 0; d < copy->dimensions; d++)
        ranks *= copy->axes[d].parts;
    for (int64_t rank = 0; rank < ranks; rank++)
        forget(copy, rank);
}
