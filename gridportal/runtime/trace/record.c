/* The recording as a whole: when it runs, what time is whose, and the file of this rank.
 *
 * GRIDPORTAL_TRACE_DIR names the directory; without it every call goes straight through. */
#define _GNU_SOURCE
#include "trace.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SPINNING 5e-6 /* s: polls that follow each other faster wait, slower ones compute between */
#define SCRATCHES 4

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int depth;
static __thread double cpu_left = -1.0;
static __thread void *scratches[SCRATCHES];
static __thread size_t scratch_sizes[SCRATCHES];
static const char *directory;
static int recording, rank, ranks;
static pid_t owner;
static double started_at, left_at, helped_before, ready_before;
static double poll_gap, poll_cpu, poll_wait;
static unsigned long long polls;

static double now(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* What the other threads of this process have had of the processors, s. */
static double helped(void)
{
    return now(CLOCK_PROCESS_CPUTIME_ID) - now(CLOCK_THREAD_CPUTIME_ID);
}

/* How long this thread was ready and others had the processor, s; 0 where the kernel does not count it. */
static double ready(void)
{
    unsigned long long waited = 0;
    FILE *counts = fopen("/proc/thread-self/schedstat", "r");
    if (!counts)
        return 0.0;
    if (fscanf(counts, "%*u %llu", &waited) != 1)
        waited = 0;
    fclose(counts);
    return 1e-9 * (double)waited;
}

static double since(double before, double then)
{
    return then > before ? then - before : 0.0;
}

void *scratch(int which, size_t bytes)
{
    if (scratch_sizes[which] < bytes) {
        scratches[which] = realloc(scratches[which], 2 * bytes);
        scratch_sizes[which] = 2 * bytes;
        if (!scratches[which])
            abort();
    }
    return scratches[which];
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
    pthread_mutex_lock(&lock);
}

void release(void)
{
    pthread_mutex_unlock(&lock);
}

void begin(struct event *event, int kind)
{
    event->keep = depth++ == 0 && recording;
    if (!event->keep)
        return;
    event->kind = kind;
    event->comm = event->newcomm = event->request = event->root = NOTHING;
    event->peer = event->source = event->tag = event->recv_tag = NOTHING;
    event->bytes = event->recv_bytes = 0.0;
    event->n_requests = event->n_counts = event->n_peers = 0;
    double came = now(CLOCK_MONOTONIC);
    event->gap = came > left_at ? came - left_at : 0.0;
    double cpu = now(CLOCK_THREAD_CPUTIME_ID);
    event->cpu = cpu_left < 0.0 ? 0.0 : cpu - cpu_left;
    event->entered = now(CLOCK_MONOTONIC); /* our own time is neither the program's nor MPI's */
}

int leave(struct event *event)
{
    depth--;
    if (!event->keep)
        return 0;
    event->inside = now(CLOCK_MONOTONIC) - event->entered;
    depth++; /* what describes the event may call MPI */
    pthread_mutex_lock(&lock);
    return 1;
}

static void done(void)
{
    cpu_left = now(CLOCK_THREAD_CPUTIME_ID);
    left_at = now(CLOCK_MONOTONIC);
    pthread_mutex_unlock(&lock);
    depth--;
}

void commit(struct event *event)
{
    event->gap += poll_gap;
    event->cpu += poll_cpu;
    event->inside += poll_wait;
    poll_gap = poll_cpu = poll_wait = 0.0;
    fold_event(event);
    done();
}

void polled(struct event *event)
{
    int waiting = event->gap < SPINNING;
    polls++;
    poll_wait += event->inside + (waiting ? event->gap : 0.0);
    poll_gap += waiting ? 0.0 : event->gap;
    poll_cpu += waiting ? 0.0 : event->cpu;
    done();
}

void start_recording(void)
{
    directory = getenv("GRIDPORTAL_TRACE_DIR");
    if (!directory || !*directory || recording)
        return;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    comm_id(MPI_COMM_WORLD);
    recording = 1;
    owner = getpid();
    started_at = left_at = now(CLOCK_MONOTONIC);
    cpu_left = now(CLOCK_THREAD_CPUTIME_ID);
    helped_before = helped();
    ready_before = ready();
}

/* How many bytes of a letter in UTF-8 stand here, 0: none that is whole. */
static int letter(const char *at)
{
    unsigned char first = (unsigned char)*at;
    int more = first < 0x80 ? 0 : first >= 0xc2 && first < 0xe0 ? 1 : first >= 0xe0 && first < 0xf0 ? 2
                                                                    : first >= 0xf0 && first < 0xf5 ? 3 : -1;
    for (int i = 1; i <= more; i++)
        if (((unsigned char)at[i] & 0xc0) != 0x80)
            return 0;
    unsigned char second = more > 0 ? (unsigned char)at[1] : 0;
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
        (first == 0xf4 && second > 0x8f))
        return 0;
    return more + 1;
}

