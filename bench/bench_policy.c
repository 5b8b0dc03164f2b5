/* SPDX-License-Identifier: MIT */
/*
 * bench_policy.c - what a pure policy call costs, in nanoseconds.
 *
 * Through the shared library, as a user's program calls it. An empty loop is
 * timed in the same rounds and not subtracted: it is the floor.
 */
#include <stdint.h>
#include <stdio.h>

#include <takt/takt.h>

#include "bench.h"

enum { calls = 100000, rounds = 200 };

static takt_cost_model model;

static uint64_t time_empty(size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < calls; i++) {
        size_t size = n + i;
        BENCH_HIDE(size);
        sum += size;
    }
    return sum;
}

static uint64_t time_moe(size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < calls; i++)
        sum += takt_moe_select((takt_complexity)(i % 3), n + i);
    return sum;
}

static uint64_t time_cost(size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < calls; i++)
        sum += takt_cost_select(&model, (takt_work){(double)n, (double)i});
    return sum;
}

static uint64_t time_cost_matmul(size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < calls; i++)
        sum += takt_cost_select_matmul(&model, n, i, n);
    return sum;
}

static uint64_t time_cost_vector(size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < calls; i++)
        sum += takt_cost_select_vector(&model, n + i, 2);
    return sum;
}

static uint64_t time_elementwise(size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < calls; i++)
        sum += takt_cost_select_elementwise(n + i);
    return sum;
}

static uint64_t time_heuristic(size_t n)
{
    static const char *const names[] = {"matrix_multiply", "sum", "vector_add",
                                        "custom_operation"};
    uint64_t sum = 0;
    for (size_t i = 0; i < calls; i++)
        sum += takt_heuristic_select(names[i % 4], n + i);
    return sum;
}

static struct {
    const char *name;
    uint64_t (*run)(size_t n);
    double best_ns;
} rows[] = {
    {"(empty loop)", time_empty, 1e30},
    {"moe", time_moe, 1e30},
    {"cost", time_cost, 1e30},
    {"cost, matmul", time_cost_matmul, 1e30},
    {"cost, vector", time_cost_vector, 1e30},
    {"cost, element-wise", time_elementwise, 1e30},
    {"heuristic, by name", time_heuristic, 1e30},
};

enum { row_count = sizeof rows / sizeof rows[0] };

int main(int argc, char **argv)
{
    bench_refuse_options(argc, argv, "");
    model = takt_cost_model_default();
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < row_count; i++) {
            const double start = bench_now_ns();
            const uint64_t sum = rows[i].run((size_t)round * 1000);
            const double ns = (bench_now_ns() - start) / calls;
            BENCH_USE(sum);
            if (ns < rows[i].best_ns)
                rows[i].best_ns = ns;
        }
    printf("pure policy calls, ns each (best of %d rounds of %d)\n", rounds,
           calls);
    for (size_t i = 0; i < row_count; i++)
        printf("  %-20s %6.2f\n", rows[i].name, rows[i].best_ns);
    return 0;
}
