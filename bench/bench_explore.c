/* SPDX-License-Identifier: MIT */
/*
 * bench_explore.c - what trials take on a real clock, and how soon an expert
 * that was slow for a while is used again.
 *
 *     bench_explore [SETTINGS [CALLS]]    100 settings of 2,000 calls
 *
 * An op of the user's has two to six experts that wait for so long, busily, at
 * one to three sizes; some runs take several times as long, and the machine
 * adds what it adds. The budget is a fiftieth of the time of all calls and
 * four calls of the best expert. It is looked at after every call.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <takt/takt.h>

#include "bench.h"
#include "workload.h"

enum { most_experts = 6, most_sizes = 3 };

/* One way to wait. */
struct waiter {
    double seconds; /* at the first size; twice as long at the next ... */
    double sigma;   /* of ln(seconds) */
    double spike_rate;
    double slowness; /* a factor, for a while */
    uint64_t random;
};

struct setting {
    struct waiter expert[most_experts];
    unsigned experts, sizes;
    uint64_t random;
    takt_ctx *ctx;
    const takt_op *op;
};

struct outcome {
    double best_s, total_s, ideal_s, explored_s;
    double most_over; /* beyond the budget, in calls of the best */
    double over_calls;
    unsigned explored;
};

static double between(uint64_t *random, double low, double high)
{
    return low * pow(high / low, workload_random(random));
}

