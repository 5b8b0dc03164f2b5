/* SPDX-License-Identifier: MIT */
/*
 * bench_gpu.c - the first CUDA device against what it could do: cuBLAS and the
 * driver called directly, pageable and pinned copies, a bare launch.
 *
 *     bench_gpu [shortest] [vectors] [rows] [products] [chain]
 *
 * Everything that is compared is interleaved in one run; figures are medians.
 * Without a CUDA device it says so and ends.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <takt/takt.h>

#include "bench.h"
#include "call/ctx.h"
#include "cuda/cublas.h"
#include "cuda/device_parts.h"

enum { most_rounds = 400 };

/* What the direct ways need of the device that the context opened. */
struct rig {
    takt_ctx *ctx;
    size_t arm;
    struct takt_device *device;
    struct takt_cuda *cuda;
    const struct takt_cuda_api *api;
};

static void stop(const char *what)
{
    fprintf(stderr, "bench_gpu: %s\n", what);
    exit(1);
}

static void must(int result, const char *what)
{
    if (result != 0)
        stop(what);
}

#define MUST(call) must((int)(call), #call)

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *seconds, size_t count)
{
    qsort(seconds, count, sizeof *seconds, by_value);
    return seconds[count / 2];
}

/* A way to do the same thing. */
struct way {
    const char *name;
    void (*run)(void *self);
    double seconds[most_rounds];
};

/* Runs all ways in turns; each sample is what a caller waits for. */
static void compare(struct way *way, size_t ways, int rounds, void *self)
{
    for (size_t i = 0; i < ways; i++)
        for (int warm = 0; warm < 5; warm++)
            way[i].run(self);
    for (int r = 0; r < rounds; r++)
        for (size_t i = 0; i < ways; i++) {
            const double start = bench_now_ns();
            way[i].run(self);
            way[i].seconds[r] = (bench_now_ns() - start) * 1e-9;
        }
    for (size_t i = 0; i < ways; i++)
        way[i].seconds[0] = median(way[i].seconds, (size_t)rounds);
}

static float *random_floats(size_t n)
{
    float *at = malloc(n * sizeof *at);
    uint64_t state = 1;

    if (at == NULL)
        stop("no memory");
    for (size_t i = 0; i < n; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        at[i] = (float)(state >> 40) / (1 << 24) - 0.5f;
    }
    return at;
}

/* ---- products from the host's memory ---------------------------------------
 */

struct product {
    struct rig *rig;
    size_t n, bytes;
    float *a, *b, *c;    /* pageable */
    float *pa, *pb, *pc; /* pinned */
    uint64_t da, db, dc; /* on the device */
    takt_buffer *ra, *rb, *rc;
    takt_call call, resident;
};

static void multiply_directly(struct product *p)
{
    takt_status status = TAKT_OK;

    takt__cuda_enter(p->rig->device);
    if (!takt__cublas_gemm(p->rig->cuda, &p->call, p->da, p->db, p->dc,
                           &status) ||
        status != TAKT_OK)
        stop("cuBLAS is not there");
    MUST(p->rig->api->cuStreamSynchronize(
        p->rig->cuda->stream[TAKT_QUEUE_COMPUTE]));
    takt__cuda_leave(p->rig->cuda);
}

static void copy_compute_copy(struct product *p, const float *a, const float *b,
                              float *c)
{
    const struct takt_cuda_api *api = p->rig->api;
    void *stream = p->rig->cuda->stream[TAKT_QUEUE_COMPUTE];

    takt__cuda_enter(p->rig->device);
    MUST(api->cuMemcpyHtoDAsync(p->da, a, p->bytes, stream));
    MUST(api->cuMemcpyHtoDAsync(p->db, b, p->bytes, stream));
    multiply_directly(p);
    MUST(api->cuMemcpyDtoHAsync(c, p->dc, p->bytes, stream));
    MUST(api->cuStreamSynchronize(stream));
    takt__cuda_leave(p->rig->cuda);
}

static void run_pageable(void *self)
{
    struct product *p = self;
    copy_compute_copy(p, p->a, p->b, p->c);
}

static void run_pinned(void *self)
{
    struct product *p = self;
    copy_compute_copy(p, p->pa, p->pb, p->pc);
}

static void run_ours(void *self)
{
    struct product *p = self;
    MUST(takt_run_on(p->rig->ctx, &p->call, p->rig->arm));
}

static void run_direct(void *self)
{
    multiply_directly(self);
}

