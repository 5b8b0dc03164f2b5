/* SPDX-License-Identifier: MIT */
/*
 * trial.h - a random call of any op, with operands that end at a page nobody
 * may touch.
 */
#pragma once

#include "op/op_id.h"
#include "support/dominant.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/tolerance.h"
#include "takt/takt.h"

enum { trial_room = 1 << 21, trial_inputs = 4 };

struct trial {
    takt_call call;
    size_t in[trial_inputs]; /* elements; 0: the op has none */
    size_t out;
    size_t out_bytes;
    size_t terms; /* that are added up for one element */
    const struct takt_tolerance *tolerance;
};

static struct guard trial_in[trial_inputs];
static struct guard trial_out;

static inline void trial_init(void)
{
    for (int i = 0; i < trial_inputs; i++)
        trial_in[i] = guard_make(trial_room);
    trial_out = guard_make(trial_room);
}

static inline size_t pick(uint64_t *seed, size_t low, size_t high)
{
    return low + random_next(seed) % (high - low + 1);
}

static inline void set_shape(struct trial *t, unsigned rank, const size_t *dim)
{
    t->call.shape.rank = rank;
    for (unsigned i = 0; i < rank; i++)
        t->call.shape.dim[i] = dim[i];
}

static inline size_t span_of(size_t rows, size_t cols, size_t ld)
{
    return rows == 0 || cols == 0 ? 0 : (rows - 1) * ld + cols;
}

static inline void shape_vector(struct trial *t, size_t k, uint64_t *seed)
{
    static const size_t sizes[] = {1, 2, 15, 16, 17, 63, 64, 65, 127, 257};
    const bool is_reduction =
        takt__op_entry(t->call.op)->form == TAKT_FORM_reduce;
    const size_t n = k % 2 == 0   ? sizes[k / 2 % 10]
                     : k % 7 == 0 ? pick(seed, 60000, 70000)
                                  : pick(seed, 0, 3000);
    const size_t dim[] = {is_reduction && n == 0 ? 1 : n};

    set_shape(t, 1, dim);
    for (unsigned i = 0; i < t->call.op->inputs; i++)
        t->in[i] = dim[0];
    t->out = is_reduction ? 1 : dim[0];
}

static inline void shape_matrix(struct trial *t, uint64_t *seed)
{
    const size_t dim[] = {pick(seed, 0, 90), pick(seed, 0, 90)};
    const bool is_rows = takt__op_entry(t->call.op)->form == TAKT_FORM_rows;
    const size_t gap = is_rows ? 0 : pick(seed, 0, 2);

    set_shape(t, 2, dim);
    t->call.ld[0] = is_rows ? 0 : dim[1] + gap;
    t->call.ld[2] = is_rows ? 0 : dim[0] + gap;
    t->in[0] = span_of(dim[0], dim[1], dim[1] + gap);
    t->out = is_rows ? t->in[0] : span_of(dim[1], dim[0], dim[0] + gap);
    if (takt__op_id(t->call.op) == TAKT_OP_layernorm) {
        t->in[1] = random_next(seed) % 2 ? dim[1] : 0;
        t->in[2] = random_next(seed) % 2 ? dim[1] : 0;
        t->call.alpha = 1e-5;
    }
}

static inline void shape_axes(struct trial *t, uint64_t *seed)
{
    const enum takt_form form = takt__op_entry(t->call.op)->form;
    const size_t most = random_next(seed) % 2 == 0 ? 40 : 300;
    const size_t dim[] = {pick(seed, 1, 200), pick(seed, 1, most)};

    set_shape(t, 2, dim);
    t->in[0] = dim[0] * dim[1];
    t->in[1] = form == TAKT_FORM_bias ? dim[1] : 0;
    t->out = form == TAKT_FORM_bias      ? t->in[0]
             : form == TAKT_FORM_by_rows ? dim[0]
                                         : dim[1];
    t->terms = form == TAKT_FORM_by_rows ? dim[1] : dim[0];
}

static inline void pick_factors(struct trial *t, uint64_t *seed)
{
    static const double factors[] = {1, 0, -1, 0.75, 1, 2};

    t->call.alpha = factors[random_next(seed) % 6];
    t->call.beta = factors[random_next(seed) % 6];
    t->call.flags |= TAKT_CALL_ALPHA_ZERO;
}

static inline void shape_gemv(struct trial *t, uint64_t *seed)
{
    const size_t dim[] = {pick(seed, 0, 200), pick(seed, 0, 200)};
    const bool trans = random_next(seed) % 2 == 0;

    set_shape(t, 2, dim);
    pick_factors(t, seed);
    t->call.flags = TAKT_CALL_ALPHA_ZERO | (trans ? TAKT_TRANS_A : 0);
    t->call.ld[0] = dim[1] + pick(seed, 0, 3);
    t->in[0] = span_of(dim[0], dim[1], t->call.ld[0]);
    t->in[1] = trans ? dim[0] : dim[1];
    t->out = trans ? dim[1] : dim[0];
    t->terms = t->in[1];
}

