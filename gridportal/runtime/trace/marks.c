/* Marks: how often the outermost loop of a program has run, written while it runs, so that a program that nobody
 * instrumented has progress.
 *
 * The file `loop-marks` beside the traces: "0 0 UNIX-SECONDS" when the recording begins, then "LOOP ROUNDS SECONDS" for the
 * loop, numbered as loops appear, since then. A mark is written when a tenth of a second has passed since the last one,
 * in long runs a two-thousandth of all, so that the file stays small however long the program runs.
 *
 * Which loop is the outermost one shows late: the loops inside it are there first. A loop that stands before the last
 * one in the list of calls takes its place. One that stands behind it is a part of its next round, unless no round has
 * ended for several times the longest one: then it is what the program does next. */
#define _GNU_SOURCE
#include "record.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 64
#define EVERY 0.1 /* s */
#define SHARE 2000
#define PATIENCE 4 /* times the longest round */
#define LEAST_PATIENCE 1.0 /* s */

struct loop {
    int place, number, count;
    double at, longest; /* s: when its last round ended, and the longest of them */
};

static struct loop loops[DEPTH]; /* each stands behind the one before it in the list of calls */
static int depth, numbers, file = -1;
static double written_at;

static void write_mark(int number, int count, double seconds)
{
    char line[96];
    long long whole = (long long)(1e6 * seconds + 0.5); /* the program's locale may write fractions with a comma */
    int length = snprintf(line, sizeof line, "%d %d %lld.%06d\n", number, count, whole / 1000000, (int)(whole % 1000000));
    if (file >= 0 && write(file, line, (size_t)length) != length) {
        close(file); /* a full disk: nobody hears of progress any more, and the program goes on */
        file = -1;
    }
}

void start_marks(const char *directory)
{
    char path[4096];
    struct timespec begun;
    mkdir(directory, 0777);
    if (snprintf(path, sizeof path, "%s/loop-marks", directory) >= (int)sizeof path)
        return;
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
    clock_gettime(CLOCK_REALTIME, &begun);
    write_mark(0, 0, (double)begun.tv_sec + 1e-9 * (double)begun.tv_nsec);
}

/* The loop at this place; none while it counts as a part of the round of another. */
static struct loop *loop_at(int place, int count, double seconds)
{
    while (depth && loops[depth - 1].place > place)
        depth--;
    struct loop *last = depth ? &loops[depth - 1] : NULL;
    if (last && last->place == place && count > last->count)
        return last;
    if (last && last->place < place) {
        double patience = PATIENCE * last->longest;
        if (seconds - last->at < (patience > LEAST_PATIENCE ? patience : LEAST_PATIENCE) || depth == DEPTH)
            return NULL;
    } else if (last)
        depth--; /* another loop has taken its place */
    last = &loops[depth++];
    *last = (struct loop){.place = place, .number = ++numbers, .at = seconds};
    return last;
}

void mark_round(int place, int count, double seconds)
{
    struct loop *loop = file < 0 ? NULL : loop_at(place, count, seconds);
    if (!loop)
        return;
    if (seconds - loop->at > loop->longest)
        loop->longest = seconds - loop->at;
    loop->at = seconds;
    loop->count = count;
    if (seconds - written_at < (seconds > SHARE * EVERY ? seconds / SHARE : EVERY))
        return;
    write_mark(loop->number, count, seconds);
    written_at = seconds;
}
