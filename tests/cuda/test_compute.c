/* SPDX-License-Identifier: MIT */
/*
 * test_compute.c - every op on a CUDA device, as far as the host decides: the
 * fake driver finds out from the name of a kernel and its arguments what is to
 * be computed, and the result must be the very same as that of scalar code.
 * Whether real kernels compute the same is what tests with a GPU show.
 */
#include "cuda/device_parts.h"
#include "cuda/fixture.h"
#include "gpu/scalar_run.h"
#include "op/admit.h"
#include "support/random.h"
#include "takt/ops.h"

/* Operands lie at equal distances in one stretch of memory, on the host as on
 * the device, so that one comparison sees every byte. */
enum { operand_bytes = 64 << 10, first_offset = 256 };
enum { OUT = 4, arena_bytes = 5 * operand_bytes };

struct trial {
    const char *op;
    takt_shape shape;
    size_t ld[3];
    double alpha, beta;
    unsigned flags;
    unsigned absent; /* bit i: without in[i] */
};

#define SHAPE(...)                                                         \
    {                                                                      \
        .rank = sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t), .dim = { \
            __VA_ARGS__                                                    \
        }                                                                  \
    }

static const struct trial trials[] = {
    {"add", SHAPE(1000), .alpha = 0},
    {"sub", SHAPE(1001), .alpha = 0},
    {"mul", SHAPE(1), .alpha = 0},
    {"div", SHAPE(333), .alpha = 0},
    {"scale", SHAPE(999), .alpha = 3},
    {"axpy", SHAPE(999), .alpha = 2},
    {"fma", SHAPE(77), .alpha = 0},
    {"abs", SHAPE(1000), .alpha = 0},
    {"neg", SHAPE(1000), .alpha = 0},
    {"clamp", SHAPE(1000), .alpha = -1, .beta = 2},
    {"sqrt", SHAPE(1000), .alpha = 0},
    {"exp", SHAPE(1000), .alpha = 0},
    {"log", SHAPE(1000), .alpha = 0},
    {"sigmoid", SHAPE(1000), .alpha = 0},
    {"tanh", SHAPE(1000), .alpha = 0},
    {"relu", SHAPE(1000), .alpha = 0},
    {"gelu", SHAPE(1000), .alpha = 0},
    {"copy", SHAPE(4001), .alpha = 0},
    {"transpose", SHAPE(33, 65), .alpha = 0},
    {"transpose", SHAPE(20, 10), .ld = {13, 0, 29}},
    {"sum", SHAPE(4001), .alpha = 0},
    {"mean", SHAPE(100), .alpha = 0},
    {"max", SHAPE(1000), .alpha = 0},
    {"min", SHAPE(1000), .alpha = 0},
    {"argmax", SHAPE(1000), .alpha = 0},
    {"argmin", SHAPE(1000), .alpha = 0},
    {"dot", SHAPE(1000), .alpha = 0},
    {"norm1", SHAPE(1000), .alpha = 0},
    {"norm2", SHAPE(1000), .alpha = 0},
    {"variance", SHAPE(1000), .alpha = 0},
    {"softmax", SHAPE(7, 100), .alpha = 0},
    {"softmax", SHAPE(2, 4000), .alpha = 0},
    {"layernorm", SHAPE(7, 100), .alpha = 1e-5},
    {"layernorm", SHAPE(2, 4000), .alpha = 1e-5, .absent = 2},
    {"layernorm", SHAPE(7, 100), .alpha = 0, .absent = 4},
    {"layernorm", SHAPE(7, 100), .alpha = 0, .absent = 6},
    {"gemv", SHAPE(30, 50), .alpha = 2, .beta = 3},
    {"gemv", SHAPE(30, 50), .alpha = 1, .ld = {61}, .flags = TAKT_TRANS_A},
    {"gemv", SHAPE(30, 50), .alpha = 0, .beta = 2},
    {"gemv", SHAPE(30, 0), .alpha = 1, .beta = 2},
    {"matmul", SHAPE(30, 40, 50), .alpha = 1},
    {"matmul", SHAPE(30, 40, 50), .alpha = 2, .beta = 3, .flags = 1},
    {"matmul", SHAPE(30, 40, 50), .alpha = 2, .beta = 3, .flags = 2},
    {"matmul", SHAPE(30, 40, 50), .alpha = 2, .beta = 1, .flags = 3},
    {"matmul", SHAPE(7, 5, 3), .ld = {11, 13, 17}, .alpha = 1, .beta = 1},
    {"matmul", SHAPE(7, 5, 0), .alpha = 1, .beta = 2},
    {"matmul", SHAPE(7, 5, 3), .alpha = 0, .beta = 2},
    {"matmul", SHAPE(90, 80, 20), .alpha = 1, .flags = TAKT_CALL_TF32},
    {"batched_matmul", SHAPE(3, 4, 5, 6), .alpha = 1},
    {"batched_matmul", SHAPE(3, 20, 30, 10), .alpha = 2, .beta = 3},
    {"conv2d", SHAPE(2, 3, 9, 8, 4, 3, 2), .alpha = 0},
    {"conv2d", SHAPE(2, 4, 9, 8, 6, 3, 3, 2, 1, 2), .alpha = 0, .absent = 4},
    {"pooling", SHAPE(2, 3, 9, 8, 3), .alpha = 0},
    {"pooling", SHAPE(2, 3, 9, 8, 3, 2, 1), .flags = TAKT_CALL_MEAN_POOL},
    {"attention", SHAPE(2, 2, 7, 9, 8), .alpha = 0, .absent = 8},
    {"attention", SHAPE(2, 2, 7, 9, 16), .alpha = 0.5, .flags = 4},
    {"attention", SHAPE(1, 1, 3, 5, 200), .alpha = 0.5, .absent = 8},
    {"attention", SHAPE(1, 1, 3, 5, 300), .alpha = 0.5, .absent = 8},
};

