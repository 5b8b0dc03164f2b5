/* SPDX-License-Identifier: MIT */
/*
 * subject.h - contexts on the fake driver, and calls whose right result is
 * known to the last bit.
 *
 * The fake computes by scalar code, and operands are multiples of an eighth, so
 * that sums are exact in whatever order they are made: what comes from a device
 * has the bits of expert 0, "scalar". Operands end at pages that nobody may
 * touch.
 */
#pragma once

#include "cuda/fixture.h"
#include "op/operands.h"
#include "support/dominant.h"
#include "support/guard.h"
#include "support/random.h"
#include "support/tolerance.h"
#include "takt/takt.h"

/* How a call differs from the usual. */
enum {
    USUAL = 0,
    IN_PLACE = 1,  /* element-wise and row-wise ops only */
    ADDING = 2,    /* products: beta is not 0 */
    GAPS = 4,      /* rows are further apart than they are long */
    TURNED_A = 8,  /* products: A is stored transposed */
    TURNED_B = 16, /* products: so is B */
    BARE = 32,     /* optional operands are missing */
    LARGE = 64     /* products: so large a result that it leaves in parts */
};

struct subject {
    takt_call call;
    struct guard memory[TAKT_OPERANDS];
    size_t bytes[TAKT_OPERANDS];
    char *start, *want; /* the output before and after */
};

/* Streams that take their time take ours, too. */
static inline bool is_late(void)
{
    const char *late = getenv("FAKE_CUDA_LATE");
    return late != NULL && *late == '1';
}

/* Where ThreadSanitizer has little to see, and to open a device takes it half a
 * second. */
static inline bool is_of_no_use(void)
{
    return is_thread_sanitized && !is_late();
}

static inline bool is_hurried(void)
{
    return is_sanitized || is_late();
}

/* ---- contexts ------------------------------------------------------------ */

/* Before anything else: no driver but the fake, and no library on top. */
static inline void subject_choose_fake(void)
{
    setenv("TAKT_CUBLAS", "", 1);
    setenv("TAKT_VULKAN", "/nowhere/libvulkan.so.1", 1);
    setenv("TAKT_GPU", "all", 1);
    fixture_open();
}

static inline takt_ctx *context_of(takt_policy policy, unsigned threads)
{
    takt_ctx *ctx = NULL;

    REQUIRE(takt_ctx_create(&(takt_ctx_options){.policy = policy,
                                                .expert = "cuda.0",
                                                .threads = threads,
                                                .blas = "",
                                                .store = "",
                                                .gpu = "all"},
                            &ctx) == TAKT_OK);
    return ctx;
}

static inline size_t expert_of(const takt_ctx *ctx, const char *wanted)
{
    const char *name;

    for (size_t i = 0; (name = takt_ctx_expert(ctx, i, NULL)) != NULL; i++)
        if (strcmp(name, wanted) == 0)
            return i;
    REQUIRE(name != NULL); /* there is no such expert */
    return 0;
}

/* ---- shapes -------------------------------------------------------------- */

static inline void subject_dims(takt_call *call, unsigned rank,
                                const size_t *dim)
{
    call->shape.rank = rank;
    memcpy(call->shape.dim, dim, rank * sizeof *dim);
}

#define DIMS(...)                                                        \
    subject_dims(call, sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t), \
                 (size_t[]){__VA_ARGS__})

/* A product of that many elements in A: deep or flat, so that it is cheap. */
static inline void shape_product(takt_call *call, size_t elements, unsigned how)
{
    const bool is_large = (how & LARGE) != 0, is_small = elements < 5000;
    const size_t m = is_large ? 521 : is_small ? 7 : 41;
    const size_t n = is_large ? 4103 : is_small ? 5 : 23;
    const size_t k = elements / m, gap = (how & GAPS) != 0 ? 3 : 0;

    DIMS(m, n, k);
    call->flags = ((how & TURNED_A) != 0 ? TAKT_TRANS_A : 0) |
                  ((how & TURNED_B) != 0 ? TAKT_TRANS_B : 0);
    call->ld[0] = ((how & TURNED_A) != 0 ? m : k) + gap;
    call->ld[1] = ((how & TURNED_B) != 0 ? k : n) + gap;
    call->ld[2] = n + gap;
}

