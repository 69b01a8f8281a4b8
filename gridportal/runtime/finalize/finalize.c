/* Programs of MPICH 4.0 over UCX end, too, where ranks talk over TCP.
 *
 * In MPI_Finalize a rank closes its connections, and then waits in a read for the word of mpiexec that all ranks have.
 * It makes no progress meanwhile, but over TCP a rank that still closes its own needs answers from the others. So while
 * a rank's connections are closing, a read that would wait lets UCX work. Before that, and in all other programs,
 * nothing changes.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#define WORKERS 64
#define PAUSE 1 /* ms between two looks at UCX */

typedef void *Worker;

static Worker workers[WORKERS];
static int count = 0;
/* Of the thread that is in MPI_Finalize: no other may touch its workers. */
static __thread int closing = 0;

static void *real(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

int ucp_worker_create(void *context, const void *parameters, Worker *made)
{
    int (*create)(void *, const void *, Worker *) = real("ucp_worker_create");
    int status = create(context, parameters, made);
    if (status == 0 && count < WORKERS)
        workers[count++] = *made;
    return status;
}

void *ucp_disconnect_nb(void *endpoint)
{
    void *(*disconnect)(void *) = real("ucp_disconnect_nb");
    closing = 1;
    return disconnect(endpoint);
}

void ucp_worker_destroy(Worker worker)
{
    void (*destroy)(Worker) = real("ucp_worker_destroy");
    closing = 0;
    for (int i = 0; i < count; i++)
        if (workers[i] == worker)
            workers[i] = workers[--count];
    destroy(worker);
}

static void work_until_readable(int file)
{
    unsigned (*progress)(Worker) = real("ucp_worker_progress");
    struct pollfd readable = {.fd = file, .events = POLLIN};
    while (progress && poll(&readable, 1, PAUSE) == 0)
        for (int i = 0; i < count; i++)
            progress(workers[i]);
}

ssize_t read(int file, void *bytes, size_t most)
{
    static ssize_t (*plain)(int, void *, size_t);
    if (!plain)
        plain = real("read");
    if (closing && !(fcntl(file, F_GETFL) & O_NONBLOCK))
        work_until_readable(file);
    return plain(file, bytes, most);
}