static double normal(uint64_t *random)
{
    const double u = 1 - workload_random(random), v = workload_random(random);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

static unsigned size_of(const takt_shape *shape)
{
    return (unsigned)(log2((double)shape->dim[0]) / 2 - 4.5);
}

static double plain_s(const struct waiter *waiter, unsigned size)
{
    return waiter->seconds * (1u << size);
}

static takt_status wait_busily(const takt_call *call, void *self)
{
    struct waiter *waiter = self;
    const double start = bench_now_ns();
    double seconds = plain_s(waiter, size_of(&call->shape)) * waiter->slowness *
                     exp(waiter->sigma * normal(&waiter->random));

    if (workload_random(&waiter->random) < waiter->spike_rate)
        seconds *= between(&waiter->random, 2, 10);
    while (bench_now_ns() < start + seconds * 1e9)
        ;
    return TAKT_OK;
}

static void need(takt_status status)
{
    if (status == TAKT_OK)
        return;
    fprintf(stderr, "%s\n", takt_status_text(status));
    exit(2);
}

static void open_setting(struct setting *setting)
{
    const takt_op_spec op = {.name = "wait"};

    need(takt_ctx_create(&(takt_ctx_options){.store = ""}, &setting->ctx));
    need(takt_ctx_define_op(setting->ctx, &op, &setting->op));
    for (unsigned i = 0; i < setting->experts; i++) {
        char name[16];
        snprintf(name, sizeof name, "e%u", i);
        setting->expert[i].slowness = 1;
        setting->expert[i].random = setting->random + i;
        const takt_expert_spec spec = {.name = name,
                                       .backend = TAKT_BACKEND_SIMD,
                                       .run = wait_busily,
                                       .self = &setting->expert[i]};
        need(takt_ctx_add_expert(setting->ctx, setting->op, &spec));
    }
}

/* Everything at random, from 5 us to 0.5 ms a call. */
static struct setting draw(uint64_t seed)
{
    struct setting setting = {.random = seed * 7919 + 1};
    uint64_t *random = &setting.random;

    for (int i = 0; i < 8; i++)
        workload_random(random);
    const double base_s = between(random, 5e-6, 5e-4);
    const double sigma = 0.1 * workload_random(random);
    const double spike_rate = 0.03 * workload_random(random);
    setting.experts = 2 + (unsigned)(5 * workload_random(random));
    setting.sizes = 1 + (unsigned)(3 * workload_random(random));
    for (unsigned i = 0; i < setting.experts; i++)
        setting.expert[i] =
            (struct waiter){.seconds = base_s * between(random, 1, 4),
                            .sigma = sigma,
                            .spike_rate = spike_rate};
    return setting;
}

static unsigned best_of(const struct setting *setting)
{
    unsigned best = 0;

    for (unsigned i = 1; i < setting->experts; i++)
        if (setting->expert[i].seconds < setting->expert[best].seconds)
            best = i;
    return best;
}

static unsigned call(struct setting *setting, unsigned size,
                     takt_decision *decision)
{
    const takt_call made = {.op = setting->op,
                            .shape = {1, {(size_t)1 << (9 + 2 * size)}}};

    *decision = (takt_decision){.size = sizeof *decision};
    need(takt_run(setting->ctx, &made, decision));
    return (unsigned)atoi(decision->expert + strlen("user.e"));
}

/* The mean call of the best expert is what the budget counts in. */
static void count_call(const struct takt_decision *decision, double best_s,
                       unsigned calls, struct outcome *out)
{
    out->total_s += decision->actual_s;
    out->ideal_s += best_s;
    out->best_s = out->ideal_s / calls;
    if (decision->reason == TAKT_REASON_EXPLORE) {
        out->explored++;
        out->explored_s += fmax(0, decision->actual_s - best_s);
    }
    const double over =
        (out->explored_s - 0.02 * out->total_s) / out->best_s - 4;
    out->over_calls += over > 0;
    out->most_over = fmax(out->most_over, over);
}

static struct outcome measure(struct setting *setting, unsigned calls)
{
    struct outcome out = {.most_over = -INFINITY};
    const struct waiter *best = &setting->expert[best_of(setting)];
    takt_decision decision;

    for (unsigned i = 1; i <= calls; i++) {
        const unsigned size =
            (unsigned)(setting->sizes * workload_random(&setting->random));
        call(setting, size, &decision);
        count_call(&decision, plain_s(best, size), i, &out);
    }
    return out;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(double *values, unsigned count, double share)
{
    qsort(values, count, sizeof *values, by_value);
    return count == 0 ? 0 : values[(unsigned)(share * (count - 1))];
}

static void explore_at_random(unsigned settings, unsigned calls)
{
    double *ratio = calloc(settings, sizeof *ratio);
    double *over = calloc(settings, sizeof *over);
    double *share = calloc(settings, sizeof *share);
    unsigned exceeded = 0, right = 0;

    if (ratio == NULL || over == NULL || share == NULL)
        exit(2);
    for (unsigned i = 0; i < settings; i++) {
        struct setting setting = draw(i + 1);
        takt_decision decision;
        open_setting(&setting);
        const struct outcome out = measure(&setting, calls);
        const unsigned best = best_of(&setting);
        const unsigned last = call(&setting, 0, &decision);
        right +=
            setting.expert[last].seconds < 1.05 * setting.expert[best].seconds;
        ratio[i] = out.total_s / out.ideal_s;
        share[i] = out.explored_s / out.total_s;
        over[i] = out.most_over;
        exceeded += out.most_over > 0;
        if (out.most_over > 0)
            printf("  setting %3u: %u experts, %u sizes, %.0f us: %.1f calls "
                   "beyond the budget, for %.0f calls; %u trials\n",
                   i, setting.experts, setting.sizes,
                   setting.expert[best].seconds * 1e6, out.most_over,
                   out.over_calls, out.explored);
        takt_ctx_destroy(setting.ctx);
    }
    printf("%u settings of %u calls: the budget was exceeded in %u, at the "
           "worst by %.1f calls of the best\n"
           "  the best expert, or one within 5%%, at the end: %u\n",
           settings, calls, exceeded, quantile(over, settings, 1), right);
    printf("  time / best expert: median %.3f, p90 %.3f, worst %.3f\n"
           "  share of trials beyond the best: median %.4f, p90 %.4f\n",
           quantile(ratio, settings, 0.5), quantile(ratio, settings, 0.9),
           quantile(ratio, settings, 1), quantile(share, settings, 0.5),
           quantile(share, settings, 0.9));
    free(ratio);
    free(over);
    free(share);
}

/* ---- recovery ------------------------------------------------------------ */

static void open_two(struct setting *setting, double first_s, double second_s,
                     uint64_t seed)
{
    *setting = (struct setting){.experts = 2, .sizes = 1, .random = seed};
    setting->expert[0] = (struct waiter){.seconds = first_s, .sigma = 0.03};
    setting->expert[1] = (struct waiter){.seconds = second_s, .sigma = 0.03};
    open_setting(setting);
}

static void call_often(struct setting *setting, unsigned calls)
{
    takt_decision decision;

    for (unsigned i = 0; i < calls; i++)
        call(setting, 0, &decision);
}

/* The best is slower for some calls. After how many is it used again? */
static void recover(double best_s, double slowness, unsigned slow_calls)
{
    struct setting setting;
    takt_decision decision;
    unsigned calls = 0, in_a_row = 0;

    open_two(&setting, best_s, 1.5 * best_s, 5);
    call_often(&setting, 2000);
    setting.expert[0].slowness = slowness;
    call_often(&setting, slow_calls);
    setting.expert[0].slowness = 1;
    const double start = bench_now_ns();
    while (in_a_row < 10 && calls < 50000 && bench_now_ns() - start < 5e9) {
        in_a_row = call(&setting, 0, &decision) == 0 ? in_a_row + 1 : 0;
        calls++;
    }
    printf("  %4.0f us, %2.0f times slower for %5u calls: used again after "
           "%5u calls, %.3f s%s\n",
           best_s * 1e6, slowness, slow_calls, calls,
           (bench_now_ns() - start) * 1e-9, in_a_row < 10 ? " (given up)" : "");
    takt_ctx_destroy(setting.ctx);
}

/* An expert that is 20% faster than the first one. */
static void find_faster(void)
{
    unsigned found = 0, kept = 0;

    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct setting setting;
        open_two(&setting, 100e-6, 80e-6, seed);
        setting.expert[0].spike_rate = setting.expert[1].spike_rate = 0.05;
        setting.expert[0].sigma = setting.expert[1].sigma = 0.1;
        takt_decision decision;
        unsigned used = 0;
        for (unsigned i = 0; i < 2000; i++) {
            const unsigned expert = call(&setting, 0, &decision);
            used += expert == 1 && decision.reason != TAKT_REASON_EXPLORE;
        }
        found += used > 0;
        kept += call(&setting, 0, &decision) == 1;
        takt_ctx_destroy(setting.ctx);
    }
    printf("an expert 20%% faster than the first, 5%% spikes: used in %u of 10 "
           "runs of 2,000 calls, at the end in %u\n",
           found, kept);
}

int main(int argc, char **argv)
{
    const unsigned settings = argc > 1 ? (unsigned)atoi(argv[1]) : 100;
    const unsigned calls = argc > 2 ? (unsigned)atoi(argv[2]) : 2000;

    bench_print_load();
    explore_at_random(settings, calls);
    if (argc > 3)
        return 0;
    find_faster();
    printf("recovery\n");
    recover(100e-6, 10, 500);
    recover(100e-6, 10, 5000);
    recover(20e-6, 10, 500);
    recover(100e-6, 3, 500);
    recover(1e-3, 10, 500);
    return 0;
}
