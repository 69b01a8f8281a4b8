/* Writing a checkpoint, as checkpoint_writing.py: all ranks at once, while the program waits, or in the background from
 * copies of the data.
 *
 * In the background a rank copies its data and goes on; a thread writes the copies, to files or depots, and makes no call
 * of MPI. When all ranks have heard that every thread is done (stop.c) they complete the checkpoint together. */
#define _POSIX_C_SOURCE 200809L
#include "calls.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS 3 /* of struct srs_written, for MPI */

/* Of what is replicated rank 0 writes the only shard. */
static int writes(const SRS *srs, const struct srs_registered *each)
{
    return each->array.layout.dimensions || !srs->rank;
}

static int in_depots(const SRS *srs)
{
    return srs->depots && srs->depots->access.keep != SRS_KEEP_FOLDER;
}

static int in_files(const SRS *srs)
{
    return !srs->depots || srs->depots->access.keep != SRS_KEEP_DEPOTS;
}

int64_t srs_done(const void *writer)
{
    const SRS *srs = writer;
    return srs->sequence - (srs->pending.there && !__atomic_load_n(&srs->pending.done, __ATOMIC_ACQUIRE));
}

/* Beginning. */

/* What all ranks' shards take on the disk, on rank 0. */
static int64_t bytes_in_files(const SRS *srs)
{
    int64_t mine = 0, all = 0;
    for (int64_t place = 0; in_files(srs) && place < srs->count; place++)
        if (writes(srs, srs->registered + place))
            mine += srs_on_disk(srs->registered[place].bytes);
    MPI_Reduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, 0, srs->comm);
    return all;
}

static int make_room(SRS *srs, int64_t number, const char *token, int64_t wanted)
{
    struct srs_traces before;
    srs_sweep_begin(srs, &before);
    int problem = srs_begin(srs->folder, number);
    problem = problem ? problem : srs_make_room(srs->folder, wanted);
    if (!problem && in_depots(srs))
        problem = srs_intend(srs->folder, number, token, srs->depots);
    srs_sweep_end(srs, &before);
    return problem;
}

/* The same token on all ranks. */
static int draw_token(SRS *srs, char token[SRS_TOKEN])
{
    unsigned char bytes[(SRS_TOKEN - 1) / 2];
    int problem = srs_agreed(srs->comm, srs->rank ? 0 : srs_random(bytes, sizeof bytes));
    if (problem)
        return problem;
    if (!srs->rank)
        srs_hex(bytes, sizeof bytes, token);
    MPI_Bcast(token, SRS_TOKEN, MPI_CHAR, 0, srs->comm);
    return 0;
}

static void drop_pending(SRS *srs)
{
    free(srs->pending.arrays);
    free(srs->pending.written);
    memset(&srs->pending, 0, sizeof srs->pending);
}

static int note_arrays(SRS *srs)
{
    struct srs_pending *pending = &srs->pending;
    pending->count = srs->count;
    pending->arrays = srs_room((size_t)srs->count, sizeof *pending->arrays);
    pending->written = srs_room((size_t)srs->count, sizeof *pending->written);
    if (!pending->arrays || !pending->written)
        return srs_no_memory();
    if (srs->count)
        memcpy(pending->arrays, srs->registered, sizeof *pending->arrays * (size_t)srs->count);
    return 0;
}

static int begin(SRS *srs)
{
    struct srs_pending *pending = &srs->pending;
    memset(pending, 0, sizeof *pending);
    pending->began = srs_now();
    pending->number = srs->number + 1;
    int problem = draw_token(srs, pending->token);
    problem = problem ? problem : srs_agreed(srs->comm, note_arrays(srs));
    if (!problem) {
        int64_t wanted = bytes_in_files(srs);
        problem = srs_agreed(srs->comm, srs->rank ? 0 : make_room(srs, pending->number, pending->token, wanted));
    }
    if (problem) {
        if (!srs->rank)
            srs_abandon(srs->folder, pending->number);
        drop_pending(srs);
        return problem;
    }
    pending->there = 1;
    srs->sequence++;
    return 0;
}

/* This rank's shards. */

static int write_shard(const SRS *srs, int64_t place)
{
    const struct srs_pending *pending = &srs->pending;
    const struct srs_registered *each = pending->arrays + place;
    struct srs_written *done = pending->written + place;
    int problem = 0;
    if (in_files(srs))
        problem = srs_write_shard(srs->folder, pending->number, place, srs->rank, each->data, each->bytes, done);
    if (problem || !in_depots(srs))
        return problem;
    problem = srs_put_shard(srs->depots, pending->token, place, each->data, each->bytes, done);
    if (!problem || !in_files(srs))
        return problem;
    fprintf(stderr, "A shard of rank %d is a file only: %s\n", srs->rank, srs_message);
    return 0;
}

