/* SPDX-License-Identifier: MIT */
/* c_family_rewrite_matrix.c - products of a matrix with a matrix or a vector.
 */
#include "c_family_rewrite.h"

#include <string.h>

/* The innermost statement, what the target starts with, and where it goes. */
struct rw_core {
    const struct takt_rw_stmt *sum;
    struct takt_rw_access target;
    bool is_added; /* to what is there: beta = 1 */
};

static bool is_zero_text(struct takt_text text)
{
    static const char zeros[] = "0 0.0 0.0f 0. 0.0F 0.f 0.F";

    return takt__text_in(text, zeros);
}

/* { float s = 0; for (..) s += ..; c[..] = s; } */
static bool read_accumulated(const struct takt_rw_nest *nest,
                             struct rw_core *core)
{
    const struct takt_rw_stmt *last = &nest->stmt[1];
    const struct takt_rw_local *sum = takt__rw_local(nest, core->sum->left);

    if (sum == NULL || !sum->is_sum || sum->depth != nest->loops - 1 ||
        nest->stmts != 2 || !last->is_behind || last->depth != sum->depth ||
        takt__rw_local(nest, last->right) != sum ||
        !takt__rw_access(nest, last->left, &core->target) ||
        core->target.element != sum->element)
        return false;
    core->is_added = strcmp(last->sign, "+=") == 0;
    return core->is_added || strcmp(last->sign, "=") == 0;
}

/* c[..] += .., perhaps after c[..] = 0 around the innermost loop. */
static bool read_direct(const struct takt_rw_nest *nest, struct rw_core *core)
{
    struct takt_rw_access first;

    if (!takt__rw_access(nest, core->sum->left, &core->target))
        return false;
    core->is_added = nest->stmts == 1;
    if (core->is_added)
        return true;
    const struct takt_rw_stmt *begin = &nest->stmt[0];
    return nest->stmts == 2 && !begin->is_behind &&
           begin->depth == nest->loops - 1 && strcmp(begin->sign, "=") == 0 &&
           is_zero_text(takt__node_text(nest->source, begin->right)) &&
           takt__rw_access(nest, begin->left, &first) &&
           takt__rw_is_same(&first, &core->target) &&
           core->target.coefficient[nest->loops - 1].used == 0;
}

static bool read_core(const struct takt_rw_nest *nest, struct rw_core *core)
{
    for (unsigned i = 0; i < nest->stmts; i++)
        if (nest->stmt[i].depth == nest->loops) {
            if (core->sum != NULL || strcmp(nest->stmt[i].sign, "+=") != 0)
                return false;
            core->sum = &nest->stmt[i];
        }
    for (unsigned i = 0; i < nest->loops; i++)
        if (!ts_node_is_null(nest->loop[i].from))
            return false;
    if (core->sum == NULL)
        return false;
    return takt__node_is(core->sum->left, "identifier")
               ? read_accumulated(nest, core)
               : read_direct(nest, core);
}

static bool has(const struct takt_rw_access *access, unsigned loop)
{
    return access->coefficient[loop].used > 0;
}

/* The distance between rows, where columns lie side by side; NULL: they do
 * not. */
static const char *leading(const struct takt_rw_access *access, unsigned row,
                           unsigned column)
{
    return takt__rw_is_one(&access->coefficient[column]) &&
                   !takt__rw_is_one(&access->coefficient[row])
               ? access->coefficient[row].at
               : NULL;
}

/* alpha, a, ld_a: of a matrix that is stored by rows or by columns. */
static bool put_matrix(struct takt_rw_call *call,
                       const struct takt_rw_access *matrix, unsigned row,
                       unsigned column, bool *is_turned)
{
    const char *ld = leading(matrix, row, column);

    *is_turned = ld == NULL;
    if (ld == NULL)
        ld = leading(matrix, column, row);
    if (ld == NULL)
        return false;
    takt__rw_put(&call->arguments, ", ");
    takt__rw_put_address(&call->arguments, call->nest, matrix);
    takt__rw_put(&call->arguments, ", (size_t)(%s)", ld);
    return !call->arguments.is_cut;
}

/* The factor that has one of the loops and not the other. */
static const struct takt_rw_access *
factor_with(const struct takt_rw_product *product, unsigned loop,
            unsigned without)
{
    for (unsigned i = 0; i < 2; i++)
        if (has(&product->factor[i], loop) &&
            !has(&product->factor[i], without))
            return &product->factor[i];
    return NULL;
}

