/* How all ranks learn, at the same call, that the program is to stop or to write a checkpoint: stop_requests.py and
 * stop_votes.py in C.
 *
 * Every few calls the ranks begin a reduction of what each has heard, and take its result a few calls later. How many
 * calls lie between is rank 0's to say: about STRETCH seconds, whatever an iteration takes. None, AT_ONCE, where an
 * iteration takes SLOW seconds or more: each call waits for its own vote then. */
#define _POSIX_C_SOURCE 200809L
#include "agreement.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STRETCH 0.05 /* seconds between two votes, about */
#define MOST_CALLS 100000
#define GROWTH 4
#define SLOW 0.5 /* seconds of an iteration */
#define AT_ONCE 0
#define LOOK 0.2   /* seconds before rank 0 looks for the file again */
#define SPARE 10.0 /* seconds before the end of a run, beside twice what the last checkpoint took */
#define ENDS "GRIDPORTAL_ENDS_AT"

static volatile sig_atomic_t signalled;
static struct sigaction former;

/* MPICH handles SIGUSR1 itself, from MPI_Init on: whoever did so before goes on to. */
static void hear(int number, siginfo_t *from, void *context)
{
    signalled = 1;
    if (former.sa_flags & SA_SIGINFO)
        former.sa_sigaction(number, from, context);
    else if (former.sa_handler != SIG_DFL && former.sa_handler != SIG_IGN)
        former.sa_handler(number);
}

/* SIGUSR1 asks for the stop. */
static void handle_signal(struct srs_stop *stop)
{
    struct sigaction mine, before;
    if (sigaction(SIGUSR1, NULL, &before) || (before.sa_flags & SA_SIGINFO && before.sa_sigaction == hear))
        return;
    memset(&mine, 0, sizeof mine);
    mine.sa_sigaction = hear;
    mine.sa_flags = SA_RESTART | SA_SIGINFO;
    sigemptyset(&mine.sa_mask);
    former = before;
    signalled = 0;
    stop->handles = !sigaction(SIGUSR1, &mine, NULL);
}

int srs_stop_begin(struct srs_stop *stop, MPI_Comm comm, const char *folder, double every)
{
    memset(stop, 0, sizeof *stop);
    stop->folder = folder;
    stop->every = every;
    stop->due = stop->stretch = 1;
    stop->vote = MPI_REQUEST_NULL;
    stop->written = stop->began = srs_now();
    stop->looked = -LOOK;
    if (MPI_Comm_dup(comm, &stop->comm)) /* the program's own messages are never mixed up with these */
        return srs_fail(SRS_BAD_MPI, "MPI could not make a communicator of its own.");
    MPI_Comm_rank(comm, &stop->rank);
    handle_signal(stop);
    return 0;
}

static int is_there(const char *folder, const char *name)
{
    char path[4096];
    return !srs_join(path, sizeof path, folder, name) && !access(path, F_OK);
}

/* Whether the time of the run is nearly over. */
static int ending(const struct srs_stop *stop)
{
    char *rest;
    const char *word = getenv(ENDS);
    double ends = word ? strtod(word, &rest) : 0;
    if (!word || rest == word || (*rest && *rest != '.') || !isfinite(ends))
        return 0;
    return srs_unix_time() > ends - SPARE - 2 * stop->took;
}

static struct srs_wish heard(struct srs_stop *stop)
{
    struct srs_wish wish = {stop->asked || (stop->handles && signalled), 0, 0};
    if (stop->rank)
        return wish;
    double now = srs_now();
    if (now - stop->looked >= LOOK) {
        stop->looked = now;
        stop->seen = !stop->unmovable && is_there(stop->folder, "stop");
    }
    wish.stop = wish.stop || stop->seen || ending(stop);
    wish.checkpoint = !stop->busy && stop->every > 0 && now - stop->written >= stop->every;
    return wish;
}

