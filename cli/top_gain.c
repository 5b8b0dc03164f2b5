/* SPDX-License-Identifier: MIT */
/*
 * top_gain.c - what programs under `takt run --report` have gained so far.
 *
 * They count in a file (dropin/stats.h) that their environment names. It is
 * read as the report at the end reads it, so both tell the same. Programs that
 * call Takt by themselves have nothing that they could be compared with.
 */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "run.h"
#include "top.h"

static const uint64_t every_ns = 3000000000; /* to read it takes 0.3 ms */

/* Where the variable of that name is in an environment: texts one after the
 * other. */
static const char *find_variable(const char *environment, size_t length,
                                 const char *name)
{
    const size_t name_length = strlen(name);

    for (const char *at = environment; at < environment + length;
         at += strlen(at) + 1)
        if (strncmp(at, name, name_length) == 0 && at[name_length] == '=')
            return at + name_length + 1;
    return NULL;
}

/* Reads all of it; NULL: it cannot be read. The caller frees it. */
static char *read_environment(uint64_t pid, size_t *length)
{
    enum { most = 1 << 20 };
    char path[64];
    char *text = malloc(most + 1);

    snprintf(path, sizeof path, "/proc/%llu/environ", (unsigned long long)pid);
    const int fd = text != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t got = 0;
    *length = 0;
    while (fd >= 0 && *length < most &&
           (got = read(fd, text + *length, most - *length)) > 0)
        *length += (size_t)got;
    if (fd >= 0)
        close(fd);
    if (text != NULL)
        text[*length] = '\0';
    return text;
}

/* Returns -1 where there is none: most programs. */
static int open_stats(uint64_t pid)
{
    size_t length;
    char *environment = read_environment(pid, &length);
    const char *path = environment != NULL ? find_variable(environment, length,
                                                           TAKT_STATS_VARIABLE)
                                           : NULL;
    const int fd =
        path != NULL
            ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            : -1;

    free(environment);
    return fd;
}

static void compute_gain(struct top_stream *stream, uint64_t now_ns)
{
    struct takt_stats *stats = stats_read(stream->stats_fd);
    struct run_tally tally;

    if (stats == NULL || !tally_stats(stats, &tally)) {
        free(stats);
        return;
    }
    const double wall_s = (double)(now_ns - stats->timeline.start_ns) * 1e-9;
    const double gain_s = run_gain_s(&tally);
    const bool is_known = wall_s > 0 && wall_s + gain_s > 0; /* not a NAN */
    stream->gain_s = is_known ? gain_s : (double)NAN;
    stream->gain_error_s = is_known ? run_gain_error_s(&tally) : (double)NAN;
    stream->gain_share = is_known ? gain_s / (wall_s + gain_s) : (double)NAN;
    tally_drop(&tally);
    free(stats);
}

void top_gain_begin(struct top_stream *stream)
{
    stream->gain_s = stream->gain_error_s = stream->gain_share = (double)NAN;
    stream->stats_fd = open_stats(stream->pid);
}

void top_gain_end(struct top_stream *stream)
{
    if (stream->stats_fd >= 0)
        close(stream->stats_fd);
    stream->stats_fd = -1;
}

void top_read_gains(struct top_model *model, uint64_t now_ns)
{
    for (size_t i = 0; i < model->stream_count; i++) {
        struct top_stream *stream = &model->stream[i];
        if (stream->stats_fd < 0 || stream->ended_ns != 0 ||
            now_ns < stream->gain_due_ns)
            continue;
        compute_gain(stream, now_ns);
        stream->gain_due_ns = now_ns + every_ns;
    }
}
