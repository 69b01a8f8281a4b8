/* The recording as a whole: when it runs, what time is whose, and the file of this rank.
 *
 * GRIDPORTAL_TRACE_DIR names the directory; without it every call goes straight through. With GRIDPORTAL_TRACE_MARKS
 * rank 0 alone is recorded, and only its marks are written. Each thread has its own list
 * of calls. Only what they share is locked, and only where the program asked for MPI_THREAD_MULTIPLE. */
#define _GNU_SOURCE
#include "record.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SAMPLED 8 /* calls of which one says how long we take */
#define WEIGHT 0.25 /* of it in the mean */
#define LONGEST 1e-6 /* s */
#define OWN_LISTS 16 /* threads that have lists of their own also when they have ended */
#define WAITED 1 /* s, at the end of the process, for a thread that is recording a call */
#define SPINNING 5e-6 /* s: polls that follow each other faster wait, slower ones compute between */

struct recording recording;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread *idle; /* threads that have ended */
static int n_threads, endings;
static pthread_key_t ending; /* where `endings` says so: the system has few of them */
static __thread struct thread *own __attribute__((tls_model("initial-exec")));

void *scratch(struct event *event, int which, size_t bytes)
{
    struct thread *thread = event->thread;
    if (thread->scratch_sizes[which] < bytes) {
        thread->scratches[which] = realloc(thread->scratches[which], 2 * bytes);
        thread->scratch_sizes[which] = 2 * bytes;
        if (!thread->scratches[which])
            abort();
    }
    return thread->scratches[which];
}

void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found) {
        fprintf(stderr, "The MPI of this program has no %s: it is another one than the recording library was built with.\n",
                name);
        abort();
    }
    return found;
}

void hold(void)
{
    if (recording.locked)
        pthread_mutex_lock(&lock);
}

void release(void)
{
    if (recording.locked)
        pthread_mutex_unlock(&lock);
}

static struct thread *make_thread(void)
{
    struct thread *made = calloc(1, sizeof *made);
    if (!made)
        abort();
    made->clocks = make_clocks();
    made->fold = make_fold();
    pthread_mutex_lock(&lock);
    made->before = recording.threads;
    recording.threads = made;
    n_threads++;
    pthread_mutex_unlock(&lock);
    return made;
}

/* A list takes half a megabyte. A program that starts threads again and again goes on with those of threads that have
 * ended, once it has had OWN_LISTS. */
static struct thread *ended_thread(void)
{
    struct thread *found = NULL;
    pthread_mutex_lock(&lock);
    if (n_threads >= OWN_LISTS && idle) {
        found = idle;
        idle = found->idle;
    }
    pthread_mutex_unlock(&lock);
    if (found)
        restart_clocks(found->clocks);
    return found;
}

static struct thread *new_thread(void)
{
    struct thread *made = ended_thread();
    own = made ? made : make_thread();
    own->left_at = now();
    own->depth = 0;
    if (endings)
        pthread_setspecific(ending, own);
    return own;
}

static void ends(void *thread)
{
    struct thread *ended = thread;
    own = NULL; /* what it calls from now on is another's */
    pthread_mutex_lock(&lock);
    if (ended != recording.main) {
        ended->idle = idle;
        idle = ended;
    }
    pthread_mutex_unlock(&lock);
}

void begin(struct event *event, int kind)
{
    struct thread *thread = own;
    event->thread = NULL;
    event->nested = 0;
    if (!recording.on)
        return;
    if (!thread)
        thread = new_thread();
    event->nested = thread->depth++ > 0;
    if (event->nested)
        return;
    event->thread = thread;
    event->kind = kind;
    event->comm = event->newcomm = event->request = event->root = NOTHING;
    event->peer = event->source = event->tag = event->recv_tag = NOTHING;
    event->bytes = event->recv_bytes = 0.0;
    event->n_requests = event->n_counts = event->n_peers = event->n_remembered = 0;
    double came = now();
    event->gap = came > thread->left_at ? came - thread->left_at : 0.0;
    event->cpu = cpu_of_gap(thread->clocks, event->gap, came);
    if (recording.touched.looking && thread == recording.main)
        came = touched_gap_ends(&recording.touched, event->cpu, came);
    event->entered = came;
}

