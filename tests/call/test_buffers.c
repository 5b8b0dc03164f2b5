/* SPDX-License-Identifier: MIT */
/*
 * test_buffers.c - a buffer is where its last writer left it, whoever that was;
 * only what is missing is moved; and what is not allowed changes nothing.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include "cuda/cuda.h"
#include "gpu/buffers.h"

enum { some = 50000 }; /* too many for a small transfer */

static takt_ctx *ctx; /* everything on cuda.0 */
static size_t gpu_expert;

static void run(const takt_call *call)
{
    EXPECT_INT(takt_run(ctx, call, NULL), TAKT_OK);
}

static void run_vector(const char *op, size_t n, const void *a, const void *b,
                       void *out)
{
    const takt_call call = vector_call(op, n, a, b, out);
    run(&call);
}

/* ---- rules ---------------------------------------------------------------
 */

static void buffers_are_made_mapped_and_ended(void)
{
    const float from[] = {1, 2, 3};
    takt_buffer *full = buffer_make(ctx, sizeof from, from);
    takt_buffer *empty = buffer_make(ctx, sizeof from, NULL);
    takt_buffer *nothing = buffer_make(ctx, 0, NULL);
    char word[3];
    void *at;

    EXPECT_INT(takt_buffer_bytes(full), sizeof from);
    EXPECT_INT((uintptr_t)takt_buffer_address(full) % 65536, 0);
    EXPECT(is_at(full, "host") && is_at(empty, ""));
    EXPECT(buffer_holds(full, from));
    EXPECT_INT(takt_buffer_map(empty, TAKT_MAP_READ, &at), TAKT_OK);
    EXPECT(at == takt_buffer_address(empty) && is_at(empty, ""));
    EXPECT_INT(takt_buffer_unmap(empty), TAKT_OK);
    EXPECT_INT(takt_buffer_map(nothing, TAKT_MAP_WRITE, &at), TAKT_OK);
    EXPECT_INT(takt_buffer_unmap(nothing), TAKT_OK);
    takt_buffer_residency(full, word, sizeof word);
    EXPECT_STR(word, "ho");
    takt_buffer_residency(full, word, 0);
    takt_buffer_destroy(full);
    takt_buffer_destroy(empty);
    takt_buffer_destroy(nothing);
    takt_buffer_destroy(NULL);
}

static takt_status map_status(takt_buffer *buffer, unsigned access)
{
    void *at = buffer;
    const takt_status status = takt_buffer_map(buffer, access, &at);

    EXPECT((status == TAKT_OK) == (at != NULL));
    return status;
}

static void maps_that_make_no_sense_are_refused(void)
{
    takt_buffer *buffer = buffer_of(ctx, 10, 1);

    EXPECT_INT(map_status(NULL, TAKT_MAP_READ), TAKT_EINVAL);
    EXPECT_INT(takt_buffer_unmap(NULL), TAKT_EINVAL);
    EXPECT_INT(takt_buffer_unmap(buffer), TAKT_EINVAL);
    EXPECT_INT(map_status(buffer, 0), TAKT_EINVAL);
    EXPECT_INT(map_status(buffer, TAKT_MAP_DISCARD), TAKT_EINVAL);
    EXPECT_INT(map_status(buffer, TAKT_MAP_READ | TAKT_MAP_DISCARD),
               TAKT_EINVAL);
    EXPECT_INT(map_status(buffer, TAKT_MAP_READ | 8), TAKT_EINVAL);
    EXPECT_INT(map_status(buffer, TAKT_MAP_READ), TAKT_OK);
    EXPECT_INT(map_status(buffer, TAKT_MAP_READ), TAKT_OK); /* several read */
    EXPECT_INT(map_status(buffer, TAKT_MAP_WRITE), TAKT_EINVAL);
    EXPECT_INT(takt_buffer_unmap(buffer), TAKT_OK);
    EXPECT_INT(map_status(buffer, TAKT_MAP_WRITE), TAKT_EINVAL);
    EXPECT_INT(takt_buffer_unmap(buffer), TAKT_OK);
    EXPECT_INT(map_status(buffer, TAKT_MAP_READ | TAKT_MAP_WRITE), TAKT_OK);
    EXPECT_INT(map_status(buffer, TAKT_MAP_READ), TAKT_EINVAL);
    EXPECT_INT(map_status(buffer, TAKT_MAP_WRITE), TAKT_EINVAL);
    EXPECT_INT(takt_buffer_unmap(buffer), TAKT_OK);
    EXPECT_INT(takt_buffer_unmap(buffer), TAKT_EINVAL);
    EXPECT(buffer_is(buffer, 1));
    takt_buffer_destroy(buffer);
}

