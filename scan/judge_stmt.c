/* SPDX-License-Identifier: MIT */
/*
 * judge_stmt.c - what one statement of a nest computes: products, reductions,
 * elements. Told by which loops change what is written and what is read:
 * c[i][j] += a[i][k] * b[k][j] is a product of matrices in whatever order the
 * loops stand and however it is indexed.
 */
#include "judge.h"

#include <string.h>

enum { most_lanes = 32 };

/* ---- types --------------------------------------------------------------- */

static bool is_opaque(const struct takt_ir_expr *e)
{
    if (e->sort == TAKT_IR_OPAQUE && e->loops != 0)
        return true;
    for (unsigned i = 0; i < e->parts; i++)
        if (is_opaque(e->part[i]))
            return true;
    return false;
}

bool takt__judge_is_typed(const struct takt_ir_expr *e,
                          struct takt_elements *out)
{
    if (e->sort == TAKT_IR_ACCESS && e->loops == 0 &&
        e->type.element != TAKT_IR_OTHER)
        return true; /* a number, to these loops */
    if (e->sort == TAKT_IR_ACCESS) {
        out->is_any = true;
        out->is_f32 |= e->type.element == TAKT_IR_F32;
        out->is_f64 |= e->type.element == TAKT_IR_F64;
        out->is_either |= e->type.element == TAKT_IR_FLOAT;
        out->is_generic |= e->type.element == TAKT_IR_GENERIC;
        out->is_unknown |= e->type.element == TAKT_IR_UNKNOWN;
        if (e->type.element == TAKT_IR_UNKNOWN)
            return !is_opaque(e);
        return (takt__ir_is_float(e->type.element) ||
                e->type.element == TAKT_IR_GENERIC) &&
               !is_opaque(e) &&
               (e->type.kind != TAKT_IR_PLAIN || e->parts == e->type.rank);
    }
    if (is_opaque(e) ||
        (e->sort == TAKT_IR_NAME && e->is_varying &&
         (e->type.element == TAKT_IR_INTEGER || e->type.rank > 0)))
        return false;
    for (unsigned i = 0; i < e->parts; i++)
        if (!takt__judge_is_typed(e->part[i], out))
            return false;
    return true;
}

void takt__judge_tell_type(struct takt_ir_verdict *out,
                           const struct takt_elements *elements)
{
    out->is_f32 = elements->is_f32;
    out->is_f64 = elements->is_f64;
    out->is_either = elements->is_either && !out->is_f32 && !out->is_f64;
    out->is_typed = !elements->is_unknown && !elements->is_generic;
    if (!out->is_typed)
        out->certainty = TAKT_UNKNOWN_TYPE;
}

/* ---- products and reductions --------------------------------------------- */

/* An element; or one where there is one, and a number around the edges. */
static const struct takt_ir_expr *taken(const struct takt_ir_expr *e)
{
    if (e->sort == TAKT_IR_PICK && !takt__ir_has_access(e->part[0])) {
        if (e->part[1]->sort == TAKT_IR_NUMBER)
            e = e->part[2];
        else if (e->part[2]->sort == TAKT_IR_NUMBER)
            e = e->part[1];
    }
    return e->sort == TAKT_IR_ACCESS ? e : NULL;
}

static uint32_t innermost(const struct takt_judged *j)
{
    uint32_t bit = 0;

    for (unsigned i = 0; i < j->nest->loop_count; i++)
        if (j->nest->loop[i].is_active)
            bit = j->nest->loop[i].bit;
    return bit;
}

/* Whether a value that is no op by itself is asked for, and is one of elements:
 * then the verdict contains more than it is called. */
static bool takes_steps(struct takt_judged *j, const struct takt_ir_expr *value)
{
    const bool is_any = (j->takes & TAKT_TAKES_MORE) != 0;

    if (!takt__ir_is_gathered(value) ||
        (!is_any &&
         ((j->takes & TAKT_TAKES_FUSED) == 0 ||
          (takt__judge_counts(value) && takt__judge_costly(value) == NULL) ||
          takt__judge_is_stencil(value, value, 1))))
        return false;
    j->out->certainty = TAKT_CONTAINS;
    j->out->is_fused = !is_any;
    return true;
}

