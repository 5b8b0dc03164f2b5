/* SPDX-License-Identifier: MIT */
/* say.h - one line for people. */
#pragma once

#include <takt/status.h>
#include <takt/store.h>

/* Writes the line, cut to fit; `diag` may be NULL. Returns `status`. */
__attribute__((format(printf, 3, 4))) takt_status
takt__say(takt_diag *diag, takt_status status, const char *format, ...);
