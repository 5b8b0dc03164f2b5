/* SPDX-License-Identifier: MIT */
/* profile.c - which format a file has, and reading it. */
#include "profile/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/say.h"
#include "profile/reader.h"

enum { LINES_LOOKED_AT = 400 };

void takt__profile_add(const struct takt_profile_reading *reading, int place,
                       double weight)
{
    if (!(weight > 0) || weight > TAKT_PROFILE_MOST)
        return;
    reading->facts->stacks++;
    reading->facts->total += weight;
    reading->sink->add(reading->sink->self, place, weight);
}

int takt__profile_place(const struct takt_profile_reading *reading,
                        const struct takt_frame *frame)
{
    return reading->sink->place(reading->sink->self, frame);
}

/* ---- JSON ---- */

/* What the members at the top are. */
struct json_file {
    struct takt_frame_places places;
    bool has_frames, has_profiles, has_events, has_rows;
    double wall_s;
};

/* Behind the {; frames are in "shared". */
static takt_status read_shared(const struct takt_profile_reading *reading,
                               struct takt_json_stream *json,
                               struct json_file *file)
{
    enum takt_json_token token = takt__json_next(json);
    takt_status status = TAKT_OK;

    if (token != TAKT_TOKEN_OBJECT)
        return takt__json_skip(json, token) ? TAKT_OK : TAKT_ECORRUPT;
    while (status == TAKT_OK && takt__json_next_member(json)) {
        if (strcmp(json->text, "frames") == 0) {
            file->has_frames = true;
            status = takt__read_frames(reading, json, &file->places);
        } else if (!takt__json_skip(json, takt__json_next(json))) {
            status = TAKT_ECORRUPT;
        }
    }
    return status;
}

static takt_status read_member(const struct takt_profile_reading *reading,
                               struct takt_json_stream *json,
                               struct json_file *file)
{
    const bool is_loops = strcmp(json->text, "loops") == 0;
    const bool is_wall = strcmp(json->text, "wall_s") == 0;

    if (strcmp(json->text, "shared") == 0)
        return read_shared(reading, json, file);
    if (is_loops || strcmp(json->text, "rows") == 0) {
        file->has_rows = true;
        return takt__read_rows(reading, json, is_loops);
    }
    file->has_profiles |= strcmp(json->text, "profiles") == 0;
    const bool is_events = strcmp(json->text, "traceEvents") == 0;
    const enum takt_json_token token = takt__json_next(json);
    if (is_events && token == TAKT_TOKEN_ARRAY) {
        file->has_events = true;
        return takt__read_trace_events(reading, json);
    }
    if (is_wall && token == TAKT_TOKEN_NUMBER)
        file->wall_s = json->number;
    return takt__json_skip(json, token) ? TAKT_OK : TAKT_ECORRUPT;
}

/* The second pass over a speedscope file. */
static takt_status read_profiles(const struct takt_profile_reading *reading,
                                 const struct json_file *file)
{
    struct takt_json_stream json = takt__json_stream(reading->file);
    takt_status status = TAKT_OK;

    rewind(reading->file);
    takt__json_next(&json);
    while (status == TAKT_OK && takt__json_next_member(&json)) {
        if (strcmp(json.text, "profiles") == 0)
            status = takt__read_profiles(reading, &json, &file->places);
        else if (!takt__json_skip(&json, takt__json_next(&json)))
            status = TAKT_ECORRUPT;
    }
    return status == TAKT_OK && json.wrong != NULL ? TAKT_ECORRUPT : status;
}

static takt_status tell_json(const struct takt_profile_reading *reading,
                             const struct json_file *file)
{
    struct takt_profile_facts *facts = reading->facts;

    if (file->has_events) {
        facts->format = "Chrome trace";
    } else if (file->has_profiles && file->has_frames) {
        facts->format = "speedscope";
        return read_profiles(reading, file);
    } else if (file->has_rows && file->wall_s > 0) {
        facts->format = "takt run report";
        facts->total = file->wall_s;
        facts->stacks = 1;
    } else {
        return takt__say(reading->diag, TAKT_ENOTSUP,
                         "%.300s: is JSON, but neither speedscope's, nor a "
                         "Chrome trace, nor a report of 'takt run'",
                         reading->name);
    }
    return TAKT_OK;
}

static takt_status read_json(const struct takt_profile_reading *reading)
{
    struct takt_json_stream json = takt__json_stream(reading->file);
    struct json_file file = {0};
    const enum takt_json_token token = takt__json_next(&json);
    takt_status status = TAKT_OK;

    if (token == TAKT_TOKEN_ARRAY) {
        file.has_events = true;
        status = takt__read_trace_events(reading, &json);
    }
    while (token == TAKT_TOKEN_OBJECT && status == TAKT_OK &&
           takt__json_next_member(&json))
        status = read_member(reading, &json, &file);
    if (status == TAKT_OK && json.wrong != NULL && !file.has_events)
        status = TAKT_ECORRUPT;
    if (status == TAKT_OK)
        status = tell_json(reading, &file);
    else if (status == TAKT_ECORRUPT)
        takt__say(reading->diag, status, "%.300s: byte %ju: %s", reading->name,
                  (uintmax_t)json.offset,
                  json.wrong != NULL ? json.wrong : "is not what it should be");
    free(file.places.place);
    return status;
}