static void run_resident(void *self)
{
    struct product *p = self;
    MUST(takt_run_on(p->rig->ctx, &p->resident, p->rig->arm));
    MUST(takt_sync(p->rig->ctx));
}

static void make_product(struct rig *rig, size_t n, struct product *p)
{
    const struct takt_cuda_api *api = rig->api;

    *p = (struct product){.rig = rig, .n = n, .bytes = n * n * sizeof(float)};
    p->a = random_floats(n * n);
    p->b = random_floats(n * n);
    p->c = random_floats(n * n);
    takt__cuda_enter(rig->device);
    MUST(api->cuMemHostAlloc((void **)&p->pa, p->bytes, 0));
    MUST(api->cuMemHostAlloc((void **)&p->pb, p->bytes, 0));
    MUST(api->cuMemHostAlloc((void **)&p->pc, p->bytes, 0));
    MUST(api->cuMemAlloc(&p->da, p->bytes));
    MUST(api->cuMemAlloc(&p->db, p->bytes));
    MUST(api->cuMemAlloc(&p->dc, p->bytes));
    takt__cuda_leave(rig->cuda);
    memcpy(p->pa, p->a, p->bytes);
    memcpy(p->pb, p->b, p->bytes);
    MUST(takt_buffer_create(rig->ctx, p->bytes, p->a, &p->ra));
    MUST(takt_buffer_create(rig->ctx, p->bytes, p->b, &p->rb));
    MUST(takt_buffer_create(rig->ctx, p->bytes, NULL, &p->rc));
    p->call = (takt_call){.op = takt_op_find("matmul"),
                          .shape = {.rank = 3, .dim = {n, n, n}},
                          .in = {p->a, p->b},
                          .out = p->c,
                          .ld = {n, n, n},
                          .alpha = 1};
    p->resident = p->call;
    p->resident.in[0] = takt_buffer_address(p->ra);
    p->resident.in[1] = takt_buffer_address(p->rb);
    p->resident.out = takt_buffer_address(p->rc);
}

static void free_product(struct product *p)
{
    const struct takt_cuda_api *api = p->rig->api;

    takt_buffer_destroy(p->ra);
    takt_buffer_destroy(p->rb);
    takt_buffer_destroy(p->rc);
    takt__cuda_enter(p->rig->device);
    MUST(api->cuMemFreeHost(p->pa));
    MUST(api->cuMemFreeHost(p->pb));
    MUST(api->cuMemFreeHost(p->pc));
    MUST(api->cuMemFree(p->da));
    MUST(api->cuMemFree(p->db));
    MUST(api->cuMemFree(p->dc));
    takt__cuda_leave(p->rig->cuda);
    free(p->a);
    free(p->b);
    free(p->c);
}

static void show_products(struct rig *rig)
{
    static const size_t sizes[] = {64, 128, 256, 512, 1024, 2048, 4096, 8192};

    printf(
        "\nsgemm, us: pageable and pinned copy-compute-copy, ours end to end;"
        "\n  cuBLAS called directly, and ours on buffers\n");
    printf("%6s %10s %10s %10s %8s %8s %10s %10s %6s\n", "n", "pageable",
           "pinned", "ours", "gain", "/pinned", "direct", "buffers", "ratio");
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct product p;
        struct way way[] = {{.name = "pageable", .run = run_pageable},
                            {.name = "pinned", .run = run_pinned},
                            {.name = "ours", .run = run_ours},
                            {.name = "direct", .run = run_direct},
                            {.name = "buffers", .run = run_resident}};
        make_product(rig, sizes[i], &p);
        compare(way, 5, sizes[i] > 2048 ? 21 : 101, &p);
        const double *s[] = {way[0].seconds, way[1].seconds, way[2].seconds,
                             way[3].seconds, way[4].seconds};
        printf("%6zu %10.1f %10.1f %10.1f %8.2f %8.2f %10.1f %10.1f %6.2f\n",
               sizes[i], *s[0] * 1e6, *s[1] * 1e6, *s[2] * 1e6, *s[0] / *s[2],
               *s[2] / *s[1], *s[3] * 1e6, *s[4] * 1e6, *s[4] / *s[3]);
        free_product(&p);
    }
}

/* ---- vectors on the device -------------------------------------------------
 */

struct vectors {
    struct rig *rig;
    size_t n;
    takt_buffer *a, *b, *out;
    takt_call call;
    uint64_t from, to;
    float result;
};

