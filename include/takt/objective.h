/* SPDX-License-Identifier: MIT */
/*
 * takt/objective.h - what the best expert is the best at.
 *
 * An objective is a line of text: a goal, and at most one limit on another
 * measure.
 *
 *   time              the mean time of a call: the default
 *   p95, p99, p999    the time that 5%, 1% or 0.1% of calls exceed
 *   throughput        calls of all threads of the program together
 *   energy            joules of a call
 *   edp               joules times seconds
 *
 *   time, p99 < 2 ms      the least mean time of the experts whose p99 is
 *                         below 2 ms; where none is, the one with the least
 *   energy, p99 < 5 ms
 *
 * A limit is on time, p95, p99, p999 (ns, us, ms, s) or energy (uJ, mJ, J).
 * Small and capital letters are the same, and blanks may be left out.
 *
 *     char text[TAKT_OBJECTIVE_MAX];
 *     takt_diag diag;
 *
 *     if (takt_objective_check("time,P99<2ms", text, &diag) != TAKT_OK)
 *         puts(diag.text);
 *     else
 *         puts(text); // time, p99 < 2 ms
 *
 * Threads: every function may be called on one context from any thread.
 */
#ifndef TAKT_OBJECTIVE_H
#define TAKT_OBJECTIVE_H

#include <stddef.h>

#include <takt/context.h>
#include <takt/export.h>
#include <takt/status.h>
#include <takt/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Any objective as Takt writes it, with its NUL. */
#define TAKT_OBJECTIVE_MAX 64

/* Reads an objective and writes it as Takt does. `out` may be NULL; it gets a
 * text such as "energy, p99 < 5 ms".
 * TAKT_EINVAL: it is none, or contradicts itself, and `diag` (may be NULL) says
 *   what is wrong and what would be right. */
TAKT_API takt_status takt_objective_check(const char *text,
                                          char out[TAKT_OBJECTIVE_MAX],
                                          takt_diag *diag);

/* Adds an objective to those of a context. NULL: the default context. Calls
 * name it by its number: `call.flags |= TAKT_CALL_OBJECTIVE(number)`. What was
 * measured is shared, what is decided is not. An objective that the context has
 * already gets the number that it has; 0 is the context's own.
 * TAKT_EINVAL: it is no objective; `diag` (may be NULL) says what is wrong.
 * TAKT_EFULL: there are three beside the context's own.
 * TAKT_ENOTSUP: energy is not known here, and `diag` says why.
 * TAKT_ENOMEM: no memory. */
TAKT_API takt_status takt_ctx_add_objective(takt_ctx *ctx, const char *text,
                                            unsigned *number, takt_diag *diag);

/* The objective of that number, as Takt writes it. 0: the context's own. NULL
 * is returned where there is none. Valid until the context is destroyed. */
TAKT_API const char *takt_ctx_objective(const takt_ctx *ctx, unsigned number);

#ifdef __cplusplus
}
#endif

#endif
