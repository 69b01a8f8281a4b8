/* The calls of a rank as a list of calls and loops, folded while it grows.
 *
 * After every call the end of the list is compared with what stands before it: a block that repeats becomes a loop, a
 * block that repeats the body of the loop before it adds one to its count. So the memory depends on how the program is
 * built, not on how long it runs. Calls are the same when all but their sizes are, and these differ by little; times
 * and sizes of executions that were folded are kept as means.
 *
 * A program whose calls never repeat would fill the memory. When the list has LIMIT entries calls are compared less
 * strictly (tags that count up, sizes, all tags and requests, how often loops run), and at last their order is given up.
 * Tags that count up, as mpi4py's pickled reductions have them, are passed over at the end in any case. */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT 16384
#define WINDOW 1024
#define LAST_WINDOW 4096
#define STRICT 0
#define LOOSE_TAGS 1 /* tags that only count up say nothing */
#define LOOSE_SIZES 2
#define NO_SIZES 3
#define NO_COUNTS 4
#define NO_ORDER 5

struct node {
    uint32_t hash;
    int count, n_body; /* n_body > 0: a loop */
    struct node **body;
    /* a call */
    int kind, comm, newcomm, peer, source, tag, recv_tag, root, request;
    int mixed; /* whether calls with other tags were folded into it */
    int n_requests, n_counts, n_peers;
    int *requests, *peers;
    double *counts;
    double n, bytes, recv_bytes; /* executions; means */
    double gap, gap_m2, cpu, inside;
};

static struct node **list;
static uint32_t *hashes, *tails; /* of each entry, and of the last entry in its body */
static int n_list, level, window = WINDOW;
static const double tolerance[] = {0.05, 0.05, 0.5, 1.0, 1.0, 1.0};

int fold_ordered(void)
{
    return level < NO_SIZES;
}

static uint32_t mix(uint32_t hash, int value)
{
    hash = (hash ^ (uint32_t)value) * 0x9E3779B1u;
    return hash ^ hash >> 15;
}

/* A tag as it is compared. */
static int told(const struct node *node, int tag)
{
    return level >= LOOSE_TAGS && tag >= 0 && tags_count_up(node->comm) ? 0 : tag;
}

static void rehash(struct node *node)
{
    uint32_t hash = 17;
    if (node->n_body) {
        hash = mix(hash, level >= NO_COUNTS ? -7 : node->count);
        for (int i = 0; i < node->n_body; i++)
            hash = mix(hash, (int)node->body[i]->hash);
    } else {
        const int exact[] = {node->kind, node->comm, node->newcomm, node->peer, node->source, node->root,
                             node->n_counts, node->n_peers};
        for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
            hash = mix(hash, exact[i]);
        for (int i = 0; i < node->n_peers; i++)
            hash = mix(hash, node->peers[i]);
        if (level < NO_SIZES) {
            hash = mix(mix(mix(hash, told(node, node->tag)), told(node, node->recv_tag)), node->request);
            for (int i = 0; i < node->n_requests; i++)
                hash = mix(hash, node->requests[i]);
        }
    }
    node->hash = hash;
}

static int near(double one, double other)
{
    double most = one > other ? one : other, apart = one > other ? one - other : other - one;
    return apart <= tolerance[level] * most;
}

static int near_counts(const struct node *one, const struct node *other)
{
    double apart = 0.0, most = 0.0;
    for (int i = 0; i < one->n_counts; i++) {
        double a = one->counts[i], b = other->counts[i];
        apart += a > b ? a - b : b - a;
        most += a > b ? a : b;
    }
    return apart <= 2.0 * tolerance[level] * most;
}

static int same_numbers(const int *one, const int *other, int n)
{
    return !n || !memcmp(one, other, (size_t)n * sizeof(int));
}

static int same_call(const struct node *one, const struct node *other)
{
    if (one->kind != other->kind || one->comm != other->comm || one->newcomm != other->newcomm ||
        one->peer != other->peer || one->source != other->source || one->root != other->root ||
        one->n_counts != other->n_counts || one->n_peers != other->n_peers ||
        !same_numbers(one->peers, other->peers, one->n_peers))
        return 0;
    if (level < NO_SIZES && (told(one, one->tag) != told(other, other->tag) ||
                             told(one, one->recv_tag) != told(other, other->recv_tag) ||
                             one->request != other->request || one->n_requests != other->n_requests ||
                             !same_numbers(one->requests, other->requests, one->n_requests)))
        return 0;
    return near(one->bytes, other->bytes) && near(one->recv_bytes, other->recv_bytes) && near_counts(one, other);
}

static int same_blocks(struct node **one, struct node **other, int n);

static int same(const struct node *one, const struct node *other)
{
    if (one->hash != other->hash || one->n_body != other->n_body)
        return 0;
    if (!one->n_body)
        return same_call(one, other);
    return (level >= NO_COUNTS || one->count == other->count) && same_blocks(one->body, other->body, one->n_body);
}