static inline void shape_gemv_call(takt_call *call, size_t elements,
                                   unsigned how)
{
    const size_t n = elements < 5000 ? 31 : 1001;

    DIMS(elements / n + 1, n);
    call->flags = (how & TURNED_A) != 0 ? TAKT_TRANS_A : 0;
    call->ld[0] = n + ((how & GAPS) != 0 ? 3 : 0);
}

static inline void shape_transpose(takt_call *call, size_t elements,
                                   unsigned how)
{
    const size_t cols = elements < 5000 ? 31 : 301, rows = elements / cols + 1;
    const size_t gap = (how & GAPS) != 0 ? 3 : 0;

    DIMS(rows, cols);
    call->ld[0] = cols + gap;
    call->ld[2] = rows + gap;
}

/* Optional operands are there as soon as their pointers are not NULL. */
static inline void subject_want(takt_call *call, unsigned first, unsigned last,
                                unsigned how)
{
    static const char something;

    for (unsigned i = first; i <= last && (how & BARE) == 0; i++)
        call->in[i] = &something;
}

static inline void subject_shape(takt_call *call, size_t n, unsigned how)
{
    const size_t part = n / 512 + 1, side = n < 5000 ? 31 : 173;

    switch (takt__op_entry(call->op)->form) {
    case TAKT_FORM_map:
    case TAKT_FORM_reduce:
        DIMS(n);
        break;
    case TAKT_FORM_rows:
        DIMS(n / 257 + 1, 257);
        if (takt__op_id(call->op) == TAKT_OP_layernorm)
            subject_want(call, 1, 2, how);
        break;
    case TAKT_FORM_bias:
    case TAKT_FORM_by_rows:
    case TAKT_FORM_by_cols:
        DIMS(n / 257 + 1, 257);
        break;
    case TAKT_FORM_matrix:
        shape_transpose(call, n, how);
        break;
    case TAKT_FORM_gemv:
        shape_gemv_call(call, n, how);
        break;
    case TAKT_FORM_matmul:
        shape_product(call, n, how);
        break;
    case TAKT_FORM_batched:
        DIMS(part, 17, 19, 11);
        break;
    case TAKT_FORM_conv2d:
        DIMS(part, 2, 16, 16, 3, 3, 3, 1, 1, 1);
        subject_want(call, 2, 2, how);
        break;
    case TAKT_FORM_pool2d:
        DIMS(part, 2, 16, 16, 2, 2, 0);
        break;
    case TAKT_FORM_attention:
        DIMS(part, 2, 7, 9, 18);
        subject_want(call, 3, 3, how);
        break;
    case TAKT_FORM_cholesky:
    case TAKT_FORM_solve:
        DIMS(side, side);
        call->ld[0] = call->ld[1] = side + ((how & GAPS) != 0 ? 3 : 0);
        call->ld[2] = call->ld[0];
        break;
    case TAKT_FORM_qr:
        DIMS(2 * side, side);
        call->ld[0] = call->ld[2] = side + ((how & GAPS) != 0 ? 3 : 0);
        break;
    case TAKT_FORM_lstsq:
        DIMS(2 * side, side, side);
        call->ld[0] = call->ld[1] = side + ((how & GAPS) != 0 ? 3 : 0);
        call->ld[2] = call->ld[0];
        break;
    case TAKT_FORM_view:
    case TAKT_FORM_user:
        REQUIRE(call->op->is_user < 0); /* they cannot be run */
    }
}

