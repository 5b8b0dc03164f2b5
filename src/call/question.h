/* SPDX-License-Identifier: MIT */
/*
 * question.h - where the operands of a question are, and who is open to it.
 */
#ifndef TAKT_CALL_QUESTION_H
#define TAKT_CALL_QUESTION_H

#include "call/call.h"

struct takt_whereabouts {
    int home; /* the GPU that has the operands; -1: the host has them */
    struct takt_fares fares; /* without those that a time on host operands
                              * has in it */
};

/* The GPUs that can run a request now; and with TAKT_SITUATION_ON_GPU the
 * first of them, if there is one, as the place of the operands. */
void takt__question_where(takt_ctx *ctx, const takt_request *request,
                          const struct takt_sizes *sizes,
                          struct takt_whereabouts *out);

/* The decision when a GPU has the operands. Tries nothing. */
void takt__question_place(takt_ctx *ctx, const takt_request *request,
                          const struct takt_sizes *sizes,
                          const struct takt_whereabouts *where,
                          struct takt_choice *out);

#endif
