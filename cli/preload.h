/* SPDX-License-Identifier: MIT */
/*
 * preload.h - whether and how a library is loaded into a program: for `takt
 * run` and `takt trace`.
 */
#ifndef TAKT_CLI_PRELOAD_H
#define TAKT_CLI_PRELOAD_H

#include <stdbool.h>
#include <stddef.h>

/* ---- run_program.c ---- */

enum { reason_size = 512 };

/* Finds a program as execvp() does; false: there is none. */
bool find_program(const char *name, char *out, size_t size);

/* Whether the program has to be run as it is; says why in `reason`, as the end
 * of a sentence about it: "is linked statically". What cannot be found out is
 * left to the kernel and the loader. */
bool must_leave_alone(const char *program, char reason[reason_size]);

/* Whether the program, or what runs it, is linked with libtakt. */
bool contains_takt(const char *program);

/* ---- run_preload.c ---- */

/* The path of a library that is installed or was built with takt, to be freed;
 * NULL: it is not there. */
char *find_beside_takt(const char *name);

/* The path of libtakt-blas.so, to be freed; NULL: `reason` says what is wrong.
 */
char *find_preload_library(char reason[reason_size]);

/* The value of LD_PRELOAD with our library in front, to be freed. On failure
 * says what is wrong in one line and returns NULL. */
char *preload_value(void);

#endif
