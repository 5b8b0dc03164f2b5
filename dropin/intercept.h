/* SPDX-License-Identifier: MIT */
/*
 * intercept.h - the way of an intercepted call: read its arguments, decide
 * whether it is routed, run it, count it.
 */
#ifndef TAKT_DROPIN_INTERCEPT_H
#define TAKT_DROPIN_INTERCEPT_H

#include "arguments.h"
#include "intercepted.h"

/* True: the call was routed and is done. False: nothing was touched; run it in
 * the baseline library as it came, then call takt__intercept_end(). `intercept`
 * must be in the frame of the function that runs it. */
bool takt__intercept_begin(struct takt_intercept *intercept,
                           const struct takt_target *target,
                           const struct takt_arguments *arguments);
void takt__intercept_end(const struct takt_intercept *intercept);

#endif