/* So many in a row that the device is what takes the time. */
enum { in_a_row = 20 };

static void run_vectors(void *self)
{
    struct vectors *v = self;

    for (int i = 0; i < in_a_row; i++)
        MUST(takt_run_on(v->rig->ctx, &v->call, v->rig->arm));
    MUST(takt_sync(v->rig->ctx));
}

static void run_copy(void *self)
{
    struct vectors *v = self;
    void *stream = v->rig->cuda->stream[TAKT_QUEUE_COMPUTE];

    takt__cuda_enter(v->rig->device);
    for (int i = 0; i < in_a_row; i++)
        MUST(v->rig->api->cuMemcpyDtoDAsync(v->to, v->from, v->n * 4, stream));
    MUST(v->rig->api->cuStreamSynchronize(stream));
    takt__cuda_leave(v->rig->cuda);
}

static void make_vectors(struct rig *rig, size_t n, struct vectors *v)
{
    float *x = random_floats(n);

    *v = (struct vectors){.rig = rig, .n = n};
    MUST(takt_buffer_create(rig->ctx, n * 4, x, &v->a));
    MUST(takt_buffer_create(rig->ctx, n * 4, x, &v->b));
    MUST(takt_buffer_create(rig->ctx, n * 4, NULL, &v->out));
    takt__cuda_enter(rig->device);
    MUST(rig->api->cuMemAlloc(&v->from, n * 4));
    MUST(rig->api->cuMemAlloc(&v->to, n * 4));
    takt__cuda_leave(rig->cuda);
    free(x);
}

static void free_vectors(struct vectors *v)
{
    takt_buffer_destroy(v->a);
    takt_buffer_destroy(v->b);
    takt_buffer_destroy(v->out);
    takt__cuda_enter(v->rig->device);
    MUST(v->rig->api->cuMemFree(v->from));
    MUST(v->rig->api->cuMemFree(v->to));
    takt__cuda_leave(v->rig->cuda);
}

static void show_vectors(struct rig *rig)
{
    static const struct {
        const char *op;
        int arrays;
        bool is_reduction;
    } ops[] = {{"copy", 2, false}, {"scale", 2, false},  {"relu", 2, false},
               {"add", 3, false},  {"exp", 2, false},    {"gelu", 2, false},
               {"sum", 1, true},   {"dot", 2, true},     {"max", 1, true},
               {"norm2", 1, true}, {"variance", 1, true}};
    static const size_t sizes[] = {16 << 20, 256 << 20};

    printf("\non the device, GB/s, and as a share of the driver's copy\n");
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        struct vectors v;
        make_vectors(rig, sizes[s], &v);
        for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
            struct way way[] = {{.name = "copy", .run = run_copy},
                                {.name = "ours", .run = run_vectors}};
            v.call = (takt_call){
                .op = takt_op_find(ops[i].op),
                .shape = {.rank = 1, .dim = {sizes[s]}},
                .in = {takt_buffer_address(v.a), takt_buffer_address(v.b)},
                .out = ops[i].is_reduction ? (void *)&v.result
                                           : takt_buffer_address(v.out),
                .alpha = 2};
            compare(way, 2, 31, &v);
            const double bytes = (double)sizes[s] * 4 * in_a_row;
            const double copy = 2 * bytes / way[0].seconds[0] * 1e-9;
            const double ours =
                ops[i].arrays * bytes / way[1].seconds[0] * 1e-9;
            printf("%10zu %-9s %8.0f of %8.0f  %5.2f\n", sizes[s], ops[i].op,
                   ours, copy, ours / copy);
        }
        free_vectors(&v);
    }
}

/* ---- rows on the device ----------------------------------------------------
 */

/* As much as the driver's copy moves: each element is read and written once. */
static void show_rows(struct rig *rig)
{
    static const char *const ops[] = {"softmax", "layernorm"};
    static const size_t cols[] = {64, 256, 512, 768, 1000, 1024, 4096, 32768};
    enum { elements = 64 << 20 };
    struct vectors v;

    printf("\nrows of 64M elements on the device, as a share of the driver's "
           "copy\n%9s",
           "columns");
    for (size_t c = 0; c < sizeof cols / sizeof cols[0]; c++)
        printf(" %6zu", cols[c]);
    make_vectors(rig, elements, &v);
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        printf("\n%9s", ops[i]);
        for (size_t c = 0; c < sizeof cols / sizeof cols[0]; c++) {
            struct way way[] = {{.name = "copy", .run = run_copy},
                                {.name = "ours", .run = run_vectors}};
            v.call = (takt_call){
                .op = takt_op_find(ops[i]),
                .shape = {.rank = 2, .dim = {elements / cols[c], cols[c]}},
                .in = {takt_buffer_address(v.a),
                       i == 0 ? NULL : takt_buffer_address(v.b),
                       i == 0 ? NULL : takt_buffer_address(v.b)},
                .out = takt_buffer_address(v.out),
                .alpha = 1e-5};
            compare(way, 2, 11, &v);
            printf(" %6.2f", way[0].seconds[0] / way[1].seconds[0]);
        }
    }
    printf("\n");
    free_vectors(&v);
}

