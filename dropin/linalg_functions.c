/* SPDX-License-Identifier: MIT */
/* linalg_functions.c - the functions of numpy.linalg, and their operands. */
#include "linalg.h"

static size_t size_of(const takt_solver_call *call)
{
    return call->dtype == TAKT_F64 ? sizeof(double) : sizeof(float);
}

/* A matrix whose strides are at `steps`: its rows lie apart by *ld elements. */
static bool read_rows(const takt_solver_call *call, const ptrdiff_t *steps,
                      ptrdiff_t rows, ptrdiff_t cols, size_t *ld)
{
    const ptrdiff_t size = (ptrdiff_t)size_of(call);

    *ld = (size_t)cols;
    if (cols > 1 && steps[1] != size)
        return false;
    if (rows > 1) {
        if (steps[0] % size != 0 || steps[0] / size < cols)
            return false;
        *ld = (size_t)(steps[0] / size);
    }
    return true;
}

/* Numbers side by side. */
static bool is_list(const takt_solver_call *call, ptrdiff_t step,
                    ptrdiff_t count)
{
    return count == 1 || step == (ptrdiff_t)size_of(call);
}

static bool set_sizes(takt_solver_call *out, ptrdiff_t m, ptrdiff_t n,
                      ptrdiff_t k)
{
    out->m = (size_t)m;
    out->n = (size_t)n;
    out->k = (size_t)k;
    return m > 0 && n > 0 && k >= 0;
}

static ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b)
{
    return a < b ? a : b;
}

/* (m,m)->(m,m) */
static bool read_cholesky(const struct takt_linalg *self, char **args,
                          const ptrdiff_t *dimensions, const ptrdiff_t *steps,
                          takt_solver_call *out)
{
    const ptrdiff_t n = dimensions[1];

    (void)self;
    out->routine = TAKT_SOLVER_POTRF;
    out->is_cleared = 1;
    out->a.in = args[0];
    out->a.out = args[1];
    return set_sizes(out, n, n, 0) &&
           read_rows(out, &steps[2], n, n, &out->a.in_ld) &&
           read_rows(out, &steps[4], n, n, &out->a.out_ld);
}

/* (m,m),(m,n)->(m,n) */
static bool read_solve(const struct takt_linalg *self, char **args,
                       const ptrdiff_t *dimensions, const ptrdiff_t *steps,
                       takt_solver_call *out)
{
    const ptrdiff_t n = dimensions[1], k = dimensions[2];

    (void)self;
    out->routine = TAKT_SOLVER_GESV;
    out->a.in = args[0];
    out->b.in = args[1];
    out->b.out = args[2];
    return set_sizes(out, n, n, k) && k > 0 &&
           read_rows(out, &steps[3], n, n, &out->a.in_ld) &&
           read_rows(out, &steps[5], n, k, &out->b.in_ld) &&
           read_rows(out, &steps[7], n, k, &out->b.out_ld);
}

/* (m,m),(m)->(m) */
static bool read_solve1(const struct takt_linalg *self, char **args,
                        const ptrdiff_t *dimensions, const ptrdiff_t *steps,
                        takt_solver_call *out)
{
    const ptrdiff_t with_one[] = {dimensions[0], dimensions[1], 1};
    const ptrdiff_t as_column[] = {steps[0], steps[1], steps[2],
                                   steps[3], steps[4], steps[5],
                                   0,        steps[6], 0};

    return read_solve(self, args, with_one, as_column, out);
}

/* (m,m)->(m),(m,m), and (m,m)->(m) */
static bool read_eigh(const struct takt_linalg *self, char **args,
                      const ptrdiff_t *dimensions, const ptrdiff_t *steps,
                      takt_solver_call *out)
{
    const ptrdiff_t n = dimensions[1];
    const bool has_vectors = self->job == 'V';
    const ptrdiff_t *at = &steps[has_vectors ? 3 : 2];

    out->routine = TAKT_SOLVER_SYEVD;
    out->a.in = args[0];
    out->a.out = has_vectors ? args[2] : NULL;
    out->values = args[1];
    return set_sizes(out, n, n, 0) && is_list(out, at[2], n) &&
           read_rows(out, at, n, n, &out->a.in_ld) &&
           (!has_vectors || read_rows(out, &at[3], n, n, &out->a.out_ld));
}

/* (m,n)->(min): the first operand is overwritten. */
static bool read_qr_raw(const struct takt_linalg *self, char **args,
                        const ptrdiff_t *dimensions, const ptrdiff_t *steps,
                        takt_solver_call *out)
{
    const ptrdiff_t m = dimensions[1], n = dimensions[2];

    (void)self;
    out->routine = TAKT_SOLVER_GEQRF;
    out->a.in = out->a.out = args[0];
    out->values = args[1];
    if (!set_sizes(out, m, n, 0) || !is_list(out, steps[4], smaller(m, n)) ||
        !read_rows(out, &steps[2], m, n, &out->a.in_ld))
        return false;
    out->a.out_ld = out->a.in_ld;
    return true;
}

