/* SPDX-License-Identifier: MIT */
/*
 * test_gpu.c - calls on buffers of a GPU are counted, each once, by the counter
 * at the GPU's address, and one after another, as the GPU runs them.
 */
#define _GNU_SOURCE /* memfd_create() */
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "call/ctx.h"
#include "energy/energy.h"
#include "learn/inside.h"
#include "support/config.h"
#include "support/tap.h"
#include "takt/takt.h"

enum { n = 4096, calls = 100 };

static takt_ctx *open_context(bool is_measured)
{
    takt_ctx *ctx = NULL;

    test_config()->cuda = TAKT_FAKE_CUDA;
    test_config()->cublas = "";
    test_config()->cusolver = "";
    test_config()->vulkan = "/nowhere";
    test_config()->nvml = TAKT_FAKE_NVML;
    test_config()->is_energy_asked = is_measured;
    REQUIRE(takt_ctx_create(&(takt_ctx_options){.policy = TAKT_POLICY_FIXED,
                                                .expert = "cuda.0",
                                                .blas = "",
                                                .store = "",
                                                .gpu = "all",
                                                .telemetry = ""},
                            &ctx) == TAKT_OK);
    return ctx;
}

static takt_buffer *buffer_in(takt_ctx *ctx)
{
    takt_buffer *buffer = NULL;

    REQUIRE(takt_buffer_create(ctx, n * sizeof(float), NULL, &buffer) ==
            TAKT_OK);
    return buffer;
}

static void set_log(takt_ctx *ctx, FILE *log)
{
    takt__learner_enter(ctx->learner);
    takt__energy_set_log(takt__learner_energy(ctx->learner), log);
    takt__learner_leave(ctx->learner);
}

static bool has_begun(takt_ctx *ctx)
{
    takt__learner_enter(ctx->learner);
    const bool begun = takt__learner_energy(ctx->learner) != NULL;
    takt__learner_leave(ctx->learner);
    return begun;
}

/* What the log says of uses, but of links. */
struct uses {
    unsigned count, elsewhere;
    unsigned long long start_ns[calls], ns[calls];
};

static struct uses read_uses(FILE *log)
{
    struct uses uses = {0};
    unsigned long long start, ns, runs;
    unsigned arm, bound, threads;
    char line[160], where[8];

    rewind(log);
    while (fgets(line, sizeof line, log) != NULL) {
        if (sscanf(line, "use %u %u %u %7s %llu %llu %llu", &arm, &bound,
                   &threads, where, &start, &ns, &runs) != 7 ||
            bound == TAKT_BOUND_LINK || uses.count == calls)
            continue;
        EXPECT_INT(runs, 1);
        uses.start_ns[uses.count] = start;
        uses.ns[uses.count++] = ns;
        uses.elsewhere += strcmp(where, "0") != 0;
    }
    return uses;
}

static void calls_on_buffers_are_counted_each_once(void)
{
    takt_ctx *ctx = open_context(true);
    takt_buffer *a = buffer_in(ctx), *b = buffer_in(ctx);
    const takt_call call = {.op = takt_op_find("exp"),
                            .dtype = TAKT_F32,
                            .shape = {.rank = 1, .dim = {n}},
                            .in = {takt_buffer_address(a)},
                            .out = takt_buffer_address(b)};
    FILE *log = fdopen(memfd_create("log", MFD_CLOEXEC), "w+");

    REQUIRE(log != NULL);
    while (!has_begun(ctx)) {
        EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
        EXPECT_INT(takt_sync(ctx), TAKT_OK);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    set_log(ctx, log);
    for (int i = 0; i < calls; i++) /* no more than there are timings */
        EXPECT_INT(i % 50 == 49 ? takt_sync(ctx) : takt_run(ctx, &call, NULL),
                   TAKT_OK);
    EXPECT_INT(takt_sync(ctx), TAKT_OK);
    set_log(ctx, NULL);
    const struct uses uses = read_uses(log);
    EXPECT_INT(uses.count, calls - 2);
    EXPECT_INT(uses.elsewhere, 0);
    fclose(log);
    takt_buffer_destroy(a);
    takt_buffer_destroy(b);
    takt_ctx_destroy(ctx);
}

/* A sample of 20 ms of a call that was begun at that time. */
static void note(takt_ctx *ctx, uint64_t start_ms, unsigned stands_for,
                 uint64_t now_ms)
{
    const struct takt_sample sample = {
        .series = 0,
        .situation = TAKT_RESIDENT,
        .arm = (uint8_t)takt__experts_find(&ctx->experts, "cuda.0"),
        .calls = (uint16_t)stands_for,
        .bytes = 1e6F,
        .flops = 1e6F,
        .start_ns = start_ms * 1000000,
        .seconds = 0.02};

    takt__learner_note_use(ctx->learner, &sample, now_ms * 1000000);
}

/* They are begun together, and told of together when all are over. */
static void a_gpu_runs_them_one_after_another(void)
{
    takt_ctx *ctx = open_context(false);
    FILE *log = fdopen(memfd_create("log", MFD_CLOEXEC), "w+");
    const struct takt_energy_counter counter = {
        .source = "nvml", .name = "x", .address = "0000:00:00.0"};

    REQUIRE(log != NULL);
    takt_ctx_open_gpus(ctx);
    takt__learner_enter(ctx->learner);
    ctx->learner->energy.energy = takt__energy_create(&counter, 1);
    REQUIRE(ctx->learner->energy.energy != NULL);
    takt__energy_set_log(ctx->learner->energy.energy, log);
    note(ctx, 1000, 1, 1500);
    note(ctx, 1001, 1, 1500);
    note(ctx, 1002, 4, 1500); /* four of them */
    note(ctx, 1400, 1, 1500); /* after a pause */
    note(ctx, 1410, 1, 1430); /* it cannot end later than now */
    takt__energy_set_log(ctx->learner->energy.energy, NULL);
    takt__learner_leave(ctx->learner);
    const struct uses uses = read_uses(log);
    static const struct {
        unsigned start_ms, ms;
    } wanted[] = {{1000, 20}, {1020, 20}, {1040, 80}, {1400, 20}, {1410, 20}};
    EXPECT_INT(uses.count, 5);
    for (unsigned i = 0; i < 5; i++) {
        EXPECT_INT(uses.start_ns[i], wanted[i].start_ms * 1000000ULL);
        EXPECT_INT(uses.ns[i], wanted[i].ms * 1000000ULL);
    }
    fclose(log);
    takt_ctx_destroy(ctx);
}

int main(void)
{
    RUN(a_gpu_runs_them_one_after_another);
    RUN(calls_on_buffers_are_counted_each_once);
    return tap_done();
}
