/* usage: paced BEFORE AFTER SECONDS TIMES: the player's work on a pretended processor, whose memory gives BEFORE bytes a
 * second while the work is prepared and AFTER later. Prints the cpu seconds that TIMES calls for SECONDS each take there;
 * of each second that is asked for, half is spent on memory at 1e8 bytes a second. */
#define _POSIX_C_SOURCE 200809L
#define clock_gettime pretended
#include "../../../gridportal/runtime/player/work.c"

#include <stdio.h>

#define RATE 1000.0 /* units of additions a second */
#define TOUCHED 5e7
#define REGION 32768.0

static double speed, spent, additions, bytes;

/* Counts what was added and touched since the last look: each addition adds 1e-9 to something. */
static double pretended_seconds(void)
{
    double added_up = sum / 1e-9, touched = 0.0;
    for (size_t i = 0; i < length; i++)
        touched += region[i] / 1e-9 * sizeof *region;
    spent += (added_up - additions) / (RATE * UNIT) + (touched - bytes) / speed;
    additions = added_up;
    bytes = touched;
    return spent;
}

int pretended(clockid_t clock, struct timespec *at)
{
    double seconds = pretended_seconds();
    (void)clock;
    at->tv_sec = (time_t)seconds;
    at->tv_nsec = (long)((seconds - (double)at->tv_sec) * 1e9);
    return 0;
}

double now(void)
{
    return pretended_seconds();
}

int main(int argc, char **argv)
{
    struct plan plan = {.rate = RATE, .touched = TOUCHED, .region = REGION};
    if (argc != 5)
        return 1;
    speed = atof(argv[1]);
    if (prepare_work(&plan))
        return 1;
    double started = pretended_seconds();
    speed = atof(argv[2]);
    for (int i = 0; i < atoi(argv[4]); i++)
        work(atof(argv[3]));
    printf("%.6f\n", pretended_seconds() - started);
    return 0;
}
