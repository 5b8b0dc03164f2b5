/* SPDX-License-Identifier: MIT */
/*
 * test_encode.c - events and metrics as OTLP, byte for byte.
 *
 * What fixed inputs become is kept in golden/, as protobuf and as JSON;
 * decode.py has protoc read both by the official definitions. After a change
 * that is meant, TAKT_GOLDEN=write writes them anew: look at the difference.
 */
#include "support/comma.h"

#include <unistd.h>

#include <takt/version.h>

#include "inputs.h"

/* Instead of the library's, so that a release does not change golden files. */
const char *takt_version(void)
{
    return "1.2.3";
}

/* ---- against golden files --------------------------------------------------
 */

static void read_file(const char *path, struct takt_otel_bytes *out)
{
    unsigned char part[4096];
    FILE *file = fopen(path, "rb");
    size_t size;

    while (file != NULL && (size = fread(part, 1, sizeof part, file)) > 0)
        takt__otel_bytes_append(out, part, size);
    if (file != NULL)
        fclose(file);
}

static void expect_golden(const char *name, enum takt_otel_format format,
                          struct takt_otel_bytes *got)
{
    struct takt_otel_bytes want = {0};
    char path[512];

    snprintf(path, sizeof path, "%s/tests/otel/golden/%s.%s", TAKT_SOURCE_DIR,
             name, format == TAKT_OTEL_JSON ? "json" : "pb");
    if (getenv("TAKT_GOLDEN") != NULL) {
        FILE *file = fopen(path, "wb");
        REQUIRE(file != NULL);
        EXPECT_INT(fwrite(got->at, 1, got->size, file), got->size);
        fclose(file);
    }
    read_file(path, &want);
    EXPECT(!got->is_short);
    TAP_CHECK(got->size == want.size &&
                  memcmp(got->at, want.at, want.size) == 0,
              "%s is not what was written", path);
    takt__otel_bytes_free(&want);
    takt__otel_bytes_free(got);
}

static void expect_event(const char *name, takt_event event, unsigned spans)
{
    for (int format = 0; format < 2; format++) {
        struct takt_otel_trace trace = fixed_trace();
        struct takt_otel_bytes out = {0};

        EXPECT_INT(takt__otel_spans((enum takt_otel_format)format, &trace,
                                    &event, &out),
                   spans);
        expect_golden(name, (enum takt_otel_format)format, &out);
    }
}

static void a_call_on_a_processor_is_two_spans(void)
{
    expect_event("cpu_call", cpu_call(), 2);
}

static void a_call_on_a_gpu_with_a_parent_and_a_fallback_is_two_spans(void)
{
    expect_event("gpu_call", gpu_call(), 2);
}

static void a_change_of_speed_is_one_span(void)
{
    expect_event("drift", drift(), 1);
}

static void the_process_is_a_span_of_its_own(void)
{
    for (int format = 0; format < 2; format++) {
        struct takt_otel_trace trace = fixed_trace();
        struct takt_otel_bytes out = {0};

        strcpy(trace.state, "congo=t61rcWkgMzE");
        trace.parent_id[7] = 9;
        EXPECT_INT(takt__otel_root((enum takt_otel_format)format, &trace,
                                   trace.start_ns + 5000000000, 12, 3, &out),
                   1);
        expect_golden("root", (enum takt_otel_format)format, &out);
    }
}

static void the_resource_names_the_process(void)
{
    for (int format = 0; format < 2; format++) {
        struct takt_otel_bytes out = {0};

        takt__otel_resource((enum takt_otel_format)format, &source, &out);
        expect_golden("resource", (enum takt_otel_format)format, &out);
    }
}

static void a_request_has_all_spans_of_a_process(void)
{
    for (int i = 0; i < 2; i++) {
        const enum takt_otel_format format = (enum takt_otel_format)i;
        const takt_event events[] = {cpu_call(), gpu_call(), drift()};
        struct takt_otel_trace trace = fixed_trace();
        struct takt_otel_bytes resource = {0}, spans = {0}, out = {0};

        takt__otel_resource(format, &source, &resource);
        for (int k = 0; k < 3; k++)
            takt__otel_spans(format, &trace, &events[k], &spans);
        takt__otel_root(format, &trace, trace.start_ns + 1, 3, 0, &spans);
        takt__otel_trace_request(format, &resource, spans.at, spans.size, &out);
        expect_golden("traces", format, &out);
        takt__otel_bytes_free(&resource);
        takt__otel_bytes_free(&spans);
    }
}