/* Each way to get it wrong, on either expert and by policy. */
static void expect_refusal(const takt_call *call)
{
    EXPECT_INT(takt_run(ctx, call, NULL), TAKT_EINVAL);
    EXPECT_INT(takt_run_on(ctx, call, 0), TAKT_EINVAL);
    EXPECT_INT(takt_run_on(ctx, call, gpu_expert), TAKT_EINVAL);
}

static void calls_on_what_is_not_theirs_are_refused(void)
{
    takt_ctx *other = context_of(TAKT_POLICY_ADAPTIVE, 1);
    takt_buffer *mine = buffer_of(ctx, some, 3);
    takt_buffer *foreign = buffer_of(other, some, 4);
    takt_buffer *gone = buffer_of(ctx, some, 5);
    float *const gone_at = at_of(gone), *const at = at_of(mine);
    takt_call call = vector_call("add", some, at_of(foreign), at, at);

    takt_buffer_destroy(gone);
    expect_refusal(&call);
    call = vector_call("neg", some, at, NULL, at_of(foreign));
    expect_refusal(&call);
    call = vector_call("neg", some, gone_at, NULL, at);
    expect_refusal(&call);
    call = vector_call("neg", some, at, NULL, gone_at);
    expect_refusal(&call);
    call = vector_call("neg", some, at + 1, NULL, at); /* beyond the end */
    expect_refusal(&call);
    call = vector_call("add", some + 1, at, at, at);
    expect_refusal(&call);
    EXPECT(buffer_is(mine, 3) && buffer_is(foreign, 4));
    takt_buffer_destroy(mine);
    takt_buffer_destroy(foreign);
    takt_ctx_destroy(other);
}

static void calls_on_what_is_mapped_are_refused(void)
{
    takt_buffer *a = buffer_of(ctx, some, 3), *b = buffer_of(ctx, some, 4);
    const takt_call read = vector_call("neg", some, at_of(a), NULL, at_of(b));
    const takt_call write = vector_call("neg", some, at_of(b), NULL, at_of(a));

    EXPECT_INT(map_status(a, TAKT_MAP_READ), TAKT_OK);
    expect_refusal(&write);
    run(&read);
    EXPECT_INT(takt_buffer_unmap(a), TAKT_OK);
    EXPECT_INT(map_status(a, TAKT_MAP_WRITE), TAKT_OK);
    expect_refusal(&read);
    EXPECT_INT(takt_buffer_unmap(a), TAKT_OK);
    EXPECT(buffer_is(a, 3) && buffer_is(b, -3));
    takt_buffer_destroy(a);
    takt_buffer_destroy(b);
}

/* ---- moving --------------------------------------------------------------
 */

static uint64_t came_in, went_out;

static void start_counting(void)
{
    came_in = fake.bytes_in();
    went_out = fake.bytes_out();
}

static void expect_moves(size_t in, size_t out)
{
    EXPECT_INT(fake.bytes_in() - came_in, in);
    EXPECT_INT(fake.bytes_out() - went_out, out);
}

