/* Calls and loops as nodes: made, compared, merged. */
#include "nodes.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 256 /* nodes that are made at once */

static const double tolerance[] = {0.05, 0.05, 0.5, 1.0, 1.0, 1.0};

static struct node *new_node(struct nodes *nodes)
{
    if (!nodes->free) {
        struct node *made = calloc(BLOCK, sizeof *made);
        if (!made)
            abort();
        for (int i = 0; i < BLOCK; i++) {
            made[i].next_free = nodes->free;
            nodes->free = &made[i];
        }
    }
    struct node *node = nodes->free;
    nodes->free = node->next_free;
    return node;
}

static int numbers_of(const struct node *node)
{
    return node->n_requests + node->n_counts + node->n_peers;
}

void discard(struct nodes *nodes, struct node *node)
{
    for (int i = 0; i < node->n_body; i++)
        discard(nodes, node->body[i]);
    nodes->numbers -= numbers_of(node);
    if (node->requests != node->few)
        free(node->requests);
    free(node->body);
    free(node->counts);
    free(node->peers);
    forget_rounds(nodes, node);
    node->next_free = nodes->free;
    nodes->free = node;
}

static void *copied(const void *from, size_t bytes)
{
    if (!bytes)
        return NULL;
    void *made = malloc(bytes);
    if (!made)
        abort();
    return memcpy(made, from, bytes);
}

struct node *call_node(struct nodes *nodes, const struct event *event)
{
    struct node *node = new_node(nodes);
    node->count = node->n_body = node->mixed = 0;
    node->body = NULL;
    node->rounds = NULL;
    node->kind = event->kind, node->comm = event->comm, node->newcomm = event->newcomm;
    node->peer = event->peer, node->source = event->source, node->root = event->root;
    node->tag = event->tag, node->recv_tag = event->recv_tag, node->request = event->request;
    node->n_requests = event->n_requests, node->n_counts = event->n_counts, node->n_peers = event->n_peers;
    if (event->n_requests <= FEW) {
        for (int i = 0; i < event->n_requests; i++)
            node->few[i] = event->requests[i];
        node->requests = node->few;
    } else {
        node->requests = copied(event->requests, (size_t)event->n_requests * sizeof(int));
    }
    node->counts = copied(event->counts, (size_t)event->n_counts * sizeof(double));
    node->peers = copied(event->peers, (size_t)event->n_peers * sizeof(int));
    nodes->numbers += numbers_of(node);
    node->n = 1.0, node->bytes = event->bytes, node->recv_bytes = event->recv_bytes;
    node->gap = event->gap, node->gap_m2 = 0.0, node->cpu = event->cpu, node->inside = event->inside;
    rehash(nodes, node);
    return node;
}

struct node *loop_node(struct nodes *nodes, struct node *const *body, int length)
{
    struct node *loop = new_node(nodes);
    memset(loop, 0, sizeof *loop);
    loop->count = 2, loop->n = 1.0, loop->n_body = length;
    loop->body = copied(body, (size_t)length * sizeof *body);
    return loop;
}

static uint32_t mix(uint32_t hash, int value)
{
    hash = (hash ^ (uint32_t)value) * 0x9E3779B1u;
    return hash ^ hash >> 15;
}

static uint64_t two(int one, int other)
{
    return (uint64_t)(uint32_t)one << 32 | (uint32_t)other;
}

/* A tag as it is compared. */
static int tag_of(const struct nodes *nodes, const struct node *node, int tag)
{
    return nodes->level >= LOOSE_TAGS && tag >= 0 && tags_count_up(node->comm) ? 0 : tag;
}

