/* SPDX-License-Identifier: MIT */
/*
 * arguments.c - checks the arguments of a call, and describes it by rows.
 *
 * A call that the baseline library would complain about, or return from at
 * once, is left to it, so that the program sees the library's own error.
 */
#include "arguments.h"

const struct takt_arguments takt__no_arguments;

static bool is_one_of(int option, int a, int b)
{
    return option == a || option == b;
}

static bool is_order(int order)
{
    return is_one_of(order, TAKT_BY_ROWS, TAKT_BY_COLUMNS);
}

static bool is_rank_update(enum takt_routine routine)
{
    return routine == TAKT_SYRK || routine == TAKT_SYR2K;
}

/* ---- gemm ---------------------------------------------------------------- */

static bool is_valid_product(const struct takt_arguments *g)
{
    const bool is_by_rows = g->order == TAKT_BY_ROWS;
    const bool ta = g->trans == 'T', tb = g->transb == 'T';

    return is_order(g->order) && is_one_of(g->trans, 'N', 'T') &&
           is_one_of(g->transb, 'N', 'T') && g->m > 0 && g->n > 0 && g->k > 0 &&
           g->lda >= (ta != is_by_rows ? g->k : g->m) &&
           g->ldb >= (tb != is_by_rows ? g->n : g->k) &&
           g->ldc >= (is_by_rows ? g->n : g->m);
}

bool takt__read_product(const struct takt_arguments *g,
                        struct takt_product *out)
{
    const bool is_by_rows = g->order == TAKT_BY_ROWS;
    const bool ta = g->trans == 'T', tb = g->transb == 'T';

    if (!is_valid_product(g))
        return false;
    *out = (struct takt_product){.is_double = g->type == TAKT_D,
                                 .m = (size_t)(is_by_rows ? g->m : g->n),
                                 .n = (size_t)(is_by_rows ? g->n : g->m),
                                 .k = (size_t)g->k,
                                 .is_a_transposed = is_by_rows ? ta : tb,
                                 .is_b_transposed = is_by_rows ? tb : ta,
                                 .alpha = g->alpha,
                                 .beta = g->beta,
                                 .a = is_by_rows ? g->a : g->b,
                                 .b = is_by_rows ? g->b : g->a,
                                 .c = g->c,
                                 .lda = (size_t)(is_by_rows ? g->lda : g->ldb),
                                 .ldb = (size_t)(is_by_rows ? g->ldb : g->lda),
                                 .ldc = (size_t)g->ldc};
    return true;
}

/* ---- symm, syrk, syr2k, trmm, trsm --------------------------------------- */

static bool are_options_valid(const struct takt_arguments *t)
{
    const bool is_rank = is_rank_update(t->routine);
    const bool is_symm = t->routine == TAKT_SYMM;

    return is_order(t->order) && is_one_of(t->uplo, 'U', 'L') &&
           (is_rank || is_one_of(t->side, 'L', 'R')) &&
           (is_symm || is_one_of(t->trans, 'N', 'T')) &&
           (is_rank || is_symm || is_one_of(t->diag, 'N', 'U'));
}

/* Leading dimensions are at least as long as a row or column. */
static bool are_sizes_valid(const struct takt_arguments *t)
{
    const bool is_by_rows = t->order == TAKT_BY_ROWS;
    const int64_t length = is_by_rows ? t->n : t->m;

    if (is_rank_update(t->routine)) {
        const int64_t least = (t->trans == 'T') != is_by_rows ? t->k : t->n;
        return t->n > 0 && t->k > 0 && t->lda >= least &&
               (t->routine == TAKT_SYRK || t->ldb >= least) && t->ldc >= t->n;
    }
    return t->m > 0 && t->n > 0 && t->lda >= (t->side == 'L' ? t->m : t->n) &&
           (t->routine != TAKT_SYMM || t->ldb >= length) && t->ldc >= length;
}

bool takt__read_triangular(const struct takt_arguments *t,
                           struct takt_triangular *out)
{
    const bool is_rank = is_rank_update(t->routine);
    const bool is_by_rows = t->order == TAKT_BY_ROWS;

    if (!are_options_valid(t) || !are_sizes_valid(t))
        return false;
    *out = (struct takt_triangular){
        .routine = t->routine,
        .is_double = t->type == TAKT_D,
        .is_right = (t->side == 'R') == is_by_rows,
        .is_upper = (t->uplo == 'U') == is_by_rows,
        .is_transposed =
            is_rank ? (t->trans == 'T') == is_by_rows : t->trans == 'T',
        .is_unit = t->diag == 'U',
        .m = (size_t)(is_by_rows ? t->m : t->n),
        .n = (size_t)(is_by_rows || is_rank ? t->n : t->m),
        .k = (size_t)t->k,
        .alpha = t->alpha,
        .beta = t->beta,
        .a = t->a,
        .b = t->b,
        .c = t->c,
        .lda = (size_t)t->lda,
        .ldb = (size_t)t->ldb,
        .ldc = (size_t)t->ldc};
    return true;
}
