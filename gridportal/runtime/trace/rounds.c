/* What calls computed before them in some rounds of the outermost loop around them.
 *
 * The mean of a call does not say which rank had more to do in which round. So of some rounds the cpu seconds are kept
 * as they were: blocks of BLOCK rounds in a row, spread over the run. Which rounds these are follows from their numbers
 * alone, so that they are the same on all ranks: block b is kept as long as b is a multiple of `1 << stride_after`, which
 * doubles whenever BLOCKS are kept, and then every second block goes. From the ninth block on there are 5 to 8 of them.
 * A call in an inner loop keeps the mean of its executions in the round. */
#include "nodes.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK 8 /* rounds: ranks that take turns are seen to, if there are not more of them */
#define BLOCKS 8
#define KEPT (BLOCK * BLOCKS)
#define THIN_OUT KEPT /* beside a place: every second block goes before */
#define MADE 64 /* at once */
#define LEAST 1e-6 /* s: calls that never had as much before them say nothing */

struct rounds {
    float seconds[KEPT]; /* cpu */
    struct rounds *next_free;
};

/* How far apart the kept blocks are when this one has come, as a power of two. */
static int stride_after(int block)
{
    return block < BLOCKS ? 0 : __builtin_clz(BLOCKS / 2) - __builtin_clz((unsigned)block);
}

static struct rounds *new_rounds(struct nodes *nodes)
{
    if (!nodes->free_rounds) {
        struct rounds *made = calloc(MADE, sizeof *made);
        if (!made)
            abort();
        for (int i = 0; i < MADE; i++) {
            made[i].next_free = nodes->free_rounds;
            nodes->free_rounds = &made[i];
        }
    }
    struct rounds *rounds = nodes->free_rounds;
    nodes->free_rounds = rounds->next_free;
    return rounds;
}

void forget_rounds(struct nodes *nodes, struct node *node)
{
    if (!node->rounds)
        return;
    node->rounds->next_free = nodes->free_rounds;
    nodes->free_rounds = node->rounds;
    node->rounds = NULL;
}

static void thin_out(struct rounds *rounds)
{
    for (int block = 1; block < BLOCKS / 2; block++)
        memcpy(rounds->seconds + block * BLOCK, rounds->seconds + 2 * block * BLOCK, BLOCK * sizeof(float));
}

int place_of_round(int round)
{
    int block = round / BLOCK, power = stride_after(block), kept = block >> power;
    if (kept << power != block)
        return NO_PLACE;
    int place = kept * BLOCK + round % BLOCK;
    return power && place == KEPT / 2 ? place | THIN_OUT : place; /* the stride has just doubled */
}

void keep_round(struct nodes *nodes, struct node *node, int place, double seconds)
{
    if (place == NO_PLACE)
        return;
    if (!node->rounds)
        node->rounds = new_rounds(nodes);
    if (place & THIN_OUT)
        thin_out(node->rounds);
    node->rounds->seconds[place & ~THIN_OUT] = (float)seconds;
}

void keep_first(struct nodes *nodes, struct node *node)
{
    for (int i = 0; i < node->n_body; i++)
        keep_first(nodes, node->body[i]);
    if (!node->n_body)
        keep_round(nodes, node, 0, node->cpu);
}

/* The number of the kept round at a place, when the loop has run `count` times. */
static int number(int place, int count)
{
    return (place / BLOCK << stride_after((count - 1) / BLOCK)) * BLOCK + place % BLOCK;
}

static int is_place(int place, int count)
{
    return place < KEPT && number(place, count) < count;
}

void write_round_numbers(FILE *file, int count)
{
    for (int place = 0; is_place(place, count); place++)
        fprintf(file, "%s%d", place ? ", " : ", \"rounds\": [", number(place, count));
    fputc(']', file);
}

void write_rounds(FILE *file, const struct node *node, int count)
{
    float most = 0.0f;
    if (!node->rounds)
        return;
    for (int place = 0; is_place(place, count); place++)
        most = node->rounds->seconds[place] > most ? node->rounds->seconds[place] : most;
    if (most < LEAST)
        return;
    for (int place = 0; is_place(place, count); place++) {
        float seconds = node->rounds->seconds[place];
        fprintf(file, "%s%.4g", place ? ", " : ", \"rounds\": [", seconds > 0.0f ? (double)seconds : 0.0);
    }
    fputc(']', file);
}
