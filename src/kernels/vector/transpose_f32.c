/* SPDX-License-Identifier: MIT */
/* transpose_f32.c - transposes of matrices of floats. */
#include "kernels/vector/isa.h"

#include "kernels/vector/f32.h"
#include "kernels/vector/transpose_body.h"
