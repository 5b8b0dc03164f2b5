/* SPDX-License-Identifier: MIT */
/* test_config.c - what options and environment variables come to. */
#include <limits.h>

#include "../../otel/config.h"
#include "support/tap.h"

extern char **environ;

/* ---- a table: an environment, a field, what it is, what is said ------------
 */

struct row {
    const char *environment; /* "NAME=value|NAME=value" */
    const char *field, *want;
    const char *said; /* part of it; NULL: nothing is said */
};

static void set_all(const char *environment, bool is_set)
{
    char copy[2048];

    strcpy(copy, environment);
    for (char *at = strtok(copy, "|"); at != NULL; at = strtok(NULL, "|")) {
        char *equals = strchr(at, '=');
        *equals = '\0';
        if (is_set)
            setenv(at, equals + 1, 1);
        else
            unsetenv(at);
    }
}

static void show_pairs(const struct takt_otel_pairs *pairs, char *out)
{
    *out = '\0';
    for (size_t i = 0; i < pairs->count; i++)
        out += sprintf(out, "%s[%s=%s]", i > 0 ? " " : "", pairs->pair[i].key,
                       pairs->pair[i].value);
}

static const char *yes(bool is_so)
{
    return is_so ? "yes" : "no";
}

static const char *text(const char *string)
{
    return string != NULL ? string : "(none)";
}

static void show_target(const struct takt_otel_target *target,
                        const char *field, char *out)
{
    const struct {
        const char *name, *value;
    } strings[] = {
        {"on", yes(target->is_on)},
        {"url", text(target->url)},
        {"shown", text(target->shown)},
        {"grpc", yes(target->is_grpc)},
        {"gzip", yes(target->is_gzip)},
        {"tls", yes(target->is_tls)},
        {"ca", text(target->certificate)},
        {"cert", text(target->client_certificate)},
        {"key", text(target->client_key)},
        {"proxy", text(target->proxy)},
        {"no_proxy", text(target->no_proxy)},
    };

    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        if (strcmp(field, strings[i].name) == 0)
            strcpy(out, strings[i].value);
    if (strcmp(field, "timeout") == 0)
        sprintf(out, "%u", target->timeout_ms);
    if (strcmp(field, "export") == 0)
        sprintf(out, "%u", target->export_ms);
    if (strcmp(field, "headers") == 0)
        show_pairs(&target->headers, out);
}

static void show_parent(const struct takt_otel_config *config, char *out)
{
    for (int i = 0; i < 16; i++)
        out += sprintf(out, "%02x", config->parent.trace_id[i]);
    *out++ = '-';
    for (int i = 0; i < 8; i++)
        out += sprintf(out, "%02x", config->parent.span_id[i]);
    sprintf(out, "-%02x", config->parent.flags);
}

static void show(const struct takt_otel_config *config, const char *field,
                 char *out)
{
    const struct {
        const char *name;
        unsigned value;
    } numbers[] = {{"queue", config->queue_size},
                   {"batch", config->batch_size},
                   {"delay", config->delay_ms},
                   {"interval", config->metrics_ms},
                   {"shutdown", config->shutdown_ms}};

    strcpy(out, "?");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (strcmp(field, numbers[i].name) == 0)
            sprintf(out, "%u", numbers[i].value);
    if (strncmp(field, "t.", 2) == 0)
        show_target(&config->target[TAKT_OTEL_TRACES], field + 2, out);
    else if (strncmp(field, "m.", 2) == 0)
        show_target(&config->target[TAKT_OTEL_METRICS], field + 2, out);
    else if (strcmp(field, "service") == 0)
        strcpy(out, text(config->service_name));
    else if (strcmp(field, "file") == 0)
        strcpy(out, text(config->file));
    else if (strcmp(field, "state") == 0)
        strcpy(out, config->state);
    else if (strcmp(field, "attributes") == 0)
        show_pairs(&config->attributes, out);
    else if (strcmp(field, "parent") == 0)
        show_parent(config, out);
    else if (strcmp(field, "sampler") == 0)
        sprintf(out, "%s%g", config->sampler.asks_parent ? "parent, " : "",
                config->sampler.share);
}

