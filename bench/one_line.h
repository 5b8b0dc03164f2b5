/* SPDX-License-Identifier: MIT */
/* one_line.h - any call as a program would write it: takt_add_f32(...). */
#pragma once

#include <takt/takt.h>

/* Runs the call in the default context: vectors and plain products by their
 * one-line calls, everything else through takt_run(). */
takt_status one_line(const takt_call *call);

/* Makes a context the default one; a program would set the environment, but a
 * comparison needs several contexts in turns. */
void one_line_in(takt_ctx *ctx);
