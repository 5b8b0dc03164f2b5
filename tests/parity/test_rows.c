/* SPDX-License-Identifier: MIT */
/*
 * test_rows.c - softmax and layernorm kernels against the same in long double,
 * and transposes bit by bit.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include "parity/kernels.h"

enum { room = 64 * 1024 * 8 };

static struct guard in_guard, out_guard, gain_guard, bias_guard;
static double exact[room / 8], scale[room / 8];

/* ---- rows -----------------------------------------------------------------
 */

struct rows_case {
    const struct takt_kernel *kernel;
    size_t rows, cols;
    const float *in, *gain, *bias;
    float *out;
    double epsilon;
};

static void exact_softmax(const struct rows_case *c, const float *x, double *to,
                          double *allowed)
{
    double most = -(double)INFINITY;
    long double sum = 0;

    for (size_t j = 0; j < c->cols; j++)
        most = fmax(most, (double)x[j]);
    for (size_t j = 0; j < c->cols; j++)
        sum += expl((long double)x[j] - (long double)most);
    for (size_t j = 0; j < c->cols; j++) {
        const long double apart = (long double)x[j] - (long double)most;
        to[j] = (double)(expl(apart) / sum);
        allowed[j] = tolerance_softmax(to[j], (double)apart);
    }
}

static void exact_layernorm(const struct rows_case *c, const float *x,
                            double *to, double *allowed)
{
    long double mean = 0, around = 0;

    for (size_t j = 0; j < c->cols; j++)
        mean += (long double)x[j] / (long double)c->cols;
    for (size_t j = 0; j < c->cols; j++)
        around += ((long double)x[j] - mean) * ((long double)x[j] - mean);
    const long double spread =
        sqrtl(around / (long double)c->cols + (long double)c->epsilon);
    for (size_t j = 0; j < c->cols; j++) {
        const double gain = c->gain != NULL ? (double)c->gain[j] : 1;
        const double bias = c->bias != NULL ? (double)c->bias[j] : 0;
        const double z = (double)(((long double)x[j] - mean) / spread);
        to[j] = z * gain + bias;
        allowed[j] = tolerance_layernorm(z, gain, bias);
    }
}

static void exact_rows(const struct rows_case *c)
{
    for (size_t i = 0; i < c->rows; i++) {
        const size_t at = i * c->cols;
        if (strcmp(c->kernel->op, "softmax") == 0)
            exact_softmax(c, c->in + at, exact + at, scale + at);
        else
            exact_layernorm(c, c->in + at, exact + at, scale + at);
    }
}

static void compare(const struct rows_case *c)
{
    const size_t n = c->rows * c->cols;

    for (size_t i = 0; i < n; i++) {
        const double got = (double)c->out[i];
        tolerance_note(c->kernel->op, isa_name(c->kernel->isa), false,
                       fabs(got - exact[i]), scale[i]);
        if (!is_near(got, exact[i], scale[i], false)) {
            TAP_CHECK(false, "%s: [%zu] is %.9g, not %.9g, off by %g times",
                      guard_doing, i, got, exact[i],
                      fabs(got - exact[i]) / scale[i]);
            return;
        }
    }
    TAP_CHECK(guard_is_whole(&out_guard, c->out, n * sizeof(float)),
              "%s: wrote outside", guard_doing);
}

static void run(const struct rows_case *c)
{
    DOING("%s %s, %zu x %zu%s%s", c->kernel->op, isa_name(c->kernel->isa),
          c->rows, c->cols, c->gain != NULL ? ", gain" : "",
          c->bias != NULL ? ", bias" : "");
    c->kernel->run.rows(c->rows, c->cols, c->in, c->gain, c->bias, c->out,
                        c->epsilon);
}

static float *floats(const struct guard *guard, enum guard_side side, size_t n,
                     double width, uint64_t *seed)
{
    float *at = guard_at(guard, side, n * sizeof(float), 0);

    for (size_t i = 0; i < n; i++)
        at[i] = (float)(width * (2 * random_unit(seed) - 1));
    return at;
}

static struct rows_case rows_of(const struct takt_kernel *kernel, size_t rows,
                                size_t cols, unsigned variant, uint64_t *seed)
{
    const enum guard_side side = (variant & 1) != 0 ? GUARD_HIGH : GUARD_LOW;
    const bool is_softmax = strcmp(kernel->op, "softmax") == 0;
    const double width = is_softmax ? (double[]){1, 10, 60}[variant % 3] : 3;
    struct rows_case c = {
        .kernel = kernel, .rows = rows, .cols = cols, .epsilon = 1e-5};

    c.in = floats(&in_guard, side, rows * cols, width, seed);
    c.out = guard_at(&out_guard, side, rows * cols * sizeof(float), 0);
    if (!is_softmax && (variant & 2) != 0)
        c.gain = floats(&gain_guard, side, cols, 2, seed);
    if (!is_softmax && (variant & 4) != 0)
        c.bias = floats(&bias_guard, side, cols, 2, seed);
    return c;
}

static void rows_lengths_of(const struct takt_kernel *kernel)
{
    uint64_t seed = 1;

    for (size_t i = 1; i < 76; i += case_step())
        for (unsigned variant = 0; variant < 8; variant++) {
            const size_t cols =
                i < 72 ? i : (size_t[]){131, 257, 521, 4099}[i - 72];
            struct rows_case c =
                rows_of(kernel, 1 + variant % 3, cols, variant, &seed);
            guard_paint(&out_guard, c.out, c.rows * c.cols * sizeof(float));
            exact_rows(&c);
            run(&c);
            compare(&c);
        }
}

static void rows_are_right_at_every_length(void)
{
    each_kernel(TAKT_KERNEL_KIND_rows, rows_lengths_of);
}