/* What is added up is one of our ops, or contains one. */
static const char *named_sum(struct takt_judged *j,
                             const struct takt_ir_expr *value)
{
    const char *op = takt__judge_sum(value);

    if (op != NULL || takt__ir_is_comparison(value) || !takes_steps(j, value))
        return op;
    return takt__judge_contains_sum(value, innermost(j));
}

/* acc[l] += x[8 * i + l] * y[8 * i + l]: a dot product with several sums, which
 * are added up afterwards. */
static bool is_by_lanes(const struct takt_judged *j,
                        const struct takt_ir_expr *x, uint32_t lanes)
{
    for (unsigned i = 0; x->parts == 1 && i < j->nest->loop_count; i++) {
        const struct takt_ir_loop *loop = &j->nest->loop[i];
        if (loop->bit == lanes)
            return loop->extent > 1 && loop->extent <= most_lanes &&
                   loop->bit == innermost(j);
    }
    return false;
}

/* T += X * Y with loops that are reduced away. */
static const char *contraction(struct takt_judged *j,
                               const struct takt_ir_expr *x,
                               const struct takt_ir_expr *y)
{
    if (j->free != 0) {
        x = taken(x);
        y = taken(y);
        if (x == NULL || y == NULL)
            return NULL;
    }
    if (takt__judge_windows(j, x, TAKT_WINDOW_PRODUCT) > 0 ||
        takt__judge_windows(j, y, TAKT_WINDOW_PRODUCT) > 0) {
        const struct takt_ir_expr *image =
            takt__judge_windows(j, x, TAKT_WINDOW_PRODUCT) > 0 ? x : y;
        takt__judge_tell_convolution(j, (image == x ? y : x)->loops & j->free);
        return "conv2d";
    }
    if ((x->loops & y->loops & j->bound) != j->bound)
        return NULL;
    if (takt__ir_is_mirrored(x) || takt__ir_is_mirrored(y)) {
        if (j->free != 0 || (j->takes & TAKT_TAKES_MORE) == 0)
            return NULL;
        j->out->certainty = TAKT_CONTAINS; /* the step of a filter */
        return "dot";
    }
    const uint32_t rows = x->loops & ~y->loops, cols = y->loops & ~x->loops;
    const uint32_t batch = x->loops & y->loops & j->free;
    if ((rows | cols | batch) != j->free)
        return NULL;
    uint32_t bit[TAKT_IR_LOOPS];
    const unsigned frees = takt__judge_bits(j->nest, j->free & ~batch, bit, 4);
    if (rows != 0 && cols != 0) {
        uint32_t size[4] = {batch, rows, cols, j->bound};
        if (batch == 0 && frees == 2 &&
            takt__judge_bits(j->nest, j->bound, bit, 4) == 1)
            takt__judge_tell_sizes(j, size + 1, 3);
        else if (takt__judge_bits(j->nest, j->bound, bit, 4) == 1)
            takt__judge_tell_sizes(j, size, 4);
        return batch == 0 ? "matmul" : "batched_matmul";
    }
    if (batch != 0 && j->free == batch && is_by_lanes(j, x, batch) &&
        is_by_lanes(j, y, batch)) {
        j->out->certainty = TAKT_CONTAINS;
        return "dot";
    }
    if (batch != 0)
        return NULL; /* each row by itself: what is inside is told */
    if (frees == 1) {
        const uint32_t size[2] = {bit[0], j->bound};
        takt__judge_tell_sizes(j, size, 2);
        return "gemv";
    }
    if (j->free != 0)
        return NULL;
    takt__judge_tell_product(j, j->bound);
    if (takt__ir_same(x, y))
        j->out->role = TAKT_ROLE_SQUARES;
    return named_sum(j, j->stmt->value);
}

