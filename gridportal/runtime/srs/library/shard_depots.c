/* Shards in the depots of a job: where they are put, and what becomes of those that are there; shard_depots.py in C. */
#define _POSIX_C_SOURCE 200809L
#include "depots.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_TARGETS 2

void srs_depot_name(char into[64], const char *token, int64_t place, int64_t rank)
{
    snprintf(into, 64, "%s-%" PRId64 "-%" PRId64, token, place, rank);
}

/* Putting: as many copies as there are to be, at once. */

struct putting {
    const struct srs_depots *depots;
    const char *name;
    const void *data;
    int64_t bytes;
    int problem[MOST_TARGETS];
    uint32_t checksum[MOST_TARGETS];
    char message[MOST_TARGETS][SRS_SENTENCE];
};

static int put_copy(void *context, int64_t copy)
{
    struct putting *putting = context;
    const char *node = srs_depots_target(putting->depots, putting->depots->rank, (int)copy);
    putting->problem[copy] =
        srs_depot_put(putting->depots, node, putting->name, putting->data, putting->bytes, putting->checksum + copy);
    if (putting->problem[copy])
        srs_copy_text(putting->message[copy], SRS_SENTENCE, srs_message);
    return 0; /* the other copy may do */
}

static int note_copies(const struct putting *putting, struct srs_written *done)
{
    int copies = putting->depots->copies, kept = 0;
    for (int copy = 0; copy < copies; copy++) {
        if (putting->problem[copy])
            continue;
        kept++;
        done->where |= UINT64_C(1) << (1 + copy);
        done->checksum = putting->checksum[copy];
    }
    if (!kept)
        return srs_fail(SRS_BAD_FILES, "%s", putting->message[0]);
    for (int copy = 0; copy < copies; copy++)
        if (putting->problem[copy])
            fprintf(stderr, "A shard of rank %" PRId64 " is in one depot only: %s\n", putting->depots->rank,
                    putting->message[copy]);
    return 0;
}

int srs_put_shard(const struct srs_depots *depots, const char *token, int64_t place, const void *data, int64_t bytes,
                  struct srs_written *done)
{
    char name[64];
    struct putting *putting = srs_room(1, sizeof *putting);
    if (!putting)
        return srs_no_memory();
    srs_depot_name(name, token, place, depots->rank);
    putting->depots = depots;
    putting->name = name;
    putting->data = data;
    putting->bytes = done->bytes = bytes;
    int problem = srs_at_once(depots->copies, depots->copies, put_copy, putting);
    problem = problem ? problem : note_copies(putting, done);
    free(putting);
    return problem;
}

/* What is in depots. */

/* Whether copies of some rank's shards are to be on a node. */
static int is_target(const struct srs_depots *depots, const char *node)
{
    for (int64_t rank = 0; rank < depots->ranks; rank++)
        for (int copy = 0; copy < depots->copies; copy++)
            if (srs_depots_target(depots, rank, copy) == node)
                return 1;
    return 0;
}

int srs_intend(const char *folder, int64_t number, const char *token, const struct srs_depots *depots)
{
    char part[SRS_PATH];
    const char *comma = "";
    struct srs_text text = {0};
    srs_add(&text, "{\"token\": \"%s\", \"depots\": [", token);
    for (int64_t i = 0; i < depots->count; i++) {
        if (!is_target(depots, depots->node[i]))
            continue;
        srs_add(&text, "%s", comma);
        srs_add_quoted(&text, depots->node[i]);
        comma = ", ";
    }
    srs_add(&text, "]}");
    int problem = text.failed ? srs_no_memory() : srs_checkpoint_path(part, folder, number, SRS_PART);
    problem = problem ? problem : srs_write_file(part, SRS_INTENT, text.at, text.length, 1);
    srs_drop(&text);
    return problem;
}

static const struct srs_json *token_of(const struct srs_json *document)
{
    const struct srs_json *token = srs_json_entry(document, "token");
    return token && token->kind == SRS_TEXT && strlen(token->as.text) < SRS_TOKEN ? token : NULL;
}

/* What one folder says; nothing where its writer died in a power cut: the portal frees all of the job in the end. */
static void read_trace(const char *folder, const char *name, struct srs_traces *into)
{
    char path[SRS_PATH], file[SRS_PATH], *text = NULL;
    size_t length;
    struct srs_json document;
    if (srs_join(path, sizeof path, folder, name) || srs_join(file, sizeof file, path, SRS_INTENT) ||
        srs_read_file(file, &text, &length))
        return;
    int problem = srs_json_read(text, length, &document);
    free(text);
    if (problem)
        return;
    struct srs_json *more = token_of(&document)
                                ? realloc(into->documents, sizeof *more * (size_t)(into->count + 1)) : NULL;
    if (!more) {
        srs_json_free(&document);
        return;
    }
    into->documents = more;
    more[into->count++] = document;
}

void srs_traces_read(const char *folder, struct srs_traces *into)
{
    char **names, kept[SRS_SENTENCE];
    size_t count;
    memset(into, 0, sizeof *into);
    srs_copy_text(kept, sizeof kept, srs_message);
    if (!srs_names(folder, SRS_PREFIX, &names, &count)) {
        for (size_t i = 0; i < count; i++)
            read_trace(folder, names[i], into);
        srs_names_free(names, count);
    }
    srs_copy_text(srs_message, sizeof srs_message, kept); /* what is not there is no error */
}

void srs_traces_free(struct srs_traces *traces)
{
    while (traces->count)
        srs_json_free(traces->documents + --traces->count);
    free(traces->documents);
    memset(traces, 0, sizeof *traces);
}

static int is_there(const struct srs_traces *traces, const char *token)
{
    for (int64_t i = 0; i < traces->count; i++)
        if (!strcmp(token_of(traces->documents + i)->as.text, token))
            return 1;
    return 0;
}

/* A depot that does not answer keeps them until the job is over. */
static void let_go(const struct srs_depots *depots, const struct srs_json *document)
{
    const struct srs_json *nodes = srs_json_entry(document, "depots");
    const char *token = token_of(document)->as.text;
    for (int64_t i = 0; nodes && nodes->kind == SRS_LIST && i < nodes->count; i++)
        if (nodes->as.items[i].kind == SRS_TEXT && srs_depot_drop(depots, nodes->as.items[i].as.text, token))
            fprintf(stderr, "Old shards stay where they are: %s\n", srs_message);
}

void srs_let_go(const struct srs_depots *depots, const struct srs_traces *before, const struct srs_traces *after)
{
    for (int64_t i = 0; i < before->count; i++)
        if (!is_there(after, token_of(before->documents + i)->as.text))
            let_go(depots, before->documents + i);
}
