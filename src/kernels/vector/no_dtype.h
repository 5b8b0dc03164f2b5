/* SPDX-License-Identifier: MIT */
/* no_dtype.h - ends the effect of f32.h or f64.h. */
#undef REAL
#undef VREAL
#undef VMASK
#undef LANES
#undef V
#undef M
#undef F
#undef VINT
#undef I
#undef AS_INT
#undef AS_REAL
#undef EITHER
