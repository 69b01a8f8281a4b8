/* What the arguments of a call say, in bytes and world ranks. */
#include "trace.h"

#include <stdlib.h>
#include <string.h>

#define COUNTS 2 /* scratch: counts of an event */

/* Types whose sizes were asked for last, by their handles. */
#define TYPES 64
static struct {
    MPI_Datatype type;
    int known;
    MPI_Count size;
} types[TYPES];

static MPI_Count type_size(MPI_Datatype type)
{
    uint64_t key = 0;
    memcpy(&key, &type, sizeof type < sizeof key ? sizeof type : sizeof key);
    int place = (int)((key * 0x9E3779B97F4A7C15ull) >> 58);
    if (types[place].known && types[place].type == type)
        return types[place].size;
    PMPI_Type_size_x(type, &types[place].size);
    types[place].type = type;
    types[place].known = 1;
    return types[place].size;
}

void forget_types(void)
{
    hold();
    memset(types, 0, sizeof types);
    release();
}

double size_of(MPI_Count count, MPI_Datatype type)
{
    return count <= 0 || type == MPI_DATATYPE_NULL ? 0.0 : (double)count * (double)type_size(type);
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
    collective(event, comm, root == MPI_PROC_NULL ? 0 : count, type); /* of who takes no part nothing else counts */
    event->root = root == MPI_ROOT && is_inter(event->comm) ? comm_rank(0) : world_rank(event->comm, root);
}

int is_root(MPI_Comm comm, int root)
{
    return comm_rank(comm_id(comm)) == root || root == MPI_ROOT;
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
    event->counts = scratch(event, COUNTS, (size_t)(event->n_counts + 1) * sizeof(double));
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
    int rank = comm_rank(comm_id(comm));
    if (rank >= 0 && rank < event->n_counts)
        event->bytes = event->counts[rank];
}

void makes_comm(struct event *event, MPI_Comm comm, MPI_Comm made)
{
    if (event->failed && comm == made)
        return; /* there is none */
    event->comm = comm_id(comm);
    event->newcomm = event->failed ? NOTHING : comm_id(made);
}
