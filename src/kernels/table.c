/* SPDX-License-Identifier: MIT */
/*
 * table.c - kernels.def, read for each instruction set: first as prototypes,
 * then as rows.
 */
#include "kernels/table.h"

#define PASTE(op_, dtype_, isa_) takt__k_##op_##_##dtype_##_##isa_
#define NAME(op_, dtype_, isa_) PASTE(op_, dtype_, isa_)
#define PASTE_NT(op_, dtype_, isa_) takt__k_##op_##_##dtype_##_##isa_##_nt
#define NAME_NT(op_, dtype_, isa_) PASTE_NT(op_, dtype_, isa_)
#define PASTE_ID(isa_) TAKT_KERNEL_##isa_
#define ID(isa_) PASTE_ID(isa_)
#define PASTE_SET(dtype_, isa_) gemm_##dtype_##_##isa_
#define SET(dtype_, isa_) PASTE_SET(dtype_, isa_)
#define PASTE_LAYERS(dtype_, isa_) layers_##dtype_##_##isa_
#define LAYERS(dtype_, isa_) PASTE_LAYERS(dtype_, isa_)

#define TAKT_KERNELS(kind_, op_) \
    TAKT_KERNEL(kind_, op_, f32) \
    TAKT_KERNEL(kind_, op_, f64)
#define TAKT_STREAMS(kind_, op_) \
    TAKT_STREAM(kind_, op_, f32) \
    TAKT_STREAM(kind_, op_, f64)

/* ---- prototypes ---------------------------------------------------------- */

#define TAKT_KERNEL(kind_, op_, dtype_) \
    takt_##kind_##_kernel NAME(op_, dtype_, ISA);
#define TAKT_STREAM(kind_, op_, dtype_) \
    takt_##kind_##_kernel NAME_NT(op_, dtype_, ISA);
#define TAKT_GEMM(dtype_)                                             \
    static const struct takt_gemm_kernels SET(dtype_, ISA) = {        \
        NAME(gemm_tune, dtype_, ISA),   NAME(gemm_room, dtype_, ISA), \
        NAME(gemm, dtype_, ISA),        NAME(gemv, dtype_, ISA),      \
        &NAME(gemm_parts, dtype_, ISA),                               \
    };
#define TAKT_FACTOR(dtype_)
#define TAKT_LAYERS(dtype_)                                              \
    static const struct takt_layer_kernels LAYERS(dtype_, ISA) = {       \
        NAME(conv2d_room, dtype_, ISA),    NAME(conv2d, dtype_, ISA),    \
        NAME(pooling_room, dtype_, ISA),   NAME(pooling, dtype_, ISA),   \
        NAME(attention_room, dtype_, ISA), NAME(attention, dtype_, ISA), \
    };

#include "kernels/vector_sets.def"

#undef TAKT_STREAM
#define TAKT_STREAM(kind_, op_, dtype_)
#define ISA scalar
#include "kernels/kernels.def"
#undef ISA
#undef TAKT_KERNEL
#undef TAKT_STREAM
#undef TAKT_GEMM
#undef TAKT_FACTOR
#undef TAKT_LAYERS

/* ---- rows ---------------------------------------------------------------- */

#define ROW(op_, kind_, dtype_, function_) \
    {.op = op_,                            \
     .kind = TAKT_KERNEL_KIND_##kind_,     \
     .dtype = TAKT_KERNEL_##dtype_,        \
     .isa = ID(ISA),                       \
     .run.kind_ = function_},
#define TAKT_KERNEL(kind_, op_, dtype_) \
    ROW(#op_, kind_, dtype_, NAME(op_, dtype_, ISA))
#define TAKT_GEMM(dtype_) ROW("matmul", gemm, dtype_, &SET(dtype_, ISA))
#define TAKT_FACTOR(dtype_) \
    ROW("cholesky", factor, dtype_, &NAME(factor, dtype_, ISA))
#define TAKT_LAYERS(dtype_) ROW("conv2d", layers, dtype_, &LAYERS(dtype_, ISA))

static const struct takt_kernel table[] = {
#define TAKT_STREAM(kind_, op_, dtype_)
#define ISA scalar
#include "kernels/kernels.def"
#undef ISA
#undef TAKT_STREAM
#define TAKT_STREAM(kind_, op_, dtype_) \
    ROW(#op_, stream_##kind_, dtype_, NAME_NT(op_, dtype_, ISA))
#include "kernels/vector_sets.def"
};

const struct takt_kernel *takt__kernel_table(size_t *count)
{
    *count = sizeof table / sizeof table[0];
    return table;
}
