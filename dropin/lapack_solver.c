/* SPDX-License-Identifier: MIT */
/* lapack_solver.c - reads the arguments of LAPACK's routines. */
#include "lapack_solver.h"

#include <string.h>

typedef bool read_call(const struct takt_lapack_call *call,
                       takt_solver_call *out);

static int64_t number(const struct takt_lapack_call *call, unsigned i)
{
    return takt__lapack_number(call, i);
}

static char option(const struct takt_lapack_call *call, unsigned i)
{
    return takt__fortran_option(call->argument[i]);
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static bool is_triangle(char letter)
{
    return letter == 'L' || letter == 'U';
}

/* The matrix at argument i, whose columns are as far apart as the next one
 * says. */
static takt_solver_matrix matrix(const struct takt_lapack_call *call,
                                 unsigned i)
{
    const size_t ld = (size_t)number(call, i + 1);

    return (takt_solver_matrix){call->argument[i], ld, call->argument[i], ld};
}

static takt_solver_matrix result(const struct takt_lapack_call *call,
                                 unsigned i)
{
    takt_solver_matrix written = matrix(call, i);

    written.in = NULL;
    return written;
}

/* Sizes, none of which is 0 (the work would be) or negative. */
static bool set_sizes(takt_solver_call *out, int64_t m, int64_t n, int64_t k)
{
    if (m <= 0 || n <= 0 || k < 0)
        return false;
    out->m = (size_t)m;
    out->n = (size_t)n;
    out->k = (size_t)k;
    return true;
}

/* ---- the routines -------------------------------------------------------- */

static bool read_potrf(const struct takt_lapack_call *call,
                       takt_solver_call *out)
{
    const int64_t n = number(call, 1);

    out->uplo = option(call, 0);
    out->a = matrix(call, 2);
    return set_sizes(out, n, n, 0) && is_triangle(out->uplo) &&
           number(call, 3) >= n;
}

static bool read_getrf(const struct takt_lapack_call *call,
                       takt_solver_call *out)
{
    out->a = matrix(call, 2);
    return set_sizes(out, number(call, 0), number(call, 1), 0) &&
           number(call, 3) >= number(call, 0);
}

static bool read_gesv(const struct takt_lapack_call *call,
                      takt_solver_call *out)
{
    const int64_t n = number(call, 0);

    out->a = matrix(call, 2);
    out->b = matrix(call, 5);
    return set_sizes(out, n, n, number(call, 1)) && out->k > 0 &&
           number(call, 3) >= n && number(call, 6) >= n;
}

static bool read_geqrf(const struct takt_lapack_call *call,
                       takt_solver_call *out)
{
    const int64_t m = number(call, 0), n = number(call, 1);

    out->a = matrix(call, 2);
    out->values = call->argument[4];
    return set_sizes(out, m, n, 0) && number(call, 3) >= m &&
           number(call, 6) >= n;
}

static bool read_orgqr(const struct takt_lapack_call *call,
                       takt_solver_call *out)
{
    const int64_t m = number(call, 0), n = number(call, 1), k = number(call, 2);

    out->a = matrix(call, 3);
    out->values = call->argument[5];
    return set_sizes(out, m, n, k) && k > 0 && m >= n && n >= k &&
           number(call, 4) >= m && number(call, 7) >= n;
}

/* The least working memory of syevd, of numbers and of integers. */
static bool has_work_of_syevd(const struct takt_lapack_call *call, int64_t n,
                              bool has_vectors)
{
    const int64_t least = has_vectors ? 1 + 6 * n + 2 * n * n : 2 * n + 1;

    return number(call, 7) >= least &&
           number(call, 9) >= (has_vectors ? 3 + 5 * n : 1);
}

static bool read_eigen(const struct takt_lapack_call *call,
                       takt_solver_call *out)
{
    const int64_t n = number(call, 2);

    out->job = option(call, 0);
    out->uplo = option(call, 1);
    out->a = matrix(call, 3);
    out->values = call->argument[5];
    return set_sizes(out, n, n, 0) && is_triangle(out->uplo) &&
           (out->job == 'N' || out->job == 'V') && number(call, 4) >= n;
}

static bool read_syevd(const struct takt_lapack_call *call,
                       takt_solver_call *out)
{
    return read_eigen(call, out) &&
           has_work_of_syevd(call, (int64_t)out->n, out->job == 'V');
}

static bool read_syev(const struct takt_lapack_call *call,
                      takt_solver_call *out)
{
    return read_eigen(call, out) && number(call, 7) >= 3 * (int64_t)out->n - 1;
}

/* Enough for every way that gesdd goes. */
static bool has_work_of_gesdd(const struct takt_lapack_call *call, char job)
{
    const int64_t few = smaller(number(call, 1), number(call, 2));
    const int64_t many = larger(number(call, 1), number(call, 2));
    const bool is_long = 6 * many >= 11 * few;
    const int64_t least = job == 'N' ? 3 * few + larger(many, 7 * few)
                          : is_long
                              ? 4 * few * few + 7 * few + many
                              : 3 * few + larger(many, 3 * few * few + 4 * few);

    return number(call, 11) >= least;
}

static bool read_gesdd(const struct takt_lapack_call *call,
                       takt_solver_call *out)
{
    const int64_t m = number(call, 1), n = number(call, 2);
    const char job = option(call, 0);

    out->job = job;
    out->a = matrix(call, 3);
    out->values = call->argument[5];
    out->u = result(call, 6);
    out->vt = result(call, 8);
    if (!set_sizes(out, m, n, 0) || (job != 'N' && job != 'S' && job != 'A') ||
        number(call, 4) < m || number(call, 7) < 1 || number(call, 9) < 1 ||
        !has_work_of_gesdd(call, job))
        return false;
    return job == 'N' || (number(call, 7) >= m &&
                          number(call, 9) >= (job == 'A' ? n : smaller(m, n)));
}

/* ---- the table ----------------------------------------------------------- */

/* Arguments that pivots, info and working memory go to; 0: there is none. */
static const struct {
    read_call *read;
    takt_solver_routine routine;
    uint8_t pivots, work, work_size, integers, info;
} readers[TAKT_LAPACKS] = {
    [TAKT_LAPACK_potrf] = {read_potrf, TAKT_SOLVER_POTRF, .info = 4},
    [TAKT_LAPACK_getrf] = {read_getrf, TAKT_SOLVER_GETRF, .pivots = 4,
                           .info = 5},
    [TAKT_LAPACK_gesv] = {read_gesv, TAKT_SOLVER_GESV, .pivots = 4, .info = 7},
    [TAKT_LAPACK_geqrf] = {read_geqrf, TAKT_SOLVER_GEQRF, .work = 5,
                           .work_size = 6, .info = 7},
    [TAKT_LAPACK_orgqr] = {read_orgqr, TAKT_SOLVER_ORGQR, .work = 6,
                           .work_size = 7, .info = 8},
    [TAKT_LAPACK_syev] = {read_syev, TAKT_SOLVER_SYEVD, .work = 6,
                          .work_size = 7, .info = 8},
    [TAKT_LAPACK_syevd] = {read_syevd, TAKT_SOLVER_SYEVD, .work = 6,
                           .work_size = 7, .integers = 8, .info = 10},
    [TAKT_LAPACK_gesdd] = {read_gesdd, TAKT_SOLVER_GESDD, .work = 10,
                           .work_size = 11, .info = 13},
};

bool takt__lapack_solver(const struct takt_lapack_call *call,
                         takt_solver_call *out)
{
    read_call *read = readers[call->routine].read;

    *out =
        (takt_solver_call){.size = sizeof *out,
                           .routine = readers[call->routine].routine,
                           .dtype = call->type == TAKT_D ? TAKT_F64 : TAKT_F32};
    return read != NULL && read(call, out);
}

/* By rows (linalg.c) the letters are job and triangle; LAPACK's own routines
 * have no more than they need. */
bool takt__lapack_like(const struct takt_lapack_key *key, takt_solver_call *out)
{
    const bool is_by_rows = key->option[2] == TAKT_LETTER_BY_ROWS;
    const bool has_job = is_by_rows || key->routine != TAKT_LAPACK_potrf;
    size_t n = 1;

    /* Within the half octave of the work, which begins with it. */
    while ((double)n * (double)n * (double)n < 1.1 * key->work)
        n += n / 64 + 1;
    *out =
        (takt_solver_call){.size = sizeof *out,
                           .routine = readers[key->routine].routine,
                           .dtype = key->type == TAKT_D ? TAKT_F64 : TAKT_F32,
                           .job = has_job ? key->option[0] : '\0',
                           .uplo = key->option[has_job],
                           .is_by_rows = is_by_rows,
                           .m = n,
                           .n = n,
                           .k = 1};
    if (out->routine == TAKT_SOLVER_ORGQR)
        out->k = n;
    return readers[key->routine].read != NULL;
}

double takt__lapack_bytes(const takt_solver_call *call)
{
    const double m = (double)call->m, n = (double)call->n;
    const bool is_gesdd = call->routine == TAKT_SOLVER_GESDD;
    const double vectors = is_gesdd && call->job != 'N' ? m * m + n * n : m * n;

    return (m * n + vectors + 2 * n * (double)call->k) *
           (call->dtype == TAKT_F64 ? 8 : 4);
}

int takt__lapack_pivots(const struct takt_lapack_call *call)
{
    const int pivots = readers[call->routine].pivots;

    return pivots > 0 ? pivots : -1;
}

static void write_number(const struct takt_lapack_call *call, unsigned i,
                         int64_t value)
{
    if (call->target->is_wide)
        *(int64_t *)call->argument[i] = value;
    else
        *(int32_t *)call->argument[i] = (int32_t)value;
}

static void write_real(const struct takt_lapack_call *call, unsigned i,
                       int64_t value)
{
    if (call->type == TAKT_D)
        *(double *)call->argument[i] = (double)value;
    else
        *(float *)call->argument[i] = (float)value;
}

/* The memory that was given is as much as the routine needs. */
void takt__lapack_succeed(const struct takt_lapack_call *call)
{
    const unsigned work = readers[call->routine].work;
    const unsigned size = readers[call->routine].work_size;
    const unsigned integers = readers[call->routine].integers;

    write_number(call, readers[call->routine].info, 0);
    if (work > 0)
        write_real(call, work, number(call, size));
    if (integers > 0)
        write_number(call, integers, number(call, integers + 1));
}
