/* What calls computed before them in some rounds of the outermost loop around them.
 *
 * The mean of a call does not say which rank had more to do in which round. So of some rounds the cpu seconds are kept
 * as they were: blocks of BLOCK rounds in a row, spread over the run. Which rounds these are follows from their numbers
 * alone, so that they are the same on all ranks: block b is kept at a level as long as the part of b / golden ratio after
 * the point is below 1 / golden ratio ** level. The level rises whenever one more than BLOCKS would be kept, so from then
 * on there are 9 to 16 of them. They lie two distances apart, which follow each other without a period: blocks that are
 * equally far apart would meet ranks that take turns, or work that goes round them, always at the same one.
 * A call in an inner loop keeps the mean of its executions in the round. */
#include "nodes.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 8 /* rounds: ranks that take turns are seen to, if there are not more of them */
#define BLOCKS 16
#define KEPT (BLOCK * BLOCKS)
#define LEVELS 36 /* for as many blocks as there are numbers of rounds */
#define LEVEL_BITS 16 /* the bits of a place; above them is the level to which its rounds rise before */
#define MADE 32 /* at once */
#define LEAST 1e-6 /* s: calls that never had as much before them say nothing */

struct rounds {
    float seconds[KEPT]; /* cpu */
    struct rounds *next_free;
};

/* By level: the numbers of the blocks that are kept, and of the one with which the level rises; and how many of them are
 * kept from the level below. */
static int blocks_of[LEVELS][BLOCKS + 1], from_below[LEVELS];
static pthread_once_t filled = PTHREAD_ONCE_INIT;

/* The part of number / golden ratio after the point, of 1 << 64. In 32 bits it is wrong by half of the number, which from
 * some 100,000 blocks on is more than the part that is asked for. */
static uint64_t after_point(int number)
{
    return (uint64_t)number * 11400714819323198485u;
}

/* The block that is kept next at a level: it is as far away as a number of Fibonacci. */
static int next_block(int block, uint64_t below)
{
    int distance = 1, longer = 2;
    while (after_point(block + distance) > below) {
        int sum = distance + longer;
        distance = longer;
        longer = sum;
    }
    return block + distance;
}

static void fill_blocks(void)
{
    double below = 0x1p64;
    for (int level = 0; level < LEVELS; level++, below *= 0.6180339887498949) {
        int *blocks = blocks_of[level];
        for (int i = 0; i < BLOCKS; i++)
            blocks[i + 1] = next_block(blocks[i], level ? (uint64_t)below : UINT64_MAX);
        while (level && blocks[from_below[level]] < blocks_of[level - 1][BLOCKS])
            from_below[level]++;
    }
}

static int level_after(int block)
{
    int level = 0;
    pthread_once(&filled, fill_blocks);
    while (level < LEVELS - 1 && blocks_of[level][BLOCKS] <= block)
        level++;
    return level;
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

/* What is kept at this level of the level below. */
static void thin_out(struct rounds *rounds, int level)
{
    for (int i = 1, below = 1; i < from_below[level]; i++, below++) {
        while (blocks_of[level - 1][below] < blocks_of[level][i])
            below++;
        if (below > i)
            memcpy(rounds->seconds + i * BLOCK, rounds->seconds + below * BLOCK, BLOCK * sizeof(float));
    }
}

int place_of_round(int round)
{
    int block = round / BLOCK, level = level_after(block), i = level ? from_below[level] - 1 : block;
    while (blocks_of[level][i] < block)
        i++;
    if (blocks_of[level][i] != block)
        return NO_PLACE;
    int rises = level && i == from_below[level] && round % BLOCK == 0;
    return (i * BLOCK + round % BLOCK) | (rises ? level << LEVEL_BITS : 0);
}

void keep_round(struct nodes *nodes, struct node *node, int place, double seconds)
{
    if (place == NO_PLACE)
        return;
    if (!node->rounds)
        node->rounds = new_rounds(nodes);
    if (place >> LEVEL_BITS)
        thin_out(node->rounds, place >> LEVEL_BITS);
    node->rounds->seconds[place & (KEPT - 1)] = (float)seconds;
}

void keep_first(struct nodes *nodes, struct node *node)
{
    for (int i = 0; i < node->n_body; i++)
        keep_first(nodes, node->body[i]);
    if (!node->n_body)
        keep_round(nodes, node, 0, node->cpu);
}

/* The level of what is kept when the loop has run `count` times: it rises with the first block that is kept after. */
static int level_of(int count)
{
    int level = level_after((count - 1) / BLOCK);
    return level && blocks_of[level][from_below[level]] * (int64_t)BLOCK >= count ? level - 1 : level;
}

/* The number of the kept round at a place, when the loop has run `count` times. */
static int64_t number(int place, int count)
{
    return blocks_of[level_of(count)][place / BLOCK] * (int64_t)BLOCK + place % BLOCK;
}

static int is_place(int place, int count)
{
    return place < KEPT && number(place, count) < count;
}

void write_round_numbers(FILE *file, int count)
{
    for (int place = 0; is_place(place, count); place++)
        fprintf(file, "%s%d", place ? ", " : ", \"rounds\": [", (int)number(place, count));
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
