/* What the arguments of a call say, in bytes and world ranks. */
#include "trace.h"

#include <stdlib.h>

#define COUNTS 2 /* scratch: counts of an event, and PEERS: its neighbours */
#define PEERS 3

static double size_of(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;
    if (count <= 0 || type == MPI_DATATYPE_NULL)
        return 0.0;
    PMPI_Type_size_x(type, &size);
    return (double)count * (double)size;
}

static int tag_of(int tag)
{
    return tag == MPI_ANY_TAG ? ANYONE : tag;
}

void sends(struct event *event, MPI_Comm comm, int dest, int tag, MPI_Count count, MPI_Datatype type)
{
    event->comm = comm_id(comm);
    event->peer = world_rank(event->comm, dest);
    event->tag = tag;
    note_tag(event->comm, tag);
    event->bytes = dest == MPI_PROC_NULL ? 0.0 : size_of(count, type);
}

/* Where a message is sent as well its tag comes first, so that of the receive has its own field. */
void receives(struct event *event, MPI_Comm comm, int source, int tag, MPI_Count count, MPI_Datatype type)
{
    event->comm = comm_id(comm);
    event->source = world_rank(event->comm, source);
    *(event->tag == NOTHING ? &event->tag : &event->recv_tag) = tag_of(tag);
    note_tag(event->comm, tag_of(tag));
    event->recv_bytes = source == MPI_PROC_NULL ? 0.0 : size_of(count, type);
}

void probes(struct event *event, MPI_Comm comm, int source, int tag)
{
    event->comm = comm_id(comm);
    event->source = world_rank(event->comm, source);
    event->tag = tag_of(tag);
}

/* A matched probe has said from whom; here only the size is known. */
void matched(struct event *event, MPI_Count count, MPI_Datatype type)
{
    event->comm = 0;
    event->source = ANYONE;
    event->tag = ANYONE;
    event->recv_bytes = size_of(count, type);
}

void collective(struct event *event, MPI_Comm comm, MPI_Count count, MPI_Datatype type)
{
    event->comm = comm_id(comm);
    event->bytes = size_of(count, type);
}

void rooted(struct event *event, MPI_Comm comm, int root, MPI_Count count, MPI_Datatype type)
{
    int inter = 0, rank = -1;
    collective(event, comm, count, type);
    PMPI_Comm_test_inter(comm, &inter);
    if (root == MPI_ROOT && inter) {
        PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
        event->root = rank;
    } else {
        event->root = world_rank(event->comm, root);
    }
}

int is_root(MPI_Comm comm, int root)
{
    int rank;
    PMPI_Comm_rank(comm, &rank);
    return rank == root || root == MPI_ROOT;
}

/* What this rank puts in, unless it is in the receive buffer already: then it was described by that. */
void own_block(struct event *event, const void *sendbuf, MPI_Count count, MPI_Datatype type)
{
    if (sendbuf != MPI_IN_PLACE)
        event->bytes = size_of(count, type);
}

void to_all(struct event *event, const void *sendbuf, MPI_Count count, MPI_Datatype type, MPI_Count other, MPI_Datatype t)
{
    int size = comm_size(event->comm);
    event->bytes = (sendbuf == MPI_IN_PLACE ? size_of(other, t) : size_of(count, type)) * size;
}

static double *room(struct event *event)
{
    event->n_counts = comm_size(event->comm);
    event->counts = scratch(COUNTS, (size_t)(event->n_counts + 1) * sizeof(double));
    event->bytes = 0.0;
    return event->counts;
}

void counts_int(struct event *event, const int *counts, MPI_Datatype type, const MPI_Datatype *types)
{
    double *sizes = room(event);
    for (int i = 0; i < event->n_counts; i++)
        event->bytes += sizes[i] = size_of(counts[i], types ? types[i] : type);
}

void counts_big(struct event *event, const MPI_Count *counts, MPI_Datatype type, const MPI_Datatype *types)
{
    double *sizes = room(event);
    for (int i = 0; i < event->n_counts; i++)
        event->bytes += sizes[i] = size_of(counts[i], types ? types[i] : type);
}

/* Where the blocks of all are known, this rank's own is one of them. */
void block_sum(struct event *event, MPI_Comm comm)
{
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    if (rank < event->n_counts)
        event->bytes = event->counts[rank];
}

/* The destinations in the order in which a neighbourhood collective serves them. */
static int destinations(MPI_Comm comm, int **found)
{
    int kind = MPI_UNDEFINED, rank, n = 0;
    PMPI_Topo_test(comm, &kind);
    PMPI_Comm_rank(comm, &rank);
    if (kind == MPI_CART) {
        int axes;
        PMPI_Cartdim_get(comm, &axes);
        n = 2 * axes;
        *found = scratch(PEERS, (size_t)(n + 1) * sizeof(int));
        for (int axis = 0; axis < axes; axis++)
            PMPI_Cart_shift(comm, axis, 1, &(*found)[2 * axis], &(*found)[2 * axis + 1]);
    } else if (kind == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, rank, &n);
        *found = scratch(PEERS, (size_t)(n + 1) * sizeof(int));
        PMPI_Graph_neighbors(comm, rank, n, *found);
    } else if (kind == MPI_DIST_GRAPH) {
        int sources, weighted;
        PMPI_Dist_graph_neighbors_count(comm, &sources, &n, &weighted);
        *found = scratch(PEERS, (size_t)(2 * n + sources * 2 + 4) * sizeof(int));
        int *rest = *found + n;
        PMPI_Dist_graph_neighbors(comm, sources, rest, rest + sources, n, *found, rest + 2 * sources);
    }
    return n;
}

static double *meet(struct event *event, MPI_Comm comm)
{
    event->comm = comm_id(comm);
    event->n_peers = event->n_counts = destinations(comm, &event->peers);
    for (int i = 0; i < event->n_peers; i++)
        event->peers[i] = world_rank(event->comm, event->peers[i]);
    event->counts = scratch(COUNTS, (size_t)(event->n_counts + 1) * sizeof(double));
    return event->counts;
}

static void add(struct event *event, int i, double bytes)
{
    event->counts[i] = event->peers[i] == NOBODY ? 0.0 : bytes;
    event->bytes += event->counts[i];
}

void neighbours(struct event *event, MPI_Comm comm, MPI_Count count, MPI_Datatype type)
{
    meet(event, comm);
    for (int i = 0; i < event->n_peers; i++)
        add(event, i, size_of(count, type));
}

void neighbours_int(struct event *event, MPI_Comm comm, const int *counts, MPI_Datatype type, const MPI_Datatype *types)
{
    meet(event, comm);
    for (int i = 0; i < event->n_peers; i++)
        add(event, i, size_of(counts[i], types ? types[i] : type));
}

void neighbours_big(struct event *e, MPI_Comm comm, const MPI_Count *counts, MPI_Datatype type, const MPI_Datatype *types)
{
    meet(e, comm);
    for (int i = 0; i < e->n_peers; i++)
        add(e, i, size_of(counts[i], types ? types[i] : type));
}

void one_sided(struct event *event, MPI_Win win, int target, MPI_Count count, MPI_Datatype type)
{
    event->comm = comm_of_window(win);
    event->peer = world_rank(event->comm, target);
    event->bytes = target == MPI_PROC_NULL ? 0.0 : size_of(count, type);
}

void makes_comm(struct event *event, MPI_Comm comm, MPI_Comm made)
{
    event->comm = comm_id(comm);
    event->newcomm = comm_id(made);
}
