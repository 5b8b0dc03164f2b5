/* SPDX-License-Identifier: MIT */
/*
 * baseline_caller.c - a request becomes a call, with the types of its letter
 * and language.
 *
 * Integers by value are passed with 64 bits: code that takes 32 of them must
 * not look at the others, so there is rubbish in these.
 */
#include <string.h>

#include "baseline_request.h"

typedef const void *pointer;

/* ---- Fortran: everything by address -------------------------------------- */

/* The arguments of a request, each where it can be pointed to. */
struct addresses {
    pointer at[13];
    union {
        char letter;
        int32_t narrow;
        int64_t wide;
        float f32[2];
        double f64[2];
    } value[13];
};

static char letter_at(const struct baseline_request *r, char argument)
{
    return (char)(argument == 't'   ? r->transa
                  : argument == 'T' ? r->transb
                  : argument == 's' ? r->side
                  : argument == 'u' ? r->uplo
                                    : r->diag);
}

static void find_addresses(const struct baseline_request *r, bool is_wide,
                           struct addresses *out)
{
    const char *const words = baseline_arguments(r->routine);
    const bool is_f64 = r->letter == TAKT_D || r->letter == TAKT_Z;

    for (size_t i = 0; words[i] != '\0'; i++) {
        const char word = words[i];
        const double *factor = word == 'f' ? r->alpha : r->beta;
        out->at[i] = &out->value[i];
        if (strchr("tTsud", word) != NULL) {
            out->value[i].letter = letter_at(r, word);
        } else if (strchr("abc", word) != NULL) {
            out->at[i] = word == 'a' ? r->a : word == 'b' ? r->b : r->c;
        } else if (word == 'f' || word == 'F') {
            for (int part = 0; part < 2; part++)
                if (is_f64)
                    out->value[i].f64[part] = factor[part];
                else
                    out->value[i].f32[part] = (float)factor[part];
        } else if (is_wide) {
            out->value[i].wide = baseline_number_at(r, word);
        } else {
            out->value[i].narrow = (int32_t)baseline_number_at(r, word);
        }
    }
}

/* The lengths of strings come last. */
static void call_matrices(baseline_function *f, enum takt_routine routine,
                          const pointer *p, void *c)
{
    typedef void gemm(pointer, pointer, pointer, pointer, pointer, pointer,
                      pointer, pointer, pointer, pointer, pointer, void *,
                      pointer, size_t, size_t);
    typedef void symm(pointer, pointer, pointer, pointer, pointer, pointer,
                      pointer, pointer, pointer, pointer, void *, pointer,
                      size_t, size_t);
    typedef void syrk(pointer, pointer, pointer, pointer, pointer, pointer,
                      pointer, pointer, void *, pointer, size_t, size_t);
    typedef void trsm(pointer, pointer, pointer, pointer, pointer, pointer,
                      pointer, pointer, pointer, void *, pointer, size_t,
                      size_t, size_t, size_t);

    if (routine == TAKT_GEMM)
        ((gemm *)f)(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9],
                    p[10], c, p[12], 1, 1);
    else if (routine == TAKT_SYMM || routine == TAKT_SYR2K)
        ((symm *)f)(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9],
                    c, p[11], 1, 1);
    else if (routine == TAKT_SYRK)
        ((syrk *)f)(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], c, p[9], 1,
                    1);
    else
        ((trsm *)f)(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], c,
                    p[10], 1, 1, 1, 1);
}

static void call_vectors(baseline_function *f, struct baseline_request *r,
                         const pointer *p)
{
    typedef void gemv(pointer, pointer, pointer, pointer, pointer, pointer,
                      pointer, pointer, pointer, void *, pointer, size_t);
    typedef void ger(pointer, pointer, pointer, pointer, pointer, pointer,
                     pointer, void *, pointer);
    typedef void axpy(pointer, pointer, pointer, pointer, void *, pointer);
    typedef float sdot(pointer, pointer, pointer, pointer, pointer);
    typedef double ddot(pointer, pointer, pointer, pointer, pointer);
    typedef void scal(pointer, pointer, void *, pointer);
    typedef float snrm2(pointer, pointer, pointer);
    typedef double dnrm2(pointer, pointer, pointer);

    if (r->routine == TAKT_GEMV)
        ((gemv *)f)(p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], r->c,
                    p[10], 1);
    else if (r->routine == TAKT_GER)
        ((ger *)f)(p[0], p[1], p[2], p[3], p[4], p[5], p[6], r->c, p[8]);
    else if (r->routine == TAKT_AXPY)
        ((axpy *)f)(p[0], p[1], p[2], p[3], r->c, p[5]);
    else if (r->routine == TAKT_SCAL)
        ((scal *)f)(p[0], p[1], r->c, p[3]);
    else if (r->routine == TAKT_DOT)
        r->sum = r->letter == TAKT_S
                     ? (double)((sdot *)f)(p[0], p[1], p[2], p[3], p[4])
                     : ((ddot *)f)(p[0], p[1], p[2], p[3], p[4]);
    else
        r->sum = r->letter == TAKT_S ? (double)((snrm2 *)f)(p[0], p[1], p[2])
                                     : ((dnrm2 *)f)(p[0], p[1], p[2]);
}

