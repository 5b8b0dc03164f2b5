/* SPDX-License-Identifier: MIT */
/*
 * compile.h - asking a compiler about a file, with the flags that a
 * compile_commands.json has for it.
 *
 * That file may come from an untrusted project. So what it names is not run:
 * compilers are known by their name and found in PATH, and flags that could
 * load or run something, or write a file, are left out.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "child_lines.h"

/* ---- compile_database.c ---- */

enum { most_words = 1024 };

struct compile_database;

/* NULL: `error` says why, in one line that names the file. */
struct compile_database *open_compile_database(const char *path, char *error,
                                               size_t size);
void close_compile_database(struct compile_database *database); /* NULL is
                                                                 * allowed */

/* A compiler, where it runs, and its flags; NULL ends these. */
struct compile_command {
    char compiler[64];
    const char *folder; /* NULL: where we are */
    const char *const *flag;
    bool is_clang;
};

/* The command for a file, by its real path. False: there is none, or it is no
 * compiler that is known. What it points to is the database's. */
bool find_compile_command(struct compile_database *database, const char *path,
                          struct compile_command *out);

/* ---- compile.c ---- */

/* A compiler by its name: gcc, x86_64-linux-gnu-g++-12, clang-15. False: it is
 * none that is known. */
bool read_compiler(const char *word, struct compile_command *out);

/* Words as a shell would part them, without anything that it would run; the
 * text is cut in place. How many there are, at most `most`. */
size_t split_words(char *text, char *word[], size_t most);

/* One without a database: "gcc -O3 -Iinclude", in words. False: that is no
 * compiler that is known. `flag` has room for 64; the text is cut in place. */
bool parse_compiler(char *text, const char *flag[64],
                    struct compile_command *out);

/* Whether a word is a flag that may be passed on; *takes_next: its value is the
 * next word. */
bool is_safe_flag(const char *word, bool *takes_next);

/* Compiles a file to nothing, and calls `visit` with each line of what the
 * compiler says. False: it could not be run, or did not compile. */
bool run_compiler(const struct compile_command *command,
                  const char *const *more, const char *file, line_visit *visit,
                  void *self);
