/* The calls of SRS for C (Migration 2003, sections 4.1 and 5), as stop_restart.py has them for Python. */
#define _POSIX_C_SOURCE 200809L
#include "calls.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOLDER "GRIDPORTAL_CHECKPOINTS"
#define FINISHED "finished"

const char *SRS_Message(void)
{
    return srs_message;
}

/* A program that had come to its end starts from the beginning. */
static int start_again(const SRS *srs)
{
    char path[4096];
    int problem = srs_join(path, sizeof path, srs->folder, FINISHED);
    if (problem || access(path, F_OK))
        return problem;
    problem = srs_clear(srs->folder);
    return problem || !unlink(path) ? problem : srs_fail(SRS_BAD_FILES, "%s: %s.", path, strerror(errno));
}

/* The manifest of a checkpoint, read by rank 0 and parsed by all; its shards, compared by all. */
static int open_checkpoint(SRS *srs, int64_t number)
{
    char *text = NULL;
    size_t length = 0;
    int problem = srs->rank ? 0 : srs_manifest_text(srs->folder, number, &text, &length);
    problem = srs_agreed(srs->comm, problem);
    problem = problem ? problem : srs_spread(srs->comm, &text, &length);
    if (!problem)
        problem = srs_manifest_parse(srs->folder, number, text, length, &srs->checkpoint);
    free(text);
    if (!problem && !srs->rank)
        problem = srs_check_lengths(&srs->checkpoint);
    problem = srs_agreed(srs->comm, problem);
    problem = problem ? problem : srs_agreed(srs->comm, srs_verify(&srs->checkpoint, srs->rank, srs->size));
    if (problem)
        srs_checkpoint_free(&srs->checkpoint);
    return problem;
}

static int pass_over(const SRS *srs, int64_t number)
{
    if (!srs->rank)
        fprintf(stderr, "Checkpoint %lld cannot be used: %s\n", (long long)number, srs_message);
    return srs_agreed(srs->comm, srs->rank ? 0 : srs_set_aside(srs->folder, number));
}

/* The newest checkpoint that is whole; the program starts where there is none. */
static int find_newest(SRS *srs)
{
    int64_t *numbers = NULL, count = 0;
    int problem = srs->rank ? 0 : start_again(srs);
    if (!srs->rank && !problem)
        problem = srs_numbers(srs->folder, &numbers, &count);
    problem = srs_agreed(srs->comm, problem);
    MPI_Bcast(&count, 1, MPI_INT64_T, 0, srs->comm);
    for (int64_t i = 0; !problem && !srs->restart && i < count; i++) {
        int64_t number = srs->rank ? 0 : numbers[i];
        MPI_Bcast(&number, 1, MPI_INT64_T, 0, srs->comm);
        problem = open_checkpoint(srs, number);
        srs->restart = !problem;
        srs->number = srs->from = srs->restart ? number : 0;
        if (problem == SRS_BAD_FILES || problem == SRS_BAD_INPUT)
            problem = pass_over(srs, number);
    }
    free(numbers);
    return problem;
}

static void drop(SRS *srs)
{
    for (int64_t i = 0; i < srs->count; i++) {
        srs_layout_free(&srs->registered[i].array.layout);
        free(srs->registered[i].array.name);
        free(srs->registered[i].array.type);
        free(srs->registered[i].array.shape);
    }
    free(srs->registered);
    srs_checkpoint_free(&srs->checkpoint);
    free(srs->folder);
    free(srs);
}

/* Rank 0's folder is that of all. */
static int settle_folder(SRS *srs, const char *folder)
{
    const char *named = getenv(FOLDER);
    folder = folder && *folder ? folder : named && *named ? named : "checkpoints";
    size_t length = strlen(folder);
    srs->folder = srs->rank ? NULL : strdup(folder);
    int problem = srs->rank || srs->folder ? 0 : srs_no_memory();
    if (!srs->rank && length > 3000)
        problem = srs_refuse("folder", folder, "a shorter name");
    problem = srs_agreed(srs->comm, problem);
    return problem ? problem : srs_spread(srs->comm, &srs->folder, &length);
}

