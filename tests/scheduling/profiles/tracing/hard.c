/* What programs do that is seldom and allowed; argv[1] says which, argv[2] is a folder. */
#include <locale.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MANY 2000

static int rank, size;
static const char *folder;

/* Numbers with a comma. */
static int commas(void)
{
    if (!setlocale(LC_ALL, "") || strcmp(localeconv()->decimal_point, ","))
        return 2;
    for (int i = 0; i < 4; i++) {
        usleep(150000);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return 0;
}

static void *five(void *nothing)
{
    int out = 1, in;
    for (int i = 0; i < 5; i++)
        MPI_Sendrecv(&out, 1, MPI_INT, rank, 0, &in, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return nothing;
}

/* One thread after the other. */
static int short_threads(void)
{
    for (int i = 0; i < 40; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, five, NULL);
        pthread_join(thread, NULL);
    }
    return 0;
}

/* What is not there after a call that failed has a handle that means nothing. */
static int failures(void)
{
    MPI_Comm part;
    MPI_File file;
    memset(&part, 0x5a, sizeof part);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_split(MPI_COMM_WORLD, -77, 0, &part) == MPI_SUCCESS) /* of an MPI that checks nothing */
        MPI_Comm_free(&part);
    char path[4096];
    snprintf(path, sizeof path, "%s/nothing", folder);
    for (int i = 0; i < 3; i++)
        if (MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file) == MPI_SUCCESS)
            return 3;
    MPI_Barrier(MPI_COMM_WORLD);
    return 0;
}

/* Small messages that are sent at once all have one handle in some MPIs. One thread waits for such a message and for an
 * answer that takes its time, the other one meanwhile for many of them. */
static volatile int over;

static void *asking(void *nothing)
{
    int x = 0, y;
    for (int i = 0; i < 300; i++) {
        MPI_Request both[2];
        if (rank) {
            MPI_Recv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            usleep(200);
            MPI_Send(&x, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
        } else {
            MPI_Irecv(&y, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &both[0]);
            MPI_Isend(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &both[1]);
            MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
        }
    }
    over = 1;
    return nothing;
}

static void *sending(void *nothing)
{
    int last = 0;
    while (!last) {
        MPI_Request request;
        if (rank) {
            MPI_Recv(&last, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            last = over;
            MPI_Isend(&last, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        }
    }
    return nothing;
}

static int threads(void)
{
    pthread_t one, other;
    pthread_create(&one, NULL, asking, NULL);
    pthread_create(&other, NULL, sending, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}

/* Calls with long lists, each another one. */
static int long_lists(void)
{
    static MPI_Request requests[MANY];
    static int x[MANY];
    for (int i = 0; i < MANY; i++)
        MPI_Recv_init(&x[i], 1, MPI_INT, MPI_PROC_NULL, i, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < 6000; i++) {
        int n = 1 + rand() % MANY;
        MPI_Startall(n, requests);
        MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < MANY; i++)
        MPI_Request_free(&requests[i]);
    return 0;
}

/* Arguments that do not count hold anything. */
static int not_significant(void)
{
    MPI_Comm own, other;
    MPI_Datatype none;
    int mine = rank, all[2] = {0, 0};
    memset(&none, 0, sizeof none);
    MPI_Gather(rank ? &mine : MPI_IN_PLACE, 1, rank ? MPI_INT : none, all, 1, rank ? none : MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatter(all, 1, rank ? none : MPI_INT, rank ? &mine : MPI_IN_PLACE, 1, rank ? MPI_INT : none, 0, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &own);
    MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - rank, 5, &other);
    MPI_Gather(&mine, 1, rank ? MPI_INT : none, all, 1, rank ? none : MPI_INT, rank ? 0 : MPI_ROOT, other);
    MPI_Comm_free(&other);
    MPI_Comm_free(&own);
    return 0;
}

/* One that looks whether a message is there, again and again. */
static int looking(void)
{
    MPI_Request request;
    int x = 0, there = 0;
    if (rank) {
        sleep(1);
        return MPI_Send(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    MPI_Irecv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    while (!there)
        MPI_Request_get_status(request, &there, MPI_STATUS_IGNORE);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* Nothing more can be written. */
static int full(void)
{
    struct rlimit little = {100, 100};
    signal(SIGXFSZ, SIG_IGN);
    MPI_Barrier(MPI_COMM_WORLD);
    return setrlimit(RLIMIT_FSIZE, &little);
}

int main(int argc, char **argv)
{
    char kind = argc > 1 ? *argv[1] : ' ';
    int level, wanted = strchr("st", kind) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, failed = 1;
    folder = argc > 2 ? argv[2] : ".";
    MPI_Init_thread(&argc, &argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    switch (kind) {
    case 'c': failed = commas(); break;
    case 's': failed = short_threads(); break;
    case 'e': failed = failures(); break;
    case 't': failed = threads(); break;
    case 'l': failed = long_lists(); break;
    case 'n': failed = not_significant(); break;
    case 'g': failed = looking(); break;
    case 'f': failed = full(); break;
    }
    MPI_Finalize();
    return failed;
}
