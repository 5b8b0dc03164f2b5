/* SPDX-License-Identifier: MIT */
/*
 * optimize_check.c - an expert against scalar code, element by element.
 *
 * How far results may be apart follows from the catalogue. Where that is
 * measured in the magnitudes that were added up, scalar code is asked once
 * more, for the sum of these.
 *
 * Of a long sum that allows more than a term of it is worth. So what adds up is
 * tried with small whole numbers too: nothing is rounded then, in whatever
 * order, and a single term that is missing or wrong shows.
 */
#include "optimize.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "op/op_id.h"
#include "tune/family.h"
#include "tune/operands.h"

/* Scalar code has to run it too, in well under a second. */
static const double most_flops = 2e8, most_elements = 4e6;

/* ---- what is to be checked ---- */

static bool is_small_enough(const takt_op *op, takt_dtype dtype,
                            const takt_shape *shape)
{
    takt_work work;

    return takt_op_work(op, dtype, shape, &work) == TAKT_OK &&
           work.flops <= most_flops &&
           (double)takt_op_elements(op, shape) <= most_elements;
}

static takt_shape typical_shape(const takt_op *op)
{
    const struct takt_family *family = takt__family_at(op, 0);

    if (family == NULL)
        return (takt_shape){.rank = 0};
    return takt__family_shape(family, (family->low + family->high) / 2);
}

/* Halves the longest side until it is small enough; sizes that depend on each
 * other are not cut but replaced. */
static takt_shape small_shape(const takt_op *op, takt_dtype dtype,
                              takt_shape shape)
{
    if (shape.rank < op->rank_min ||
        (shape.rank > 4 && !is_small_enough(op, dtype, &shape)))
        return typical_shape(op);
    while (!is_small_enough(op, dtype, &shape)) {
        unsigned longest = 0;
        for (unsigned i = 1; i < shape.rank; i++)
            if (shape.dim[i] > shape.dim[longest])
                longest = i;
        if (shape.dim[longest] <= 1)
            return typical_shape(op);
        shape.dim[longest] /= 2;
    }
    return shape;
}

static bool is_same(const takt_shape *a, const takt_shape *b)
{
    return a->rank == b->rank &&
           memcmp(a->dim, b->dim, a->rank * sizeof a->dim[0]) == 0;
}

static unsigned backends_of(const struct advice *advice)
{
    unsigned backends = 1u << advice->backend;

    if (advice->is_conditional && advice->simd_from != SIZE_MAX)
        backends |= 1u << TAKT_BACKEND_SIMD;
    if (advice->is_conditional && advice->gpu_from != SIZE_MAX)
        backends |= 1u << TAKT_BACKEND_GPU;
    return backends;
}

void add_check(struct checks *checks, const struct takt_finding *finding,
               const struct advice *advice)
{
    const bool is_found = advice->shape.rank >= finding->op->rank_min;
    const takt_shape shape =
        is_found ? small_shape(finding->op, advice->dtype, advice->shape)
                 : typical_shape(finding->op);

    if (shape.rank == 0 || strcmp(finding->op->name, "reshape") == 0)
        return;
    for (size_t i = 0; i < checks->count; i++) {
        struct check *check = &checks->check[i];
        if (check->op == finding->op && check->dtype == advice->dtype &&
            is_same(&check->shape, &shape)) {
            check->backends |= backends_of(advice);
            return;
        }
    }
    if (checks->count == most_checks) {
        checks->left_out++;
        return;
    }
    checks->check[checks->count++] =
        (struct check){.op = finding->op,
                       .dtype = advice->dtype,
                       .shape = shape,
                       .is_found = is_found && is_same(&shape, &advice->shape),
                       .backends = backends_of(advice)};
}

/* ---- how far apart ---- */

/* A check while it runs: the call, and other results to compare with. */
struct trial {
    struct check *check;
    bool is_whole; /* of whole numbers: results must be the same */
    takt_call call;
    struct takt_lengths lengths;
    size_t out_bytes;
    char *start, *want, *magnitude; /* out before it, by scalar code, and of
                                     * the magnitudes */
    size_t terms;                   /* that are added up for one element */
};

static double at(const void *array, takt_dtype dtype, size_t i)
{
    return dtype == TAKT_F64 ? ((const double *)array)[i]
                             : (double)((const float *)array)[i];
}

static void put_at(void *array, takt_dtype dtype, size_t i, double value)
{
    if (dtype == TAKT_F64)
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}

static double last_place(double value)
{
    int exponent;

    if (fabs(value) < (double)FLT_MIN)
        return 0x1p-149;
    frexp(value, &exponent);
    return ldexp(1.0, exponent - FLT_MANT_DIG);
}

