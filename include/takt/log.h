/* SPDX-License-Identifier: MIT */
/*
 * takt/log.h - log messages: what is wrong with a configuration.
 *
 * By default Takt writes mistakes in its configuration to stderr, each once,
 * and nothing else: a policy that does not exist, a file that cannot be read.
 * TAKT_LOG=off|error|info|debug sets the level. A program with a log of its
 * own receives the messages with takt_log_set().
 *
 *     if (takt_log_set(TAKT_LOG_INFO, NULL, NULL) != TAKT_OK)
 *         return 1;
 *
 * Threads: everything here may be called from any thread.
 */
#ifndef TAKT_LOG_H
#define TAKT_LOG_H

#include <takt/export.h>
#include <takt/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How much is said. */
typedef enum takt_log_level {
    TAKT_LOG_OFF = 0,
    TAKT_LOG_ERROR = 1, /* a setting or a file that was asked for is not used */
    TAKT_LOG_INFO = 2,  /* what was found and opened, what failed and went on */
    TAKT_LOG_DEBUG = 3  /* what was looked for and passed over */
} takt_log_level;

/* The name of a level: "off", "error", "info" or "debug". */
TAKT_API const char *takt_log_level_name(takt_log_level level);

/* Receives one message: a line without a newline, valid during the call. It is
 * called on the thread that found the problem, which may be a thread of Takt's,
 * and must not call Takt. */
typedef void takt_log_function(void *self, takt_log_level level,
                               const char *text);

/* Sends messages up to `level` to `function`, or to stderr if that is NULL.
 * Replaces what TAKT_LOG says. A message that another thread is emitting may
 * still reach the function that was set before, so what `self` points to must
 * outlive the call.
 * TAKT_EINVAL: there is no such level.
 * TAKT_ENOMEM: no memory; nothing was changed. */
TAKT_API takt_status takt_log_set(takt_log_level level,
                                  takt_log_function *function, void *self);

#ifdef __cplusplus
}
#endif

#endif
