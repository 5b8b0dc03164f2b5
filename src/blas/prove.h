/* SPDX-License-Identifier: MIT */
/* prove.h - does a library compute what we think it does? */
#pragma once

#include "blas/blas.h"

/* Runs a few small products whose results are known exactly, over results
 * that hold NaN before and must not be read, and some with a NaN that must not
 * get lost. A function that gets one wrong is never called again. False: none
 * is left, or there was no memory. */
bool takt__blas_prove(struct takt_blas *blas);
