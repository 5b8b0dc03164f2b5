/* SPDX-License-Identifier: MIT */
/*
 * baseline_blas.h - what baseline_blas.c tells beside being a BLAS.
 *
 * Found with dlsym(): there may be several such libraries in a process.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Calls of all threads, those of its own included. */
uint64_t baseline_calls(void);

/* Of this thread, since it was told to forget: the first call, as
 * "NAME: " and baseline_describe(), and how many there were; what was wrong
 * last, as "NAME ARGUMENT". */
const char *baseline_seen(unsigned *count);
const char *baseline_complaint(void);
void baseline_forget(void);

/* Which of several libraries it is. */
int baseline_mark(void);

int openblas_get_num_threads(void);
void openblas_set_num_threads(int count);
void xerbla_(const char *name, const int *argument, size_t length);
