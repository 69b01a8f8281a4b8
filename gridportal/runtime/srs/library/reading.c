/* What a program reads back: that it is what was registered, and then its bytes. */
#define _POSIX_C_SOURCE 200809L
#include "calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void dump_short(const struct srs_layout *layout, struct srs_text *into)
{
    struct srs_layout same;
    into->failed = srs_layout_copy(layout, &same);
    if (into->failed)
        return;
    srs_shorten(&same);
    srs_layout_dump(&same, into);
    srs_layout_free(&same);
}

static int same_layout(const struct srs_layout *one, const struct srs_layout *other)
{
    struct srs_text a = {0}, b = {0};
    dump_short(one, &a);
    dump_short(other, &b);
    int same = !a.failed && !b.failed && !strcmp(a.at, b.at);
    srs_drop(&a);
    srs_drop(&b);
    return same;
}

/* That a layout of the caller is `wanted`, where there is one. */
static int compare_layout(const char *text, const char *field, const struct srs_array *wanted, int turned)
{
    struct srs_layout given;
    char words[SRS_SENTENCE / 4], accepted[SRS_SENTENCE / 4];
    if (!text)
        return 0;
    int problem = srs_lay_out(text, srs_layout_ranks(&wanted->layout), field, wanted->dimensions, turned, &given);
    if (problem)
        return problem;
    if (!same_layout(&given, &wanted->layout)) {
        srs_layout_words(&given, words, sizeof words);
        srs_layout_words(&wanted->layout, accepted, sizeof accepted - 16);
        strcat(accepted, ", as it is");
        problem = srs_refuse(field, words, accepted);
    }
    srs_layout_free(&given);
    return problem;
}

static void add_names(struct srs_text *into, const char *name)
{
    srs_add(into, "%s%s", into->length ? ", " : "", name);
}

static int not_registered(const SRS *srs, const char *name)
{
    struct srs_text names = {0};
    for (int64_t i = 0; i < srs->count; i++)
        add_names(&names, srs->registered[i].array.name);
    srs_fail(SRS_BAD_INPUT, "name is '%s'; accepted is a name that is registered: %.300s.", name,
             names.at ? names.at : "there is none");
    srs_drop(&names);
    return SRS_BAD_INPUT;
}

static int not_stored(const SRS *srs, const char *name)
{
    struct srs_text names = {0};
    for (int64_t i = 0; i < srs->checkpoint.arrays; i++)
        add_names(&names, srs->checkpoint.array[i].name);
    srs_fail(SRS_BAD_INPUT, "name is '%s'; accepted is an array of the checkpoint: %.300s.", name,
             names.at ? names.at : "there is none");
    srs_drop(&names);
    return SRS_BAD_INPUT;
}

static void shape_words(const struct srs_array *array, char *into, size_t size)
{
    struct srs_text text = {0};
    for (int d = 0; d < array->dimensions; d++)
        srs_add(&text, "%s%" PRId64, d ? " x " : "", array->shape[d]);
    srs_copy_text(into, size, text.at ? text.at : "no dimensions");
    srs_drop(&text);
}

static int same_shape(const struct srs_array *one, const struct srs_array *other)
{
    return one->dimensions == other->dimensions &&
           !memcmp(one->shape, other->shape, sizeof *one->shape * (size_t)one->dimensions);
}

static int check_read(const SRS *srs, const char *name, const char *old_layout, const char *new_layout, int turned)
{
    char mine[SRS_SENTENCE / 4], wanted[SRS_SENTENCE / 4];
    name = name ? name : "";
    if (!srs->restart)
        return srs_refuse("name", name, "nothing, for the program starts: there is no checkpoint to read from");
    const struct srs_registered *registered = srs_find(srs, name);
    if (!registered)
        return not_registered(srs, name);
    const struct srs_array *stored = srs_stored(&srs->checkpoint, name);
    if (!stored)
        return not_stored(srs, name);
    if (strcmp(registered->array.type, stored->type))
        return srs_fail(SRS_BAD_INPUT, "%s.dtype is '%s'; accepted is %s, as it is.", name, registered->array.type,
                        stored->type);
    if (!same_shape(&registered->array, stored)) {
        shape_words(&registered->array, mine, sizeof mine);
        shape_words(stored, wanted, sizeof wanted);
        return srs_fail(SRS_BAD_INPUT, "%s.shape is '%s'; accepted is %s, as it is.", name, mine, wanted);
    }
    int problem = compare_layout(old_layout, "old", stored, turned);
    return problem ? problem : compare_layout(new_layout, "new", &registered->array, turned);
}

int srs_read(SRS *srs, const char *name, const char *old_layout, const char *new_layout, int turned)
{
    int problem = srs_agreed(srs->comm, check_read(srs, name, old_layout, new_layout, turned));
    if (problem)
        return problem;
    double began = srs_now();
    const struct srs_registered *registered = srs_find(srs, name);
    const struct srs_array *stored = srs_stored(&srs->checkpoint, name);
    problem = srs_read_array(&srs->checkpoint, stored, &registered->array.layout, srs->rank, registered->data);
    problem = srs_agreed(srs->comm, problem); /* nobody goes on before all have read */
    srs->reading += srs_now() - began;
    srs->read += stored->itemsize * srs_elements(stored->dimensions, stored->shape);
    return problem;
}
