/* SPDX-License-Identifier: MIT */
/*
 * fuzz_otel_config.c - any text as a variable of the exporter, as a list of
 * pairs and as a header of an answer: understood or done without, never more
 * than was given, and nothing in a header that ends it.
 *
 * The first byte says which variable, the others are its value.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "../otel/config.h"
#include "../otel/outcome.h"

static const char *const variables[] = {
    "OTEL_EXPORTER_OTLP_ENDPOINT",   "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_HEADERS",    "OTEL_EXPORTER_OTLP_METRICS_HEADERS",
    "OTEL_EXPORTER_OTLP_TIMEOUT",    "OTEL_EXPORTER_OTLP_PROTOCOL",
    "OTEL_EXPORTER_OTLP_INSECURE",   "OTEL_EXPORTER_OTLP_COMPRESSION",
    "OTEL_RESOURCE_ATTRIBUTES",      "OTEL_SERVICE_NAME",
    "OTEL_TRACES_SAMPLER",           "OTEL_TRACES_SAMPLER_ARG",
    "OTEL_TRACES_EXPORTER",          "OTEL_SDK_DISABLED",
    "OTEL_BSP_MAX_QUEUE_SIZE",       "OTEL_BSP_SCHEDULE_DELAY",
    "OTEL_METRIC_EXPORT_INTERVAL",   "TAKT_OTLP_FILE",
    "TAKT_OTLP_SHUTDOWN_MS",         "TRACEPARENT",
    "OTEL_EXPORTER_OTLP_CERTIFICATE"};

enum { VARIABLES = sizeof variables / sizeof *variables };

extern char **environ;

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_headers(const struct takt_otel_pairs *headers)
{
    for (size_t i = 0; i < headers->count; i++) {
        require(strpbrk(headers->pair[i].key, "\r\n: \t") == NULL);
        require(headers->pair[i].key[0] != '\0');
        require(strpbrk(headers->pair[i].value, "\r\n") == NULL);
    }
}

static void check_target(const struct takt_otel_target *target)
{
    if (!target->is_on || target->url == NULL)
        return;
    require(strncmp(target->url, target->is_tls ? "https://" : "http://",
                    target->is_tls ? 8 : 7) == 0);
    require(strpbrk(target->url, "\r\n ") == NULL);
    check_headers(&target->headers);
    require(target->timeout_ms > 0 && target->export_ms > 0);
}

static void check_config(void)
{
    static const takt_otlp_options some = {.service_name = "fuzz"};
    struct takt_otel_config config;
    takt_diag diag;

    const takt_status status = takt__otel_config_read(&some, &config, &diag);
    require(memchr(diag.text, '\0', sizeof diag.text) != NULL);
    if (status == TAKT_OK) {
        check_target(&config.target[TAKT_OTEL_TRACES]);
        check_target(&config.target[TAKT_OTEL_METRICS]);
        require(config.queue_size > 0 && config.batch_size > 0 &&
                config.batch_size <= config.queue_size);
        require(config.sampler.share >= 0 && config.sampler.share <= 1);
    }
    takt__otel_config_free(&config);
}

static void check_pairs(const char *text)
{
    struct takt_otel_pairs pairs;
    size_t size = 0;

    takt__otel_pairs_read(text, &pairs);
    for (size_t i = 0; i < pairs.count; i++)
        size += strlen(pairs.pair[i].key) + strlen(pairs.pair[i].value) + 1;
    require(size <= strlen(text));
    takt__otel_pairs_free(&pairs);
}

static void check_answer(const char *text, size_t size)
{
    static const char *const names[] = {"grpc-status", "grpc-message",
                                        "grpc-status-details-bin"};
    struct takt_otel_grpc grpc = TAKT_OTEL_GRPC_SILENT;
    struct takt_otel_outcome outcome;
    const unsigned char *body = (const unsigned char *)text;

    for (int i = 0; i < 3; i++)
        takt__otel_grpc_header(&grpc, names[i], strlen(names[i]), text, size);
    takt__otel_grpc_outcome(&grpc, 200, body, size, &outcome);
    grpc.status = 0;
    takt__otel_grpc_outcome(&grpc, 200, body, size, &outcome);
    require(memchr(outcome.problem, '\0', sizeof outcome.problem) != NULL);
    takt__otel_http_outcome(200, "", -1, body, size, &outcome);
    takt__otel_http_outcome(200, text, -1, body, size, &outcome);
}

/* setenv() would keep every value for ever. */
static void check_variable(const char *name, const char *value)
{
    char *line = malloc(strlen(name) + strlen(value) + 2);
    char *lines[] = {line, NULL};

    if (line == NULL)
        return;
    strcat(strcat(strcpy(line, name), "="), value);
    char **const before = environ;
    environ = lines;
    check_config();
    environ = before;
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (length < 1 || memchr(bytes, '\0', length) != NULL)
        return 0;
    char *text = malloc(length);
    if (text == NULL)
        return 0;
    memcpy(text, bytes + 1, length - 1);
    text[length - 1] = '\0';
    check_variable(variables[bytes[0] % VARIABLES], text);
    check_pairs(text);
    check_answer(text, length - 1);
    free(text);
    return 0;
}
