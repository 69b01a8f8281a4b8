/* The same as enter_node.py, for where there is a compiler: it is started once for each rank, in a twentieth of the time.
 *
 * usage: enter-node [options] HOST COMMAND...   runs COMMAND on another node of the run, in place of ssh.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

extern char **environ;

static int fail(const char *before, const char *node, const char *after)
{
    fprintf(stderr, "%s%s%s\n", before, node, after);
    return 255;
}

/* Copy a word behind a separator. */
static char *append(char *end, char separator, const char *word)
{
    size_t length = strlen(word);
    *end++ = separator;
    memcpy(end, word, length);
    return end + length;
}

static int send_all(int door, const char *data, size_t length)
{
    while (length > 0) {
        ssize_t sent = send(door, data, length, MSG_NOSIGNAL);
        if (sent <= 0)
            return -1;
        data += sent;
        length -= (size_t)sent;
    }
    return 0;
}

/* The length of the request, with our standard input, output and error. */
static int send_streams(int door, uint32_t length)
{
    unsigned char bytes[4] = {length >> 24, length >> 16, length >> 8, length};
    int streams[3] = {0, 1, 2};
    union {
        char space[CMSG_SPACE(sizeof streams)];
        struct cmsghdr aligned;
    } control;
    struct iovec part = {bytes, sizeof bytes};
    struct msghdr message = {0};
    memset(&control, 0, sizeof control);
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.space;
    message.msg_controllen = sizeof control.space;
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof streams);
    memcpy(CMSG_DATA(header), streams, sizeof streams);
    return sendmsg(door, &message, MSG_NOSIGNAL) == (ssize_t)sizeof bytes ? 0 : -1;
}

int main(int count, char **words)
{
    int first = 1;
    while (first < count && words[first][0] == '-')
        first++;
    if (first >= count)
        return fail("usage: enter-node [options] HOST COMMAND...", "", "");
    const char *node = words[first];
    size_t room = strlen(node) + 2;
    for (int i = first + 1; i < count; i++)
        room += strlen(words[i]) + 1;
    for (char **each = environ; *each; each++)
        room += strlen(*each) + 1;
    char *request = malloc(room + 1);
    if (!request)
        return fail("There is no memory to reach node ", node, ".");
    char *end = append(request, ' ', node);
    if (first + 1 == count)
        *end++ = 0;
    for (int i = first + 1; i < count; i++)
        end = append(end, i == first + 1 ? 0 : ' ', words[i]);
    for (char **each = environ; *each; each++)
        end = append(end, 0, *each);

    size_t length = (size_t)(end - request) - 1;
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/run/gridportal/door"};
    int door = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (door < 0 || connect(door, (struct sockaddr *)&address, sizeof address) != 0 ||
        send_streams(door, (uint32_t)length) != 0 || send_all(door, request + 1, length) != 0)
        return fail("The way to node ", node, " is closed.");
    char answer[64] = "";
    if (recv(door, answer, sizeof answer - 1, 0) <= 0)
        return fail("The command on node ", node, " was ended.");
    return atoi(answer);
}
