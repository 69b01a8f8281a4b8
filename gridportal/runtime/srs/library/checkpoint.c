/* The folder that holds checkpoints: each is complete or absent, and the last two are kept. */
#define _POSIX_C_SOURCE 200809L
#include "checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEPT 2
#define MANIFEST "manifest.json"

/* The number of a complete checkpoint's name, -1 for others. */
static int64_t number_of(const char *name)
{
    const char *digits = name + strlen(SRS_PREFIX);
    size_t length = strlen(digits);
    return length && length < 18 && strspn(digits, "0123456789") == length ? strtoll(digits, NULL, 10) : -1;
}

static int newest_first(const void *one, const void *other)
{
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return a > b ? -1 : a < b;
}

int srs_numbers(const char *folder, int64_t **numbers, int64_t *count)
{
    char **names;
    size_t all;
    *numbers = NULL;
    *count = 0;
    int problem = srs_names(folder, SRS_PREFIX, &names, &all);
    if (problem)
        return problem;
    *numbers = srs_room(all, sizeof **numbers);
    for (size_t i = 0; *numbers && i < all; i++)
        if (number_of(names[i]) >= 0)
            (*numbers)[(*count)++] = number_of(names[i]);
    srs_names_free(names, all);
    if (!*numbers)
        return srs_no_memory();
    qsort(*numbers, (size_t)*count, sizeof **numbers, newest_first);
    return 0;
}

/* Those in the folder whose name has this ending. */
static int remove_ending(const char *folder, const char *ending)
{
    char **names, path[SRS_PATH];
    size_t count;
    int problem = srs_names(folder, SRS_PREFIX, &names, &count);
    for (size_t i = 0; !problem && i < count; i++) {
        size_t length = strlen(names[i]), end = strlen(ending);
        if (length < end || strcmp(names[i] + length - end, ending))
            continue;
        problem = srs_join(path, sizeof path, folder, names[i]);
        problem = problem ? problem : srs_remove_tree(path);
    }
    srs_names_free(names, count);
    return problem;
}

int srs_clear(const char *folder)
{
    return remove_ending(folder, "");
}

int srs_remove_aside(const char *folder)
{
    return remove_ending(folder, SRS_BAD);
}

int srs_begin(const char *folder, int64_t number)
{
    char path[SRS_PATH];
    int problem = srs_make_folders(folder);
    problem = problem ? problem : remove_ending(folder, SRS_PART);
    problem = problem ? problem : srs_checkpoint_path(path, folder, number, SRS_PART);
    return problem ? problem : srs_make_folders(path);
}

void srs_abandon(const char *folder, int64_t number)
{
    char path[SRS_PATH], kept[SRS_SENTENCE];
    srs_copy_text(kept, sizeof kept, srs_message); /* why the checkpoint failed stays the message */
    if (!srs_checkpoint_path(path, folder, number, SRS_PART))
        srs_remove_tree(path);
    srs_copy_text(srs_message, sizeof srs_message, kept);
}

int srs_set_aside(const char *folder, int64_t number)
{
    char path[SRS_PATH], bad[SRS_PATH];
    if (srs_checkpoint_path(path, folder, number, "") || srs_checkpoint_path(bad, folder, number, SRS_BAD))
        return SRS_BAD_FILES;
    return rename(path, bad) ? srs_fail(SRS_BAD_FILES, "%s: %s.", path, strerror(errno)) : 0;
}

static int remove_old(const char *folder)
{
    int64_t *numbers, count;
    char path[SRS_PATH];
    int problem = srs_numbers(folder, &numbers, &count);
    for (int64_t i = KEPT; !problem && i < count; i++) {
        problem = srs_checkpoint_path(path, folder, numbers[i], "");
        problem = problem ? problem : srs_remove_tree(path);
    }
    free(numbers);
    return problem ? problem : srs_remove_aside(folder);
}

/* Another program in the same folder has come to its end: this one, which has written a checkpoint since, has not. */
static int not_finished(const char *folder)
{
    char finished[SRS_PATH];
    int problem = srs_join(finished, sizeof finished, folder, "finished");
    if (problem || !remove(finished) || errno == ENOENT)
        return problem;
    return srs_fail(SRS_BAD_FILES, "%s: %s.", finished, strerror(errno));
}

static int write_manifest(const char *part, const struct srs_manifest *manifest)
{
    struct srs_text text = {0};
    srs_manifest_dump(manifest, &text);
    int problem = text.failed ? srs_no_memory() : srs_write_file(part, MANIFEST, text.at, text.length, 1);
    srs_drop(&text);
    return problem;
}

int srs_complete(const char *folder, const struct srs_manifest *manifest)
{
    char part[SRS_PATH], path[SRS_PATH];
    if (srs_checkpoint_path(part, folder, manifest->number, SRS_PART) ||
        srs_checkpoint_path(path, folder, manifest->number, ""))
        return SRS_BAD_FILES;
    int problem = write_manifest(part, manifest);
    problem = problem ? problem : srs_sync_folder(part);
    if (!problem && rename(part, path))
        problem = srs_fail(SRS_BAD_FILES, "%s: %s.", path, strerror(errno));
    problem = problem ? problem : not_finished(folder);
    problem = problem ? problem : srs_sync_folder(folder);
    return problem ? problem : remove_old(folder);
}
