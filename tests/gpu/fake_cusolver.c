/* SPDX-License-Identifier: MIT */
/*
 * fake_cusolver.c - a cuSOLVER on top of the fake driver (TAKT_CUSOLVER names
 * its file): the routines as LAPACK defines them, by columns, in the order of a
 * stream. Its working memory is written all over.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gpu/fake_cuda.h"
#include "gpu/fake_lapack.h"

enum { NOT_INITIALISED = 1, ALLOC_FAILED = 2, BAD_VALUE = 3 };

struct solver {
    void *stream;
};

/* ---- for tests ----------------------------------------------------------- */

static atomic_ulong calls;
static atomic_ulong fails_at; /* 0: never */
static atomic_int fails_with;
static atomic_int told = -1; /* a pipe that is told of the next handle */
static atomic_int inside;    /* calls that make one */

/* Calls so far. */
FAKE_API unsigned long fake_cusolver_calls(void);

/* That call from now on, counted from 1, answers with an error. */
FAKE_API void fake_cusolver_fail(unsigned long call, int error);

unsigned long fake_cusolver_calls(void)
{
    return calls;
}

void fake_cusolver_fail(unsigned long call, int error)
{
    fails_at = call == 0 ? 0 : calls + call;
    fails_with = error;
}

/* The next handle takes a while to make, and a byte is written to that pipe
 * when it is begun. */
FAKE_API void fake_cusolver_tell(int pipe);

void fake_cusolver_tell(int pipe)
{
    told = pipe;
}

/* As a library's own handlers do, this frees what its calls use. */
static void take_down(void)
{
    if (inside > 0)
        _exit(99);
}

__attribute__((constructor)) static void when_loaded(void)
{
    atexit(take_down);
}

/* Registers a handler, as the first use of a library does. */
static void take_a_while(void)
{
    const int pipe = atomic_exchange(&told, -1);

    inside++;
    if (pipe >= 0)
        atexit(take_down);
    if (pipe >= 0 && write(pipe, "", 1) == 1)
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    inside--;
}

/* Counts a call; 0, or what it is to fail with. */
static int count(void)
{
    return ++calls == fails_at ? fails_with : 0;
}

/* ---- the library --------------------------------------------------------- */

FAKE_API int cusolverDnCreate(void **handle);
FAKE_API int cusolverDnDestroy(void *handle);
FAKE_API int cusolverDnSetStream(void *handle, void *stream);

int cusolverDnCreate(void **handle)
{
    const int error = count();

    take_a_while();
    *handle = error != 0 ? NULL : calloc(1, sizeof(struct solver));
    return error != 0 ? error : *handle != NULL ? 0 : ALLOC_FAILED;
}

int cusolverDnDestroy(void *handle)
{
    free(handle);
    return 0;
}

int cusolverDnSetStream(void *handle, void *stream)
{
    ((struct solver *)handle)->stream = stream;
    return count();
}

/* ---- routines ------------------------------------------------------------ */

/* What any of the routines is given. */
struct work {
    enum { POTRF, GETRF, GETRS, GEQRF, ORGQR, SYEVD, GESVD } routine;
    bool is_double, is_upper, has_vectors;
    signed char job;
    int m, n, k, lda, ldb, ldu, ldvt;
    void *a, *b, *u, *vt, *values, *work;
    int *pivots, *info, room;
};

static double *load(const struct work *w, const void *from, int rows, int cols,
                    int ld)
{
    double *to = malloc(((size_t)rows * (size_t)cols + 1) * sizeof *to);

    for (int j = 0; j < cols; j++)
        for (int i = 0; i < rows; i++)
            to[i + j * rows] = w->is_double
                                   ? ((const double *)from)[i + j * ld]
                                   : (double)((const float *)from)[i + j * ld];
    return to;
}

static void store(const struct work *w, double *from, void *to, int rows,
                  int cols, int ld)
{
    for (int j = 0; to != NULL && j < cols; j++)
        for (int i = 0; i < rows; i++)
            if (w->is_double)
                ((double *)to)[i + j * ld] = from[i + j * rows];
            else
                ((float *)to)[i + j * ld] = (float)from[i + j * rows];
    free(from);
}

static void solve_by_factors(const struct work *w)
{
    double *a = load(w, w->a, w->n, w->n, w->lda);
    double *b = load(w, w->b, w->n, w->k, w->ldb);

    fake_getrs(w->n, w->k, a, w->pivots, b);
    store(w, b, w->b, w->n, w->k, w->ldb);
    free(a);
}

