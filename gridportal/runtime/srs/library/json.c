/* JSON of RFC 8259, strictly: whatever the bytes are, the answer is a value or a sentence. Nothing is read beyond the
 * text, nesting and memory are bounded by its length. Names and texts without null characters only. */
#include "internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_DEPTH 64
#define LONGEST_NUMBER 300

struct reader {
    const char *text, *at, *end;
    int depth;
};

static int value(struct reader *in, struct srs_json *into);

static int wrong(const struct reader *in, const char *why)
{
    return srs_fail(SRS_BAD_INPUT, "it is no JSON that can be read: byte %zu: %s", (size_t)(in->at - in->text) + 1, why);
}

static void skip_space(struct reader *in)
{
    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t' || *in->at == '\n' || *in->at == '\r'))
        in->at++;
}

static int take(struct reader *in, char letter)
{
    if (in->at == in->end || *in->at != letter)
        return 0;
    in->at++;
    return 1;
}

static int digits(struct reader *in)
{
    const char *from = in->at;
    while (in->at < in->end && *in->at >= '0' && *in->at <= '9')
        in->at++;
    return in->at > from;
}

/* The letters of a number, as the grammar has them; *real: it has a fraction or an exponent. */
static int number_word(struct reader *in, int *real)
{
    take(in, '-');
    if (take(in, '0') ? in->at < in->end && *in->at >= '0' && *in->at <= '9' : !digits(in))
        return 0;
    if (take(in, '.') && (*real = 1) && !digits(in))
        return 0;
    if (!take(in, 'e') && !take(in, 'E'))
        return 1;
    *real = 1;
    if (!take(in, '-'))
        take(in, '+');
    return digits(in);
}

/* A whole number that fits, else a real one. */
static int number(struct reader *in, struct srs_json *into)
{
    char word[LONGEST_NUMBER + 1];
    const char *from = in->at;
    int real = 0;
    if (!number_word(in, &real))
        return wrong(in, "a value was expected");
    size_t length = (size_t)(in->at - from);
    if (length > LONGEST_NUMBER)
        return wrong(in, "a number has too many digits");
    memcpy(word, from, length);
    word[length] = 0;
    into->kind = SRS_REAL;
    if (!real && length < 19) {
        into->kind = SRS_WHOLE;
        into->as.whole = strtoll(word, NULL, 10);
        return 0;
    }
    into->as.real = strtod(word, NULL);
    return isfinite(into->as.real) ? 0 : wrong(in, "a number is too large");
}

static int hex4(struct reader *in, unsigned *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, in->at++) {
        char letter = in->at < in->end ? *in->at : 0;
        if (letter >= '0' && letter <= '9')
            *code = *code * 16 + (unsigned)(letter - '0');
        else if ((letter | 32) >= 'a' && (letter | 32) <= 'f')
            *code = *code * 16 + (unsigned)((letter | 32) - 'a' + 10);
        else
            return 0;
    }
    return 1;
}