static void call_fortran(baseline_function *f, bool is_wide,
                         struct baseline_request *r)
{
    typedef int32_t narrow_iamax(pointer, pointer, pointer);
    typedef int64_t wide_iamax(pointer, pointer, pointer);
    struct addresses all;
    const pointer *p = all.at;

    find_addresses(r, is_wide, &all);
    if (r->routine <= TAKT_TRSM)
        call_matrices(f, r->routine, p, r->c);
    else if (r->routine == TAKT_IAMAX)
        r->index = is_wide ? ((wide_iamax *)f)(p[0], p[1], p[2])
                           : ((narrow_iamax *)f)(p[0], p[1], p[2]);
    else
        call_vectors(f, r, p);
}

/* ---- C ------------------------------------------------------------------- */

/* What C passes by value, as it is handed over. */
struct values {
    int64_t order, transa, transb, side, uplo, diag, m, n, k, lda, ldb, ldc;
    /* Complex factors by address. */
    float alpha32[2], beta32[2];
    pointer alpha, beta;
};

static int64_t handed(int64_t number, bool is_wide)
{
    const uint64_t rubbish = UINT64_C(0x5AD5AD5A) << 32;

    return is_wide ? number : (int64_t)(rubbish | (uint32_t)number);
}

static void find_values(const struct baseline_request *r, bool is_wide,
                        struct values *v)
{
    v->order = handed(r->order, false);
    v->transa = handed(r->transa, false);
    v->transb = handed(r->transb, false);
    v->side = handed(r->side, false);
    v->uplo = handed(r->uplo, false);
    v->diag = handed(r->diag, false);
    v->m = handed(r->m, is_wide);
    v->n = handed(r->n, is_wide);
    v->k = handed(r->k, is_wide);
    v->lda = handed(r->lda, is_wide);
    v->ldb = handed(r->ldb, is_wide);
    v->ldc = handed(r->ldc, is_wide);
    for (int part = 0; part < 2; part++) {
        v->alpha32[part] = (float)r->alpha[part];
        v->beta32[part] = (float)r->beta[part];
    }
    v->alpha = r->letter == TAKT_C ? (pointer)v->alpha32 : r->alpha;
    v->beta = r->letter == TAKT_C ? (pointer)v->beta32 : r->beta;
}

/* The calls of one type of factors. */
#define CALLS(suffix_, type_)                                                  \
    static void call_gemm_##suffix_(                                           \
        baseline_function *f, const struct baseline_request *r,                \
        const struct values *v, type_ alpha, type_ beta)                       \
    {                                                                          \
        typedef void gemm(int64_t, int64_t, int64_t, int64_t, int64_t,         \
                          int64_t, type_, pointer, int64_t, pointer, int64_t,  \
                          type_, void *, int64_t);                             \
        typedef void symm(int64_t, int64_t, int64_t, int64_t, int64_t, type_,  \
                          pointer, int64_t, pointer, int64_t, type_, void *,   \
                          int64_t);                                            \
        typedef void syrk(int64_t, int64_t, int64_t, int64_t, int64_t, type_,  \
                          pointer, int64_t, type_, void *, int64_t);           \
        typedef void trsm(int64_t, int64_t, int64_t, int64_t, int64_t,         \
                          int64_t, int64_t, type_, pointer, int64_t, void *,   \
                          int64_t);                                            \
        if (r->routine == TAKT_GEMM)                                           \
            ((gemm *)f)(v->order, v->transa, v->transb, v->m, v->n, v->k,      \
                        alpha, r->a, v->lda, r->b, v->ldb, beta, r->c,         \
                        v->ldc);                                               \
        else if (r->routine == TAKT_SYMM)                                      \
            ((symm *)f)(v->order, v->side, v->uplo, v->m, v->n, alpha, r->a,   \
                        v->lda, r->b, v->ldb, beta, r->c, v->ldc);             \
        else if (r->routine == TAKT_SYR2K)                                     \
            ((symm *)f)(v->order, v->uplo, v->transa, v->n, v->k, alpha, r->a, \
                        v->lda, r->b, v->ldb, beta, r->c, v->ldc);             \
        else if (r->routine == TAKT_SYRK)                                      \
            ((syrk *)f)(v->order, v->uplo, v->transa, v->n, v->k, alpha, r->a, \
                        v->lda, beta, r->c, v->ldc);                           \
        else                                                                   \
            ((trsm *)f)(v->order, v->side, v->uplo, v->transa, v->diag, v->m,  \
                        v->n, alpha, r->a, v->lda, r->c, v->ldc);              \
    }
CALLS(s, float)
CALLS(d, double)
CALLS(z, pointer)

