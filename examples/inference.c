/* SPDX-License-Identifier: MIT */
/*
 * inference.c - answers one request at a time, none of which may be late.
 *
 * Trying other experts would make a request late now and then. So the context
 * is made without exploration, and calls say that they are urgent: Takt still
 * learns from every call, but only from experts it expects to be first. A
 * single program can also mix: urgent calls here, exploring ones elsewhere.
 */
#include <math.h>

#include "tally.h"

enum { inputs = 512, hidden = 1024, classes = 64, requests = 500 };

static const double limit_s = 1e-3;

static float w1[hidden * inputs], w2[classes * hidden];
static float x[inputs], h[hidden], p[classes];

/* out = w in, for a matrix of m rows. */
static takt_status layer(struct tally *tally, size_t m, size_t n,
                         const float *w, const float *in, float *out)
{
    return tally_run(tally, &(takt_call){.op = takt_op_find("gemv"),
                                         .shape = {2, {m, n}},
                                         .in = {w, in},
                                         .out = out,
                                         .alpha = 1,
                                         .flags = TAKT_CALL_URGENT});
}

static takt_status answer(struct tally *tally)
{
    takt_status status = layer(tally, hidden, inputs, w1, x, h);

    if (status == TAKT_OK)
        status = tally_run(tally, &(takt_call){.op = takt_op_find("relu"),
                                               .shape = {1, {hidden}},
                                               .in = {h},
                                               .out = h,
                                               .flags = TAKT_CALL_URGENT});
    if (status == TAKT_OK)
        status = layer(tally, classes, hidden, w2, h, p);
    if (status == TAKT_OK)
        status = tally_run(tally, &(takt_call){.op = takt_op_find("softmax"),
                                               .shape = {2, {1, classes}},
                                               .in = {p},
                                               .out = p,
                                               .flags = TAKT_CALL_URGENT});
    return status;
}

static int by_time(const void *a, const void *b)
{
    const double x_s = *(const double *)a, y_s = *(const double *)b;
    return (x_s > y_s) - (x_s < y_s);
}

/* What the calls of a request took; comparing them is not part of it. */
static takt_status serve(struct tally *tally, double took_s[requests])
{
    takt_status status = TAKT_OK;

    for (int i = 0; i < requests && status == TAKT_OK; i++) {
        for (size_t j = 0; j < inputs; j++)
            x[j] = sinf((float)(j + (size_t)i));
        const double before_s = tally->seconds;
        status = answer(tally);
        took_s[i] = tally->seconds - before_s;
    }
    return status;
}

static void print_latency(double took_s[requests])
{
    int late = 0;

    for (int i = 0; i < requests; i++)
        late += took_s[i] > limit_s;
    qsort(took_s, requests, sizeof *took_s, by_time);
    printf("%d requests: half within %.1f us, 99%% within %.1f us, "
           "%d later than %.0f us\n",
           requests, took_s[requests / 2] * 1e6,
           took_s[requests * 99 / 100] * 1e6, late, limit_s * 1e6);
}

int main(void)
{
    static double took_s[requests];
    static float thrown_away[hidden];
    struct tally tally = {.thrown_away = thrown_away};
    takt_status status =
        takt_ctx_create(&(takt_ctx_options){.exploration = -1}, &tally.ctx);

    for (size_t i = 0; i < hidden * inputs; i++)
        w1[i] = 0.1F * sinf((float)i);
    for (size_t i = 0; i < classes * hidden; i++)
        w2[i] = 0.1F * cosf((float)i);
    if (status == TAKT_OK)
        status = serve(&tally, took_s);
    if (status == TAKT_OK) {
        print_latency(took_s);
        tally_print(&tally);
    } else {
        printf("failed: %s\n", takt_status_text(status));
    }
    takt_ctx_destroy(tally.ctx);
    return status != TAKT_OK || tally.explored > 0;
}
