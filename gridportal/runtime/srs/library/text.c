/* A text that grows. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int make_room(struct srs_text *text, size_t more)
{
    if (text->failed || text->length + more + 1 <= text->size)
        return !text->failed;
    size_t size = 2 * (text->length + more) + 64;
    char *at = realloc(text->at, size);
    if (!at) {
        text->failed = 1;
        return 0;
    }
    text->at = at;
    text->size = size;
    return 1;
}

void srs_add(struct srs_text *text, const char *format, ...)
{
    va_list words, again;
    va_start(words, format);
    va_copy(again, words);
    int length = vsnprintf(NULL, 0, format, words);
    va_end(words);
    if (length >= 0 && make_room(text, (size_t)length)) {
        vsnprintf(text->at + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void srs_add_quoted(struct srs_text *text, const char *word)
{
    srs_add(text, "\"");
    for (; *word; word++) {
        unsigned char letter = (unsigned char)*word;
        if (letter == '"' || letter == '\\')
            srs_add(text, "\\%c", letter);
        else if (letter < 0x20)
            srs_add(text, "\\u%04x", letter);
        else
            srs_add(text, "%c", letter);
    }
    srs_add(text, "\"");
}

void srs_drop(struct srs_text *text)
{
    free(text->at);
    memset(text, 0, sizeof *text);
}
