/* One kind of calls after the other, with figures that the test knows; argv[1] says which, a letter each. */
#include <arpa/inet.h>
#include <mpi.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#if MPI_VERSION < 4 && defined(OPEN_MPI)
#include <mpi-ext.h>
#define MPI_Neighbor_alltoall_init MPIX_Neighbor_alltoall_init
#define MPI_Bcast_init MPIX_Bcast_init
#endif

static int rank, size, right, left;
static double out[4096], in[4096];
static const char *directory;

static void fences(void)
{
    MPI_Win win;
    double *base;
    MPI_Win_allocate(800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_fence(0, win);
    for (int i = 0; i < 5; i++) {
        MPI_Put(out, 10, MPI_DOUBLE, right, 0, 10, MPI_DOUBLE, win);
        MPI_Get(in, 3, MPI_INT, left, 50, 3, MPI_INT, win);
        MPI_Win_fence(0, win);
    }
    MPI_Win_free(&win);
}

static void locks(void)
{
    MPI_Win win;
    double one = 1.0, *base;
    MPI_Win_allocate(800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
    MPI_Accumulate(&one, 1, MPI_DOUBLE, right, 0, 1, MPI_DOUBLE, MPI_SUM, win);
    MPI_Win_flush(right, win);
    MPI_Fetch_and_op(&one, in, MPI_DOUBLE, right, 0, MPI_SUM, win);
    MPI_Win_unlock(right, win);
    MPI_Win_free(&win);
}

static void posts(void)
{
    MPI_Win win;
    MPI_Group world, sources, targets;
    double *base;
    MPI_Win_allocate(800, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &left, &sources);
    MPI_Group_incl(world, 1, &right, &targets);
    MPI_Win_post(sources, 0, win);
    MPI_Win_start(targets, 0, win);
    MPI_Put(out, 6, MPI_DOUBLE, right, 0, 6, MPI_DOUBLE, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    MPI_Win_free(&win);
}

static void persistent(void)
{
    MPI_Request kept[2];
    MPI_Send_init(out, 7, MPI_INT, right, 1, MPI_COMM_WORLD, &kept[0]);
    MPI_Recv_init(in, 7, MPI_INT, left, 1, MPI_COMM_WORLD, &kept[1]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(2, kept);
        MPI_Waitall(2, kept, MPI_STATUSES_IGNORE);
    }
    MPI_Request_free(&kept[0]);
    MPI_Request_free(&kept[1]);
}

static void collectives_init(void)
{
    MPI_Request kept;
    MPI_Bcast_init(out, 9, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &kept);
    for (int i = 0; i < 4; i++) {
        MPI_Start(&kept);
        MPI_Wait(&kept, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&kept);
}

static void partitioned(void)
{
#if MPI_VERSION >= 4
    MPI_Request to, from;
    int all = 0, three[] = {3};
    MPI_Psend_init(out, 4, 5, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &to);
    MPI_Precv_init(in, 4, 5, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &from);
    MPI_Start(&from);
    MPI_Start(&to);
    MPI_Pready(0, to);
    MPI_Pready_range(1, 2, to);
    MPI_Pready_list(1, three, to);
    while (!all)
        MPI_Parrived(from, 3, &all);
    MPI_Wait(&to, MPI_STATUS_IGNORE);
    MPI_Wait(&from, MPI_STATUS_IGNORE);
    MPI_Request_free(&to);
    MPI_Request_free(&from);
#endif
}

static void neighbours(void)
{
    MPI_Comm ring;
    MPI_Request request;
    int periodic = 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Neighbor_alltoall(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, ring);
    MPI_Ineighbor_alltoall(out, 3, MPI_DOUBLE, in, 3, MPI_DOUBLE, ring, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Neighbor_alltoall_init(out, 4, MPI_DOUBLE, in, 4, MPI_DOUBLE, ring, MPI_INFO_NULL, &request);
    for (int i = 0; i < 2; i++) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    MPI_Comm_free(&ring);
}

static void files(void)
{
    char path[4096];
    MPI_File file;
    MPI_Request request;
    snprintf(path, sizeof path, "%s/data", directory);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_write_at_all(file, 800 * rank, out, 100, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_iwrite_at(file, 800 * rank, out, 10, MPI_DOUBLE, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_File_read_at(file, 800 * left, in, 50, MPI_DOUBLE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void between(void)
{
    MPI_Comm half, other;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 5, &other);
    if (rank % 2 == 0)
        MPI_Send(out, 11, MPI_INT, rank / 2, 6, other);
    else
        MPI_Recv(in, 11, MPI_INT, rank / 2, 6, other, MPI_STATUS_IGNORE);
    MPI_Comm_free(&other);
    MPI_Comm_free(&half);
}

static void buffered(void)
{
    void *given;
    int room = (int)sizeof out + MPI_BSEND_OVERHEAD;
    MPI_Buffer_attach(malloc((size_t)room), room);
    if (rank == 0)
        MPI_Bsend(out, 13, MPI_INT, right, 8, MPI_COMM_WORLD);
    else if (rank == 1)
        MPI_Recv(in, 13, MPI_INT, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
#if MPI_VERSION >= 4
    MPI_Count size;
    MPI_Buffer_detach_c(&given, &size);
#else
    int size;
    MPI_Buffer_detach(&given, &size);
#endif
    free(given);
}

/* Ranks 0 and 1 at the two ends of a connection. */
static void joined(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    MPI_Comm other;
    int end = socket(AF_INET, SOCK_STREAM, 0);
    if (rank == 0) {
        bind(end, (struct sockaddr *)&address, length);
        listen(end, 1);
        getsockname(end, (struct sockaddr *)&address, &length);
        MPI_Send(&address, sizeof address, MPI_BYTE, 1, 3, MPI_COMM_WORLD);
        end = accept(end, NULL, NULL);
    } else {
        MPI_Recv(&address, sizeof address, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        connect(end, (struct sockaddr *)&address, length);
    }
    MPI_Comm_join(end, &other);
    MPI_Comm_disconnect(&other);
}

static void *sending(void *times)
{
    int tag = *(int *)times;
    for (int i = 0; i < tag; i++)
        MPI_Sendrecv(out, 1, MPI_INT, rank, tag, &in[tag], 1, MPI_INT, rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return NULL;
}

static void threads(void)
{
    pthread_t one, other;
    int ten = 10, twenty = 20;
    pthread_create(&one, NULL, sending, &ten);
    pthread_create(&other, NULL, sending, &twenty);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
}

static void spawned(const char *program)
{
    MPI_Comm children;
    char *nothing[] = {"-", NULL};
    MPI_Comm_spawn((char *)program, nothing, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
    MPI_Comm_disconnect(&children);
}

static void child(void)
{
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        MPI_Comm_disconnect(&parent);
}

int main(int argc, char **argv)
{
    int level, wanted = argc > 1 && strchr(argv[1], 't') ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    directory = argc > 2 ? argv[2] : ".";
    MPI_Init_thread(&argc, &argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    for (const char *kind = argc > 1 ? argv[1] : ""; *kind; kind++)
        switch (*kind) {
        case 'f': fences(); break;
        case 'l': locks(); break;
        case 'w': posts(); break;
        case 'p': persistent(); break;
        case 'c': collectives_init(); break;
        case 'q': partitioned(); break;
        case 'n': neighbours(); break;
        case 'i': files(); break;
        case 'b': between(); break;
        case 'd': buffered(); break;
        case 'j': joined(); break;
        case 't': threads(); break;
        case 's': spawned(argv[0]); break;
        case '-': child(); break;
        }
    MPI_Finalize();
    return 0;
}
