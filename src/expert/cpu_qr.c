/* SPDX-License-Identifier: MIT */
/* cpu_qr.c - Q and R on k threads, by reflections of a copy in scratch memory.
 */
#include <string.h>

#include "base/size.h"
#include "expert/forms.h"
#include "expert/solve.h"

/* Row i of R, and column i of Q. */
#define CHOOSE(dtype_, real_)                                             \
    static void choose_##dtype_(size_t m, size_t n, real_ *qr, size_t ld) \
    {                                                                     \
        for (size_t i = 0; i < n; i++) {                                  \
            real_ *row = qr + (m + i) * ld;                               \
            if (!(row[i] < 0))                                            \
                continue;                                                 \
            for (size_t j = i; j < n; j++)                                \
                row[j] = -row[j];                                         \
            for (size_t k = 0; k < m; k++)                                \
                qr[k * ld + i] = -qr[k * ld + i];                         \
        }                                                                 \
    }

/* clang-format off */
CHOOSE(f32, float)
CHOOSE(f64, double)
/* clang-format on */

void takt__qr_choose_signs(takt_dtype dtype, size_t m, size_t n, void *qr,
                           size_t ld)
{
    if (dtype == TAKT_F64)
        choose_f64(m, n, qr, ld);
    else
        choose_f32(m, n, qr, ld);
}

/* The upper triangle of A, and zeros below it. */
static void copy_r(size_t n, size_t size, const char *a, size_t ld, char *r,
                   size_t ld_r)
{
    for (size_t i = 0; i < n; i++) {
        memset(r + i * ld_r * size, 0, i * size);
        memcpy(r + (i * ld_r + i) * size, a + (i * ld + i) * size,
               (n - i) * size);
    }
}

takt_status takt__cpu_qr(struct takt_experts *experts,
                         const struct takt_expert *expert,
                         const takt_call *call)
{
    const size_t m = call->shape.dim[TAKT_QR_M], n = call->shape.dim[TAKT_QR_N];
    const struct takt_factor_kernels *kernels =
        expert->kernel_set->factor[call->dtype];
    const struct takt_factor_kernels plan = takt__factor_plan(kernels);
    struct takt_factor_job job =
        takt__factor_job_of(experts, expert, call->dtype);
    struct takt_factoring how = takt__factor_planned(&job, &plan);
    const size_t size = kernels->size, ld = takt__factor_ld(n, size);
    const size_t bytes = takt__size_mul(takt__size_mul(m, ld), size);
    const size_t room = takt__size_mul(
        takt__size_add(n, takt__factor_reflect_room(m, n)), size);
    const struct takt_rows rows = {m, n, ld};
    char *q = call->out, *a = call->out; /* an address, for the plan */

    if (!takt__factor_has_scratch(bytes))
        return TAKT_ENOMEM;
    takt__factor_reflect(&how, m, n, n, a, ld, NULL, a);
    takt__factor_unfold(&how, m, n, a, ld, NULL, q, call->ld[2], a);
    a = takt__factor_scratch(&job, takt__size_add(bytes, room));
    if (a == NULL)
        return TAKT_ENOMEM;
    char *tau = a + bytes, *work = tau + n * size;
    memset(a, 0, bytes);
    takt__copy_rows(&rows, size, call->in[0], call->ld[0], a);
    how = takt__factor_real(&job, kernels);
    takt__factor_reflect(&how, m, n, n, a, ld, tau, work);
    copy_r(n, size, a, ld, q + m * call->ld[2] * size, call->ld[2]);
    takt__factor_unfold(&how, m, n, a, ld, tau, q, call->ld[2], work);
    takt__qr_choose_signs(call->dtype, m, n, call->out, call->ld[2]);
    return TAKT_OK;
}
