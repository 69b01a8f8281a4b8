/* Shards that are files in the folder of their checkpoint. */
#define _POSIX_C_SOURCE 200809L
#include "checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK ((size_t)8 << 20)

static int file_failed(const char *path)
{
    return srs_fail(SRS_BAD_FILES, "%s: %s.", path, strerror(errno));
}

static int check_length(const struct srs_checkpoint *checkpoint, const struct srs_array *array, int64_t rank)
{
    char path[SRS_PATH];
    struct stat seen;
    const struct srs_shard *shard = array->shard + rank;
    if (srs_join(path, sizeof path, checkpoint->folder, shard->file))
        return SRS_BAD_FILES;
    if (stat(path, &seen))
        return srs_fail(SRS_BAD_FILES, "%s, what rank %" PRId64 " held of %s, is missing.", path, rank, array->name);
    if (seen.st_size != shard->bytes || !S_ISREG(seen.st_mode))
        return srs_fail(SRS_BAD_FILES, "%s has %lld bytes; %" PRId64 " were written of %s.", path,
                        (long long)seen.st_size, shard->bytes, array->name);
    return 0;
}

int srs_check_lengths(const struct srs_checkpoint *checkpoint)
{
    for (int64_t i = 0; i < checkpoint->arrays; i++)
        for (int64_t rank = 0; rank < checkpoint->array[i].shards; rank++)
            if (!checkpoint->array[i].shard[rank].depots && check_length(checkpoint, checkpoint->array + i, rank))
                return SRS_BAD_FILES;
    return 0;
}

static int checksum_of(const char *path, char *chunk, uint32_t *checksum)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return srs_fail(SRS_BAD_FILES, "%s cannot be read: %s.", path, strerror(errno));
    ssize_t got;
    *checksum = 0;
    while ((got = read(file, chunk, CHUNK)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            *checksum = srs_crc32(*checksum, chunk, (size_t)got);
    int problem = got < 0 ? srs_fail(SRS_BAD_FILES, "%s cannot be read: %s.", path, strerror(errno)) : 0;
    close(file);
    return problem;
}

int srs_verify_file(const struct srs_checkpoint *checkpoint, const struct srs_array *array, int64_t rank)
{
    char path[SRS_PATH], *chunk;
    uint32_t checksum = 0;
    int problem = check_length(checkpoint, array, rank);
    if (problem || (problem = srs_join(path, sizeof path, checkpoint->folder, array->shard[rank].file)))
        return problem;
    if (!(chunk = malloc(CHUNK)))
        return srs_no_memory();
    problem = checksum_of(path, chunk, &checksum);
    free(chunk);
    if (problem || checksum == array->shard[rank].checksum)
        return problem;
    return srs_fail(SRS_BAD_FILES, "%s, what rank %" PRId64 " held of %s, was changed since it was written.", path, rank,
                    array->name);
}

int srs_map_shard(const struct srs_checkpoint *checkpoint, const struct srs_shard *shard, void **at)
{
    char path[SRS_PATH];
    struct stat seen;
    if (srs_join(path, sizeof path, checkpoint->folder, shard->file))
        return SRS_BAD_FILES;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return file_failed(path);
    int whole = !fstat(file, &seen) && seen.st_size == shard->bytes, problem = 0;
    *at = whole ? mmap(NULL, (size_t)shard->bytes, PROT_READ, MAP_SHARED, file, 0) : MAP_FAILED;
    if (*at == MAP_FAILED && whole)
        problem = file_failed(path);
    else if (*at == MAP_FAILED)
        problem = srs_fail(SRS_BAD_FILES, "%s has not the %" PRId64 " bytes that were written.", path, shard->bytes);
    close(file);
    return problem;
}

static int write_open(int file, const char *data, struct srs_written *done)
{
    uint32_t checksum = 0;
    for (size_t at = 0, length = (size_t)done->bytes, size; at < length; at += size) {
        size = length - at < CHUNK ? length - at : CHUNK;
        checksum = srs_crc32(checksum, data + at, size);
        if (srs_write_all(file, data + at, size))
            return -1;
    }
    done->checksum = checksum;
    return fsync(file);
}

int srs_write_shard(const char *folder, int64_t number, int64_t place, int64_t rank, const void *data, int64_t bytes,
                    struct srs_written *done)
{
    char part[SRS_PATH], path[SRS_PATH], name[64];
    srs_shard_name(name, sizeof name, place, rank);
    if (srs_checkpoint_path(part, folder, number, SRS_PART) || srs_join(path, sizeof path, part, name))
        return SRS_BAD_FILES;
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file < 0)
        return file_failed(path);
    done->bytes = bytes;
    int problem = write_open(file, data, done) ? file_failed(path) : 0;
    if (close(file) && !problem)
        problem = file_failed(path);
    done->where |= !problem;
    return problem;
}

