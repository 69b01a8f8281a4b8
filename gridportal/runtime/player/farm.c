/* A task farm: the master gives the next task to whoever comes first, as the application's does.
 *
 * A task's number is the tag of the message that gives it, from 1; 0 lets a worker go. */
#include "player.h"

#define RESULT_TAG 0
#define LET_GO 0

struct farm_times farm_times;

static void give(const struct op *op, int to, int number)
{
    int bytes = number == LET_GO ? op->last : op->tasks[number - 1].out;
    MPI_Send(op->out, bytes, MPI_BYTE, to, number, MPI_COMM_WORLD);
}

/* Whoever comes first. */
static int next_worker(const struct op *op)
{
    MPI_Status status;
    MPI_Recv(op->in, op->from_count, MPI_BYTE, MPI_ANY_SOURCE, RESULT_TAG, MPI_COMM_WORLD, &status);
    return status.MPI_SOURCE;
}

static void master(const struct op *op)
{
    for (int given = 0; given < op->given; given++) {
        int worker = next_worker(op);
        work(op->seconds);
        give(op, worker, 1 + given % op->n_tasks);
    }
}

/* Until the master lets it go; what comes after its last task is the closing's. */
static void worker(const struct op *op)
{
    MPI_Status status;
    int bytes = (int)op->bytes;
    work(op->seconds);
    farm_times.last_work = 0.0;
    farm_times.handed = now();
    for (;;) {
        MPI_Send(op->out, bytes, MPI_BYTE, op->farm_ranks[0], RESULT_TAG, MPI_COMM_WORLD);
        MPI_Recv(op->in, op->from_count, MPI_BYTE, op->farm_ranks[0], MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        double got = now(), before = worked;
        if (status.MPI_TAG < 1 || status.MPI_TAG > op->n_tasks)
            break;
        const struct task *task = &op->tasks[status.MPI_TAG - 1];
        farm_times.handed = got;
        work(task->seconds);
        farm_times.last_work = worked - before;
        bytes = task->back;
    }
    farm_times.stopped = now();
}

void farm(const struct op *op)
{
    if (op->kind == MASTER)
        master(op);
    else if (op->kind == WORKER)
        worker(op);
    else if (op->n_ranks > 1) /* the master's closing, of all workers; these are through */
        for (int i = 0; i < op->n_ranks; i++)
            give(op, next_worker(op), LET_GO);
}