int SRS_Init(MPI_Comm comm, const char *folder, double every, SRS **into)
{
    SRS *srs = srs_room(1, sizeof *srs);
    *into = NULL;
    int problem = !srs ? srs_no_memory()
                : every < 0 || every != every ? srs_fail(SRS_BAD_INPUT, "every is %g; accepted is seconds above 0, or 0 "
                                                         "for none.", every)
                                              : 0;
    if ((problem = srs_agreed(comm, problem))) {
        free(srs);
        return problem;
    }
    srs->comm = comm;
    MPI_Comm_rank(comm, &srs->rank);
    MPI_Comm_size(comm, &srs->size);
    problem = settle_folder(srs, folder);
    problem = problem ? problem : find_newest(srs);
    problem = problem ? problem : srs_agreed(comm, srs_stop_begin(&srs->stop, comm, srs->folder, every));
    if (problem) {
        drop(srs);
        return problem;
    }
    *into = srs;
    return 0;
}

static int forget(const SRS *srs)
{
    int problem = srs_clear(srs->folder);
    problem = problem ? problem : srs_make_folders(srs->folder);
    return problem ? problem : srs_write_file(srs->folder, FINISHED, "", 0, 0);
}

/* Once, when all is read that the program goes on with. */
static void tell_restored(SRS *srs)
{
    if (srs->told || !srs->read)
        return;
    srs->told = 1;
    if (!srs->rank)
        srs_tell("restored", srs->from, srs->reading, srs->read);
}

int SRS_Finish(SRS *srs)
{
    tell_restored(srs);
    srs_stop_end(&srs->stop);
    int problem = srs->rank || srs->stopped ? 0 : forget(srs);
    problem = srs_agreed(srs->comm, problem);
    drop(srs);
    return problem;
}

int SRS_RestartValue(const SRS *srs)
{
    return srs->restart;
}

int SRS_AskStop(SRS *srs)
{
    srs->stop.asked = 1;
    return 0;
}

static int stop(SRS *srs)
{
    int problem = SRS_Checkpoint(srs);
    srs->stopped = !problem;
    srs_stop_answer(&srs->stop, problem);
    if (srs->stopped && !srs->rank)
        srs_tell("stopped", srs->number, srs->stop.took, srs->written);
    return srs->stopped;
}

int SRS_CheckStop(SRS *srs)
{
    tell_restored(srs);
    struct srs_wish wish = srs_stop_vote(&srs->stop);
    if ((!wish.stop && !wish.checkpoint) || srs->stopped)
        return srs->stopped;
    if (wish.stop)
        return stop(srs);
    if (SRS_Checkpoint(srs) && !srs->rank)
        fprintf(stderr, "A checkpoint was not written: %s\n", srs_message);
    return 0;
}

/* Of what is replicated rank 0 writes the only shard. */
static int write_shards(const SRS *srs, int64_t number, struct srs_checksum *done)
{
    int problem = 0;
    for (int64_t place = 0; !problem && place < srs->count; place++) {
        const struct srs_registered *each = srs->registered + place;
        if (each->array.layout.dimensions || !srs->rank)
            problem = srs_write_shard(srs->folder, number, (int)place, srs->rank, each->data, each->bytes, done + place);
    }
    return problem;
}

static int complete(SRS *srs, int64_t number, const struct srs_checksum *done)
{
    struct srs_array *arrays = srs_room((size_t)srs->count, sizeof *arrays);
    if (!arrays)
        return srs_no_memory();
    for (int64_t place = 0; place < srs->count; place++)
        arrays[place] = srs->registered[place].array;
    srs->written = 0;
    for (int64_t i = 0; i < srs->count * srs->size; i++)
        srs->written += done[i].bytes;
    int problem = srs_complete(srs->folder, number, srs->size, srs_unix_time(), arrays, srs->count, done);
    free(arrays);
    return problem;
}

