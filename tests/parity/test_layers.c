/* SPDX-License-Identifier: MIT */
/*
 * test_layers.c - convolution, pooling and attention kernels against their
 * definition, which computes in double and rounds once. Units are run at once
 * and one by one from the last to the first: the bits must be the same.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include "parity/kernels.h"

enum { room = 1 << 20, layers = is_sanitized ? 60 : 250 };

static struct guard in_guard, weights_guard, third_guard, out_guard;
static struct guard mask_guard, scratch_guard;
static float *want, *magnitude, *again;

static const struct takt_layer_kernels *scalar_kernels(void)
{
    return kernel_of(TAKT_KERNEL_scalar, TAKT_KERNEL_KIND_layers, "conv2d",
                     TAKT_KERNEL_f32)
        ->run.layers;
}

static struct takt_gemm_blocks blocks_of(enum takt_kernel_isa isa)
{
    const struct takt_gemm_caches caches = {2048, 8192, 1 << 16};
    struct takt_gemm_blocks blocks;

    kernel_of(isa, TAKT_KERNEL_KIND_gemm, "matmul", TAKT_KERNEL_f32)
        ->run.gemm->tune(&caches, &blocks);
    return blocks;
}

static size_t pick(uint64_t *seed, size_t low, size_t high)
{
    return low + random_next(seed) % (high - low + 1);
}

static float *floats(const struct guard *guard, enum guard_side side, size_t n,
                     uint64_t *seed)
{
    float *at = guard_at(guard, side, n * sizeof(float), 0);

    fill_unit(at, false, n, seed);
    return at;
}

static void *scratch_of(size_t bytes, enum guard_side side)
{
    if (bytes == 0)
        return NULL;
    void *scratch = guard_at(&scratch_guard, side, bytes, side ? 0 : 4);
    guard_paint(&scratch_guard, scratch, bytes);
    return scratch;
}

static void check_scratch(const void *scratch, size_t bytes)
{
    if (bytes > 0)
        TAP_CHECK(guard_is_whole(&scratch_guard, scratch, bytes),
                  "%s: wrote outside its scratch", guard_doing);
}

static void check_again(const float *out, size_t n)
{
    TAP_CHECK(memcmp(out, again, n * sizeof(float)) == 0,
              "%s: other bits when its units run one by one", guard_doing);
    TAP_CHECK(guard_is_whole(&out_guard, out, n * sizeof(float)),
              "%s: wrote outside", guard_doing);
}

static void check_near(const char *op, const float *out, size_t i,
                       double allowed)
{
    tolerance_note(op, isa_name(current_isa), false,
                   fabs((double)out[i] - (double)want[i]), allowed);
    TAP_CHECK(is_near((double)out[i], (double)want[i], allowed, false),
              "%s: [%zu] is %.9g, not %.9g, off by %g times", guard_doing, i,
              (double)out[i], (double)want[i],
              fabs((double)out[i] - (double)want[i]) / allowed);
}

/* ---- conv2d ----------------------------------------------------------------
 */

static size_t conv2d_outputs(const struct takt_conv2d_call *c)
{
    return c->batch * c->filters * takt__conv2d_height(c) *
           takt__conv2d_width(c);
}

static struct takt_conv2d_call random_conv2d(size_t k, uint64_t *seed)
{
    struct takt_conv2d_call c = {.batch = pick(seed, 1, 2),
                                 .rows = pick(seed, 1, k % 9 == 0 ? 7 : 3),
                                 .cols = pick(seed, 1, k % 8 == 0 ? 7 : 3),
                                 .stride = pick(seed, 1, 3),
                                 .groups = 1};
    const size_t least = c.rows < c.cols ? c.rows : c.cols;

    c.pad = pick(seed, 0, least - 1);
    c.height = pick(seed, c.rows, 20);
    c.width = pick(seed, c.cols, 40);
    c.channels = pick(seed, 1, 9);
    c.filters = pick(seed, 1, 20);
    if (k % 3 == 1) {
        c.groups = pick(seed, 1, 4);
        c.channels = c.groups * pick(seed, 1, 3);
        c.filters = c.groups * pick(seed, 1, 5);
    } else if (k % 3 == 2) { /* depthwise */
        c.groups = c.channels;
        c.filters = c.channels * pick(seed, 1, 2);
    }
    return c;
}