static struct takt_block on_host, on_device;
static char expected[arena_bytes] __attribute__((aligned(64)));

static size_t offset_of(int operand)
{
    return (size_t)operand * operand_bytes + first_offset;
}

/* Small whole numbers: their products are exact in whatever order they are
 * added up. */
static void fill(takt_dtype dtype)
{
    uint64_t state = 7;

    for (size_t i = 0; i < arena_bytes / takt_dtype_size(dtype); i++) {
        const int number = (int)(random_next(&state) % 9) - 4;
        if (dtype == TAKT_F32)
            ((float *)on_host.host)[i] = (float)number;
        else
            ((double *)on_host.host)[i] = number;
    }
    memcpy(expected, on_host.host, arena_bytes);
}

static bool has_operand(const takt_call *call, int i, unsigned absent)
{
    const bool is_optional = takt__op_id(call->op) == TAKT_OP_layernorm ||
                             takt__op_id(call->op) == TAKT_OP_conv2d ||
                             takt__op_id(call->op) == TAKT_OP_attention;
    const int most = takt__op_id(call->op) == TAKT_OP_attention ? 4 : 3;

    if ((absent >> i & 1) != 0)
        return false;
    return i < (int)call->op->inputs || (is_optional && i < most);
}

/* In place where an op works in place. */
static int operand_of(const takt_call *call, int i)
{
    return takt__op_id(call->op) == TAKT_OP_axpy && i == 1 ? OUT : i;
}

static takt_call make_call(const struct trial *trial, takt_dtype dtype)
{
    takt_call call = {.op = takt_op_find(trial->op),
                      .dtype = dtype,
                      .shape = trial->shape,
                      .out = expected + offset_of(OUT),
                      .ld = {trial->ld[0], trial->ld[1], trial->ld[2]},
                      .alpha = trial->alpha,
                      .beta = trial->beta,
                      .flags = trial->flags | TAKT_CALL_ALPHA_ZERO};
    bool is_empty;

    for (int i = 0; i < 4; i++)
        if (has_operand(&call, i, trial->absent))
            call.in[i] = expected + offset_of(operand_of(&call, i));
    REQUIRE(takt__admit(&call, &is_empty) == TAKT_OK && !is_empty);
    return call;
}

