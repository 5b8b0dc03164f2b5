/* SPDX-License-Identifier: MIT */
/*
 * plain_blas.h - what plain_blas.c tells beside being a BLAS.
 *
 * Found with dlsym(): there may be several such libraries in a process.
 */
#ifndef TAKT_TESTS_DROPIN_PLAIN_BLAS_H
#define TAKT_TESTS_DROPIN_PLAIN_BLAS_H

#include <stddef.h>
#include <stdint.h>

/* Calls of all threads, those of its own included. */
uint64_t plain_calls(void);

/* Of this thread, since it was told to forget: the first call, as
 * "NAME: " and plain_describe(), and how many there were; what was wrong last,
 * as "NAME ARGUMENT". */
const char *plain_seen(unsigned *count);
const char *plain_complaint(void);
void plain_forget(void);

/* Which of several libraries it is. */
int plain_mark(void);

int openblas_get_num_threads(void);
void openblas_set_num_threads(int count);
void xerbla_(const char *name, const int *argument, size_t length);

#endif