static void place_conv2d(struct takt_conv2d_call *c, size_t k, uint64_t *seed)
{
    const enum guard_side side = (enum guard_side)(k % 2);
    const size_t depth = c->channels / c->groups;

    c->in = floats(&in_guard, side,
                   c->batch * c->channels * c->height * c->width, seed);
    c->weights = floats(&weights_guard, side,
                        c->filters * depth * c->rows * c->cols, seed);
    c->bias = k % 4 < 2 ? floats(&third_guard, side, c->filters, seed) : NULL;
    c->out = guard_at(&out_guard, side, conv2d_outputs(c) * sizeof(float), 0);
}

/* The definition on the magnitudes of everything is what to be relative to. */
static void define_conv2d(struct takt_conv2d_call c)
{
    static float sizes[3][room / 4];
    const size_t in = c.batch * c.channels * c.height * c.width;
    const size_t weights =
        c.filters * (c.channels / c.groups) * c.rows * c.cols;
    const size_t units = takt__conv2d_units(&c);

    c.out = want;
    scalar_kernels()->conv2d(&c, 0, units, NULL, NULL);
    for (size_t i = 0; i < in; i++)
        sizes[0][i] = fabsf(c.in[i]);
    for (size_t i = 0; i < weights; i++)
        sizes[1][i] = fabsf(c.weights[i]);
    for (size_t i = 0; i < c.filters && c.bias != NULL; i++)
        sizes[2][i] = fabsf(c.bias[i]);
    c.in = sizes[0];
    c.weights = sizes[1];
    c.bias = c.bias != NULL ? sizes[2] : NULL;
    c.out = magnitude;
    scalar_kernels()->conv2d(&c, 0, units, NULL, NULL);
}

static void run_conv2d(const struct takt_kernel *kernel,
                       const struct takt_conv2d_call *c, enum guard_side side)
{
    const struct takt_gemm_blocks blocks = blocks_of(kernel->isa);
    const size_t n = conv2d_outputs(c), units = takt__conv2d_units(c);
    const size_t bytes = kernel->run.layers->conv2d_room(c, &blocks);
    void *scratch = scratch_of(bytes, side);

    guard_paint(&out_guard, c->out, n * sizeof(float));
    for (size_t u = units; u-- > 0;)
        kernel->run.layers->conv2d(c, u, 1, &blocks, scratch);
    memcpy(again, c->out, n * sizeof(float));
    guard_paint(&out_guard, c->out, n * sizeof(float));
    kernel->run.layers->conv2d(c, 0, units, &blocks, scratch);
    check_scratch(scratch, bytes);
}

static void check_conv2d(const struct takt_kernel *kernel,
                         const struct takt_conv2d_call *c, enum guard_side side)
{
    const size_t taps = c->channels / c->groups * c->rows * c->cols;
    const int failures = tap_failures;

    DOING("conv2d %s, %zux%zux%zux%zu, %zu of %zux%zu, stride %zu, pad %zu, "
          "groups %zu",
          isa_name(kernel->isa), c->batch, c->channels, c->height, c->width,
          c->filters, c->rows, c->cols, c->stride, c->pad, c->groups);
    define_conv2d(*c);
    run_conv2d(kernel, c, side);
    for (size_t i = 0; i < conv2d_outputs(c) && tap_failures == failures; i++)
        check_near("conv2d", c->out, i,
                   tolerance_sum(tolerance_find("conv2d"), false,
                                 (double)magnitude[i], taps));
    check_again(c->out, conv2d_outputs(c));
}

static void conv2ds_of(const struct takt_kernel *kernel)
{
    uint64_t seed = 1;

    for (size_t k = 0; k < layers; k += case_step()) {
        struct takt_conv2d_call c = random_conv2d(k, &seed);
        place_conv2d(&c, k, &seed);
        if (k % 5 == 0)
            ((float *)(uintptr_t)c.in)[pick(&seed, 0, c.height * c.width - 1)] =
                (float)special(false, k / 5);
        check_conv2d(kernel, &c, (enum guard_side)(k % 2));
    }
}

static void convolutions_are_right(void)
{
    each_kernel(TAKT_KERNEL_KIND_layers, conv2ds_of);
}

/* ---- pooling ---------------------------------------------------------------
 */

static size_t pooling_outputs(const struct takt_pooling_call *c)
{
    return c->batch * c->channels * takt__pooling_height(c) *
           takt__pooling_width(c);
}

