/* SPDX-License-Identifier: MIT */
/*
 * test_gpu.c - calls on buffers of a GPU are counted, each once, one after
 * another, by the counter at the GPU's address.
 */
#define _GNU_SOURCE /* memfd_create() */
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "call/ctx.h"
#include "energy/energy.h"
#include "support/config.h"
#include "support/tap.h"
#include "takt/takt.h"

enum { n = 4096, calls = 100 };

static takt_ctx *open_context(void)
{
    takt_ctx *ctx = NULL;

    test_config()->cuda = TAKT_FAKE_CUDA;
    test_config()->cublas = "";
    test_config()->cusolver = "";
    test_config()->vulkan = "/nowhere";
    test_config()->nvml = TAKT_FAKE_NVML;
    test_config()->is_energy_asked = true;
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

/* What the log says of uses. */
struct uses {
    unsigned count, overlaps, elsewhere;
    unsigned long long runs, ns;
};

static struct uses read_uses(FILE *log)
{
    struct uses uses = {0};
    unsigned long long start, ns, runs, end = 0;
    unsigned arm, bound, threads;
    char line[160], where[8];

    rewind(log);
    while (fgets(line, sizeof line, log) != NULL) {
        if (sscanf(line, "use %u %u %u %7s %llu %llu %llu", &arm, &bound,
                   &threads, where, &start, &ns, &runs) != 7 ||
            bound == TAKT_BOUND_LINK)
            continue;
        uses.count++;
        uses.runs += runs;
        uses.ns += ns;
        uses.overlaps += start < end;
        uses.elsewhere += strcmp(where, "0") != 0;
        end = start + ns;
    }
    return uses;
}

static void calls_on_buffers_are_counted_one_after_another(void)
{
    takt_ctx *ctx = open_context();
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
    EXPECT_INT(uses.overlaps, 0);
    EXPECT_INT(uses.elsewhere, 0);
    EXPECT(uses.ns > 0);
    fclose(log);
    takt_buffer_destroy(a);
    takt_buffer_destroy(b);
    takt_ctx_destroy(ctx);
}

int main(void)
{
    RUN(calls_on_buffers_are_counted_one_after_another);
    return tap_done();
}
