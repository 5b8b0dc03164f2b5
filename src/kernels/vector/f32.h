/* SPDX-License-Identifier: MIT */
/*
 * f32.h - makes code that is written once for both dtypes mean floats.
 *
 * It has no include guard: a file includes it and f64.h in turn.
 *
 *   REAL, VREAL, VMASK  an element, a vector of LANES elements, its mask
 *   V(word), M(word)    the word of isa.h for such a vector, such a mask
 *   VINT, I(word)       signed integers as wide, and their words
 *   AS_INT, AS_REAL     the same bits as integers, and back
 *   EITHER(f32, f64)    the one for the dtype
 *   F(name)             the name with the dtype: name_f32
 */
#include "kernels/vector/no_dtype.h"

#define REAL float
#define VREAL vf32
#define VMASK vm32
#define LANES VF32_LANES
#define V(word_) vf32_##word_
#define M(word_) vm32_##word_
#define VINT vi32
#define I(word_) vi32_##word_
#define AS_INT vf32_as_i32
#define AS_REAL vi32_as_f32
#define EITHER(f32_, f64_) f32_
#define F(name_) name_##_f32
