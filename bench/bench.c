/* SPDX-License-Identifier: MIT */
/* bench.c - turns, memory and means: see bench.h. */
#include "bench.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { rounds = 6 };

static const double sample_ns = 20e3;   /* a thousand times the clock */
static const double warm_up_ns = 400e3; /* until wide units run at full speed */

static double time_way(struct bench_way *way)
{
    const double start = bench_now_ns();

    way->run(way->self, way->calls);
    return (bench_now_ns() - start) / (double)way->calls;
}

static void rest(const struct bench_way *way)
{
    const long ns = (long)way->rest_ns;

    if (ns > 0)
        nanosleep(&(struct timespec){ns / 1000000000, ns % 1000000000}, NULL);
}

static void enter(struct bench_way *way)
{
    way->calls = 1;
    if (way->prepare != NULL)
        way->prepare(way->self);
    time_way(way); /* pages, code, threads, compiled kernels */
    double ns = time_way(way);
    while (ns * (double)way->calls < sample_ns) {
        way->calls *= 2;
        ns = time_way(way);
    }
    way->best_ns = ns;
    rest(way);
}

static void take_turn(struct bench_way *way, double turn_ns)
{
    if (way->prepare != NULL)
        way->prepare(way->self);
    const double start = bench_now_ns();
    do
        time_way(way);
    while (bench_now_ns() - start < warm_up_ns);
    const double warm = bench_now_ns();
    do {
        const double ns = time_way(way);
        way->best_ns = ns < way->best_ns ? ns : way->best_ns;
    } while (bench_now_ns() - warm < turn_ns);
    rest(way);
}

void bench_again(struct bench_way *ways, size_t count, double budget_ns)
{
    for (size_t round = 0; round < rounds; round++)
        for (size_t i = 0; i < count; i++) {
            struct bench_way *way = &ways[(i + round) % count];
            if (way->best_ns * (double)(2 * round) < budget_ns)
                take_turn(way, budget_ns / rounds);
        }
}

void bench_contest(struct bench_way *ways, size_t count, double budget_ns)
{
    for (size_t i = 0; i < count; i++)
        enter(&ways[i]);
    bench_again(ways, count, budget_ns);
}

takt_ctx *bench_open_expert(const takt_machine *machine, unsigned threads)
{
    char expert[TAKT_EXPERT_NAME_MAX];
    const takt_ctx_options options = {.policy = TAKT_POLICY_FIXED,
                                      .expert = expert,
                                      .threads = threads,
                                      .blas = ""};
    takt_ctx *ctx;

    snprintf(expert, sizeof expert, "simd.%s%s",
             takt_isa_name(takt_machine_best_isa(machine)),
             threads > 1 ? "x2" : "");
    return takt_ctx_create(&options, &ctx) == TAKT_OK ? ctx : NULL;
}

static double value(size_t i)
{
    const uint32_t mixed = ((uint32_t)i + 1) * 2654435761u;
    const double size = 0.5 + (double)(mixed >> 8) * 0x1p-24;
    return i % 2 == 0 ? size : -size;
}

static void *room(size_t bytes)
{
    void *memory = aligned_alloc(64, (bytes + 127) / 64 * 64);

    if (memory == NULL) {
        fputs("bench: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

void *bench_floats(size_t count)
{
    float *out = room(count * sizeof *out);

    for (size_t i = 0; i < count; i++)
        out[i] = (float)value(i);
    return out;
}

void *bench_doubles(size_t count)
{
    double *out = room(count * sizeof *out);

    for (size_t i = 0; i < count; i++)
        out[i] = value(i);
    return out;
}

void bench_mean_add(struct bench_mean *mean, double ratio)
{
    mean->log_sum += log(ratio);
    mean->count++;
}

double bench_mean_of(const struct bench_mean *mean)
{
    return mean->count == 0 ? 0 : exp(mean->log_sum / (double)mean->count);
}

void bench_print_load(void)
{
    FILE *file = fopen("/proc/loadavg", "r");
    double load = 0;

    if (file == NULL)
        return;
    if (fscanf(file, "%lf", &load) == 1)
        printf("(load average of the last minute: %.1f)\n", load);
    fclose(file);
}

const char *bench_size(size_t n, char out[24])
{
    if (n >= 1u << 20 && n % (1u << 20) == 0)
        snprintf(out, 24, "%zuM", n >> 20);
    else if (n >= 1u << 10 && n % (1u << 10) == 0)
        snprintf(out, 24, "%zuK", n >> 10);
    else
        snprintf(out, 24, "%zu", n);
    return out;
}
