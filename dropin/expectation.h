/* SPDX-License-Identifier: MIT */
/*
 * expectation.h - whether opening a GPU would pay if what is unchanged stayed
 * on it.
 *
 * libtakt adds up what calls lose without a GPU as if every operand were moved
 * each time (src/model/opening.c). A program that multiplies by the same
 * matrices again and again would lose more: this adds that up, from calls in
 * the baseline library and a forecast now and then.
 *
 * Threads: one at a time.
 */
#pragma once

#include <stdbool.h>

struct takt_expectation {
    double read_bytes, kept_bytes; /* of large operands since the last forecast:
                                    * all, and those seen unchanged before */
    double missed_s;               /* what calls would have gained */
    double own_s, gpu_s; /* what the calls forecast took, and would have */
};

/* A call has read a large operand. */
void takt__expectation_read(struct takt_expectation *self, double bytes,
                            bool is_kept);

/* A forecast for `calls` calls like one that took `own_s`: on a GPU it takes
 * `gpu_s`, of which `moving_s` are for large operands. True: opening the GPU
 * and copying what is to stay there, in `price_s`, would have paid by now. */
bool takt__expectation_add(struct takt_expectation *self, double calls,
                           double own_s, double gpu_s, double moving_s,
                           double price_s);

/* The time expected on a GPU as a share of what calls took; 1: not less. */
double takt__expectation_ratio(const struct takt_expectation *self);
