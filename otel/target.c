/* SPDX-License-Identifier: MIT */
/* target.c - where a signal goes, over what, and with which headers. */
#include "target.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "address.h"

static const char *const exporter_variable[] = {
    [TAKT_OTEL_TRACES] = "OTEL_TRACES_EXPORTER",
    [TAKT_OTEL_METRICS] = "OTEL_METRICS_EXPORTER",
};
static const char *const timeout_variable[] = {
    [TAKT_OTEL_TRACES] = "OTEL_BSP_EXPORT_TIMEOUT",
    [TAKT_OTEL_METRICS] = "OTEL_METRIC_EXPORT_TIMEOUT",
};

static bool is_header_name(const char *name)
{
    static const char token[] = "!#$%&'*+-.^_`|~0123456789"
                                "abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

    return name[strspn(name, token)] == '\0';
}

static bool is_header_value(const char *value)
{
    for (; *value != '\0'; value++)
        if ((*value >= 0 && *value < ' ' && *value != '\t') || *value == 127)
            return false;
    return true;
}

/* These make a request what it is. */
static bool is_reserved(const char *name)
{
    static const char *const ours[] = {
        "content-type", "content-length",    "content-encoding",
        "connection",   "transfer-encoding", "te",
        "grpc-timeout", "grpc-encoding",     "expect",
        "upgrade"};

    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (strcasecmp(name, ours[i]) == 0)
            return true;
    return false;
}

static void read_headers(struct takt_otel_reader *reader)
{
    struct takt_otel_pairs *headers = &reader->target->headers;
    const struct takt_otel_setting setting = takt__otel_of_signal(
        reader->options->headers, reader->signal, "HEADERS");
    const char *name = setting.name[0] != '\0' ? setting.name : "headers";

    if (setting.text == NULL)
        return;
    size_t wrong = takt__otel_pairs_read(setting.text, headers);
    if (wrong == SIZE_MAX) {
        takt__otel_fail(reader, TAKT_ENOMEM);
        return;
    }
    for (size_t i = headers->count; i-- > 0;) {
        const struct takt_otel_pair *pair = &headers->pair[i];
        if (is_header_name(pair->key) && is_header_value(pair->value) &&
            !is_reserved(pair->key))
            continue;
        free(takt__otel_pairs_take(headers, pair->key));
        wrong++;
    }
    if (wrong > 0) /* what they hold may be secret */
        takt__otel_say(reader->diag, "%s: %zu of them cannot be sent", name,
                       wrong);
}

/* Which of two words the setting of a signal is. */
static int choose(struct takt_otel_reader *reader, const char *option,
                  const char *what, const char *name, const char *const word[2],
                  const char *instead)
{
    const struct takt_otel_setting setting =
        takt__otel_of_signal(option, reader->signal, what);

    return takt__otel_choice(reader, &setting, name, word, instead);
}

static bool take_address(struct takt_otel_reader *reader,
                         const struct takt_otel_setting *setting)
{
    struct takt_otel_target *target = reader->target;
    struct takt_otel_address address;
    const struct takt_otel_setting insecure =
        takt__otel_of_signal(NULL, reader->signal, "INSECURE");
    const struct takt_otel_reading how = {reader->signal, target->is_grpc,
                                          takt__otel_flag(reader, &insecure),
                                          setting->is_for_all};

    if (!takt__otel_address_read(setting->text, &how, &address))
        return false;
    target->url = address.url;
    target->shown = address.shown;
    target->is_tls = address.is_tls;
    return true;
}

/* True: an endpoint was named. */
static bool read_endpoint(struct takt_otel_reader *reader)
{
    struct takt_otel_setting named = takt__otel_of_signal(
        reader->options->endpoint, reader->signal, "ENDPOINT");
    const bool is_grpc = reader->target->is_grpc;
    const struct takt_otel_setting usual = {
        .text = is_grpc ? "http://localhost:4317" : "http://localhost:4318",
        .is_for_all = true};

    if (named.text != NULL) {
        if (take_address(reader, &named))
            return true;
        const char *at = strrchr(named.text, '@');
        if (at != NULL) /* what stands before it may be a password */
            named.text = at + 1;
        takt__otel_refuse(reader, &named, "endpoint", "it is not used");
        return false;
    }
    if (!take_address(reader, &usual))
        takt__otel_fail(reader, TAKT_ENOMEM);
    return false;
}

