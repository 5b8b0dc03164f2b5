/* SPDX-License-Identifier: MIT */
/* log.h - emits messages for people; see takt/log.h. */
#pragma once

#include <stdbool.h>

#include "takt/log.h"

/* Emits one line, once per process and text. Formats and may write to a
 * terminal, so it is for set-up and failures, never for the path of a call. */
__attribute__((format(printf, 2, 3))) void takt__log(takt_log_level level,
                                                     const char *format, ...);

/* Sets the level that TAKT_LOG names, unless the program has set one. */
void takt__log_default(takt_log_level level);

/* The level of that name. False: there is none. */
bool takt__log_level_find(const char *name, takt_log_level *out);