/* Windows of two dimensions, or ones of one that overlap. */
static bool is_pooling(const struct takt_judged *j,
                       const struct takt_ir_expr *value)
{
    return j->free != 0 &&
           (takt__judge_windows(j, value, TAKT_WINDOW_POOL) > 1 ||
            takt__judge_windows(j, value, TAKT_WINDOW_LINE) > 0);
}

static const char *sum_op(struct takt_judged *j)
{
    const struct takt_ir_expr *factor[4], *value = j->stmt->value;
    const unsigned count = takt__ir_factors(value, factor, 4);

    if (j->target->sort == TAKT_IR_ACCESS && j->bound == 0 && count == 2 &&
        factor[0]->sort == TAKT_IR_ACCESS &&
        factor[1]->sort == TAKT_IR_ACCESS &&
        (factor[0]->loops & factor[1]->loops) == 0) {
        /* out[i + j] += a[i] * b[j] */
        struct takt_judged turned = *j;
        turned.free = factor[0]->loops;
        turned.bound = factor[1]->loops;
        return takt__judge_windows(&turned, j->target, TAKT_WINDOW_PRODUCT) > 0
                   ? "conv2d"
                   : NULL;
    }
    if (count == 2 && value->sort != TAKT_IR_NEG)
        return contraction(j, factor[0], factor[1]);
    if (is_pooling(j, value)) {
        takt__judge_tell_pooling(j);
        return "pooling";
    }
    if (j->free != 0 || (value->loops & j->all) != j->all)
        return NULL;
    takt__judge_tell_product(j, j->all);
    if (takt__ir_is_call(value, "pow"))
        j->out->role = TAKT_ROLE_SQUARES;
    else if (takt__ir_is_call(value, "exp"))
        j->out->role = TAKT_ROLE_EXP_SUM;
    return named_sum(j, value);
}

static const char *largest_op(struct takt_judged *j)
{
    static const char *const names[] = {
        [TAKT_IR_MAX] = "max",
        [TAKT_IR_MIN] = "min",
        [TAKT_IR_ARGMAX] = "argmax",
        [TAKT_IR_ARGMIN] = "argmin",
    };
    const struct takt_ir_expr *value = j->stmt->value;

    if (is_pooling(j, value)) {
        takt__judge_tell_pooling(j);
        return "pooling";
    }
    if (j->free != 0 || value->loops != j->all || takt__ir_is_mirrored(value))
        return NULL;
    if (value->sort != TAKT_IR_ACCESS) {
        const bool is_magnitude = takt__ir_is_call(value, "fabs") &&
                                  j->stmt->effect < TAKT_IR_ARGMAX &&
                                  value->part[0]->sort == TAKT_IR_ACCESS;
        if (is_magnitude)
            j->out->certainty = TAKT_CONTAINS;
        else if (takt__ir_varies(value) || !takes_steps(j, value))
            return NULL;
    }
    takt__judge_tell_product(j, j->all);
    return names[j->stmt->effect];
}

/* ---- elements ------------------------------------------------------------ */

/* a[i][j] * d[i]: to the innermost loop, d[i] is a number. */
static bool is_fixed_within(const struct takt_ir_expr *e, uint32_t bit)
{
    if (e->sort == TAKT_IR_ACCESS)
        return e->loops != 0 && (e->loops & bit) == 0;
    for (unsigned i = 0; i < e->parts; i++)
        if (is_fixed_within(e->part[i], bit))
            return true;
    return false;
}

/* a[0][i] = -a[1][i], and what only changes the type. */
static bool is_moved(const struct takt_ir_stmt *stmt,
                     const struct takt_ir_expr *value)
{
    const struct takt_ir_expr *of =
        value->sort == TAKT_IR_NEG ? value->part[0] : value;

    if (of->sort != TAKT_IR_ACCESS)
        return false;
    return of->type.element != stmt->target->type.element ||
           (takt__ir_same_text(of->text, stmt->target->text) &&
            !takt__ir_same(of, stmt->target));
}