/* Called from a thread in the background: no MPI. */
static void *write_shards(void *context)
{
    SRS *srs = context;
    struct srs_pending *pending = &srs->pending;
    for (int64_t place = 0; !pending->problem && place < pending->count; place++)
        if (writes(srs, pending->arrays + place))
            pending->problem = write_shard(srs, place);
    if (pending->problem)
        srs_copy_text(pending->message, sizeof pending->message, srs_message);
    __atomic_store_n(&pending->done, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* A file that grows beyond a limit is an error, and no end of the program. Threads of ours hear no signals. */
static void write_here(SRS *srs)
{
    struct sigaction before, ignored;
    memset(&ignored, 0, sizeof ignored);
    ignored.sa_handler = SIG_IGN;
    sigemptyset(&ignored.sa_mask);
    int spared = !sigaction(SIGXFSZ, &ignored, &before);
    write_shards(srs);
    if (spared)
        sigaction(SIGXFSZ, &before, NULL);
}

/* Completing. */

static int write_manifest(SRS *srs, const struct srs_written *all)
{
    const struct srs_pending *pending = &srs->pending;
    struct srs_traces before;
    struct srs_array *arrays = srs_room((size_t)pending->count, sizeof *arrays);
    if (!arrays)
        return srs_no_memory();
    srs->written = 0;
    for (int64_t place = 0; place < pending->count; place++)
        arrays[place] = pending->arrays[place].array;
    for (int64_t i = 0; i < pending->count * srs->size; i++)
        srs->written += all[i].bytes;
    struct srs_manifest manifest = {.number = pending->number, .ranks = srs->size, .count = pending->count,
                                    .token = in_depots(srs) ? pending->token : "", .written_at = srs_unix_time(),
                                    .arrays = arrays, .written = all, .depots = srs->depots};
    srs_sweep_begin(srs, &before);
    int problem = srs_complete(srs->folder, &manifest);
    srs_sweep_end(srs, &before);
    free(arrays);
    return problem;
}

static int gather(SRS *srs)
{
    const struct srs_pending *pending = &srs->pending;
    size_t ranks = srs->rank ? 0 : (size_t)srs->size;
    int words = WORDS * (int)pending->count;
    struct srs_written *all = srs_room(ranks * (size_t)pending->count, sizeof *all);
    int problem = srs_agreed(srs->comm, all ? 0 : srs_no_memory());
    if (!problem) {
        MPI_Gather(pending->written, words, MPI_INT64_T, all, words, MPI_INT64_T, 0, srs->comm);
        problem = srs_agreed(srs->comm, srs->rank ? 0 : write_manifest(srs, all));
    }
    free(all);
    return problem;
}

static void abandon(SRS *srs)
{
    struct srs_traces before;
    srs_sweep_begin(srs, &before);
    srs_abandon(srs->folder, srs->pending.number);
    srs_sweep_end(srs, &before);
}

static int complete(SRS *srs)
{
    struct srs_pending *pending = &srs->pending;
    if (pending->threaded)
        pthread_join(pending->thread, NULL);
    if (pending->problem)
        srs_copy_text(srs_message, sizeof srs_message, pending->message);
    int problem = srs_agreed(srs->comm, pending->problem);
    problem = problem ? problem : gather(srs);
    if (problem && !srs->rank)
        abandon(srs);
    srs->number += !problem;
    return problem;
}

/* A checkpoint that nobody asked for and that cannot be written costs nothing but itself. */
void srs_warn_unwritten(SRS *srs, int problem)
{
    if (problem && !srs->rank && !srs->unwritten++)
        fprintf(stderr, "A checkpoint was not written: %s\n", srs_message);
}

void srs_count_unwritten(SRS *srs)
{
    if (srs->unwritten > 1)
        fprintf(stderr, "%lld checkpoints in a row were not written.\n", (long long)srs->unwritten);
    srs->unwritten = 0;
}

/* What it took, and a word to the portal. `went_on`: seconds of these in which the program went on. */
static void account(SRS *srs, double began, double went_on, int problem)
{
    srs->took = srs_now() - began;
    srs->writing += srs->took;
    srs->blocked += srs->took - went_on;
    srs_stop_written(&srs->stop, srs->took);
    srs->stop.busy = 0;
    if (problem)
        return;
    srs_count_unwritten(srs);
    if (!srs->rank)
        srs_tell("checkpoint", srs->number, srs->took - went_on, srs->written, srs->took);
}

int srs_finish_checkpoint(SRS *srs)
{
    struct srs_pending *pending = &srs->pending;
    if (!pending->there)
        return 0;
    double began = pending->began, went_on = pending->threaded ? srs_now() - pending->left : 0;
    int problem = complete(srs);
    drop_pending(srs);
    account(srs, began, went_on, problem);
    return problem;
}

int srs_write_checkpoint(SRS *srs)
{
    double began = srs_now();
    if (srs->pending.there)
        srs_warn_unwritten(srs, srs_finish_checkpoint(srs));
    int problem = begin(srs);
    if (problem) {
        account(srs, began, 0, problem);
        return problem;
    }
    write_here(srs);
    return srs_finish_checkpoint(srs);
}

/* In the background. */

static int copy_arrays(SRS *srs)
{
    struct srs_pending *pending = &srs->pending;
    for (int64_t place = 0; place < pending->count; place++) {
        struct srs_registered *each = srs->registered + place;
        if (!writes(srs, each) || !each->bytes)
            continue;
        if (!each->copy && !(each->copy = malloc((size_t)each->bytes)))
            return srs_no_memory();
        memcpy(each->copy, each->data, (size_t)each->bytes);
        pending->arrays[place].data = each->copy;
    }
    return 0;
}

/* From the data themselves, where there is no room for copies after all. */
static void copy_nothing(SRS *srs)
{
    for (int64_t place = 0; place < srs->pending.count; place++)
        srs->pending.arrays[place].data = srs->registered[place].data;
}

int srs_begin_checkpoint(SRS *srs)
{
    struct srs_pending *pending = &srs->pending;
    if (!srs->in_background || !srs_has_memory(srs))
        return srs_write_checkpoint(srs);
    double began = srs_now();
    srs_stop_begun(&srs->stop);
    int problem = begin(srs);
    if (problem) {
        account(srs, began, 0, problem);
        return problem;
    }
    if (srs_agreed(srs->comm, copy_arrays(srs))) {
        copy_nothing(srs);
        write_here(srs);
        return srs_finish_checkpoint(srs);
    }
    srs->stop.busy = 1;
    pending->threaded = !srs_start_thread(&pending->thread, write_shards, srs);
    if (!pending->threaded)
        write_here(srs);
    pending->left = srs_now();
    return 0;
}
