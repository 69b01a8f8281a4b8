/* Telling the portal of an event: one more line of the progress file, where there is a run directory; progress_file.py. */
#define _POSIX_C_SOURCE 200809L
#include "agreement.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whole numbers only: a locale may write commas. */
static void add_seconds(struct srs_text *text, double seconds)
{
    double whole = floor(fmax(seconds, 0));
    srs_add(text, "%" PRId64 ".%06d", (int64_t)whole, (int)(1e6 * (fmax(seconds, 0) - whole)));
}

void srs_tell(const char *event, int64_t number, double seconds, int64_t bytes, double total)
{
    char path[4096];
    struct srs_text line = {0};
    const char *folder = getenv("GRIDPORTAL_RUN_DIR");
    if (!folder || !*folder || srs_join(path, sizeof path, folder, "progress.jsonl"))
        return;
    srs_add(&line, "{\"t\": ");
    add_seconds(&line, srs_unix_time());
    srs_add(&line, ", \"event\": \"%s\", \"checkpoint\": %" PRId64 ", \"seconds\": ", event, number);
    add_seconds(&line, seconds);
    srs_add(&line, ", \"bytes\": %" PRId64, bytes);
    if (total >= 0) {
        srs_add(&line, ", \"total\": ");
        add_seconds(&line, total);
    }
    srs_add(&line, "}\n");
    int file = line.failed ? -1 : open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || write(file, line.at, line.length) != (ssize_t)line.length) /* once, so that no half line is seen */
        fprintf(stderr, "The portal does not hear of \"%s\": %s\n", event, strerror(errno));
    if (file >= 0)
        close(file);
    srs_drop(&line);
}
