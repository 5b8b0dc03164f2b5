/* SPDX-License-Identifier: MIT */
/* admit.h - the first step of a call: is it one that can be run? */
#pragma once

#include "op/op_id.h"
#include "takt/call.h"

/* Checks everything about a call that an expert would otherwise have to, and
 * puts the default values where the caller left 0. After TAKT_OK the operands
 * are all there, do not overlap in a way the op forbids, and have sizes in
 * bytes that fit an address space; *is_empty says that there is no output to
 * compute. The statuses are those of takt_run(). */
takt_status takt__admit(takt_call *call, bool *is_empty);

/* The same for two inputs and an output apart from them, in bytes. */
takt_status takt__admit_product(size_t a_bytes, const void *a, size_t b_bytes,
                                const void *b, size_t out_bytes,
                                const void *out);
