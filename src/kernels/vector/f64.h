/* SPDX-License-Identifier: MIT */
/* f64.h - the same as f32.h, for doubles. */
#include "kernels/vector/no_dtype.h"

#define REAL double
#define VREAL vf64
#define VMASK vm64
#define LANES VF64_LANES
#define V(word_) vf64_##word_
#define M(word_) vm64_##word_
#define VINT vi64
#define I(word_) vi64_##word_
#define AS_INT vf64_as_i64
#define AS_REAL vi64_as_f64
#define EITHER(f32_, f64_) f64_
#define F(name_) name_##_f64
