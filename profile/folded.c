/* SPDX-License-Identifier: MIT */
/*
 * folded.c - folded stacks, as stackcollapse, inferno, cargo-flamegraph and
 * py-spy write them, outermost frame first:
 *
 *     main;forward;matmul 4711
 *     <module> (app.py:3);product (app.py:8) 12
 *
 * Of a line that is too long the inner frames are kept.
 */
#include "profile/reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Cuts the weight off the end of a line; false: there is none. */
static bool take_weight(char *line, double *out)
{
    char *blank = strrchr(line, ' '), *end;

    if (blank == NULL || blank == line || !isdigit((unsigned char)blank[1]))
        return false;
    *out = strtod(blank + 1, &end);
    if (*end != '\0')
        return false;
    *blank = '\0';
    return true;
}

bool takt__is_folded(char *line)
{
    double unused;

    return take_weight(line, &unused) &&
           (strchr(line, ';') != NULL || strchr(line, ' ') == NULL ||
            strstr(line, " (") != NULL);
}

static void cut_lines(char *file, struct takt_frame *frame)
{
    char *colon = strrchr(file, ':');

    if (colon != NULL && isdigit((unsigned char)colon[1])) {
        frame->line = (unsigned)strtoul(colon + 1, NULL, 10);
        *colon = '\0';
    }
    frame->file = file;
}

struct takt_frame takt__frame_parse(char *text)
{
    struct takt_frame frame = {text, "", 0, ""};
    const size_t length = strlen(text);
    char *open = NULL, *tick = strchr(text, '`');

    for (char *at = text; (at = strstr(at, " (")) != NULL; at++)
        open = at;
    if (open != NULL && text[length - 1] == ')' &&
        (strchr(open, '.') != NULL || strchr(open, '/') != NULL)) {
        char *stamp = strstr(open, " @ "); /* gprof -l: an address */
        *open = '\0';
        text[length - 1] = '\0';
        if (stamp != NULL)
            *stamp = '\0';
        cut_lines(open + 2, &frame);
    } else if (tick != NULL) { /* DTrace's module`function */
        *tick = '\0';
        frame.module = text;
        frame.function = tick + 1;
    } else if (text[0] == '[') {
        frame.module = text;
        frame.function = "";
    } else if (length > 4 && strcmp(text + length - 4, "_[k]") == 0) {
        text[length - 4] = '\0';
        frame.module = "[kernel.kallsyms]";
    }
    return frame;
}

static void read_stack(const struct takt_profile_reading *reading, char *stack,
                       double weight)
{
    int place = TAKT_FRAME_FOREIGN;
    char *cut;

    do {
        cut = strrchr(stack, ';');
        char *text = cut == NULL ? stack : cut + 1;
        struct takt_frame frame = takt__frame_parse(text);
        if (cut != NULL)
            *cut = '\0';
        place = takt__profile_place(reading, &frame);
    } while (place == TAKT_FRAME_FOREIGN && cut != NULL);
    takt__profile_add(reading, place, weight);
}

takt_status takt__read_folded(const struct takt_profile_reading *reading)
{
    struct takt_lines *lines = malloc(sizeof *lines);
    double weight;

    if (lines == NULL)
        return TAKT_ENOMEM;
    lines->file = reading->file;
    lines->keeps_end = true;
    while (takt__lines_next(lines))
        if (take_weight(lines->text, &weight))
            read_stack(reading, lines->text, weight);
    free(lines);
    return TAKT_OK;
}
