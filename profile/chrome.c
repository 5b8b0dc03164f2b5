/* SPDX-License-Identifier: MIT */
/*
 * chrome.c - Chrome's trace format: complete events (X), and those that begin
 * (B) and end (E). They may come in any order, so they are kept, without their
 * names, until all are there.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "profile/events.h"

enum { MOST_EVENTS = 1 << 23 };

struct trace_events {
    struct takt_trace_event *event;
    size_t count, room;
};

/* What an event says. */
struct said {
    char name[2048], file[2048];
    char phase;
    double line, ts, dur, pid, tid;
};

static takt_status keep(struct trace_events *events,
                        const struct takt_trace_event *event)
{
    if (events->count == MOST_EVENTS ||
        !takt__grow(&events->event, &events->room, events->count + 1,
                    sizeof *event))
        return TAKT_ENOMEM;
    events->event[events->count] = *event;
    events->event[events->count].order = events->count;
    events->count++;
    return TAKT_OK;
}

static double *number_of(struct said *said, const char *name)
{
    const struct {
        const char *name;
        double *number;
    } numbers[] = {{"ts", &said->ts},
                   {"dur", &said->dur},
                   {"pid", &said->pid},
                   {"tid", &said->tid},
                   {"line", &said->line}};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(name, numbers[i].name) == 0)
            return numbers[i].number;
    return NULL;
}

/* Numbers that are names: "0x12ab". */
static double number_of_word(const char *word)
{
    double hash = 0;

    for (; *word != '\0'; word++)
        hash = fmod(hash * 31 + (unsigned char)*word, 1e15);
    return hash;
}

/* Where the text of a member goes; NULL: nowhere. */
static char *text_of(struct said *said, const char *name, bool is_args)
{
    if (strcmp(name, "file") == 0 || strcmp(name, "filename") == 0)
        return said->file;
    return strcmp(name, "name") == 0 && !is_args ? said->name : NULL;
}

/* Behind a {; `args` has the place of a source in some traces. */
static bool read_members(struct takt_json_stream *json, struct said *said,
                         bool is_args)
{
    while (takt__json_next_member(json)) {
        double *number = number_of(said, json->text);
        char *text = text_of(said, json->text, is_args);
        const bool is_phase = strcmp(json->text, "ph") == 0 && !is_args;
        const bool has_args = strcmp(json->text, "args") == 0 && !is_args;
        const enum takt_json_token token = takt__json_next(json);
        if (token == TAKT_TOKEN_OBJECT && has_args) {
            if (!read_members(json, said, true))
                return false;
        } else if (token == TAKT_TOKEN_NUMBER && number != NULL) {
            *number = json->number;
        } else if (token == TAKT_TOKEN_STRING && number != NULL) {
            *number = number_of_word(json->text);
        } else if (token == TAKT_TOKEN_STRING && is_phase) {
            said->phase = json->text[0];
        } else if (token == TAKT_TOKEN_STRING && text != NULL) {
            snprintf(text, sizeof said->name, "%.2047s", json->text);
        } else if (!takt__json_skip(json, token)) {
            return false;
        }
    }
    return json->wrong == NULL;
}

static uint64_t thread_of(const struct said *said)
{
    const double pid = fmod(fabs(said->pid), 4294967296.0);
    const double tid = fmod(fabs(said->tid), 4294967296.0);

    return (uint64_t)pid << 32 | (uint64_t)tid;
}

static takt_status take_event(const struct takt_profile_reading *reading,
                              struct said *said, struct trace_events *events)
{
    struct takt_trace_event event = {.thread = thread_of(said),
                                     .from = said->ts,
                                     .to = HUGE_VAL,
                                     .place = TAKT_FRAME_FOREIGN,
                                     .is_end = said->phase == 'E'};

    if (said->phase == 'X')
        event.to = said->ts + (said->dur > 0 ? said->dur : 0);
    else if (said->phase != 'B' && said->phase != 'E')
        return TAKT_OK;
    if (!event.is_end) {
        struct takt_frame frame = takt__frame_parse(said->name);
        if (said->file[0] != '\0')
            frame.file = said->file;
        if (said->line >= 1 && said->line < 1e9)
            frame.line = (unsigned)said->line;
        event.place = takt__profile_place(reading, &frame);
    }
    return keep(events, &event);
}

takt_status takt__read_trace_events(const struct takt_profile_reading *reading,
                                    struct takt_json_stream *json)
{
    struct trace_events events = {0};
    struct said *said = malloc(sizeof *said);
    enum takt_json_token token = TAKT_TOKEN_ERROR;
    takt_status status = said == NULL ? TAKT_ENOMEM : TAKT_OK;

    while (status == TAKT_OK &&
           (token = takt__json_next(json)) == TAKT_TOKEN_OBJECT) {
        *said = (struct said){.phase = ' '};
        status = read_members(json, said, false)
                     ? take_event(reading, said, &events)
                     : TAKT_ECORRUPT;
    }
    if (status == TAKT_OK && token != TAKT_TOKEN_CLOSE)
        status = TAKT_ECORRUPT;
    /* A program that was ended leaves the list open: what is there counts. */
    if (status == TAKT_ECORRUPT && json->wrong != NULL && events.count > 0 &&
        feof(reading->file))
        status = TAKT_OK;
    if (status == TAKT_OK)
        status = takt__events_add(reading, events.event, events.count);
    free(events.event);
    free(said);
    return status;
}
