/* Reads checkpoints for tests, without MPI: requests come in lines, answers go out in lines.
 *
 * read FOLDER NUMBER NAME RANK OUTPUT LAYOUT   what rank RANK has of an array in LAYOUT (JSON), into OUTPUT
 * parse FILE                                   whether FILE is a manifest
 * json FILE                                    whether FILE is JSON
 *
 * With GRIDPORTAL_DEPOTS it may use depots, from node n1. An answer is "ok", or a number and a sentence. */
#include "depots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct srs_depots *depots;

static int find_depots(void)
{
    char *text, own[SRS_NODE] = "n1";
    size_t length;
    const char *file = getenv("GRIDPORTAL_DEPOTS");
    int problem = file ? srs_access_text(file, &text, &length) : 0;
    if (!file || problem)
        return problem;
    depots = srs_room(1, sizeof *depots);
    problem = srs_access_parse(text, length, &depots->access);
    free(text);
    return problem ? problem : srs_depots_make(depots, own, 0, 1);
}

static int read_part(const struct srs_checkpoint *checkpoint, char **words)
{
    struct srs_layout layout;
    int64_t local[64], rank = atoll(words[3]);
    const struct srs_array *stored = srs_stored(checkpoint, words[2]);
    int problem = stored ? srs_layout_parse(words[5], 0, "layout", &layout) : srs_refuse("name", words[2], "another");
    if (problem)
        return problem;
    srs_layout_local(&layout, stored->dimensions, stored->shape, rank, local);
    size_t bytes = (size_t)(srs_elements(stored->dimensions, local) * stored->itemsize);
    char *into = malloc(bytes ? bytes : 1); /* of the very size, so that a sanitizer sees what is beyond */
    memset(into, 0x5A, bytes);
    problem = srs_read_array(checkpoint, stored, &layout, rank, into);
    FILE *output = fopen(words[4], "wb");
    if (output) {
        fwrite(into, 1, bytes, output);
        fclose(output);
    }
    free(into);
    srs_layout_free(&layout);
    return problem;
}

static int read_request(char **words)
{
    char *text = NULL;
    size_t length;
    struct srs_checkpoint checkpoint;
    int64_t number = atoll(words[1]);
    int problem = srs_manifest_text(words[0], number, &text, &length);
    if (!problem && !(problem = srs_manifest_parse(words[0], number, text, length, &checkpoint))) {
        checkpoint.depots = depots;
        problem = srs_check_lengths(&checkpoint);
        problem = problem ? problem : srs_verify(&checkpoint, 0, 1);
        problem = problem ? problem : read_part(&checkpoint, words);
        srs_checkpoint_free(&checkpoint);
    }
    free(text);
    return problem;
}

static int parse_request(const char *kind, const char *file)
{
    char *text;
    size_t length;
    struct srs_checkpoint checkpoint;
    struct srs_json value;
    int problem = srs_read_file(file, &text, &length);
    if (problem)
        return problem;
    char *exact = malloc(length ? length : 1); /* without the null character behind it */
    memcpy(exact, text, length);
    if (*kind == 'j')
        (problem = srs_json_read(exact, length, &value)) ? (void)0 : srs_json_free(&value);
    else
        (problem = srs_manifest_parse("x", 1, exact, length, &checkpoint)) ? (void)0 : srs_checkpoint_free(&checkpoint);
    free(exact);
    free(text);
    return problem;
}

int main(void)
{
    static char line[1 << 20];
    if (find_depots())
        puts(srs_message);
    while (fgets(line, sizeof line, stdin)) {
        char *words[8] = {0}, *at = line;
        line[strcspn(line, "\n")] = 0;
        for (int i = 0; i < 7 && at; i++) {
            words[i] = at;
            if (i < 6 && (at = strchr(at, ' ')))
                *at++ = 0;
        }
        int problem = *line == 'r' ? read_request(words + 1) : parse_request(words[0], words[1]);
        if (problem)
            printf("%d %s\n", problem, srs_message);
        else
            printf("ok\n");
        fflush(stdout);
    }
    srs_depots_free(depots);
    return 0;
}
