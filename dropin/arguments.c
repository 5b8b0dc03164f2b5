/* SPDX-License-Identifier: MIT */
/*
 * arguments.c - what the arguments of BLAS mean, by rows.
 *
 * Whatever the library would complain about, or return from at once, is left
 * to it: it knows how its users want to hear of it.
 */
#include "entries.h"

const struct takt_naming takt__fortran = {"%s_", "%s_", false};
const struct takt_naming takt__fortran64 = {"%s_64_", "%s_64_", true};
const struct takt_naming takt__fortran_scipy = {"scipy_%s_", "scipy_%s_",
                                                false};
const struct takt_naming takt__fortran_scipy64 = {"scipy_%s_64_",
                                                  "scipy_%s_64_", true};
const struct takt_naming takt__cblas = {"cblas_%s", "%s_", false};
const struct takt_naming takt__cblas64 = {"cblas_%s64_", "%s_64_", true};
const struct takt_naming takt__cblas_64 = {"cblas_%s_64", "%s_64_", true};
const struct takt_naming takt__cblas_scipy = {"scipy_cblas_%s", "scipy_%s_",
                                              false};
const struct takt_naming takt__cblas_scipy64 = {"scipy_cblas_%s64_",
                                                "scipy_%s_64_", true};

static bool is_size(int64_t number)
{
    return number > 0;
}

bool takt__read_gemm(const struct takt_gemm_words *words,
                     struct takt_product *out)
{
    const bool ta = words->transa == 'T', tb = words->transb == 'T';
    const int64_t m = words->m, n = words->n, k = words->k;
    const bool is_by_rows = words->is_by_rows;

    if (words->transa == 0 || words->transb == 0 || !is_size(m) ||
        !is_size(n) || !is_size(k) || words->lda < (ta != is_by_rows ? k : m) ||
        words->ldb < (tb != is_by_rows ? n : k) ||
        words->ldc < (is_by_rows ? n : m))
        return false;
    out->m = (size_t)(is_by_rows ? m : n);
    out->n = (size_t)(is_by_rows ? n : m);
    out->k = (size_t)k;
    out->is_a_transposed = is_by_rows ? ta : tb;
    out->is_b_transposed = is_by_rows ? tb : ta;
    out->lda = (size_t)(is_by_rows ? words->lda : words->ldb);
    out->ldb = (size_t)(is_by_rows ? words->ldb : words->lda);
    out->ldc = (size_t)words->ldc;
    return true;
}

static bool is_one_of(int type, int a, int b)
{
    return type == a || type == b;
}

/* Of the triangle, of B and of C: how long a row or column is. */
static bool has_room(const struct takt_triangular_words *w)
{
    const bool is_rank = w->routine == TAKT_SYRK || w->routine == TAKT_SYR2K;
    const int64_t line = w->is_by_rows ? w->n : w->m;

    if (is_rank) {
        const int64_t least = (w->trans == 'T') != w->is_by_rows ? w->k : w->n;
        return is_size(w->n) && is_size(w->k) && w->lda >= least &&
               (w->routine == TAKT_SYRK || w->ldb >= least) && w->ldc >= w->n;
    }
    return is_size(w->m) && is_size(w->n) &&
           w->lda >= (w->side == 'L' ? w->m : w->n) &&
           (w->routine != TAKT_SYMM || w->ldb >= line) && w->ldc >= line;
}

static bool has_letters(const struct takt_triangular_words *w)
{
    const bool is_rank = w->routine == TAKT_SYRK || w->routine == TAKT_SYR2K;
    const bool is_solve = w->routine == TAKT_TRMM || w->routine == TAKT_TRSM;

    return is_one_of(w->uplo, 'U', 'L') &&
           (is_rank || is_one_of(w->side, 'L', 'R')) &&
           (!(is_rank || is_solve) || is_one_of(w->trans, 'N', 'T')) &&
           (!is_solve || is_one_of(w->diag, 'N', 'U'));
}

bool takt__read_triangular(const struct takt_triangular_words *w,
                           struct takt_triangular *out)
{
    const bool is_rank = w->routine == TAKT_SYRK || w->routine == TAKT_SYR2K;
    const bool is_by_rows = w->is_by_rows;

    if (!has_letters(w) || !has_room(w))
        return false;
    out->routine = w->routine;
    out->is_right = (w->side == 'R') == is_by_rows;
    out->is_upper = (w->uplo == 'U') == is_by_rows;
    out->is_transposed =
        is_rank ? (w->trans == 'T') == is_by_rows : w->trans == 'T';
    out->is_unit = w->diag == 'U';
    out->m = (size_t)(is_by_rows ? w->m : w->n);
    out->n = (size_t)(is_by_rows || is_rank ? w->n : w->m);
    out->k = (size_t)w->k;
    out->lda = (size_t)w->lda;
    out->ldb = (size_t)w->ldb;
    out->ldc = (size_t)w->ldc;
    return true;
}

double takt__triangular_work(const struct takt_triangular *call)
{
    const double m = (double)call->m, n = (double)call->n, k = (double)call->k;
    const double order = call->is_right ? n : m;

    switch (call->routine) {
    case TAKT_SYRK:
        return n * n * k / 2;
    case TAKT_SYR2K:
        return n * n * k;
    case TAKT_SYMM:
        return m * n * order;
    default:
        return m * n * order / 2;
    }
}

bool takt__enter_triangular(struct takt_intercept *intercept,
                            const struct takt_triangular_words *words,
                            struct takt_triangular *call)
{
    call->is_double = intercept->type == TAKT_D;
    intercept->why = TAKT_WHY_WRONG;
    if (!takt__read_triangular(words, call))
        return false;
    intercept->work = takt__triangular_work(call);
    intercept->why = TAKT_WHY_FORM;
    return call->alpha != 0 && takt__intercept_triangular(intercept, call);
}
