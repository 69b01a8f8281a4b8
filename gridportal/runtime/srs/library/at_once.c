/* Threads of the library: they hear no signals and make no call of MPI. */
#define _POSIX_C_SOURCE 200809L
#include "internal.h"

#include <signal.h>
#include <string.h>

#define MOST 64

struct crew {
    pthread_mutex_t lock;
    srs_step *step;
    void *context;
    int64_t next, count;
    int problem;
    char message[SRS_SENTENCE];
};

int srs_start_thread(pthread_t *thread, void *(*body)(void *), void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(thread, NULL, body, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error ? srs_fail(SRS_NO_MEMORY, "No thread can be started: %s.", strerror(error)) : 0;
}

/* The number of the next step, -1 where there is nothing to do any more. */
static int64_t taken(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    int64_t number = crew->problem || crew->next == crew->count ? -1 : crew->next++;
    pthread_mutex_unlock(&crew->lock);
    return number;
}

static void note(struct crew *crew, int problem)
{
    pthread_mutex_lock(&crew->lock);
    if (problem && !crew->problem) {
        crew->problem = problem;
        srs_copy_text(crew->message, sizeof crew->message, srs_message);
    }
    pthread_mutex_unlock(&crew->lock);
}

static void *work(void *context)
{
    struct crew *crew = context;
    for (int64_t number; (number = taken(crew)) >= 0;)
        note(crew, crew->step(crew->context, number));
    return NULL;
}

int srs_at_once(int64_t count, int most, srs_step *step, void *context)
{
    struct crew crew = {.step = step, .context = context, .count = count};
    pthread_t threads[MOST];
    int started = 0;
    most = most < MOST ? most : MOST;
    pthread_mutex_init(&crew.lock, NULL);
    while (started < most - 1 && started < count - 1 && !srs_start_thread(threads + started, work, &crew))
        started++;
    work(&crew); /* the caller is one of them */
    while (started)
        pthread_join(threads[--started], NULL);
    pthread_mutex_destroy(&crew.lock);
    if (crew.problem)
        srs_copy_text(srs_message, sizeof srs_message, crew.message);
    return crew.problem;
}
