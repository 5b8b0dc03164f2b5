/* SPDX-License-Identifier: MIT */
/* objective_text.c - reads and writes objectives. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/name.h"
#include "base/say.h"
#include "call/objective.h"
#include "text/decimal.h"

static const char *const names[TAKT_MEASURES] = {
    [TAKT_MEASURE_TIME] = "time",
    [TAKT_MEASURE_P95] = "p95",
    [TAKT_MEASURE_P99] = "p99",
    [TAKT_MEASURE_P999] = "p999",
    [TAKT_MEASURE_THROUGHPUT] = "throughput",
    [TAKT_MEASURE_ENERGY] = "energy",
    [TAKT_MEASURE_EDP] = "edp",
};

struct unit {
    const char *name;
    double size;
};

/* From the largest down, for each of the two kinds. */
enum { units = 4 };
static const struct unit
    times[units] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}},
    energies[units] = {{"J", 1}, {"mJ", 1e-3}, {"uJ", 1e-6}, {"nJ", 1e-9}};

static const struct unit *units_of(unsigned measure)
{
    return measure == TAKT_MEASURE_ENERGY ? energies : times;
}

/* ---- reading ------------------------------------------------------------- */

struct objective_reader {
    const char *at;
    takt_diag *diag;
};

static void skip_blanks(struct objective_reader *reader)
{
    reader->at += strspn(reader->at, " \t");
}

static bool is_word(char c)
{
    const char lower = takt__lower(c);
    return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9');
}

/* A word; its length, which may be 0. */
static size_t read_word(struct objective_reader *reader, const char **word)
{
    skip_blanks(reader);
    *word = reader->at;
    while (is_word(*reader->at))
        reader->at++;
    return (size_t)(reader->at - *word);
}

static bool read_mark(struct objective_reader *reader, char mark)
{
    skip_blanks(reader);
    if (*reader->at != mark)
        return false;
    reader->at++;
    return true;
}

/* A part of what was given, for a message. */
static int shown(size_t length)
{
    return length < 32 ? (int)length : 32;
}

static takt_status read_measure(struct objective_reader *reader,
                                const char *what, uint8_t *out)
{
    const char *word;
    const size_t length = read_word(reader, &word);

    for (unsigned i = 0; i < TAKT_MEASURES; i++)
        if (length > 0 && takt__name_equal_n(word, length, names[i])) {
            *out = (uint8_t)i;
            return TAKT_OK;
        }
    if (length == 0)
        return takt__say(reader->diag, TAKT_EINVAL,
                         "%s is missing: time, p95, p99, p999, throughput, "
                         "energy or edp",
                         what);
    return takt__say(
        reader->diag, TAKT_EINVAL,
        "'%.*s' is no measure: use time, p95, p99, p999, throughput, "
        "energy or edp",
        shown(length), word);
}

/* Digits with a point and an exponent, whatever the locale. */
static bool read_number(struct objective_reader *reader, double *out)
{
    double value = 0, scale = 1;
    unsigned digits = 0;
    bool is_fraction = false;

    skip_blanks(reader);
    for (;; reader->at++) {
        if (*reader->at == '.' && !is_fraction) {
            is_fraction = true;
            continue;
        }
        if (*reader->at < '0' || *reader->at > '9')
            break;
        if (++digits > 15)
            return false;
        value = 10 * value + (*reader->at - '0');
        scale *= is_fraction ? 10 : 1;
    }
    *out = value / scale;
    return digits > 0;
}

static takt_status read_unit(struct objective_reader *reader, unsigned measure,
                             double *value)
{
    const struct unit *list = units_of(measure);
    const char *word;
    const size_t length = read_word(reader, &word);

    for (unsigned i = 0; i < units; i++)
        if (length > 0 && takt__name_equal_n(word, length, list[i].name)) {
            *value *= list[i].size;
            return TAKT_OK;
        }
    return takt__say(reader->diag, TAKT_EINVAL,
                     "%s is limited in %s, %s, %s or %s%s%.*s", names[measure],
                     list[0].name, list[1].name, list[2].name, list[3].name,
                     length > 0 ? ", not in " : ": the unit is missing",
                     shown(length), word);
}

