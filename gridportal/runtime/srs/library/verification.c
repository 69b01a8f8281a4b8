/* Whether what a checkpoint holds is still what was written: of each shard all copies, files and depots. */
#include "depots.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A depot that does not answer is waited for only once. */
struct silent {
    const char *node;
    char *why;
};
struct check {
    struct srs_checkpoint *checkpoint;
    int64_t count;
    struct silent *silent;
};

int srs_copies(const struct srs_shard *shard)
{
    return shard->depots + (shard->file != NULL);
}

const char *srs_copy_node(const struct srs_shard *shard, int copy)
{
    return copy < shard->depots ? shard->depot[copy] : NULL;
}

static const char *silence_of(const struct check *check, const char *node)
{
    for (int64_t i = 0; i < check->count; i++)
        if (!strcmp(check->silent[i].node, node))
            return check->silent[i].why;
    return NULL;
}

static void note_silence(struct check *check, const char *node)
{
    struct silent *more = realloc(check->silent, sizeof *more * (size_t)(check->count + 1));
    if (!more)
        return;
    check->silent = more;
    more[check->count] = (struct silent){node, srs_room(SRS_SENTENCE, 1)};
    if (more[check->count].why)
        srs_copy_text(more[check->count++].why, SRS_SENTENCE, srs_message);
}

static int check_depot(struct check *check, const struct srs_array *array, int64_t rank, const char *node)
{
    char name[64], about[SRS_SENTENCE / 2];
    uint32_t checksum;
    const struct srs_checkpoint *checkpoint = check->checkpoint;
    const char *silence = silence_of(check, node);
    snprintf(about, sizeof about, "What rank %" PRId64 " held of %.200s in checkpoint %" PRId64, rank, array->name,
             checkpoint->number);
    if (!checkpoint->depots)
        return srs_fail(SRS_SILENT, "What rank %" PRId64 " held of %.200s is in the depot of %s; GRIDPORTAL_DEPOTS must "
                        "name the file that lets this program use depots.", rank, array->name, node);
    if (silence)
        return srs_fail(SRS_SILENT, "%s is not to be had: %s", about, silence);
    srs_depot_name(name, checkpoint->token, array - checkpoint->array, rank);
    int problem = srs_depot_check(checkpoint->depots, node, name, array->shard[rank].bytes, &checksum);
    if (problem == SRS_SILENT)
        note_silence(check, node);
    if (problem)
        return srs_fail((enum srs_code)problem, "%s is not to be had: %s", about, srs_message);
    if (checksum != array->shard[rank].checksum)
        return srs_fail(SRS_BAD_FILES, "%s was changed in the depot of %s since it was written.", about, node);
    return 0;
}

static int check_copy(struct check *check, const struct srs_array *array, int64_t rank, int copy)
{
    const char *node = srs_copy_node(array->shard + rank, copy);
    int problem = node ? check_depot(check, array, rank, node) : srs_verify_file(check->checkpoint, array, rank);
    if (problem)
        array->shard[rank].bad |= UINT64_C(1) << copy;
    return problem;
}

/* All copies of a shard; the first problem where none is right. */
static int check_shard(struct check *check, const struct srs_array *array, int64_t rank)
{
    char first[SRS_SENTENCE] = "";
    const struct srs_shard *shard = array->shard + rank;
    struct srs_text problems = {0};
    int code = SRS_BAD_FILES, wrong = 0, copies = srs_copies(shard);
    for (int copy = 0; copy < copies; copy++) {
        int problem = check_copy(check, array, rank, copy);
        if (!problem)
            continue;
        if (!wrong++)
            srs_copy_text(first, sizeof first, srs_message);
        code = problem == SRS_BAD_FILES ? code : problem;
        srs_add(&problems, "%s Another copy is used.\n", srs_message);
    }
    if (wrong && wrong < copies)
        fputs(problems.at ? problems.at : "", stderr);
    srs_drop(&problems);
    return wrong == copies ? srs_fail((enum srs_code)code, "%s", first) : 0;
}

int srs_verify(struct srs_checkpoint *checkpoint, int64_t part, int64_t parts)
{
    struct check check = {.checkpoint = checkpoint};
    int64_t place = 0;
    int problem = 0;
    for (int64_t i = 0; i < checkpoint->arrays; i++)
        for (int64_t rank = 0; !problem && rank < checkpoint->array[i].shards; rank++, place++)
            if (place % parts == part)
                problem = check_shard(&check, checkpoint->array + i, rank);
    while (check.count)
        free(check.silent[--check.count].why);
    free(check.silent);
    return problem;
}
