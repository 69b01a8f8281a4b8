/* Files and folders, each whole or not there. */
#define _POSIX_C_SOURCE 200809L
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int failed(const char *path)
{
    return srs_fail(SRS_BAD_FILES, "%s: %s.", path, strerror(errno));
}

int srs_join(char *into, size_t size, const char *folder, const char *name)
{
    if (snprintf(into, size, "%s/%s", folder, name) < (int)size)
        return 0;
    errno = ENAMETOOLONG;
    return failed(folder);
}

int srs_make_folders(const char *path)
{
    char part[4096];
    srs_copy_text(part, sizeof part, path);
    for (char *at = part + 1; *at; at++) {
        if (*at != '/')
            continue;
        *at = 0;
        if (mkdir(part, 0777) && errno != EEXIST)
            return failed(part);
        *at = '/';
    }
    return mkdir(part, 0777) && errno != EEXIST ? failed(part) : 0;
}

static int remove_in(int folder, const char *name, int depth);

/* What is in an open folder; closes it. */
static int remove_inside(int folder, int depth)
{
    DIR *every = fdopendir(folder);
    if (!every) {
        close(folder);
        return -1;
    }
    int problem = 0;
    for (struct dirent *entry; !problem && (entry = readdir(every));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            problem = remove_in(dirfd(every), entry->d_name, depth + 1);
    int error = errno;
    closedir(every);
    errno = error;
    return problem;
}

/* Never through a link. */
static int remove_in(int folder, const char *name, int depth)
{
    struct stat seen;
    if (fstatat(folder, name, &seen, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? 0 : -1;
    if (!S_ISDIR(seen.st_mode))
        return unlinkat(folder, name, 0);
    int inside = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inside < 0 || depth > 64) {
        if (inside >= 0)
            close(inside);
        return -1;
    }
    return remove_inside(inside, depth) ? -1 : unlinkat(folder, name, AT_REMOVEDIR);
}

int srs_remove_tree(const char *path)
{
    return remove_in(AT_FDCWD, path, 0) ? failed(path) : 0;
}

static int read_open(int file, const char *path, char **text, size_t *length)
{
    struct stat seen;
    if (fstat(file, &seen))
        return failed(path);
    if (!S_ISREG(seen.st_mode) || seen.st_size > SRS_MOST_FILE)
        return srs_fail(SRS_BAD_FILES, "%s is no plain file of at most %d MiB.", path, SRS_MOST_FILE >> 20);
    *length = 0;
    *text = malloc((size_t)seen.st_size + 1);
    if (!*text)
        return srs_no_memory();
    while (*length < (size_t)seen.st_size) {
        ssize_t got = read(file, *text + *length, (size_t)seen.st_size - *length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            free(*text);
            *text = NULL;
            return failed(path);
        }
        if (!got)
            break;
        *length += (size_t)got;
    }
    (*text)[*length] = 0;
    return 0;
}

int srs_read_file(const char *path, char **text, size_t *length)
{
    *text = NULL;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not hold us */
    if (file < 0)
        return failed(path);
    int problem = read_open(file, path, text, length);
    close(file);
    return problem;
}

int srs_write_all(int file, const char *at, size_t length)
{
    while (length) {
        ssize_t done = write(file, at, length);
        if (done < 0 && errno != EINTR)
            return -1;
        if (done > 0) {
            at += done;
            length -= (size_t)done;
        }
    }
    return 0;
}

/* A new file with a name of its own. Who may read it the umask decides, or the access list that the folder gives to new
 * files: a mode that is set later would take that back. */
static int open_aside(char *part, size_t size, const char *folder)
{
    static unsigned count;
    int file = -1;
    errno = EEXIST;
    for (int again = 0; again < 100 && file < 0 && errno == EEXIST; again++) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        int length = snprintf(part, size, "%s/.srs-%ld-%ld-%u", folder, (long)getpid(), now.tv_nsec, count++);
        if (length >= (int)size) {
            errno = ENAMETOOLONG;
            return -1;
        }
        file = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    }
    return file;
}

int srs_write_file(const char *folder, const char *name, const char *text, size_t length, int synced)
{
    char part[4096], path[4096];
    if (srs_join(path, sizeof path, folder, name))
        return SRS_BAD_FILES;
    int file = open_aside(part, sizeof part, folder);
    if (file < 0)
        return failed(path);
    int problem = srs_write_all(file, text, length) || (synced && fsync(file));
    int error = errno;
    if (close(file) && !problem) {
        problem = 1;
        error = errno;
    }
    if (!problem && rename(part, path)) {
        problem = 1;
        error = errno;
    }
    if (!problem)
        return 0;
    unlink(part);
    errno = error;
    return failed(path);
}

int srs_sync_folder(const char *path)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return failed(path);
    int problem = fsync(folder) ? failed(path) : 0;
    close(folder);
    return problem;
}

void srs_names_free(char **names, size_t count)
{
    while (count)
        free(names[--count]);
    free(names);
}

static int add_name(char ***names, size_t *count, const char *name)
{
    char **more = realloc(*names, sizeof *more * (*count + 1));
    if (!more)
        return srs_no_memory();
    *names = more;
    more[*count] = malloc(strlen(name) + 1);
    if (!more[*count])
        return srs_no_memory();
    strcpy(more[(*count)++], name);
    return 0;
}

int srs_names(const char *folder, const char *prefix, char ***names, size_t *count)
{
    *names = NULL;
    *count = 0;
    DIR *every = opendir(folder);
    if (!every)
        return errno == ENOENT ? 0 : failed(folder);
    int problem = 0;
    for (struct dirent *entry; !problem && (entry = readdir(every));)
        if (!strncmp(entry->d_name, prefix, strlen(prefix)))
            problem = add_name(names, count, entry->d_name);
    closedir(every);
    if (problem) {
        srs_names_free(*names, *count);
        *names = NULL;
        *count = 0;
    }
    return problem;
}

/* CRC-32 as zlib has it, eight bytes at a time. */
static uint32_t table[8][256];
static pthread_once_t table_made = PTHREAD_ONCE_INIT;

static void make_table(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t rest = byte;
        for (int bit = 0; bit < 8; bit++)
            rest = rest & 1 ? rest >> 1 ^ UINT32_C(0xEDB88320) : rest >> 1;
        table[0][byte] = rest;
    }
    for (int behind = 1; behind < 8; behind++)
        for (uint32_t byte = 0; byte < 256; byte++)
            table[behind][byte] = table[behind - 1][byte] >> 8 ^ table[0][table[behind - 1][byte] & 255];
}

uint32_t srs_crc32(uint32_t checksum, const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    pthread_once(&table_made, make_table);
    checksum = ~checksum;
    for (; length >= 8; length -= 8, at += 8) {
        uint32_t low = checksum ^ (at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
        checksum = table[7][low & 255] ^ table[6][low >> 8 & 255] ^ table[5][low >> 16 & 255] ^ table[4][low >> 24] ^
                   table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^ table[0][at[7]];
    }
    while (length--)
        checksum = checksum >> 8 ^ table[0][(checksum ^ *at++) & 255];
    return ~checksum;
}
