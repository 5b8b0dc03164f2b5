/* SPDX-License-Identifier: MIT */
/*
 * speedscope.c - the JSON of speedscope, which py-spy and others write: a table
 * of frames, and profiles that are either samples with weights or events that
 * open and close frames. The table may stand behind the profiles, so it is read
 * in a pass of its own, and all that is kept of it is the place of each frame.
 */
#include "profile/reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

enum { MOST_FRAMES = 1 << 22, MOST_SAMPLES = 1 << 24, DEEPEST_STACK = 4096 };

/* ---- frames ---- */

static takt_status keep_place(struct takt_frame_places *places, int place)
{
    if (places->count == MOST_FRAMES ||
        !takt__grow(&places->place, &places->room, places->count + 1,
                    sizeof place))
        return TAKT_ENOMEM;
    places->place[places->count++] = place;
    return TAKT_OK;
}

/* Behind the { of a frame. */
static takt_status read_frame(const struct takt_profile_reading *reading,
                              struct takt_json_stream *json,
                              struct takt_frame_places *out)
{
    char function[2048] = "", file[2048] = "";
    double line = 0;

    while (takt__json_next_member(json)) {
        const bool is_name = strcmp(json->text, "name") == 0;
        const bool is_file = strcmp(json->text, "file") == 0;
        const bool is_line = strcmp(json->text, "line") == 0;
        const enum takt_json_token token = takt__json_next(json);
        if (token == TAKT_TOKEN_STRING && (is_name || is_file))
            snprintf(is_name ? function : file, sizeof function, "%.2047s",
                     json->text);
        else if (token == TAKT_TOKEN_NUMBER && is_line)
            line = json->number;
        else if (!takt__json_skip(json, token))
            return TAKT_ECORRUPT;
    }
    struct takt_frame frame = takt__frame_parse(function);
    if (file[0] != '\0')
        frame.file = file;
    if (line >= 1 && line < 1e9)
        frame.line = (unsigned)line;
    return keep_place(out, takt__profile_place(reading, &frame));
}

takt_status takt__read_frames(const struct takt_profile_reading *reading,
                              struct takt_json_stream *json,
                              struct takt_frame_places *out)
{
    struct takt_json_walk walk = {0};

    while (takt__json_next_object(json, &walk))
        walk.status = read_frame(reading, json, out);
    return walk.status;
}

/* ---- profiles ---- */

/* Samples wait for their weights, or the other way round. */
struct samples {
    int *place;
    double *weight;
    size_t places, weights;
    size_t place_room, weight_room;
};

static int place_at(const struct takt_frame_places *places, double index)
{
    return index >= 0 && index < (double)places->count
               ? places->place[(size_t)index]
               : TAKT_FRAME_FOREIGN;
}

/* Behind the [ of a stack: the last frame with a place is the innermost. */
static int read_stack(struct takt_json_stream *json,
                      const struct takt_frame_places *places)
{
    int place = TAKT_FRAME_FOREIGN;

    while (takt__json_next(json) == TAKT_TOKEN_NUMBER) {
        const int one = place_at(places, json->number);
        if (one != TAKT_FRAME_FOREIGN)
            place = one;
    }
    return place;
}

static takt_status read_samples(struct takt_json_stream *json,
                                const struct takt_frame_places *places,
                                struct samples *out)
{
    enum takt_json_token token;

    while ((token = takt__json_next(json)) == TAKT_TOKEN_ARRAY) {
        if (out->places == MOST_SAMPLES ||
            !takt__grow(&out->place, &out->place_room, out->places + 1,
                        sizeof *out->place))
            return TAKT_ENOMEM;
        out->place[out->places++] = read_stack(json, places);
    }
    return token == TAKT_TOKEN_CLOSE ? TAKT_OK : TAKT_ECORRUPT;
}

static takt_status read_weights(struct takt_json_stream *json,
                                struct samples *out)
{
    enum takt_json_token token;

    while ((token = takt__json_next(json)) == TAKT_TOKEN_NUMBER) {
        if (out->weights == MOST_SAMPLES ||
            !takt__grow(&out->weight, &out->weight_room, out->weights + 1,
                        sizeof *out->weight))
            return TAKT_ENOMEM;
        out->weight[out->weights++] = json->number;
    }
    return token == TAKT_TOKEN_CLOSE ? TAKT_OK : TAKT_ECORRUPT;
}