static void run_pooling(const struct takt_kernel *kernel,
                        const struct takt_pooling_call *c, enum guard_side side)
{
    const size_t n = pooling_outputs(c), units = takt__pooling_units(c);
    const size_t bytes = kernel->run.layers->pooling_room(c);
    void *scratch = scratch_of(bytes, side);

    guard_paint(&out_guard, c->out, n * sizeof(float));
    for (size_t u = units; u-- > 0;)
        kernel->run.layers->pooling(c, u, 1, scratch);
    memcpy(again, c->out, n * sizeof(float));
    guard_paint(&out_guard, c->out, n * sizeof(float));
    kernel->run.layers->pooling(c, 0, units, scratch);
    check_scratch(scratch, bytes);
}

static void define_pooling(struct takt_pooling_call c)
{
    static float sizes[room / 4];
    const size_t in = c.batch * c.channels * c.height * c.width;
    const size_t units = takt__pooling_units(&c);

    c.out = want;
    scalar_kernels()->pooling(&c, 0, units, NULL);
    for (size_t i = 0; i < in; i++)
        sizes[i] = fabsf(c.in[i]);
    c.in = sizes;
    c.out = magnitude;
    scalar_kernels()->pooling(&c, 0, units, NULL);
}

static void check_pooling(const struct takt_kernel *kernel,
                          const struct takt_pooling_call *c,
                          enum guard_side side)
{
    const int failures = tap_failures;

    DOING("pooling %s, %s of %zux%zux%zux%zu, window %zu, stride %zu, pad %zu",
          isa_name(kernel->isa), c->is_mean ? "mean" : "max", c->batch,
          c->channels, c->height, c->width, c->window, c->stride, c->pad);
    define_pooling(*c);
    run_pooling(kernel, c, side);
    for (size_t i = 0; i < pooling_outputs(c) && tap_failures == failures; i++)
        if (c->is_mean)
            check_near("pooling", c->out, i,
                       tolerance_sum(tolerance_find("pooling"), false,
                                     (double)magnitude[i], 0));
        else
            TAP_CHECK(same_value((double)c->out[i], (double)want[i]),
                      "%s: [%zu] is %g, not %g", guard_doing, i,
                      (double)c->out[i], (double)want[i]);
    check_again(c->out, pooling_outputs(c));
}

static void poolings_of(const struct takt_kernel *kernel)
{
    uint64_t seed = 2;

    for (size_t k = 0; k < 2 * layers; k += case_step()) {
        const enum guard_side side = (enum guard_side)(k / 2 % 2);
        struct takt_pooling_call c = {.batch = pick(&seed, 1, 2),
                                      .channels = pick(&seed, 1, 4),
                                      .window = pick(&seed, 1, k % 7 ? 4 : 9),
                                      .stride = pick(&seed, 1, 4),
                                      .is_mean = k % 2 == 1};
        c.pad = pick(&seed, 0, c.window - 1);
        c.height = pick(&seed, c.window, 25);
        c.width = pick(&seed, c.window, 70);
        const size_t in = c.batch * c.channels * c.height * c.width;
        float *x = floats(&in_guard, side, in, &seed);
        for (size_t i = 0; i < in && k % 3 == 0; i += 1 + i % 5)
            x[i] = k % 4 == 0 ? (i % 2 ? -0.0F : 0.0F)
                              : (float)special(false, i % 31 == 0 ? k : 0);
        c.in = x;
        c.out =
            guard_at(&out_guard, side, pooling_outputs(&c) * sizeof(float), 0);
        check_pooling(kernel, &c, side);
    }
}

static void poolings_are_right(void)
{
    each_kernel(TAKT_KERNEL_KIND_layers, poolings_of);
}

/* ---- attention -------------------------------------------------------------
 */

static void run_attention(const struct takt_kernel *kernel,
                          const struct takt_attention_call *c,
                          enum guard_side side)
{
    const struct takt_gemm_blocks blocks = blocks_of(kernel->isa);
    const size_t n = c->batch * c->heads * c->queries * c->depth;
    const size_t units = takt__attention_units(c);
    const size_t bytes = kernel->run.layers->attention_room(c, &blocks);
    void *scratch = scratch_of(bytes, side);