static inline void shape_matmul(struct trial *t, size_t k, uint64_t *seed)
{
    const size_t most = k % 4 == 0 ? 130 : 50, gap = pick(seed, 0, 2);
    const size_t m = pick(seed, 0, most), n = pick(seed, 0, most);
    const size_t depth = pick(seed, 0, most);
    const bool trans_a = (k & 1) != 0, trans_b = (k & 2) != 0;

    set_shape(t, 3, (size_t[]){m, n, depth});
    pick_factors(t, seed);
    t->call.flags = TAKT_CALL_ALPHA_ZERO | (trans_a ? TAKT_TRANS_A : 0) |
                    (trans_b ? TAKT_TRANS_B : 0);
    t->call.ld[0] = (trans_a ? m : depth) + gap;
    t->call.ld[1] = (trans_b ? depth : n) + gap;
    t->call.ld[2] = n + gap;
    t->in[0] = trans_a ? span_of(depth, m, t->call.ld[0])
                       : span_of(m, depth, t->call.ld[0]);
    t->in[1] = trans_b ? span_of(n, depth, t->call.ld[1])
                       : span_of(depth, n, t->call.ld[1]);
    t->out = span_of(m, n, t->call.ld[2]);
    t->terms = depth;
}

static inline void shape_batched(struct trial *t, uint64_t *seed)
{
    const size_t dim[] = {pick(seed, 0, 6), pick(seed, 1, 40),
                          pick(seed, 1, 40), pick(seed, 0, 40)};

    set_shape(t, 4, dim);
    pick_factors(t, seed);
    t->in[0] = dim[0] * dim[1] * dim[3];
    t->in[1] = dim[0] * dim[3] * dim[2];
    t->out = dim[0] * dim[1] * dim[2];
    t->terms = dim[3];
}

static inline size_t steps_of(size_t size, size_t window, size_t stride,
                              size_t pad)
{
    return (size + 2 * pad - window) / stride + 1;
}

static inline void shape_conv2d(struct trial *t, uint64_t *seed)
{
    const size_t groups = pick(seed, 1, 3);
    const size_t channels = groups * pick(seed, 1, 3);
    const size_t filters = groups * pick(seed, 1, 8);
    const size_t rows = pick(seed, 1, 3), cols = pick(seed, 1, 3);
    const size_t stride = pick(seed, 1, 2);
    const size_t pad = pick(seed, 0, (rows < cols ? rows : cols) - 1);
    const size_t high = pick(seed, rows, 15), wide = pick(seed, cols, 30);
    const size_t batch = pick(seed, 1, 3);

    set_shape(t, 10,
              (size_t[]){batch, channels, high, wide, filters, rows, cols,
                         stride, pad, groups});
    t->in[0] = batch * channels * high * wide;
    t->in[1] = filters * (channels / groups) * rows * cols;
    t->in[2] = random_next(seed) % 2 ? filters : 0;
    t->out = batch * filters * steps_of(high, rows, stride, pad) *
             steps_of(wide, cols, stride, pad);
    t->terms = channels / groups * rows * cols + 1;
}

static inline void shape_pooling(struct trial *t, uint64_t *seed)
{
    const size_t window = pick(seed, 1, 4), stride = pick(seed, 1, 3);
    const size_t pad = pick(seed, 0, window - 1);
    const size_t high = pick(seed, window, 30), wide = pick(seed, window, 50);
    const size_t planes = pick(seed, 1, 5);

    set_shape(t, 7, (size_t[]){1, planes, high, wide, window, stride, pad});
    t->call.flags = random_next(seed) % 2 ? TAKT_CALL_MEAN_POOL : 0;
    t->in[0] = planes * high * wide;
    t->out = planes * steps_of(high, window, stride, pad) *
             steps_of(wide, window, stride, pad);
}

static inline void shape_attention(struct trial *t, uint64_t *seed)
{
    const size_t d[] = {pick(seed, 1, 2), pick(seed, 1, 3), pick(seed, 1, 40),
                        pick(seed, 0, 60), pick(seed, 1, 40)};

    set_shape(t, 5, d);
    t->call.flags = random_next(seed) % 2 ? TAKT_CALL_CAUSAL : 0;
    t->in[0] = t->out = d[0] * d[1] * d[2] * d[4];
    t->in[1] = t->in[2] = d[0] * d[1] * d[3] * d[4];
    t->in[3] = random_next(seed) % 2 ? d[2] * d[3] : 0;
}

static inline void shape_factor(struct trial *t, size_t k, uint64_t *seed)
{
    const bool is_solve = takt__op_id(t->call.op) == TAKT_OP_solve;
    const size_t n = pick(seed, 0, k % 4 == 0 ? 130 : 40);
    const size_t cols = is_solve ? pick(seed, 0, 20) : n;

    set_shape(t, 2, (size_t[]){n, cols});
    t->call.ld[0] = n + pick(seed, 0, 2);
    t->call.ld[1] = is_solve ? cols + pick(seed, 0, 2) : 0;
    t->call.ld[2] = cols + pick(seed, 0, 2);
    t->in[0] = span_of(n, n, t->call.ld[0]);
    t->in[1] = is_solve ? span_of(n, cols, t->call.ld[1]) : 0;
    t->out = span_of(n, cols, t->call.ld[2]);
}