/* Frames that are open, and the time of the last event. */
struct open_frames {
    int place[DEEPEST_STACK];
    size_t depth;
    double at;
    bool has_begun;
};

static void pass_time(const struct takt_profile_reading *reading,
                      struct open_frames *open, double at)
{
    const size_t kept =
        open->depth < DEEPEST_STACK ? open->depth : DEEPEST_STACK;

    if (open->has_begun && open->depth > 0)
        takt__profile_add(reading, open->place[kept - 1], at - open->at);
    open->has_begun = true;
    open->at = at;
}

/* A foreign frame is where the one around it is. */
static void open_frame(struct open_frames *open, int place)
{
    const size_t depth = open->depth++;

    if (depth >= DEEPEST_STACK)
        return;
    open->place[depth] = place == TAKT_FRAME_FOREIGN && depth > 0
                             ? open->place[depth - 1]
                             : place;
}

/* Behind the { of an event. */
static takt_status read_event(const struct takt_profile_reading *reading,
                              struct takt_json_stream *json,
                              const struct takt_frame_places *places,
                              struct open_frames *open)
{
    double frame = -1, at = open->at;
    char type = ' ';

    while (takt__json_next_member(json)) {
        const bool is_type = strcmp(json->text, "type") == 0;
        const bool is_frame = strcmp(json->text, "frame") == 0;
        const bool is_at = strcmp(json->text, "at") == 0;
        const enum takt_json_token token = takt__json_next(json);
        if (token == TAKT_TOKEN_STRING && is_type)
            type = json->text[0];
        else if (token == TAKT_TOKEN_NUMBER && (is_frame || is_at))
            *(is_frame ? &frame : &at) = json->number;
        else if (!takt__json_skip(json, token))
            return TAKT_ECORRUPT;
    }
    pass_time(reading, open, at);
    if (type == 'O')
        open_frame(open, place_at(places, frame));
    else if (type == 'C' && open->depth > 0)
        open->depth--;
    return TAKT_OK;
}

static takt_status read_events(const struct takt_profile_reading *reading,
                               struct takt_json_stream *json,
                               const struct takt_frame_places *places)
{
    struct open_frames *open = calloc(1, sizeof *open);
    enum takt_json_token token = TAKT_TOKEN_ERROR;
    takt_status status = open == NULL ? TAKT_ENOMEM : TAKT_OK;

    while (status == TAKT_OK &&
           (token = takt__json_next(json)) == TAKT_TOKEN_OBJECT)
        status = read_event(reading, json, places, open);
    free(open);
    if (status == TAKT_OK && token != TAKT_TOKEN_CLOSE)
        return TAKT_ECORRUPT;
    return status;
}

/* Behind the name of a member. */
static takt_status read_member(const struct takt_profile_reading *reading,
                               struct takt_json_stream *json,
                               const struct takt_frame_places *places,
                               struct samples *samples)
{
    const bool is_samples = strcmp(json->text, "samples") == 0;
    const bool is_weights = strcmp(json->text, "weights") == 0;
    const bool is_events = strcmp(json->text, "events") == 0;
    const enum takt_json_token token = takt__json_next(json);

    if (token == TAKT_TOKEN_ARRAY && is_samples)
        return read_samples(json, places, samples);
    if (token == TAKT_TOKEN_ARRAY && is_weights)
        return read_weights(json, samples);
    if (token == TAKT_TOKEN_ARRAY && is_events)
        return read_events(reading, json, places);
    return takt__json_skip(json, token) ? TAKT_OK : TAKT_ECORRUPT;
}

/* Behind the { of a profile. */
static takt_status read_profile(const struct takt_profile_reading *reading,
                                struct takt_json_stream *json,
                                const struct takt_frame_places *places)
{
    struct samples samples = {0};
    takt_status status = TAKT_OK;

    while (status == TAKT_OK && takt__json_next_member(json))
        status = read_member(reading, json, places, &samples);
    for (size_t i = 0; i < samples.places && status == TAKT_OK; i++)
        takt__profile_add(reading, samples.place[i],
                          samples.weights == 0  ? 1
                          : i < samples.weights ? samples.weight[i]
                                                : 0);
    free(samples.place);
    free(samples.weight);
    return status;
}

takt_status takt__read_profiles(const struct takt_profile_reading *reading,
                                struct takt_json_stream *json,
                                const struct takt_frame_places *places)
{
    struct takt_json_walk walk = {0};

    while (takt__json_next_object(json, &walk))
        walk.status = read_profile(reading, json, places);
    return walk.status;
}