static void a_request_has_all_metrics_of_a_process(void)
{
    for (int i = 0; i < 2; i++) {
        const enum takt_otel_format format = (enum takt_otel_format)i;
        struct takt_otel_bytes resource = {0}, out = {0};

        takt__otel_resource(format, &source, &resource);
        takt__otel_metrics_request(format, &resource, &metrics, &counts, &out);
        expect_golden("metrics", format, &out);
        takt__otel_bytes_free(&resource);
    }
}

static void before_the_first_call_only_totals_are_sent(void)
{
    for (int i = 0; i < 2; i++) {
        const enum takt_otel_format format = (enum takt_otel_format)i;
        static const takt_metrics none = {.start_ns = 1, .now_ns = 2};
        struct takt_otel_bytes resource = {0}, out = {0};

        takt__otel_resource(format, &source, &resource);
        takt__otel_metrics_request(format, &resource, &none, &counts, &out);
        expect_golden("no_metrics", format, &out);
        takt__otel_bytes_free(&resource);
    }
}

/* ---- what golden files do not show -----------------------------------------
 */

/* The spans of an event in JSON, as a string to be freed. */
static char *json_of(struct takt_otel_trace *trace, const takt_event *event)
{
    struct takt_otel_bytes out = {0};

    takt__otel_spans(TAKT_OTEL_JSON, trace, event, &out);
    takt__otel_bytes_append(&out, "", 1);
    REQUIRE(!out.is_short);
    return (char *)out.at;
}

static bool call_says(const takt_event *event, const char *wanted)
{
    struct takt_otel_trace trace = fixed_trace();
    char *text = json_of(&trace, event);
    const bool is_there = strstr(text, wanted) != NULL;

    if (!is_there)
        printf("# %s\n# lacks %s\n", text, wanted);
    free(text);
    return is_there;
}