/* The largest of an element and a number: a limit. */
static const char *limit_op(struct takt_judged *j)
{
    const struct takt_ir_stmt *stmt = j->stmt;

    if (stmt->value->loops != 0)
        return NULL;
    takt__judge_tell_product(j, j->all);
    return stmt->effect == TAKT_IR_MAX && takt__ir_is_number(stmt->value, 0)
               ? "relu"
               : "clamp";
}

/* x = x + v for x += v. */
static struct takt_ir_expr *stored_value(struct takt_judged *j)
{
    static const enum takt_ir_sort sorts[] = {[TAKT_IR_SUM] = TAKT_IR_ADD,
                                              [TAKT_IR_DIFFERENCE] =
                                                  TAKT_IR_SUB,
                                              [TAKT_IR_PRODUCT] = TAKT_IR_MUL,
                                              [TAKT_IR_QUOTIENT] = TAKT_IR_DIV};
    const struct takt_ir_stmt *stmt = j->stmt;

    return stmt->effect == TAKT_IR_STORE
               ? stmt->value
               : takt__ir_pair(j->nest, sorts[stmt->effect], stmt->target,
                               stmt->value);
}

/* The op of an element's new value, or what that contains. */
static const char *named_element(struct takt_judged *j,
                                 const struct takt_ir_expr *value)
{
    const bool is_simple =
        !is_fixed_within(j->stmt->value, innermost(j)) &&
        !takt__judge_is_stencil(j->stmt->value, j->stmt->value, 2);
    const char *op =
        is_simple ? takt__judge_element(j->stmt->target, value) : NULL;

    if (op != NULL)
        return op;
    if (((j->takes & TAKT_TAKES_MORE) == 0 && !is_simple) ||
        !takes_steps(j, value))
        return NULL;
    const char *costly = j->out->is_fused ? takt__judge_costly(value) : NULL;
    return costly != NULL ? costly : takt__judge_contains(value, innermost(j));
}

/* p *= a[i]: no op of the catalogue, but as much work as a sum. */
static const char *product_op(struct takt_judged *j)
{
    if (!takt__ir_is_gathered(j->stmt->value) ||
        takt__ir_varies(j->stmt->value) || j->stmt->value->loops != j->all)
        return NULL;
    takt__judge_tell_product(j, j->all);
    return "product";
}

static const char *element_op(struct takt_judged *j)
{
    const struct takt_ir_stmt *stmt = j->stmt;

    if (stmt->target->sort == TAKT_IR_NAME && j->free == 0 &&
        stmt->effect == TAKT_IR_PRODUCT && (j->takes & TAKT_TAKES_MORE) != 0)
        return product_op(j);
    if (stmt->target->sort != TAKT_IR_ACCESS || j->bound != 0 ||
        stmt->is_appended || takt__ir_varies(stmt->value) ||
        (takt__judge_reads_its_own(stmt->target, stmt->value, false) &&
         !takt__judge_starts_after(j)))
        return NULL;
    if (stmt->effect == TAKT_IR_MAX || stmt->effect == TAKT_IR_MIN)
        return limit_op(j);
    struct takt_ir_expr *value = stored_value(j);
    if (value == NULL)
        return NULL;
    if (takt__judge_is_normalizing(value))
        j->out->role = TAKT_ROLE_NORMALIZE;
    else if (takt__ir_is_call(value, "exp"))
        j->out->role = TAKT_ROLE_EXP;
    /* x[i] += 1, x[i] = i: nothing that is worth a call */
    const char *op = named_element(j, value);
    if (op != NULL && !takt__judge_is_whole(op, value))
        j->out->certainty = TAKT_CONTAINS;
    if (op == NULL || takt__ir_is_mirrored(value) ||
        takt__ir_is_mirrored(stmt->target) || is_moved(stmt, value))
        return NULL;
    uint32_t bit[2];
    if (!strcmp(op, "transpose")) {
        if (takt__judge_bits(j->nest, j->all, bit, 2) == 2)
            takt__judge_tell_sizes(j, bit, 2);
        return op;
    }
    takt__judge_tell_product(j, j->all);
    return takt__judge_is_apart(value, innermost(j)) ||
                   takt__judge_is_apart(stmt->target, innermost(j))
               ? NULL
               : op;
}

