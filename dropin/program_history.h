/* SPDX-License-Identifier: MIT */
/*
 * program_history.h - what routing gained in earlier runs of this program.
 *
 * A program is its executable and its script, or the text after -c, -e or -m.
 * In the store it is an op of its own, "run.NAME-HASH", whose experts are the
 * sides: "baseline" with a time of 1, "routed" or "gpu" with the time that the
 * same calls took routed. So what is remembered is kept, merged, listed and
 * forgotten like everything else.
 */
#pragma once

#include "route.h"
#include "switchback.h"

/* What takes more than this share of its time is not worth a start elsewhere.
 */
#define TAKT_CLEAR_GAIN 0.97

/* Whether the store may know the program: by its name in the bytes of the file,
 * which takes less than opening it. */
bool takt__history_may_exist(void);

/* Whether there is a store. */
bool takt__history_is_kept(void);

/* Looks for what is known, in a context that was just made. */
enum takt_history takt__history_open(const struct takt_route *route);

/* Another op of this program, "KIND.NAME-HASH"; NULL: no memory. */
const takt_op *takt__history_define(const struct takt_route *route,
                                    const char *kind);

/* The pace of routed calls in those runs (sides.h), which is an op of its own,
 * "pace.NAME-HASH"; 0: not known. After the last one. */
double takt__history_pace(void);

/* Whether the last runs, in which nothing was found out, expected to gain by a
 * GPU on which matrices stay (expectation.h). */
bool takt__history_expects_gpu(const struct takt_route *route);

/* Keeps the share of their time that calls would take there. */
void takt__history_keep_expected(double ratio);

/* Keeps what was found out; where no side is clearly faster, that both take the
 * same time: the next run need not find it out again so soon. */
void takt__history_keep(const struct takt_switchback_result *result);
