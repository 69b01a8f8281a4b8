/* Neighbourhood collectives: who is served in which order, and with how much. */
#include "trace.h"

#define COUNTS 2 /* scratch: counts of an event, and PEERS: its neighbours */
#define PEERS 3

/* The destinations in the order in which a neighbourhood collective serves them. */
static int look_up(struct event *event, MPI_Comm comm, int **found)
{
    int kind = MPI_UNDEFINED, rank, n = 0;
    PMPI_Topo_test(comm, &kind);
    PMPI_Comm_rank(comm, &rank);
    if (kind == MPI_CART) {
        int axes;
        PMPI_Cartdim_get(comm, &axes);
        n = 2 * axes;
        *found = scratch(event, PEERS, (size_t)(n + 1) * sizeof(int));
        for (int axis = 0; axis < axes; axis++)
            PMPI_Cart_shift(comm, axis, 1, &(*found)[2 * axis], &(*found)[2 * axis + 1]);
    } else if (kind == MPI_GRAPH) {
        PMPI_Graph_neighbors_count(comm, rank, &n);
        *found = scratch(event, PEERS, (size_t)(n + 1) * sizeof(int));
        PMPI_Graph_neighbors(comm, rank, n, *found);
    } else if (kind == MPI_DIST_GRAPH) {
        int sources, weighted;
        PMPI_Dist_graph_neighbors_count(comm, &sources, &n, &weighted);
        *found = scratch(event, PEERS, (size_t)(2 * n + sources * 2 + 4) * sizeof(int));
        int *rest = *found + n;
        PMPI_Dist_graph_neighbors(comm, sources, rest, rest + sources, n, *found, rest + 2 * sources);
    }
    return n;
}

static double *meet(struct event *event, MPI_Comm comm)
{
    event->comm = comm_id(comm);
    int n = comm_neighbours(event->comm, &event->peers);
    if (n < 0) {
        n = look_up(event, comm, &event->peers);
        for (int i = 0; i < n; i++)
            event->peers[i] = world_rank(event->comm, event->peers[i]);
        keep_neighbours(event->comm, n, event->peers);
    }
    event->n_peers = event->n_counts = n;
    event->counts = scratch(event, COUNTS, (size_t)(event->n_counts + 1) * sizeof(double));
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