/* (m,n),(k)->(m,k): of the first one, the first k columns count. */
static bool read_qr_reduced(const struct takt_linalg *self, char **args,
                            const ptrdiff_t *dimensions, const ptrdiff_t *steps,
                            takt_solver_call *out)
{
    const ptrdiff_t m = dimensions[1], n = dimensions[2], k = dimensions[3];

    (void)self;
    out->routine = TAKT_SOLVER_ORGQR;
    out->a.in = args[0];
    out->a.out = args[2];
    out->values = args[1];
    return set_sizes(out, m, k, k) && k > 0 && k <= smaller(m, n) &&
           is_list(out, steps[5], k) &&
           read_rows(out, &steps[3], m, n, &out->a.in_ld) &&
           read_rows(out, &steps[6], m, k, &out->a.out_ld);
}

/* (m,n)->(m,?),(min),(?,n), and (m,n)->(min) */
static bool read_svd(const struct takt_linalg *self, char **args,
                     const ptrdiff_t *dimensions, const ptrdiff_t *steps,
                     takt_solver_call *out)
{
    const ptrdiff_t m = dimensions[1], n = dimensions[2], few = smaller(m, n);
    const bool has_vectors = self->job != 'N';
    const ptrdiff_t *at = &steps[has_vectors ? 4 : 2];

    out->routine = TAKT_SOLVER_GESDD;
    out->a.in = args[0];
    out->values = args[has_vectors ? 2 : 1];
    if (!set_sizes(out, m, n, 0) || !read_rows(out, at, m, n, &out->a.in_ld) ||
        !is_list(out, at[has_vectors ? 4 : 2], few))
        return false;
    if (!has_vectors)
        return true;
    out->u.out = args[1];
    out->vt.out = args[3];
    return read_rows(out, &at[2], m, self->job == 'A' ? m : few,
                     &out->u.out_ld) &&
           read_rows(out, &at[5], self->job == 'A' ? n : few, n,
                     &out->vt.out_ld);
}

/* NumPy 1 has two of some, for tall and for flat matrices. */
static const struct takt_linalg_function functions[] = {
    {"cholesky_lo", 2, read_cholesky, TAKT_LAPACK_potrf, 0, 'L'},
    {"solve", 3, read_solve, TAKT_LAPACK_gesv, 0, 0},
    {"solve1", 3, read_solve1, TAKT_LAPACK_gesv, 0, 0},
    {"eigh_lo", 3, read_eigh, TAKT_LAPACK_syevd, 'V', 'L'},
    {"eigh_up", 3, read_eigh, TAKT_LAPACK_syevd, 'V', 'U'},
    {"eigvalsh_lo", 2, read_eigh, TAKT_LAPACK_syevd, 'N', 'L'},
    {"eigvalsh_up", 2, read_eigh, TAKT_LAPACK_syevd, 'N', 'U'},
    {"qr_r_raw_m", 2, read_qr_raw, TAKT_LAPACK_geqrf, 0, 0},
    {"qr_r_raw_n", 2, read_qr_raw, TAKT_LAPACK_geqrf, 0, 0},
    {"qr_r_raw", 2, read_qr_raw, TAKT_LAPACK_geqrf, 0, 0},
    {"qr_reduced", 3, read_qr_reduced, TAKT_LAPACK_orgqr, 0, 0},
    {"svd_m", 2, read_svd, TAKT_LAPACK_gesdd, 'N', 0},
    {"svd_n", 2, read_svd, TAKT_LAPACK_gesdd, 'N', 0},
    {"svd", 2, read_svd, TAKT_LAPACK_gesdd, 'N', 0},
    {"svd_m_s", 4, read_svd, TAKT_LAPACK_gesdd, 'S', 0},
    {"svd_n_s", 4, read_svd, TAKT_LAPACK_gesdd, 'S', 0},
    {"svd_s", 4, read_svd, TAKT_LAPACK_gesdd, 'S', 0},
    {"svd_m_f", 4, read_svd, TAKT_LAPACK_gesdd, 'A', 0},
    {"svd_n_f", 4, read_svd, TAKT_LAPACK_gesdd, 'A', 0},
    {"svd_f", 4, read_svd, TAKT_LAPACK_gesdd, 'A', 0},
};

const struct takt_linalg_function *takt__linalg_function(unsigned i)
{
    return i < sizeof functions / sizeof *functions ? &functions[i] : NULL;
}
