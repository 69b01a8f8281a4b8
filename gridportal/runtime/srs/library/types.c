/* Types of elements as numpy names them. */
#include "checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_little(void)
{
    const uint16_t one = 1;
    return *(const unsigned char *)&one;
}

/* Whether numpy has this kind in so many bytes. */
static int is_type(char kind, long long bytes)
{
    switch (kind) {
    case 'b': return bytes == 1;
    case 'i':
    case 'u': return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    case 'f': return bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
    case 'c': return bytes == 8 || bytes == 16 || bytes == 32;
    case 'M':
    case 'm': return bytes == 8;
    case 'S':
    case 'V':
    case 'U': return bytes > 0 && bytes < INT32_MAX;
    default: return 0;
    }
}

/* A type as numpy writes it, <f8: order, kind, size, and the unit of dates. Without order it is this machine's. */
int srs_type(const char *type, char *canonical, size_t size, int64_t *itemsize)
{
    const char *at = type ? type : "";
    char order = *at && strchr("<>|=", *at) ? *at++ : '=';
    char kind = *at ? *at++ : 0, *end = (char *)at;
    long long bytes = *at >= '1' && *at <= '9' ? strtoll(at, &end, 10) : 0;
    int dated = (kind == 'M' || kind == 'm') && *end == '[' && end[strlen(end) - 1] == ']';
    if (!is_type(kind, bytes) || (*end && !dated))
        return srs_refuse("type", type ? type : "", "a type as numpy names it, such as f8, i4, c16 or S12");
    *itemsize = kind == 'U' ? 4 * bytes : bytes;
    if (kind == 'S' || kind == 'V' || *itemsize == 1 || order == '|')
        order = '|';
    else if (order == '=')
        order = is_little() ? '<' : '>';
    snprintf(canonical, size, "%c%c%lld%s", order, kind, bytes, end);
    return 0;
}