static void contents_survive_moving(void)
{
    for (size_t n = 1; n < 3000000; n = n * 7 + 1) {
        takt_buffer *a = buffer_of(ctx, n, 3), *b = buffer_of(ctx, n, 4);
        start_counting();
        run_vector("add", n, at_of(a), at_of(b), at_of(b));
        EXPECT(is_at(b, "cuda.0") && is_at(a, "host cuda.0"));
        expect_moves(2 * n * sizeof(float), 0);
        EXPECT(buffer_is(b, 7) && buffer_is(a, 3));
        EXPECT(is_at(b, "host cuda.0"));
        expect_moves(2 * n * sizeof(float), n * sizeof(float));
        EXPECT_INT(map_status(b, TAKT_MAP_WRITE), TAKT_OK);
        EXPECT(is_at(b, "host"));
        at_of(b)[n - 1] = 9;
        EXPECT_INT(takt_buffer_unmap(b), TAKT_OK);
        run_vector("add", n, at_of(a), at_of(b), at_of(b));
        EXPECT(buffer_has(b, 0, n - 1, 10) && buffer_has(b, n - 1, n, 12));
        takt_buffer_destroy(a);
        takt_buffer_destroy(b);
    }
}

/* softmax(relu(A B + D) E): in go four matrices, out comes one. */
static void a_chain_moves_each_operand_once(void)
{
    enum { m = 120, bytes = m * m * sizeof(float) };
    takt_buffer *a = buffer_of(ctx, m * m, 1), *b = buffer_of(ctx, m * m, 2);
    takt_buffer *d = buffer_of(ctx, m * m, -1), *e = buffer_of(ctx, m * m, 0);
    takt_buffer *c = buffer_make(ctx, bytes, NULL);
    takt_call product = {.op = takt_op_find("matmul"),
                         .shape = {.rank = 3, .dim = {m, m, m}},
                         .in = {at_of(a), at_of(b)},
                         .out = at_of(c),
                         .alpha = 1};
    takt_call rows = {.op = takt_op_find("softmax"),
                      .shape = {.rank = 2, .dim = {m, m}},
                      .in = {at_of(a)},
                      .out = at_of(a)};

    start_counting();
    run(&product);
    run_vector("add", m * m, at_of(c), at_of(d), at_of(c));
    run_vector("relu", m * m, at_of(c), NULL, at_of(c));
    product.in[0] = at_of(c);
    product.in[1] = at_of(e);
    product.out = at_of(a);
    run(&product);
    run(&rows);
    EXPECT_INT(takt_sync(ctx), TAKT_OK);
    expect_moves(4 * bytes, 0);
    EXPECT(is_at(a, "cuda.0") && is_at(c, "cuda.0"));
    EXPECT(buffer_is(a, 1.0f / m));
    expect_moves(4 * bytes, bytes);
    EXPECT(buffer_is(a, 1.0f / m));
    expect_moves(4 * bytes, bytes);
    EXPECT(buffer_is(c, 2 * m - 1));
    buffers_destroy((takt_buffer *[]){a, b, c, d, e});
}

static void what_is_not_written_stays(void)
{
    takt_buffer *a = buffer_of(ctx, some, 1), *b = buffer_of(ctx, some, 2);
    takt_call turn = {.op = takt_op_find("transpose"),
                      .shape = {.rank = 2, .dim = {100, 20}},
                      .in = {at_of(a)},
                      .out = at_of(b),
                      .ld = {100, 0, 110}};

    run_vector("neg", 100, at_of(a) + 7, NULL, at_of(b) + 400);
    EXPECT(is_at(b, "cuda.0"));
    EXPECT(buffer_has(b, 0, 400, 2) && buffer_has(b, 400, 500, -1) &&
           buffer_has(b, 500, some, 2));
    run_vector("neg", 100, at_of(b) + 400, NULL, at_of(b)); /* within it */
    run(&turn);
    EXPECT(buffer_has(b, 100, 110, 2) && buffer_has(b, 110, 210, 1) &&
           buffer_has(b, 0, 100, 1) && buffer_has(b, 2300, some, 2));
    takt_buffer_destroy(a);
    takt_buffer_destroy(b);
}

