/* SPDX-License-Identifier: MIT */
/*
 * cpu_least.c - least squares on k threads.
 *
 * A and B lie side by side in scratch memory. The reflections that turn A into
 * R turn B into Q'B at the same time, and X = R^-1 Q'B.
 */
#include <math.h>
#include <string.h>

#include "base/size.h"
#include "expert/forms.h"
#include "expert/solve.h"
#include "op/operands.h"

/* A, from column 0 on, and B, from `right` on; zeros in between. */
struct least_matrix {
    size_t m, n, right, all, ld, size;
    char *at;
};

static struct least_matrix matrix_of(const takt_call *call)
{
    const size_t *d = call->shape.dim;
    struct least_matrix a = {.m = d[TAKT_LSTSQ_M],
                             .n = d[TAKT_LSTSQ_N],
                             .size = takt_dtype_size(call->dtype),
                             .at = call->out}; /* an address, for the plan */

    a.right = takt__size_round_up(a.n, TAKT_PANEL_COLS);
    a.all = takt__size_add(a.right, d[TAKT_LSTSQ_NRHS]);
    a.ld = takt__factor_ld(a.all, a.size);
    return a;
}

static void copy_both(const takt_call *call, const struct least_matrix *a)
{
    const size_t nrhs = a->all - a->right;

    for (size_t i = 0; i < a->m; i++) {
        char *row = a->at + i * a->ld * a->size;
        memset(row, 0, a->ld * a->size);
        memcpy(row, (const char *)call->in[0] + i * call->ld[0] * a->size,
               a->n * a->size);
        memcpy(row + a->right * a->size,
               (const char *)call->in[1] + i * call->ld[1] * a->size,
               nrhs * a->size);
    }
}

/* Whether the diagonal of R is neither 0 nor NaN or infinite. */
static bool is_regular(const struct least_matrix *a)
{
    bool is_right = true;

    for (size_t i = 0; i < a->n; i++) {
        const void *at = a->at + i * (a->ld + 1) * a->size;
        const double x = a->size == sizeof(float) ? (double)*(const float *)at
                                                  : *(const double *)at;
        is_right &= x != 0 && isfinite(x);
    }
    return is_right;
}

takt_status takt__cpu_lstsq(struct takt_experts *experts,
                            const struct takt_expert *expert,
                            const takt_call *call)
{
    const struct takt_rows x = takt__rows_of(call, TAKT_OUT);
    const struct takt_factor_kernels *kernels =
        expert->kernel_set->factor[call->dtype];
    const struct takt_factor_kernels plan = takt__factor_plan(kernels);
    struct takt_factor_job job =
        takt__factor_job_of(experts, expert, call->dtype);
    struct takt_factoring how = takt__factor_planned(&job, &plan);
    struct least_matrix a = matrix_of(call);
    const size_t bytes = takt__size_mul(takt__size_mul(a.m, a.ld), a.size);
    const size_t room = takt__size_mul(
        takt__size_add(a.n, takt__factor_reflect_room(a.m, a.all)), a.size);
    struct takt_triangle r = {.n = a.n, .at = a.at, .row = a.ld, .col = 1};

    if (!takt__factor_has_scratch(bytes))
        return TAKT_ENOMEM;
    takt__factor_reflect(&how, a.m, a.n, a.all, a.at, a.ld, NULL, a.at);
    takt__factor_substitute(&how, &r, x.cols, call->out, x.ld);
    a.at = takt__factor_scratch(&job, takt__size_add(bytes, room));
    if (a.at == NULL)
        return TAKT_ENOMEM;
    copy_both(call, &a);
    how = takt__factor_real(&job, kernels);
    takt__factor_reflect(&how, a.m, a.n, a.all, a.at, a.ld, a.at + bytes,
                         a.at + bytes + a.n * a.size);
    if (!is_regular(&a)) {
        takt__fill_nan(&x, call->dtype, call->out);
        return TAKT_ESINGULAR;
    }
    takt__copy_rows(&x, a.size, a.at + a.right * a.size, a.ld, call->out);
    r.at = a.at;
    takt__factor_substitute(&how, &r, x.cols, call->out, x.ld);
    return TAKT_OK;
}
