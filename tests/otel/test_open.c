/* SPDX-License-Identifier: MIT */
/*
 * test_open.c - the sink as a whole, into a file: from options to lines. The
 * tests with collectors are in test_receivers.py and test_faults.py.
 */
#include <sys/wait.h>
#include <unistd.h>

#include <takt/otlp.h>

#include "support/tap.h"

extern char **environ;

#if defined(__SANITIZE_THREAD__)
enum { is_thread_sanitized = 1 };
#else
enum { is_thread_sanitized = 0 };
#endif

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define SPAN "00f067aa0ba902b7"

static char path[] = "/tmp/takt-open-XXXXXX";
static char text[1 << 20];

static takt_sink open_sink(const takt_otlp_options *options)
{
    takt_sink sink;
    takt_diag diag;

    REQUIRE(truncate(path, 0) == 0);
    REQUIRE(takt_otel_open(TAKT_OTEL_VERSION, options, NULL, &sink, &diag) ==
            TAKT_OK);
    EXPECT_STR(diag.text, "");
    return sink;
}

static void tell(const takt_sink *sink, const takt_span_context *parent)
{
    takt_event event = {.kind = TAKT_EVENT_CALL,
                        .told = TAKT_TOLD_SLOW,
                        .op = "add",
                        .elements = 10,
                        .backend = TAKT_BACKEND_SIMD,
                        .expert = "avx2.1",
                        .device = "",
                        .runner_up = "",
                        .refused = "",
                        .predicted_s = -1,
                        .confidence = -1,
                        .start_ns = 1,
                        .run_ns = 2,
                        .end_ns = 3};

    if (parent != NULL)
        event.parent = *parent;
    EXPECT_INT(sink->event(sink->self, &event), 0);
}

static void read_lines(void)
{
    FILE *file = fopen(path, "r");

    REQUIRE(file != NULL);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
}

static int count(const char *word)
{
    int found = 0;

    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        found++;
    return found;
}

/* The value of a field, where a word is next. */
static void find(const char *word, const char *field, char *out, size_t size)
{
    const char *at = strstr(text, word);

    while (at != NULL && at > text && *at != '{') /* where the span begins */
        at--;
    at = at != NULL ? strstr(at, field) : NULL;
    snprintf(out, size, "%s", at != NULL ? at + strlen(field) : "");
    out[strcspn(out, "\"")] = '\0';
}

static void spans_and_their_root_are_written(void)
{
    const takt_otlp_options options = {.file = path};
    const takt_sink sink = open_sink(&options);
    takt_sink_report report;

    EXPECT_INT(sink.metrics_ms, 60000);
    EXPECT(!sink.wants_all);
    tell(&sink, NULL);
    tell(&sink, NULL);
    sink.flush(sink.self, 60000);
    sink.report(sink.self, &report);
    EXPECT_STR(report.name, "otlp file");
    EXPECT_INT(report.sent, 4);
    EXPECT_STR(report.problem, "");
    sink.close(sink.self, 60000);
    read_lines();
    EXPECT_INT(count("\n"), 2);
    EXPECT_INT(count("backend_selection: add"), 2);
    EXPECT_INT(count("compute_block: add"), 2);
    EXPECT_INT(count("takt_compute"), 1);
}

static void a_process_with_a_parent_has_no_root_of_its_own(void)
{
    const takt_otlp_options options = {
        .file = path, .traceparent = "00-" TRACE "-" SPAN "-01"};
    const takt_sink sink = open_sink(&options);

    tell(&sink, NULL);
    sink.close(sink.self, 60000);
    read_lines();
    EXPECT_INT(count("takt_compute"), 0);
    EXPECT_INT(count("\"traceId\":\"" TRACE "\""), 2);
    EXPECT_INT(count("\"parentSpanId\":\"" SPAN "\""), 1);
}

static void what_is_not_sampled_is_not_sent(void)
{
    const takt_otlp_options options = {
        .file = path, .traceparent = "00-" TRACE "-" SPAN "-00"};
    const takt_span_context sampled = {{1}, {2}, 1};
    const takt_sink sink = open_sink(&options);
    takt_sink_report report;

    tell(&sink, NULL);
    tell(&sink, &sampled);
    sink.flush(sink.self, 60000);
    sink.report(sink.self, &report);
    EXPECT_INT(report.sent, 2);
    EXPECT_INT(report.dropped, 0);
    sink.close(sink.self, 60000);
    read_lines();
    EXPECT_INT(count("\"traceId\":\"01000000000000000000000000000000\""), 2);
    EXPECT_INT(count("\"traceId\":\"" TRACE "\""), 0);
}

static void metrics_are_lines_too(void)
{
    const takt_otlp_options options = {.file = path, .metrics_ms = 1000};
    const takt_sink sink = open_sink(&options);
    const takt_metrics metrics = {.start_ns = 1, .now_ns = 2, .told = 7};

    EXPECT_INT(sink.metrics_ms, 1000);
    EXPECT_INT(sink.metrics(sink.self, &metrics), 0);
    sink.close(sink.self, 60000);
    read_lines();
    EXPECT_INT(count("resourceMetrics"), 1);
    EXPECT_INT(count("resourceSpans"), 1); /* the root */
    EXPECT(strstr(text,
                  "{\"key\":\"takt.told\",\"value\":{\"intValue\":\"7\"}}") !=
           NULL);
}

static void a_full_disk_costs_the_spans_and_little_time(void)
{
    const takt_otlp_options options = {.file = "/dev/full"};
    const takt_sink sink = open_sink(&options);
    takt_sink_report report;

    tell(&sink, NULL);
    sink.flush(sink.self, 60000);
    sink.report(sink.self, &report);
    EXPECT_INT(report.sent, 0);
    EXPECT_STR(report.problem,
               "cannot write /dev/full: No space left on device");
    sink.close(sink.self, 60000);
}

