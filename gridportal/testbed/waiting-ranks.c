/* Ranks that wait for messages sleep until one comes, and leave their node's share of the processor to whom computes.
 *
 * MPICH and Open MPI look for messages over and over. On a node that has a processor of its own that costs nothing. Nodes
 * of the Grid have a part of one, dealt out in each period: a rank that spends it on looking has none left when its
 * message comes, and how long it then waits depends on how the periods of nodes happen to lie to each other.
 *
 * Loaded before a program's own libraries. What asks whether a file is ready and does not want to wait (a timeout of 0)
 * is answered as before; after SPINS such questions in a row, with nothing found and hardly any work between them, the
 * next ones wait for the same files, longer and longer. Whatever else a rank waits for, memory that ranks of a node
 * share or another thread, is seen LONGEST later at most. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SPINS 50         /* questions in a row */
#define NEAR 50000L      /* nanoseconds of the processor: who works longer between two questions does not only wait */
#define FIRST 20000L     /* nanoseconds of the first wait, */
#define SHARE 4          /* then this part of what it has waited so far, */
#define LONGEST 500000L  /* at most */
#define SIGNALS (_NSIG / 8)

static __thread int spins __attribute__((tls_model("initial-exec")));
static __thread long looked __attribute__((tls_model("initial-exec")));
static __thread long waited __attribute__((tls_model("initial-exec")));

static long worked(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1000000000L + now.tv_nsec;
}

static void found_something(void)
{
    spins = 0;
    waited = 0;
}

/* How long to wait after a question that found nothing; 0 for not at all. */
static long wait_for(void)
{
    long now = worked(), next = waited / SHARE;
    int near = now - looked < NEAR;
    looked = now;
    if (!near)
        found_something();
    if (!near || ++spins < SPINS)
        return 0;
    next = next < FIRST ? FIRST : next > LONGEST ? LONGEST : next;
    waited += next;
    return next;
}

/* What a wait came to, as a question without one answers it: no signal and no old kernel is an error. */
static int answer(long ready)
{
    looked = worked();
    if (ready > 0)
        found_something();
    return ready > 0 ? (int)ready : 0;
}

/* The C library's own, which a thread that is cancelled leaves, for whoever wants to wait. */
#define THE_LIBRARYS(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int ask_epoll(int file, struct epoll_event *events, int most, const sigset_t *mask)
{
    long ready = syscall(SYS_epoll_pwait, file, events, most, 0, mask, SIGNALS);
    if (ready) {
        found_something();
        return (int)ready;
    }
    long next = wait_for();
    if (!next)
        return 0;
    int before = errno;
    struct timespec pause = {0, next};
    ready = syscall(SYS_epoll_pwait2, file, events, most, &pause, mask, SIGNALS);
    errno = before;
    return answer(ready);
}

int epoll_wait(int file, struct epoll_event *events, int most, int timeout)
{
    return timeout ? THE_LIBRARYS(epoll_wait)(file, events, most, timeout) : ask_epoll(file, events, most, NULL);
}

int epoll_pwait(int file, struct epoll_event *events, int most, int timeout, const sigset_t *mask)
{
    return timeout ? THE_LIBRARYS(epoll_pwait)(file, events, most, timeout, mask) : ask_epoll(file, events, most, mask);
}

int poll(struct pollfd *files, nfds_t count, int timeout)
{
    struct timespec pause = {0, 0};
    if (timeout)
        return THE_LIBRARYS(poll)(files, count, timeout);
    long ready = syscall(SYS_ppoll, files, count, &pause, NULL, SIGNALS);
    if (ready) {
        found_something();
        return (int)ready;
    }
    pause.tv_nsec = wait_for();
    if (!pause.tv_nsec)
        return 0;
    int before = errno;
    ready = syscall(SYS_ppoll, files, count, &pause, NULL, SIGNALS);
    errno = before;
    return answer(ready);
}
