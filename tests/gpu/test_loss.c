/* SPDX-License-Identifier: MIT */
/*
 * test_loss.c - buffers on a device that fails: what was there alone is lost
 * and says so until it is written anew, everything else goes on, and nothing
 * is ever wrong or done twice.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include <malloc.h>

#include "gpu/buffers.h"

enum { some = 40000 };

static takt_ctx *ctx;

static takt_status run_vector(const char *op, size_t n, const void *a,
                              const void *b, void *out)
{
    const takt_call call = vector_call(op, n, a, b, out);
    return takt_run(ctx, &call, NULL);
}

static takt_status map_status(takt_buffer *buffer, unsigned access)
{
    void *at;
    const takt_status status = takt_buffer_map(buffer, access, &at);

    if (status == TAKT_OK)
        takt_buffer_unmap(buffer);
    return status;
}

static takt_gpu_state state_now(void)
{
    takt_gpu_device now = {.size = sizeof now};

    REQUIRE(takt_ctx_gpu(ctx, 0, &now) == TAKT_OK);
    return now.state;
}

static void lose_device(void)
{
    REQUIRE(fake.set_fault("cuLaunchKernel:1:700:sticky"));
    float x[4] = {0};
    EXPECT_INT(run_vector("neg", 4, x, NULL, x), TAKT_OK);
    EXPECT_INT(state_now(), TAKT_GPU_LOST);
    REQUIRE(fake.set_fault(NULL));
}

/* ---- lost and written anew -----------------------------------------------
 */

