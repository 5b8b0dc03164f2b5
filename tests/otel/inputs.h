/* SPDX-License-Identifier: MIT */
/* inputs.h - the events, metrics and machine that golden files are made of. */
#pragma once

#include <math.h>

#include "../../otel/encode.h"

static struct takt_otel_trace fixed_trace(void)
{
    return (struct takt_otel_trace){
        .trace_id = {0x4b, 0xf9, 0x2f, 0x35, 0x77, 0xb3, 0x4d, 0xa6, 0xa3, 0xce,
                     0x92, 0x9d, 0x0e, 0x0e, 0x47, 0x36},
        .root_id = {0x00, 0xf0, 0x67, 0xaa, 0x0b, 0xa9, 0x02, 0xb7},
        .has_root = true,
        .flags = 1,
        .start_ns = UINT64_C(1700000000000000000),
        .random = 42,
    };
}

static takt_event cpu_call(void)
{
    return (takt_event){
        .kind = TAKT_EVENT_CALL,
        .told = TAKT_TOLD_SLOW | TAKT_TOLD_ALL,
        .op = "matmul",
        .dtype = TAKT_F32,
        .shape = {3, {512, 256, 128}},
        .elements = 131072,
        .work = {917504, 33554432},
        .backend = TAKT_BACKEND_SIMD,
        .expert = "simd.avx2x2",
        .threads = 2,
        .device = "",
        .reason = TAKT_REASON_MODEL,
        .has_history = 1,
        .runner_up = "blas.openblas",
        .predicted_s = 0.00123,
        .confidence = 0.9375,
        .residency = TAKT_RESIDENCY_HOST,
        .refused = "",
        .start_ns = UINT64_C(1700000001000000000),
        .run_ns = UINT64_C(1700000001000000412),
        .end_ns = UINT64_C(1700000001001230412),
        .actual_s = 0.0012300000001,
        .thread_id = 4711,
    };
}

static takt_event gpu_call(void)
{
    return (takt_event){
        .kind = TAKT_EVENT_CALL,
        .told = TAKT_TOLD_DRAWN | TAKT_TOLD_EXPLORED | TAKT_TOLD_FALLBACK |
                TAKT_TOLD_DRIFT,
        .op = "g\xC3\xA4ussian \"blur\"\n",
        .dtype = TAKT_F64,
        .elements = SIZE_MAX,
        .work = {-1, -1},
        .backend = TAKT_BACKEND_GPU,
        .expert = "vulkan.0",
        .device = "Fictional \xFF GPU",
        .reason = TAKT_REASON_EXPLORE,
        .runner_up = "",
        .predicted_s = -1,
        .confidence = -1,
        .residency = TAKT_RESIDENCY_MIXED,
        .refused = "cuda.0",
        .refusal = TAKT_ENOMEM,
        .status = TAKT_ELOST,
        .start_ns = 1,
        .run_ns = 2,
        .end_ns = UINT64_MAX,
        .actual_s = INFINITY,
        .thread_id = 1,
        .parent = {.trace_id = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14,
                                15, 255},
                   .span_id = {0xa, 0xb, 0xc, 0xd, 0xe, 0xf, 0, 1},
                   .flags = 0x02},
    };
}

static takt_event drift(void)
{
    return (takt_event){
        .kind = TAKT_EVENT_DRIFT,
        .op = "sum",
        .dtype = TAKT_F64,
        .elements = 65536,
        .backend = TAKT_BACKEND_SCALAR,
        .expert = "scalar",
        .device = "",
        .runner_up = "",
        .predicted_s = 0.00005,
        .confidence = -1,
        .refused = "",
        .end_ns = UINT64_C(1700000002000000000),
        .actual_s = 0.0001,
    };
}

static const takt_machine machine = {
    .architecture = "x86_64",
    .cpu_vendor = "GenuineIntel",
    .cpu_name = "Imaginary Processor 9000",
    .cpu_family = 6,
    .cpu_model = 143,
    .cpu_stepping = 8,
    .isas = 1u << TAKT_ISA_SCALAR | 1u << TAKT_ISA_SSE2 | 1u << TAKT_ISA_AVX2,
    .threads = 16,
    .gpu_count = 2,
    .gpu = {{.name = "NVIDIA device 2335", .address = "0000:01:00.0"},
            {.name = "AMD device 744c", .address = "0000:41:00.0"}},
};

/* What differs from machine to machine is said here, and so wins. */
static struct takt_otel_pair said[] = {
    {(char[]){"host.name"}, (char[]){"left out: said again below"}},
    {(char[]){"os.description"}, (char[]){"Linux"}},
    {(char[]){"os.version"}, (char[]){"6.1"}},
    {(char[]){"process.pid"}, (char[]){"4242"}},
    {(char[]){"process.executable.name"}, (char[]){"program"}},
    {(char[]){"service.name"}, (char[]){"another name"}},
    {(char[]){"host.name"}, (char[]){"a.example"}},
    {(char[]){"deployment.environment.name"}, (char[]){"t\xC3\xA9st"}},
    {(char[]){"br\xFFken"}, (char[]){""}},
    {(char[]){"a.key.that.is.longer.than.one.hundred.and.twenty-seven.bytes."
              "so.that.its.length.and.that.of.what.is.around.it.take.two.bytes."
              "each"},
     (char[]){"long"}},
};
static const struct takt_otel_pairs pairs = {said, sizeof said / sizeof *said};
static const struct takt_otel_source source = {
    .service_name = "golden",
    .attributes = &pairs,
    .machine = &machine,
    .instance_id = "627cc493-f310-47de-96bd-71410b7dec09",
};

static const takt_op_metric op_metrics[] = {
    {"sum", 20000, 1, 2, 12500.5},
    {"matmul", 12, 0, 0, 0},
    {"\xED\xA0\x80", UINT64_MAX, 0, 1, NAN},
};
static const takt_duration_metric duration_metrics[] = {
    {.op = "sum",
     .expert = "simd.avx2",
     .backend = TAKT_BACKEND_SIMD,
     .calls = 20000,
     .seconds = 0.1,
     .least_s = 1e-6,
     .most_s = 0.0003,
     .in_class = {[4] = 19990, [12] = 10}},
    {.op = "matmul",
     .expert = "cuda.0",
     .backend = TAKT_BACKEND_GPU,
     .calls = 12,
     .seconds = 150,
     .least_s = 0.125,
     .most_s = 100,
     .in_class = {[20] = 11, [25] = 1}},
};
static const takt_metrics metrics = {
    .start_ns = UINT64_C(1700000000000000000),
    .now_ns = UINT64_C(1700000060000000000),
    .op = op_metrics,
    .op_count = 3,
    .duration = duration_metrics,
    .duration_count = 2,
    .decisions = {[TAKT_REASON_MODEL] = 20000, [TAKT_REASON_EXPLORE] = 12},
    .explorations = 12,
    .fallbacks = 1,
    .exploring_s = 0.0625,
    .told = 17,
    .dropped = 3,
    .samples_dropped = 4,
};
static const struct takt_otel_counts counts = {30, 1, 2, 3};