/* ---- which format it is ---- */

struct magic {
    const char *bytes, *advice;
};

/* Files that tools have to turn into text first. */
static const struct magic magics[] = {
    {"PERFILE2", "is perf's own file; 'perf script -i FILE' prints it"},
    {"gmon", "is gprof's own file; 'gprof PROGRAM FILE' prints it"},
    {"\x1f\x8b", "is compressed; gunzip it first"},
    {"\x7f"
     "ELF",
     "is a program, not a profile"},
};

static takt_status unknown(const struct takt_profile_reading *reading)
{
    return takt__say(reading->diag, TAKT_ENOTSUP,
                     "%.300s: is no profile that is known (perf script, folded "
                     "stacks, gprof, speedscope, Chrome trace, takt run "
                     "--report --format json)",
                     reading->name);
}

static takt_status refuse_magic(const struct takt_profile_reading *reading,
                                const char *text)
{
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        if (strncmp(text, magics[i].bytes, strlen(magics[i].bytes)) == 0)
            return takt__say(reading->diag, TAKT_ENOTSUP, "%.300s: %s",
                             reading->name, magics[i].advice);
    return TAKT_OK;
}

typedef takt_status reader(const struct takt_profile_reading *reading);

/* By the first line that is one of a format. */
static reader *find_reader(struct takt_lines *lines, const char **format)
{
    for (int i = 0; i < LINES_LOOKED_AT && takt__lines_next(lines); i++) {
        if (takt__is_gprof(lines->text)) {
            *format = "gprof";
            return takt__read_gprof;
        }
        if (takt__is_perf_script(lines->text)) {
            *format = "perf script";
            return takt__read_perf_script;
        }
        if (takt__is_folded(lines->text)) {
            *format = "folded stacks";
            return takt__read_folded;
        }
    }
    return NULL;
}

static takt_status read_lines(const struct takt_profile_reading *reading)
{
    struct takt_lines *lines = malloc(sizeof *lines);

    if (lines == NULL)
        return TAKT_ENOMEM;
    lines->file = reading->file;
    lines->keeps_end = true; /* of folded stacks the end tells */
    reader *read = find_reader(lines, &reading->facts->format);
    free(lines);
    if (read == NULL)
        return unknown(reading);
    rewind(reading->file);
    return read(reading);
}

takt_status takt__profile_read_file(FILE *file, const char *name,
                                    const struct takt_profile_sink *sink,
                                    struct takt_profile_facts *facts,
                                    takt_diag *diag)
{
    const struct takt_profile_reading reading = {file, name, sink, facts, diag};
    char first[64] = "";

    takt__say(diag, TAKT_OK, "%s", "");
    *facts = (struct takt_profile_facts){.format = "unknown"};
    const size_t length = fread(first, 1, sizeof first - 1, file);
    if (ferror(file))
        return takt__say(diag, TAKT_EIO, "%.300s: %s", name, strerror(errno));
    if (length == 0)
        return takt__say(diag, TAKT_ECORRUPT, "%.300s: is empty", name);
    takt_status status = refuse_magic(&reading, first);
    if (status != TAKT_OK)
        return status;
    rewind(file);
    const char *begin = first + strspn(first, " \t\r\n");
    status = *begin == '{' || *begin == '[' ? read_json(&reading)
                                            : read_lines(&reading);
    if (status == TAKT_OK && ferror(file))
        return takt__say(diag, TAKT_EIO, "%.300s: cannot be read", name);
    if (status == TAKT_OK && facts->stacks == 0)
        return takt__say(diag, TAKT_ECORRUPT, "%.300s: has no samples in it",
                         name);
    if (status != TAKT_OK && (diag == NULL || diag->text[0] == '\0'))
        return takt__say(diag, status, "%.300s: %s", name,
                         status == TAKT_ENOMEM ? "is too large" : "is broken");
    return status;
}

takt_status takt__profile_read(const char *path,
                               const struct takt_profile_sink *sink,
                               struct takt_profile_facts *facts,
                               takt_diag *diag)
{
    /* Not to wait for the writer of a pipe, which is refused anyway. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about;
    FILE *file = fd >= 0 ? fdopen(fd, "rb") : NULL;

    if (file == NULL) {
        const int wrong = errno;
        if (fd >= 0)
            close(fd);
        return takt__say(diag, wrong == ENOENT ? TAKT_ENOENT : TAKT_EIO,
                         "%.300s: %s", path, strerror(wrong));
    }
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        fclose(file);
        return takt__say(diag, TAKT_EIO,
                         "%.300s: cannot be read twice; write it to a file",
                         path);
    }
    const takt_status status =
        takt__profile_read_file(file, path, sink, facts, diag);
    fclose(file);
    return status;
}
