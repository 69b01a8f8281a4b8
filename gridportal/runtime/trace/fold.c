/* The calls of a thread as a list of calls and loops, folded while it grows.
 *
 * After every call the end of the list is compared with what stands before it: a block that repeats becomes a loop, a
 * block that repeats the body of the loop before it adds one to its count. So the memory depends on how the program is
 * built, not on how long it runs. Calls are the same when all but their sizes are, and these differ by little; times
 * and sizes of executions that were folded are kept as means. Places where a block could repeat are looked up by the
 * hash of its last entry, nearest first.
 *
 * A program whose calls never repeat would fill the memory. When the list has LIMIT entries, or these hold NUMBERS
 * numbers, calls are compared less strictly (tags that count up, sizes, all tags and requests, how often loops run), and at last their order is given up.
 * Tags that count up, as mpi4py's pickled reductions have them, are passed over at the end in any case. While nothing
 * repeats fewer and fewer places are tried, so that such a program is not slowed down; a full list is tried anew. */
#include "fold.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define WINDOW 1024
#define LAST_WINDOW 4096
#define LEAST_PATIENCE 16
#define NUMBERS (1 << 22) /* in all entries: 32 MB, where each has one for each of a thousand ranks */
#define SLOW 16 /* so many entries, or places that are tried, take longer than recording usually does */

static void forget_chain(struct chains *chains, uint32_t hash, int place)
{
    chains->heads[hash & (LIMIT - 1)] = chains->before[place];
}

static void chain(struct chains *chains, uint32_t hash, int place)
{
    chains->before[place] = chains->heads[hash & (LIMIT - 1)];
    chains->heads[hash & (LIMIT - 1)] = place;
}

static void push(struct fold *fold, struct node *node)
{
    int place = fold->n_list++;
    fold->list[place] = node;
    fold->hashes[place] = node->hash;
    fold->tails[place] = node->n_body ? node->body[node->n_body - 1]->hash : 0;
    chain(&fold->ends, node->hash, place);
    if (node->n_body)
        chain(&fold->bodies, fold->tails[place], place);
}

/* Takes the last entries away, down to `n`. */
static void shorten(struct fold *fold, int n)
{
    while (fold->n_list > n) {
        int place = --fold->n_list;
        forget_chain(&fold->ends, fold->hashes[place], place);
        if (fold->list[place]->n_body)
            forget_chain(&fold->bodies, fold->tails[place], place);
    }
}

struct fold *make_fold(void)
{
    struct fold *fold = calloc(1, sizeof *fold);
    if (!fold)
        abort();
    fold->window = fold->patience = WINDOW;
    fold->raised = -1;
    return fold;
}

/* The list of a thread that calls nothing takes no room. */
static void make_list(struct fold *fold)
{
    fold->list = calloc(LIMIT + 1, sizeof *fold->list);
    fold->hashes = calloc(LIMIT + 1, sizeof *fold->hashes);
    fold->tails = calloc(LIMIT + 1, sizeof *fold->tails);
    if (!fold->list || !fold->hashes || !fold->tails)
        abort();
    memset(fold->ends.heads, -1, sizeof fold->ends.heads);
    memset(fold->bodies.heads, -1, sizeof fold->bodies.heads);
}

int fold_ordered(const struct fold *fold)
{
    return fold->nodes.level < NO_SIZES;
}

static void raise_loop(struct fold *fold, int place)
{
    if (fold->raised < 0 || place < fold->raised)
        fold->raised = place;
}

int fold_raised(const struct fold *fold, int *count)
{
    if (fold->raised >= 0)
        *count = fold->list[fold->raised]->count;
    return fold->raised;
}

/* The loop at `place` takes up the entries after it, which repeat its body. */
static void once_more(struct fold *fold, int place)
{
    struct node *loop = fold->list[place];
    int kept_at = place_of_round(loop->count);
    shorten(fold, place); /* the entries stay where they are until something is pushed */
    for (int i = 0; i < loop->n_body; i++)
        merge(&fold->nodes, loop->body[i], fold->list[place + 1 + i], kept_at);
    fold->slow |= loop->n_body > SLOW;
    loop->count++;
    rehash(&fold->nodes, loop);
    push(fold, loop);
    raise_loop(fold, place);
}

/* The last two blocks of `length` entries are the same: a loop of two. */
static void make_loop(struct fold *fold, int length)
{
    int first = fold->n_list - 2 * length;
    struct node *loop = loop_node(&fold->nodes, fold->list + first, length);
    fold->slow = 1;
    shorten(fold, first);
    for (int i = 0; i < length; i++) {
        keep_first(&fold->nodes, loop->body[i]);
        merge(&fold->nodes, loop->body[i], fold->list[first + length + i], place_of_round(1));
    }
    rehash(&fold->nodes, loop);
    push(fold, loop);
    raise_loop(fold, first);
}

