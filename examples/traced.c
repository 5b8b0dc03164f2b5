/* SPDX-License-Identifier: MIT */
/*
 * traced.c - a program that is told of its own calls: who ran each of them,
 * why, and what it took.
 *
 * A sink is three functions. This one prints; takt/otlp.h has the one that
 * speaks to OpenTelemetry, for which setting OTEL_EXPORTER_OTLP_ENDPOINT is
 * enough.
 */
#include <stdio.h>

#include <takt/takt.h>

enum { rows = 512, inner = 256, cols = 128 };

static uint64_t first_ns;

static double us_since(uint64_t ns)
{
    return (double)(ns - first_ns) * 1e-3;
}

/* Called by a thread of Takt's own, a moment after the call. */
static int print_event(void *self, const takt_event *event)
{
    (void)self;
    if (event->kind != TAKT_EVENT_CALL)
        return 0;
    if (first_ns == 0)
        first_ns = event->start_ns;
    printf("%9.1f us  backend_selection: %-8s %zu elements, %s (%s)\n",
           us_since(event->start_ns), event->op, event->elements, event->expert,
           takt_reason_name(event->reason));
    printf("%9.1f us    %s: %-8s %.1f us on %u thread%s\n",
           us_since(event->run_ns),
           event->backend == TAKT_BACKEND_GPU ? "gpu_kernel" : "compute_block",
           event->op, event->actual_s * 1e6, event->threads,
           event->threads == 1 ? "" : "s");
    return 0;
}

static int print_metrics(void *self, const takt_metrics *metrics)
{
    (void)self;
    for (size_t i = 0; i < metrics->op_count; i++)
        printf("%-8s %llu calls\n", metrics->op[i].op,
               (unsigned long long)metrics->op[i].calls);
    return 0;
}

static void print_end(void *self, unsigned deadline_ms)
{
    (void)self;
    (void)deadline_ms;
}

int main(void)
{
    static float a[rows * inner], b[inner * cols], c[rows * cols];
    const takt_sink sink = {.metrics_ms = 60000, /* and at the end */
                            .event = print_event,
                            .metrics = print_metrics,
                            .close = print_end};
    takt_ctx *ctx = takt_ctx_default();

    if (ctx == NULL ||
        takt_ctx_trace(ctx, &(takt_trace_options){.is_debugging = 1}) !=
            TAKT_OK ||
        takt_ctx_add_sink(ctx, &sink) != TAKT_OK) {
        fprintf(stderr, "there is no telemetry to be had\n");
        return 1;
    }
    for (int i = 0; i < rows * inner; i++)
        a[i] = (float)(i % 7) - 3;
    for (int i = 0; i < inner * cols; i++)
        b[i] = (float)(i % 5) - 2;
    for (int i = 0; i < 2; i++) {
        takt_matmul_f32(rows, cols, inner, a, b, c);
        takt_relu_f32((size_t)rows * cols, c, c);
        takt_softmax_f32(rows, cols, c, c);
    }
    return 0; /* what is left is told before the program ends */
}
