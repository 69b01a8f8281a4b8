/* When checkpoints are taken away, depots let go of what they have of them. A thread asks them, for nobody waits. */
#include "calls.h"

#include <stdlib.h>

struct srs_sweep {
    const struct srs_depots *depots;
    struct srs_traces before, after;
    pthread_t thread;
    int threaded;
};

static void *sweep(void *context)
{
    struct srs_sweep *sweep = context;
    srs_let_go(sweep->depots, &sweep->before, &sweep->after);
    return NULL;
}

void srs_sweep_wait(SRS *srs)
{
    struct srs_sweep *sweep = srs->sweep;
    if (!sweep)
        return;
    if (sweep->threaded)
        pthread_join(sweep->thread, NULL);
    srs_traces_free(&sweep->before);
    srs_traces_free(&sweep->after);
    free(sweep);
    srs->sweep = NULL;
}

void srs_sweep_begin(SRS *srs, struct srs_traces *before)
{
    *before = (struct srs_traces){0};
    if (srs->depots)
        srs_traces_read(srs->folder, before);
}

void srs_sweep_end(SRS *srs, struct srs_traces *before)
{
    if (!before->count)
        return;
    char kept[SRS_SENTENCE];
    srs_copy_text(kept, sizeof kept, srs_message); /* why a checkpoint failed stays the message */
    srs_sweep_wait(srs);
    struct srs_sweep *next = srs_room(1, sizeof *next);
    if (!next) {
        srs_traces_free(before);
        return;
    }
    next->depots = srs->depots;
    next->before = *before;
    *before = (struct srs_traces){0};
    srs_traces_read(srs->folder, &next->after);
    next->threaded = !srs_start_thread(&next->thread, sweep, next);
    if (!next->threaded)
        sweep(next);
    srs->sweep = next;
    srs_copy_text(srs_message, sizeof srs_message, kept);
}