/* ---- all of these ----------------------------------------------------------
 */

/* What a statement does to elements that are numbers. */
static const char *typed_op(struct takt_judged *j)
{
    const struct takt_ir_stmt *stmt = j->stmt;

    j->free = j->target->sort == TAKT_IR_ACCESS ? j->target->loops & j->all : 0;
    j->bound = j->all & ~j->free;
    if (stmt->effect >= TAKT_IR_MAX &&
        (stmt->target->sort == TAKT_IR_NAME || j->bound != 0))
        return takt__judge_reads_its_own(j->target, stmt->value, true)
                   ? NULL
                   : largest_op(j);
    const bool is_sum =
        stmt->effect == TAKT_IR_SUM || stmt->effect == TAKT_IR_DIFFERENCE;
    if (!is_sum || (j->bound == 0 && stmt->effect != TAKT_IR_SUM))
        return element_op(j);
    if (takt__ir_varies(stmt->value))
        return NULL;
    if (j->bound != 0)
        return takt__judge_reads_its_own(j->target, stmt->value, true) &&
                       !takt__judge_is_outside(j)
                   ? NULL
                   : sum_op(j);
    const char *op = sum_op(j); /* only a convolution writes everywhere */
    return op != NULL && !strcmp(op, "conv2d") ? op : element_op(j);
}

/* Whether the form alone says enough where the type is not known. */
static bool is_product(const char *op, unsigned takes)
{
    if ((takes & TAKT_TAKES_DOTS) != 0 && !strcmp(op, "dot"))
        return true;
    return (takes & (TAKT_TAKES_UNKNOWN | TAKT_TAKES_DOTS)) != 0 &&
           (strstr(op, "matmul") != NULL || takt__word_in(op, "conv2d gemv"));
}

/* Templates that only move, compare or count are mostly for integers, too. */
static bool is_arithmetic(const char *op)
{
    return !takt__word_in(op, "copy transpose max min argmax argmin sum mean");
}

/* Whether a number in it is known to be a floating-point one. */
static bool has_float(const struct takt_ir_expr *e)
{
    if ((e->sort == TAKT_IR_NAME && e->type.rank == 0) ||
        e->sort == TAKT_IR_ACCESS)
        return takt__ir_is_float(e->type.element);
    for (unsigned i = 0; i < e->parts; i++)
        if (has_float(e->part[i]))
            return true;
    return false;
}

const char *takt__judge_stmt(struct takt_judged *j)
{
    const struct takt_ir_stmt *stmt = j->stmt;
    struct takt_elements elements = {0};

    const bool is_place = /* the target counts, and is an integer */
        stmt->effect == TAKT_IR_ARGMAX || stmt->effect == TAKT_IR_ARGMIN;
    if (!is_place && (!takt__judge_is_typed(stmt->target, &elements) ||
                      !takt__judge_is_typed(j->target, &elements)))
        return NULL;
    if (!takt__judge_is_typed(stmt->value, &elements) || !elements.is_any)
        return NULL;
    takt__judge_tell_type(j->out, &elements);
    const char *op = typed_op(j);
    if (op != NULL && j->bound != 0 &&
        ((j->has_more && strcmp(op, "pooling") != 0) ||
         stmt->effect == TAKT_IR_DIFFERENCE ||
         (stmt->effect == TAKT_IR_SUM &&
          !takt__judge_is_whole_sum(op, stmt->value))))
        j->out->certainty = TAKT_CONTAINS;
    if (op == NULL || (j->takes & TAKT_TAKES_UNTYPED) != 0)
        return op;
    const bool is_told = is_product(op, j->takes) ||
                         ((j->takes & TAKT_TAKES_UNKNOWN) != 0 &&
                          is_arithmetic(op) && has_float(stmt->value));
    if ((elements.is_unknown && !is_told) ||
        (elements.is_generic && !is_arithmetic(op)))
        return NULL;
    return op;
}
