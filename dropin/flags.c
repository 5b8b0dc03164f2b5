/* SPDX-License-Identifier: MIT */
/* flags.c - what a result shows of the exceptions that were raised. */
#include "flags.h"

#include <float.h>
#include <math.h>

#include "takt/ops.h"

struct output {
    size_t rows, cols, ld;
};

/* Of a product, of a matrix and a vector, of vectors. A sum is one element. */
static struct output output_of(const takt_call *call)
{
    const size_t *d = call->shape.dim;

    if (call->shape.rank == 3)
        return (struct output){d[0], d[1],
                               call->ld[2] > 0 ? call->ld[2] : d[1]};
    if (call->shape.rank == 2)
        return (struct output){1, d[(call->flags & TAKT_TRANS_A) != 0 ? 1 : 0],
                               0};
    return (struct output){
        1, call->out == call->in[0] || call->out == call->in[1] ? d[0] : 1, 0};
}

/* What exceptions some numbers may have come from. */
static uint32_t possible_of(const takt_call *call, size_t first, size_t n)
{
    uint32_t possible = 0;

    for (size_t i = first; i < first + n; i++) {
        const double x = call->dtype == TAKT_F64
                             ? ((const double *)call->out)[i]
                             : (double)((const float *)call->out)[i];
        possible |= isnan(x)      ? FE_INVALID | FE_OVERFLOW
                    : isfinite(x) ? 0
                                  : FE_OVERFLOW;
    }
    return possible;
}

/* By the operation itself, which a trap notices: feraiseexcept() is not in
 * libc. */
static void raise_again(uint32_t flags)
{
    volatile double zero = 0, most = DBL_MAX;

    if ((flags & FE_INVALID) != 0)
        zero = zero / zero;
    if ((flags & FE_OVERFLOW) != 0)
        most = most * most;
    (void)zero, (void)most;
}

void takt__flags_correct(const struct takt_flags *flags, struct takt_fpenv now,
                         const takt_call *call)
{
    const struct output out = output_of(call);
    uint32_t possible = 0;

    for (size_t i = 0; i < out.rows; i++)
        possible |= possible_of(call, i * out.ld, out.cols);
    const uint32_t spurious = (FE_INVALID | FE_OVERFLOW) & ~possible;
    const uint32_t raised = now.flags & ~flags->before.flags & ~spurious;
    takt__fpenv_set((struct takt_fpenv){
        flags->before.control,
        (now.flags & ~(uint32_t)(FE_INVALID | FE_OVERFLOW)) |
            flags->before.flags});
    raise_again(raised);
}
