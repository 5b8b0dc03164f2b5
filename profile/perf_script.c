/* SPDX-License-Identifier: MIT */
/*
 * perf_script.c - what `perf script` prints: for each sample a line with its
 * weight, and its stack, innermost frame first:
 *
 *     run  4711  1234.567890:     250000 cycles:u:
 *             55d0c2a1 matmul+0x51 (/home/me/run)
 *       run.c:226
 *
 * The line of the source is there with -F +srcline. Without -g the frame stands
 * on the first line. Samples of the event that comes first count, others are
 * passed over: their weights are something else.
 */
#include "profile/reader.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { FRAME_TEXT = 2048 };

struct perf_script {
    const struct takt_profile_reading *reading;
    char event[64];  /* of the first sample */
    bool is_open;    /* a sample whose frames are read */
    bool is_placed;  /* it has its place */
    bool is_pending; /* a frame whose source line may follow */
    double weight;
    int place;
    char function[FRAME_TEXT], module[FRAME_TEXT];
};

/* Behind "1234.567890:"; NULL: there is no such word. */
static const char *behind_time(const char *line)
{
    for (const char *at = line; (at = strchr(at, '.')) != NULL; at++) {
        const char *before = at, *after = at + 1;
        while (before > line && isdigit((unsigned char)before[-1]))
            before--;
        while (isdigit((unsigned char)*after))
            after++;
        if (before < at && after > at + 1 && *after == ':' && before > line &&
            before[-1] == ' ')
            return after + 1;
    }
    return NULL;
}

struct header {
    double weight;
    const char *event;
    size_t event_length;
    const char *rest;
};

static bool read_header(const char *line, struct header *out)
{
    const char *at = behind_time(line);

    if (at == NULL || *line == '\t')
        return false;
    at += strspn(at, " ");
    char *end;
    out->weight = strtod(at, &end);
    if (end == at || (*end != ' ' && *end != '\0'))
        out->weight = 1; /* the event comes first */
    else
        at = end + strspn(end, " ");
    out->event = at;
    out->event_length = strcspn(at, " ");
    if (out->event_length < 2 || at[out->event_length - 1] != ':')
        return false;
    out->rest = at + out->event_length;
    out->rest += strspn(out->rest, " ");
    return true;
}

bool takt__is_perf_script(char *line)
{
    struct header unused;

    return read_header(line, &unused);
}

/* "55d0c2a1 matmul+0x51 (/home/me/run)" */
static bool read_frame(struct perf_script *script, const char *text)
{
    const size_t digits = strspn(text, "0123456789abcdef");

    if (digits == 0 || text[digits] != ' ')
        return false;
    text += digits + 1;
    const size_t length = strlen(text);
    const char *open = NULL;
    for (const char *at = text; (at = strstr(at, " (")) != NULL; at++)
        open = at;
    if (open == NULL && text[0] == '(')
        open = text - 1;
    if (open == NULL || text[length - 1] != ')')
        return false;
    snprintf(script->module, sizeof script->module, "%.*s",
             (int)(text + length - open - 3), open + 2);
    const int size = open > text ? (int)(open - text) : 0;
    snprintf(script->function, sizeof script->function, "%.*s", size, text);
    char *plus = strrchr(script->function, '+');
    if (plus != NULL && strncmp(plus, "+0x", 3) == 0)
        *plus = '\0';
    script->is_pending = true;
    return true;
}

static void flush_frame(struct perf_script *script, const char *file,
                        unsigned line)
{
    const bool is_known = strcmp(script->function, "[unknown]") != 0;
    const struct takt_frame frame = {is_known ? script->function : "", file,
                                     line, script->module};

    script->is_pending = false;
    if (script->is_placed)
        return;
    script->place = takt__profile_place(script->reading, &frame);
    script->is_placed = script->place != TAKT_FRAME_FOREIGN;
}

static void end_sample(struct perf_script *script)
{
    if (script->is_pending)
        flush_frame(script, "", 0);
    if (script->is_open)
        takt__profile_add(script->reading, script->place, script->weight);
    script->is_open = false;
}

static void begin_sample(struct perf_script *script,
                         const struct header *header)
{
    if (script->event[0] == '\0')
        snprintf(script->event, sizeof script->event, "%.*s",
                 (int)header->event_length, header->event);
    script->is_open =
        strlen(script->event) == header->event_length &&
        memcmp(script->event, header->event, header->event_length) == 0;
    script->is_placed = script->is_pending = false;
    script->place = TAKT_FRAME_FOREIGN;
    script->weight = header->weight;
    if (script->is_open)
        read_frame(script, header->rest);
}

/* "  run.c:226" behind a frame. */
static bool take_source(struct perf_script *script, char *line)
{
    char *colon = strrchr(line, ':');

    if (!script->is_pending || line[0] != ' ' || line[1] != ' ' ||
        isspace((unsigned char)line[2]) || colon == NULL)
        return false;
    *colon = '\0';
    flush_frame(script, line + 2, (unsigned)strtoul(colon + 1, NULL, 10));
    return true;
}

takt_status takt__read_perf_script(const struct takt_profile_reading *reading)
{
    struct takt_lines *lines = malloc(sizeof *lines);
    struct perf_script *script = calloc(1, sizeof *script);
    struct header header;

    if (lines == NULL || script == NULL) {
        free(lines);
        free(script);
        return TAKT_ENOMEM;
    }
    lines->file = reading->file;
    lines->keeps_end = false;
    script->reading = reading;
    while (takt__lines_next(lines)) {
        if (script->is_open && take_source(script, lines->text))
            continue;
        if (script->is_pending)
            flush_frame(script, "", 0);
        if (lines->length == 0) {
            end_sample(script);
        } else if (script->is_open &&
                   read_frame(script,
                              lines->text + strspn(lines->text, " \t"))) {
            continue;
        } else if (read_header(lines->text, &header)) {
            end_sample(script);
            begin_sample(script, &header);
        }
    }
    end_sample(script);
    free(lines);
    free(script);
    return TAKT_OK;
}