/* What rank 0 wants; 0 on the others, who go by it. */
static double next_stretch(struct srs_stop *stop)
{
    double now = srs_now(), calls = (double)(stop->calls - stop->before), each = (now - stop->began) / calls;
    stop->began = now;
    stop->before = stop->calls;
    if (stop->rank)
        return 0;
    if (each >= SLOW)
        return AT_ONCE;
    double wanted = each > 0 ? STRETCH / each : MOST_CALLS;
    wanted = fmin(fmin(wanted, calls * GROWTH), MOST_CALLS);
    return floor(fmax(1, wanted));
}

/* Of the vote that is under way, if one is; it says how long the next stretch is. */
static struct srs_wish result(struct srs_stop *stop)
{
    struct srs_wish agreed = {0, 0, -1};
    if (stop->vote == MPI_REQUEST_NULL)
        return agreed;
    MPI_Wait(&stop->vote, MPI_STATUS_IGNORE);
    stop->stretch = (int64_t)stop->all[2];
    agreed.stop = stop->all[0] > 0;
    agreed.checkpoint = stop->all[1] > 0;
    agreed.written = -(int64_t)stop->all[3];
    return agreed;
}

struct srs_wish srs_stop_vote(struct srs_stop *stop, int64_t (*done)(const void *), const void *writer)
{
    struct srs_wish agreed = {0, 0, -1}, wish = {0, 0, 0};
    if (++stop->calls < stop->due)
        return agreed;
    agreed = result(stop);
    int answering = agreed.stop || agreed.checkpoint;
    if (!answering) /* what is answered now is not asked again */
        wish = heard(stop);
    stop->mine[0] = wish.stop;
    stop->mine[1] = wish.checkpoint;
    stop->mine[2] = next_stretch(stop);
    stop->mine[3] = -(double)done(writer); /* the least of all */
    MPI_Iallreduce(stop->mine, stop->all, 4, MPI_DOUBLE, MPI_MAX, stop->comm, &stop->vote);
    if (stop->stretch == AT_ONCE && !answering)
        agreed = result(stop);
    stop->due = stop->calls + (stop->stretch > 1 ? stop->stretch : 1);
    return agreed;
}

void srs_stop_begun(struct srs_stop *stop)
{
    stop->written = srs_now();
}

void srs_stop_written(struct srs_stop *stop, double took)
{
    stop->written = srs_now();
    stop->took = took;
}

/* The request is done with: the program stops, or goes on for the problem that srs_message names. */
void srs_stop_answer(struct srs_stop *stop, int problem)
{
    char path[4096];
    stop->asked = stop->seen = 0;
    signalled = 0;
    if (stop->rank)
        return;
    if (!srs_join(path, sizeof path, stop->folder, "stop") && remove(path) && errno != ENOENT) {
        stop->unmovable = 1; /* heard only once */
        fprintf(stderr, "%s cannot be taken away: %s.\n", path, strerror(errno));
    }
    if (!srs_join(path, sizeof path, stop->folder, "not-stopped.json"))
        remove(path); /* what was said of an earlier request; mostly there is none */
    if (!problem)
        return;
    fprintf(stderr, "The program goes on: %s\n", srs_message);
    char why[SRS_SENTENCE];
    srs_copy_text(why, sizeof why, srs_message);
    struct srs_text text = {0};
    double now = srs_unix_time();
    srs_add(&text, "{\"at\": %lld.%06d, \"problem\": ", (long long)now, (int)(1e6 * (now - floor(now))));
    srs_add_quoted(&text, why);
    srs_add(&text, "}");
    if (!text.failed && !srs_make_folders(stop->folder)) /* the disk may be what is full: this is only tried */
        srs_write_file(stop->folder, "not-stopped.json", text.at, text.length, 0);
    srs_drop(&text);
    srs_copy_text(srs_message, sizeof srs_message, why);
}

void srs_stop_end(struct srs_stop *stop)
{
    if (stop->vote != MPI_REQUEST_NULL)
        MPI_Wait(&stop->vote, MPI_STATUS_IGNORE);
    MPI_Comm_free(&stop->comm);
    if (stop->handles)
        sigaction(SIGUSR1, &former, NULL);
}
