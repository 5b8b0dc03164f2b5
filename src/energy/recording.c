/* SPDX-License-Identifier: MIT */
/* recording.c - replays what an attribution was told. */
#include "energy/recording.h"

#include <stdlib.h>
#include <string.h>

#include "hw/text.h"

enum { longest_line = 160, arms = 256, most_threads = 4096 };

/* A year, and more runs than there are in one. */
static const uint64_t most_ns = UINT64_C(32000000000000000),
                      most_runs = UINT64_C(1000000000);

struct energy_replay {
    struct takt_energy_counter counter[TAKT_ENERGY_COUNTERS];
    unsigned count;
    struct takt_energy *energy; /* NULL: counters are still to come */
    takt_status status;
};

/* A number of at most `most`. */
static bool read_number(const char **at, uint64_t most, uint64_t *out)
{
    return takt__text_number(at, 10, out) && *out <= most;
}

static bool is_end(const char *at)
{
    while (*at == ' ' || *at == '\r')
        at++;
    return *at == '\0';
}

/* A word without blanks. */
static bool read_word(const char **at, char *out, size_t size)
{
    while (**at == ' ')
        ++*at;
    const size_t length = strcspn(*at, " \r");
    if (length == 0 || length >= size)
        return false;
    memcpy(out, *at, length);
    out[length] = '\0';
    *at += length;
    return true;
}

static bool read_counter(struct energy_replay *replay, const char *at)
{
    struct takt_energy_counter counter = {0};
    uint64_t step, is_power;

    if (replay->energy != NULL || replay->count == TAKT_ENERGY_COUNTERS ||
        !read_word(&at, counter.source, sizeof counter.source) ||
        !read_word(&at, counter.address, sizeof counter.address) ||
        !read_number(&at, UINT64_MAX, &counter.unit_aj) ||
        !read_number(&at, UINT64_MAX, &counter.range) ||
        !read_number(&at, 60000, &step) || !read_number(&at, 1, &is_power))
        return false;
    if (strcmp(counter.address, "-") == 0)
        counter.address[0] = '\0';
    counter.step_ms = (unsigned)step;
    counter.is_power = is_power != 0;
    takt__text_tidy(at, counter.name, sizeof counter.name);
    replay->counter[replay->count++] = counter;
    return counter.name[0] != '\0';
}

static bool read_reading(struct energy_replay *replay, const char *at,
                         bool is_gone)
{
    struct takt_energy_reading reading = {.is_gone = is_gone};
    uint64_t counter, share = 1001;

    if (replay->count == 0 || !read_number(&at, replay->count - 1, &counter) ||
        !read_number(&at, UINT64_MAX, &reading.at_ns))
        return false;
    if (!is_gone && (!read_number(&at, UINT64_MAX, &reading.count) ||
                     !read_number(&at, UINT64_MAX, &reading.cpu_ns) ||
                     !read_number(&at, 1001, &share)))
        return false;
    reading.share_pml = (unsigned)share;
    if (!is_end(at))
        return false;
    takt__energy_read(replay->energy, (unsigned)counter, &reading);
    return true;
}

static bool read_place(const struct energy_replay *replay, const char **at,
                       int *out)
{
    char word[8];
    const char *digits = word;
    uint64_t counter;

    if (!read_word(at, word, sizeof word))
        return false;
    *out = word[0] == '-' ? TAKT_ENERGY_PROCESSOR : TAKT_ENERGY_UNCOUNTED;
    if ((word[0] == '-' || word[0] == '?') && word[1] == '\0')
        return true;
    if (!read_number(&digits, UINT32_MAX, &counter) || *digits != '\0' ||
        counter >= replay->count)
        return false;
    *out = (int)counter;
    return true;
}

static bool read_use(struct energy_replay *replay, const char *at)
{
    struct takt_energy_use use;
    uint64_t arm, bound, threads;

    if (!read_number(&at, arms - 1, &arm) ||
        !read_number(&at, TAKT_ENERGY_BOUNDS - 1, &bound) ||
        !read_number(&at, most_threads, &threads) ||
        !read_place(replay, &at, &use.where) ||
        !read_number(&at, UINT64_MAX, &use.start_ns) ||
        !read_number(&at, most_ns, &use.ns) ||
        !read_number(&at, most_runs, &use.runs) || !is_end(at))
        return false;
    use.arm = (unsigned)arm;
    use.bound = (unsigned)bound;
    use.threads = (unsigned)threads;
    takt__energy_use(replay->energy, &use);
    return true;
}

/* False: not understood, or no memory, as the status says. */
static bool read_line(struct energy_replay *replay, const char *line)
{
    if (line[0] == '#' || is_end(line))
        return true;
    if (strncmp(line, "counter ", 8) == 0)
        return read_counter(replay, line + 8);
    if (replay->energy == NULL)
        replay->energy = takt__energy_create(replay->counter, replay->count);
    if (replay->energy == NULL) {
        replay->status = TAKT_ENOMEM;
        return false;
    }
    if (strncmp(line, "read ", 5) == 0)
        return read_reading(replay, line + 5, false);
    if (strncmp(line, "gone ", 5) == 0)
        return read_reading(replay, line + 5, true);
    return strncmp(line, "use ", 4) == 0 && read_use(replay, line + 4);
}

/* Cuts a line off; false: it is too long, or there is none. */
static bool cut_line(const char **text, char line[longest_line])
{
    const size_t length = strcspn(*text, "\n");

    if (length >= longest_line)
        return false;
    memcpy(line, *text, length);
    line[length] = '\0';
    *text += length + ((*text)[length] == '\n');
    return true;
}

takt_status takt__energy_replay(const char *text, struct takt_energy **out,
                                takt_diag *diag)
{
    struct energy_replay *replay = calloc(1, sizeof *replay);
    char line[longest_line] = "";
    unsigned number = 1;

    *out = NULL;
    if (replay == NULL)
        return TAKT_ENOMEM;
    replay->status = TAKT_ECORRUPT;
    bool is_good = cut_line(&text, line) && strcmp(line, "takt-energy 1") == 0;
    while (is_good && *text != '\0') {
        number++;
        is_good = cut_line(&text, line) && read_line(replay, line);
    }
    is_good = is_good && replay->energy != NULL;
    const takt_status status = is_good ? TAKT_OK : replay->status;
    if (is_good)
        *out = replay->energy;
    else
        takt__energy_destroy(replay->energy);
    if (!is_good && diag != NULL)
        snprintf(diag->text, sizeof diag->text,
                 "line %u is not understood: %.100s", number, line);
    free(replay);
    return status;
}