/* ---- the shortest call -----------------------------------------------------
 */

static void run_one(void *self)
{
    struct vectors *v = self;

    MUST(takt_run_on(v->rig->ctx, &v->call, v->rig->arm));
    MUST(takt_sync(v->rig->ctx));
}

static void run_routed(void *self)
{
    struct vectors *v = self;

    MUST(takt_run(v->rig->ctx, &v->call, NULL));
    MUST(takt_sync(v->rig->ctx));
}

/* The same kernel, by the driver's functions alone. */
static void run_bare(void *self)
{
    struct vectors *v = self;
    struct takt_block block[3] = {{.address = v->from, .bytes = v->n * 4},
                                  {.address = v->from, .bytes = v->n * 4},
                                  {.address = v->to, .bytes = v->n * 4}};
    const struct takt_device_call call = {
        .call = &v->call,
        .in = {{&block[0], 0}, {&block[1], 0}},
        .out = {&block[2], 0}};

    takt__cuda_enter(v->rig->device);
    MUST(takt__cuda_compute(v->rig->cuda, &call));
    MUST(v->rig->api->cuStreamSynchronize(
        v->rig->cuda->stream[TAKT_QUEUE_COMPUTE]));
    takt__cuda_leave(v->rig->cuda);
}

static void show_shortest(struct rig *rig)
{
    struct vectors v;
    struct way way[] = {{.name = "bare launch and wait", .run = run_bare},
                        {.name = "a call on buffers", .run = run_one},
                        {.name = "a routed call", .run = run_routed}};

    make_vectors(rig, 1000, &v);
    v.call =
        (takt_call){.op = takt_op_find("add"),
                    .shape = {.rank = 1, .dim = {1000}},
                    .in = {takt_buffer_address(v.a), takt_buffer_address(v.b)},
                    .out = takt_buffer_address(v.out)};
    compare(way, 3, 400, &v);
    printf("\na resident add of 1,000, call to result, us\n");
    for (int i = 0; i < 3; i++)
        printf("%-22s %8.2f  %5.2f\n", way[i].name, way[i].seconds[0] * 1e6,
               way[i].seconds[0] / way[0].seconds[0]);
    free_vectors(&v);
}

/* ---- a chain ---------------------------------------------------------------
 */

/* matmul, add bias, relu, matmul, softmax: what a small network does. */
struct chain {
    struct rig *rig;
    size_t rows, wide;
    float *plain[7];
    takt_buffer *buffer[7]; /* x, w1, bias, hidden, w2, out, soft */
};

static void run_chain_on(struct chain *c, const bool on_buffers)
{
    const size_t r = c->rows, w = c->wide;
    void *at[7];

    for (int i = 0; i < 7; i++)
        at[i] = on_buffers ? takt_buffer_address(c->buffer[i]) : c->plain[i];
    const takt_call call[] = {
        {.op = takt_op_find("matmul"),
         .shape = {.rank = 3, .dim = {r, w, w}},
         .in = {at[0], at[1]},
         .out = at[3],
         .alpha = 1},
        {.op = takt_op_find("add"),
         .shape = {.rank = 1, .dim = {r * w}},
         .in = {at[3], at[2]},
         .out = at[3]},
        {.op = takt_op_find("relu"),
         .shape = {.rank = 1, .dim = {r * w}},
         .in = {at[3]},
         .out = at[3]},
        {.op = takt_op_find("matmul"),
         .shape = {.rank = 3, .dim = {r, w, w}},
         .in = {at[3], at[4]},
         .out = at[5],
         .alpha = 1},
        {.op = takt_op_find("softmax"),
         .shape = {.rank = 2, .dim = {r, w}},
         .in = {at[5]},
         .out = at[6]},
    };
    for (size_t i = 0; i < sizeof call / sizeof call[0]; i++)
        MUST(takt_run(c->rig->ctx, &call[i], NULL));
}

