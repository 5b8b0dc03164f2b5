/* SPDX-License-Identifier: MIT */
/*
 * inference.c - answers one request at a time, none of which may be late.
 *
 *     inference [load]    load: while another process uses 60% of a core
 *
 * A team of threads has the better mean, and waits for the slowest of its
 * threads: where others use the machine, too, one request in a hundred then
 * takes many times as long. So the requests are answered twice: by the expert
 * with the least mean time, and by the one with the least p99. Both are printed
 * as a distribution.
 *
 * Trying other experts would make a request late now and then. So they are
 * tried before the first one, and calls that answer requests say that they are
 * urgent: Takt still learns from every call, but only from experts it expects
 * to be the best.
 */
#define _POSIX_C_SOURCE 200809L /* kill(), nanosleep() */
#include <math.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tally.h"

enum {
    inputs = 512,
    hidden = 1024,
    classes = 64,
    rehearsals = 1500,
    requests = 1000
};

static const double limit_s = 1e-3;

static float w1[hidden * inputs], w2[classes * hidden];
static float x[inputs], h[hidden], p[classes];

/* out = w in, for a matrix of m rows. */
static takt_status layer(struct tally *tally, size_t m, size_t n,
                         const float *w, const float *in, float *out,
                         unsigned flags)
{
    return tally_run(tally, &(takt_call){.op = takt_op_find("gemv"),
                                         .shape = {2, {m, n}},
                                         .in = {w, in},
                                         .out = out,
                                         .alpha = 1,
                                         .flags = flags});
}

static takt_status answer(struct tally *tally, unsigned flags)
{
    takt_status status = layer(tally, hidden, inputs, w1, x, h, flags);

    if (status == TAKT_OK)
        status = tally_run(tally, &(takt_call){.op = takt_op_find("relu"),
                                               .shape = {1, {hidden}},
                                               .in = {h},
                                               .out = h,
                                               .flags = flags});
    if (status == TAKT_OK)
        status = layer(tally, classes, hidden, w2, h, p, flags);
    if (status == TAKT_OK)
        status = tally_run(tally, &(takt_call){.op = takt_op_find("softmax"),
                                               .shape = {2, {1, classes}},
                                               .in = {p},
                                               .out = p,
                                               .flags = flags});
    return status;
}

/* What the calls of a request took; comparing them is not part of it. */
static takt_status serve(struct tally *tally, int count, unsigned flags,
                         double *took_s)
{
    takt_status status = TAKT_OK;

    for (int i = 0; i < count && status == TAKT_OK; i++) {
        for (size_t j = 0; j < inputs; j++)
            x[j] = sinf((float)(j + (size_t)i));
        const double before_s = tally->seconds;
        status = answer(tally, flags);
        if (took_s != NULL)
            took_s[i] = tally->seconds - before_s;
    }
    return status;
}

/* ---- printing ---- */

static int by_time(const void *a, const void *b)
{
    const double x_s = *(const double *)a, y_s = *(const double *)b;
    return (x_s > y_s) - (x_s < y_s);
}

/* A bar for each factor of two. */
static void print_bars(const double took_s[requests])
{
    int at = 0;

    for (double most_s = 1e-5; at < requests; most_s *= 2) {
        int count = 0;
        while (at < requests && took_s[at] <= most_s) {
            at++;
            count++;
        }
        if (count == 0)
            continue;
        printf("  up to %7.0f us %6d ", most_s * 1e6, count);
        for (int i = 0; i < 1 + 40 * count / requests; i++)
            putchar('#');
        putchar('\n');
    }
}

static void print_latency(const char *objective, double took_s[requests])
{
    double sum_s = 0;
    int late = 0;

    for (int i = 0; i < requests; i++) {
        late += took_s[i] > limit_s;
        sum_s += took_s[i];
    }
    qsort(took_s, requests, sizeof *took_s, by_time);
    printf("%s: %d requests, mean %.1f us, half within %.1f us, 95%% within "
           "%.1f us, 99%% within %.1f us, %d later than %.0f us\n",
           objective, requests, sum_s / requests * 1e6,
           took_s[requests / 2] * 1e6, took_s[requests * 95 / 100] * 1e6,
           took_s[requests * 99 / 100] * 1e6, late, limit_s * 1e6);
    print_bars(took_s);
}

/* ---- the two of them ---- */

/* A busy neighbour: 6 ms of work, 4 ms of sleep. */
static pid_t start_neighbour(void)
{
    const pid_t child = fork();

    if (child != 0)
        return child;
    while (getppid() != 1) {
        const double end = tally_now() + 6e-3;
        while (tally_now() < end)
            ;
        nanosleep(&(struct timespec){0, 4000000}, NULL);
    }
    _exit(0);
}

static takt_status serve_under(const char *objective, double *explored)
{
    static double took_s[requests];
    static float thrown_away[hidden];
    struct tally rehearsal = {.thrown_away = thrown_away}, tally = rehearsal;
    const takt_ctx_options options = {.size = sizeof options,
                                      .objective = objective};
    takt_status status = takt_ctx_create(&options, &rehearsal.ctx);

    tally.ctx = rehearsal.ctx;
    if (status == TAKT_OK)
        status = serve(&rehearsal, rehearsals, 0, NULL);
    if (status == TAKT_OK)
        status = takt_ctx_flush(tally.ctx);
    if (status == TAKT_OK)
        status = serve(&tally, requests, TAKT_CALL_URGENT, took_s);
    if (status == TAKT_OK) {
        print_latency(objective, took_s);
        tally_print(&tally);
    }
    *explored += tally.explored;
    takt_ctx_destroy(tally.ctx);
    return status;
}

int main(int argc, char **argv)
{
    const pid_t neighbour =
        argc > 1 && strcmp(argv[1], "load") == 0 ? start_neighbour() : -1;
    double explored = 0;

    for (size_t i = 0; i < hidden * inputs; i++)
        w1[i] = 0.1F * sinf((float)i);
    for (size_t i = 0; i < classes * hidden; i++)
        w2[i] = 0.1F * cosf((float)i);
    takt_status status = serve_under("time", &explored);
    if (status == TAKT_OK)
        status = serve_under("p99", &explored);
    if (status != TAKT_OK)
        printf("failed: %s\n", takt_status_text(status));
    if (neighbour > 0) {
        kill(neighbour, SIGKILL);
        waitpid(neighbour, NULL, 0);
    }
    return status != TAKT_OK || explored > 0;
}
