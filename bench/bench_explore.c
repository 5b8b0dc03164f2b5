/* SPDX-License-Identifier: MIT */
/*
 * bench_explore.c - what trials take on a real clock, and how soon an expert
 * that was slow for a while is used again.
 *
 *     bench_explore [SETTINGS]    100 settings of 100 to 5,000 calls
 *
 * An op of the user's has two to five experts that wait for so long, busily, at
 * one to three sizes; some runs take several times as long, and the machine
 * adds what it adds. The budget is a fiftieth of the time of all calls and
 * four calls of the best expert known. What a trial takes beyond the expert
 * that it was run instead of counts. It is looked at after every call.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <takt/takt.h>

#include "bench.h"
#include "workload.h"

enum { most_experts = 5, most_sizes = 3 };

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
    unsigned experts, sizes, calls;
    uint64_t random;
    unsigned used[most_sizes]; /* the expert of the last call, but for trials */
    takt_ctx *ctx;
    const takt_op *op;
};

struct outcome {
    double total_s, ideal_s, routed_s;
    double explored_s, plain_s; /* of trials: as measured, and as they wait */
    double most_over; /* beyond the budget, in calls of the best known ... */
    double most_plain_over; /* ... and without spikes */
    double over_at_end;
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

/* Everything at random, from 5 us to 0.5 ms a call; at most half a second. */
static struct setting draw(uint64_t seed)
{
    struct setting setting = {.random = seed * 7919 + 1};
    uint64_t *random = &setting.random;