static const char *alpha_of(const struct takt_rw_product *product)
{
    return product->alpha.used > 0 ? product->alpha.at : "1";
}

/* c[row][column] += a[row][k] * b[k][column]. */
static bool write_gemm(struct takt_rw_call *call, const struct rw_core *core,
                       const struct takt_rw_product *product)
{
    unsigned row = 0, column = 0, k = TAKT_RW_LOOPS;
    bool is_a_turned, is_b_turned;
    struct takt_rw_text out = {.used = 0};

    for (unsigned i = 0; i < 3; i++) {
        if (!has(&core->target, i))
            k = k == TAKT_RW_LOOPS ? i : 9;
        else if (takt__rw_is_one(&core->target.coefficient[i]))
            column = i;
        else
            row = i;
    }
    if (k >= TAKT_RW_LOOPS || row == column || row == k || column == k)
        return false;
    const char *ld_c = leading(&core->target, row, column);
    const struct takt_rw_access *a = factor_with(product, row, column);
    const struct takt_rw_access *b = factor_with(product, column, row);
    if (ld_c == NULL || a == NULL || b == NULL || a == b || !has(a, k) ||
        !has(b, k))
        return false;
    call->arguments = out;
    if (!put_matrix(call, a, row, k, &is_a_turned) ||
        !put_matrix(call, b, k, column, &is_b_turned))
        return false;
    takt__rw_put(&out, "%s%s%s, ", is_a_turned ? "TAKT_TRANS_A" : "",
                 is_a_turned && is_b_turned ? " | " : "",
                 is_b_turned    ? "TAKT_TRANS_B"
                 : !is_a_turned ? "0"
                                : "");
    const unsigned order[] = {row, column, k};
    for (unsigned i = 0; i < 3; i++) {
        if (!takt__rw_put_extent(&out, call->nest, &call->nest->loop[order[i]]))
            return false;
        takt__rw_put(&out, ", ");
    }
    takt__rw_put(&out, "%s%s, %d, ", alpha_of(product), call->arguments.at,
                 core->is_added);
    takt__rw_put_address(&out, call->nest, &core->target);
    takt__rw_put(&out, ", (size_t)(%s)", ld_c);
    call->arguments = out;
    call->name = "gemm";
    return !out.is_cut;
}

/* y[row] += a[row][k] * x[k]. */
static bool write_gemv(struct takt_rw_call *call, const struct rw_core *core,
                       const struct takt_rw_product *product)
{
    const unsigned row = has(&core->target, 0) ? 0 : 1, k = 1 - row;
    const struct takt_rw_access *x = factor_with(product, k, row);
    const struct takt_rw_access *a =
        x == &product->factor[0] ? &product->factor[1] : &product->factor[0];
    bool is_turned;
    struct takt_rw_text out = {.used = 0};

    if (has(&core->target, k) ||
        !takt__rw_is_one(&core->target.coefficient[row]) || x == NULL ||
        !has(a, row) || !has(a, k) || !takt__rw_is_one(&x->coefficient[k]))
        return false;
    call->arguments = out;
    if (!put_matrix(call, a, row, k, &is_turned))
        return false;
    takt__rw_put(&out, "%s, ", is_turned ? "TAKT_TRANS_A" : "0");
    if (!takt__rw_put_extent(&out, call->nest,
                             &call->nest->loop[is_turned ? k : row]))
        return false;
    takt__rw_put(&out, ", ");
    if (!takt__rw_put_extent(&out, call->nest,
                             &call->nest->loop[is_turned ? row : k]))
        return false;
    takt__rw_put(&out, ", %s%s, ", alpha_of(product), call->arguments.at);
    takt__rw_put_address(&out, call->nest, x);
    takt__rw_put(&out, ", %d, ", core->is_added);
    takt__rw_put_address(&out, call->nest, &core->target);
    call->arguments = out;
    call->name = "gemv";
    return !out.is_cut;
}

bool takt__rw_write_matrices(struct takt_rw_call *call)
{
    const struct takt_rw_nest *nest = call->nest;
    struct rw_core core = {0};
    struct takt_rw_product product = {0};

    if (!read_core(nest, &core))
        return false;
    call->element = core.target.element;
    if (!takt__rw_product(nest, core.sum->right, call->element, 0, &product) ||
        product.factors != 2 ||
        takt__rw_is_same_base(&product.factor[0], &core.target) ||
        takt__rw_is_same_base(&product.factor[1], &core.target))
        return false;
    return nest->loops == 3 ? write_gemm(call, &core, &product)
                            : write_gemv(call, &core, &product);
}
