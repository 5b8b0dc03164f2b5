/* SPDX-License-Identifier: MIT */
/*
 * bench_decide.c - what a decision and a sample cost, in nanoseconds.
 *
 * A context that has learned decides calls of many keys, as a program would
 * ask for them; then two threads do so at once. Keys whose expert has several
 * threads are given apart, too: deciding them reads the tick counter, which is
 * most of what they cost. Recording is what the caller's thread does beside
 * reading the clock.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <takt/takt.h>

#include "base/clock.h"
#include "bench.h"
#include "call/question.h"

enum { keys = 64, turns = 2000, per_turn = 512 };

struct bench {
    takt_ctx *ctx;
    struct takt_question question[keys];
    size_t count;             /* of questions */
    pthread_barrier_t *start; /* NULL: alone */
    double median_ns;
};

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- what is timed ---------------------------------------------------------
 */

static void decide(const struct bench *bench)
{
    struct takt_choice choice;

    for (size_t i = 0, at = 0; i < per_turn; i++) {
        takt__decide(&bench->ctx->decider, &takt__thread, &bench->question[at],
                     (i & 1) != 0, 0, &choice);
        BENCH_USE(choice.expert);
        at = at + 7 < bench->count ? at + 7 : at + 7 - bench->count;
    }
}

static void *take_turns(void *self)
{
    struct bench *bench = self;
    static _Thread_local double ns[turns];

    if (bench->start != NULL)
        pthread_barrier_wait(bench->start);
    for (size_t i = 0; i < turns; i++) {
        const double start = bench_now_ns();
        decide(bench);
        ns[i] = (bench_now_ns() - start) / per_turn;
    }
    qsort(ns, turns, sizeof ns[0], by_value);
    bench->median_ns = ns[turns / 2];
    return NULL;
}

static double record_ns(void)
{
    static struct takt_journal journal;
    static double ns[turns];
    struct takt_sample sample = {.series = 1, .calls = 1, .seconds = 1e-6};

    takt__journal_init(&journal);
    for (size_t i = 0; i < turns; i++) {
        const double start = bench_now_ns();
        for (size_t j = 0; j < per_turn; j++) {
            sample.start_ns = takt__ns_at(sample.start_ns + j);
            takt__journal_push(&journal, &sample);
        }
        ns[i] = (bench_now_ns() - start) / per_turn;
        while (takt__journal_next(&journal, &sample))
            ;
    }
    qsort(ns, turns, sizeof ns[0], by_value);
    return ns[turns / 2];
}

/* ---- what is known ---------------------------------------------------------
 */

/* Vector ops of many sizes and small products, each called a few times. */
static void warm_up(struct bench *bench, float *memory, size_t elements)
{
    for (size_t i = 0; i < keys; i++) {
        const bool is_product = i % 4 == 3;
        const size_t n = (size_t)64 << i % 14;
        const size_t side = (size_t)8 << i % 6;
        takt_call call = {
            .op = takt_op_find(is_product ? "matmul"
                               : i % 2    ? "sum"
                                          : "add"),
            .shape = {.rank = 1, .dim = {n < elements ? n : elements}},
            .in = {memory, memory + elements},
            .out = memory + 2 * elements,
            .alpha = 1,
        };
        if (is_product)
            call.shape = (takt_shape){.rank = 3, .dim = {side, side, side}};
        for (int j = 0; j < 40; j++)
            takt_run(bench->ctx, &call, NULL);
        const takt_request request = {.op = call.op, .shape = call.shape};
        takt__request_question(&request, &bench->question[i]);
    }
    takt_ctx_flush(bench->ctx);
}

/* The same on those keys alone whose expert has several threads, or one. */
static void print_some(const struct bench *all, bool is_threaded)
{
    struct bench some = {.ctx = all->ctx};
    struct takt_choice choice;

    for (size_t i = 0; i < all->count; i++) {
        takt__decide(&all->ctx->decider, &takt__thread, &all->question[i], true,
                     0, &choice);
        if (choice.is_threaded == is_threaded)
            some.question[some.count++] = all->question[i];
    }
    if (some.count < 7)
        return;
    take_turns(&some);
    printf("  %2zu of %d keys: %-15s         %6.1f ns\n", some.count, keys,
           is_threaded ? "several threads" : "one thread", some.median_ns);
}

static double ticks_ns(void)
{
    static double ns[turns];

    for (size_t i = 0; i < turns; i++) {
        const double start = bench_now_ns();
        for (size_t j = 0; j < per_turn; j++)
            BENCH_USE(takt__ticks());
        ns[i] = (bench_now_ns() - start) / per_turn;
    }
    qsort(ns, turns, sizeof ns[0], by_value);
    return ns[turns / 2];
}

int main(int argc, char **argv)
{
    bench_refuse_options(argc, argv, "");
    enum { elements = 1 << 20 };
    struct bench one, two[2];
    pthread_barrier_t start;
    pthread_t thread;

    bench_print_load();
    if (takt_ctx_create(&(takt_ctx_options){.store = ""}, &one.ctx) != TAKT_OK)
        return 2;
    one.start = NULL;
    one.count = keys;
    warm_up(&one, bench_floats(3 * elements), elements);
    take_turns(&one);
    printf("a decision on a warm key, median        %6.1f ns\n", one.median_ns);
    print_some(&one, false);
    print_some(&one, true);
    printf("  reading the tick counter              %6.1f ns\n", ticks_ns());
    pthread_barrier_init(&start, NULL, 2);
    for (int i = 0; i < 2; i++) {
        two[i] = one;
        two[i].start = &start;
    }
    pthread_create(&thread, NULL, take_turns, &two[1]);
    take_turns(&two[0]);
    pthread_join(thread, NULL);
    const double slower = two[0].median_ns > two[1].median_ns
                              ? two[0].median_ns
                              : two[1].median_ns;
    printf("two threads at once                     %6.1f ns  %.2fx\n", slower,
           slower / one.median_ns);
    printf("recording a sample, clock not included  %6.1f ns\n", record_ns());
    takt_ctx_destroy(one.ctx);
    return 0;
}