static inline void shape_qr(struct trial *t, size_t k, uint64_t *seed)
{
    const size_t n = pick(seed, 0, k % 4 == 0 ? 90 : 30);
    const size_t m = n + pick(seed, 1, 60); /* R is far from singular */

    set_shape(t, 2, (size_t[]){m, n});
    t->call.ld[0] = n + pick(seed, 0, 2);
    t->call.ld[2] = n + pick(seed, 0, 2);
    t->in[0] = span_of(m, n, t->call.ld[0]);
    t->out = span_of(m + n, n, t->call.ld[2]);
}

static inline void shape_lstsq(struct trial *t, size_t k, uint64_t *seed)
{
    const size_t n = pick(seed, 0, k % 4 == 0 ? 90 : 30);
    const size_t m = n + pick(seed, 0, 60), cols = pick(seed, 0, 20);

    set_shape(t, 3, (size_t[]){m, n, cols});
    t->call.ld[0] = n + pick(seed, 0, 2);
    t->call.ld[1] = cols + pick(seed, 0, 2);
    t->call.ld[2] = cols + pick(seed, 0, 2);
    t->in[0] = span_of(m, n, t->call.ld[0]);
    t->in[1] = span_of(m, cols, t->call.ld[1]);
    t->out = span_of(n, cols, t->call.ld[2]);
}

static inline void trial_shape(struct trial *t, size_t k, uint64_t *seed)
{
    switch (takt__op_entry(t->call.op)->form) {
    case TAKT_FORM_map:
    case TAKT_FORM_reduce:
        shape_vector(t, k, seed);
        break;
    case TAKT_FORM_rows:
    case TAKT_FORM_matrix:
        shape_matrix(t, seed);
        break;
    case TAKT_FORM_bias:
    case TAKT_FORM_by_rows:
    case TAKT_FORM_by_cols:
        shape_axes(t, seed);
        break;
    case TAKT_FORM_gemv:
        shape_gemv(t, seed);
        break;
    case TAKT_FORM_matmul:
        shape_matmul(t, k, seed);
        break;
    case TAKT_FORM_batched:
        shape_batched(t, seed);
        break;
    case TAKT_FORM_conv2d:
        shape_conv2d(t, seed);
        break;
    case TAKT_FORM_pool2d:
        shape_pooling(t, seed);
        break;
    case TAKT_FORM_attention:
        shape_attention(t, seed);
        break;
    case TAKT_FORM_cholesky:
    case TAKT_FORM_solve:
        shape_factor(t, k, seed);
        break;
    case TAKT_FORM_qr:
        shape_qr(t, k, seed);
        break;
    case TAKT_FORM_lstsq:
        shape_lstsq(t, k, seed);
        break;
    case TAKT_FORM_view:
    case TAKT_FORM_user:
        break;
    }
}

static inline void trial_fill(void *at, takt_dtype dtype, size_t n,
                              uint64_t *seed)
{
    for (size_t i = 0; i < n; i++) {
        const double x = 2 * random_unit(seed) - 1;
        if (dtype == TAKT_F64)
            ((double *)at)[i] = x;
        else
            ((float *)at)[i] = (float)x;
    }
}

/* The k-th random call of an op; its output holds random numbers too. */
static inline struct trial trial_make(const takt_op *op, takt_dtype dtype,
                                      size_t k)
{
    const size_t size = takt_dtype_size(dtype);
    const enum takt_op_id id = takt__op_id(op);
    uint64_t seed = k * 64 + (uint64_t)id;
    struct trial t = {.call = {.op = op, .dtype = dtype},
                      .tolerance = tolerance_find(op->name)};

    REQUIRE(t.tolerance != NULL);
    trial_shape(&t, k, &seed);
    if (id == TAKT_OP_scale || id == TAKT_OP_axpy)
        t.call.alpha = -0.75;
    if (id == TAKT_OP_clamp)
        t.call.alpha = -0.5, t.call.beta = 0.25;
    t.out_bytes = id == TAKT_OP_argmax || id == TAKT_OP_argmin ? sizeof(size_t)
                                                               : t.out * size;
    t.call.out = guard_at(&trial_out, GUARD_HIGH, t.out_bytes, 0);
    guard_paint(&trial_out, t.call.out, t.out_bytes);
    if (id != TAKT_OP_argmax && id != TAKT_OP_argmin)
        trial_fill(t.call.out, dtype, t.out, &seed);
    for (int i = 0; i < trial_inputs; i++) {
        if (t.in[i] == 0)
            continue;
        void *at = guard_at(&trial_in[i], GUARD_HIGH, t.in[i] * size, 0);
        trial_fill(at, dtype, t.in[i], &seed);
        t.call.in[i] = at;
    }
    if (id == TAKT_OP_axpy)
        t.call.in[1] = t.call.out;
    make_dominant(&t.call);
    t.call.flags |= TAKT_CALL_ALPHA_ZERO; /* some factors are 0 */
    return t;
}
