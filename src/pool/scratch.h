/* SPDX-License-Identifier: MIT */
/*
 * scratch.h - memory a thread works in, kept from call to call.
 *
 * Kernels allocate nothing; what they need is here before they start. It grows
 * to the largest request and stays, so a repeated call finds it ready.
 */
#pragma once

#include <stddef.h>

struct takt_scratch {
    void *memory;
    size_t bytes;
};

/* At least `bytes` at an alignment of 64; NULL when they cannot be had, or
 * when `bytes` is 0. What was there before is gone. */
void *takt__scratch_get(struct takt_scratch *scratch, size_t bytes);

void takt__scratch_free(struct takt_scratch *scratch);

/* The calling thread's own; freed when the thread ends. NULL: no memory. */
struct takt_scratch *takt__scratch_of_thread(void);