static int same_blocks(struct node **one, struct node **other, int n)
{
    while (n--)
        if (!same(one[n], other[n]))
            return 0;
    return 1;
}

static void discard(struct node *node)
{
    for (int i = 0; i < node->n_body; i++)
        discard(node->body[i]);
    free(node->body);
    free(node->requests);
    free(node->counts);
    free(node->peers);
    free(node);
}

static void average(double *mean, double other, double part)
{
    *mean += (other - *mean) * part;
}

/* Adds the executions of `other` to those of `node`, and discards it. */
static void merge(struct node *node, struct node *other)
{
    double n = node->n + other->n, part = other->n / n, apart = other->gap - node->gap;
    for (int i = 0; i < node->n_body; i++)
        merge(node->body[i], other->body[i]);
    for (int i = 0; i < node->n_counts; i++)
        average(&node->counts[i], other->counts[i], part);
    if (node->n_body)
        node->count = (int)((node->count * node->n + other->count * other->n) / n + 0.5);
    node->mixed |= other->mixed || node->tag != other->tag || node->recv_tag != other->recv_tag;
    node->gap_m2 += other->gap_m2 + apart * apart * node->n * part;
    average(&node->gap, other->gap, part);
    average(&node->cpu, other->cpu, part);
    average(&node->inside, other->inside, part);
    average(&node->bytes, other->bytes, part);
    average(&node->recv_bytes, other->recv_bytes, part);
    node->n = n;
    other->n_body = 0;
    discard(other);
}

static void *copied(const void *from, size_t bytes)
{
    void *made = bytes ? malloc(bytes) : NULL;
    if (bytes && !made)
        abort();
    return bytes ? memcpy(made, from, bytes) : NULL;
}

static struct node *call_node(const struct event *event)
{
    struct node *node = calloc(1, sizeof *node);
    if (!node)
        abort();
    node->kind = event->kind, node->comm = event->comm, node->newcomm = event->newcomm;
    node->peer = event->peer, node->source = event->source, node->root = event->root;
    node->tag = event->tag, node->recv_tag = event->recv_tag, node->request = event->request;
    node->n_requests = event->n_requests, node->n_counts = event->n_counts, node->n_peers = event->n_peers;
    node->requests = copied(event->requests, (size_t)event->n_requests * sizeof(int));
    node->counts = copied(event->counts, (size_t)event->n_counts * sizeof(double));
    node->peers = copied(event->peers, (size_t)event->n_peers * sizeof(int));
    node->n = 1.0, node->bytes = event->bytes, node->recv_bytes = event->recv_bytes;
    node->gap = event->gap, node->cpu = event->cpu, node->inside = event->inside;
    rehash(node);
    return node;
}

static void store(int place, struct node *node)
{
    list[place] = node;
    hashes[place] = node->hash;
    tails[place] = node->n_body ? node->body[node->n_body - 1]->hash : 0;
}

/* The loop at `place` takes up the `length` entries after it, which repeat its body. */
static void once_more(int place, int length)
{
    struct node *loop = list[place];
    for (int i = 0; i < length; i++)
        merge(loop->body[i], list[place + 1 + i]);
    loop->count++;
    n_list = place + 1;
    rehash(loop);
    store(place, loop);
}

/* The last two blocks of `length` entries are the same: a loop of two. */
static void make_loop(int length)
{
    struct node *loop = calloc(1, sizeof *loop);
    int first = n_list - 2 * length;
    if (!loop)
        abort();
    loop->count = 2, loop->n = 1.0, loop->n_body = length;
    loop->body = copied(list + first, (size_t)length * sizeof *list);
    for (int i = 0; i < length; i++)
        merge(loop->body[i], list[first + length + i]);
    n_list = first + 1;
    rehash(loop);
    store(first, loop);
}

static int folded_once(void)
{
    uint32_t end = hashes[n_list - 1];
    for (int length = 1; length <= window; length++) {
        int before = n_list - 1 - length;
        if (before < 0)
            return 0;
        if (tails[before] == end && list[before]->n_body == length &&
            same_blocks(list[before]->body, list + before + 1, length))
            return once_more(before, length), 1;
        if (hashes[before] == end && n_list >= 2 * length &&
            same_blocks(list + n_list - 2 * length, list + n_list - length, length))
            return make_loop(length), 1;
    }
    return 0;
}

static void append(struct node *node)
{
    store(n_list++, node);
    while (n_list > 1 && folded_once())
        continue;
}

static void rehash_all(struct node *node)
{
    for (int i = 0; i < node->n_body; i++)
        rehash_all(node->body[i]);
    rehash(node);
}

/* Folds the whole list again, under the rules of this level. */
static void fold_again(void)
{
    int n = n_list;
    n_list = 0;
    for (int i = 0; i < n; i++) {
        rehash_all(list[i]);
        append(list[i]);
    }
}

