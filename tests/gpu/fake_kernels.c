/* SPDX-License-Identifier: MIT */
/*
 * fake_kernels.c - what a kernel of ours computes, by the scalar definitions.
 *
 * From its name and its arguments alone, so that a wrong argument shows.
 */
#include <string.h>

#include "cuda/kernels.h"
#include "gpu/fake_cuda.h"
#include "gpu/scalar_run.h"

struct fake_kernel {
    const char *name, *op;
    takt_dtype dtype;
    bool is_whole;
};

#define DTYPE_f32 TAKT_F32
#define DTYPE_f64 TAKT_F64
enum { PART = false, WHOLE = true };

static const struct fake_kernel kernels[] = {
#define TAKT_CUDA_KERNEL(module, op, dtype) \
    {"takt_" #op "_" #dtype, #op, DTYPE_##dtype, WHOLE},
#define TAKT_CUDA_VARIANT(module, op, dtype, variant, role) \
    {"takt_" #op "_" #dtype "_" #variant, #op, DTYPE_##dtype, role},
#include "cuda/kernels.def"
};

const struct fake_kernel *fake_kernel_find(const char *name)
{
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        if (strcmp(kernels[i].name, name) == 0)
            return &kernels[i];
    return NULL;
}

static bool is_somewhere(uint64_t address)
{
    pthread_mutex_lock(&fake_lock);
    const bool is = fake_is_on_device(address, 1);
    pthread_mutex_unlock(&fake_lock);
    return is;
}

/* An operand that is not optional is always there, or has no elements. */
static bool is_there(const takt_op *op, const struct takt_cuda_args *args,
                     int operand)
{
    if ((unsigned)operand < op->inputs)
        return args->in[operand] != 0;
    return (args->has >> operand & 1) != 0;
}

static bool find_operands(const struct takt_cuda_args *args, takt_call *call)
{
    static const double nothing;

    for (int i = 0; i < 4; i++)
        if (is_there(call->op, args, i)) {
            if (!is_somewhere(args->in[i]))
                return false;
            call->in[i] = fake_cuda_at(args->in[i]);
        } else if ((unsigned)i < call->op->inputs) {
            call->in[i] = &nothing; /* kernels take offsets from it */
        }
    call->out = fake_cuda_at(args->out);
    return is_somewhere(args->out);
}

bool fake_kernel_run(const struct fake_kernel *kernel,
                     const struct takt_cuda_args *args)
{
    const takt_op *op = takt_op_find(kernel->op);
    takt_call call = {.op = op,
                      .dtype = kernel->dtype,
                      .shape.rank = op->rank_max,
                      .alpha = args->alpha,
                      .beta = args->beta,
                      .flags = args->flags};

    for (unsigned i = 0; i < op->rank_max; i++)
        call.shape.dim[i] = (size_t)args->dim[i];
    for (int i = 0; i < 3; i++)
        call.ld[i] = (size_t)args->ld[i];
    if (!find_operands(args, &call))
        return false;
    return !kernel->is_whole || scalar_run(&call) == TAKT_OK;
}