static char *read_certificate(struct takt_otel_reader *reader,
                              const char *option, const char *what)
{
    const struct takt_otel_setting setting =
        takt__otel_of_signal(option, reader->signal, what);

    if (setting.text == NULL || !reader->target->is_tls)
        return NULL;
    if (access(setting.text, R_OK) != 0) {
        takt__otel_say(reader->diag, "cannot read %.200s", setting.text);
        takt__otel_fail(reader, TAKT_EIO);
    }
    return takt__otel_copy(reader, setting.text);
}

/* The variables that curl honours; it is told them, so that it does not read
 * the environment later, from a thread of ours. */
static void read_proxy(struct takt_otel_reader *reader,
                       struct takt_otel_target *target)
{
    const char *proxy =
        takt__otel_variable(target->is_tls ? "https_proxy" : "http_proxy");

    if (proxy == NULL && target->is_tls)
        proxy = takt__otel_variable("HTTPS_PROXY");
    if (proxy == NULL)
        proxy = takt__otel_variable("all_proxy");
    if (proxy == NULL)
        proxy = takt__otel_variable("ALL_PROXY");
    const char *but = takt__otel_variable("no_proxy");
    target->proxy = takt__otel_copy(reader, proxy);
    target->no_proxy = takt__otel_copy(
        reader, but != NULL ? but : takt__otel_variable("NO_PROXY"));
}

void takt__otel_target_read(struct takt_otel_reader *reader,
                            enum takt_otel_signal signal,
                            struct takt_otel_target *target)
{
    static const char *const exporters[] = {"none", "otlp"};
    static const char *const protocols[] = {"grpc", "http/protobuf"};
    static const char *const compressions[] = {"none", "gzip"};
    const char *variable = exporter_variable[signal];
    const struct takt_otel_setting exporter = takt__otel_of_all(NULL, variable);
    const int exporter_is = takt__otel_choice(
        reader, &exporter, variable, exporters, "only otlp and none are");
    const struct takt_otel_setting one_try =
        takt__otel_of_signal(NULL, signal, "TIMEOUT");
    const struct takt_otel_setting all =
        takt__otel_of_all(NULL, timeout_variable[signal]);
    const takt_otlp_options *options = reader->options;

    reader->signal = signal;
    reader->target = target;
    if (exporter_is == 0)
        return;
    target->export_ms = takt__otel_limit(reader, 0, &all, 30000);
    if (reader->has_file) {
        target->is_on = true;
        target->timeout_ms = target->export_ms;
        return;
    }
    target->is_grpc = choose(reader, options->protocol, "PROTOCOL", "protocol",
                             protocols, "grpc is used") != 1;
    target->is_on =
        read_endpoint(reader) ||
        (target->url != NULL && (exporter_is > 0 || reader->has_options));
    if (!target->is_on)
        return;
    target->timeout_ms =
        takt__otel_limit(reader, options->timeout_ms, &one_try, 10000);
    read_headers(reader);
    target->is_gzip = choose(reader, options->compression, "COMPRESSION",
                             "compression", compressions, "none is used") == 1;
    read_proxy(reader, target);
    target->certificate =
        read_certificate(reader, options->certificate, "CERTIFICATE");
    target->client_certificate = read_certificate(
        reader, options->client_certificate, "CLIENT_CERTIFICATE");
    target->client_key =
        read_certificate(reader, options->client_key, "CLIENT_KEY");
}

void takt__otel_target_free(struct takt_otel_target *target)
{
    free(target->url);
    free(target->shown);
    free(target->certificate);
    free(target->client_certificate);
    free(target->client_key);
    free(target->proxy);
    free(target->no_proxy);
    takt__otel_pairs_free(&target->headers);
}
