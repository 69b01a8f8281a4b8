/* What a job's runs must know to reach depots: a small file that only its owner reads, as depot_access.py has it; and
 * which depots the ranks of a program write to. */
#define _DEFAULT_SOURCE
#include "depots.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/xattr.h>
#endif

#define FILE_FIELD "GRIDPORTAL_DEPOTS"
#define VERSION 1
#define MOST_COPIES 2

/* Whether the bits of the group are those of its access list, by which a portal shares the file with one person. */
static int has_access_list(const char *file)
{
#ifdef __linux__
    char list[1024];
    return getxattr(file, "system.posix_acl_access", list, sizeof list) > 0;
#else
    (void)file;
    return 0;
#endif
}

int srs_access_text(const char *file, char **text, size_t *length)
{
    struct stat seen;
    int problem = srs_read_file(file, text, length);
    if (problem)
        return srs_fail(SRS_BAD_INPUT, "%s is '%.200s'; accepted is a file that can be read: %.300s", FILE_FIELD, file,
                        srs_message);
    if (stat(file, &seen) || seen.st_mode & 0007 || (seen.st_mode & 0070 && !has_access_list(file)))
        return srs_refuse(FILE_FIELD, file, "a file that only its owner may read (chmod 600)");
    return 0;
}

/* Letters, digits, - and _, the first a letter or a digit. */
static int is_job(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    return *name && *name != '_' && *name != '-' && strlen(name) <= 64 && strspn(name, letters) == strlen(name);
}

static const char *text_of(const struct srs_json *document, const char *name)
{
    const struct srs_json *entry = srs_json_entry(document, name);
    return entry && entry->kind == SRS_TEXT ? entry->as.text : "";
}

static int has_addresses(const struct srs_json *addresses)
{
    if (!addresses || (addresses->kind != SRS_TEXT && addresses->kind != SRS_OBJECT))
        return 0;
    if (addresses->kind == SRS_TEXT)
        return *addresses->as.text != 0;
    for (int64_t i = 0; i < addresses->count; i++)
        if (addresses->as.items[i].kind != SRS_TEXT ||
            (i % 2 == 0 && strlen(addresses->as.items[i].as.text) >= SRS_NODE))
            return 0;
    return addresses->count > 0;
}

static int parse_keep(const char *word, enum srs_keep *into)
{
    static const char *const words[] = {"depots", "both", "folder"};
    for (int i = 0; i < 3; i++)
        if (!strcmp(word, words[i])) {
            *into = (enum srs_keep)i;
            return 0;
        }
    return srs_refuse("depots.keep", word, "depots, both, folder");
}

/* Never repeats the key. */
static int parse_access(struct srs_access *into)
{
    const struct srs_json *version = srs_json_entry(&into->document, "version");
    const struct srs_json *copies = srs_json_entry(&into->document, "copies");
    const char *job = text_of(&into->document, "job");
    if (!version || version->kind != SRS_WHOLE || version->as.whole != VERSION)
        return srs_refuse("depots", "a document", "an object of version 1");
    if (!is_job(job))
        return srs_refuse("depots.job", job, "letters, digits, - and _, at most 64");
    srs_copy_text(into->job, sizeof into->job, job);
    if (!copies || copies->kind != SRS_WHOLE || copies->as.whole < 1 || copies->as.whole > MOST_COPIES)
        return srs_refuse("depots.copies", "another number", "1 or 2");
    into->copies = (int)copies->as.whole;
    if (!srs_unhex(text_of(&into->document, "key"), into->key, sizeof into->key))
        return srs_refuse("depots.key", "...", "64 hexadecimal digits");
    if (!has_addresses(srs_json_entry(&into->document, "depots")))
        return srs_refuse("depots.depots", "another value", "HOST:PORT by node, or one text with {node} in it");
    return parse_keep(text_of(&into->document, "keep"), &into->keep);
}

int srs_access_parse(const char *text, size_t length, struct srs_access *into)
{
    memset(into, 0, sizeof *into);
    if (srs_json_read(text, length, &into->document))
        return srs_fail(SRS_BAD_INPUT, "%s: %.500s", FILE_FIELD, srs_message);
    int problem = parse_access(into);
    if (problem)
        srs_access_free(into);
    return problem;
}

void srs_access_free(struct srs_access *access)
{
    srs_json_free(&access->document);
    memset(access, 0, sizeof *access);
}

static const struct srs_json *addresses_of(const struct srs_access *access)
{
    return srs_json_entry(&access->document, "depots");
}

