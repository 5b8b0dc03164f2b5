/* SPDX-License-Identifier: MIT */
/*
 * workflow.h - a project on its line of phases, as the commands see it: what
 * its folder configures, where it stands, and what another run must not touch
 * meanwhile.
 */
#ifndef TAKT_CLI_WORKFLOW_H
#define TAKT_CLI_WORKFLOW_H

#include "command.h"
#include "project/config.h"
#include "project/lock.h"
#include "project/state.h"

enum { longest_path = 4096 };

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
    WORKFLOW_LOOKS,   /* changes nothing, and waits for nobody */
    WORKFLOW_IGNORES, /* the same, and does not care where the line stands */
};

/* Opens the project that the first operand names, or the folder one is in. On
 * failure says what is wrong in one line, and holds nothing: EXIT_USAGE, or
 * EXIT_FINDING where it is not the command line's fault. */
int workflow_open(const struct invocation *invocation, enum workflow_use use,
                  struct workflow *out);
void workflow_close(struct workflow *workflow);

/* Marks a phase as begun. EXIT_FINDING: it is refused, and why was said. */
int workflow_begin(struct workflow *workflow, enum takt_phase phase);

/* Marks it as completed, or (`error` is not NULL) as failed, which is said.
 * EXIT_DONE, or EXIT_FINDING. */
int workflow_end(struct workflow *workflow, enum takt_phase phase,
                 const char *error);

/* "takt COMMAND: ..." on stderr, one line, as clean_text() has it. Returns
 * EXIT_FINDING. */
int complain(const struct command *command, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Runs a line of the shell in a folder; what it prints goes to stderr, so that
 * stdout has our answer alone. False: `error` says how it ended. */
bool run_line(const char *folder, const char *line, char *error, size_t size);

/* Whether the folder has a file of that name. */
bool has_file(const char *folder, const char *name);

/* Whether a program of that name is on the PATH. */
bool has_program(const char *name);

/* Text of others for people and for JSON: what is not UTF-8, and what would
 * move a terminal's cursor, is replaced by '?'. Returns `out`. */
const char *clean_text(const char *text, char *out, size_t size);

/* RFC 3339, in UTC. */
void format_now(char out[TAKT_PHASE_TIME]);

#endif
