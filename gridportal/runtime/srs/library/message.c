/* The sentence of the last error, and memory. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST 200 /* characters of a value that a sentence repeats */

__thread char srs_message[SRS_SENTENCE];

int srs_fail(enum srs_code code, const char *format, ...)
{
    char sentence[SRS_SENTENCE]; /* an argument may be the last sentence */
    va_list words;
    va_start(words, format);
    vsnprintf(sentence, sizeof sentence, format, words);
    va_end(words);
    memcpy(srs_message, sentence, sizeof sentence);
    return code;
}

int srs_no_memory(void)
{
    return srs_fail(SRS_NO_MEMORY, "There is not enough memory.");
}

int srs_refuse(const char *field, const char *value, const char *accepted)
{
    const char *more = strlen(value) > LONGEST ? "..." : "";
    if (!*value)
        return srs_fail(SRS_BAD_INPUT, "%s is empty; accepted is %s.", field, accepted);
    return srs_fail(SRS_BAD_INPUT, "%s is '%.*s%s'; accepted is %s.", field, LONGEST, value, more, accepted);
}

void srs_copy_text(char *into, size_t size, const char *from)
{
    size_t length = strlen(from);
    if (length >= size)
        length = size - 1;
    memcpy(into, from, length);
    into[length] = 0;
}

void *srs_room(size_t count, size_t size)
{
    return calloc(count ? count : 1, size);
}
