/* Asks depots: puts shards there, fetches parts of them, checks them, and takes them away; with retry, as
 * depot_client.py. */
#define _DEFAULT_SOURCE
#include "depots.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TRIES 5
#define SWEEPING_TRIES 2
#define AHEAD 4         /* requests that are on their way at once */
#define SLABS_AHEAD 512 /* in these: while the depot sends, what is asked waits in the buffers of the connection */
#define MOST_BYTES (1 << 20)
#define CHECKED_AT_ONCE (INT64_C(64) << 20)
#define CHUNK ((size_t)1 << 20)

/* What is asked on one connection; again on another one where that may help. */
typedef int asking(struct srs_session *session, void *context);

static void pause_before(int number)
{
    static const double pauses[] = {0.1, 0.4, 1.5, 4.0};
    unsigned char chance = 128;
    srs_random(&chance, 1);
    double seconds = pauses[number < 4 ? number : 3] * (1 + chance / 255.0); /* ranks do not come back all at once */
    struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
    nanosleep(&time, NULL);
}

/* What a depot gave, in the codes of the library. */
static int told(const struct srs_access *access, const char *node, int problem)
{
    char host[256] = "", port[8] = "", why[SRS_SENTENCE / 2];
    srs_copy_text(why, sizeof why, srs_message);
    if (problem == SRS_REFUSED)
        return srs_fail(SRS_BAD_FILES, "The depot of %s says: %s", node, why);
    if (problem == SRS_BUSY)
        return srs_fail(SRS_SILENT, "The depot of %s says: %s", node, why);
    if (problem != SRS_NO_ANSWER)
        return problem;
    srs_access_address(access, node, host, sizeof host, port);
    return srs_fail(SRS_SILENT, "The depot of %s (%s:%s) does not answer: %s.", node, host, port, why);
}

static int ask(const struct srs_depots *depots, const char *node, int tries, asking *step, void *context)
{
    int problem = 0;
    for (int i = 0; i < tries; i++) {
        struct srs_session session;
        problem = srs_session_open(&session, &depots->access, node);
        problem = problem ? problem : step(&session, context);
        srs_session_close(&session);
        if (problem != SRS_NO_ANSWER && problem != SRS_BUSY)
            break;
        if (i + 1 < tries) {
            char why[SRS_SENTENCE];
            srs_copy_text(why, sizeof why, srs_message);
            pause_before(i);
            srs_copy_text(srs_message, sizeof srs_message, why);
        }
    }
    return problem ? told(&depots->access, node, problem) : 0;
}

/* A whole number of an answer, -1 for none. */
static int64_t number_of(const struct srs_json *answer, const char *name)
{
    const struct srs_json *entry = srs_json_entry(answer, name);
    return entry && entry->kind == SRS_WHOLE ? entry->as.whole : -1;
}

static int other(const char *why)
{
    return srs_fail((enum srs_code)SRS_NO_ANSWER, "%s", why);
}

static int send_text(struct srs_session *session, struct srs_text *text)
{
    int problem = text->failed ? srs_no_memory() : srs_session_send(session, text);
    srs_drop(text);
    return problem;
}

/* Putting. */

struct putting {
    const char *name, *data;
    int64_t bytes;
    uint32_t checksum;
};

static int put(struct srs_session *session, void *context)
{
    struct putting *putting = context;
    struct srs_text text = {0};
    struct srs_json answer;
    srs_add(&text, "{\"op\": \"put\", \"name\": \"%s\", \"bytes\": %" PRId64 "}", putting->name, putting->bytes);
    int problem = send_text(session, &text);
    problem = problem ? problem : srs_session_answer(session, &answer);
    if (problem)
        return problem;
    srs_json_free(&answer);
    putting->checksum = 0;
    for (size_t at = 0, length = (size_t)putting->bytes, size; !problem && at < length; at += size) {
        size = length - at < CHUNK ? length - at : CHUNK;
        putting->checksum = srs_crc32(putting->checksum, putting->data + at, size);
        problem = srs_session_put(session, putting->data + at, size);
    }
    problem = problem ? problem : srs_session_answer(session, &answer);
    if (problem)
        return problem;
    int right = number_of(&answer, "crc32") == putting->checksum;
    srs_json_free(&answer);
    return right ? 0 : other("what arrived is not what was sent");
}

int srs_depot_put(const struct srs_depots *depots, const char *node, const char *name, const void *data, int64_t bytes,
                  uint32_t *checksum)
{
    struct putting putting = {name, data, bytes, 0};
    int problem = ask(depots, node, TRIES, put, &putting);
    *checksum = putting.checksum;
    return problem;
}

/* Fetching: some parts are asked for before the first of them has come. */

struct fetching {
    const struct srs_fetch *fetch;
    const char *name;
    int64_t taken; /* parts that have come, on this connection or one before */
    struct srs_part parts[AHEAD];
    int first, waiting;
    int64_t slabs; /* of those that are waited for */
    char *buffer;
};

static int receive_part(struct srs_session *session, struct fetching *fetching)
{
    struct srs_part *part = fetching->parts + fetching->first;
    struct srs_json answer;
    int problem = srs_session_answer(session, &answer);
    if (problem)
        return problem;
    int right = number_of(&answer, "bytes") == part->bytes && part->bytes <= MOST_BYTES;
    srs_json_free(&answer);
    if (!right)
        return other("it sends another number of bytes");
    problem = srs_session_get(session, fetching->buffer, (size_t)part->bytes);
    problem = problem ? problem : srs_session_answer(session, &answer);
    if (problem)
        return problem;
    right = number_of(&answer, "crc32") == srs_crc32(0, fetching->buffer, (size_t)part->bytes);
    srs_json_free(&answer);
    if (!right)
        return other("what arrived is not what was sent");
    srs_part_fill(part, fetching->buffer, fetching->fetch->into);
    fetching->taken++;
    fetching->slabs -= part->count;
    fetching->first = (fetching->first + 1) % AHEAD;
    fetching->waiting--;
    return 0;
}

