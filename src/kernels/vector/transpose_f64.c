/* SPDX-License-Identifier: MIT */
/* transpose_f64.c - transposes of matrices of doubles. */
#include "kernels/vector/isa.h"

#include "kernels/vector/f64.h"
#include "kernels/vector/transpose_body.h"