static int repeats_body(const struct fold *fold, int place, uint32_t end)
{
    const struct node *loop = fold->list[place];
    return fold->tails[place] == end && loop->n_body == fold->n_list - 1 - place && loop->count < INT_MAX &&
           same_blocks(&fold->nodes, loop->body, fold->list + place + 1, loop->n_body);
}

static int repeats_block(const struct fold *fold, int place, uint32_t end)
{
    int length = fold->n_list - 1 - place;
    return fold->hashes[place] == end && fold->n_list >= 2 * length &&
           same_blocks(&fold->nodes, fold->list + fold->n_list - 2 * length, fold->list + fold->n_list - length, length);
}

static int folded_once(struct fold *fold)
{
    int last = fold->n_list - 1, lowest = last - fold->window, tries = fold->patience;
    uint32_t end = fold->hashes[last];
    int block = fold->ends.before[last], body = fold->bodies.heads[end & (LIMIT - 1)];
    while (body >= last)
        body = fold->bodies.before[body];
    while ((block >= 0 || body >= 0) && tries-- > 0) {
        int place = body >= block ? body : block; /* the nearest; a loop that goes on before a new one */
        if (place < lowest)
            break;
        if (place == body) {
            if (repeats_body(fold, place, end))
                return once_more(fold, place), 1;
            body = fold->bodies.before[body];
        } else {
            if (repeats_block(fold, place, end))
                return make_loop(fold, last - place), 1;
            block = fold->ends.before[block];
        }
    }
    fold->slow |= tries + SLOW < fold->patience;
    if (tries < 0 && fold->patience > LEAST_PATIENCE)
        fold->patience /= 2;
    return 0;
}

static void append(struct fold *fold, struct node *node)
{
    push(fold, node);
    while (fold->n_list > 1 && folded_once(fold))
        fold->patience = fold->window;
}

/* Folds the whole list again, under the rules of this level. */
static void fold_again(struct fold *fold)
{
    int n = fold->n_list;
    fold->slow = 1;
    shorten(fold, 0);
    for (int i = 0; i < n; i++) {
        struct node *node = fold->list[i];
        rehash_all(&fold->nodes, node);
        fold->patience = fold->window;
        append(fold, node);
    }
}

/* Without order: each call once, as a loop of its executions. */
static void tally(struct fold *fold, struct node *node)
{
    for (int i = 0; i < node->n_body; i++)
        tally(fold, node->body[i]);
    if (node->n_body) {
        node->n_body = 0;
        discard(&fold->nodes, node);
        return;
    }
    forget_rounds(&fold->nodes, node);
    fold->nodes.numbers -= node->n_requests;
    node->n_requests = 0;
    node->request = node->tag = node->recv_tag = NOTHING;
    rehash(&fold->nodes, node);
    for (int i = fold->ends.heads[node->hash & (LIMIT - 1)]; i >= 0; i = fold->ends.before[i])
        if (fold->hashes[i] == node->hash && same_call(&fold->nodes, fold->list[i], node)) {
            merge(&fold->nodes, fold->list[i], node, NO_PLACE);
            return;
        }
    if (fold->n_list < LIMIT)
        push(fold, node);
    else
        merge(&fold->nodes, fold->list[LIMIT - 1], node, NO_PLACE);
}

static void loosen(struct fold *fold)
{
    fold->nodes.level++;
    if (fold->nodes.level < NO_ORDER) {
        fold_again(fold);
        return;
    }
    int n = fold->n_list;
    struct node **old = calloc((size_t)n, sizeof *old);
    if (!old)
        abort();
    memcpy(old, fold->list, (size_t)n * sizeof *old);
    shorten(fold, 0);
    for (int i = 0; i < n; i++)
        tally(fold, old[i]);
    free(old);
}

int fold_event(struct fold *fold, const struct event *event)
{
    if (!fold->list)
        make_list(fold);
    struct node *node = call_node(&fold->nodes, event);
    fold->slow = event->n_counts + event->n_requests > SLOW;
    fold->raised = -1;
    if (fold->nodes.level == NO_ORDER) {
        tally(fold, node);
        return 1;
    }
    append(fold, node);
    if (fold->n_list < LIMIT && fold->nodes.numbers < NUMBERS)
        return fold->slow;
    fold_again(fold);
    while ((fold->n_list > LIMIT / 2 || fold->nodes.numbers > NUMBERS / 2) && fold->nodes.level < NO_ORDER)
        loosen(fold);
    fold->raised = -1; /* places are others now */
    return 1;
}

void fold_finish(struct fold *fold)
{
    fold->window = LAST_WINDOW;
    if (fold->nodes.level == STRICT)
        fold->nodes.level = LOOSE_TAGS;
    if (fold->list && fold->nodes.level < NO_ORDER)
        fold_again(fold);
}