static void run_chain_plain(void *self)
{
    run_chain_on(self, false);
}

/* New input each time, and the result on the host: both are part of it. */
static void run_chain_buffers(void *self)
{
    struct chain *c = self;
    void *host;

    MUST(takt_buffer_map(c->buffer[0], TAKT_MAP_WRITE | TAKT_MAP_DISCARD,
                         &host));
    memcpy(host, c->plain[0], c->rows * c->wide * 4);
    MUST(takt_buffer_unmap(c->buffer[0]));
    run_chain_on(c, true);
    MUST(takt_buffer_map(c->buffer[6], TAKT_MAP_READ, &host));
    MUST(takt_buffer_unmap(c->buffer[6]));
}

static void show_chain(struct rig *rig)
{
    static const size_t sizes[] = {256, 512, 1024, 2048};

    printf("\nmatmul, add, relu, matmul, softmax of n x n, us\n");
    printf("%6s %12s %12s %6s   %s\n", "n", "plain", "buffers", "gain",
           "where the buffers are");
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        struct chain c = {.rig = rig, .rows = sizes[s], .wide = sizes[s]};
        const size_t n = sizes[s] * sizes[s];
        struct way way[] = {{.name = "plain", .run = run_chain_plain},
                            {.name = "buffers", .run = run_chain_buffers}};
        char text[64];
        for (int i = 0; i < 7; i++) {
            c.plain[i] = random_floats(n);
            MUST(takt_buffer_create(rig->ctx, n * 4, c.plain[i], &c.buffer[i]));
        }
        for (int i = 0; i < 40; i++) { /* to learn what each takes */
            run_chain_plain(&c);
            run_chain_buffers(&c);
        }
        takt_ctx_flush(rig->ctx);
        compare(way, 2, 41, &c);
        printf("%6zu %12.1f %12.1f %6.2f  ", sizes[s], way[0].seconds[0] * 1e6,
               way[1].seconds[0] * 1e6, way[0].seconds[0] / way[1].seconds[0]);
        for (int i = 0; i < 7; i++) {
            takt_buffer_residency(c.buffer[i], text, sizeof text);
            printf(" [%s]", text);
            takt_buffer_destroy(c.buffer[i]);
            free(c.plain[i]);
        }
        printf("\n");
    }
}

/* ---- the rig ---------------------------------------------------------------
 */

static bool find_cuda(struct rig *rig)
{
    const char *name;

    for (rig->arm = 0;
         (name = takt_ctx_expert(rig->ctx, rig->arm, NULL)) != NULL; rig->arm++)
        if (strcmp(name, "cuda.0") == 0)
            break;
    if (name == NULL)
        return false;
    rig->device = rig->ctx->experts.expert[rig->arm].device;
    rig->cuda = rig->device->self;
    rig->api = rig->cuda == NULL ? NULL : rig->cuda->api;
    return rig->cuda != NULL;
}

/* Without names, everything. */
static bool is_wanted(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return true;
    return argc < 2;
}

int main(int argc, char **argv)
{
    bench_refuse_options(argc, argv,
                         "[shortest|vectors|rows|products|chain...]");
    const takt_ctx_options options = {.gpu = "all", .store = ""};
    struct rig rig;
    takt_gpu_device gpu = {.size = sizeof gpu};

    MUST(takt_ctx_create(&options, &rig.ctx));
    if (!find_cuda(&rig)) {
        const char *why = takt_ctx_gpu_problem(rig.ctx, 0);
        printf("no CUDA device: %s\n", why == NULL ? "none was found" : why);
        takt_ctx_destroy(rig.ctx);
        return 0;
    }
    MUST(takt_ctx_gpu(rig.ctx, 0, &gpu));
    printf("%s, %s, opened in %.2f s\n", gpu.model, gpu.version, gpu.open_s);
    if (is_wanted(argc, argv, "shortest"))
        show_shortest(&rig);
    if (is_wanted(argc, argv, "vectors"))
        show_vectors(&rig);
    if (is_wanted(argc, argv, "rows"))
        show_rows(&rig);
    if (is_wanted(argc, argv, "products"))
        show_products(&rig);
    if (is_wanted(argc, argv, "chain"))
        show_chain(&rig);
    takt_ctx_destroy(rig.ctx);
    return 0;
}
