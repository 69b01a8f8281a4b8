/* One-sided calls, and calls on files. */
#include "trace.h"

#define TARGETS 3 /* scratch: the ranks of a group */

void one_sided(struct event *event, MPI_Win win, int target, MPI_Count count, MPI_Datatype type)
{
    event->comm = comm_of_window(win);
    event->peer = world_rank(event->comm, target);
    event->bytes = target == MPI_PROC_NULL ? 0.0 : size_of(count, type);
}

/* Post and start name the ranks that put here, or that are put to. */
void with_group(struct event *event, MPI_Win win, MPI_Group group)
{
    int n = 0;
    event->comm = comm_of_window(win);
    PMPI_Group_size(group, &n);
    event->peers = scratch(event, TARGETS, (size_t)(n + 1) * sizeof(int));
    event->n_peers = n;
    world_ranks(group, n, event->peers);
}

void makes_window(struct event *event, MPI_Comm comm, MPI_Win win)
{
    event->comm = comm_id(comm);
    event->newcomm = event->failed ? NOTHING : comm_of_window(win);
}

void makes_file(struct event *event, MPI_Comm comm, MPI_File file)
{
    event->comm = comm_id(comm);
    if (!event->failed && file != MPI_FILE_NULL)
        keep_file(file, event->comm);
}

void file_bytes(struct event *event, MPI_File file, MPI_Count count, MPI_Datatype type)
{
    event->comm = comm_of_file(file);
    event->bytes = size_of(count, type);
}