/* ---- fork ------------------------------------------------------------------
 */

static pid_t fork_with(const takt_sink *sink)
{
    sink->forked(sink->self, TAKT_FORK_PREPARE);
    const pid_t child = fork();
    sink->forked(sink->self, child == 0 ? TAKT_FORK_CHILD : TAKT_FORK_PARENT);
    return child;
}

static void end_child(pid_t child)
{
    int status = -1;

    waitpid(child, &status, 0);
    EXPECT_INT(status, 0);
}

static void a_child_goes_on_with_the_trace(void)
{
    const takt_otlp_options options = {.file = path};
    char trace[2][64], root[64], parent[64], instance[2][64];

    if (is_thread_sanitized) {
        SKIP("this sanitizer cannot follow a fork");
        return;
    }
    const takt_sink sink = open_sink(&options);
    tell(&sink, NULL);
    const pid_t child = fork_with(&sink);
    if (child == 0) {
        tell(&sink, NULL);
        sink.close(sink.self, 60000);
        _exit(0);
    }
    end_child(child);
    read_lines(); /* the child's: the parent's waits still */
    EXPECT_INT(count("takt_compute"), 1);
    EXPECT_INT(count("backend_selection: add"), 1);
    find("\"takt_compute\"", "\"traceId\":\"", trace[0], sizeof trace[0]);
    find("\"takt_compute\"", "\"parentSpanId\":\"", parent, sizeof parent);
    find("service.instance.id", "stringValue\":\"", instance[0],
         sizeof instance[0]);
    REQUIRE(truncate(path, 0) == 0);
    sink.close(sink.self, 60000);
    read_lines();
    EXPECT_INT(count("takt_compute"), 1);
    find("\"takt_compute\"", "\"traceId\":\"", trace[1], sizeof trace[1]);
    find("\"takt_compute\"", "\"spanId\":\"", root, sizeof root);
    find("service.instance.id", "stringValue\":\"", instance[1],
         sizeof instance[1]);
    EXPECT_STR(trace[0], trace[1]);
    EXPECT_INT(strlen(root), 16);
    EXPECT_STR(parent, root);
    EXPECT_INT(strlen(instance[0]), 36);
    EXPECT(strcmp(instance[0], instance[1]) != 0);
}

static void a_child_that_calls_nothing_sends_nothing(void)
{
    const takt_otlp_options options = {.file = path};
    const takt_metrics metrics = {0};
    const takt_sink sink = open_sink(&options);

    tell(&sink, NULL);
    const pid_t child = fork_with(&sink);
    if (child == 0) {
        sink.metrics(sink.self, &metrics);
        sink.close(sink.self, 60000);
        _exit(0);
    }
    end_child(child);
    read_lines();
    EXPECT_STR(text, "");
    sink.close(sink.self, 60000);
}

/* ---- what cannot be opened -------------------------------------------------
 */

static takt_status try_open(int version, const takt_otlp_options *options,
                            takt_diag *diag)
{
    takt_sink sink;
    const takt_status status =
        takt_otel_open(version, options, NULL, &sink, diag);

    if (status == TAKT_OK)
        sink.close(sink.self, 0);
    else
        EXPECT(sink.self == NULL && sink.event == NULL);
    return status;
}

static void what_cannot_be_opened_says_why(void)
{
    const takt_otlp_options nowhere = {.file = "/nowhere/at/all"};
    const takt_otlp_options nonsense = {.protocol = "smoke"};
    takt_diag diag;

    EXPECT_INT(try_open(TAKT_OTEL_VERSION + 1, &nowhere, &diag), TAKT_ENOTSUP);
    EXPECT_INT(try_open(TAKT_OTEL_VERSION, NULL, &diag), TAKT_ENOENT);
    EXPECT_STR(diag.text, "");
    EXPECT_INT(try_open(TAKT_OTEL_VERSION, &nowhere, &diag), TAKT_EIO);
    EXPECT_STR(diag.text,
               "cannot open /nowhere/at/all: No such file or directory");
    EXPECT_INT(try_open(TAKT_OTEL_VERSION, &nonsense, NULL), TAKT_EINVAL);
}

static void a_database_is_not_appended_to(void)
{
    static const char start[] = "SQLite format 3";
    const takt_otlp_options options = {.file = path};
    takt_diag diag;

    FILE *file = fopen(path, "w");
    REQUIRE(file != NULL && fwrite(start, sizeof start, 1, file) == 1);
    fclose(file);
    EXPECT_INT(try_open(TAKT_OTEL_VERSION, &options, &diag), TAKT_EIO);
    EXPECT(strstr(diag.text, "it is a database, and stays") != NULL);
}

int main(void)
{
    static char *none[] = {NULL};
    const int made = mkstemp(path);

    REQUIRE(made >= 0);
    close(made);
    environ = none; /* the variables of who runs the test are not the test's */
    RUN(spans_and_their_root_are_written);
    RUN(a_process_with_a_parent_has_no_root_of_its_own);
    RUN(what_is_not_sampled_is_not_sent);
    RUN(metrics_are_lines_too);
    RUN(a_full_disk_costs_the_spans_and_little_time);
    RUN(a_child_goes_on_with_the_trace);
    RUN(a_child_that_calls_nothing_sends_nothing);
    RUN(what_cannot_be_opened_says_why);
    RUN(a_database_is_not_appended_to);
    unlink(path);
    return tap_done();
}