static void decompose(const struct work *w)
{
    const int wide = w->job == 'A' ? w->m : w->n;
    double *a = load(w, w->a, w->m, w->n, w->lda);
    double *s = calloc((size_t)w->n, sizeof *s);
    double *u = calloc((size_t)w->m * (size_t)wide, sizeof *u);
    double *vt = calloc((size_t)w->n * (size_t)w->n, sizeof *vt);

    *w->info = fake_gesvd(w->m, w->n, wide, a, s, u, vt);
    store(w, s, w->values, w->n, 1, w->n);
    store(w, u, w->job == 'N' ? NULL : w->u, w->m, wide, w->ldu);
    store(w, vt, w->job == 'N' ? NULL : w->vt, w->n, w->n, w->ldvt);
    memset(a, 0xFF, (size_t)w->m * (size_t)w->n * sizeof *a);
    store(w, a, w->a, w->m, w->n, w->lda); /* it is destroyed */
}

/* In place of A. */
static void factor(const struct work *w)
{
    const int rows = w->routine == POTRF || w->routine == SYEVD ? w->n : w->m;
    const int few = rows < w->n ? rows : w->n;
    double *a = load(w, w->a, rows, w->n, w->lda);
    double *values = w->routine == ORGQR ? load(w, w->values, w->k, 1, w->k)
                                         : calloc((size_t)few, sizeof *values);

    if (w->routine == POTRF)
        *w->info = fake_potrf(w->is_upper, w->n, a);
    else if (w->routine == GETRF)
        *w->info = fake_getrf(rows, w->n, a, w->pivots);
    else if (w->routine == GEQRF)
        fake_geqrf(rows, w->n, a, values);
    else if (w->routine == ORGQR)
        fake_orgqr(rows, w->n, w->k, a, values);
    else
        *w->info = fake_syevd(w->is_upper, w->n, a, values);
    store(w, a, w->a, rows, w->n, w->lda);
    store(w, values, w->routine == ORGQR ? NULL : w->values, few, 1, few);
}

static void run(void *self)
{
    const struct work *w = self;

    if (w->work != NULL)
        memset(w->work, 0xFF, (size_t)w->room * (w->is_double ? 8 : 4));
    *w->info = 0;
    if (w->routine == GETRS)
        solve_by_factors(w);
    else if (w->routine == GESVD)
        decompose(w);
    else
        factor(w);
}

static void *real(const void *address)
{
    return address == NULL ? NULL : fake_cuda_at((uint64_t)(uintptr_t)address);
}

/* Some number that depends on the sizes. */
static int room_of(int m, int n)
{
    return 7 * m + 33 * n + 5;
}

static bool is_sane(const struct work *w)
{
    const bool is_square = w->routine == POTRF || w->routine == SYEVD;
    const int rows = is_square || w->routine == GETRS ? w->n : w->m;

    if (w->n <= 0 || rows <= 0 || w->lda < rows)
        return false;
    if (w->routine == GESVD)
        return w->m >= w->n && w->room >= room_of(w->m, w->n) &&
               (w->job == 'N' || (w->ldu >= w->m && w->ldvt >= w->n));
    if (w->routine == ORGQR && (w->m < w->n || w->n < w->k))
        return false;
    return w->routine == GETRS ? w->ldb >= w->n
                               : w->room >= room_of(rows, w->n);
}

static int submit(const struct solver *solver, struct work work)
{
    const int error = count();
    struct work *self = malloc(sizeof *self);

    if (error != 0 || self == NULL || !is_sane(&work)) {
        free(self);
        return error != 0 ? error : self == NULL ? ALLOC_FAILED : BAD_VALUE;
    }
    work.a = real(work.a);
    work.b = real(work.b);
    work.u = real(work.u);
    work.vt = real(work.vt);
    work.values = real(work.values);
    work.work = real(work.work);
    work.pivots = real(work.pivots);
    work.info = real(work.info);
    *self = work;
    return fake_cuda_submit(solver->stream, run, self) == 0 ? 0
                                                            : NOT_INITIALISED;
}

static int answer(int m, int n, int *room)
{
    *room = room_of(m, n);
    return count();
}

/* The names, for each dtype. */
#define FUNCTION(name_, body_, ...)              \
    FAKE_API int cusolverDn##name_(__VA_ARGS__); \
    int cusolverDn##name_(__VA_ARGS__)           \
    {                                            \
        body_                                    \
    }