static uint32_t call_hash(const struct nodes *nodes, const struct node *node)
{
    uint64_t wide = two(node->kind, node->comm) * 0x9E3779B97F4A7C15ull;
    wide ^= two(node->peer, node->source) * 0xC2B2AE3D27D4EB4Full;
    wide ^= two(node->newcomm, node->root) * 0x165667B19E3779F9ull;
    wide ^= two(node->n_counts, node->n_peers) * 0xD6E8FEB86659FD93ull;
    if (nodes->level < NO_SIZES) {
        wide ^= two(tag_of(nodes, node, node->tag), tag_of(nodes, node, node->recv_tag)) * 0xA0761D6478BD642Full;
        wide ^= two(node->request, node->n_requests) * 0xE7037ED1A0B428DBull;
    }
    uint32_t hash = (uint32_t)(wide >> 32 ^ wide);
    for (int i = 0; i < node->n_peers; i++)
        hash = mix(hash, node->peers[i]);
    for (int i = 0; nodes->level < NO_SIZES && i < node->n_requests; i++)
        hash = mix(hash, node->requests[i]);
    return hash;
}

void rehash(const struct nodes *nodes, struct node *node)
{
    if (!node->n_body) {
        node->hash = call_hash(nodes, node);
        return;
    }
    uint32_t hash = mix(17, nodes->level >= NO_COUNTS ? -7 : node->count);
    for (int i = 0; i < node->n_body; i++)
        hash = mix(hash, (int)node->body[i]->hash);
    node->hash = hash;
}

void rehash_all(const struct nodes *nodes, struct node *node)
{
    for (int i = 0; i < node->n_body; i++)
        rehash_all(nodes, node->body[i]);
    rehash(nodes, node);
}

static int near(double tolerated, double one, double other)
{
    double most = one > other ? one : other, apart = one > other ? one - other : other - one;
    return apart <= tolerated * most;
}

static int near_counts(double tolerated, const struct node *one, const struct node *other)
{
    double apart = 0.0, most = 0.0;
    for (int i = 0; i < one->n_counts; i++) {
        double a = one->counts[i], b = other->counts[i];
        apart += a > b ? a - b : b - a;
        most += a > b ? a : b;
    }
    return apart <= 2.0 * tolerated * most;
}

static int same_numbers(const int *one, const int *other, int n)
{
    return !n || !memcmp(one, other, (size_t)n * sizeof(int));
}

int same_call(const struct nodes *nodes, const struct node *one, const struct node *other)
{
    double tolerated = tolerance[nodes->level];
    if (one->kind != other->kind || one->comm != other->comm || one->newcomm != other->newcomm ||
        one->peer != other->peer || one->source != other->source || one->root != other->root ||
        one->n_counts != other->n_counts || one->n_peers != other->n_peers ||
        !same_numbers(one->peers, other->peers, one->n_peers))
        return 0;
    if (nodes->level < NO_SIZES && (tag_of(nodes, one, one->tag) != tag_of(nodes, other, other->tag) ||
                                    tag_of(nodes, one, one->recv_tag) != tag_of(nodes, other, other->recv_tag) ||
                                    one->request != other->request || one->n_requests != other->n_requests ||
                                    !same_numbers(one->requests, other->requests, one->n_requests)))
        return 0;
    return near(tolerated, one->bytes, other->bytes) && near(tolerated, one->recv_bytes, other->recv_bytes) &&
           near_counts(tolerated, one, other);
}

static int same(const struct nodes *nodes, const struct node *one, const struct node *other)
{
    if (one->hash != other->hash || one->n_body != other->n_body)
        return 0;
    if (!one->n_body)
        return same_call(nodes, one, other);
    return (nodes->level >= NO_COUNTS || one->count == other->count) &&
           same_blocks(nodes, one->body, other->body, one->n_body);
}

int same_blocks(const struct nodes *nodes, struct node *const *one, struct node *const *other, int n)
{
    while (n--)
        if (!same(nodes, one[n], other[n]))
            return 0;
    return 1;
}

static void average(double *mean, double other, double part)
{
    *mean += (other - *mean) * part;
}

void merge(struct nodes *nodes, struct node *node, struct node *other, int place)
{
    double n = node->n + other->n, part = other->n / n, apart = other->gap - node->gap;
    for (int i = 0; i < node->n_body; i++)
        merge(nodes, node->body[i], other->body[i], place);
    if (!node->n_body)
        keep_round(nodes, node, place, other->cpu);
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
    other->n_body = 0; /* its body was discarded with each merge */
    discard(nodes, other);
}