/* Operands are between -1.5 and 1.5: see tune/operands.c. */
static double allowed_by_formula(const struct trial *trial, double result,
                                 double units)
{
    const double eps = (double)FLT_EPSILON, largest = 1.5;

    switch (takt__op_id(trial->check->op)) {
    case TAKT_OP_softmax:
        return 2 * (units + largest) * eps * fabs(result) + 8 * 0x1p-149;
    case TAKT_OP_layernorm:
        return 2 * units * eps * (fabs(result) + 1);
    default: { /* attention */
        const double depth = (double)trial->check->shape.dim[4];
        const double score = sqrt(depth) * largest * largest;
        return (units + 2 * score) * eps * largest;
    }
    }
}

/* Both results may be off. */
static double allowed(const struct trial *trial, size_t i)
{
    const struct takt_tolerance *tolerance =
        &takt__op_entry(trial->check->op)->tolerance;
    const takt_dtype dtype = trial->check->dtype;
    const double eps = dtype == TAKT_F64 ? DBL_EPSILON : (double)FLT_EPSILON;
    const double result = at(trial->want, dtype, i);
    const double smallest = dtype == TAKT_F64 ? 0x1p-1074 : 0x1p-149;
    double factor = 1;

    if (trial->is_whole)
        return 0;
    switch (tolerance->of) {
    case TAKT_ACCURACY_EXACT:
    case TAKT_ACCURACY_VALUE:
        return 0;
    case TAKT_ACCURACY_ULP:
        return (tolerance->units + 0.5) * last_place(result);
    case TAKT_ACCURACY_RESULT:
        return (tolerance->units + 1) * eps * fabs(result);
    case TAKT_ACCURACY_BACKWARD: /* no finding is of such an op */
    case TAKT_ACCURACY_FORMULA:
        return allowed_by_formula(trial, result, tolerance->units);
    case TAKT_ACCURACY_ROOT:
        factor = sqrt((double)trial->terms + 1);
        break;
    case TAKT_ACCURACY_MAGNITUDE:
        break;
    }
    return 2 *
           (tolerance->units * factor * eps * at(trial->magnitude, dtype, i) +
            (double)(trial->terms + 2) * smallest);
}

static bool is_position(const takt_op *op)
{
    return takt__op_id(op) == TAKT_OP_argmax ||
           takt__op_id(op) == TAKT_OP_argmin;
}

static bool compare(struct trial *trial)
{
    struct check *check = trial->check;

    if (is_position(check->op)) {
        if (memcmp(trial->call.out, trial->want, sizeof(size_t)) == 0)
            return true;
        snprintf(check->why, sizeof check->why, "finds another position");
        return false;
    }
    for (size_t i = 0; i < trial->lengths.of[TAKT_OUT]; i++) {
        const double got = at(trial->call.out, check->dtype, i);
        const double want = at(trial->want, check->dtype, i);
        const double off = fabs(got - want), most = allowed(trial, i);
        if (got == want)
            continue;
        if (!(off <= most)) { /* NaN is wrong, too */
            snprintf(check->why, sizeof check->why,
                     "element %zu is %.9g, not %.9g (%.3g is allowed)", i, got,
                     want, most);
            return false;
        }
        check->worst = fmax(check->worst, off / most);
    }
    return true;
}

/* ---- running ---- */

static size_t terms_of(const takt_op *op, const takt_shape *shape)
{
    const size_t *d = shape->dim;

    switch (takt__op_entry(op)->form) {
    case TAKT_FORM_matmul:
        return d[2];
    case TAKT_FORM_batched:
        return d[3];
    case TAKT_FORM_gemv:
        return d[1];
    case TAKT_FORM_conv2d:
        return d[1] * d[5] * d[6];
    default:
        return d[0];
    }
}

/* Whether each result is a sum of elements, or of products of two. */
static bool adds_up(const takt_op *op)
{
    switch (takt__op_entry(op)->form) {
    case TAKT_FORM_matmul:
    case TAKT_FORM_batched:
    case TAKT_FORM_gemv:
    case TAKT_FORM_conv2d:
        return true;
    default:
        return takt__op_id(op) == TAKT_OP_sum ||
               takt__op_id(op) == TAKT_OP_dot ||
               takt__op_id(op) == TAKT_OP_norm1;
    }
}

/* 1 and 2, of either sign: products are at most 4, and 4 times most_elements
 * is below 2^24, up to which a float has all whole numbers. */