#define VECTOR_CALLS(suffix_, type_)                                          \
    static void call_vector_##suffix_(baseline_function *f,                   \
                                      struct baseline_request *r,             \
                                      const struct values *v)                 \
    {                                                                         \
        typedef void gemv(int64_t, int64_t, int64_t, int64_t, type_, pointer, \
                          int64_t, pointer, int64_t, type_, void *, int64_t); \
        typedef void ger(int64_t, int64_t, int64_t, type_, pointer, int64_t,  \
                         pointer, int64_t, void *, int64_t);                  \
        typedef void axpy(int64_t, type_, pointer, int64_t, void *, int64_t); \
        typedef void scal(int64_t, type_, void *, int64_t);                   \
        typedef type_ dot(int64_t, pointer, int64_t, pointer, int64_t);       \
        typedef type_ norm(int64_t, pointer, int64_t);                        \
        const type_ alpha = (type_)r->alpha[0], beta = (type_)r->beta[0];     \
        if (r->routine == TAKT_GEMV)                                          \
            ((gemv *)f)(v->order, v->transa, v->m, v->n, alpha, r->a, v->lda, \
                        r->b, v->ldb, beta, r->c, v->ldc);                    \
        else if (r->routine == TAKT_GER)                                      \
            ((ger *)f)(v->order, v->m, v->n, alpha, r->a, v->lda, r->b,       \
                       v->ldb, r->c, v->ldc);                                 \
        else if (r->routine == TAKT_AXPY)                                     \
            ((axpy *)f)(v->n, alpha, r->b, v->ldb, r->c, v->ldc);             \
        else if (r->routine == TAKT_SCAL)                                     \
            ((scal *)f)(v->n, alpha, r->c, v->ldc);                           \
        else if (r->routine == TAKT_DOT)                                      \
            r->sum = (double)((dot *)f)(v->n, r->b, v->ldb, r->c, v->ldc);    \
        else                                                                  \
            r->sum = (double)((norm *)f)(v->n, r->b, v->ldb);                 \
    }
VECTOR_CALLS(s, float)
VECTOR_CALLS(d, double)

static void call_c(baseline_function *f, bool is_wide,
                   struct baseline_request *r)
{
    typedef size_t iamax(int64_t, pointer, int64_t);
    struct values v;

    find_values(r, is_wide, &v);
    if (r->routine == TAKT_IAMAX)
        r->index = (int64_t)((iamax *)f)(v.n, r->b, v.ldb);
    else if (r->routine > TAKT_TRSM && r->letter == TAKT_S)
        call_vector_s(f, r, &v);
    else if (r->routine > TAKT_TRSM)
        call_vector_d(f, r, &v);
    else if (r->letter == TAKT_S)
        call_gemm_s(f, r, &v, v.alpha32[0], v.beta32[0]);
    else if (r->letter == TAKT_D)
        call_gemm_d(f, r, &v, r->alpha[0], r->beta[0]);
    else
        call_gemm_z(f, r, &v, v.alpha, v.beta);
}

void baseline_call(baseline_function *f, bool is_wide,
                   struct baseline_request *r)
{
    if (r->order == 0)
        call_fortran(f, is_wide, r);
    else
        call_c(f, is_wide, r);
}

/* ---- by columns ---------------------------------------------------------- */

static void swap_pointers(pointer *a, pointer *b)
{
    pointer kept = *a;

    *a = *b;
    *b = kept;
}

static void swap_numbers(int64_t *a, int64_t *b)
{
    const int64_t kept = *a;

    *a = *b;
    *b = kept;
}

/* A matrix by rows is the transpose of the same memory by columns. */
static void turn(struct baseline_request *r)
{
    const bool is_rank = r->routine == TAKT_SYRK || r->routine == TAKT_SYR2K;
    const bool is_swapped = r->routine == TAKT_GEMM || r->routine == TAKT_GER;

    swap_numbers(&r->m, &r->n);
    if (is_rank)
        swap_numbers(&r->m, &r->n);
    if (is_swapped) {
        const int kept = r->transa;
        r->transa = r->transb;
        r->transb = kept;
        swap_pointers(&r->a, &r->b);
        swap_numbers(&r->lda, &r->ldb);
    }
    if (is_rank || r->routine == TAKT_GEMV)
        r->transa = r->transa == 'N' ? 'T' : 'N';
    r->side = r->side == 'L' ? 'R' : 'L';
    r->uplo = r->uplo == 'L' ? 'U' : 'L';
}

struct baseline_request baseline_turned(const struct baseline_request *request)
{
    struct baseline_request turned = *request;

    turned.order = 0;
    turned.transa = baseline_letter_of(request->transa);
    turned.transb = baseline_letter_of(request->transb);
    turned.side = baseline_letter_of(request->side);
    turned.uplo = baseline_letter_of(request->uplo);
    turned.diag = baseline_letter_of(request->diag);
    if (request->order == BASELINE_BY_ROWS && request->routine < TAKT_AXPY)
        turn(&turned);
    return turned;
}
