/* Layouts as manifests have them, and in the words that people read. */
#include "internal.h"

#include <inttypes.h>

static void add_list(struct srs_text *into, const int64_t *numbers, int64_t count)
{
    srs_add(into, "[");
    for (int64_t i = 0; i < count; i++)
        srs_add(into, "%s%" PRId64, i ? ", " : "", numbers[i]);
    srs_add(into, "]");
}

static void dump_dealing(const struct srs_dealing *dealing, struct srs_text *into)
{
    if (dealing->kind == SRS_BLOCKS && !dealing->block)
        srs_add(into, "{\"parts\": %" PRId64 ", \"block\": null}", dealing->parts);
    else if (dealing->kind == SRS_BLOCKS)
        srs_add(into, "{\"parts\": %" PRId64 ", \"block\": %" PRId64 "}", dealing->parts, dealing->block);
    else if (dealing->kind == SRS_SHARES) {
        srs_add(into, "{\"shares\": ");
        add_list(into, dealing->lengths, dealing->parts);
        srs_add(into, "}");
    } else {
        srs_add(into, "{\"map\": [");
        const int64_t *places = dealing->places;
        for (int64_t part = 0; part < dealing->parts; places += dealing->lengths[part++]) {
            srs_add(into, "%s", part ? ", " : "");
            add_list(into, places, dealing->lengths[part]);
        }
        srs_add(into, "]}");
    }
}

void srs_layout_dump(const struct srs_layout *layout, struct srs_text *into)
{
    if (!layout->dimensions) {
        srs_add(into, "{\"replicated\": %" PRId64 "}", layout->copies);
        return;
    }
    srs_add(into, "{\"dimensions\": [");
    for (int d = 0; d < layout->dimensions; d++) {
        srs_add(into, "%s", d ? ", " : "");
        dump_dealing(layout->dealings + d, into);
    }
    srs_add(into, "]}");
}

static void name_dealing(const struct srs_dealing *dealing, struct srs_text *into)
{
    if (dealing->kind == SRS_MAP)
        srs_add(into, "map:%" PRId64, dealing->parts);
    else if (dealing->kind == SRS_BLOCKS && dealing->block > 1)
        srs_add(into, "block-cyclic:%" PRId64 ":%" PRId64, dealing->block, dealing->parts);
    else if (dealing->kind == SRS_BLOCKS)
        srs_add(into, "%s:%" PRId64, dealing->block ? "cyclic" : "block", dealing->parts);
    else
        for (int64_t part = 0; part < dealing->parts; part++)
            srs_add(into, "%s%" PRId64, part ? "," : "shares:", dealing->lengths[part]);
}

/* What a person reads; cut where it is long. */
void srs_layout_words(const struct srs_layout *layout, char *into, size_t size)
{
    struct srs_text words = {0};
    if (!layout->dimensions)
        srs_add(&words, "replicated:%" PRId64, layout->copies);
    for (int d = 0; d < layout->dimensions; d++) {
        srs_add(&words, "%s", d ? " x " : "");
        name_dealing(layout->dealings + d, &words);
    }
    srs_copy_text(into, size, words.at ? words.at : "");
    srs_drop(&words);
}
