/* SPDX-License-Identifier: MIT */
/*
 * drive.c - feeds the exporter what it is told to, and tells what it fed, what
 * became of it and how long it was kept waiting: one JSON object per line.
 *
 *     drive [--events N] [--rate PER_SECOND] [--metrics N] [--machine FOLDER]
 *           [--settle MS] [--close MS] [--fork] [--quiet]
 *
 * Where to send to comes from the environment alone. --settle flushes, however
 * long that takes, and waits, for so long at most, until everything fed is
 * accounted for: sent or not.
 * --fork feeds half of the events in a child. --quiet tells no events.
 */
#define _GNU_SOURCE /* RUSAGE_THREAD */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <takt/machine.h>
#include <takt/otlp.h>
#include <takt/version.h>

#include "feed.h"

#define NS_PER_S UINT64_C(1000000000)

static struct {
    unsigned events, rate, metrics, settle_ms, close_ms;
    bool is_forking, is_quiet;
    const char *machine; /* a recording; NULL: this one */
} wish = {.events = 100, .close_ms = 2000};

static struct {
    uint64_t events, spans;       /* fed */
    uint64_t event_ns;            /* of processor time, in event() */
    uint64_t waits;               /* times that event() gave the processor up */
    uint64_t settle_ns, close_ns; /* in flush() until settled; in close() */
    takt_sink_report report;
} outcome;

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* How often this thread has waited for something. A busy machine that takes the
 * processor away does not count. */
static uint64_t waits(void)
{
    struct rusage usage = {0};

    getrusage(RUSAGE_THREAD, &usage);
    return (uint64_t)usage.ru_nvcsw;
}

static void wait_until(uint64_t at_ns)
{
    const struct timespec at = {.tv_sec = (time_t)(at_ns / NS_PER_S),
                                .tv_nsec = (long)(at_ns % NS_PER_S)};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void feed_one(const takt_sink *sink, unsigned index, uint64_t base_ns)
{
    takt_event event;
    uint64_t began_ns, waited;

    feed_event(index, base_ns, &event);
    waited = waits();
    began_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    sink->event(sink->self, &event);
    outcome.event_ns += now_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
    outcome.waits += waits() - waited;
    outcome.events++;
    outcome.spans += feed_spans(&event);
    if (!wish.is_quiet)
        tell_event(stdout, &event);
}

/* Events first <= index < last, the metrics spread evenly among them. */
static void feed(const takt_sink *sink, unsigned first, unsigned last,
                 uint64_t base_ns)
{
    const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);
    struct feed_metrics metrics;
    unsigned round = 0;

    for (unsigned i = first; i < last; i++) {
        if (wish.rate > 0)
            wait_until(began_ns + (i - first) * NS_PER_S / wish.rate);
        feed_one(sink, i, base_ns);
        while (round < wish.metrics &&
               (uint64_t)(i - first + 1) * wish.metrics >=
                   (uint64_t)(round + 1) * (last - first)) {
            feed_metrics(++round, base_ns, &metrics);
            sink->metrics(sink->self, &metrics.metrics);
            tell_metrics(stdout, &metrics.metrics);
        }
    }
}

static bool is_settled(const takt_sink *sink)
{
    const takt_sink_report *report = &outcome.report;

    sink->report(sink->self, &outcome.report);
    return report->sent + report->dropped + report->failed + report->rejected >=
           outcome.spans;
}

static void settle(const takt_sink *sink)
{
    const unsigned most_ms = 100000; /* it hangs */
    const uint64_t began_ns = now_ns(CLOCK_MONOTONIC);

    sink->flush(sink->self, most_ms);
    const uint64_t until_ns =
        now_ns(CLOCK_MONOTONIC) + wish.settle_ms * UINT64_C(1000000);
    while (!is_settled(sink) && now_ns(CLOCK_MONOTONIC) < until_ns)
        wait_until(now_ns(CLOCK_MONOTONIC) + 5000000);
    outcome.settle_ns = now_ns(CLOCK_MONOTONIC) - began_ns;
}

static void finish(const takt_sink *sink)
{
    uint64_t began_ns;

    if (wish.settle_ms > 0)
        settle(sink);
    sink->report(sink->self, &outcome.report);
    began_ns = now_ns(CLOCK_MONOTONIC);
    sink->close(sink->self, wish.close_ms);
    outcome.close_ns = now_ns(CLOCK_MONOTONIC) - began_ns;
}

