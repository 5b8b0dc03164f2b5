/* SPDX-License-Identifier: MIT */
/* reader.h - what the readers of the formats share. */
#pragma once

#include "profile/json_stream.h"
#include "profile/lines.h"
#include "profile/profile.h"

/* One reading of one file. */
struct takt_profile_reading {
    FILE *file;
    const char *name;
    const struct takt_profile_sink *sink;
    struct takt_profile_facts *facts;
    takt_diag *diag;
};

/* More than any profile has of anything; any number of these has a sum. */
#define TAKT_PROFILE_MOST 1e200

/* Time that is positive and no more than that; anything else is passed over. */
void takt__profile_add(const struct takt_profile_reading *reading, int place,
                       double weight);

int takt__profile_place(const struct takt_profile_reading *reading,
                        const struct takt_frame *frame);

/* A frame that is written as "name (file:line)", "name file:line" or "name";
 * the text is cut in place. */
struct takt_frame takt__frame_parse(char *text);

/* Whether a line is the first of its kind, so that a file of such lines can be
 * told; `line` may be changed. */
bool takt__is_perf_script(char *line);
bool takt__is_folded(char *line);
bool takt__is_gprof(const char *line);

takt_status takt__read_perf_script(const struct takt_profile_reading *reading);
takt_status takt__read_folded(const struct takt_profile_reading *reading);
takt_status takt__read_gprof(const struct takt_profile_reading *reading);

/* The parts of JSON files; the stream is behind the name of the member. */
struct takt_frame_places {
    int *place;
    size_t count, room;
};
takt_status takt__read_frames(const struct takt_profile_reading *reading,
                              struct takt_json_stream *json,
                              struct takt_frame_places *out);
takt_status takt__read_profiles(const struct takt_profile_reading *reading,
                                struct takt_json_stream *json,
                                const struct takt_frame_places *places);
takt_status takt__read_trace_events(const struct takt_profile_reading *reading,
                                    struct takt_json_stream *json);
takt_status takt__read_rows(const struct takt_profile_reading *reading,
                            struct takt_json_stream *json, bool is_loops);