static takt_status check_limited(const struct objective_reader *reader,
                                 const struct takt_objective *of)
{
    if (of->limited == TAKT_MEASURE_THROUGHPUT ||
        of->limited == TAKT_MEASURE_EDP)
        return takt__say(reader->diag, TAKT_EINVAL,
                         "%s cannot be limited: limit time, p95, p99, p999 or "
                         "energy",
                         names[of->limited]);
    if (of->limited == of->goal)
        return takt__say(reader->diag, TAKT_EINVAL,
                         "%s is the goal, the least is wanted: limit another "
                         "measure, or leave the limit out",
                         names[of->goal]);
    return TAKT_OK;
}

static takt_status read_limit(struct objective_reader *reader,
                              struct takt_objective *out)
{
    static const double least = 1e-9, most = 1e6;
    takt_status status = read_measure(reader, "what is limited", &out->limited);

    if (status == TAKT_OK)
        status = check_limited(reader, out);
    if (status != TAKT_OK)
        return status;
    out->has_limit = true;
    if (!read_mark(reader, '<') || !read_number(reader, &out->limit))
        return takt__say(reader->diag, TAKT_EINVAL,
                         "the limit is written as '%s < 5 %s'",
                         names[out->limited], units_of(out->limited)[1].name);
    status = read_unit(reader, out->limited, &out->limit);
    if (status == TAKT_OK && !(out->limit >= least && out->limit <= most))
        return takt__say(reader->diag, TAKT_EINVAL,
                         "a limit is between 1e-9 and 1e6 %s",
                         units_of(out->limited)[0].name);
    return status;
}

takt_status takt__objective_parse(const char *text, struct takt_objective *out,
                                  takt_diag *diag)
{
    struct objective_reader reader = {text, diag};

    *out = (struct takt_objective){0};
    takt__say(diag, TAKT_OK, "%s", "");
    takt_status status = read_measure(&reader, "the goal", &out->goal);
    if (status == TAKT_OK && read_mark(&reader, ','))
        status = read_limit(&reader, out);
    skip_blanks(&reader);
    if (status != TAKT_OK || *reader.at == '\0')
        return status;
    return takt__say(diag, TAKT_EINVAL,
                     "'%.32s' follows the objective: one goal and at most one "
                     "limit, as in 'time, p99 < 2 ms'",
                     reader.at);
}

/* ---- writing ------------------------------------------------------------- */

static double round_to_six_digits(double value)
{
    const double places = 5 - floor(log10(value));
    const double scale = pow(10, fabs(places));

    return places > 0 ? round(value * scale) / scale
                      : round(value / scale) * scale;
}

static void print_limit(const struct takt_objective *objective, char *out,
                        size_t size)
{
    const struct unit *list = units_of(objective->limited);
    const double value = round_to_six_digits(objective->limit);
    char number[TAKT_DECIMAL_ROOM];
    unsigned i = 0;

    while (i + 1 < units && value < list[i].size * (1 - 1e-9))
        i++;
    const size_t length =
        takt__decimal_real(round_to_six_digits(value / list[i].size), number);
    snprintf(out, size, ", %s < %.*s %s", names[objective->limited],
             (int)length, number, list[i].name);
}

void takt__objective_print(const struct takt_objective *objective,
                           char out[TAKT_OBJECTIVE_MAX])
{
    const size_t length =
        (size_t)snprintf(out, TAKT_OBJECTIVE_MAX, "%s", names[objective->goal]);

    if (objective->has_limit)
        print_limit(objective, out + length, TAKT_OBJECTIVE_MAX - length);
}

takt_status takt_objective_check(const char *text, char out[TAKT_OBJECTIVE_MAX],
                                 takt_diag *diag)
{
    struct takt_objective objective;

    if (text == NULL)
        return takt__say(diag, TAKT_EINVAL, "there is no text");
    const takt_status status = takt__objective_parse(text, &objective, diag);
    if (status == TAKT_OK && out != NULL)
        takt__objective_print(&objective, out);
    return status;
}