static void text(FILE *file, const char *name, const char *value)
{
    fprintf(file, "\"%s\": \"", name);
    for (; *value; value++) {
        int length = letter(value);
        if (*value == '"' || *value == '\\')
            fputc('\\', file);
        if (length > 1) {
            fwrite(value, 1, (size_t)length, file);
            value += length - 1;
        } else
            fputc(!length ? '?' : (unsigned char)*value < ' ' ? ' ' : *value, file);
    }
    fputs("\", ", file);
}

static void write_head(FILE *file, int complete, double end, double cpu)
{
    char host[256] = "", mpi[MPI_MAX_LIBRARY_VERSION_STRING] = "", program[4096] = "";
    int length;
    gethostname(host, sizeof host - 1);
    PMPI_Get_library_version(mpi, &length);
    mpi[strcspn(mpi, "\n,")] = 0;
    FILE *words = fopen("/proc/self/cmdline", "r");
    size_t got = words ? fread(program, 1, sizeof program - 1, words) : 0;
    for (size_t i = 0; i + 1 < got; i++)
        if (!program[i])
            program[i] = ' ';
    if (words)
        fclose(words);
    fprintf(file, "{\"version\": 1, \"rank\": %d, \"ranks\": %d, ", rank, ranks);
    text(file, "program", program);
    text(file, "mpi", mpi);
    text(file, "host", host);
    fprintf(file, "\"wall\": %.9f, \"polls\": %llu, \"complete\": %s, \"ordered\": %s, ", end - started_at, polls,
            complete ? "true" : "false", fold_ordered() ? "true" : "false");
    fprintf(file, "\"helped\": %.9f, \"ready\": %.9f, ", since(helped_before, helped()), since(ready_before, ready()));
    fprintf(file, "\"tail\": {\"n\": 1, \"mean\": %.9g, \"var\": 0, \"cpu\": %.9g}, \"comms\": ", end - left_at + poll_gap,
            cpu < 0.0 ? 0.0 : cpu + poll_cpu);
}

void finish_recording(int complete)
{
    char path[4096], partial[4104];
    if (!recording || getpid() != owner) /* a forked child knows what its parent will write */
        return;
    recording = 0;
    double end = now(CLOCK_MONOTONIC);
    double cpu = cpu_left < 0.0 ? 0.0 : now(CLOCK_THREAD_CPUTIME_ID) - cpu_left;
    depth++;
    fold_finish();
    mkdir(directory, 0777); /* the first rank makes it */
    snprintf(path, sizeof path, "%s/rank-%d.json", directory, rank);
    snprintf(partial, sizeof partial, "%s.part", path);
    FILE *file = fopen(partial, "w");
    if (!file) {
        fprintf(stderr, "The trace of rank %d cannot be written to %s: %s.\n", rank, partial, strerror(errno));
        depth--;
        return;
    }
    write_head(file, complete, end, cpu);
    write_comms(file);
    fputs(", \"body\": ", file);
    write_body(file);
    fputs("}\n", file);
    int failed = ferror(file) | fclose(file);
    if (failed || rename(partial, path))
        fprintf(stderr, "The trace of rank %d could not be completed in %s.\n", rank, path);
    depth--;
}

/* A program that ends without MPI_Finalize still leaves what was seen. */
__attribute__((destructor)) static void at_exit(void)
{
    finish_recording(0);
}
