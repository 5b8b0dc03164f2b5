/* SPDX-License-Identifier: MIT */
/*
 * f32.h - makes code that is written once for both dtypes mean floats.
 *
 * It has no include guard: a file includes it and f64.h in turn.
 *
 *   REAL, VREAL, VMASK  an element, a vector of LANES elements, its mask
 *   V(word), M(word)    the word of isa.h for such a vector, such a mask
 *   F(name)             the name with the dtype: name_f32
 */
#include "kernels/vector/no_dtype.h"

#define REAL float
#define VREAL vf32
#define VMASK vm32
#define LANES VF32_LANES
#define V(word_) vf32_##word_
#define M(word_) vm32_##word_
#define F(name_) name_##_f32
