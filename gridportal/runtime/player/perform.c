/* One operation, as the application calls it: blocking, or begun under a slot. */
#include "player.h"

/* All at once, as the application waits. What was not begun, or is over, is not waited for. */
static void await(const struct plan *plan, const struct op *op, MPI_Request *requests)
{
    int n = 0;
    MPI_Request *all = requests + 2 * plan->n_slots;
    for (int i = 0; i < op->n_slots; i++)
        for (int half = 2 * op->slots[i]; half < 2 * op->slots[i] + 2 && n < 2 * plan->n_slots; half++) {
            if (requests[half] != MPI_REQUEST_NULL)
                all[n++] = requests[half];
            requests[half] = MPI_REQUEST_NULL;
        }
    MPI_Waitall(n, all, MPI_STATUSES_IGNORE);
}

static void message(const struct op *op)
{
    MPI_Comm world = MPI_COMM_WORLD;
    if (op->kind == SEND)
        MPI_Send(op->out, op->count, op->type, op->to, op->tag, world);
    else if (op->kind == SSEND)
        MPI_Ssend(op->out, op->count, op->type, op->to, op->tag, world);
    else if (op->kind == RECV)
        MPI_Recv(op->in, op->from_count, op->from_type, op->from, op->from_tag, world, MPI_STATUS_IGNORE);
    else
        MPI_Sendrecv(op->out, op->count, op->type, op->to, op->tag, op->in, op->from_count, op->from_type, op->from,
                     op->from_tag, world, MPI_STATUS_IGNORE);
}

/* An MPI_Isendrecv is both of its halves: it is new in MPI 4. */
static void begin_message(const struct op *op, MPI_Request *request)
{
    MPI_Comm world = MPI_COMM_WORLD;
    if (op->kind == RECV || op->kind == SENDRECV)
        MPI_Irecv(op->in, op->from_count, op->from_type, op->from, op->from_tag, world, &request[1]);
    if (op->kind == SSEND)
        MPI_Issend(op->out, op->count, op->type, op->to, op->tag, world, &request[0]);
    else if (op->kind != RECV)
        MPI_Isend(op->out, op->count, op->type, op->to, op->tag, world, &request[0]);
}

static void collective(const struct op *op, MPI_Comm comm)
{
    void *out = op->out, *in = op->in;
    int count = op->count, root = op->root;
    MPI_Datatype type = op->type;
    switch (op->kind) {
    case BARRIER: MPI_Barrier(comm); break;
    case BCAST: MPI_Bcast(in, count, type, root, comm); break;
    case GATHER: MPI_Gather(out, count, type, in, count, type, root, comm); break;
    case GATHERV: MPI_Gatherv(out, count, type, in, op->lengths, op->places, type, root, comm); break;
    case SCATTER: MPI_Scatter(out, count, type, in, count, type, root, comm); break;
    case SCATTERV: MPI_Scatterv(out, op->lengths, op->places, type, in, count, type, root, comm); break;
    case ALLGATHER: MPI_Allgather(out, count, type, in, count, type, comm); break;
    case ALLGATHERV: MPI_Allgatherv(out, count, type, in, op->lengths, op->places, type, comm); break;
    case ALLTOALL: MPI_Alltoall(out, count, type, in, count, type, comm); break;
    case ALLTOALLV:
        MPI_Alltoallv(out, op->lengths, op->places, type, in, op->from_lengths, op->from_places, type, comm);
        break;
    case ALLTOALLW:
        MPI_Alltoallw(out, op->lengths, op->places, op->types, in, op->from_lengths, op->from_places, op->types, comm);
        break;
    case REDUCE: MPI_Reduce(out, in, count, type, MPI_SUM, root, comm); break;
    case ALLREDUCE: MPI_Allreduce(out, in, count, type, MPI_SUM, comm); break;
    case REDUCE_SCATTER: MPI_Reduce_scatter(out, in, op->lengths, type, MPI_SUM, comm); break;
    case REDUCE_SCATTER_BLOCK: MPI_Reduce_scatter_block(out, in, count, type, MPI_SUM, comm); break;
    case SCAN: MPI_Scan(out, in, count, type, MPI_SUM, comm); break;
    case EXSCAN: MPI_Exscan(out, in, count, type, MPI_SUM, comm); break;
    default: break;
    }
}

static void begin_collective(const struct op *op, MPI_Comm comm, MPI_Request *request)
{
    void *out = op->out, *in = op->in;
    int count = op->count, root = op->root;
    MPI_Datatype type = op->type;
    switch (op->kind) {
    case BARRIER: MPI_Ibarrier(comm, request); break;
    case BCAST: MPI_Ibcast(in, count, type, root, comm, request); break;
    case GATHER: MPI_Igather(out, count, type, in, count, type, root, comm, request); break;
    case GATHERV: MPI_Igatherv(out, count, type, in, op->lengths, op->places, type, root, comm, request); break;
    case SCATTER: MPI_Iscatter(out, count, type, in, count, type, root, comm, request); break;
    case SCATTERV: MPI_Iscatterv(out, op->lengths, op->places, type, in, count, type, root, comm, request); break;
    case ALLGATHER: MPI_Iallgather(out, count, type, in, count, type, comm, request); break;
    case ALLGATHERV: MPI_Iallgatherv(out, count, type, in, op->lengths, op->places, type, comm, request); break;
    case ALLTOALL: MPI_Ialltoall(out, count, type, in, count, type, comm, request); break;
    case ALLTOALLV:
        MPI_Ialltoallv(out, op->lengths, op->places, type, in, op->from_lengths, op->from_places, type, comm, request);
        break;
    case ALLTOALLW:
        MPI_Ialltoallw(out, op->lengths, op->places, op->types, in, op->from_lengths, op->from_places, op->types, comm,
                       request);
        break;
    case REDUCE: MPI_Ireduce(out, in, count, type, MPI_SUM, root, comm, request); break;
    case ALLREDUCE: MPI_Iallreduce(out, in, count, type, MPI_SUM, comm, request); break;
    case REDUCE_SCATTER: MPI_Ireduce_scatter(out, in, op->lengths, type, MPI_SUM, comm, request); break;
    case REDUCE_SCATTER_BLOCK: MPI_Ireduce_scatter_block(out, in, count, type, MPI_SUM, comm, request); break;
    case SCAN: MPI_Iscan(out, in, count, type, MPI_SUM, comm, request); break;
    case EXSCAN: MPI_Iexscan(out, in, count, type, MPI_SUM, comm, request); break;
    default: break;
    }
}

void perform(const struct plan *plan, const struct op *op, MPI_Request *requests)
{
    MPI_Request *request = op->slot < 0 ? NULL : &requests[2 * op->slot];
    if (op->kind == WORK)
        work(op->seconds);
    else if (op->kind == WAIT)
        await(plan, op, requests);
    else if (op->kind < SEND)
        farm(op);
    else if (op->kind < BARRIER && request)
        begin_message(op, request);
    else if (op->kind < BARRIER)
        message(op);
    else if (request)
        begin_collective(op, plan->comms[op->comm].comm, request);
    else
        collective(op, plan->comms[op->comm].comm);
}
