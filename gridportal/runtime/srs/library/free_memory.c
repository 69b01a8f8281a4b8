/* How much memory this process may still take, as free_memory.py: what the machine has free, and what its control groups
 * leave of that. */
#define _POSIX_C_SOURCE 200809L
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS "/sys/fs/cgroup"

/* The number in a file, -1 for none. */
static int64_t number_in(const char *folder, const char *name)
{
    char path[SRS_PATH], word[32] = "", *end;
    FILE *file = srs_join(path, sizeof path, folder, name) ? NULL : fopen(path, "re");
    if (!file)
        return -1;
    int got = fgets(word, sizeof word, file) != NULL;
    fclose(file);
    int64_t number = strtoll(word, &end, 10);
    return got && end != word ? number : -1;
}

/* The sum of what a file of names and numbers says of those names that begin with `prefix` and end with `ending`. */
static int64_t sum_in(const char *path, const char *prefix, const char *ending, int64_t none)
{
    char line[256], name[128];
    int64_t number, sum = none;
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%127[^: ]%*[: ]%" SCNd64, name, &number) != 2 || strncmp(name, prefix, strlen(prefix)))
            continue;
        size_t length = strlen(name), end = strlen(ending);
        if (length >= end && !strcmp(name + length - end, ending))
            sum = (sum == none ? 0 : sum) + number;
    }
    if (file)
        fclose(file);
    return sum;
}

/* What a group uses for files in memory, which the kernel takes back when it is short. */
static int64_t of_files(const char *folder)
{
    char path[SRS_PATH];
    if (srs_join(path, sizeof path, folder, "memory.stat"))
        return 0;
    int64_t inactive = sum_in(path, "total_inactive_file", "_file", -1);
    if (inactive >= 0)
        return inactive + sum_in(path, "total_active_file", "_file", 0);
    return sum_in(path, "inactive_file", "_file", 0) + sum_in(path, "active_file", "_file", 0);
}

static int64_t of_group(const char *folder, int64_t least)
{
    static const char *const files[2][2] = {{"memory.max", "memory.current"},
                                            {"memory.limit_in_bytes", "memory.usage_in_bytes"}};
    for (int i = 0; i < 2; i++) {
        int64_t limit = number_in(folder, files[i][0]), used = number_in(folder, files[i][1]);
        if (limit < 0 || used < 0)
            continue;
        int64_t left = limit - used + of_files(folder);
        least = left < least ? left : least;
    }
    return least;
}

/* Of a line of /proc/self/cgroup: the group itself and each above it. */
static int64_t of_line(char *line, int64_t least)
{
    char folder[SRS_PATH];
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
        return least;
    *path++ = 0;
    controllers++;
    path[strcspn(path, "\n")] = 0;
    if (*controllers && strcmp(controllers, "memory") && !strstr(controllers, "memory,") &&
        !strstr(controllers, ",memory"))
        return least;
    size_t root = strlen(*controllers ? GROUPS "/memory" : GROUPS);
    if (snprintf(folder, sizeof folder, "%s%s", *controllers ? GROUPS "/memory" : GROUPS, path) >= (int)sizeof folder)
        return least;
    while (strlen(folder) >= root) {
        least = of_group(folder, least);
        char *last = strrchr(folder, '/');
        if (!last)
            break;
        *last = 0;
    }
    return least;
}

int64_t srs_free_memory(void)
{
    char line[SRS_PATH];
    int64_t least = 1024 * sum_in("/proc/meminfo", "MemAvailable", "MemAvailable", 0);
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file))
        least = of_line(line, least);
    if (file)
        fclose(file);
    srs_message[0] = 0; /* what is not there is no error */
    return least > 0 ? least : 0;
}
