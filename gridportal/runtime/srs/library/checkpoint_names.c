/* Names of the folders of checkpoints and of the files of shards. */
#include "checkpoint.h"

#include <inttypes.h>
#include <stdio.h>

int srs_checkpoint_path(char *into, const char *folder, int64_t number, const char *ending)
{
    char name[64];
    snprintf(name, sizeof name, SRS_PREFIX "%08" PRId64 "%s", number, ending);
    return srs_join(into, SRS_PATH, folder, name);
}

int srs_shard_name(char *into, size_t size, int64_t place, int64_t rank)
{
    return snprintf(into, size, "%" PRId64 "-%" PRId64 ".raw", place, rank);
}