static void rows_in_place_of(const struct takt_kernel *kernel)
{
    uint64_t seed = 2;

    for (size_t cols = 1; cols < 200; cols += 3) {
        struct rows_case c = rows_of(kernel, 3, cols, 7, &seed);
        guard_paint(&out_guard, c.out, 3 * cols * sizeof(float));
        memcpy(c.out, c.in, 3 * cols * sizeof(float));
        exact_rows(&c);
        c.in = c.out;
        run(&c);
        compare(&c);
    }
}

static void rows_may_be_in_place(void)
{
    each_kernel(TAKT_KERNEL_KIND_rows, rows_in_place_of);
}

/* One special value in a row of three; the others must not notice. */
static void rows_specials_of(const struct takt_kernel *kernel)
{
    const struct takt_kernel *scalar = kernel_of(
        TAKT_KERNEL_scalar, TAKT_KERNEL_KIND_rows, kernel->op, TAKT_KERNEL_f32);
    static float want[3 * 300];
    uint64_t seed = 3;

    for (size_t k = 0; k < specials * 8; k++) {
        const size_t cols = 1 + random_next(&seed) % 299;
        struct rows_case c = rows_of(kernel, 3, cols, 1, &seed);
        const size_t at = cols + random_next(&seed) % cols;
        ((float *)(uintptr_t)c.in)[at] = (float)special(false, k);
        if (k >= 6 * specials) /* nothing but -inf */
            for (size_t j = 0; j < cols; j++)
                ((float *)(uintptr_t)c.in)[cols + j] = -INFINITY;
        exact_rows(&c);
        scalar->run.rows(3, cols, c.in, NULL, NULL, want, c.epsilon);
        for (size_t i = 0; i < 3 * cols; i++)
            if (!isfinite(want[i]))
                exact[i] = (double)want[i];
        guard_paint(&out_guard, c.out, 3 * cols * sizeof(float));
        run(&c);
        compare(&c);
    }
}

static void rows_treat_special_values_alike(void)
{
    each_kernel(TAKT_KERNEL_KIND_rows, rows_specials_of);
}

/* ---- transpose ------------------------------------------------------------
 */

struct transpose_case {
    const struct takt_kernel *kernel;
    bool is_double;
    size_t rows, cols, ld_in, ld_out;
    void *in, *out;
};

static size_t span(size_t rows, size_t cols, size_t ld)
{
    return rows == 0 || cols == 0 ? 0 : (rows - 1) * ld + cols;
}

/* Between the rows of the output nothing may change. */
static bool is_transposed(const struct transpose_case *c)
{
    const size_t size = size_of(c->is_double);

    for (size_t j = 0; j < c->cols; j++) {
        const char *row = (const char *)c->out + j * c->ld_out * size;
        for (size_t i = 0; i < c->rows; i++)
            if (memcmp(row + i * size,
                       (const char *)c->in + (i * c->ld_in + j) * size, size))
                return false;
        if (c->rows > 0 && j + 1 < c->cols &&
            !guard_is_painted(row + c->rows * size,
                              (c->ld_out - c->rows) * size))
            return false;
    }
    return true;
}

static void check_transpose(struct transpose_case *c, enum guard_side side,
                            uint64_t *seed)
{
    const size_t size = size_of(c->is_double);
    const size_t in = span(c->rows, c->cols, c->ld_in);
    const size_t out = span(c->cols, c->rows, c->ld_out) * size;

    c->in = guard_at(&in_guard, side, in * size, 0);
    c->out = guard_at(&out_guard, side, out, 0);
    fill_bits(c->in, c->is_double, in, seed);
    guard_paint(&out_guard, c->out, out);
    DOING("transpose %s %s, %zu x %zu, ld %zu and %zu",
          c->is_double ? "f64" : "f32", isa_name(c->kernel->isa), c->rows,
          c->cols, c->ld_in, c->ld_out);
    c->kernel->run.transpose(c->rows, c->cols, c->in, c->ld_in, c->out,
                             c->ld_out);
    TAP_CHECK(is_transposed(c) && guard_is_whole(&out_guard, c->out, out),
              "%s: wrong", guard_doing);
}

static void transposes_of(const struct takt_kernel *kernel)
{
    uint64_t seed = 4;
    struct transpose_case c = {.kernel = kernel,
                               .is_double = kernel->dtype == TAKT_KERNEL_f64};

    for (size_t k = 0; k < 35 * 35 + 40; k += case_step()) {
        const bool is_small = k < 35 * 35;
        c.rows = is_small ? k / 35 : 1 + random_next(&seed) % 170;
        c.cols = is_small ? k % 35 : 1 + random_next(&seed) % 170;
        c.ld_in = c.cols + (k % 3 == 1 ? 5 : 0);
        c.ld_out = c.rows + (k % 3 == 2 ? 3 : 0);
        check_transpose(&c, (enum guard_side)(k % 2), &seed);
    }
}

static void transposes_move_every_bit(void)
{
    each_kernel(TAKT_KERNEL_KIND_transpose, transposes_of);
    if (current_isa != TAKT_KERNEL_scalar)
        each_kernel(TAKT_KERNEL_KIND_stream_transpose, transposes_of);
}

int main(void)
{
    guard_watch();
    in_guard = guard_make(room);
    out_guard = guard_make(room);
    gain_guard = guard_make(room);
    bias_guard = guard_make(room);
    RUN_EACH_ISA(rows_are_right_at_every_length);
    RUN_EACH_ISA(rows_may_be_in_place);
    RUN_EACH_ISA(rows_treat_special_values_alike);
    RUN_EACH_ISA(transposes_move_every_bit);
    tolerance_print();
    return tap_done();
}