    guard_paint(&out_guard, c->out, n * sizeof(float));
    for (size_t u = units; u-- > 0;)
        kernel->run.layers->attention(c, u, 1, &blocks, scratch);
    memcpy(again, c->out, n * sizeof(float));
    guard_paint(&out_guard, c->out, n * sizeof(float));
    kernel->run.layers->attention(c, 0, units, &blocks, scratch);
    check_scratch(scratch, bytes);
}

static void define_attention(struct takt_attention_call c)
{
    static double sums[1024];
    const size_t units = takt__attention_units(&c);

    REQUIRE(scalar_kernels()->attention_room(&c, NULL) <= sizeof sums);
    c.out = want;
    scalar_kernels()->attention(&c, 0, units, NULL, sums);
}

/* Operands are in [-1, 1], so depth bounds the scores and 1 the values. */
static void check_attention(const struct takt_kernel *kernel,
                            const struct takt_attention_call *c,
                            enum guard_side side)
{
    const size_t n = c->batch * c->heads * c->queries * c->depth;
    const double score =
        fabs((double)c->scale) * (double)c->depth + (c->mask != NULL ? 1 : 0);
    const int failures = tap_failures;

    DOING("attention %s, %zux%zu, %zu queries, %zu keys, depth %zu%s%s",
          isa_name(kernel->isa), c->batch, c->heads, c->queries, c->keys,
          c->depth, c->is_causal ? ", causal" : "",
          c->mask != NULL ? ", mask" : "");
    define_attention(*c);
    run_attention(kernel, c, side);
    for (size_t i = 0; i < n && tap_failures == failures; i++)
        check_near("attention", c->out, i, tolerance_attention(score, 1));
    check_again(c->out, n);
}

static void hide_some(const struct takt_attention_call *c, uint64_t *seed)
{
    float *mask = (float *)(uintptr_t)c->mask;

    for (size_t i = 0; i < c->queries * c->keys; i++)
        if (random_next(seed) % 3 == 0)
            mask[i] = -INFINITY;
    for (size_t j = 0; j < c->keys; j++) /* one query sees nothing */
        mask[j] = -INFINITY;
}

static void attentions_of(const struct takt_kernel *kernel)
{
    uint64_t seed = 3;

    for (size_t k = 0; k < layers; k += case_step()) {
        const enum guard_side side = (enum guard_side)(k % 2);
        struct takt_attention_call c = {
            .batch = pick(&seed, 1, 2),
            .heads = pick(&seed, 1, 3),
            .queries = k % 6 == 0 ? 1 : pick(&seed, 1, 40),
            .keys = pick(&seed, k % 16 == 0 ? 0 : 1, k % 10 == 0 ? 300 : 50),
            .depth = pick(&seed, 1, 70),
            .is_causal = k % 3 == 0};
        c.scale = 1 / sqrtf((float)c.depth);
        const size_t q = c.batch * c.heads * c.queries * c.depth;
        const size_t kv = c.batch * c.heads * c.keys * c.depth;
        c.q = floats(&in_guard, side, q, &seed);
        c.k = floats(&weights_guard, side, kv, &seed);
        c.v = floats(&third_guard, side, kv, &seed);
        c.out = guard_at(&out_guard, side, q * sizeof(float), 0);
        if (k % 4 == 1)
            c.mask = floats(&mask_guard, side, c.queries * c.keys, &seed);
        if (k % 8 == 1)
            hide_some(&c, &seed);
        if (k % 9 == 2 && kv > 0)
            ((float *)(uintptr_t)c.k)[pick(&seed, 0, kv - 1)] = NAN;
        check_attention(kernel, &c, side);
    }
}

static void attentions_are_right(void)
{
    each_kernel(TAKT_KERNEL_KIND_layers, attentions_of);
}

int main(void)
{
    struct guard *guards[] = {&in_guard, &weights_guard, &third_guard,
                              &out_guard, &mask_guard};

    guard_watch();
    for (size_t i = 0; i < sizeof guards / sizeof guards[0]; i++)
        *guards[i] = guard_make(room);
    scratch_guard = guard_make(64 * room);
    want = malloc(room);
    magnitude = malloc(room);
    again = malloc(room);
    REQUIRE(want != NULL && magnitude != NULL && again != NULL);
    RUN_EACH_ISA(convolutions_are_right);
    RUN_EACH_ISA(poolings_are_right);
    RUN_EACH_ISA(attentions_are_right);
    tolerance_print();
    free(want);
    free(magnitude);
    free(again);
    return tap_done();
}
