/* SPDX-License-Identifier: MIT */
/*
 * test_memory.c - buffers on a device that is too small for them, in memory
 * that is pinned when it has moved often, by the thousand, and of several
 * threads.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include "cuda/device_parts.h"
#include "gpu/buffers.h"

enum {
    million = is_sanitized ? 1 << 18 : 1 << 20,
    free_bytes = 24 * million, /* beside what its driver takes for itself */
    device_bytes = free_bytes + TAKT_CUDA_SCRATCH_BYTES
};

static takt_ctx *ctx;
static uint64_t held; /* by the device itself */

static void run_vector(const char *op, size_t n, const void *a, const void *b,
                       void *out)
{
    const takt_call call = vector_call(op, n, a, b, out);
    const takt_status status = takt_run(ctx, &call, NULL);

    TAP_CHECK(status == TAKT_OK, "%s: %s", op, takt_status_text(status));
}

static void start(unsigned threads)
{
    ctx = context_of(TAKT_POLICY_FIXED, threads);
    held = fake.bytes_held();
}

static void stop(void)
{
    takt_ctx_destroy(ctx);
    EXPECT_INT(fake.bytes_held(), 0);
}

/* ---- too little memory ---------------------------------------------------
 */

enum { many = 12 }; /* of 4 MiB each: twice what there is */

static void make_many(takt_buffer *buffer[many])
{
    for (int i = 0; i < many; i++)
        buffer[i] = buffer_of(ctx, million, (float)i);
}

static void destroy_many(takt_buffer *buffer[many])
{
    for (int i = 0; i < many; i++)
        takt_buffer_destroy(buffer[i]);
}

static bool is_on_device(const takt_buffer *buffer)
{
    char text[64];

    takt_buffer_residency(buffer, text, sizeof text);
    return strstr(text, "cuda.0") != NULL;
}

/* Every one of them has its only copy on the device for a while. */
static void what_does_not_fit_comes_home_first(void)
{
    takt_buffer *buffer[many];

    start(2);
    make_many(buffer);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < many; i++) {
            run_vector("neg", million, at_of(buffer[i]), NULL,
                       at_of(buffer[i]));
            EXPECT(is_on_device(buffer[i]));
        }
    for (int i = 0; i < many; i++)
        EXPECT(buffer_is(buffer[i], (float)-i));
    destroy_many(buffer);
    stop();
}

static void the_least_recently_used_copy_goes_first(void)
{
    takt_buffer *buffer[many];

    start(1);
    make_many(buffer);
    for (int i = 0; i < many; i++) {
        run_vector("neg", million, at_of(buffer[0]), NULL, at_of(buffer[0]));
        run_vector("neg", million, at_of(buffer[i]), NULL, at_of(buffer[i]));
    }
    EXPECT(is_on_device(buffer[0]) && is_on_device(buffer[many - 1]));
    EXPECT(!is_on_device(buffer[1]));
    for (int i = 1; i < many; i++)
        EXPECT(buffer_is(buffer[i], (float)-i));
    destroy_many(buffer);
    stop();
}

/* A call's own operands make room for each other only if there is nobody
 * else. */
static void operands_that_fit_just_so_are_all_there(void)
{
    takt_buffer *buffer[many];

    start(1);
    make_many(buffer);
    for (int i = 0; i + 2 < many; i++) {
        run_vector("add", million, at_of(buffer[i]), at_of(buffer[i + 1]),
                   at_of(buffer[i + 2]));
        EXPECT(is_on_device(buffer[i]) && is_on_device(buffer[i + 1]) &&
               is_on_device(buffer[i + 2]));
    }
    float before = 0, now = 1;
    for (int i = 2; i < many; i++) { /* Fibonacci's */
        const float next = before + now;
        EXPECT(buffer_is(buffer[i], next));
        before = now;
        now = next;
    }
    destroy_many(buffer);
    stop();
}