/* The most memory that the process has had, in KiB. */
static unsigned long peak_kib(void)
{
    unsigned long peak = 0;
    char line[256];
    FILE *file = fopen("/proc/self/status", "r");

    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "VmHWM:", 6) == 0)
            peak = strtoul(line + 6, NULL, 10);
    if (file != NULL)
        fclose(file);
    return peak;
}

static void tell_outcome(void)
{
    const takt_sink_report *report = &outcome.report;
    const uint64_t events = outcome.events > 0 ? outcome.events : 1;

    printf("{\"outcome\":{\"pid\":%ld,\"events\":%llu,\"spans\":%llu",
           (long)getpid(), (unsigned long long)outcome.events,
           (unsigned long long)outcome.spans);
    printf(",\"sent\":%llu,\"dropped\":%llu,\"failed\":%llu,\"rejected\":%llu",
           (unsigned long long)report->sent,
           (unsigned long long)report->dropped,
           (unsigned long long)report->failed,
           (unsigned long long)report->rejected);
    tell_text(stdout, "name", report->name);
    tell_text(stdout, "problem", report->problem);
    printf(",\"event_mean_us\":%.3f,\"event_waits\":%llu",
           (double)outcome.event_ns / (double)events * 1e-3,
           (unsigned long long)outcome.waits);
    printf(",\"settle_ms\":%.1f,\"close_ms\":%.1f,\"peak_kib\":%lu}}\n",
           (double)outcome.settle_ns * 1e-6, (double)outcome.close_ns * 1e-6,
           peak_kib());
    fflush(stdout);
}

/* Half here, then the other half in a child, while the sink has a queue. */
static int feed_and_fork(const takt_sink *sink, uint64_t base_ns)
{
    const unsigned half = wish.events / 2;
    int status = 1;
    pid_t child;

    feed(sink, 0, half, base_ns);
    fflush(stdout);
    sink->forked(sink->self, TAKT_FORK_PREPARE);
    child = fork();
    if (child == 0) {
        sink->forked(sink->self, TAKT_FORK_CHILD);
        memset(&outcome, 0, sizeof outcome);
        feed(sink, half, wish.events, base_ns);
        finish(sink);
        tell_outcome();
        _exit(0);
    }
    sink->forked(sink->self, TAKT_FORK_PARENT);
    finish(sink);
    if (child > 0)
        waitpid(child, &status, 0);
    return status;
}

static bool read_wish(char **words)
{
    const struct {
        const char *name;
        unsigned *number;
    } numbers[] = {
        {"--events", &wish.events},   {"--rate", &wish.rate},
        {"--metrics", &wish.metrics}, {"--settle", &wish.settle_ms},
        {"--close", &wish.close_ms},
    };

    for (; *words != NULL; words++) {
        size_t i = 0;

        while (i < 5 && strcmp(*words, numbers[i].name) != 0)
            i++;
        if (i < 5 && words[1] != NULL)
            *numbers[i].number = (unsigned)strtoul(*++words, NULL, 10);
        else if (strcmp(*words, "--machine") == 0 && words[1] != NULL)
            wish.machine = *++words;
        else if (strcmp(*words, "--fork") == 0)
            wish.is_forking = true;
        else if (strcmp(*words, "--quiet") == 0)
            wish.is_quiet = true;
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    const uint64_t base_ns = now_ns(CLOCK_REALTIME);
    takt_machine *machine;
    takt_diag diag = {""};
    takt_sink sink = {0};
    takt_status status;
    int result = 0;

    if (argc < 1 || !read_wish(argv + 1)) {
        fputs("drive: see the top of drive.c\n", stderr);
        return 2;
    }
    if (takt_machine_create(wish.machine, &machine) != TAKT_OK)
        return 2;
    tell_machine(stdout, machine);
    status = takt_otel_open(TAKT_OTEL_VERSION, NULL, machine, &sink, &diag);
    takt_machine_destroy(machine);
    printf("{\"opened\":{\"status\":%d,\"pid\":%ld,\"metrics_ms\":%u",
           (int)status, (long)getpid(), sink.metrics_ms);
    tell_text(stdout, "version", takt_version());
    tell_text(stdout, "diag", diag.text);
    fputs("}}\n", stdout);
    if (status != TAKT_OK)
        return 3;
    if (wish.is_forking) {
        result = feed_and_fork(&sink, base_ns);
    } else {
        feed(&sink, 0, wish.events, base_ns);
        finish(&sink);
    }
    tell_outcome();
    return result;
}