static void what_is_not_utf8_is_replaced_in_both_forms(void)
{
    static const struct {
        const char *given, *written; /* "?" for each U+FFFD */
    } rows[] = {
        {"plain", "plain"},
        {"eight or more bytes", "eight or more bytes"},
        {"\x80", "?"},
        {"a\xFFz", "a?z"},
        {"\xC3", "?"},
        {"\xC3\xA9", "\xC3\xA9"},
        {"\xC0\xAF", "??"},
        {"\xE0\x80\xAF", "???"},
        {"\xE2\x82", "?"},
        {"\xE2\x82\xAC", "\xE2\x82\xAC"},
        {"\xE2\x82z", "?z"},
        {"\xED\xA0\x80", "???"},
        {"\xED\x9F\xBF", "\xED\x9F\xBF"},
        {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"},
        {"\xF0\x9F\x98", "?"},
        {"\xF0\x8F\xBF\xBF", "????"},
        {"\xF4\x8F\xBF\xBF", "\xF4\x8F\xBF\xBF"},
        {"\xF4\x90\x80\x80", "????"},
        {"\xF5\x80", "??"},
        {"long enough for words, then \xFE\xFE", "long enough for words, then "
                                                 "??"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_event event = cpu_call();
        struct takt_otel_trace trace = fixed_trace();
        struct takt_otel_bytes out = {0};
        char want[128] =
            "{\"key\":\"takt.expert\",\"value\":{\"stringValue\":\"";
        const size_t before = strlen(want);

        for (const char *at = rows[i].written; *at != '\0'; at++)
            if (*at == '?')
                strcat(want, "\xEF\xBF\xBD");
            else
                strncat(want, at, 1);
        event.expert = rows[i].given;
        /* The same bytes stand in protobuf, with their length before them. */
        char binary[128];
        snprintf(binary, sizeof binary, "%c%c%s", 1 << 3 | 2,
                 (int)strlen(want + before), want + before);
        strcat(want, "\"}");
        EXPECT(call_says(&event, want));
        takt__otel_spans(TAKT_OTEL_PROTOBUF, &trace, &event, &out);
        bool is_there = false;
        for (size_t k = 0; k + strlen(binary) <= out.size; k++)
            is_there |= memcmp(out.at + k, binary, strlen(binary)) == 0;
        TAP_CHECK(is_there, "row %zu is not in protobuf", i);
        takt__otel_bytes_free(&out);
    }
}

static void a_long_text_keeps_its_length_when_bytes_of_it_are_replaced(void)
{
    char name[301];
    takt_event event = cpu_call();
    struct takt_otel_trace trace = fixed_trace();
    struct takt_otel_bytes out = {0};

    memset(name, 0x80, 300);
    name[300] = '\0';
    event.expert = name;
    takt__otel_spans(TAKT_OTEL_PROTOBUF, &trace, &event, &out);
    /* 900 = 7 * 128 + 4 */
    static const unsigned char head[] = {0x0A, 0x84, 0x07, 0xEF, 0xBF, 0xBD};
    bool is_there = false;
    for (size_t k = 0; k + sizeof head <= out.size; k++)
        is_there |= memcmp(out.at + k, head, sizeof head) == 0;
    EXPECT(is_there);
    takt__otel_bytes_free(&out);
}

static void json_escapes_what_it_must(void)
{
    takt_event event = cpu_call();

    event.expert = "a\"b\\c\n\t\x01\x1F\x7F/d";
    EXPECT(call_says(&event, "\"a\\\"b\\\\c\\u000a\\u0009\\u0001\\u001f\x7F/d"
                             "\""));
}

static void numbers_are_written_exactly(void)
{
    static const struct {
        double given;
        const char *written;
    } rows[] = {
        {0.1, "0.1"},
        {0, "0"},
        {-0.0, "-0"},
        {1e300 * 10, "1e+301"},
        {1.0 / 3, "0.3333333333333333"},
        {0.1 + 0.2, "0.30000000000000004"},
        {5e-324, "4.94065645841247e-324"},
        {123456789, "123456789"},
        {NAN, "\"NaN\""},
        {INFINITY, "\"Infinity\""},
        {-INFINITY, "\"-Infinity\""},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        takt_event event = cpu_call();
        char want[128];

        event.actual_s = rows[i].given;
        snprintf(want, sizeof want,
                 "\"takt.actual_s\",\"value\":{\"doubleValue\":%s}}",
                 rows[i].written);
        EXPECT(call_says(&event, want));
    }
}

static void the_point_is_a_point_in_every_locale(void)
{
    takt_event event = cpu_call();

    if (!comma_begin()) {
        SKIP("no locale with another point can be made");
        return;
    }
    EXPECT(call_says(&event, "\"doubleValue\":0.00123}"));
    comma_end();
}

static void sizes_beyond_63_bits_are_the_most_that_fits(void)
{
    takt_event event = cpu_call();

    event.elements = SIZE_MAX;
    event.shape.dim[0] = (size_t)INT64_MAX + 1;
    event.thread_id = UINT64_MAX;
    EXPECT(call_says(&event, "\"input_size\",\"value\":{\"intValue\":"
                             "\"9223372036854775807\"}"));
    EXPECT(call_says(&event, "[{\"intValue\":\"9223372036854775807\"},{"
                             "\"intValue\":\"256\"},{\"intValue\":\"128\"}]"));
    EXPECT(call_says(&event, "\"thread.id\",\"value\":{\"intValue\":"
                             "\"9223372036854775807\"}"));
}

static void a_rule_whose_backend_is_missing_is_a_fallback_too(void)
{
    takt_event event = cpu_call();

    event.reason = TAKT_REASON_FALLBACK;
    EXPECT(call_says(&event, "\"takt.fallback_cause\",\"value\":{"
                             "\"stringValue\":\"the rule's backend is not "
                             "there\"}"));
}

static void a_span_below_the_callers_says_that_it_is_of_another_process(void)
{
    struct takt_otel_trace trace = fixed_trace();
    const takt_event event = cpu_call();
    struct takt_otel_bytes out = {0};
    char *text;

    trace.has_root = false;
    strcpy(trace.state, "a=1");
    text = json_of(&trace, &event);
    EXPECT(strstr(text, "\"traceState\":\"a=1\",\"parentSpanId\":"
                        "\"00f067aa0ba902b7\"") != NULL);
    EXPECT(strstr(text, "\"flags\":769}") != NULL);
    EXPECT(strstr(text, "\"flags\":257}") != NULL);
    EXPECT_INT(takt__otel_root(TAKT_OTEL_JSON, &trace, 1, 0, 0, &out), 0);
    EXPECT_INT(out.size, 0);
    free(text);
}

static void a_parent_without_a_span_is_none(void)
{
    struct takt_otel_trace trace = fixed_trace();
    takt_event event = cpu_call();
    char *text;

    event.parent.trace_id[0] = 1;
    text = json_of(&trace, &event);
    EXPECT(strstr(text, "\"traceId\":\"4bf92f3577b34da6a3ce929d0e0e4736\"") !=
           NULL);
    free(text);
}

static void no_span_has_an_id_of_zeros(void)
{
    struct takt_otel_trace trace = fixed_trace();
    const takt_event event = drift();
    char *text;

    /* From here the next number of the sequence is zero. */
    trace.random = 0 - UINT64_C(0x9E3779B97F4A7C15);
    text = json_of(&trace, &event);
    EXPECT(strstr(text, "\"spanId\":\"") != NULL);
    EXPECT(strstr(text, "\"spanId\":\"0000000000000000\"") == NULL);
    free(text);
}

static char *resource_json(const struct takt_otel_source *who)
{
    struct takt_otel_bytes out = {0};

    takt__otel_resource(TAKT_OTEL_JSON, who, &out);
    takt__otel_bytes_append(&out, "", 1);
    REQUIRE(!out.is_short);
    return (char *)out.at;
}

static void a_nameless_service_is_called_after_its_executable(void)
{
    const struct takt_otel_source nobody = {.machine = &machine};
    char *text = resource_json(&nobody);
    char want[128];

    EXPECT(strstr(text, "\"service.name\",\"value\":{\"stringValue\":"
                        "\"unknown_service:") != NULL);
    snprintf(want, sizeof want,
             "\"process.pid\",\"value\":{\"intValue\":\"%ld\"}",
             (long)getpid());
    EXPECT(strstr(text, want) != NULL);
    EXPECT(strstr(text, "\"host.name\"") != NULL);
    EXPECT(strstr(text, "service.instance.id") == NULL);
    free(text);
}

static void a_name_among_the_attributes_is_used_when_there_is_no_other(void)
{
    struct takt_otel_source unnamed = source;
    char *text;

    unnamed.service_name = NULL;
    text = resource_json(&unnamed);
    EXPECT(strstr(text, "\"service.name\",\"value\":{\"stringValue\":"
                        "\"another name\"}") != NULL);
    EXPECT(strstr(text, "unknown_service") == NULL);
    free(text);
}

/* Memory ends after every number of bytes there is. */
static void running_out_of_memory_is_said_and_does_no_harm(void)
{
    for (size_t room = 0; room < 6000; room += 1 + room / 64) {
        for (int i = 0; i < 2; i++) {
            const enum takt_otel_format format = (enum takt_otel_format)i;
            struct takt_otel_bytes out = {
                .at = malloc(room + 1), .room = room, .is_short = true};
            struct takt_otel_bytes none = {0};
            struct takt_otel_trace trace = fixed_trace();
            const takt_event event = gpu_call();

            takt__otel_spans(format, &trace, &event, &out);
            takt__otel_resource(format, &source, &out);
            takt__otel_metrics_request(format, &none, &metrics, &counts, &out);
            EXPECT(out.is_short);
            EXPECT(out.size <= room);
            takt__otel_bytes_free(&out);
        }
    }
    struct takt_otel_bytes out = {0};
    takt__otel_bytes_append(&out, "", SIZE_MAX);
    EXPECT(out.is_short && out.size == 0);
    takt__otel_bytes_free(&out);
}

int main(void)
{
    RUN(a_call_on_a_processor_is_two_spans);
    RUN(a_call_on_a_gpu_with_a_parent_and_a_fallback_is_two_spans);
    RUN(a_change_of_speed_is_one_span);
    RUN(the_process_is_a_span_of_its_own);
    RUN(the_resource_names_the_process);
    RUN(a_request_has_all_spans_of_a_process);
    RUN(a_request_has_all_metrics_of_a_process);
    RUN(before_the_first_call_only_totals_are_sent);
    RUN(what_is_not_utf8_is_replaced_in_both_forms);
    RUN(a_long_text_keeps_its_length_when_bytes_of_it_are_replaced);
    RUN(json_escapes_what_it_must);
    RUN(numbers_are_written_exactly);
    RUN(the_point_is_a_point_in_every_locale);
    RUN(sizes_beyond_63_bits_are_the_most_that_fits);
    RUN(a_rule_whose_backend_is_missing_is_a_fallback_too);
    RUN(a_span_below_the_callers_says_that_it_is_of_another_process);
    RUN(a_parent_without_a_span_is_none);
    RUN(no_span_has_an_id_of_zeros);
    RUN(a_nameless_service_is_called_after_its_executable);
    RUN(a_name_among_the_attributes_is_used_when_there_is_no_other);
    RUN(running_out_of_memory_is_said_and_does_no_harm);
    return tap_done();
}
