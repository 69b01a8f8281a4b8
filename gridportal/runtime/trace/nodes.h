/* A call or a loop of calls in the list of a thread. */
#ifndef GRIDPORTAL_NODES_H
#define GRIDPORTAL_NODES_H

#include "trace.h"

/* How strictly calls are compared. */
#define STRICT 0
#define LOOSE_TAGS 1 /* tags that only count up say nothing */
#define LOOSE_SIZES 2
#define NO_SIZES 3
#define NO_COUNTS 4
#define NO_ORDER 5

#define NO_PLACE (-1)
#define FEW 4 /* requests that a node has room for */

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
    struct rounds *rounds; /* of a call in a loop, else none */
    int few[FEW];
    struct node *next_free;
};

struct nodes {
    struct node *free;
    struct rounds *free_rounds;
    long long numbers; /* that nodes hold: requests, counts, peers */
    int level;
};

#pragma GCC visibility push(hidden)
struct node *call_node(struct nodes *nodes, const struct event *event);
struct node *loop_node(struct nodes *nodes, struct node *const *body, int length);
void discard(struct nodes *nodes, struct node *node);
/* Adds the executions of `other`, which are a round of a loop that is kept at `place` (NO_PLACE: is not), and discards it. */
void merge(struct nodes *nodes, struct node *node, struct node *other, int place);
void rehash(const struct nodes *nodes, struct node *node);
void rehash_all(const struct nodes *nodes, struct node *node);
int same_call(const struct nodes *nodes, const struct node *one, const struct node *other);
int same_blocks(const struct nodes *nodes, struct node *const *one, struct node *const *other, int n);

/* rounds.c: what calls computed in some rounds of the outermost loop around them */
int place_of_round(int round); /* of the loop; NO_PLACE for most rounds */
void keep_round(struct nodes *nodes, struct node *node, int place, double seconds); /* in the order of the rounds */
void keep_first(struct nodes *nodes, struct node *node); /* what it and those in it have computed is round 0 */
void forget_rounds(struct nodes *nodes, struct node *node);
void write_round_numbers(FILE *file, int count);
void write_rounds(FILE *file, const struct node *node, int count);
#pragma GCC visibility pop

#endif
