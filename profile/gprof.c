/* SPDX-License-Identifier: MIT */
/*
 * gprof.c - the flat profile of gprof:
 *
 *       %   cumulative   self              self     total
 *      time   seconds   seconds    calls  ms/call  ms/call  name
 *      75.10      1.42     1.42     5000     0.28     0.28  matmul
 *
 * It has functions without their callers: the time of foreign ones is counted
 * for no function of the project.
 */
#include "profile/reader.h"

#include <stdlib.h>
#include <string.h>

bool takt__is_gprof(const char *line)
{
    return strncmp(line, "Flat profile:", 13) == 0 ||
           (strstr(line, "cumulative") != NULL && strstr(line, "self") != NULL);
}

/* The head of the columns, behind which the rows begin. */
static bool is_head(const char *line)
{
    return strstr(line, "seconds") != NULL && strstr(line, "name") != NULL;
}

static void read_row(const struct takt_profile_reading *reading, char *line)
{
    double number[6];
    int count = 0;
    char *at = line;

    while (count < 6) {
        char *end;
        number[count] = strtod(at, &end);
        if (end == at || (*end != ' ' && *end != '\0'))
            break;
        count++;
        at = end;
    }
    at += strspn(at, " ");
    if (count < 3 || *at == '\0')
        return;
    struct takt_frame frame = takt__frame_parse(at);
    takt__profile_add(reading, takt__profile_place(reading, &frame), number[2]);
}

takt_status takt__read_gprof(const struct takt_profile_reading *reading)
{
    struct takt_lines *lines = malloc(sizeof *lines);
    bool is_table = false;

    if (lines == NULL)
        return TAKT_ENOMEM;
    lines->file = reading->file;
    lines->keeps_end = false;
    while (takt__lines_next(lines)) {
        if (is_table && lines->length == 0)
            break; /* the explanations and the call graph follow */
        if (is_table)
            read_row(reading, lines->text);
        is_table = is_table || is_head(lines->text);
    }
    free(lines);
    return TAKT_OK;
}
