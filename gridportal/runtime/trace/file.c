/* The file of this rank: what kind of run it was, its communicators, its calls. */
#define _GNU_SOURCE
#include "record.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static double since(double before, double then)
{
    return then > before ? then - before : 0.0;
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

static void write_names(FILE *file)
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
    text(file, "program", program);
    text(file, "mpi", mpi);
    text(file, "host", host);
}

/* The threads that called MPI, in the order of their first calls; the main one, which is among them, always. */
static int threads_that_called(struct thread ***found)
{
    int n = 0, place;
    for (struct thread *thread = recording.threads; thread; thread = thread->before)
        n += thread->calls > 0 || thread == recording.main;
    *found = calloc((size_t)n, sizeof **found);
    if (!*found)
        abort();
    place = n;
    for (struct thread *thread = recording.threads; thread; thread = thread->before)
        if (thread->calls > 0 || thread == recording.main)
            (*found)[--place] = thread;
    return n;
}

/* What runs on a GPU, by the library that leads there; "" for none. */
static const char *gpu(void)
{
    static const char *const libraries[] = {"libcuda.so.1", "libamdhip64.so", "libze_loader.so.1"};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *loaded = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        if (loaded) {
            dlclose(loaded);
            return libraries[i];
        }
    }
    return "";
}

/* Cpu seconds of processes that this one started and that have ended. */
static double children(void)
{
    struct rusage used;
    if (getrusage(RUSAGE_CHILDREN, &used))
        return 0.0;
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void write_threads(FILE *file, struct thread *const *threads, int n)
{
    for (int i = 0; n > 1 && i < n; i++)
        fprintf(file, "%s%llu%s", i ? ", " : "\"threads\": [", threads[i]->calls, i + 1 < n ? "" : "], ");
}

static void write_head(FILE *file, int complete, struct thread *const *threads, int n, double end,
                       double tail, double cpu)
{
    struct thread *first = recording.main;
    unsigned long long polls = 0;
    int ordered = n == 1;
    for (int i = 0; i < n; i++) {
        polls += threads[i]->polls;
        ordered &= fold_ordered(threads[i]->fold);
    }
    fprintf(file, "{\"version\": 1, \"rank\": %d, \"ranks\": %d, ", recording.rank, recording.ranks);
    write_names(file);
    text(file, "gpu", gpu());
    write_threads(file, threads, n);
    fprintf(file, "\"wall\": %.9f, \"polls\": %llu, \"complete\": %s, \"ordered\": %s, ", end - recording.started_at, polls,
            complete ? "true" : "false", ordered ? "true" : "false");
    fprintf(file, "\"helped\": %.9f, \"ready\": %.9f, \"children\": %.6f, ", since(recording.helped, helped()),
            since(recording.ready, ready()), children());
    double now_is = pace();
    fprintf(file, "\"pace\": %.9g, ", now_is > recording.pace ? now_is : recording.pace);
    write_touched(file, &recording.touched);
    fprintf(file, "\"tail\": {\"n\": 1, \"mean\": %.9g, \"var\": 0, \"cpu\": %.9g}, \"comms\": ",
            tail + first->poll_gap, cpu + first->poll_cpu);
}

static void write_all(FILE *file, int complete, double end, double tail, double cpu)
{
    struct thread **threads;
    int n = threads_that_called(&threads);
    struct fold **folds = calloc((size_t)n, sizeof *folds);
    if (!folds)
        abort();
    for (int i = 0; i < n; i++) {
        folds[i] = threads[i]->fold;
        fold_finish(folds[i]);
    }
    write_head(file, complete, threads, n, end, tail, cpu);
    write_comms(file);
    fputs(", \"body\": ", file);
    write_body(file, folds, n);
    fputs("}\n", file);
    free(folds);
    free(threads);
}

/* One more process that was this rank of such a run: a wrapper that starts MPI itself, or another MPI's launcher. */
static void count_copy(void)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/copies", recording.directory);
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    if (write(file, "1\n", 2) != 2)
        fprintf(stderr, "That rank %d was there before could not be written down.\n", recording.rank);
    close(file);
}

/* In the C locale: that of a program may write numbers with a comma. */
static int write_plainly(FILE *file, int complete, double end, double tail, double cpu)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = plain ? uselocale(plain) : (locale_t)0;
    write_all(file, complete, end, tail, cpu);
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
    int failed = ferror(file);
    return fclose(file) || failed;
}

void write_recording(int complete)
{
    char path[4096], partial[4400], host[200] = "";
    double end = now(), tail = since(recording.main->left_at, end);
    double cpu = cpu_of_gap(recording.main->clocks, tail, end);
    recording.main->depth++;
    gethostname(host, sizeof host - 1);
    mkdir(recording.directory, 0777); /* the first rank makes it */
    snprintf(path, sizeof path, "%s/rank-%d.json", recording.directory, recording.rank);
    snprintf(partial, sizeof partial, "%s.%s.%ld.part", path, host, (long)getpid());
    FILE *file = fopen(partial, "w");
    if (!file) {
        fprintf(stderr, "The trace of rank %d cannot be written to %s: %s.\n", recording.rank, partial, strerror(errno));
        return;
    }
    int failed = write_plainly(file, complete, end, tail, cpu);
    if (!failed && link(partial, path) && errno == EEXIST)
        count_copy();
    failed = failed || rename(partial, path);
    if ((unlink(partial) && errno != ENOENT) || failed) /* two names of one file both stay, and half of one is of no use */
        fprintf(stderr, "The trace of rank %d could not be completed in %s.\n", recording.rank, path);
}