static void plain_operands_may_be_mixed_in(void)
{
    static const size_t sizes[] = {10, some, 700000};

    for (int i = 0; i < 3; i++) {
        const size_t n = sizes[i];
        takt_buffer *a = buffer_of(ctx, n, 3);
        float *plain = calloc(n, sizeof *plain), sum = 0;
        REQUIRE(plain != NULL);
        run_vector("neg", n, at_of(a), NULL, at_of(a));
        run_vector("add", n, at_of(a), plain, plain);
        EXPECT(plain[0] == -3 && plain[n - 1] == -3);
        run_vector("axpy", n, at_of(a), plain, plain); /* 2 a + plain */
        EXPECT(plain[0] == -9 && plain[n - 1] == -9);
        run_vector("mul", n, plain, at_of(a), at_of(a));
        EXPECT(is_at(a, "cuda.0"));
        run_vector("max", n, at_of(a), NULL, &sum);
        EXPECT(sum == 27 && is_at(a, "cuda.0"));
        size_t position = 7;
        run_vector("argmin", n, at_of(a), NULL, &position);
        EXPECT(position == 0 && buffer_is(a, 27));
        free(plain);
        takt_buffer_destroy(a);
    }
}

/* Whichever expert the operands come from. */
static void experts_take_turns(void)
{
    takt_buffer *a = buffer_of(ctx, some, 1), *b = buffer_of(ctx, some, 1);
    const takt_call call =
        vector_call("add", some, at_of(a), at_of(b), at_of(a));

    for (int i = 0; i < 8; i++)
        EXPECT_INT(takt_run_on(ctx, &call, i % 3 == 0 ? 0 : gpu_expert),
                   TAKT_OK);
    EXPECT(buffer_is(a, 9));
    takt_buffer_destroy(a);
    takt_buffer_destroy(b);
}

static void every_op_takes_buffers(takt_ctx *on, size_t expert, unsigned how)
{
    for (size_t i = 0; i < takt_op_count(); i++) {
        const takt_op *op = takt_op_at(i);
        takt_buffer *buffer[TAKT_OPERANDS];
        if (!takt__cuda_driver.has(op, TAKT_F32))
            continue;
        struct subject s = subject_make(on, op->name, TAKT_F32, 20011, how);
        const takt_call call = subject_in_buffers(&s, on, buffer);
        EXPECT_INT(takt_run_on(on, &call, expert), TAKT_OK);
        TAP_CHECK(buffer_holds(buffer[TAKT_OUT], s.want), "%s: not right",
                  guard_doing);
        buffers_destroy(buffer);
        subject_free(&s);
    }
}

static void every_op_takes_buffers_on_a_device(void)
{
    every_op_takes_buffers(ctx, gpu_expert, USUAL);
    every_op_takes_buffers(ctx, gpu_expert, ADDING | GAPS | BARE);
}

static void every_op_takes_buffers_without_a_device(void)
{
    takt_ctx *host;
    float sum = 0;

    REQUIRE(
        takt_ctx_create(&(takt_ctx_options){.gpu = "", .blas = "", .store = ""},
                        &host) == TAKT_OK);
    every_op_takes_buffers(host, 0, USUAL);
    takt_buffer *a = buffer_of(host, some, 1);
    const takt_call call = vector_call("sum", some, at_of(a), NULL, &sum);
    EXPECT_INT(takt_run(host, &call, NULL), TAKT_OK);
    EXPECT(sum == some && is_at(a, "host"));
    EXPECT_INT(takt_sync(host), TAKT_OK);
    takt_buffer_destroy(a);
    takt_ctx_destroy(host);
}

/* ---- ops of the user's, and calls in one line ----------------------------
 */

static takt_status halve(const takt_call *call, void *self)
{
    (void)self;
    for (size_t i = 0; i < call->shape.dim[0]; i++)
        ((float *)call->out)[i] = ((const float *)call->in[0])[i] / 2;
    return TAKT_OK;
}

static void ops_of_the_user_find_their_operands_at_home(void)
{
    takt_ctx *own = context_of(TAKT_POLICY_ADAPTIVE, 1);
    takt_buffer *a = buffer_of(own, some, 8);
    const takt_op *op;
    takt_call call = vector_call("neg", some, at_of(a), NULL, at_of(a));

    REQUIRE(takt_ctx_define_op(own, &(takt_op_spec){.name = "halve"}, &op) ==
            TAKT_OK);
    REQUIRE(takt_ctx_add_expert(
                own, op, &(takt_expert_spec){.name = "me", .run = halve}) ==
            TAKT_OK);
    EXPECT_INT(takt_run_on(own, &call, expert_of(own, "cuda.0")), TAKT_OK);
    EXPECT(is_at(a, "cuda.0"));
    call.op = op;
    EXPECT_INT(takt_run(own, &call, NULL), TAKT_OK);
    EXPECT(is_at(a, "host") && buffer_is(a, -4));
    takt_buffer_destroy(a);
    takt_ctx_destroy(own);
}