static void plain_calls_have_buffers_make_room(void)
{
    takt_buffer *buffer[many];
    float *plain = malloc(2 * million * sizeof *plain);

    REQUIRE(plain != NULL);
    start(2);
    make_many(buffer);
    for (int i = 0; i < many; i++) {
        run_vector("neg", million, at_of(buffer[i]), NULL, at_of(buffer[i]));
        for (size_t k = 0; k < 2 * million; k++)
            plain[k] = (float)i;
        run_vector("scale", 2 * million, plain, NULL, plain);
        EXPECT(plain[0] == (float)(2 * i) &&
               plain[2 * million - 1] == (float)(2 * i));
    }
    for (int i = 0; i < many; i++)
        EXPECT(buffer_is(buffer[i], (float)-i));
    destroy_many(buffer);
    free(plain);
    stop();
}

/* Nobody can make that much room: it is computed on the host. */
static void what_never_fits_is_computed_elsewhere(void)
{
    enum { huge = 7 * million };

    start(2);
    takt_buffer *a = buffer_of(ctx, huge, 1), *b = buffer_of(ctx, million, 1);
    run_vector("neg", million, at_of(b), NULL, at_of(b));
    for (int i = 0; i < 2; i++)
        run_vector("neg", huge, at_of(a), NULL, at_of(a));
    EXPECT(buffer_is(a, 1) && buffer_is(b, -1));
    run_vector("neg", million, at_of(b), NULL, at_of(b));
    EXPECT(buffer_is(b, 1));
    takt_buffer_destroy(a);
    takt_buffer_destroy(b);
    stop();
}

/* ---- pinning -------------------------------------------------------------
 */

static void what_moves_often_is_pinned_while_it_lives(void)
{
    const unsigned long pinned = fake.count("cuMemHostRegister");
    const unsigned long unpinned = fake.count("cuMemHostUnregister");

    start(2);
    takt_buffer *a = buffer_of(ctx, million, 1), *b = buffer_of(ctx, 100, 1);
    for (int i = 0; i < 12; i++) {
        void *at;
        run_vector("scale", million, at_of(a), NULL, at_of(a));
        run_vector("scale", 100, at_of(b), NULL, at_of(b));
        EXPECT(buffer_is(a, (float)(2 << i)) && buffer_is(b, (float)(2 << i)));
        EXPECT_INT(takt_buffer_map(a, TAKT_MAP_WRITE, &at), TAKT_OK);
        EXPECT_INT(takt_buffer_unmap(a), TAKT_OK);
        EXPECT_INT(takt_buffer_map(b, TAKT_MAP_WRITE, &at), TAKT_OK);
        EXPECT_INT(takt_buffer_unmap(b), TAKT_OK);
    }
    EXPECT_INT(fake.count("cuMemHostRegister") - pinned, 1);
    EXPECT_INT(fake.count("cuMemHostUnregister") - unpinned, 0);
    takt_buffer_destroy(a);
    takt_buffer_destroy(b);
    EXPECT_INT(fake.count("cuMemHostUnregister") - unpinned, 1);
    stop();
}

static void what_cannot_be_pinned_moves_all_the_same(void)
{
    start(1);
    REQUIRE(fake.set_fault("cuMemHostRegister:1:2,cuMemHostRegister:2:801,"
                           "cuMemHostRegister:3:1"));
    takt_buffer *a = buffer_of(ctx, million, 1);
    for (int i = 0; i < 8; i++) {
        void *at;
        run_vector("scale", million, at_of(a), NULL, at_of(a));
        EXPECT(buffer_is(a, (float)(2 << i)));
        EXPECT_INT(takt_buffer_map(a, TAKT_MAP_WRITE, &at), TAKT_OK);
        EXPECT_INT(takt_buffer_unmap(a), TAKT_OK);
    }
    REQUIRE(fake.set_fault(NULL));
    takt_buffer_destroy(a);
    stop();
}

/* ---- many ----------------------------------------------------------------
 */

