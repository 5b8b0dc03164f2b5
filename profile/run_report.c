/* SPDX-License-Identifier: MIT */
/* run_report.c - the rows and loops of `takt run --report --format json`
 * (docs/formats/run-report.md). */
#include <string.h>

#include "profile/reader.h"

/* The sum of the members of an object: calls by where they ran. */
static bool read_sum(struct takt_json_stream *json, double *out)
{
    while (takt__json_next_member(json)) {
        const enum takt_json_token token = takt__json_next(json);
        if (token == TAKT_TOKEN_NUMBER)
            *out += json->number >= 0 && json->number <= TAKT_PROFILE_MOST
                        ? json->number
                        : 0;
        else if (!takt__json_skip(json, token))
            return false;
    }
    return json->wrong == NULL;
}

static uint64_t count_of(double number)
{
    return number > 0 && number < 1.8e19 ? (uint64_t)number : 0;
}

static void take_number(struct takt_counted_call *call, const char *name,
                        double number)
{
    if (!(number >= 0) || number > TAKT_PROFILE_MOST)
        return;
    if (strcmp(name, "took_s") == 0 || strcmp(name, "whole_s") == 0 ||
        strcmp(name, "split_s") == 0)
        call->seconds += number;
    else if (strcmp(name, "whole") == 0 || strcmp(name, "split") == 0)
        call->calls += number;
    else if (strcmp(name, "least") == 0)
        call->least = count_of(number);
    else if (strcmp(name, "most") == 0)
        call->most = count_of(number);
}

/* Behind the { of a row. */
static takt_status read_row(const struct takt_profile_reading *reading,
                            struct takt_json_stream *json, bool is_loop)
{
    char routine[128] = "", name[64];
    struct takt_counted_call call = {.routine = routine, .is_loop = is_loop};

    while (takt__json_next_member(json)) {
        snprintf(name, sizeof name, "%.63s", json->text);
        const enum takt_json_token token = takt__json_next(json);
        if (token == TAKT_TOKEN_STRING &&
            (strcmp(name, "routine") == 0 || strcmp(name, "loop") == 0))
            snprintf(routine, sizeof routine, "%.127s", json->text);
        else if (token == TAKT_TOKEN_NUMBER)
            take_number(&call, name, json->number);
        else if (token == TAKT_TOKEN_OBJECT && strcmp(name, "calls") == 0
                     ? !read_sum(json, &call.calls)
                     : !takt__json_skip(json, token))
            return TAKT_ECORRUPT;
    }
    if (routine[0] != '\0' && reading->sink->call != NULL && call.seconds > 0)
        reading->sink->call(reading->sink->self, &call);
    return json->wrong == NULL ? TAKT_OK : TAKT_ECORRUPT;
}

takt_status takt__read_rows(const struct takt_profile_reading *reading,
                            struct takt_json_stream *json, bool is_loops)
{
    struct takt_json_walk walk = {0};

    while (takt__json_next_object(json, &walk))
        walk.status = read_row(reading, json, is_loops);
    return walk.status;
}
