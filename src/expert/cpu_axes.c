/* SPDX-License-Identifier: MIT */
/*
 * cpu_axes.c - a vector on every row of a matrix, and reductions of its rows
 * and columns, on k threads.
 *
 * A row is reduced by the kernel of vectors, or, if it is short and the expert
 * is not the scalar one, which is the definition, as a column.
 */
#include <string.h>

#include "expert/forms.h"
#include "kernels/partial.h"

struct axes_job {
    const struct takt_kernel_set *kernel_set;
    const takt_call *call;
    size_t rows, cols, size;
    bool is_short; /* rows of few elements: reduce_short() */
};

static struct axes_job job_of(const struct takt_expert *expert,
                              const takt_call *call)
{
    return (struct axes_job){.kernel_set = expert->kernel_set,
                             .call = call,
                             .rows = call->shape.dim[TAKT_ROWS],
                             .cols = call->shape.dim[TAKT_COLS],
                             .size = takt_dtype_size(call->dtype)};
}

/* ---- a vector on every row ----------------------------------------------- */

static void bias_part(void *self, unsigned part, unsigned parts, void *scratch)
{
    const struct axes_job *job = self;
    const takt_call *call = job->call;
    const struct takt_stretch s = takt__stretch(job->rows, 1, part, parts);
    const size_t skip = s.first * job->cols * job->size;

    (void)scratch;
    if (s.count > 0)
        job->kernel_set->bias[call->dtype][takt__op_id(call->op)](
            s.count, job->cols, (const char *)call->in[0] + skip, call->in[1],
            (char *)call->out + skip);
}

takt_status takt__cpu_bias(struct takt_experts *experts,
                           const struct takt_expert *expert,
                           const takt_call *call)
{
    struct axes_job job = job_of(expert, call);

    return takt__cpu_run_parts(experts, expert, bias_part, &job);
}

/* ---- each row ------------------------------------------------------------ */

/* The reduction of vectors that an op applies to rows, and that of columns. */
static const struct {
    enum takt_op_id op;
    enum takt_partial_kind kind;
    enum takt_op_id of_columns;
} of_vectors[TAKT_OP_COUNT] = {
    [TAKT_OP_row_sum] = {TAKT_OP_sum, TAKT_PARTIAL_SUM, TAKT_OP_col_sum},
    [TAKT_OP_row_mean] = {TAKT_OP_mean, TAKT_PARTIAL_MEAN, TAKT_OP_col_mean},
    [TAKT_OP_row_max] = {TAKT_OP_max, TAKT_PARTIAL_MAX, TAKT_OP_col_max},
};

enum { short_row = 128 }; /* bytes; measured: up to there it is faster */

/* Rows so short that a call for each takes longer than to turn them round and
 * to reduce them as columns. */
static void reduce_short(const struct axes_job *job, struct takt_stretch s)
{
    enum { at_once = 64 };
    const takt_call *call = job->call;
    const enum takt_op_id op = of_vectors[takt__op_id(call->op)].of_columns;
    const char *in =
        (const char *)call->in[0] + s.first * job->cols * job->size;
    char *out = (char *)call->out + s.first * job->size;
    double turned[short_row * at_once / sizeof(double)];

    for (size_t i = 0; i < s.count; i += at_once) {
        const size_t n = s.count - i < at_once ? s.count - i : at_once;
        job->kernel_set->transpose[call->dtype](
            n, job->cols, in + i * job->cols * job->size, job->cols, turned, n);
        job->kernel_set->columns[call->dtype][op](job->cols, n, turned, n,
                                                  out + i * job->size);
    }
}

static void rows_part(void *self, unsigned part, unsigned parts, void *scratch)
{
    enum { grain = 16 }; /* a cache line of results */
    const struct axes_job *job = self;
    const takt_call *call = job->call;
    const enum takt_op_id op = takt__op_id(call->op);
    takt_reduce_kernel *kernel =
        job->kernel_set->reduce[call->dtype][of_vectors[op].op];
    const struct takt_stretch s = takt__stretch(job->rows, grain, part, parts);
    const char *in = call->in[0];
    char *out = call->out;

    (void)scratch;
    if (job->is_short) {
        reduce_short(job, s);
        return;
    }
    for (size_t i = s.first; i < s.first + s.count; i++) {
        struct takt_partial partial;
        kernel(job->cols, in + i * job->cols * job->size, NULL, &partial);
        takt__partial_write(of_vectors[op].kind, &partial,
                            call->dtype == TAKT_F64, out + i * job->size);
    }
}

takt_status takt__cpu_by_rows(struct takt_experts *experts,
                              const struct takt_expert *expert,
                              const takt_call *call)
{
    struct axes_job job = job_of(expert, call);

    job.is_short =
        job.cols * job.size <= short_row && expert->isa != TAKT_ISA_SCALAR;
    if (job.cols > 0)
        return takt__cpu_run_parts(experts, expert, rows_part, &job);
    memset(call->out, 0, job.rows * job.size); /* sums: else not admitted */
    return TAKT_OK;
}

/* ---- each column --------------------------------------------------------- */

static void columns_part(void *self, unsigned part, unsigned parts,
                         void *scratch)
{
    enum { grain = 64 };
    const struct axes_job *job = self;
    const takt_call *call = job->call;
    const struct takt_stretch s = takt__stretch(job->cols, grain, part, parts);
    const size_t skip = s.first * job->size;

    (void)scratch;
    if (s.count > 0)
        job->kernel_set->columns[call->dtype][takt__op_id(call->op)](
            job->rows, s.count, (const char *)call->in[0] + skip, job->cols,
            (char *)call->out + skip);
}

takt_status takt__cpu_by_cols(struct takt_experts *experts,
                              const struct takt_expert *expert,
                              const takt_call *call)
{
    struct axes_job job = job_of(expert, call);

    if (job.rows > 0)
        return takt__cpu_run_parts(experts, expert, columns_part, &job);
    memset(call->out, 0, job.cols * job.size);
    return TAKT_OK;
}
