/* SPDX-License-Identifier: MIT */
/* setting.c - one setting: from an option, or from the environment. */
#define _GNU_SOURCE /* secure_getenv() */
#include "setting.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const signal_word[] = {
    [TAKT_OTEL_TRACES] = "TRACES",
    [TAKT_OTEL_METRICS] = "METRICS",
};

/* What goes for both signals is said once. */
void takt__otel_say(takt_diag *diag, const char *format, ...)
{
    takt_diag more;
    va_list values;

    if (diag == NULL)
        return;
    va_start(values, format);
    vsnprintf(more.text, sizeof more.text, format, values);
    va_end(values);
    if (strstr(diag->text, more.text) != NULL)
        return;
    const size_t length = strlen(diag->text);
    snprintf(diag->text + length, sizeof diag->text - length, "%s%s",
             length > 0 ? "; " : "", more.text);
}

const char *takt__otel_variable(const char *name)
{
    const char *text = secure_getenv(name);

    return text != NULL && text[0] != '\0' ? text : NULL;
}

struct takt_otel_setting takt__otel_of_all(const char *option, const char *name)
{
    struct takt_otel_setting setting = {.text = option, .is_for_all = true};

    if (option == NULL) {
        setting.text = takt__otel_variable(name);
        snprintf(setting.name, sizeof setting.name, "%s", name);
    }
    return setting;
}

struct takt_otel_setting takt__otel_of_signal(const char *option,
                                              enum takt_otel_signal signal,
                                              const char *what)
{
    struct takt_otel_setting setting = {.text = option};

    if (option != NULL) {
        setting.is_for_all = true;
        return setting;
    }
    snprintf(setting.name, sizeof setting.name, "OTEL_EXPORTER_OTLP_%s_%s",
             signal_word[signal], what);
    setting.text = takt__otel_variable(setting.name);
    if (setting.text != NULL)
        return setting;
    snprintf(setting.name, sizeof setting.name, "OTEL_EXPORTER_OTLP_%s", what);
    setting.text = takt__otel_variable(setting.name);
    setting.is_for_all = true;
    return setting;
}

void takt__otel_fail(struct takt_otel_reader *reader, takt_status status)
{
    if (reader->status == TAKT_OK)
        reader->status = status;
}

void takt__otel_refuse(struct takt_otel_reader *reader,
                       const struct takt_otel_setting *setting,
                       const char *option, const char *instead)
{
    if (setting->name[0] == '\0') {
        takt__otel_say(reader->diag, "the option %s cannot be \"%.80s\"",
                       option, setting->text);
        takt__otel_fail(reader, TAKT_EINVAL);
    } else {
        takt__otel_say(reader->diag, "%s=%.80s is not understood; %s",
                       setting->name, setting->text, instead);
    }
}

char *takt__otel_copy(struct takt_otel_reader *reader, const char *text)
{
    char *own = text != NULL ? strdup(text) : NULL;

    if (text != NULL && own == NULL)
        takt__otel_fail(reader, TAKT_ENOMEM);
    return own;
}

/* ---- values -------------------------------------------------------------- */

int takt__otel_choice(struct takt_otel_reader *reader,
                      const struct takt_otel_setting *setting,
                      const char *option, const char *const word[2],
                      const char *instead)
{
    for (int i = 0; i < 2 && setting->text != NULL; i++)
        if (strcasecmp(setting->text, word[i]) == 0)
            return i;
    if (setting->text != NULL)
        takt__otel_refuse(reader, setting, option, instead);
    return -1;
}

bool takt__otel_flag(struct takt_otel_reader *reader,
                     const struct takt_otel_setting *setting)
{
    static const char *const word[] = {"false", "true"};

    return takt__otel_choice(reader, setting, setting->name, word,
                             "it counts as false") == 1;
}

static bool read_count(const char *text, unsigned least, unsigned *out)
{
    const size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > 10 || text[digits] != '\0')
        return false;
    const unsigned long long value = strtoull(text, NULL, 10);
    if (value < least || value > 2147483647)
        return false;
    *out = (unsigned)value;
    return true;
}

static unsigned read_number(struct takt_otel_reader *reader, unsigned option,
                            const struct takt_otel_setting *setting,
                            unsigned least, unsigned usual)
{
    char instead[32];
    unsigned value = usual;

    if (option != 0)
        return option;
    if (setting->text != NULL && !read_count(setting->text, least, &value)) {
        snprintf(instead, sizeof instead, "%u is used", usual);
        takt__otel_refuse(reader, setting, setting->name, instead);
    }
    return value;
}

unsigned takt__otel_number(struct takt_otel_reader *reader, unsigned option,
                           const char *variable, unsigned least, unsigned usual)
{
    const struct takt_otel_setting setting = takt__otel_of_all(NULL, variable);

    return read_number(reader, option, &setting, least, usual);
}

/* For OpenTelemetry, a time of 0 is no limit. */
unsigned takt__otel_limit(struct takt_otel_reader *reader, unsigned option,
                          const struct takt_otel_setting *setting,
                          unsigned usual)
{
    const unsigned value = read_number(reader, option, setting, 0, usual);

    return value == 0 || value > TAKT_OTEL_NO_LIMIT_MS ? TAKT_OTEL_NO_LIMIT_MS
                                                       : value;
}
