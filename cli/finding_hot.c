/* SPDX-License-Identifier: MIT */
/*
 * finding_hot.c - code of the project that takes time and is none of the
 * findings, by lines that lie together.
 */
#include <stdlib.h>
#include <string.h>

#include "findings.h"

enum { nearby = 20 }; /* lines */
static const double least_share = 0.02;

struct hot_line {
    const char *path;     /* NULL: not known */
    const char *function; /* NULL: the slot is free */
    unsigned line;        /* 0: not known */
    double share;
};

static bool open_lines(struct hot_code *hot)
{
    if (hot->line == NULL)
        hot->line = calloc(hot_slots, sizeof *hot->line);
    return hot->line != NULL;
}

static bool is_line(const struct hot_line *line, const char *path,
                    const char *function, unsigned number)
{
    return line->line == number && line->path == path &&
           strcmp(line->function, function) == 0;
}

size_t hot_line_at(struct hot_code *hot, const char *path, const char *function,
                   unsigned line)
{
    char name[longest_symbol];
    size_t hash = line;

    plain_symbol(function, name);
    for (const char *at = name; *at != '\0'; at++)
        hash = hash * 31 + (unsigned char)*at;
    if (name[0] == '\0' || hot->used > hot_slots / 2 || !open_lines(hot))
        return SIZE_MAX;
    for (size_t i = hash % hot_slots;; i = (i + 1) % hot_slots) {
        struct hot_line *one = &hot->line[i];
        if (one->function != NULL && !is_line(one, path, name, line))
            continue;
        if (one->function == NULL) {
            one->function = takt__region_copy(&hot->region, name, strlen(name));
            if (one->function == NULL)
                return SIZE_MAX;
            one->path = path;
            one->line = line;
            hot->used++;
        }
        return i;
    }
}

double add_hot_weights(struct hot_code *hot, const double *weight, double total)
{
    double sum = 0;

    for (size_t i = 0; hot->line != NULL && i < hot_slots; i++) {
        sum += weight[i];
        hot->line[i].share += weight[i] / total;
    }
    return sum;
}

/* Free ones last; by function, then by line. */
static int compare_lines(const void *left, const void *right)
{
    const struct hot_line *a = left, *b = right;

    if (a->function == NULL || b->function == NULL)
        return (a->function == NULL) - (b->function == NULL);
    const int by_path =
        strcmp(a->path != NULL ? a->path : "", b->path != NULL ? b->path : "");
    const int by_name =
        by_path != 0 ? by_path : strcmp(a->function, b->function);
    return by_name != 0 ? by_name : (a->line > b->line) - (a->line < b->line);
}

static bool is_next(const struct hot_place *place, const struct hot_line *line)
{
    return place->path == line->path && line->line <= place->to + nearby &&
           strcmp(place->function, line->function) == 0;
}

/* Keeps the hottest, in order. */
static void keep_place(struct hot_code *hot, const struct hot_place *place)
{
    size_t i = hot->count < most_top ? hot->count++ : most_top;

    if (place->share < least_share) {
        hot->count -= i < most_top;
        return;
    }
    for (; i > 0 && hot->at[i - 1].share < place->share; i--)
        if (i < most_top)
            hot->at[i] = hot->at[i - 1];
    if (i < most_top)
        hot->at[i] = *place;
}

void settle_hot(struct hot_code *hot, size_t files)
{
    struct hot_place place = {.share = 0};

    if (hot->line == NULL || files == 0)
        return;
    qsort(hot->line, hot_slots, sizeof *hot->line, compare_lines);
    for (size_t i = 0; i < hot->used; i++) {
        const struct hot_line *line = &hot->line[i];
        if (i == 0 || !is_next(&place, line)) {
            keep_place(hot, &place);
            place = (struct hot_place){.path = line->path,
                                       .function = line->function,
                                       .from = line->line};
        }
        place.to = line->line;
        place.share += line->share / (double)files;
    }
    keep_place(hot, &place);
}

void free_hot(struct hot_code *hot)
{
    free(hot->line);
    takt__region_free(&hot->region);
}
