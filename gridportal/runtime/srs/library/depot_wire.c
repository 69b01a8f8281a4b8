/* How a rank talks with a depot, as depot_wire.py and frames.py have it: frames of JSON, each sealed with the key of the
 * session and numbered, with the bytes of shards in between. */
#define _DEFAULT_SOURCE
#include "depots.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define VERSION 1
#define NONCE 16
#define SEAL 16
#define CONNECTING 5 /* seconds */
#define STEP 60
#define LONGEST_HELLO 512
#define LONGEST_ANSWER (64 << 10)

static int not_answered(const char *why)
{
    return srs_fail((enum srs_code)SRS_NO_ANSWER, "%s", why);
}

static void put_length(unsigned char *into, uint64_t number, int bytes)
{
    while (bytes--) {
        into[bytes] = (unsigned char)number;
        number >>= 8;
    }
}

int srs_session_put(struct srs_session *session, const char *at, size_t length)
{
    while (length) {
        ssize_t done = send(session->socket, at, length, MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return not_answered(strerror(errno));
        at += done;
        length -= (size_t)done;
    }
    return 0;
}

int srs_session_get(struct srs_session *session, char *into, size_t length)
{
    while (length) {
        ssize_t got = recv(session->socket, into, length, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return not_answered(errno == EAGAIN ? "it is silent" : strerror(errno));
        if (!got)
            return not_answered("it has closed the connection");
        into += got;
        length -= (size_t)got;
    }
    return 0;
}

static void seal(const unsigned char *key, const struct srs_bytes *label, uint64_t number, const char *body,
                 size_t length, unsigned char into[SRS_HASH])
{
    unsigned char counted[8];
    put_length(counted, number, 8);
    struct srs_bytes pieces[] = {*label, {counted, sizeof counted}, {body, length}};
    srs_hmac(key, pieces, 3, into);
}

/* A frame: the length of the rest, the body, and its seal. */
static int send_sealed(struct srs_session *session, const unsigned char *key, const struct srs_bytes *label,
                       uint64_t number, const struct srs_text *body)
{
    unsigned char mark[SRS_HASH], *frame = srs_room(4 + body->length + SEAL, 1);
    if (!frame || body->failed) {
        free(frame);
        return srs_no_memory();
    }
    seal(key, label, number, body->at, body->length, mark);
    put_length(frame, body->length + SEAL, 4);
    memcpy(frame + 4, body->at, body->length);
    memcpy(frame + 4 + body->length, mark, SEAL);
    int problem = srs_session_put(session, (char *)frame, 4 + body->length + SEAL);
    free(frame);
    return problem;
}

/* The rest of a frame, to be freed. */
static int receive_frame(struct srs_session *session, size_t most, char **into, size_t *length)
{
    unsigned char head[4];
    *into = NULL;
    int problem = srs_session_get(session, (char *)head, sizeof head);
    if (problem)
        return problem;
    *length = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
    if (*length > most)
        return not_answered("it sends a frame that is too long");
    if (!(*into = malloc(*length + 1)))
        return srs_no_memory();
    problem = srs_session_get(session, *into, *length);
    if (problem) {
        free(*into);
        *into = NULL;
    }
    return problem;
}

int srs_session_send(struct srs_session *session, const struct srs_text *body)
{
    const struct srs_bytes label = {"q", 1};
    return send_sealed(session, session->key, &label, session->sent++, body);
}

/* Whether two seals are the same, in the same time wherever they differ. */
static int same_seal(const char *one, const unsigned char *other)
{
    unsigned char difference = 0;
    for (int i = 0; i < SEAL; i++)
        difference |= (unsigned char)one[i] ^ other[i];
    return !difference;
}

/* What a depot refuses: its sentence. */
static int refused(const struct srs_json *answer)
{
    const struct srs_json *error = srs_json_entry(answer, "error"), *code = srs_json_entry(answer, "code");
    if (answer->kind != SRS_OBJECT)
        return not_answered("it does not send an object");
    if (!error)
        return 0;
    int busy = code && code->kind == SRS_TEXT && !strcmp(code->as.text, "busy");
    return srs_fail((enum srs_code)(busy ? SRS_BUSY : SRS_REFUSED), "%.300s.",
                    error->kind == SRS_TEXT ? error->as.text : "no");
}

static int read_answer(struct srs_session *session, const char *frame, size_t length, struct srs_json *into)
{
    unsigned char mark[SRS_HASH];
    const struct srs_bytes label = {"a", 1};
    if (length < SEAL)
        return not_answered("it sends a frame that is too short");
    length -= SEAL;
    seal(session->key, &label, session->received++, frame, length, mark);
    if (!same_seal(frame + length, mark))
        return not_answered("it is not sealed with the shared key");
    if (srs_json_read(frame, length, into))
        return not_answered("it does not send JSON");
    int problem = refused(into);
    if (problem)
        srs_json_free(into);
    return problem;
}

int srs_session_answer(struct srs_session *session, struct srs_json *into)
{
    char *frame;
    size_t length;
    int problem = receive_frame(session, LONGEST_ANSWER, &frame, &length);
    memset(into, 0, sizeof *into);
    problem = problem ? problem : read_answer(session, frame, length, into);
    free(frame);
    return problem;
}

/* Opening. */

static void wait_at_most(int number, int seconds)
{
    struct timeval time = {seconds, 0};
    setsockopt(number, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

static int connect_one(const struct addrinfo *address)
{
    int one = 1, number = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, address->ai_protocol);
    if (number < 0)
        return -1;
    wait_at_most(number, CONNECTING);
    setsockopt(number, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (!connect(number, address->ai_addr, address->ai_addrlen))
        return number;
    int error = errno == EINPROGRESS ? ETIMEDOUT : errno;
    close(number);
    errno = error;
    return -1;
}

static int connect_any(struct srs_session *session, const char *host, const char *port)
{
    struct addrinfo *every, wanted = {.ai_socktype = SOCK_STREAM};
    int problem = getaddrinfo(host, port, &wanted, &every);
    if (problem)
        return not_answered(gai_strerror(problem));
    for (struct addrinfo *each = every; each && session->socket < 0; each = each->ai_next)
        session->socket = connect_one(each);
    freeaddrinfo(every);
    return session->socket < 0 ? not_answered(strerror(errno)) : 0;
}

/* The challenge: that it is the depot of this node, and its nonce. */
static int read_hello(const char *frame, size_t length, const char *node, unsigned char nonce[NONCE])
{
    struct srs_json hello;
    if (srs_json_read(frame, length, &hello))
        return not_answered("it does not send JSON");
    const struct srs_json *version = srs_json_entry(&hello, "depot"), *name = srs_json_entry(&hello, "node");
    const struct srs_json *word = srs_json_entry(&hello, "nonce");
    int right = version && version->kind == SRS_WHOLE && version->as.whole == VERSION && name &&
                name->kind == SRS_TEXT && !strcmp(name->as.text, node) && word && word->kind == SRS_TEXT &&
                srs_unhex(word->as.text, nonce, NONCE);
    srs_json_free(&hello);
    return right ? 0 : not_answered("that is no depot of the node");
}

/* The answer to it, sealed with the job's key; and the key of the session. */
static int introduce(struct srs_session *session, const struct srs_access *access, const char *node,
                     const unsigned char challenge[NONCE])
{
    static const char word[] = "depot", session_word[] = "session";
    unsigned char nonce[NONCE], label[sizeof word - 1 + NONCE];
    char digits[2 * NONCE + 1];
    struct srs_text body = {0};
    if (srs_random(nonce, sizeof nonce))
        return SRS_NO_ANSWER;
    srs_hex(nonce, sizeof nonce, digits);
    srs_add(&body, "{\"job\": \"%s\", \"node\": ", access->job);
    srs_add_quoted(&body, node);
    srs_add(&body, ", \"nonce\": \"%s\"}", digits);
    memcpy(label, word, sizeof word - 1);
    memcpy(label + sizeof word - 1, challenge, NONCE);
    const struct srs_bytes labelled = {label, sizeof label};
    int problem = send_sealed(session, access->key, &labelled, 0, &body);
    srs_drop(&body);
    struct srs_bytes pieces[] = {{session_word, sizeof session_word - 1}, {challenge, NONCE}, {nonce, sizeof nonce}};
    srs_hmac(access->key, pieces, 3, session->key);
    return problem;
}

int srs_session_open(struct srs_session *session, const struct srs_access *access, const char *node)
{
    char host[256], port[8], *frame = NULL;
    unsigned char challenge[NONCE];
    size_t length = 0;
    *session = (struct srs_session){.socket = -1};
    int problem = srs_access_address(access, node, host, sizeof host, port);
    problem = problem ? problem : connect_any(session, host, port);
    problem = problem ? problem : receive_frame(session, LONGEST_HELLO, &frame, &length);
    problem = problem ? problem : read_hello(frame, length, node, challenge);
    problem = problem ? problem : introduce(session, access, node, challenge);
    free(frame);
    if (!problem)
        wait_at_most(session->socket, STEP);
    return problem;
}

void srs_session_close(struct srs_session *session)
{
    if (session->socket >= 0)
        close(session->socket);
    session->socket = -1;
}