static struct takt_device_call put_on_device(const takt_call *call)
{
    struct takt_device_call out = {.call = call,
                                   .out = place(&on_device, offset_of(OUT))};

    for (int i = 0; i < 4; i++)
        if (call->in[i] != NULL)
            out.in[i] = place(&on_device, offset_of(operand_of(call, i)));
    return out;
}

static takt_status run(const struct takt_device_call *call)
{
    takt_status status =
        driver->copy(&gpu, TAKT_QUEUE_COMPUTE, place(&on_device, 0),
                     place(&on_host, 0), arena_bytes);

    if (status == TAKT_OK)
        status = driver->compute(&gpu, call);
    if (status == TAKT_OK)
        status = driver->copy(&gpu, TAKT_QUEUE_COMPUTE, place(&on_host, 0),
                              place(&on_device, 0), arena_bytes);
    return status == TAKT_OK ? fixture_finish(TAKT_QUEUE_COMPUTE) : status;
}

static void try_one(const struct trial *trial, takt_dtype dtype)
{
    const takt_op *op = takt_op_find(trial->op);

    if (!driver->has(op, dtype))
        return;
    fill(dtype);
    const takt_call call = make_call(trial, dtype);
    const struct takt_device_call device_call = put_on_device(&call);
    EXPECT(driver->can_run(&gpu, &call));
    const takt_status status = run(&device_call);
    TAP_CHECK(status == TAKT_OK, "%s: %s", trial->op, takt_status_text(status));
    REQUIRE(scalar_run(&call) == TAKT_OK);
    TAP_CHECK(memcmp(on_host.host, expected, arena_bytes) == 0,
              "%s, dtype %d, trial %td differs", trial->op, (int)dtype,
              trial - trials);
}

static void start(void)
{
    fixture_start();
    REQUIRE(driver->reserve(&gpu, arena_bytes, true, &on_host) == TAKT_OK &&
            driver->reserve(&gpu, arena_bytes, false, &on_device) == TAKT_OK);
}

static void try_all(void)
{
    start();
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++)
        for (int dtype = TAKT_F32; dtype <= TAKT_F64; dtype++)
            try_one(&trials[i], (takt_dtype)dtype);
    fixture_stop();
}

static void every_op_gets_its_operands(void)
{
    test_config()->cublas = "";
    try_all();
}

/* ---- cuBLAS -------------------------------------------------------------- */

static unsigned long (*cublas_calls)(void), (*cublas_tf32_calls)(void);

static void open_cublas(void)
{
    void *library = dlopen(TAKT_FAKE_CUBLAS, RTLD_NOW | RTLD_LOCAL);

    test_config()->cublas = TAKT_FAKE_CUBLAS;
    REQUIRE(library != NULL);
    fixture_find(library, "fake_cublas_calls", &cublas_calls);
    fixture_find(library, "fake_cublas_tf32_calls", &cublas_tf32_calls);
}

/* All products but those with an alpha of 0 or without any product: 10 rows of
 * the table, of which each has both dtypes, and one of them the flag. */
static void products_are_left_to_cublas_where_it_is(void)
{
    open_cublas();
    const unsigned long calls = cublas_calls();
    const unsigned long tf32_calls = cublas_tf32_calls();
    try_all();
    EXPECT_INT(cublas_calls() - calls, 2 * 10);
    EXPECT_INT(cublas_tf32_calls() - tf32_calls, 2);
}

static void a_cublas_that_refuses_is_done_without(void)
{
    open_cublas();
    setenv("FAKE_CUBLAS_TOO_NEW", "1", 1);
    const unsigned long calls = cublas_calls();
    try_all();
    EXPECT_INT(cublas_calls() - calls, 0);
    unsetenv("FAKE_CUBLAS_TOO_NEW");
    test_config()->cublas = "/nowhere/libcublas.so";
    try_all();
    test_config()->cublas = "";
}

/* ---- threads ------------------------------------------------------------- */

enum { workers = 4, rounds = 50, numbers = 1000 };