    for (int i = 0; i < 8; i++)
        workload_random(random);
    const double base_s = between(random, 5e-6, 5e-4);
    const double sigma = 0.1 * workload_random(random);
    const double spike_rate = 0.03 * workload_random(random);
    setting.experts = 2 + (unsigned)(4 * workload_random(random));
    setting.sizes = 1 + (unsigned)(3 * workload_random(random));
    setting.calls =
        (unsigned)fmin(between(random, 100, 5000), fmax(100, 0.5 / base_s));
    for (unsigned i = 0; i < setting.experts; i++)
        setting.expert[i] = (struct waiter){
            .seconds = base_s * (i == 0 ? 1 : between(random, 0.5, 10)),
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

/* Counts a call at a size; `expert` ran it. */
static void count_call(struct setting *setting, const takt_decision *decision,
                       unsigned size, unsigned expert, struct outcome *out)
{
    const double best_s = plain_s(&setting->expert[best_of(setting)], size);

    if (decision->reason != TAKT_REASON_EXPLORE)
        setting->used[size] = expert;
    const double routed_s =
        plain_s(&setting->expert[setting->used[size]], size);
    out->total_s += decision->actual_s;
    out->ideal_s += best_s;
    out->routed_s += routed_s;
    if (decision->reason != TAKT_REASON_EXPLORE)
        return;
    out->explored++;
    out->explored_s += fmax(0, decision->actual_s - routed_s);
    out->plain_s += fmax(0, plain_s(&setting->expert[expert], size) - routed_s);
}

static struct outcome measure(struct setting *setting)
{
    struct outcome out = {.most_over = -INFINITY, .most_plain_over = -INFINITY};
    takt_decision decision;

    for (unsigned i = 1; i <= setting->calls; i++) {
        const unsigned size =
            (unsigned)(setting->sizes * workload_random(&setting->random));
        const unsigned expert = call(setting, size, &decision);
        count_call(setting, &decision, size, expert, &out);
        const double call_s = out.routed_s / i;
        const double earned_s = 0.02 * out.total_s + 4 * call_s;
        out.over_at_end = (out.explored_s - earned_s) / call_s;
        out.most_over = fmax(out.most_over, out.over_at_end);
        out.most_plain_over =
            fmax(out.most_plain_over, (out.plain_s - earned_s) / call_s);
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

/* What became of all settings. */
struct tally {
    double *ratio, *share, *over;
    unsigned exceeded, at_end, without_spikes, right;
};

static void run_setting(uint64_t seed, struct tally *tally)
{
    struct setting setting = draw(seed + 1);
    takt_decision decision;

    open_setting(&setting);
    const struct outcome out = measure(&setting);
    const double best_s = setting.expert[best_of(&setting)].seconds;
    const unsigned last = call(&setting, 0, &decision);
    tally->right += setting.expert[last].seconds < 1.05 * best_s;
    tally->ratio[seed] = out.total_s / out.ideal_s;
    tally->share[seed] = out.explored_s / out.total_s;
    tally->over[seed] = out.most_over;
    tally->exceeded += out.most_over > 0;
    tally->at_end += out.over_at_end > 0;
    tally->without_spikes += out.most_plain_over > 0;
    if (out.most_over > 0)
        printf(
            "  setting %3ju: %u experts, %u sizes, %.0f us, %u calls: %.1f "
            "calls beyond the budget (%.1f without spikes), %.1f at the end; "
            "%u trials\n",
            (uintmax_t)seed, setting.experts, setting.sizes, best_s * 1e6,
            setting.calls, out.most_over, fmax(0, out.most_plain_over),
            fmax(0, out.over_at_end), out.explored);
    takt_ctx_destroy(setting.ctx);
}

static void explore_at_random(unsigned settings)
{
    struct tally tally = {.ratio = calloc(settings, sizeof(double)),
                          .share = calloc(settings, sizeof(double)),
                          .over = calloc(settings, sizeof(double))};

    if (tally.ratio == NULL || tally.share == NULL || tally.over == NULL)
        exit(2);
    for (unsigned i = 0; i < settings; i++)
        run_setting(i, &tally);
    printf("%u settings: the budget was exceeded in %u (without spikes in %u), "
           "at the end in %u, at the worst by %.1f calls\n"
           "  the best expert, or one within 5%%, at the end: %u\n",
           settings, tally.exceeded, tally.without_spikes, tally.at_end,
           quantile(tally.over, settings, 1), tally.right);
    printf("  time / best expert: median %.3f, p90 %.3f, worst %.3f\n"
           "  share of trials: median %.4f, p90 %.4f\n",
           quantile(tally.ratio, settings, 0.5),
           quantile(tally.ratio, settings, 0.9),
           quantile(tally.ratio, settings, 1),
           quantile(tally.share, settings, 0.5),
           quantile(tally.share, settings, 0.9));
    free(tally.ratio);
    free(tally.share);
    free(tally.over);
}

/* How many of the first 100 calls went to slower experts. */
static void count_first(double first_s, double second_s, double third_s)
{
    struct setting setting = {.experts = 3, .sizes = 1, .random = 3};
    const double seconds[] = {first_s, second_s, third_s};
    takt_decision decision;
    unsigned slower = 0, trials = 0;

    for (int i = 0; i < 3; i++)
        setting.expert[i] =
            (struct waiter){.seconds = seconds[i], .sigma = 0.03};
    open_setting(&setting);
    for (int i = 0; i < 100; i++) {
        slower += call(&setting, 0, &decision) != best_of(&setting);
        trials += decision.reason == TAKT_REASON_EXPLORE;
    }
    printf("%.0f, %.0f and %.0f us: %u of the first 100 calls on slower "
           "experts, %u trials\n",
           first_s * 1e6, second_s * 1e6, third_s * 1e6, slower, trials);
    takt_ctx_destroy(setting.ctx);
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
    bench_refuse_options(argc, argv, "[SETTINGS]");
    bench_print_load();
    explore_at_random(argc > 1 ? (unsigned)atoi(argv[1]) : 100);
    count_first(100e-6, 150e-6, 220e-6);
    count_first(220e-6, 150e-6, 100e-6);
    find_faster();
    printf("recovery\n");
    recover(100e-6, 10, 500);
    recover(100e-6, 10, 5000);
    recover(20e-6, 10, 500);
    recover(100e-6, 3, 500);
    recover(1e-3, 10, 500);
    return 0;
}