#define SUBMIT(routine_, is_64_, ...)                     \
    return submit(h, (struct work){.routine = (routine_), \
                                   .is_double = (is_64_), \
                                   .info = info,          \
                                   __VA_ARGS__});
#define UNUSED(...) (void)(void *[]){__VA_ARGS__};

#define ROUTINES(l, r, d)                                                     \
    FUNCTION(l##potrf_bufferSize, UNUSED(h, a)(void) uplo; (void)lda;         \
             return answer(n, n, room);                                       \
             , void *h, int uplo, int n, r *a, int lda, int *room)            \
    FUNCTION(l##potrf,                                                        \
             SUBMIT(POTRF, d, .is_upper = uplo == 1, .n = n, .a = a,          \
                    .lda = lda, .work = work, .room = room),                  \
             void *h, int uplo, int n, r *a, int lda, r *work, int room,      \
             int *info)                                                       \
    FUNCTION(l##getrf_bufferSize, UNUSED(h, a)(void) lda;                     \
             return answer(m, n, room);                                       \
             , void *h, int m, int n, r *a, int lda, int *room)               \
    FUNCTION(l##getrf,                                                        \
             SUBMIT(GETRF, d, .m = m, .n = n, .a = a, .lda = lda,             \
                    .work = work, .room = room_of(m, n), .pivots = pivots),   \
             void *h, int m, int n, r *a, int lda, r *work, int *pivots,      \
             int *info)                                                       \
    FUNCTION(l##getrs, (void)trans;                                           \
             SUBMIT(GETRS, d, .n = n, .k = k, .a = (void *)(uintptr_t)a,      \
                    .lda = lda, .b = b, .ldb = ldb,                           \
                    .pivots = (int *)(uintptr_t)pivots),                      \
             void *h, int trans, int n, int k, const r *a, int lda,           \
             const int *pivots, r *b, int ldb, int *info)                     \
    FUNCTION(l##geqrf_bufferSize, UNUSED(h, a)(void) lda;                     \
             return answer(m, n, room);                                       \
             , void *h, int m, int n, r *a, int lda, int *room)               \
    FUNCTION(l##geqrf,                                                        \
             SUBMIT(GEQRF, d, .m = m, .n = n, .a = a, .lda = lda,             \
                    .values = tau, .work = work, .room = room),               \
             void *h, int m, int n, r *a, int lda, r *tau, r *work, int room, \
             int *info)                                                       \
    FUNCTION(l##orgqr_bufferSize, UNUSED(h)(void) a; (void)tau; (void)lda;    \
             (void)k; return answer(m, n, room);                              \
             , void *h, int m, int n, int k, const r *a, int lda,             \
             const r *tau, int *room)                                         \
    FUNCTION(l##orgqr,                                                        \
             SUBMIT(ORGQR, d, .m = m, .n = n, .k = k, .a = a, .lda = lda,     \
                    .values = (void *)(uintptr_t)tau, .work = work,           \
                    .room = room),                                            \
             void *h, int m, int n, int k, r *a, int lda, const r *tau,       \
             r *work, int room, int *info)                                    \
    FUNCTION(l##syevd_bufferSize, UNUSED(h)(void) a; (void)w; (void)lda;      \
             (void)job; (void)uplo; return answer(n, n, room);                \
             , void *h, int job, int uplo, int n, const r *a, int lda,        \
             const r *w, int *room)                                           \
    FUNCTION(l##syevd,                                                        \
             SUBMIT(SYEVD, d, .is_upper = uplo == 1, .has_vectors = job == 1, \
                    .n = n, .a = a, .lda = lda, .values = w, .work = work,    \
                    .room = room),                                            \
             void *h, int job, int uplo, int n, r *a, int lda, r *w, r *work, \
             int room, int *info)                                             \
    FUNCTION(l##gesvd_bufferSize, UNUSED(h) return answer(m, n, room);        \
             , void *h, int m, int n, int *room)                              \
    FUNCTION(l##gesvd, (void)rest; (void)job_vt;                              \
             SUBMIT(GESVD, d, .job = job_u, .m = m, .n = n, .a = a,           \
                    .lda = lda, .values = s, .u = u, .ldu = ldu, .vt = vt,    \
                    .ldvt = ldvt, .work = work, .room = room),                \
             void *h, signed char job_u, signed char job_vt, int m, int n,    \
             r *a, int lda, r *s, r *u, int ldu, r *vt, int ldvt, r *work,    \
             int room, r *rest, int *info)

/* clang-format off */
ROUTINES(S, float, false)
ROUTINES(D, double, true)
/* clang-format on */
