/* SPDX-License-Identifier: MIT */
/* help.h - the tables of the commands as text, man page and completion. */
#ifndef TAKT_CLI_HELP_H
#define TAKT_CLI_HELP_H

#include <stdio.h>

#include "command.h"

void print_overview(FILE *stream);
void print_help(FILE *stream, const struct command *command);

/* A man page in section 1; NULL: the page of `takt` itself. */
void print_man(FILE *stream, const struct command *command);

/* Scripts to be sourced by the shell. */
void print_bash_completion(FILE *stream);
void print_zsh_completion(FILE *stream);
void print_fish_completion(FILE *stream);

#endif