static void check(const struct row *row)
{
    struct takt_otel_config config;
    takt_diag diag;
    char got[2048];

    set_all(row->environment, true);
    const takt_status status = takt__otel_config_read(NULL, &config, &diag);
    set_all(row->environment, false);
    if (strcmp(row->field, "status") == 0)
        strcpy(got, takt_status_text(status));
    else
        show(&config, row->field, got);
    TAP_CHECK(strcmp(got, row->want) == 0, "%s: %s is %s, not %s",
              row->environment, row->field, got, row->want);
    TAP_CHECK(row->said == NULL ? diag.text[0] == '\0'
                                : strstr(diag.text, row->said) != NULL,
              "%s: says \"%s\"", row->environment, diag.text);
    takt__otel_config_free(&config);
}

#define CHECK_ROWS(rows)                                       \
    for (size_t i = 0; i < sizeof(rows) / sizeof *(rows); i++) \
    check(&(rows)[i])

/* clang-format off */
#define ON "OTEL_EXPORTER_OTLP_ENDPOINT=http://c:1"
#define GRPC_T "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
#define GRPC_M "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
#define HTTP "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"
#define TP "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
#define TRACEPARENT "TRACEPARENT=00-" TP "-01"

static const struct row asking[] = {
    {"X=1", "status", "not found", NULL},
    {ON, "status", "success", NULL},
    {"OTEL_EXPORTER_OTLP_ENDPOINT=", "status", "not found", NULL},
    {"OTEL_TRACES_EXPORTER=otlp", "status", "success", NULL},
    {"OTEL_TRACES_EXPORTER=otlp", "t.url", "http://localhost:4317" GRPC_T, NULL},
    {"OTEL_TRACES_EXPORTER=otlp", "m.on", "no", NULL},
    {"OTEL_METRICS_EXPORTER=OTLP", "m.url", "http://localhost:4317" GRPC_M, NULL},
    {"OTEL_METRICS_EXPORTER=OTLP", "t.on", "no", NULL},
    {"OTEL_TRACES_EXPORTER=none|" ON, "t.on", "no", NULL},
    {"OTEL_TRACES_EXPORTER=none|" ON, "m.on", "yes", NULL},
    {"OTEL_TRACES_EXPORTER=none|OTEL_METRICS_EXPORTER=none|" ON, "status", "not found", NULL},
    {"OTEL_TRACES_EXPORTER=console", "status", "not found", "OTEL_TRACES_EXPORTER=console is not understood"},
    {"OTEL_TRACES_EXPORTER=console|" ON, "t.on", "yes", "only otlp and none are"},
    {"OTEL_SDK_DISABLED=true|" ON, "status", "not found", NULL},
    {"OTEL_SDK_DISABLED=TRUE|" ON, "status", "not found", NULL},
    {"OTEL_SDK_DISABLED=false|" ON, "status", "success", NULL},
    {"OTEL_SDK_DISABLED=1|" ON, "status", "success", "OTEL_SDK_DISABLED=1 is not understood; it counts as false"},
    {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://c:1", "t.on", "yes", NULL},
    {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://c:1", "m.on", "no", NULL},
    {"TAKT_OTLP_FILE=/tmp/x", "file", "/tmp/x", NULL},
    {"TAKT_OTLP_FILE=/tmp/x", "m.on", "yes", NULL},
    {"TAKT_OTLP_FILE=/tmp/x|" ON, "t.url", "(none)", NULL},
    {"TAKT_OTLP_FILE=/tmp/x|OTEL_METRICS_EXPORTER=none", "m.on", "no", NULL},
    {"OTEL_EXPORTER_OTLP_HEADERS=a=b", "status", "not found", NULL},
};

static const struct row endpoints[] = {
    {ON, "t.url", "http://c:1" GRPC_T, NULL},
    {ON, "m.url", "http://c:1" GRPC_M, NULL},
    {ON, "t.shown", "http://c:1", NULL},
    {"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:1/some/path?q", "t.url", "http://c:1" GRPC_T, NULL},
    {"OTEL_EXPORTER_OTLP_ENDPOINT=https://c", "t.url", "https://c" GRPC_T, NULL},
    {"OTEL_EXPORTER_OTLP_ENDPOINT=https://c", "t.tls", "yes", NULL},
    {"OTEL_EXPORTER_OTLP_ENDPOINT=HTTP://[::1]:4317", "t.url", "http://[::1]:4317" GRPC_T, NULL},
    {"OTEL_EXPORTER_OTLP_ENDPOINT=c:4317", "t.url", "https://c:4317" GRPC_T, NULL},
    {"OTEL_EXPORTER_OTLP_ENDPOINT=c:4317|OTEL_EXPORTER_OTLP_INSECURE=true", "t.url", "http://c:4317" GRPC_T, NULL},
    {"OTEL_EXPORTER_OTLP_ENDPOINT=c:4317|OTEL_EXPORTER_OTLP_TRACES_INSECURE=True", "m.url", "https://c:4317" GRPC_M, NULL},
    {"OTEL_EXPORTER_OTLP_ENDPOINT=https://c:1|OTEL_EXPORTER_OTLP_INSECURE=true", "t.tls", "yes", NULL},
    {"OTEL_EXPORTER_OTLP_ENDPOINT=c:1|OTEL_EXPORTER_OTLP_INSECURE=yes", "t.tls", "yes", "OTEL_EXPORTER_OTLP_INSECURE=yes is not understood"},
    {HTTP "|OTEL_TRACES_EXPORTER=otlp", "t.url", "http://localhost:4318/v1/traces", NULL},
    {HTTP "|OTEL_METRICS_EXPORTER=otlp", "m.url", "http://localhost:4318/v1/metrics", NULL},
    {HTTP "|" ON, "t.url", "http://c:1/v1/traces", NULL},
    {HTTP "|OTEL_EXPORTER_OTLP_ENDPOINT=http://c:1/", "m.url", "http://c:1/v1/metrics", NULL},
    {HTTP "|OTEL_EXPORTER_OTLP_ENDPOINT=http://c:1/a/b", "t.url", "http://c:1/a/b/v1/traces", NULL},
    {HTTP "|OTEL_EXPORTER_OTLP_ENDPOINT=http://c:1/a/b/", "t.url", "http://c:1/a/b/v1/traces", NULL},
    {HTTP "|OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://c:1/a", "t.url", "http://c:1/a", NULL},
    {HTTP "|OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://c:1", "t.url", "http://c:1/", NULL},
    {HTTP "|OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://d:2/x|" ON, "t.url", "http://d:2/x", NULL},
    {HTTP "|OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://d:2/x|" ON, "m.url", "http://c:1/v1/metrics", NULL},
    {HTTP "|OTEL_EXPORTER_OTLP_ENDPOINT=http://me:secret@c:1", "t.shown", "http://c:1/v1/traces", NULL},
    {HTTP "|OTEL_EXPORTER_OTLP_ENDPOINT=c:1", "status", "not found", "OTEL_EXPORTER_OTLP_ENDPOINT=c:1 is not understood; it is not used"},
    {"OTEL_EXPORTER_OTLP_ENDPOINT=ftp://c:1", "status", "not found", "is not understood"},
    {"OTEL_EXPORTER_OTLP_ENDPOINT=ftp://me:secret@c", "status", "not found", "OTEL_EXPORTER_OTLP_ENDPOINT=c is not understood"},
    {"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:99999", "status", "not found", "is not understood"},
    {"OTEL_EXPORTER_OTLP_ENDPOINT=http://", "status", "not found", "is not understood"},
    {"OTEL_EXPORTER_OTLP_PROTOCOL=HTTP/Protobuf|" ON, "t.grpc", "no", NULL},
    {"OTEL_EXPORTER_OTLP_PROTOCOL=grpc|" ON, "t.grpc", "yes", NULL},
    {"OTEL_EXPORTER_OTLP_PROTOCOL=http/json|" ON, "t.grpc", "yes", "OTEL_EXPORTER_OTLP_PROTOCOL=http/json is not understood; grpc is used"},
    {"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=http/protobuf|" ON, "t.grpc", "yes", NULL},
    {"OTEL_EXPORTER_OTLP_METRICS_PROTOCOL=http/protobuf|" ON, "m.url", "http://c:1/v1/metrics", NULL},
};

static const struct row how[] = {
    {ON, "t.gzip", "no", NULL},
    {"OTEL_EXPORTER_OTLP_COMPRESSION=gzip|" ON, "m.gzip", "yes", NULL},
    {"OTEL_EXPORTER_OTLP_COMPRESSION=GZIP|OTEL_EXPORTER_OTLP_TRACES_COMPRESSION=none|" ON, "t.gzip", "no", NULL},
    {"OTEL_EXPORTER_OTLP_COMPRESSION=zstd|" ON, "t.gzip", "no", "OTEL_EXPORTER_OTLP_COMPRESSION=zstd is not understood; none is used"},
    {ON, "t.timeout", "10000", NULL},
    {"OTEL_EXPORTER_OTLP_TIMEOUT=250|" ON, "m.timeout", "250", NULL},
    {"OTEL_EXPORTER_OTLP_TIMEOUT=250|OTEL_EXPORTER_OTLP_METRICS_TIMEOUT=300|" ON, "m.timeout", "300", NULL},
    {"OTEL_EXPORTER_OTLP_TIMEOUT=0|" ON, "t.timeout", "86400000", NULL},
    {"OTEL_EXPORTER_OTLP_TIMEOUT=-1|" ON, "t.timeout", "10000", "OTEL_EXPORTER_OTLP_TIMEOUT=-1 is not understood; 10000 is used"},
    {"OTEL_EXPORTER_OTLP_TIMEOUT=10s|" ON, "t.timeout", "10000", "=10s is not understood"},
    {"OTEL_EXPORTER_OTLP_TIMEOUT=99999999999999999999|" ON, "t.timeout", "10000", "is not understood"},
    {ON, "t.export", "30000", NULL},
    {"OTEL_BSP_EXPORT_TIMEOUT=7000|" ON, "t.export", "7000", NULL},
    {"OTEL_BSP_EXPORT_TIMEOUT=7000|" ON, "m.export", "30000", NULL},
    {"OTEL_METRIC_EXPORT_TIMEOUT=8000|" ON, "m.export", "8000", NULL},
    {"OTEL_EXPORTER_OTLP_HEADERS=api-key=k%20x, X-Two = 2 |" ON, "t.headers", "[api-key=k x] [X-Two=2]", NULL},
    {"OTEL_EXPORTER_OTLP_HEADERS=a=1|OTEL_EXPORTER_OTLP_METRICS_HEADERS=b=2|" ON, "m.headers", "[b=2]", NULL},
    {"OTEL_EXPORTER_OTLP_HEADERS=a=1|OTEL_EXPORTER_OTLP_METRICS_HEADERS=b=2|" ON, "t.headers", "[a=1]", NULL},
    {"OTEL_EXPORTER_OTLP_HEADERS=a=1,broken,c=3|" ON, "t.headers", "[a=1] [c=3]", "OTEL_EXPORTER_OTLP_HEADERS: 1 of them cannot be sent"},
    {"OTEL_EXPORTER_OTLP_HEADERS=a=1%0d%0aEvil: 1|" ON, "t.headers", "", "1 of them cannot be sent"},
    {"OTEL_EXPORTER_OTLP_HEADERS=b c=1,d%3Ae=2|" ON, "t.headers", "", "2 of them cannot be sent"},
    {"OTEL_EXPORTER_OTLP_HEADERS=Content-Type=x,TE=y,z=1|" ON, "t.headers", "[z=1]", "2 of them cannot be sent"},
    {"OTEL_EXPORTER_OTLP_HEADERS=a=b=c==,empty=|" ON, "t.headers", "[a=b=c==] [empty=]", NULL},
    {"OTEL_EXPORTER_OTLP_CERTIFICATE=/dev/null|OTEL_EXPORTER_OTLP_ENDPOINT=https://c", "t.ca", "/dev/null", NULL},
    {"OTEL_EXPORTER_OTLP_CERTIFICATE=/nowhere|OTEL_EXPORTER_OTLP_ENDPOINT=https://c", "status", "input/output error", "cannot read /nowhere"},
    {"OTEL_EXPORTER_OTLP_CERTIFICATE=/nowhere|" ON, "status", "success", NULL},
    {"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE=/dev/null|OTEL_EXPORTER_OTLP_ENDPOINT=https://c", "t.cert", "/dev/null", NULL},
    {"OTEL_EXPORTER_OTLP_METRICS_CLIENT_KEY=/dev/zero|OTEL_EXPORTER_OTLP_CLIENT_KEY=/dev/null|OTEL_EXPORTER_OTLP_ENDPOINT=https://c", "m.key", "/dev/zero", NULL},
    {ON, "t.proxy", "(none)", NULL},
    {"http_proxy=http://p:3|" ON, "t.proxy", "http://p:3", NULL},
    {"HTTP_PROXY=http://p:3|" ON, "t.proxy", "(none)", NULL},
    {"HTTPS_PROXY=http://p:3|no_proxy=a,b|OTEL_EXPORTER_OTLP_ENDPOINT=https://c", "t.proxy", "http://p:3", NULL},
    {"no_proxy=a,b|" ON, "t.no_proxy", "a,b", NULL},
};

static const struct row who[] = {
    {ON, "service", "(none)", NULL},
    {"OTEL_SERVICE_NAME=me|" ON, "service", "me", NULL},
    {"OTEL_RESOURCE_ATTRIBUTES=a=1, b = x%2Cy%3D |" ON, "attributes", "[a=1] [b=x,y=]", NULL},
    {"OTEL_RESOURCE_ATTRIBUTES=a=1,a=2|" ON, "attributes", "[a=2]", NULL},
    {"OTEL_RESOURCE_ATTRIBUTES=a=1,,b=2,|" ON, "attributes", "[a=1] [b=2]", NULL},
    {"OTEL_RESOURCE_ATTRIBUTES=a=1,b|" ON, "attributes", "", "OTEL_RESOURCE_ATTRIBUTES=a=1,b is not understood; none of it is used"},
    {"OTEL_RESOURCE_ATTRIBUTES=a=1,b=%zz|" ON, "attributes", "", "none of it is used"},
    {"OTEL_RESOURCE_ATTRIBUTES=a=1,=2|" ON, "attributes", "", "none of it is used"},
    {"OTEL_RESOURCE_ATTRIBUTES=a=%00|" ON, "attributes", "", "none of it is used"},
    {"OTEL_RESOURCE_ATTRIBUTES=k%20y=%e2%82%ac|" ON, "attributes", "[k y=\xe2\x82\xac]", NULL},
    {"OTEL_RESOURCE_ATTRIBUTES=service.name=s|OTEL_SERVICE_NAME=me|" ON, "service", "me", NULL},
};

static const struct row which[] = {
    {ON, "sampler", "parent, 1", NULL},
    {"OTEL_TRACES_SAMPLER=always_on|" ON, "sampler", "1", NULL},
    {"OTEL_TRACES_SAMPLER=ALWAYS_OFF|" ON, "sampler", "0", NULL},
    {"OTEL_TRACES_SAMPLER=traceidratio|" ON, "sampler", "1", NULL},
    {"OTEL_TRACES_SAMPLER=traceidratio|OTEL_TRACES_SAMPLER_ARG=0.25|" ON, "sampler", "0.25", NULL},
    {"OTEL_TRACES_SAMPLER=parentbased_always_on|" ON, "sampler", "parent, 1", NULL},
    {"OTEL_TRACES_SAMPLER=parentbased_always_off|" ON, "sampler", "parent, 0", NULL},
    {"OTEL_TRACES_SAMPLER=parentbased_traceidratio|OTEL_TRACES_SAMPLER_ARG=1e-3|" ON, "sampler", "parent, 0.001", NULL},
    {"OTEL_TRACES_SAMPLER=always_off|OTEL_TRACES_SAMPLER_ARG=nonsense|" ON, "sampler", "0", NULL},
    {"OTEL_TRACES_SAMPLER=traceidratio|OTEL_TRACES_SAMPLER_ARG=1.5|" ON, "sampler", "1", "OTEL_TRACES_SAMPLER_ARG=1.5 is not understood; 1 is used"},
    {"OTEL_TRACES_SAMPLER=traceidratio|OTEL_TRACES_SAMPLER_ARG=nan|" ON, "sampler", "1", "is not understood"},
    {"OTEL_TRACES_SAMPLER=jaeger_remote|" ON, "sampler", "parent, 1", "OTEL_TRACES_SAMPLER=jaeger_remote is not understood; parentbased_always_on is used"},
    {TRACEPARENT "|" ON, "parent", TP "-01", NULL},
    {TRACEPARENT "|TRACESTATE=a=b,c=d|" ON, "state", "a=b,c=d", NULL},
    {"TRACESTATE=a=b|" ON, "state", "", NULL},
    {TRACEPARENT "|TRACESTATE=a=\x01|" ON, "state", "", "TRACESTATE"},
    {"TRACEPARENT=00-0-0-01|" ON, "parent", "00000000000000000000000000000000-0000000000000000-00", "TRACEPARENT=00-0-0-01 is not understood; a new trace is begun"},
};

static const struct row amounts[] = {
    {ON, "queue", "8192", NULL},
    {ON, "batch", "512", NULL},
    {ON, "delay", "5000", NULL},
    {ON, "interval", "60000", NULL},
    {"OTEL_BSP_MAX_QUEUE_SIZE=100|" ON, "queue", "100", NULL},
    {"OTEL_BSP_MAX_QUEUE_SIZE=100|" ON, "batch", "100", NULL},
    {"OTEL_BSP_MAX_QUEUE_SIZE=0|" ON, "queue", "8192", "OTEL_BSP_MAX_QUEUE_SIZE=0 is not understood; 8192 is used"},
    {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE=7|" ON, "batch", "7", NULL},
    {"OTEL_BSP_SCHEDULE_DELAY=0|" ON, "delay", "0", NULL},
    {"OTEL_BSP_SCHEDULE_DELAY=|" ON, "delay", "5000", NULL},
    {"OTEL_BSP_SCHEDULE_DELAY=abc|" ON, "delay", "5000", "=abc is not understood; 5000 is used"},
    {"OTEL_METRIC_EXPORT_INTERVAL=1000|" ON, "interval", "1000", NULL},
    {"OTEL_METRIC_EXPORT_INTERVAL=0|" ON, "interval", "60000", "is not understood"},
    {"TAKT_OTLP_SHUTDOWN_MS=50|" ON, "shutdown", "50", NULL},
};
/* clang-format on */

static void an_export_happens_when_it_is_asked_for(void)
{
    CHECK_ROWS(asking);
}

static void endpoints_become_addresses(void)
{
    CHECK_ROWS(endpoints);
}

static void how_to_send_is_set_for_one_signal_or_for_all(void)
{
    CHECK_ROWS(how);
}

static void attributes_and_names_are_read(void)
{
    CHECK_ROWS(who);
}

static void samplers_and_parents_are_read(void)
{
    CHECK_ROWS(which);
}

static void amounts_are_numbers_in_their_range(void)
{
    CHECK_ROWS(amounts);
}

/* ---- options ---------------------------------------------------------------
 */

static takt_status read_options(const takt_otlp_options *options,
                                const char *environment,
                                struct takt_otel_config *config,
                                takt_diag *diag)
{
    set_all(environment, true);
    const takt_status status = takt__otel_config_read(options, config, diag);
    set_all(environment, false);
    return status;
}

static void options_win_over_all_variables(void)
{
    const takt_otlp_options options = {.endpoint = "http://o:9",
                                       .protocol = "http/protobuf",
                                       .headers = "h=1",
                                       .compression = "gzip",
                                       .timeout_ms = 77,
                                       .service_name = "o",
                                       .queue_size = 5,
                                       .batch_size = 3,
                                       .delay_ms = 2,
                                       .metrics_ms = 1};
    struct takt_otel_config config;
    char headers[64];

    EXPECT_INT(
        read_options(&options,
                     "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://e:1|"
                     "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=grpc|"
                     "OTEL_EXPORTER_OTLP_HEADERS=e=2|OTEL_SERVICE_NAME=e|"
                     "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT=5|"
                     "OTEL_BSP_MAX_QUEUE_SIZE=9|TAKT_OTLP_FILE=/tmp/x",
                     &config, NULL),
        TAKT_OK);
    const struct takt_otel_target *target = config.target;
    show_pairs(&target->headers, headers);
    EXPECT_STR(target->url, "http://o:9/v1/traces");
    EXPECT_STR(target[1].url, "http://o:9/v1/metrics");
    EXPECT_STR(headers, "[h=1]");
    EXPECT(target->is_gzip && config.file == NULL);
    EXPECT_INT(target->timeout_ms, 77);
    EXPECT_STR(config.service_name, "o");
    EXPECT_INT(config.queue_size, 5);
    EXPECT_INT(config.batch_size, 3);
    EXPECT_INT(config.delay_ms, 2);
    EXPECT_INT(config.metrics_ms, 1);
    takt__otel_config_free(&config);
}

static void options_that_cannot_be_are_refused(void)
{
    static const struct {
        takt_otlp_options options;
        takt_status status;
        const char *said;
    } rows[] = {
        {{.endpoint = "nonsense://x"}, TAKT_EINVAL, "the option endpoint"},
        {{.endpoint = ""}, TAKT_EINVAL, "endpoint"},
        {{.protocol = "http/json"}, TAKT_EINVAL, "the option protocol"},
        {{.compression = "lz4"}, TAKT_EINVAL, "the option compression"},
        {{.sampler = "dice"}, TAKT_EINVAL, "the option sampler"},
        {{.sampler = "traceidratio", .sampler_argument = "2"},
         TAKT_EINVAL,
         "sampler_argument"},
        {{.resource_attributes = "x"}, TAKT_EINVAL, "resource_attributes"},
        {{.traceparent = "x"}, TAKT_EINVAL, "traceparent"},
        {{.file = ""}, TAKT_EINVAL, "file"},
        {{.endpoint = "https://c", .certificate = "/nowhere"},
         TAKT_EIO,
         "/nowhere"},
        {{.endpoint = "https://c", .client_key = "/nowhere"},
         TAKT_EIO,
         "/nowhere"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct takt_otel_config config;
        takt_diag diag;
        EXPECT_INT(read_options(&rows[i].options, "", &config, &diag),
                   rows[i].status);
        TAP_CHECK(strstr(diag.text, rows[i].said) != NULL, "row %zu: %s", i,
                  diag.text);
        takt__otel_config_free(&config);
    }
}

static void options_ask_and_none_do_not(void)
{
    const takt_otlp_options none = {0}, some = {.service_name = "x"};
    struct takt_otel_config config;

    EXPECT_INT(read_options(NULL, "", &config, NULL), TAKT_ENOENT);
    takt__otel_config_free(&config);
    EXPECT_INT(read_options(&none, "", &config, NULL), TAKT_OK);
    takt__otel_config_free(&config);
    EXPECT_INT(read_options(&some, "", &config, NULL), TAKT_OK);
    EXPECT_STR(config.target[0].shown, "http://localhost:4317");
    takt__otel_config_free(&config);
    EXPECT_INT(read_options(&some, "OTEL_SDK_DISABLED=true", &config, NULL),
               TAKT_ENOENT);
    takt__otel_config_free(&config);
}

static void a_state_belongs_to_the_parent_it_came_with(void)
{
    const takt_otlp_options options = {.traceparent = "00-" TP "-00"};
    struct takt_otel_config config;

    EXPECT_INT(
        read_options(&options, TRACEPARENT "|TRACESTATE=env=1", &config, NULL),
        TAKT_OK);
    EXPECT_INT(config.parent.flags, 0);
    EXPECT_STR(config.state, "");
    takt__otel_config_free(&config);
}

static void an_attribute_by_option_wins_over_a_name_by_variable(void)
{
    const takt_otlp_options options = {.resource_attributes =
                                           "service.name=mine"};
    struct takt_otel_config config;

    EXPECT_INT(read_options(&options, "OTEL_SERVICE_NAME=env", &config, NULL),
               TAKT_OK);
    EXPECT(config.service_name == NULL);
    EXPECT_INT(config.attributes.count, 1);
    takt__otel_config_free(&config);
}

static void much_to_say_is_cut_where_there_is_no_room(void)
{
    takt_diag diag = {""};

    for (int i = 0; i < 100; i++)
        takt__otel_say(&diag, "sentence %d", i);
    EXPECT_INT(strlen(diag.text), sizeof diag.text - 1);
    EXPECT(strncmp(diag.text, "sentence 0; sentence 1; ", 24) == 0);
}

static void what_goes_for_both_signals_is_said_once(void)
{
    struct takt_otel_config config;
    takt_diag diag;

    EXPECT_INT(
        read_options(NULL, "OTEL_EXPORTER_OTLP_TIMEOUT=x|" ON, &config, &diag),
        TAKT_OK);
    EXPECT_STR(diag.text, "OTEL_EXPORTER_OTLP_TIMEOUT=x is not understood; "
                          "10000 is used");
    takt__otel_config_free(&config);
}

/* ---- pairs -----------------------------------------------------------------
 */

static void percent_signs_are_decoded_in_place(void)
{
    static const struct {
        const char *in, *out; /* NULL: malformed */
    } rows[] = {{"", ""},      {"abc", "abc"}, {"%41%4a%4A", "AJJ"},
                {"%", NULL},   {"%4", NULL},   {"%4g", NULL},
                {"%00", NULL}, {"%25", "%"},   {"a%20", "a "}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char copy[32];
        strcpy(copy, rows[i].in);
        const bool is_sound = takt__otel_percent_decode(copy);
        EXPECT_INT(is_sound, rows[i].out != NULL);
        if (is_sound)
            EXPECT_STR(copy, rows[i].out);
    }
}

static void a_pair_can_be_taken_out(void)
{
    struct takt_otel_pairs pairs;
    char shown[64];

    EXPECT_INT(takt__otel_pairs_read("a=1,b=2,c=3", &pairs), 0);
    char *value = takt__otel_pairs_take(&pairs, "b");
    EXPECT_STR(value, "2");
    free(value);
    EXPECT(takt__otel_pairs_take(&pairs, "b") == NULL);
    show_pairs(&pairs, shown);
    EXPECT_STR(shown, "[a=1] [c=3]");
    takt__otel_pairs_free(&pairs);
}

/* The variables of who runs the test are not the test's. */
static void clear_environment(void)
{
    static char *none[] = {NULL};

    environ = none;
}

int main(void)
{
    clear_environment();
    RUN(an_export_happens_when_it_is_asked_for);
    RUN(endpoints_become_addresses);
    RUN(how_to_send_is_set_for_one_signal_or_for_all);
    RUN(attributes_and_names_are_read);
    RUN(samplers_and_parents_are_read);
    RUN(amounts_are_numbers_in_their_range);
    RUN(options_win_over_all_variables);
    RUN(options_that_cannot_be_are_refused);
    RUN(options_ask_and_none_do_not);
    RUN(a_state_belongs_to_the_parent_it_came_with);
    RUN(an_attribute_by_option_wins_over_a_name_by_variable);
    RUN(much_to_say_is_cut_where_there_is_no_room);
    RUN(what_goes_for_both_signals_is_said_once);
    RUN(percent_signs_are_decoded_in_place);
    RUN(a_pair_can_be_taken_out);
    return tap_done();
}
