/* What programs do with MPI beside sending messages; rank 0 prints "kind NAME" for what was right on every rank. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define MANY 40000

static int wrong = 0;

static void confirm(const char *kind, int right)
{
    int rank, all;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Allreduce(&right, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    wrong |= !all;
    if (rank == 0)
        printf(all ? "kind %s\n" : "WRONG: %s\n", kind);
}

/* Put, get and accumulate at the right neighbour's, by all three ways to synchronize. `at`: displacement there. */
static int exercise(MPI_Win window, double *mine, MPI_Aint at, MPI_Aint unit)
{
    int rank, size, right_thing = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    double *values = malloc(MANY * sizeof *values), got = -1.0, one = 1.0;
    for (int i = 0; i < MANY; i++)
        values[i] = rank + i;

    MPI_Win_fence(0, window);
    MPI_Put(values, MANY, MPI_DOUBLE, right, at, MANY, MPI_DOUBLE, window);
    MPI_Win_fence(0, window);
    right_thing &= mine[MANY - 1] == left + MANY - 1;
    MPI_Win_fence(0, window);
    MPI_Accumulate(values, MANY, MPI_DOUBLE, right, at, MANY, MPI_DOUBLE, MPI_SUM, window);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    right_thing &= mine[MANY - 1] == 2.0 * (left + MANY - 1);

    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, window);
    MPI_Put(values, 1, MPI_DOUBLE, right, at, 1, MPI_DOUBLE, window);
    MPI_Win_unlock(right, window);
    MPI_Win_lock_all(0, window);
    MPI_Get(&got, 1, MPI_DOUBLE, right, at, 1, MPI_DOUBLE, window);
    MPI_Win_flush(right, window);
    right_thing &= got == rank;
    MPI_Fetch_and_op(&one, &got, MPI_DOUBLE, right, at + unit, MPI_SUM, window);
    MPI_Win_unlock_all(window);
    right_thing &= got == 2.0 * (rank + 1);
    MPI_Barrier(MPI_COMM_WORLD);

    MPI_Group world, to, from;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &right, &to);
    MPI_Group_incl(world, 1, &left, &from);
    MPI_Win_post(from, 0, window);
    MPI_Win_start(to, 0, window);
    MPI_Put(values + 7, 1, MPI_DOUBLE, right, at, 1, MPI_DOUBLE, window);
    MPI_Win_complete(window);
    MPI_Win_wait(window);
    right_thing &= mine[0] == left + 7;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Group_free(&to);
    MPI_Group_free(&from);
    MPI_Group_free(&world);
    free(values);
    return right_thing;
}

static void one_sided(void)
{
    int rank, size;
    double *memory = calloc(MANY, sizeof *memory), *made;
    MPI_Aint bytes = MANY * sizeof *memory, address;
    MPI_Win window;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_create(memory, bytes, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    confirm("one-sided, created window", exercise(window, memory, 0, 1));
    MPI_Win_free(&window);
    MPI_Win_allocate(bytes, sizeof *made, MPI_INFO_NULL, MPI_COMM_WORLD, &made, &window);
    confirm("one-sided, allocated window", exercise(window, made, 0, 1));
    MPI_Win_free(&window);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Win_attach(window, memory, bytes);
    MPI_Aint *addresses = malloc(size * sizeof *addresses);
    MPI_Get_address(memory, &address);
    MPI_Allgather(&address, 1, MPI_AINT, addresses, 1, MPI_AINT, MPI_COMM_WORLD);
    confirm("one-sided, dynamic window", exercise(window, memory, addresses[(rank + 1) % size], sizeof *memory));
    MPI_Win_detach(window, memory);
    MPI_Win_free(&window);
    free(addresses);
    free(memory);
}

/* Among the ranks of each node. */
static void shared_window(void)
{
    int rank, size, *mine, *other, unit;
    MPI_Aint bytes;
    MPI_Comm node;
    MPI_Win window;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &rank);
    MPI_Comm_size(node, &size);
    MPI_Win_allocate_shared(sizeof *mine, sizeof *mine, MPI_INFO_NULL, node, &mine, &window);
    MPI_Win_fence(0, window);
    *mine = rank;
    MPI_Win_fence(0, window);
    MPI_Win_shared_query(window, (rank + 1) % size, &bytes, &unit, &other);
    confirm("one-sided, shared window", *other == (rank + 1) % size);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
    MPI_Comm_free(&node);
}

static void *around(void *communicator)
{
    MPI_Comm own = *(MPI_Comm *)communicator;
    int rank, size, got;
    long right = 1;
    MPI_Comm_rank(own, &rank);
    MPI_Comm_size(own, &size);
    for (int i = 0; i < 20; i++) {
        int value = rank + i, left = (rank + size - 1) % size;
        MPI_Sendrecv(&value, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, left, 0, own, MPI_STATUS_IGNORE);
        right &= got == left + i;
    }
    return (void *)right;
}

/* Two threads of each rank send at once, each over a communicator of its own. */
static void threads(void)
{
    MPI_Comm own[2];
    pthread_t running[2];
    long right = 1;
    for (int i = 0; i < 2; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
    for (int i = 0; i < 2; i++)
        pthread_create(&running[i], NULL, around, &own[i]);
    for (int i = 0; i < 2; i++) {
        void *result;
        pthread_join(running[i], &result);
        right &= (long)result;
        MPI_Comm_free(&own[i]);
    }
    confirm("threads", right);
}

/* One file in `folder`: all write their part at once, each reads its neighbour's. */
static void file_of_all(const char *folder)
{
    int rank, size, got = -1;
    char path[4096];
    MPI_File file;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(path, sizeof path, "%s/all-ranks", folder);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, rank * sizeof rank, &rank, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at_all(file, (rank + 1) % size * sizeof rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    confirm("MPI-IO", got == (rank + 1) % size);
}