static void what_was_only_there_is_lost(void)
{
    float sum = 7;

    ctx = context_of(TAKT_POLICY_FIXED, 2);
    takt_buffer *lost = buffer_of(ctx, some, 1),
                *both = buffer_of(ctx, some, 2);
    takt_buffer *home = buffer_of(ctx, some, 3);
    EXPECT_INT(run_vector("add", some, at_of(lost), at_of(both), at_of(lost)),
               TAKT_OK);
    EXPECT(is_at(lost, "cuda.0") && is_at(both, "host cuda.0"));
    lose_device();
    EXPECT(is_at(lost, "") && is_at(both, "host") && is_at(home, "host"));
    EXPECT_INT(map_status(lost, TAKT_MAP_READ), TAKT_ELOST);
    EXPECT_INT(map_status(lost, TAKT_MAP_WRITE), TAKT_ELOST);
    EXPECT_INT(run_vector("sum", some, at_of(lost), NULL, &sum), TAKT_ELOST);
    EXPECT_INT(run_vector("neg", 10, at_of(home), NULL, at_of(lost)),
               TAKT_ELOST); /* the rest of it is not there */
    EXPECT_INT(run_vector("add", some, at_of(home), at_of(lost), at_of(home)),
               TAKT_ELOST);
    EXPECT(sum == 7 && buffer_is(home, 3) && buffer_is(both, 2));
    EXPECT_INT(run_vector("add", some, at_of(both), at_of(home), at_of(lost)),
               TAKT_OK); /* written anew */
    EXPECT(buffer_is(lost, 5));
    buffers_destroy((takt_buffer *[]){lost, both, home, NULL, NULL});
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

static void what_is_discarded_is_not_missed(void)
{
    void *at;

    ctx = context_of(TAKT_POLICY_FIXED, 2);
    takt_buffer *buffer = buffer_of(ctx, some, 1);
    EXPECT_INT(run_vector("neg", some, at_of(buffer), NULL, at_of(buffer)),
               TAKT_OK);
    lose_device();
    EXPECT_INT(map_status(buffer, TAKT_MAP_READ), TAKT_ELOST);
    EXPECT_INT(takt_buffer_map(buffer, TAKT_MAP_WRITE | TAKT_MAP_DISCARD, &at),
               TAKT_OK);
    memset(at, 0, some * sizeof(float));
    EXPECT_INT(takt_buffer_unmap(buffer), TAKT_OK);
    EXPECT(buffer_is(buffer, 0));
    takt_buffer_destroy(buffer);
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

/* A call may have returned before its device was lost: sync says so. */
static void waiting_reports_a_loss(void)
{
    ctx = context_of(TAKT_POLICY_FIXED, 2);
    takt_buffer *buffer = buffer_of(ctx, some, 1);
    EXPECT_INT(takt_sync(ctx), TAKT_OK);
    EXPECT_INT(run_vector("neg", some, at_of(buffer), NULL, at_of(buffer)),
               TAKT_OK);
    REQUIRE(fake.set_fault("cuEventSynchronize:1:700:sticky"));
    EXPECT_INT(takt_sync(ctx), TAKT_ELOST);
    EXPECT_INT(state_now(), TAKT_GPU_LOST);
    EXPECT_INT(takt_sync(ctx), TAKT_OK);
    EXPECT_INT(map_status(buffer, TAKT_MAP_READ), TAKT_ELOST);
    REQUIRE(fake.set_fault(NULL));
    takt_buffer_destroy(buffer);
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

/* What is at the same address on the device later is something else. */
static void what_was_lost_does_not_come_back_with_the_device(void)
{
    float x[4] = {0};

    ctx = context_of(TAKT_POLICY_FIXED, 2);
    takt_buffer *lost = buffer_of(ctx, some, 1),
                *kept = buffer_of(ctx, some, 2);
    EXPECT_INT(run_vector("add", some, at_of(lost), at_of(kept), at_of(lost)),
               TAKT_OK);
    lose_device();
    const takt_call call = vector_call("neg", 4, x, NULL, x);
    for (int i = 0; i < 4000 && state_now() != TAKT_GPU_READY; i++) {
        const struct timespec while_ = {.tv_nsec = 5000000};
        takt_run_on(ctx, &call, expert_of(ctx, "cuda.0"));
        nanosleep(&while_, NULL);
    }
    EXPECT_INT(state_now(), TAKT_GPU_READY);
    EXPECT_INT(map_status(lost, TAKT_MAP_READ), TAKT_ELOST);
    EXPECT(is_at(kept, "host") && is_at(lost, ""));
    EXPECT_INT(run_vector("neg", some, at_of(kept), NULL, at_of(lost)),
               TAKT_OK);
    EXPECT(is_at(kept, "host cuda.0") && is_at(lost, "cuda.0"));
    EXPECT(buffer_is(lost, -2));
    takt_buffer_destroy(lost);
    takt_buffer_destroy(kept);
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

/* ---- every call of the driver --------------------------------------------
 */

enum { steps = 7, big = is_sanitized ? 60000 : 200000 };

/* A program: what is in the buffer c after each of its steps. */
static const float after[steps + 1] = {5, 3, 5, 10, 10, -10, -8, -16};

struct program {
    takt_buffer *a, *c;
    float *plain; /* of `big` elements: too many for a small transfer */
    int done;
};

static takt_status step(struct program *p, int number)
{
    float few[4] = {0, 0, 0, 0};
    float *a = at_of(p->a), *c = at_of(p->c);
    takt_status status = TAKT_OK;

    switch (number) {
    case 0: /* c = a + a */
        return run_vector("add", big, a, a, c);
    case 1: /* c = 2 * plain + c, which is not to be done twice */
        return run_vector("axpy", big, p->plain, c, c);
    case 2:
        return run_vector("scale", big, c, NULL, c);
    case 3: /* plain += 2 * c */
        status = run_vector("axpy", big, c, p->plain, p->plain);
        if (status == TAKT_OK)
            for (size_t i = 0; i < big; i++)
                if (p->plain[i] != 21)
                    return TAKT_EIO;
        return status;
    case 4:
        return run_vector("neg", big, c, NULL, c);
    case 5: /* the first four of them, by a small transfer */
        few[0] = few[1] = few[2] = few[3] = 1;
        status = run_vector("axpy", 4, few, c, c);
        return status;
    default:
        return run_vector("scale", 4, c, NULL, c);
    }
}

/* The last two steps change four elements only. */
static bool is_as_after(struct program *p, int done)
{
    return buffer_has(p->c, 0, 4, after[done]) &&
           buffer_has(p->c, 4, big, after[done < 5 ? done : 5]);
}

static void run_program(const char *spec)
{
    struct program p = {.a = buffer_of(ctx, big, 1.5f),
                        .c = buffer_of(ctx, big, after[0]),
                        .plain = malloc(big * sizeof(float))};
    takt_status status = TAKT_OK;

    REQUIRE(p.plain != NULL);
    for (size_t i = 0; i < big; i++)
        p.plain[i] = 1;
    REQUIRE(fake.set_fault(spec));
    while (p.done < steps && (status = step(&p, p.done)) == TAKT_OK)
        p.done++;
    TAP_CHECK(status == TAKT_OK || status == TAKT_ELOST, "%s: step %d: %s",
              spec, p.done, takt_status_text(status));
    REQUIRE(fake.set_fault(NULL));
    const takt_status mapped = map_status(p.c, TAKT_MAP_READ);
    TAP_CHECK(mapped == TAKT_ELOST ? state_now() != TAKT_GPU_READY
                                   : is_as_after(&p, p.done),
              "%s: not right after %d steps", spec, p.done);
    /* A device that cannot say when it is done is as good as lost. */
    TAP_CHECK(spec == NULL || mapped == TAKT_OK ||
                  strstr(spec, "sticky") != NULL ||
                  strstr(spec, "cuEvent") != NULL,
              "%s: lost", spec);
    TAP_CHECK(buffer_is(p.a, 1.5f), "%s: an input was changed", spec);
    takt_buffer_destroy(p.a);
    takt_buffer_destroy(p.c);
    free(p.plain);
}

static const char *const functions[] = {
    "cuMemAlloc",     "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync",
    "cuLaunchKernel", "cuEventCreate",     "cuEventRecord",
    "cuEventQuery",   "cuStreamWaitEvent", "cuEventSynchronize"};

static unsigned long calls_of(const char *function)
{
    const unsigned long before = fake.count(function);

    run_program(NULL);
    return fake.count(function) - before;
}

static void sweep(const char *function, const char *error)
{
    /* A mark that fails is between what was begun and what was not. */
    const bool is_mark = strcmp(function, "cuEventRecord") == 0;
    const unsigned long most = is_sanitized   ? 2
                               : is_hurried() ? 5
                               : is_mark      ? 1000
                                              : 12;
    const unsigned long calls = calls_of(function);
    const unsigned long points = calls < most ? calls : most;

    for (unsigned long i = 0; i < points; i++) {
        char spec[96];
        snprintf(spec, sizeof spec, "%s:%lu:%s", function,
                 calls == points ? i + 1 : 1 + i * calls / points, error);
        run_program(spec);
        if (state_now() == TAKT_GPU_READY)
            continue;
        takt_ctx_destroy(ctx);
        ctx = context_of(TAKT_POLICY_FIXED, 2);
    }
}

static void sweep_all(const char *error)
{
    ctx = context_of(TAKT_POLICY_FIXED, 2);
    for (size_t f = 0;
         f < sizeof functions / sizeof functions[0] && !is_of_no_use(); f++)
        sweep(functions[f], error);
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

static void refusals_change_nothing(void)
{
    sweep_all("1");
    sweep_all("2");
}

static void losses_are_told_and_never_wrong(void)
{
    sweep_all("700:sticky");
}

/* ---- threads -------------------------------------------------------------
 */

/* Doubles a buffer of its own, and begins anew when it is lost. */
static void *double_often(void *self)
{
    int *failures = self;
    takt_buffer *mine = buffer_of(ctx, some, 1);
    float value = 1;

    for (int i = 0; i < (is_sanitized ? 30 : 100); i++) {
        const takt_status status =
            run_vector("scale", some, at_of(mine), NULL, at_of(mine));
        value = status == TAKT_OK ? 2 * value : value;
        *failures += status != TAKT_OK && status != TAKT_ELOST;
        if (i % 5 != 4)
            continue;
        if (map_status(mine, TAKT_MAP_READ) == TAKT_OK) {
            *failures += !buffer_is(mine, value);
            continue;
        }
        takt_buffer_destroy(mine);
        mine = buffer_of(ctx, some, 1);
        value = 1;
    }
    takt_buffer_destroy(mine);
    return NULL;
}

static void threads_lose_their_own_and_go_on(void)
{
    enum { callers = 4 };
    pthread_t thread[callers];
    int failures[callers] = {0};

    ctx = context_of(TAKT_POLICY_FIXED, 2);
    REQUIRE(fake.set_fault("cuLaunchKernel:30:700:sticky,"
                           "cuLaunchKernel:60:719:sticky"));
    for (int i = 0; i < callers; i++)
        REQUIRE(pthread_create(&thread[i], NULL, double_often, &failures[i]) ==
                0);
    for (int i = 0; i < callers; i++) {
        pthread_join(thread[i], NULL);
        EXPECT_INT(failures[i], 0);
    }
    REQUIRE(fake.set_fault(NULL));
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

int main(void)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 28); /* as in test_failure.c */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    guard_watch();
    subject_choose_fake();
    RUN(what_was_only_there_is_lost);
    RUN(what_is_discarded_is_not_missed);
    RUN(waiting_reports_a_loss);
    RUN(what_was_lost_does_not_come_back_with_the_device);
    RUN(refusals_change_nothing);
    RUN(losses_are_told_and_never_wrong);
    RUN(threads_lose_their_own_and_go_on);
    return tap_done();
}