static inline void subject_factors(takt_call *call, unsigned how)
{
    const enum takt_form form = takt__op_entry(call->op)->form;
    const enum takt_op_id op = takt__op_id(call->op);

    call->alpha = -0.5;
    if (form == TAKT_FORM_matmul || form == TAKT_FORM_gemv ||
        form == TAKT_FORM_batched)
        call->beta = (how & ADDING) != 0 ? -2 : 0;
    else if (op == TAKT_OP_clamp)
        call->beta = 0.25;
    else if (op == TAKT_OP_layernorm)
        call->alpha = 1e-5;
    else if (op == TAKT_OP_attention)
        call->alpha = 0.25;
}

/* ---- subjects ------------------------------------------------------------ */

static inline void subject_fill(void *at, takt_dtype dtype, size_t bytes,
                                uint64_t seed)
{
    for (size_t i = 0; i < bytes / takt_dtype_size(dtype); i++) {
        const double x = ((double)(random_next(&seed) % 33) - 16) / 8;
        if (dtype == TAKT_F64)
            ((double *)at)[i] = x;
        else
            ((float *)at)[i] = (float)x;
    }
}

static inline void *subject_place(struct subject *s, unsigned operand)
{
    s->memory[operand] = guard_make(s->bytes[operand]);
    void *at = guard_at(&s->memory[operand], GUARD_HIGH, s->bytes[operand], 0);
    subject_fill(at, s->call.dtype, s->bytes[operand], operand + 1);
    return at;
}

/* What "scalar" makes of it; the output is then as it was before. */
static inline void subject_define(struct subject *s, takt_ctx *ctx)
{
    const size_t bytes = s->bytes[TAKT_OUT];

    s->start = malloc(bytes + 1);
    s->want = malloc(bytes + 1);
    REQUIRE(s->start != NULL && s->want != NULL);
    memcpy(s->start, s->call.out, bytes);
    REQUIRE(takt_run_on(ctx, &s->call, 0) == TAKT_OK);
    memcpy(s->want, s->call.out, bytes);
    memcpy(s->call.out, s->start, bytes);
}

/* A call of an op with some `n` elements in its largest operand. */
static inline struct subject subject_make(takt_ctx *ctx, const char *op,
                                          takt_dtype dtype, size_t n,
                                          unsigned how)
{
    struct subject s = {.call = {.op = takt_op_find(op), .dtype = dtype}};
    struct takt_extents extents;

    subject_shape(&s.call, n, how);
    subject_factors(&s.call, how);
    takt__extents_of(&s.call, &extents);
    memcpy(s.bytes, extents.bytes, sizeof s.bytes);
    s.call.out = subject_place(&s, TAKT_OUT);
    guard_paint(&s.memory[TAKT_OUT], s.call.out, 0);
    subject_fill(s.call.out, dtype, s.bytes[TAKT_OUT], 9);
    for (unsigned i = 0; i < TAKT_OUT; i++)
        s.call.in[i] = s.bytes[i] == 0 ? NULL : subject_place(&s, i);
    make_dominant(&s.call);
    if ((how & IN_PLACE) != 0)
        s.call.in[0] = s.call.out;
    if (takt__op_id(s.call.op) == TAKT_OP_axpy)
        s.call.in[1] = s.call.out;
    subject_define(&s, ctx);
    DOING("%s %s, about %zu elements, kind %u", op, takt_dtype_name(dtype), n,
          how);
    return s;
}

static inline void subject_restart(const struct subject *s)
{
    memcpy(s->call.out, s->start, s->bytes[TAKT_OUT]);
}

static inline void subject_free(struct subject *s)
{
    for (unsigned i = 0; i < TAKT_OPERANDS; i++)
        if (s->memory[i].low != NULL)
            guard_free(&s->memory[i]);
    free(s->start);
    free(s->want);
}

static inline bool subject_is_untouched(const struct subject *s)
{
    return memcmp(s->call.out, s->start, s->bytes[TAKT_OUT]) == 0;
}

static inline bool subject_is_right(const struct subject *s)
{
    return memcmp(s->call.out, s->want, s->bytes[TAKT_OUT]) == 0 &&
           guard_is_whole(&s->memory[TAKT_OUT], s->call.out,
                          s->bytes[TAKT_OUT]);
}

#undef DIMS