static int write_checkpoint(SRS *srs, int64_t number)
{
    size_t ranks = srs->rank ? 0 : (size_t)srs->size, each = 2 * (size_t)srs->count;
    struct srs_checksum *mine = srs_room((size_t)srs->count, sizeof *mine);
    struct srs_checksum *all = srs_room(ranks * (size_t)srs->count, sizeof *all);
    int problem = mine && all ? 0 : srs_no_memory();
    if (!problem && !srs->rank)
        problem = srs_begin(srs->folder, number);
    problem = srs_agreed(srs->comm, problem);
    problem = problem ? problem : srs_agreed(srs->comm, write_shards(srs, number, mine));
    if (!problem) {
        MPI_Gather(mine, (int)each, MPI_INT64_T, all, (int)each, MPI_INT64_T, 0, srs->comm);
        problem = srs_agreed(srs->comm, srs->rank ? 0 : complete(srs, number, all));
    }
    if (problem && !srs->rank)
        srs_abandon(srs->folder, number);
    free(mine);
    free(all);
    return problem;
}

int SRS_Checkpoint(SRS *srs)
{
    double began = srs_now();
    struct sigaction before, ignored;
    memset(&ignored, 0, sizeof ignored);
    ignored.sa_handler = SIG_IGN; /* a file that grows beyond a limit is an error, and no end of the program */
    sigemptyset(&ignored.sa_mask);
    int spared = !sigaction(SIGXFSZ, &ignored, &before);
    int problem = write_checkpoint(srs, srs->number + 1);
    if (spared)
        sigaction(SIGXFSZ, &before, NULL);
    srs->number += !problem;
    srs_stop_written(&srs->stop, srs_now() - began);
    if (!problem && !srs->rank)
        srs_tell("checkpoint", srs->number, srs->stop.took, srs->written);
    return problem;
}

static int write_map(const SRS *srs, const char *hosts)
{
    struct srs_text text = {0};
    srs_add(&text, "{\"ranks\": %d, \"hosts\": [", srs->size);
    for (int rank = 0; rank < srs->size; rank++) {
        srs_add(&text, "%s", rank ? ", " : "");
        srs_add_quoted(&text, hosts + (size_t)rank * MPI_MAX_PROCESSOR_NAME);
    }
    srs_add(&text, "], \"arrays\": {");
    for (int64_t i = 0; i < srs->count; i++) {
        srs_add(&text, "%s", i ? ", " : "");
        srs_add_quoted(&text, srs->registered[i].array.name);
        srs_add(&text, ": {");
        srs_array_dump(&srs->registered[i].array, &text);
        srs_add(&text, "}");
    }
    srs_add(&text, "}}");
    int problem = text.failed ? srs_no_memory() : srs_make_folders(srs->folder);
    problem = problem ? problem : srs_write_file(srs->folder, "maps.json", text.at, text.length, 0);
    srs_drop(&text);
    return problem;
}

int SRS_StoreMap(SRS *srs)
{
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    int length;
    MPI_Get_processor_name(host, &length);
    char *hosts = srs_room(srs->rank ? 0 : (size_t)srs->size, MPI_MAX_PROCESSOR_NAME);
    int problem = srs_agreed(srs->comm, hosts ? 0 : srs_no_memory());
    if (!problem) {
        MPI_Gather(host, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, hosts, MPI_MAX_PROCESSOR_NAME, MPI_CHAR, 0, srs->comm);
        problem = srs_agreed(srs->comm, srs->rank ? 0 : write_map(srs, hosts));
    }
    free(hosts);
    return problem;
}

int SRS_Register(SRS *srs, const char *name, void *data, int64_t count, const char *type, int dimensions,
                 const int64_t *shape, const char *layout)
{
    return srs_register(srs, name, data, count, type, dimensions, shape, layout, 0);
}

int SRS_Read(SRS *srs, const char *name, const char *old_layout, const char *new_layout)
{
    return srs_read(srs, name, old_layout, new_layout, 0);
}

int SRS_LocalShape(const SRS *srs, const char *layout, int dimensions, const int64_t *shape, int64_t *local)
{
    return srs_local_shape(srs, layout, dimensions, shape, local, 0);
}

int SRS_Places(const SRS *srs, const char *layout, int dimensions, const int64_t *shape, int dimension,
               int64_t *places)
{
    return srs_places(srs, layout, dimensions, shape, dimension, places, 0);
}