static void make_whole(void *array, takt_dtype dtype, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const double value = at(array, dtype, i);
        put_at(array, dtype, i, copysign(fabs(value) < 1 ? 1 : 2, value));
    }
}

static void make_absolute(void *array, takt_dtype dtype, size_t n)
{
    for (size_t i = 0; i < n; i++)
        put_at(array, dtype, i, fabs(at(array, dtype, i)));
}

/* What scalar code makes of the magnitudes of the operands. */
static bool find_magnitudes(takt_ctx *ctx, size_t scalar, struct trial *trial)
{
    const takt_dtype dtype = trial->check->dtype;
    takt_call call;
    struct takt_lengths lengths;

    if (takt__operands_make(trial->check->op, dtype, &trial->check->shape,
                            &call, &lengths) != TAKT_OK)
        return false;
    for (int i = 0; i < 4; i++)
        if (call.in[i] != NULL && call.in[i] != call.out)
            make_absolute((void *)(uintptr_t)call.in[i], dtype,
                          trial->lengths.of[i]);
    make_absolute(call.out, dtype, trial->lengths.of[TAKT_OUT]);
    const bool is_done = takt_run_on(ctx, &call, scalar) == TAKT_OK;
    memcpy(trial->magnitude, call.out, trial->out_bytes);
    takt__operands_free(&call);
    return is_done;
}

static bool open_trial(takt_ctx *ctx, size_t scalar, struct check *check,
                       bool is_whole, struct trial *out)
{
    *out = (struct trial){.check = check,
                          .is_whole = is_whole,
                          .terms = terms_of(check->op, &check->shape)};
    if (takt__operands_make(check->op, check->dtype, &check->shape, &out->call,
                            &out->lengths) != TAKT_OK)
        return false;
    check->shape = out->call.shape;
    for (int i = 0; i < 4 && is_whole; i++)
        make_whole((void *)(uintptr_t)out->call.in[i], check->dtype,
                   out->lengths.of[i]);
    out->out_bytes = is_position(check->op) ? sizeof(size_t)
                                            : out->lengths.of[TAKT_OUT] *
                                                  takt_dtype_size(check->dtype);
    out->start = malloc(out->out_bytes);
    out->want = malloc(out->out_bytes);
    out->magnitude = malloc(out->out_bytes);
    if (out->start == NULL || out->want == NULL || out->magnitude == NULL)
        return false;
    memcpy(out->start, out->call.out, out->out_bytes);
    if (takt_run_on(ctx, &out->call, scalar) != TAKT_OK)
        return false;
    memcpy(out->want, out->call.out, out->out_bytes);
    return is_position(check->op) || is_whole ||
           find_magnitudes(ctx, scalar, out);
}

static void close_trial(struct trial *trial)
{
    takt__operands_free(&trial->call);
    free(trial->start);
    free(trial->want);
    free(trial->magnitude);
}

static bool run_experts(takt_ctx *ctx, size_t scalar, struct trial *trial)
{
    struct check *check = trial->check;
    takt_backend backend;
    const char *name;

    for (size_t i = 0; (name = takt_ctx_expert(ctx, i, &backend)) != NULL;
         i++) {
        if (i == scalar || (check->backends >> backend & 1) == 0)
            continue;
        memcpy(trial->call.out, trial->start, trial->out_bytes);
        const takt_status status = takt_run_on(ctx, &trial->call, i);
        if (status == TAKT_ENODEV || status == TAKT_ENOTSUP)
            continue;
        check->experts += !trial->is_whole; /* counted in the first pass */
        if (status != TAKT_OK)
            snprintf(check->why, sizeof check->why, "%s",
                     takt_status_text(status));
        else if (compare(trial))
            continue;
        snprintf(check->failed, sizeof check->failed, "%s", name);
        return false;
    }
    return true;
}

static bool run_trial(takt_ctx *ctx, struct check *check, bool is_whole)
{
    const char *name;
    size_t scalar = 0;
    struct trial trial;

    while ((name = takt_ctx_expert(ctx, scalar, NULL)) != NULL &&
           strcmp(name, "scalar") != 0)
        scalar++;
    bool is_right = open_trial(ctx, scalar, check, is_whole, &trial);
    if (is_right) {
        is_right = run_experts(ctx, scalar, &trial);
    } else {
        snprintf(check->failed, sizeof check->failed, "scalar");
        snprintf(check->why, sizeof check->why, "could not be run");
    }
    close_trial(&trial);
    return is_right;
}

bool run_check(takt_ctx *ctx, struct check *check)
{
    return run_trial(ctx, check, false) &&
           (!adds_up(check->op) || run_trial(ctx, check, true));
}
