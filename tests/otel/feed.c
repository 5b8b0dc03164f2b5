/* SPDX-License-Identifier: MIT */
/*
 * feed.c - the made-up events and metrics. Everything is drawn from the number
 * of the event, so that a run can be repeated; what must be met for certain
 * (every reason, every rank, the odd strings) goes round in turn instead.
 */
#include "feed.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* A name of 300 letters, one that is empty, and ones that are not UTF-8: a
 * lone byte, a surrogate, an overlong slash, a character cut short. */
static const char long_name[] =
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
    "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
    "dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd"
    "eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";
static const char *const ops[] = {
    "matmul",
    "add",
    "softmax",
    "my.own/op:2",
    "gr\xc3\xb6\xc3\x9f"
    "e",
    "\xf0\x9f\x98\x80 \xe2\x82\xac",
    "quote\" back\\slash /tab\t line\n \x01 \x7f",
    "lone \xff byte",
    "surrogate \xed\xa0\x80.",
    "overlong \xc0\xaf.",
    "cut short \xe2\x82",
    "",
    long_name,
};
static const char *const experts[3][2] = {
    {"scalar", "scalar.user"},
    {"simd.avx512", "openblas"},
    {"cuda.0", "vulkan.1"},
};
static const char *const devices[] = {"NVIDIA H200", "", "llvmpipe (\xc3\xa4)"};

/* Steele, Lea and Flood: one step of splitmix64. */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double draw_seconds(uint64_t *state)
{
    return ldexp((double)(draw(state) >> 11), -53 - (int)(draw(state) % 24));
}

static void shape_of(unsigned index, uint64_t *random, takt_event *out)
{
    out->shape.rank = index % (TAKT_SHAPE_MAX_RANK + 1);
    for (unsigned i = 0; i < out->shape.rank; i++)
        out->shape.dim[i] = (size_t)(draw(random) >> (draw(random) % 60 + 2));
    out->elements = (size_t)(draw(random) >> (draw(random) % 60 + 2));
    if (index % 97 == 5)
        out->elements = 0;
    out->work.bytes = index % 5 == 4 ? -1 : (double)(draw(random) >> 20);
    out->work.flops = index % 6 == 5 ? -1 : 1e3 * draw_seconds(random);
    if (index % 89 == 3)
        out->work.flops = INFINITY;
    if (index % 83 == 2)
        out->work.bytes = 0;
}

static void decision_of(unsigned index, uint64_t *random, takt_event *out)
{
    out->backend = (takt_backend)(index % 3);
    out->expert = experts[out->backend][index / 3 % 2];
    out->threads = 1 + (unsigned)(draw(random) % 64);
    out->device = "";
    if (out->backend == TAKT_BACKEND_GPU) {
        out->threads = 0;
        out->device = devices[index / 3 % COUNT(devices)];
    }
    out->reason = (takt_reason)(index / 2 % TAKT_REASONS);
    out->has_history = out->reason == TAKT_REASON_MODEL || index % 5 == 0;
    out->runner_up = index % 4 == 3 ? "" : experts[(index + 1) % 3][0];
    out->predicted_s = index % 6 == 2 ? -1 : draw_seconds(random);
    out->confidence = index % 7 == 3 ? -1 : ldexp((double)(index % 33), -5);
    out->residency = (takt_residency)(index / 5 % 3);
    out->refused = index % 13 == 4 ? "cuda.0" : "";
    out->refusal = index % 13 == 4 ? TAKT_ENOMEM : TAKT_OK;
    out->status = index % 17 == 9 ? (takt_status)(index / 17 % 12) : TAKT_OK;
}

static void parent_of(uint64_t *random, takt_span_context *out)
{
    for (size_t i = 0; i < sizeof out->trace_id; i++)
        out->trace_id[i] = (unsigned char)draw(random);
    for (size_t i = 0; i < sizeof out->span_id; i++)
        out->span_id[i] = (unsigned char)draw(random);
    out->flags = 1;
}

void feed_event(unsigned index, uint64_t base_ns, takt_event *out)
{
    uint64_t random = index;

    memset(out, 0, sizeof *out);
    out->kind = index % 11 == 10 ? TAKT_EVENT_DRIFT : TAKT_EVENT_CALL;
    out->told = index % 64;
    out->op = ops[index % COUNT(ops)];
    out->dtype = (takt_dtype)(index / 4 % 2);
    shape_of(index, &random, out);
    decision_of(index, &random, out);
    out->start_ns = base_ns + (uint64_t)index * 1000;
    out->run_ns = out->start_ns + draw(&random) % 1000;
    out->end_ns = out->run_ns + draw(&random) % 1000000000;
    out->actual_s = draw_seconds(&random);
    out->thread_id = index % 3 == 0 ? draw(&random) >> 1 : index;
    if (index % 7 == 6)
        parent_of(&random, &out->parent);
    if (out->kind == TAKT_EVENT_DRIFT) {
        out->shape.rank = 0;
        out->start_ns = out->run_ns = out->end_ns;
        out->predicted_s = draw_seconds(&random);
        memset(&out->parent, 0, sizeof out->parent);
    }
}

unsigned feed_spans(const takt_event *event)
{
    return event->kind == TAKT_EVENT_CALL ? 2 : 1;
}

/* Classes hold as many as there are calls; whoever has none has no least. */
static void duration_of(unsigned index, unsigned round,
                        takt_duration_metric *out)
{
    uint64_t random = index + 1;

    out->op = ops[index];
    out->backend = (takt_backend)(index % 3);
    out->expert = experts[out->backend][0];
    for (size_t i = 0; i <= TAKT_DURATION_BOUNDS; i++) {
        out->in_class[i] = i % 3 == 2 ? 0 : (draw(&random) >> 50) * round;
        out->calls += out->in_class[i];
    }
    out->seconds = draw_seconds(&random) * round;
    out->least_s = draw_seconds(&random) / round;
    out->most_s = draw_seconds(&random) * 100 * round;
}

static void op_of(unsigned index, unsigned round, takt_op_metric *out)
{
    uint64_t random = index + 100;

    out->op = ops[index + 2];
    out->calls = draw(&random) / 1000 * round;
    out->is_hot = index == 1;
    out->times_hot = index == 1 || index == 2 ? 3 * round : 0;
    out->calls_per_s = 1e6 * draw_seconds(&random) * round;
}

void feed_metrics(unsigned round, uint64_t base_ns, struct feed_metrics *out)
{
    takt_metrics *metrics = &out->metrics;
    uint64_t random = 7;

    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < FEED_OPS; i++)
        op_of(i, round, &out->op[i]);
    for (unsigned i = 0; i < FEED_DURATIONS; i++)
        duration_of(i, round, &out->duration[i]);
    metrics->start_ns = base_ns;
    metrics->now_ns = base_ns + round * UINT64_C(1000000);
    metrics->op = out->op;
    metrics->op_count = FEED_OPS;
    metrics->duration = out->duration;
    metrics->duration_count = FEED_DURATIONS;
    for (unsigned i = 0; i < TAKT_REASONS; i++)
        metrics->decisions[i] = i == 3 ? 0 : (draw(&random) >> 40) * round;
    metrics->explorations = 11 * round;
    metrics->fallbacks = 12 * round;
    metrics->drift_alarms = 13 * round;
    metrics->exploring_s = 0.125 * round;
    metrics->told = 1000 * round;
    metrics->dropped = 5 * round;
    metrics->samples_dropped = 6 * round;
}
