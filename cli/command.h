/* SPDX-License-Identifier: MIT */
/*
 * command.h - what a subcommand is.
 *
 * A command is a table: its words, its options, its examples. The same table
 * parses the command line and writes --help, the man page and the shell
 * completions, so that they cannot differ.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The exit status. */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_FINDING = 1, /* something was found, or a phase refused */
    EXIT_USAGE = 2,   /* the command line or its input is wrong */
};

enum { max_options = 28, max_operands = 64 };

struct option {
    const char *name;   /* without the dashes; NULL ends a table */
    const char *value;  /* what it takes, such as "FILE"; NULL: a flag; "[=N]":
                         * a flag that may have a value after = */
    const char *choice; /* the words it takes, separated by |; NULL: any */
    const char *help;
};

struct invocation;

struct command {
    const char *name;
    const char *actions;  /* what the first operand may be; NULL: any */
    const char *operands; /* such as "[OP] SHAPE"; "" when there are none */
    const char *summary;  /* one line, no full stop */
    const char *description;
    size_t min_operands, max_operands;
    bool takes_program; /* words after -- are no operands, but a program's */
    struct option options[max_options + 1]; /* the last has no name */
    const char *examples[12]; /* command line and result; NULL ends */
    int (*run)(const struct invocation *invocation);
};

/* A command line that was understood. Strings are those of argv. */
struct invocation {
    const struct command *command;
    const char *values[max_options]; /* NULL: not given; "" for a flag */
    const char *operands[max_operands];
    size_t operand_count;
    char *const *program; /* what follows --, NULL at its end; NULL: none */
    char *const *words;   /* all of them, NULL at their end */
    char *const *first_operand; /* where it is in them; NULL: there is none */
};

/* All commands, in the order they are listed; NULL ends. */
extern const struct command *const commands[];

const struct command *find_command(const char *name);

/* Whether an option is a flag that may have a value. */
bool has_optional_value(const struct option *option);

/* The value of an option, NULL when it was not given, "" for a flag. The
 * command must have an option of that name. */
const char *option_value(const struct invocation *invocation, const char *name);
bool option_given(const struct invocation *invocation, const char *name);

/* Of an option that may be given several times, the value that was given after
 * `index` others; NULL: there are not so many. */
const char *option_value_at(const struct invocation *invocation,
                            const char *name, size_t index);

/* Which of its words an option was given, from 0; 0 when it was not given. */
size_t option_choice(const struct invocation *invocation, const char *name);

/* Fills `out` from the words after the command's name. On failure says what is
 * wrong in one line and returns false. */
bool parse_invocation(const struct command *command, int argc, char **argv,
                      struct invocation *out);

/* "takt NAME: ..." on stderr, one line. Returns EXIT_USAGE. */
int usage_error(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for functions that answer whether all is well: returns false. */
bool reject(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "takt NAME: ..." on stderr, one line. Returns EXIT_FINDING. All of these
 * show what they are given with escapes (clean.h). */
int complain(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The value of an option that is a list, copied so that it can be cut into its
 * words. False: it is too long, and a line says so: half a list would be
 * another one. */
enum { longest_list = 2048 };

bool copy_list(const struct command *command, const char *option,
               const char *text, char out[longest_list]);

/* Whether `name` is near what was typed, and nearer than *shortest, which it
 * then becomes: to find the nearest of several, which begins with SIZE_MAX. */
bool is_nearer(const char *typed, const char *name, size_t *shortest);

/* The nearest of the words separated by |, or NULL; the result is in `near`. */
const char *nearest_choice(const char *typed, const char *choice, char *near,
                           size_t size);

/* Whether `word` is one of the words separated by |, in any case; its position
 * goes to *index. */
bool find_choice(const char *word, const char *choice, size_t *index);

/* ---- help.c: the tables as text ---- */

void print_overview(FILE *stream);
void print_help(FILE *stream, const struct command *command);

/* A man page in section 1; NULL: the page of `takt` itself. */
void print_man(FILE *stream, const struct command *command);

/* Scripts to be sourced by the shell. */
void print_bash_completion(FILE *stream);
void print_zsh_completion(FILE *stream);
void print_fish_completion(FILE *stream);