/* Calls so small that they would go straight to a kernel must not. */
static void calls_in_one_line_see_what_a_device_made(void)
{
    takt_ctx *usual = takt_ctx_default();
    float plain[8] = {1}, sum;

    REQUIRE(usual != NULL);
    for (int i = 0; i < 100; i++)
        EXPECT_INT(takt_sum_f32(8, plain, &sum), TAKT_OK);
    for (size_t n = 1; n < 200000; n = n * 2 + 1) {
        takt_buffer *a = buffer_of(NULL, n, 1), *b = buffer_of(NULL, n, 0);
        const takt_call call =
            vector_call("scale", n, at_of(a), NULL, at_of(a)); /* twice */
        for (int i = 0; i < 3; i++) {
            EXPECT_INT(takt_run_on(NULL, &call, expert_of(usual, "cuda.0")),
                       TAKT_OK);
            EXPECT_INT(takt_add_f32(n, at_of(a), at_of(a), at_of(b)), TAKT_OK);
            EXPECT_INT(takt_max_f32(n, at_of(b), &sum), TAKT_OK);
            EXPECT_NEAR((double)sum, 4 << i, 0);
            EXPECT(buffer_is(b, (float)(4 << i)));
        }
        takt_buffer_destroy(a);
        takt_buffer_destroy(b);
    }
    EXPECT_INT(takt_sync(NULL), TAKT_OK);
}

/* A context that was made before there were buffers, when small calls did not
 * have to look where their operands are. */
static takt_ctx *early;

static void small_calls_of_an_early_context_see_what_a_device_made(void)
{
    const size_t n = 64;
    takt_buffer *a = buffer_of(early, n, 1), *foreign = buffer_of(ctx, n, 1);
    float out[64];
    takt_call call = vector_call("scale", n, at_of(a), NULL, at_of(a));

    EXPECT_INT(takt_run_on(early, &call, expert_of(early, "cuda.0")), TAKT_OK);
    call = vector_call("add", n, at_of(a), at_of(a), out);
    for (int i = 0; i < 3; i++) {
        EXPECT_INT(takt_run(early, &call, NULL), TAKT_OK);
        EXPECT_NEAR((double)out[n - 1], 4, 0);
    }
    call = vector_call("add", n, at_of(foreign), at_of(foreign), out);
    EXPECT_INT(takt_run(early, &call, NULL), TAKT_EINVAL);
    takt_buffer_destroy(a);
    takt_buffer_destroy(foreign);
}

int main(void)
{
    guard_watch();
    subject_choose_fake();
    early = context_of(TAKT_POLICY_ADAPTIVE, 1);
    ctx = context_of(TAKT_POLICY_FIXED, 2);
    gpu_expert = expert_of(ctx, "cuda.0");
    RUN(buffers_are_made_mapped_and_ended);
    RUN(maps_that_make_no_sense_are_refused);
    RUN(calls_on_what_is_not_theirs_are_refused);
    RUN(calls_on_what_is_mapped_are_refused);
    RUN(contents_survive_moving);
    RUN(a_chain_moves_each_operand_once);
    RUN(what_is_not_written_stays);
    RUN(plain_operands_may_be_mixed_in);
    RUN(experts_take_turns);
    RUN(every_op_takes_buffers_on_a_device);
    RUN(every_op_takes_buffers_without_a_device);
    RUN(ops_of_the_user_find_their_operands_at_home);
    RUN(calls_in_one_line_see_what_a_device_made);
    RUN(small_calls_of_an_early_context_see_what_a_device_made);
    takt_ctx_destroy(early);
    takt_ctx_destroy(ctx);
    return tap_done();
}
