/* SPDX-License-Identifier: MIT */
/*
 * workflow.h - a project in its pipeline of phases, as the commands see it:
 * what its folder configures, where it stands, and what another run must not
 * touch meanwhile.
 */
#pragma once

#include "clean.h"
#include "command.h"
#include "project/config.h"
#include "project/lock.h"
#include "project/state.h"

enum { longest_path = 4096 };

#define TRUST_OPTION                                                  \
    {                                                                 \
        "trust", NULL, NULL, "run the project's commands, do not ask" \
    }

/* A line for the shell. */
struct shell_line {
    const char *text;   /* NULL: there is none */
    const char *folder; /* in which it runs */
    const char *source; /* why, or the file that it is in: for the question */
};

struct workflow {
    const struct command *command;
    const char *folder;        /* as the user named it */
    char target[longest_path]; /* what is optimized, tested and built: the
                                * folder, or that of the transpiled code */
    struct takt_project_config config;
    struct takt_state state;
    struct takt_lock lock;
    bool is_dry; /* nothing is recorded */
};

enum workflow_use {
    WORKFLOW_CHANGES, /* runs phases: alone, and on record */
    WORKFLOW_LOOKS,   /* changes nothing, and takes no lock */
    WORKFLOW_IGNORES, /* the same, and does not read the state */
};

/* Opens the project that the first operand names, or the folder one is in. On
 * failure says what is wrong in one line, and holds nothing: EXIT_USAGE, or
 * EXIT_FINDING where it is not the command line's fault. */
int workflow_open(const struct invocation *invocation, enum workflow_use use,
                  struct workflow *out);
void workflow_close(struct workflow *workflow);

/* Marks a phase as begun. EXIT_FINDING: it is refused, and why was said. */
int workflow_begin(struct workflow *workflow, enum takt_phase phase);

/* Whether a line of the shell may be run in that phase: --trust was given, or
 * the user agrees or did so before (trust.c). Also if the phase cannot begin,
 * so that workflow_begin() says why. EXIT_FINDING: it may not, which was said.
 */
int workflow_agree(const struct workflow *workflow,
                   const struct invocation *invocation, enum takt_phase phase,
                   const struct shell_line *shell);

/* Marks it as completed, or (`error` is not NULL) as failed, which is said.
 * EXIT_DONE, or EXIT_FINDING. */
int workflow_end(struct workflow *workflow, enum takt_phase phase,
                 const char *error);

/* The line of the shell that does what a phase needs: the project's own, which
 * runs in its folder, or Cargo's, which runs where the manifest is, if there
 * are a manifest and cargo. text NULL: there is none; `source` says why. */
struct shell_line find_line(const struct workflow *workflow,
                            const char *own_line, const char *cargo_line);

/* ---- trust.c ---- */

/* Whether the line may be run: asks on a terminal, unless the user agreed
 * before. False: it must not, which was said in one line. */
bool is_trusted(const struct command *command, const struct shell_line *shell);

/* ---- workflow.c ---- */

/* Runs it; what it prints goes to stderr, so that stdout has our answer alone.
 * False: `error` says how it ended. */
bool run_line(const struct shell_line *shell, char *error, size_t size);