static char *put(char *into, unsigned code)
{
    if (code < 0x80) {
        *into++ = (char)code;
        return into;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char first[] = {0, 0xC0, 0xE0, 0xF0};
    *into++ = (char)(first[more] | code >> 6 * more);
    while (more--)
        *into++ = (char)(0x80 | (code >> 6 * more & 0x3F));
    return into;
}

/* What follows a backslash and u: a letter, of one or two codes. */
static char *escaped_code(struct reader *in, char *into)
{
    unsigned code, low;
    if (!hex4(in, &code) || !code || (code >= 0xDC00 && code < 0xE000))
        return NULL;
    if (code >= 0xD800 && code < 0xDC00) {
        if (!take(in, '\\') || !take(in, 'u') || !hex4(in, &low) || low < 0xDC00 || low >= 0xE000)
            return NULL;
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    return put(into, code);
}

static char *escaped(struct reader *in, char *into)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    if (in->at == in->end)
        return NULL;
    char letter = *in->at++;
    if (letter == 'u')
        return escaped_code(in, into);
    const char *place = letter ? strchr(letters, letter) : NULL;
    if (!place)
        return NULL;
    *into++ = meant[place - letters];
    return into;
}

/* How many bytes the letter at the cursor has, 0 for what is no UTF-8. */
static int utf8(const struct reader *in)
{
    const unsigned char *at = (const unsigned char *)in->at;
    static const unsigned least[] = {0, 0x80, 0x800, 0x10000};
    int more = at[0] < 0x80 ? 0 : at[0] >> 5 == 6 ? 1 : at[0] >> 4 == 14 ? 2 : at[0] >> 3 == 30 ? 3 : -1;
    if (more < 0 || in->end - in->at <= more)
        return 0;
    unsigned code = more ? at[0] & (0x3Fu >> more) : at[0];
    for (int i = 1; i <= more; i++) {
        if (at[i] >> 6 != 2)
            return 0;
        code = code << 6 | (at[i] & 0x3F);
    }
    int half = code >= 0xD800 && code < 0xE000;
    return code >= least[more] && code <= 0x10FFFF && !half ? more + 1 : 0;
}

/* The letters up to the closing quote: never longer than they are written. */
static int letters(struct reader *in, char *into)
{
    while (in->at < in->end && *in->at != '"') {
        if ((unsigned char)*in->at < 0x20)
            return wrong(in, "a control character in a text");
        if (take(in, '\\')) {
            into = escaped(in, into);
            if (!into)
                return wrong(in, "an escape that is none");
            continue;
        }
        int bytes = utf8(in);
        if (!bytes)
            return wrong(in, "it is not UTF-8");
        memcpy(into, in->at, (size_t)bytes);
        into += bytes;
        in->at += bytes;
    }
    *into = 0;
    return take(in, '"') ? 0 : wrong(in, "a text that does not end");
}

static int text(struct reader *in, struct srs_json *into)
{
    const char *end = in->at;
    while (end < in->end && *end != '"')
        end += *end == '\\' && end + 1 < in->end ? 2 : 1;
    into->as.text = malloc((size_t)(end - in->at) + 2);
    if (!into->as.text)
        return srs_no_memory();
    into->kind = SRS_TEXT;
    return letters(in, into->as.text);
}

/* Another item of a list or an object, null until it is read; NULL where memory ended. */
static struct srs_json *grown(struct srs_json *list)
{
    int64_t n = list->count;
    if (!(n & (n - 1))) { /* a power of two, or none yet: all room is taken */
        struct srs_json *items = realloc(list->as.items, sizeof *items * (size_t)(n ? 2 * n : 1));
        if (!items)
            return NULL;
        list->as.items = items;
    }
    list->count++;
    memset(list->as.items + n, 0, sizeof *list->as.items);
    return list->as.items + n;
}

static int item(struct reader *in, struct srs_json *list)
{
    struct srs_json *next = grown(list);
    return next ? value(in, next) : srs_no_memory();
}

static int entry(struct reader *in, struct srs_json *object)
{
    skip_space(in);
    if (!take(in, '"'))
        return wrong(in, "a name was expected");
    struct srs_json *name = grown(object);
    int problem = name ? text(in, name) : srs_no_memory();
    skip_space(in);
    if (problem)
        return problem;
    return take(in, ':') ? item(in, object) : wrong(in, "a colon was expected");
}

static int items(struct reader *in, struct srs_json *into, char end)
{
    into->kind = end == ']' ? SRS_LIST : SRS_OBJECT;
    into->as.items = NULL;
    skip_space(in);
    if (take(in, end))
        return 0;
    for (;;) {
        int problem = end == ']' ? item(in, into) : entry(in, into);
        if (problem)
            return problem;
        skip_space(in);
        if (take(in, end))
            return 0;
        if (!take(in, ','))
            return wrong(in, "a comma was expected");
    }
}

static int word(struct reader *in, const char *letters, enum srs_kind kind, struct srs_json *into)
{
    size_t length = strlen(letters);
    if ((size_t)(in->end - in->at) < length || memcmp(in->at, letters, length))
        return wrong(in, "a value was expected");
    in->at += length;
    into->kind = kind;
    return 0;
}

static int value(struct reader *in, struct srs_json *into)
{
    skip_space(in);
    char first = in->at < in->end ? *in->at : 0;
    if (first == '"')
        return take(in, '"'), text(in, into);
    if (first == 't')
        return word(in, "true", SRS_TRUE, into);
    if (first == 'f')
        return word(in, "false", SRS_FALSE, into);
    if (first == 'n')
        return word(in, "null", SRS_NULL, into);
    if (first != '[' && first != '{')
        return number(in, into);
    if (in->depth > MOST_DEPTH)
        return wrong(in, "it is nested too deep");
    in->at++;
    in->depth++;
    int problem = items(in, into, first == '[' ? ']' : '}');
    in->depth--;
    return problem;
}

int srs_json_read(const char *text, size_t length, struct srs_json *into)
{
    struct reader in = {text, text, text + length, 0};
    memset(into, 0, sizeof *into);
    int problem = value(&in, into);
    skip_space(&in);
    if (!problem && in.at < in.end)
        problem = wrong(&in, "more than one value");
    if (problem)
        srs_json_free(into);
    return problem;
}

const struct srs_json *srs_json_entry(const struct srs_json *object, const char *name)
{
    if (object && object->kind == SRS_OBJECT)
        for (int64_t i = object->count - 2; i >= 0; i -= 2) /* the last one of a name counts, as in Python */
            if (!strcmp(object->as.items[i].as.text, name))
                return object->as.items + i + 1;
    return NULL;
}

void srs_json_free(struct srs_json *value)
{
    if (value->kind == SRS_TEXT)
        free(value->as.text);
    if (value->kind == SRS_LIST || value->kind == SRS_OBJECT) {
        for (int64_t i = 0; i < value->count; i++)
            srs_json_free(value->as.items + i);
        free(value->as.items);
    }
    memset(value, 0, sizeof *value);
}
