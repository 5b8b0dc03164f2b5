/* SPDX-License-Identifier: MIT */
/* f64.h - the same as f32.h, for doubles. */
#include "kernels/vector/no_dtype.h"

#define REAL double
#define VREAL vf64
#define VMASK vm64
#define LANES VF64_LANES
#define V(word_) vf64_##word_
#define M(word_) vm64_##word_
#define F(name_) name_##_f64