/* Without order: each call once, as a loop of its executions. */
static void tally(struct node *node)
{
    for (int i = 0; i < node->n_body; i++)
        tally(node->body[i]);
    if (node->n_body) {
        node->n_body = 0;
        discard(node);
        return;
    }
    node->n_requests = 0;
    node->request = node->tag = node->recv_tag = NOTHING;
    rehash(node);
    for (int i = 0; i < n_list; i++)
        if (hashes[i] == node->hash && same_call(list[i], node)) {
            merge(list[i], node);
            return;
        }
    if (n_list < LIMIT)
        store(n_list++, node);
    else
        merge(list[LIMIT - 1], node);
}

static void loosen(void)
{
    level++;
    if (level < NO_ORDER) {
        fold_again();
        return;
    }
    struct node **old = copied(list, (size_t)n_list * sizeof *list);
    int n = n_list;
    n_list = 0;
    for (int i = 0; i < n; i++)
        tally(old[i]);
    free(old);
}

static void make_list(void)
{
    list = calloc(LIMIT + 1, sizeof *list);
    hashes = calloc(LIMIT + 1, sizeof *hashes);
    tails = calloc(LIMIT + 1, sizeof *tails);
    if (!list || !hashes || !tails)
        abort();
}

void fold_event(const struct event *event)
{
    if (!list)
        make_list();
    if (level == NO_ORDER) {
        tally(call_node(event));
        return;
    }
    append(call_node(event));
    while (n_list >= LIMIT && level < NO_ORDER)
        loosen();
}

void fold_finish(void)
{
    window = LAST_WINDOW;
    if (level == STRICT)
        level = LOOSE_TAGS;
    if (level < NO_ORDER)
        fold_again();
}

static void rank_field(FILE *file, const char *name, int rank)
{
    if (rank == ANYONE)
        fprintf(file, ", \"%s\": \"any\"", name);
    else if (rank != NOTHING && rank != NOBODY)
        fprintf(file, ", \"%s\": %d", name, rank);
}

static void tag_field(FILE *file, const char *name, int tag)
{
    if (tag == ANYONE)
        fprintf(file, ", \"%s\": \"any\"", name);
    else if (tag != NOTHING)
        fprintf(file, ", \"%s\": %d", name, tag);
}

static void write_call(FILE *file, const struct node *node)
{
    fprintf(file, "{\"call\": \"%s\", \"comm\": %d", call_names[node->kind], node->comm < 0 ? 0 : node->comm);
    rank_field(file, "peer", node->peer);
    rank_field(file, "source", node->source);
    rank_field(file, "root", node->root);
    tag_field(file, "tag", node->tag);
    tag_field(file, "recv_tag", node->recv_tag);
    if (node->mixed)
        fputs(", \"mixed\": true", file);
    if (node->newcomm != NOTHING)
        fprintf(file, ", \"newcomm\": %d", node->newcomm);
    if (node->request != NOTHING)
        fprintf(file, ", \"request\": %d", node->request);
    if (node->bytes > 0.0)
        fprintf(file, ", \"bytes\": %.12g", node->bytes);
    if (node->recv_bytes > 0.0)
        fprintf(file, ", \"recv_bytes\": %.12g", node->recv_bytes);
    for (int i = 0; i < node->n_requests; i++)
        fprintf(file, "%s%d%s", i ? ", " : ", \"requests\": [", node->requests[i], i + 1 < node->n_requests ? "" : "]");
    for (int i = 0; i < node->n_counts; i++)
        fprintf(file, "%s%.12g%s", i ? ", " : ", \"counts\": [", node->counts[i], i + 1 < node->n_counts ? "" : "]");
    for (int i = 0; i < node->n_peers; i++) {
        fputs(i ? ", " : ", \"peers\": [", file);
        fprintf(file, node->peers[i] < 0 ? "null" : "%d", node->peers[i]);
        fputs(i + 1 < node->n_peers ? "" : "]", file);
    }
    fprintf(file, ", \"compute\": {\"n\": %.0f, \"mean\": %.6g, \"var\": %.6g, \"cpu\": %.6g}", node->n, node->gap,
            node->gap_m2 / node->n, node->cpu > 0.0 ? node->cpu : 0.0);
    fprintf(file, ", \"seconds\": {\"n\": %.0f, \"mean\": %.6g}}", node->n, node->inside);
}

static void write_nodes(FILE *file, struct node **nodes, int n)
{
    fputc('[', file);
    for (int i = 0; i < n; i++) {
        if (i)
            fputs(", ", file);
        if (level == NO_ORDER)
            fprintf(file, "{\"loop\": %.0f, \"body\": [", nodes[i]->n);
        if (nodes[i]->n_body) {
            fprintf(file, "{\"loop\": %d, \"body\": ", nodes[i]->count);
            write_nodes(file, nodes[i]->body, nodes[i]->n_body);
            fputc('}', file);
        } else {
            write_call(file, nodes[i]);
        }
        if (level == NO_ORDER)
            fputs("]}", file);
    }
    fputc(']', file);
}

void write_body(FILE *file)
{
    write_nodes(file, list, n_list);
}
