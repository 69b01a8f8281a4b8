/* The list of a thread as JSON. */
#include "fold.h"

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

static void write_call(FILE *file, const struct node *node, int rounds)
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
    fprintf(file, ", \"compute\": {\"n\": %.0f, \"mean\": %.6g, \"var\": %.6g, \"cpu\": %.6g", node->n, node->gap,
            node->gap_m2 / node->n, node->cpu > 0.0 ? node->cpu : 0.0);
    if (rounds)
        write_rounds(file, node, rounds);
    fprintf(file, "}, \"seconds\": {\"n\": %.0f, \"mean\": %.6g}}", node->n, node->inside);
}

/* `rounds`: how often the outermost loop around it ran, 0 for none. */
static void write_list(FILE *file, int level, struct node *const *nodes, int n, int rounds)
{
    for (int i = 0; i < n; i++) {
        if (i)
            fputs(", ", file);
        if (level == NO_ORDER)
            fprintf(file, "{\"loop\": %.0f, \"body\": [", nodes[i]->n);
        if (nodes[i]->n_body) {
            fprintf(file, "{\"loop\": %d", nodes[i]->count);
            if (!rounds)
                write_round_numbers(file, nodes[i]->count);
            fputs(", \"body\": [", file);
            write_list(file, level, nodes[i]->body, nodes[i]->n_body, rounds ? rounds : nodes[i]->count);
            fputs("]}", file);
        } else {
            write_call(file, nodes[i], rounds);
        }
        if (level == NO_ORDER)
            fputs("]}", file);
    }
}

/* One after the other: in which order calls of different threads came is not known. */
void write_body(FILE *file, struct fold *const *folds, int n)
{
    int written = 0;
    fputc('[', file);
    for (int i = 0; i < n; i++) {
        if (written && folds[i]->n_list)
            fputs(", ", file);
        write_list(file, folds[i]->nodes.level, folds[i]->list, folds[i]->n_list, 0);
        written |= folds[i]->n_list > 0;
    }
    fputc(']', file);
}
