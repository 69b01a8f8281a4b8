/* Room on the disk for one more checkpoint, as checkpoint_room.py: where there is none while two are kept, the older one
 * goes first. The newest one that can be used stays until the next one is complete. */
#define _POSIX_C_SOURCE 200809L
#include "checkpoint.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

enum { BLOCK = 4096, ENTRY = 256, FOLDER = 8192 };

int64_t srs_on_disk(int64_t bytes)
{
    return (bytes + BLOCK - 1) / BLOCK * BLOCK + ENTRY;
}

static int free_bytes(const char *folder, int64_t *bytes)
{
    struct statvfs disk;
    if (statvfs(folder, &disk))
        return srs_fail(SRS_BAD_FILES, "%s: %s.", folder, strerror(errno));
    *bytes = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
    return 0;
}

/* Bytes that the files of a folder give back. */
static int64_t size_of(const char *folder)
{
    int64_t bytes = 0;
    char path[SRS_PATH];
    struct stat seen;
    DIR *every = opendir(folder);
    for (struct dirent *entry; every && (entry = readdir(every));)
        if (!srs_join(path, sizeof path, folder, entry->d_name) && !lstat(path, &seen) && S_ISREG(seen.st_mode))
            bytes += (int64_t)seen.st_blocks * 512;
    if (every)
        closedir(every);
    return bytes;
}

static int is_usable(const char *folder, int64_t number)
{
    char *text = NULL;
    size_t length = 0;
    struct srs_checkpoint checkpoint = {0};
    int problem = srs_manifest_text(folder, number, &text, &length);
    problem = problem ? problem : srs_manifest_parse(folder, number, text, length, &checkpoint);
    free(text);
    if (problem)
        return 0;
    problem = srs_check_lengths(&checkpoint);
    srs_checkpoint_free(&checkpoint);
    return !problem;
}

/* The place of the newest one that can be used; `count` where none can be. */
static int64_t newest_usable(const char *folder, const int64_t *numbers, int64_t count)
{
    int64_t place = 0;
    while (place < count && !is_usable(folder, numbers[place]))
        place++;
    return place;
}

static int too_small(const char *folder, int64_t there, int64_t wanted, int older)
{
    return srs_fail(SRS_BAD_FILES, "%s has %" PRId64 " bytes free, and a checkpoint needs %" PRId64 "%s.", folder, there,
                    wanted, older ? " even without the older one" : "");
}

/* The oldest first, but never the one at `kept`. */
static int drop(const char *folder, const int64_t *numbers, int64_t count, int64_t kept, int64_t wanted)
{
    char path[SRS_PATH];
    int64_t there = 0;
    int problem = srs_remove_aside(folder);
    problem = problem ? problem : free_bytes(folder, &there);
    for (int64_t i = count - 1; !problem && i >= 0 && there < wanted; i--) {
        if (i == kept)
            continue;
        problem = srs_checkpoint_path(path, folder, numbers[i], "");
        problem = problem ? problem : srs_remove_tree(path);
        problem = problem ? problem : free_bytes(folder, &there);
    }
    return problem;
}

static int64_t size_of_older(const char *folder, const int64_t *numbers, int64_t count, int64_t kept)
{
    char path[SRS_PATH], **names = NULL;
    size_t all = 0;
    int64_t bytes = 0;
    for (int64_t i = 0; i < count; i++)
        if (i != kept && !srs_checkpoint_path(path, folder, numbers[i], ""))
            bytes += size_of(path);
    if (srs_names(folder, SRS_PREFIX, &names, &all))
        return bytes;
    for (size_t i = 0; i < all; i++)
        if (strstr(names[i], SRS_BAD) && !srs_join(path, sizeof path, folder, names[i]))
            bytes += size_of(path);
    srs_names_free(names, all);
    return bytes;
}

int srs_make_room(const char *folder, int64_t wanted)
{
    int64_t there = 0, *numbers = NULL, count = 0;
    wanted += FOLDER;
    int problem = free_bytes(folder, &there);
    if (problem || there >= wanted)
        return problem;
    problem = srs_numbers(folder, &numbers, &count);
    if (!problem) {
        int64_t kept = newest_usable(folder, numbers, count);
        int64_t older = kept < count ? size_of_older(folder, numbers, count, kept) : 0;
        problem = there + older < wanted ? too_small(folder, there, wanted, older > 0)
                                         : drop(folder, numbers, count, kept, wanted);
    }
    free(numbers);
    return problem;
}
