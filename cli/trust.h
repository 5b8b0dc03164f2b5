/* SPDX-License-Identifier: MIT */
/*
 * trust.h - whether the commands of a project may be run.
 *
 * 'takt validate' and 'takt build' run what a project's files say. The user is
 * asked once for each line and folder; the answer yes is kept in `trusted` in
 * Takt's state folder, as a line with the SHA-256 of the folder's path and the
 * shell line. A line that changes, or a project that moves, is asked about
 * again.
 */
#ifndef TAKT_CLI_TRUST_H
#define TAKT_CLI_TRUST_H

#include "command.h"

/* A line for the shell. */
struct shell_line {
    const char *text;   /* NULL: there is none */
    const char *folder; /* in which it runs */
    const char *source; /* why, or the file that it is in: for the question */
};

/* Asks on a terminal, unless the user agreed before. False: the line must not
 * be run, which was said in one line. */
bool is_trusted(const struct command *command, const struct shell_line *shell);

#endif