static int send_part(struct srs_session *session, struct fetching *fetching, const struct srs_part *part)
{
    struct srs_text text = {0};
    srs_add(&text, "{\"op\": \"read\", \"name\": \"%s\", \"slabs\": [%s]}", fetching->name, part->slabs.at);
    fetching->waiting++;
    fetching->slabs += part->count;
    return send_text(session, &text);
}

static int fetch_parts(struct srs_session *session, struct fetching *fetching, struct srs_wanted *wanted)
{
    int problem = 0;
    for (int64_t number = 0; !problem; number++) {
        while (!problem && fetching->waiting == AHEAD)
            problem = receive_part(session, fetching);
        struct srs_part *part = fetching->parts + (fetching->first + fetching->waiting) % AHEAD;
        int64_t before = fetching->taken + fetching->waiting;
        problem = problem ? problem : srs_wanted_next(wanted, part);
        if (problem || !part->bytes)
            break;
        if (number < before) /* it came on a connection before */
            continue;
        while (!problem && fetching->waiting && fetching->slabs + part->count > SLABS_AHEAD)
            problem = receive_part(session, fetching);
        problem = problem ? problem : send_part(session, fetching, part);
    }
    while (!problem && fetching->waiting)
        problem = receive_part(session, fetching);
    return problem;
}

static int fetch_all(struct srs_session *session, void *context)
{
    struct fetching *fetching = context;
    struct srs_wanted *wanted = srs_room(1, sizeof *wanted);
    const struct srs_fetch *fetch = fetching->fetch;
    if (!wanted)
        return srs_no_memory();
    fetching->first = fetching->waiting = 0;
    fetching->slabs = 0;
    int problem = srs_wanted_begin(wanted, fetch->dimensions, fetch->axes, fetch->parts, fetch->itemsize);
    problem = problem ? problem : fetch_parts(session, fetching, wanted);
    srs_wanted_end(wanted);
    free(wanted);
    return problem;
}

int srs_depot_fetch(const struct srs_depots *depots, const char *node, const char *name, const struct srs_fetch *fetch)
{
    struct fetching *fetching = srs_room(1, sizeof *fetching);
    if (!fetching)
        return srs_no_memory();
    fetching->fetch = fetch;
    fetching->name = name;
    fetching->buffer = srs_room(MOST_BYTES, 1);
    int problem = fetching->buffer ? ask(depots, node, TRIES, fetch_all, fetching) : srs_no_memory();
    for (int i = 0; i < AHEAD; i++)
        srs_part_free(fetching->parts + i);
    free(fetching->buffer);
    free(fetching);
    return problem;
}

/* Checking. */

struct checking {
    const char *name;
    int64_t bytes;
    uint32_t checksum;
};

static int check_portion(struct srs_session *session, struct checking *checking, int64_t start)
{
    struct srs_text text = {0};
    struct srs_json answer;
    srs_add(&text, "{\"op\": \"check\", \"name\": \"%s\", \"start\": %" PRId64 ", \"bytes\": %" PRId64
            ", \"crc32\": %" PRIu32 "}", checking->name, start, CHECKED_AT_ONCE, checking->checksum);
    int problem = send_text(session, &text);
    problem = problem ? problem : srs_session_answer(session, &answer);
    if (problem)
        return problem;
    int64_t bytes = number_of(&answer, "bytes");
    checking->checksum = (uint32_t)number_of(&answer, "crc32");
    srs_json_free(&answer);
    if (bytes != checking->bytes)
        return srs_fail((enum srs_code)SRS_REFUSED, "it has %" PRId64 " bytes of it; %" PRId64 " were written.", bytes,
                        checking->bytes);
    return 0;
}

static int check(struct srs_session *session, void *context)
{
    struct checking *checking = context;
    int problem = 0;
    int64_t start = 0;
    checking->checksum = 0;
    do {
        problem = check_portion(session, checking, start);
        start += CHECKED_AT_ONCE;
    } while (!problem && start < checking->bytes);
    return problem;
}

int srs_depot_check(const struct srs_depots *depots, const char *node, const char *name, int64_t bytes,
                    uint32_t *checksum)
{
    struct checking checking = {name, bytes, 0};
    int problem = ask(depots, node, TRIES, check, &checking);
    *checksum = checking.checksum;
    return problem;
}

/* Taking away. */

static int drop(struct srs_session *session, void *context)
{
    const char *token = context;
    struct srs_text text = {0};
    struct srs_json answer;
    srs_add(&text, "{\"op\": \"drop\", \"tokens\": [\"%s\"], \"but\": false}", token);
    int problem = send_text(session, &text);
    problem = problem ? problem : srs_session_answer(session, &answer);
    if (!problem)
        srs_json_free(&answer);
    return problem;
}

int srs_depot_drop(const struct srs_depots *depots, const char *node, const char *token)
{
    char word[SRS_TOKEN];
    srs_copy_text(word, sizeof word, token);
    return ask(depots, node, SWEEPING_TRIES, drop, word);
}