static void lock(void)
{
    pthread_mutex_lock(&gpu.lock);
}

static void unlock(void)
{
    pthread_mutex_unlock(&gpu.lock);
}

/* In through its queue, computed, out through its queue, waited for without
 * the lock. */
static takt_status negate(struct takt_block *host, struct takt_block *memory,
                          struct takt_mark *marks)
{
    const takt_call call = {.op = takt_op_find("neg"),
                            .shape = {.rank = 1, .dim = {numbers}}};
    const size_t bytes = numbers * sizeof(float);
    const struct takt_device_call device_call = {
        .call = &call, .in = {place(memory, 0)}, .out = place(memory, bytes)};

    lock();
    const bool is_begun =
        driver->copy(&gpu, TAKT_QUEUE_IN, place(memory, 0), place(host, 0),
                     bytes) == TAKT_OK &&
        driver->mark(&gpu, TAKT_QUEUE_IN, true, &marks[0]) == TAKT_OK &&
        driver->follow(&gpu, TAKT_QUEUE_COMPUTE, &marks[0]) == TAKT_OK &&
        driver->compute(&gpu, &device_call) == TAKT_OK &&
        driver->mark(&gpu, TAKT_QUEUE_COMPUTE, true, &marks[1]) == TAKT_OK &&
        driver->follow(&gpu, TAKT_QUEUE_OUT, &marks[1]) == TAKT_OK &&
        driver->copy(&gpu, TAKT_QUEUE_OUT, place(host, bytes),
                     place(memory, bytes), bytes) == TAKT_OK &&
        driver->mark(&gpu, TAKT_QUEUE_OUT, false, &marks[2]) == TAKT_OK;
    unlock();
    return is_begun ? driver->wait(&gpu, &marks[2]) : TAKT_ELOST;
}

static void *work(void *self)
{
    struct takt_mark marks[3] = {{0}};
    struct takt_block host, memory;
    int *wrong = self;

    lock();
    *wrong += driver->reserve(&gpu, 8000, true, &host) != TAKT_OK;
    *wrong += driver->reserve(&gpu, 8000, false, &memory) != TAKT_OK;
    unlock();
    for (int round = 0; round < rounds && *wrong == 0; round++) {
        float *in = host.host, *out = in + numbers;
        for (int i = 0; i < numbers; i++)
            in[i] = (float)(round + i);
        *wrong += negate(&host, &memory, marks) != TAKT_OK;
        for (int i = 0; i < numbers; i++)
            *wrong += out[i] != -(float)(round + i);
        *wrong += !driver->is_past(&gpu, &marks[1]);
        *wrong += !(driver->between_s(&gpu, &marks[0], &marks[1]) >= 0);
    }
    lock();
    for (int i = 0; i < 3; i++)
        driver->drop(&gpu, &marks[i]);
    driver->release(&gpu, &host);
    driver->release(&gpu, &memory);
    unlock();
    return NULL;
}

static void threads_share_a_device(void)
{
    pthread_t threads[workers];
    int wrong[workers] = {0};

    fixture_start();
    for (int i = 0; i < workers; i++)
        REQUIRE(pthread_create(&threads[i], NULL, work, &wrong[i]) == 0);
    for (int i = 0; i < workers; i++) {
        pthread_join(threads[i], NULL);
        EXPECT_INT(wrong[i], 0);
    }
    fixture_stop();
}

static void an_op_without_a_kernel_is_refused(void)
{
    const struct trial without = {"exp2", SHAPE(1000), .alpha = 0};
    const takt_call call = make_call(&without, TAKT_F32);

    EXPECT(!driver->has(call.op, TAKT_F32));
    EXPECT(!driver->can_run(&gpu, &call));
}

int main(void)
{
    fixture_open();
    RUN(every_op_gets_its_operands);
    RUN(products_are_left_to_cublas_where_it_is);
    RUN(a_cublas_that_refuses_is_done_without);
    RUN(an_op_without_a_kernel_is_refused);
    RUN(threads_share_a_device);
    return tap_done();
}
