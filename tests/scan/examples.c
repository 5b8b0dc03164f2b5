/* SPDX-License-Identifier: MIT */
/*
 * examples.c - takes the examples from the text of a query and tries them.
 * An example belongs to the pattern that starts after it.
 */
#include "examples.h"

#include <stdlib.h>
#include <string.h>

#include "filter.h"

struct trial {
    struct takt_scan_finder *finder;
    const struct takt_patterns *patterns;
    struct examples_score score;
    bool *has_example;
    FILE *complaints;
    struct takt_filter filter;
};

/* The pattern that an example at this byte of the query is of. */
static uint32_t pattern_at(const struct takt_patterns *patterns, size_t at)
{
    uint32_t i = 0;

    while (i + 1 < patterns->count &&
           ts_query_start_byte_for_pattern(patterns->query, i) < at)
        i++;
    return i;
}

static char *copy_code(const char *line, size_t size)
{
    char *code = malloc(size + 2), *end = code;

    if (code == NULL)
        return NULL;
    for (size_t i = 0; i < size; i++) {
        if (line[i] == '\\' && i + 1 < size && line[i + 1] == 'n') {
            *end++ = '\n';
            i++;
        } else
            *end++ = line[i];
    }
    *end++ = '\n';
    *end = 0;
    return code;
}

static const char *example_path(const struct takt_patterns *patterns)
{
    static char path[32];

    snprintf(path, sizeof path, "example%s", patterns->language->extensions[0]);
    return path;
}

static void try_example(struct trial *trial, uint32_t index, bool is_positive,
                        const char *line, size_t size)
{
    const struct takt_pattern *pattern = &trial->patterns->pattern[index];
    char *code = copy_code(line, size);
    struct takt_found found;
    bool is_hit = false;

    if (code == NULL || takt__find(trial->finder, trial->patterns,
                                   example_path(trial->patterns), code,
                                   strlen(code), &found) != TAKT_OK)
        abort();
    for (size_t i = 0; i < found.count; i++)
        is_hit |= !is_positive ||
                  strcmp(found.finding[i].pattern, pattern->full_name) == 0;
    if (is_positive &&
        !takt__filter_passes(&trial->filter, code, strlen(code))) {
        trial->score.wrong++;
        fprintf(trial->complaints, "%s: no word of the filter is in %.*s\n",
                pattern->full_name, (int)size, line);
    }
    if (is_hit != is_positive) {
        trial->score.wrong++;
        fprintf(trial->complaints, "%s: %s %.*s\n", pattern->full_name,
                is_positive ? "does not find" : "is not to find", (int)size,
                line);
        for (size_t i = 0; i < found.count; i++)
            fprintf(trial->complaints, "    %s finds %s there\n",
                    found.finding[i].pattern, found.finding[i].snippet);
    }
    trial->has_example[index] |= is_positive;
    takt__found_clear(&found);
    free(code);
}

static void try_line(struct trial *trial, size_t at, const char *line,
                     size_t size)
{
    while (size > 0 && (*line == ' ' || *line == '\t'))
        line++, size--;
    if (size < 3 || line[0] != ';' || (line[1] != '+' && line[1] != '-'))
        return;
    const bool is_positive = line[1] == '+';
    const size_t skip = line[2] == ' ' ? 3 : 2;
    trial->score.positives += is_positive;
    trial->score.negatives += !is_positive;
    try_example(trial, pattern_at(trial->patterns, at), is_positive,
                line + skip, size - skip);
}

/* Several patterns may share a name: one that has an example does. */
static void count_without(struct trial *trial)
{
    const struct takt_patterns *patterns = trial->patterns;

    trial->score.patterns = patterns->count;
    for (unsigned i = 0; i < patterns->count; i++) {
        bool has = false;
        for (unsigned k = 0; k < patterns->count; k++)
            has |=
                trial->has_example[k] && strcmp(patterns->pattern[i].name,
                                                patterns->pattern[k].name) == 0;
        if (has)
            continue;
        trial->score.without++;
        fprintf(trial->complaints, "%s: has no example\n",
                patterns->pattern[i].full_name);
    }
}

struct examples_score examples_check(struct takt_scan_finder *finder,
                                     const struct takt_patterns *patterns,
                                     FILE *complaints)
{
    const char *text = patterns->language->query, *line = text;
    struct trial trial = {
        .finder = finder, .patterns = patterns, .complaints = complaints};

    takt__filter_make(&trial.filter, patterns->language->words);
    trial.has_example = calloc(patterns->count + 1, sizeof(bool));
    if (trial.has_example == NULL)
        abort();
    while (*line != 0) {
        const size_t size = strcspn(line, "\n");
        try_line(&trial, (size_t)(line - text), line, size);
        line += size + (line[size] == '\n');
    }
    count_without(&trial);
    free(trial.has_example);
    return trial.score;
}