/* The text for a node: its own, or the one of all with its name in it. */
static int address_text(const struct srs_access *access, const char *node, struct srs_text *into)
{
    static const char place[] = "{node}";
    const struct srs_json *addresses = addresses_of(access), *entry = srs_json_entry(addresses, node);
    const char *at = addresses->kind == SRS_TEXT ? addresses->as.text : entry ? entry->as.text : "", *next;
    for (; (next = addresses->kind == SRS_TEXT ? strstr(at, place) : NULL); at = next + strlen(place))
        srs_add(into, "%.*s%s", (int)(next - at), at, node);
    srs_add(into, "%s", at);
    return into->failed ? srs_no_memory() : 0;
}

/* HOST:PORT, [HOST]:PORT. */
static int split_address(char *text, char *host, size_t size, char port[8])
{
    char *colon = strrchr(text, ':');
    size_t digits = colon ? strlen(colon + 1) : 0;
    if (!colon || colon == text || !digits || digits > 5 || strspn(colon + 1, "0123456789") != digits)
        return 0;
    long number = strtol(colon + 1, NULL, 10);
    srs_copy_text(port, 8, colon + 1);
    *colon = 0;
    text += *text == '[';
    size_t length = strlen(text);
    if (length && text[length - 1] == ']')
        text[length - 1] = 0;
    srs_copy_text(host, size, text);
    return number > 0 && number < 65536;
}

int srs_access_address(const struct srs_access *access, const char *node, char *host, size_t size, char port[8])
{
    struct srs_text text = {0};
    int problem = address_text(access, node, &text);
    if (!problem && !split_address(text.at, host, size, port))
        problem = srs_refuse("depot", *text.at ? text.at : node, "HOST:PORT for the node, in the file of depots");
    srs_drop(&text);
    return problem;
}

/* The host's own name, up to the first dot, unless only what the Grid or Slurm call it has a depot. */
void srs_access_own_node(const struct srs_access *access, char into[SRS_NODE])
{
    static const char *const variables[] = {"GRIDPORTAL_NODE", "SLURMD_NODENAME"};
    const struct srs_json *addresses = addresses_of(access);
    if (gethostname(into, SRS_NODE))
        *into = 0;
    into[SRS_NODE - 1] = 0;
    into[strcspn(into, ".")] = 0;
    if (addresses->kind == SRS_TEXT || srs_json_entry(addresses, into))
        return;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *name = getenv(variables[i]);
        if (name && srs_json_entry(addresses, name)) {
            srs_copy_text(into, SRS_NODE, name);
            return;
        }
    }
}

/* The depots of all ranks. */

static int by_name(const void *one, const void *other)
{
    return strcmp(*(char *const *)one, *(char *const *)other);
}

/* All names, sorted, each once. */
static int gather_names(struct srs_depots *depots, const char *own)
{
    const struct srs_json *addresses = addresses_of(&depots->access);
    int64_t mapped = addresses->kind == SRS_OBJECT ? addresses->count / 2 : 0, all = mapped + depots->ranks, kept = 0;
    depots->node = srs_room((size_t)all, sizeof *depots->node);
    for (int64_t i = 0; depots->node && i < all; i++, depots->count++) {
        const char *name = i < mapped ? addresses->as.items[2 * i].as.text : own + (i - mapped) * SRS_NODE;
        if (!(depots->node[i] = srs_room(strlen(name) + 1, 1)))
            break;
        strcpy(depots->node[i], name);
    }
    if (depots->count < all)
        return srs_no_memory();
    qsort(depots->node, (size_t)all, sizeof *depots->node, by_name);
    for (int64_t i = 0; i < all; i++)
        if (kept && !strcmp(depots->node[kept - 1], depots->node[i]))
            free(depots->node[i]);
        else
            depots->node[kept++] = depots->node[i];
    depots->count = kept;
    return 0;
}

int srs_depots_make(struct srs_depots *depots, const char *own, int64_t rank, int64_t ranks)
{
    depots->rank = rank;
    depots->ranks = ranks;
    depots->of_rank = srs_room((size_t)ranks, sizeof *depots->of_rank);
    int problem = depots->of_rank ? gather_names(depots, own) : srs_no_memory();
    for (int64_t i = 0; !problem && i < ranks; i++) {
        const char *name = own + i * SRS_NODE;
        char **place = bsearch(&name, depots->node, (size_t)depots->count, sizeof *depots->node, by_name);
        depots->of_rank[i] = place ? place - depots->node : 0;
    }
    depots->copies = depots->access.copies < depots->count ? depots->access.copies : (int)depots->count;
    return problem;
}

void srs_depots_free(struct srs_depots *depots)
{
    if (!depots)
        return;
    while (depots->count)
        free(depots->node[--depots->count]);
    free(depots->node);
    free(depots->of_rank);
    srs_access_free(&depots->access);
    free(depots);
}

const char *srs_depots_target(const struct srs_depots *depots, int64_t rank, int copy)
{
    return depots->node[(depots->of_rank[rank] + copy) % depots->count];
}