int leave(struct event *event, int code)
{
    struct thread *thread = event->thread;
    if (!thread) {
        if (event->nested)
            own->depth--;
        return 0;
    }
    event->left = now();
    event->inside = event->left - event->entered;
    event->failed = code != MPI_SUCCESS;
    hold(); /* what describes the event may call MPI: the depth stays */
    return 1;
}

/* Our own time is neither the program's nor MPI's. It is measured now and then, and when it was long. */
static void done(struct event *event, int slow)
{
    struct thread *thread = event->thread;
    double left = event->left;
    release();
    thread->depth--;
    int sample = thread->turn++ % SAMPLED == 0;
    thread->left_at = slow || sample ? now() : left + thread->lasts;
    if (sample && thread->left_at - left < LONGEST) /* else somebody took the processor away */
        thread->lasts += WEIGHT * (thread->left_at - left - thread->lasts);
    if (thread == recording.main && !recording.marks_only)
        thread->left_at = touched_gap_begins(&recording.touched, thread->left_at);
    gap_begins(thread->clocks, thread->left_at);
}

void commit(struct event *event)
{
    struct thread *thread = event->thread;
    if (thread->polled) {
        event->gap += thread->poll_gap;
        event->cpu += thread->poll_cpu;
        event->inside += thread->poll_wait;
        thread->poll_gap = thread->poll_cpu = thread->poll_wait = 0.0;
        thread->polled = 0;
    }
    thread->calls++;
    int slow = fold_event(thread->fold, event), count, place = fold_raised(thread->fold, &count);
    if (place >= 0 && recording.rank == 0 && thread == recording.main)
        mark_round(place, count, event->left - recording.started_at);
    done(event, slow || recording.locked);
}

void polled(struct event *event)
{
    struct thread *thread = event->thread;
    int waiting = event->gap < SPINNING;
    thread->polls++;
    thread->polled = 1;
    thread->poll_wait += event->inside + (waiting ? event->gap : 0.0);
    thread->poll_gap += waiting ? 0.0 : event->gap;
    thread->poll_cpu += waiting ? 0.0 : event->cpu;
    done(event, 0);
}

static void start(int rank, int ranks)
{
    int level = MPI_THREAD_SINGLE;
    recording.marks_only = getenv("GRIDPORTAL_TRACE_MARKS") != NULL;
    if (recording.marks_only && rank > 0)
        return; /* one rank tells how far all are */
    PMPI_Query_thread(&level);
    recording.locked = level == MPI_THREAD_MULTIPLE;
    recording.rank = rank, recording.ranks = ranks;
    recording.owner = getpid();
    endings = !pthread_key_create(&ending, ends);
    recording.pace = pace();
    recording.helped = helped();
    recording.ready = ready();
    recording.main = new_thread();
    recording.started_at = recording.main->left_at;
    begin_touched(&recording.touched, recording.started_at);
    if (rank == 0)
        start_marks(recording.directory);
    recording.on = 1;
}

/* Processes that others spawned have a world of their own: their trace would take the place of their parents'. */
static int wanted(void)
{
    recording.directory = getenv("GRIDPORTAL_TRACE_DIR");
    return recording.directory && *recording.directory && !recording.on && !recording.over;
}

void start_recording(void)
{
    MPI_Comm parent = MPI_COMM_NULL;
    MPI_Group group;
    int rank, ranks;
    if (!wanted())
        return;
    PMPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    PMPI_Comm_group(MPI_COMM_WORLD, &group);
    world_is(group);
    comm_id(MPI_COMM_WORLD);
    start(rank, ranks);
}

void start_session(MPI_Group world)
{
    int rank = MPI_UNDEFINED, ranks = 0;
    if (!wanted())
        return;
    PMPI_Group_rank(world, &rank);
    PMPI_Group_size(world, &ranks);
    if (rank == MPI_UNDEFINED)
        return;
    world_is(world);
    start(rank, ranks);
}

/* Where a thread ends the process others may be recording calls, and this one too. */
static int hold_at_end(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += WAITED;
    return recording.locked && !pthread_mutex_timedlock(&lock, &until);
}

void finish_recording(int complete)
{
    if (!recording.on || getpid() != recording.owner) /* a forked child knows what its parent will write */
        return;
    recording.on = 0;
    recording.over = 1;
    if (recording.marks_only)
        return;
    int held = hold_at_end();
    write_recording(complete);
    if (held)
        release();
}

/* A program that ends without MPI_Finalize still leaves what was seen. */
__attribute__((destructor)) static void at_exit(void)
{
    finish_recording(0);
}
