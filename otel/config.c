/* SPDX-License-Identifier: MIT */
/*
 * config.c - options and environment variables, in one place.
 *
 * What every variable means is said in docs/telemetry.md; what it is read for
 * is a setting: an option, else the form for one signal, else the one for all.
 */

#define _GNU_SOURCE /* secure_getenv() */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "setting.h"

enum { NO_LIMIT_MS = 86400000 }; /* a day: nobody waits longer */

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

/* ---- values ----------------------------------------------------------------
 */

bool takt__otel_flag(struct takt_otel_reader *reader,
                     const struct takt_otel_setting *setting)
{
    if (setting->text == NULL || strcasecmp(setting->text, "false") == 0)
        return false;
    if (strcasecmp(setting->text, "true") == 0)
        return true;
    takt__otel_refuse(reader, setting, setting->name, "it counts as false");
    return false;
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

unsigned takt__otel_number(struct takt_otel_reader *reader, unsigned option,
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

/* For OpenTelemetry, no time at all is all the time of the world. */
unsigned takt__otel_limit(struct takt_otel_reader *reader, unsigned option,
                          const struct takt_otel_setting *setting,
                          unsigned usual)
{
    const unsigned value = takt__otel_number(reader, option, setting, 0, usual);

    return value == 0 || value > NO_LIMIT_MS ? NO_LIMIT_MS : value;
}

/* ---- who speaks ------------------------------------------------------------
 */

static void read_attributes(struct takt_otel_reader *reader,
                            const struct takt_otel_setting *setting)
{
    struct takt_otel_pairs *attributes = &reader->out->attributes;

    if (setting->text == NULL)
        return;
    const size_t wrong = takt__otel_pairs_read(setting->text, attributes);
    if (wrong == 0)
        return;
    takt__otel_pairs_free(attributes);
    if (wrong == SIZE_MAX)
        takt__otel_fail(reader, TAKT_ENOMEM);
    else
        takt__otel_refuse(reader, setting, "resource_attributes",
                          "none of it is used");
}

/* A name of its own wins over the attribute, unless only the attribute is an
 * option. */
static void read_source(struct takt_otel_reader *reader)
{
    const takt_otlp_options *options = reader->options;
    struct takt_otel_config *out = reader->out;
    const struct takt_otel_setting attributes = takt__otel_of_all(
        options->resource_attributes, "OTEL_RESOURCE_ATTRIBUTES");
    const struct takt_otel_setting name =
        takt__otel_of_all(options->service_name, "OTEL_SERVICE_NAME");

    read_attributes(reader, &attributes);
    bool is_nearer = false;
    for (size_t i = 0; i < out->attributes.count; i++)
        is_nearer |= name.name[0] != '\0' && attributes.name[0] == '\0' &&
                     strcmp(out->attributes.pair[i].key, "service.name") == 0;
    if (!is_nearer)
        out->service_name = takt__otel_copy(reader, name.text);
}

/* ---- which traces ----------------------------------------------------------
 */

static void read_sampler(struct takt_otel_reader *reader)
{
    const takt_otlp_options *options = reader->options;
    struct takt_otel_sampler *sampler = &reader->out->sampler;
    const struct takt_otel_setting name =
        takt__otel_of_all(options->sampler, "OTEL_TRACES_SAMPLER");
    const struct takt_otel_setting share =
        takt__otel_of_all(options->sampler_argument, "OTEL_TRACES_SAMPLER_ARG");
    bool takes_share = false;

    *sampler = TAKT_OTEL_SAMPLER_USUAL;
    if (name.text != NULL &&
        !takt__otel_sampler_read(name.text, sampler, &takes_share))
        takt__otel_refuse(reader, &name, "sampler",
                          "parentbased_always_on is used");
    if (takes_share && share.text != NULL &&
        !takt__otel_share_read(share.text, &sampler->share))
        takt__otel_refuse(reader, &share, "sampler_argument", "1 is used");
}

static bool is_state(const char *text)
{
    for (const char *at = text; *at != '\0'; at++)
        if ((*at < ' ' && *at != '\t') || *at > '~')
            return false;
    return strlen(text) < sizeof((struct takt_otel_config *)0)->state;
}

/* A state belongs to the parent that it came with. */
static void read_parent(struct takt_otel_reader *reader)
{
    const takt_otlp_options *options = reader->options;
    struct takt_otel_config *out = reader->out;
    const struct takt_otel_setting parent =
        takt__otel_of_all(options->traceparent, "TRACEPARENT");
    struct takt_otel_setting state = takt__otel_of_all(
        parent.name[0] ? NULL : options->tracestate, "TRACESTATE");

    if (parent.name[0] == '\0' && options->tracestate == NULL)
        state.text = NULL;
    if (parent.text == NULL)
        return;
    if (takt_span_context_parse(parent.text, &out->parent) != TAKT_OK) {
        takt__otel_refuse(reader, &parent, "traceparent",
                          "a new trace is begun");
        return;
    }
    if (state.text == NULL)
        return;
    if (is_state(state.text))
        strcpy(out->state, state.text);
    else
        takt__otel_refuse(reader, &state, "tracestate", "it is left out");
}

/* ---- all of it -------------------------------------------------------------
 */

static void read_amounts(struct takt_otel_reader *reader)
{
    const takt_otlp_options *options = reader->options;
    struct takt_otel_config *out = reader->out;
    const struct takt_otel_setting queue =
        takt__otel_of_all(NULL, "OTEL_BSP_MAX_QUEUE_SIZE");
    const struct takt_otel_setting batch =
        takt__otel_of_all(NULL, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE");
    const struct takt_otel_setting delay =
        takt__otel_of_all(NULL, "OTEL_BSP_SCHEDULE_DELAY");
    const struct takt_otel_setting interval =
        takt__otel_of_all(NULL, "OTEL_METRIC_EXPORT_INTERVAL");
    const struct takt_otel_setting shutdown =
        takt__otel_of_all(NULL, "TAKT_OTLP_SHUTDOWN_MS");

    out->queue_size =
        takt__otel_number(reader, options->queue_size, &queue, 1, 8192);
    out->batch_size =
        takt__otel_number(reader, options->batch_size, &batch, 1, 512);
    if (out->batch_size > out->queue_size)
        out->batch_size = out->queue_size;
    out->delay_ms =
        takt__otel_number(reader, options->delay_ms, &delay, 0, 5000);
    out->metrics_ms =
        takt__otel_number(reader, options->metrics_ms, &interval, 1, 60000);
    out->shutdown_ms = takt__otel_number(reader, 0, &shutdown, 0, NO_LIMIT_MS);
}

/* A place that is an option wins over a file that is a variable. */
static void read_file(struct takt_otel_reader *reader)
{
    const takt_otlp_options *options = reader->options;

    if (options->file != NULL && options->file[0] == '\0') {
        takt__otel_say(reader->diag, "the option file is empty");
        takt__otel_fail(reader, TAKT_EINVAL);
        return;
    }
    reader->out->file = takt__otel_copy(
        reader, options->file == NULL && options->endpoint == NULL
                    ? takt__otel_variable("TAKT_OTLP_FILE")
                    : options->file);
}

takt_status takt__otel_config_read(const takt_otlp_options *options,
                                   struct takt_otel_config *out,
                                   takt_diag *diag)
{
    static const takt_otlp_options none;
    struct takt_otel_reader reader = {.options =
                                          options != NULL ? options : &none,
                                      .has_options = options != NULL,
                                      .out = out,
                                      .diag = diag};
    const struct takt_otel_setting disabled =
        takt__otel_of_all(NULL, "OTEL_SDK_DISABLED");

    *out = (struct takt_otel_config){0};
    if (diag != NULL)
        diag->text[0] = '\0';
    if (takt__otel_flag(&reader, &disabled))
        return TAKT_ENOENT;
    read_file(&reader);
    takt__otel_target_read(&reader, TAKT_OTEL_TRACES);
    takt__otel_target_read(&reader, TAKT_OTEL_METRICS);
    if (reader.status == TAKT_OK && !out->target[TAKT_OTEL_TRACES].is_on &&
        !out->target[TAKT_OTEL_METRICS].is_on)
        return TAKT_ENOENT;
    read_source(&reader);
    read_sampler(&reader);
    read_parent(&reader);
    read_amounts(&reader);
    return reader.status;
}

void takt__otel_config_free(struct takt_otel_config *config)
{
    takt__otel_target_free(&config->target[TAKT_OTEL_TRACES]);
    takt__otel_target_free(&config->target[TAKT_OTEL_METRICS]);
    free(config->file);
    free(config->service_name);
    takt__otel_pairs_free(&config->attributes);
}
