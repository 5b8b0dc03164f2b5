/* SPDX-License-Identifier: MIT */
/* loop_count.h - counts loops for the report. */
#pragma once

#include "loop.h"

/* A loop of so many elements ran on a side; ns 0: it was not timed. */
void takt__loop_count(struct takt_loop *loop, enum takt_loop_side side,
                      ptrdiff_t n, uint64_t ns);

/* A split loop, with what it takes whole. */
void takt__loop_compare(struct takt_loop *loop,
                        const struct takt_loop_kind *kind, ptrdiff_t n,
                        uint64_t ns);