static void a_thousand_buffers_leave_nothing(void)
{
    start(1);
    for (int i = 0; i < (is_sanitized ? 200 : 1000); i++) {
        takt_buffer *a = buffer_of(ctx, 20000, 1), *b = buffer_of(ctx, 100, 2);
        run_vector("neg", 20000, at_of(a), NULL, at_of(a));
        takt_buffer_destroy(a);
        EXPECT(buffer_is(b, 2)); /* a neighbour's end is not its own */
        takt_buffer_destroy(b);
    }
    EXPECT(fake.bytes_held() - held <=
           device_bytes / 4); /* kept for the next */
    takt_buffer *all = buffer_of(ctx, 5 * million, 1);
    run_vector("neg", 5 * million, at_of(all), NULL, at_of(all));
    EXPECT(is_on_device(all)); /* though it needs what was kept */
    takt_buffer_destroy(all);
    stop();
}

/* There are addresses for a terabyte at most. */
static void addresses_are_used_again(void)
{
    start(1);
    takt_buffer *between = buffer_of(ctx, 100, 5);
    for (int i = 0; i < 300; i++) {
        takt_buffer *a = NULL;
        const takt_status status =
            takt_buffer_create(ctx, (size_t)4 << 30, NULL, &a);
        if (status == TAKT_ENOMEM && i == 0) {
            SKIP("addresses are limited here");
            break;
        }
        EXPECT_INT(status, TAKT_OK);
        if (status != TAKT_OK)
            break;
        at_of(a)[0] = at_of(a)[((size_t)1 << 30) - 1] = 1;
        takt_buffer_destroy(a);
    }
    takt_buffer *nobody = between;
    EXPECT_INT(takt_buffer_create(ctx, SIZE_MAX / 2, NULL, &nobody),
               TAKT_ENOMEM);
    EXPECT(nobody == NULL && buffer_is(between, 5));
    takt_buffer_destroy(between);
    stop();
}

/* ---- threads -------------------------------------------------------------
 */

static takt_buffer *shared;

static void *use_buffers(void *self)
{
    const size_t n = 30000 + 5000 * (size_t) * (int *)self;
    takt_buffer *mine = buffer_of(ctx, n, 1);
    int *failures = self;

    *failures = 0;
    for (int i = 0; i < (is_sanitized ? 10 : 40); i++) {
        const takt_call add =
            vector_call("add", n, at_of(mine), at_of(shared), at_of(mine));
        *failures += takt_run(ctx, &add, NULL) != TAKT_OK;
        if (i % 4 == 3)
            *failures += !buffer_is(mine, (float)(2 * i + 3));
        takt_buffer *passing = buffer_of(ctx, 50, 1);
        takt_buffer_destroy(passing);
    }
    takt_buffer_destroy(mine);
    return NULL;
}

static void threads_share_what_they_read(void)
{
    enum { callers = 4 };
    pthread_t thread[callers];
    int number[callers];

    start(4);
    shared = buffer_of(ctx, 60000, 2);
    for (int i = 0; i < callers; i++) {
        number[i] = i;
        REQUIRE(pthread_create(&thread[i], NULL, use_buffers, &number[i]) == 0);
    }
    for (int i = 0; i < callers; i++) {
        pthread_join(thread[i], NULL);
        EXPECT_INT(number[i], 0);
    }
    EXPECT(buffer_is(shared, 2));
    takt_buffer_destroy(shared);
    stop();
}

int main(void)
{
    char bytes[32];

    guard_watch();
    snprintf(bytes, sizeof bytes, "%d", device_bytes);
    setenv("FAKE_CUDA_MEMORY", bytes, 1);
    subject_choose_fake();
    RUN(what_does_not_fit_comes_home_first);
    RUN(the_least_recently_used_copy_goes_first);
    RUN(operands_that_fit_just_so_are_all_there);
    RUN(plain_calls_have_buffers_make_room);
    RUN(what_never_fits_is_computed_elsewhere);
    RUN(what_moves_often_is_pinned_while_it_lives);
    RUN(what_cannot_be_pinned_moves_all_the_same);
    RUN(a_thousand_buffers_leave_nothing);
    RUN(addresses_are_used_again);
    RUN(threads_share_what_they_read);
    return tap_done();
}
