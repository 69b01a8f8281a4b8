/* The calls of SRS for C (Migration 2003, sections 4.1 and 5), as stop_restart.py has them for Python. */
#define _POSIX_C_SOURCE 200809L
#include "calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "GRIDPORTAL_CHECKPOINTS"
#define DEPOTS "GRIDPORTAL_DEPOTS"
#define FINISHED "finished"

const char *SRS_Message(void)
{
    return srs_message;
}

static void drop(SRS *srs)
{
    for (int64_t i = 0; i < srs->count; i++) {
        srs_layout_free(&srs->registered[i].array.layout);
        free(srs->registered[i].array.name);
        free(srs->registered[i].array.type);
        free(srs->registered[i].array.shape);
        free(srs->registered[i].copy);
    }
    free(srs->registered);
    srs_checkpoint_free(&srs->checkpoint);
    srs_depots_free(srs->depots);
    free(srs->folder);
    free(srs);
}

/* Rank 0's folder is that of all. */
static int settle_folder(SRS *srs, const char *folder)
{
    const char *named = getenv(FOLDER);
    int empty = folder && !*folder;
    folder = folder && *folder ? folder : named && *named ? named : "checkpoints";
    size_t length = strlen(folder);
    srs->folder = srs->rank ? NULL : strdup(folder);
    int problem = srs->rank || srs->folder ? 0 : srs_no_memory();
    if (!srs->rank && empty)
        problem = srs_refuse("folder", "", "the name of a folder, or NULL for what " FOLDER " names");
    else if (!srs->rank && length > 3000)
        problem = srs_refuse("folder", folder, "a shorter name");
    problem = srs_agreed(srs->comm, problem);
    return problem ? problem : srs_spread(srs->comm, &srs->folder, &length);
}

/* The nodes of all ranks. */
static int meet(SRS *srs, const char *own)
{
    char *all = srs_room((size_t)srs->size, SRS_NODE);
    int problem = srs_agreed(srs->comm, all ? 0 : srs_no_memory());
    if (!problem) {
        MPI_Allgather(own, SRS_NODE, MPI_CHAR, all, SRS_NODE, MPI_CHAR, srs->comm);
        problem = srs_agreed(srs->comm, srs_depots_make(srs->depots, all, srs->rank, srs->size));
    }
    free(all);
    if (!problem && !srs->rank && srs->depots->copies < srs->depots->access.copies)
        fprintf(stderr, "There is no second node: shards are in the depot of %s only.\n", own);
    return problem;
}

/* The depots that the program may use, as rank 0's file has it. */
static int settle_depots(SRS *srs, const char *file)
{
    char *text = NULL, own[SRS_NODE], host[256], port[8];
    size_t length = 0;
    const char *named = getenv(DEPOTS);
    file = file && *file ? file : named && *named ? named : NULL;
    int there = file != NULL;
    MPI_Bcast(&there, 1, MPI_INT, 0, srs->comm);
    if (!there)
        return 0;
    int problem = srs_agreed(srs->comm, srs->rank ? 0 : srs_access_text(file, &text, &length));
    problem = problem ? problem : srs_spread(srs->comm, &text, &length);
    srs->depots = srs_room(1, sizeof *srs->depots);
    if (!problem)
        problem = srs->depots ? srs_access_parse(text, length, &srs->depots->access) : srs_no_memory();
    free(text);
    if (!problem) {
        srs_access_own_node(&srs->depots->access, own);
        problem = srs_access_address(&srs->depots->access, own, host, sizeof host, port);
    }
    problem = srs_agreed(srs->comm, problem);
    return problem ? problem : meet(srs, own);
}

static int check_settings(const SRS_Settings *settings)
{
    if (settings->every < 0 || settings->every != settings->every)
        return srs_fail(SRS_BAD_INPUT, "every is %g; accepted is seconds above 0, or 0 for none.", settings->every);
    if (settings->every_calls < 0)
        return srs_fail(SRS_BAD_INPUT, "every_calls is %" PRId64 "; accepted is a number above 0, or 0 for none.",
                        settings->every_calls);
    return 0;
}

static int begin(SRS *srs, const char *folder, const SRS_Settings *settings)
{
    srs->every_calls = settings->every_calls;
    srs->in_background = !settings->in_foreground;
    int problem = settle_folder(srs, folder);
    problem = problem ? problem : settle_depots(srs, settings->depots);
    problem = problem ? problem : srs_find_newest(srs);
    return problem ? problem : srs_agreed(srs->comm, srs_stop_begin(&srs->stop, srs->comm, srs->folder, settings->every));
}

int SRS_InitWith(MPI_Comm comm, const char *folder, const SRS_Settings *settings, SRS **into)
{
    static const SRS_Settings none;
    SRS *srs = srs_room(1, sizeof *srs);
    *into = NULL;
    settings = settings ? settings : &none;
    int problem = srs_agreed(comm, srs ? check_settings(settings) : srs_no_memory());
    if (problem) {
        free(srs);
        return problem;
    }
    srs->comm = comm;
    MPI_Comm_rank(comm, &srs->rank);
    MPI_Comm_size(comm, &srs->size);
    problem = begin(srs, folder, settings);
    if (problem) {
        srs_sweep_wait(srs);
        drop(srs);
        return problem;
    }
    if (!srs->rank && !srs->restart)
        srs_tell("anew", 0, 0, 0, -1);
    *into = srs;
    return 0;
}

int SRS_Init(MPI_Comm comm, const char *folder, double every, SRS **into)
{
    SRS_Settings settings = {.every = every};
    return SRS_InitWith(comm, folder, &settings, into);
}

static int forget(SRS *srs)
{
    struct srs_traces before;
    srs_sweep_begin(srs, &before);
    int problem = srs_clear(srs->folder);
    srs_sweep_end(srs, &before);
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
        srs_tell("restored", srs->from, srs->reading, srs->read, -1);
}

int SRS_Finish(SRS *srs)
{
    tell_restored(srs);
    srs_stop_end(&srs->stop);
    srs_warn_unwritten(srs, srs_finish_checkpoint(srs));
    srs_count_unwritten(srs);
    int problem = srs->rank || srs->stopped ? 0 : forget(srs);
    problem = srs_agreed(srs->comm, problem);
    srs_sweep_wait(srs);
    MPI_Barrier(srs->comm);
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
    int problem = srs_write_checkpoint(srs);
    srs->stopped = !problem;
    srs_stop_answer(&srs->stop, problem);
    if (srs->stopped && !srs->rank)
        srs_tell("stopped", srs->number, srs->took, srs->written, -1);
    return srs->stopped;
}

int SRS_CheckStop(SRS *srs)
{
    tell_restored(srs);
    struct srs_wish wish = srs_stop_vote(&srs->stop, srs_done, srs);
    int due = srs->every_calls && ++srs->calls % srs->every_calls == 0;
    if (srs->stopped)
        return 1;
    if (srs->pending.there && wish.written >= srs->sequence)
        srs_warn_unwritten(srs, srs_finish_checkpoint(srs));
    if (wish.stop)
        return stop(srs);
    if ((wish.checkpoint || due) && !srs->pending.there)
        srs_warn_unwritten(srs, srs_begin_checkpoint(srs));
    return 0;
}

int SRS_Checkpoint(SRS *srs)
{
    return srs_write_checkpoint(srs);
}

int SRS_Seconds(const SRS *srs, double *writing, double *blocked, double *reading)
{
    if (writing)
        *writing = srs->writing;
    if (blocked)
        *blocked = srs->blocked;
    if (reading)
        *reading = srs->reading;
    return 0;
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
