/* SPDX-License-Identifier: MIT */
/*
 * config.c - options and environment variables, in one place.
 *
 * What every variable means is said in docs/telemetry.md; what it is read for
 * is a setting: an option, else the form for one signal, else the one for all.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

/* ---- the source ---------------------------------------------------------- */

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

/* ---- which traces -------------------------------------------------------- */

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

/* ---- all of it ----------------------------------------------------------- */

static void read_amounts(struct takt_otel_reader *reader)
{
    const takt_otlp_options *options = reader->options;
    struct takt_otel_config *out = reader->out;

    out->queue_size = takt__otel_number(reader, options->queue_size,
                                        "OTEL_BSP_MAX_QUEUE_SIZE", 1, 8192);
    out->batch_size = takt__otel_number(
        reader, options->batch_size, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 1, 512);
    if (out->batch_size > out->queue_size)
        out->batch_size = out->queue_size;
    out->delay_ms = takt__otel_number(reader, options->delay_ms,
                                      "OTEL_BSP_SCHEDULE_DELAY", 0, 5000);
    out->metrics_ms = takt__otel_number(
        reader, options->metrics_ms, "OTEL_METRIC_EXPORT_INTERVAL", 1, 60000);
    out->shutdown_ms = takt__otel_number(reader, 0, "TAKT_OTLP_SHUTDOWN_MS", 0,
                                         TAKT_OTEL_NO_LIMIT_MS);
}

/* An endpoint that is an option wins over a file that is a variable. */
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
    reader.has_file = out->file != NULL;
    takt__otel_target_read(&reader, TAKT_OTEL_TRACES,
                           &out->target[TAKT_OTEL_TRACES]);
    takt__otel_target_read(&reader, TAKT_OTEL_METRICS,
                           &out->target[TAKT_OTEL_METRICS]);
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
