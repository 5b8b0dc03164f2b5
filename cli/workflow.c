/* SPDX-License-Identifier: MIT */
/* workflow.c - opening a project, and moving it along its line. */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "workflow.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "project/manifest.h"
#include "run.h"

/* RFC 3339, in UTC. */
static void format_now(char out[TAKT_PHASE_TIME])
{
    const time_t now = time(NULL);
    struct tm parts;

    gmtime_r(&now, &parts);
    strftime(out, TAKT_PHASE_TIME, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

/* ---- opening ---- */

static bool is_folder(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
}

static void warn_of_key(void *self, const char *line)
{
    complain(self, "%s", line);
}

static int load_config(struct workflow *workflow)
{
    void *self = (void *)(uintptr_t)workflow->command;
    takt_diag diag = {""};
    const takt_status status = takt__config_load(
        workflow->folder, warn_of_key, self, &workflow->config, &diag);

    if (status == TAKT_OK)
        return EXIT_DONE;
    complain(workflow->command, "%s",
             diag.text[0] != '\0' ? diag.text : takt_status_text(status));
    return EXIT_USAGE;
}

/* The folder of the transpiled code, if there is to be one, and whether it is
 * there. Another tool may not have been run: that is a warning. */
static enum takt_transpiled find_target(struct workflow *workflow)
{
    const char *output = workflow->config.output_dir;
    char *target = workflow->target;
    const size_t size = sizeof workflow->target;

    snprintf(target, size, "%s", workflow->folder);
    if (output == NULL || output[0] == '\0')
        return TAKT_TRANSPILED_UNUSED;
    if (output[0] == '/')
        snprintf(target, size, "%s", output);
    else
        snprintf(target, size, "%s/%s", workflow->folder, output);
    if (is_folder(target))
        return TAKT_TRANSPILED_THERE;
    if (!workflow->config.is_batuta)
        return TAKT_TRANSPILED_MISSING;
    complain(workflow->command,
             "%s: the output folder '%s' does not exist; '%s' itself is worked "
             "on",
             workflow->config.path, output, workflow->folder);
    snprintf(target, size, "%s", workflow->folder);
    return TAKT_TRANSPILED_UNUSED;
}

/* Everything that is read, written or run is in the folder that was named: a
 * file in a repository cannot lead elsewhere. */
static int check_target(const struct workflow *workflow)
{
    char *folder = realpath(workflow->folder, NULL);
    char *target = realpath(workflow->target, NULL);
    int code = EXIT_DONE;

    if (folder == NULL || target == NULL) {
        code = complain(workflow->command, "%s: %s", workflow->target,
                        strerror(errno));
    } else if (!takt__path_is_within(folder, target)) {
        complain(workflow->command,
                 "[transpilation] output_dir '%s' leads to '%s', which is "
                 "outside of '%s' and is left alone; to work on it: takt %s %s",
                 workflow->config.output_dir, target, workflow->folder,
                 workflow->command->name, target);
        code = EXIT_USAGE;
    }
    free(folder);
    free(target);
    return code;
}

/* A damaged state is moved aside if the command may change things; the message
 * is printed in any case. */
static int load_state(struct workflow *workflow, enum workflow_use use)
{
    struct takt_state *state = &workflow->state;
    takt_diag diag = {""};
    takt_status status = takt__state_load(workflow->folder, state, &diag);

    if (status == TAKT_OK)
        return EXIT_DONE;
    if (status != TAKT_ECORRUPT)
        return complain(workflow->command, "%s",
                        diag.text[0] ? diag.text : takt_status_text(status));
    if (use == WORKFLOW_LOOKS)
        return complain(workflow->command,
                        "%s is damaged: %s; 'takt reset %s' puts it aside",
                        state->path, diag.text, workflow->folder);
    status = takt__state_set_aside(workflow->folder, state, &diag);
    complain(workflow->command, "%s", diag.text);
    return status == TAKT_OK ? EXIT_DONE : EXIT_FINDING;
}

static int open_state(struct workflow *workflow, enum workflow_use use)
{
    const bool changes = use == WORKFLOW_CHANGES;
    const enum takt_transpiled transpiled = find_target(workflow);
    takt_diag diag = {""};

    if (transpiled == TAKT_TRANSPILED_THERE &&
        check_target(workflow) != EXIT_DONE)
        return EXIT_USAGE;
    if (use == WORKFLOW_IGNORES)
        return transpiled != TAKT_TRANSPILED_MISSING
                   ? EXIT_DONE
                   : complain(workflow->command,
                              "the output folder '%s' of the transpilation "
                              "does not exist; run the tool that makes it, or "
                              "correct [transpilation] output_dir",
                              workflow->config.output_dir);

    if (changes &&
        takt__lock_take(workflow->folder, &workflow->lock, &diag) != TAKT_OK)
        return complain(workflow->command, "%s", diag.text);
    const int code = load_state(workflow, use);
    if (code != EXIT_DONE)
        return code;
    if (changes || !takt__lock_is_taken(workflow->folder))
        takt__pipeline_step(
            &workflow->state.pipeline,
            &(struct takt_phase_event){.kind = TAKT_STEP_INTERRUPTED}, NULL);
    const struct takt_phase_event look = {.kind = TAKT_STEP_LOOK,
                                          .transpiled = transpiled,
                                          .text = workflow->config.output_dir,
                                          .is_theirs =
                                              workflow->state.is_theirs};
    takt__pipeline_step(&workflow->state.pipeline, &look, NULL);
    return EXIT_DONE;
}

int workflow_open(const struct invocation *invocation, enum workflow_use use,
                  struct workflow *out)
{
    *out = (struct workflow){
        .command = invocation->command,
        .folder = invocation->operand_count > 0 ? invocation->operands[0] : ".",
        .lock = {.fd = -1},
        .is_dry = use != WORKFLOW_CHANGES};
    takt__config_init(&out->config);
    if (!is_folder(out->folder) || strlen(out->folder) > longest_path / 2)
        return usage_error(out->command, "'%s' is not a folder", out->folder);
    /* A closed pipe is an error when something is written, but must not kill
     * the process within a phase. */
    if (use == WORKFLOW_CHANGES)
        signal(SIGPIPE, SIG_IGN);
    int code = load_config(out);
    if (code == EXIT_DONE)
        code = open_state(out, use);
    if (code != EXIT_DONE)
        workflow_close(out);
    return code;
}

void workflow_close(struct workflow *workflow)
{
    takt__state_free(&workflow->state);
    takt__config_fini(&workflow->config);
    takt__lock_give(&workflow->lock);
}

/* ---- phases ---- */

static int save(struct workflow *workflow)
{
    takt_diag diag = {""};

    if (workflow->is_dry ||
        takt__state_save(&workflow->state, &diag) == TAKT_OK)
        return EXIT_DONE;
    return complain(workflow->command, "%s", diag.text);
}

int workflow_begin(struct workflow *workflow, enum takt_phase phase)
{
    struct takt_phase_event event = {.kind = TAKT_STEP_BEGIN, .phase = phase};
    enum takt_phase blocker;
    char now[TAKT_PHASE_TIME], why[1024];

    if (workflow->is_dry)
        return EXIT_DONE;
    format_now(now);
    event.now = now;
    if (takt__pipeline_step(&workflow->state.pipeline, &event, &blocker))
        return save(workflow);
    takt__pipeline_explain(&workflow->state.pipeline, phase, blocker,
                           workflow->folder, why, sizeof why);
    save(workflow); /* what was interrupted, or is missing, is on record too */
    return complain(workflow->command, "%s", why);
}

int workflow_agree(const struct workflow *workflow,
                   const struct invocation *invocation, enum takt_phase phase,
                   const struct shell_line *shell)
{
    const struct takt_phase_event event = {.kind = TAKT_STEP_BEGIN,
                                           .phase = phase};
    struct takt_pipeline pipeline = workflow->state.pipeline;

    if (shell->text == NULL || option_given(invocation, "trust") ||
        !takt__pipeline_step(&pipeline, &event, NULL))
        return EXIT_DONE;
    return is_trusted(invocation->command, shell) ? EXIT_DONE : EXIT_FINDING;
}

int workflow_end(struct workflow *workflow, enum takt_phase phase,
                 const char *error)
{
    struct takt_phase_event event = {.kind = error == NULL ? TAKT_STEP_SUCCEED
                                                           : TAKT_STEP_FAIL,
                                     .phase = phase,
                                     .text = error};
    char now[TAKT_PHASE_TIME];

    if (error != NULL)
        complain(workflow->command, "%s failed: %s", takt__phase_name(phase),
                 error);
    if (!workflow->is_dry) {
        format_now(now);
        event.now = now;
        takt__pipeline_step(&workflow->state.pipeline, &event, NULL);
    }
    return save(workflow) != EXIT_DONE || error != NULL ? EXIT_FINDING
                                                        : EXIT_DONE;
}

/* ---- the world around ---- */

struct shell_line find_line(const struct workflow *workflow,
                            const char *own_line, const char *cargo_line)
{
    struct shell_line shell = {.folder = workflow->target};
    char path[longest_path + 64];

    if (own_line != NULL)
        return (struct shell_line){own_line, workflow->folder,
                                   workflow->config.path};
    snprintf(path, sizeof path, "%s/Cargo.toml", workflow->target);
    if (access(path, F_OK) != 0) {
        shell.source = "there is no Cargo.toml";
    } else if (!find_program("cargo", path, longest_path)) {
        shell.source = "cargo is not installed";
    } else {
        shell.text = cargo_line;
        shell.source = "which runs code of the project";
    }
    return shell;
}

static void become(const struct shell_line *shell)
{
    signal(SIGPIPE, SIG_DFL);
    if (chdir(shell->folder) != 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        _exit(126);
    execl("/bin/sh", "sh", "-c", shell->text, (char *)NULL);
    _exit(127);
}

bool run_line(const struct shell_line *shell, char *error, size_t size)
{
    const char *line = shell->text;
    int status = 0;
    pid_t done;

    fflush(NULL);
    const pid_t child = fork();
    if (child == 0)
        become(shell);
    do
        done = child < 0 ? -1 : waitpid(child, &status, 0);
    while (done < 0 && child > 0 && errno == EINTR);
    if (done < 0)
        snprintf(error, size, "'%.200s' could not be run: %s", line,
                 strerror(errno));
    else if (WIFSIGNALED(status))
        snprintf(error, size, "'%.200s' was killed by signal %d", line,
                 WTERMSIG(status));
    else if (WEXITSTATUS(status) != 0)
        snprintf(error, size, "'%.200s' ended with exit status %d", line,
                 WEXITSTATUS(status));
    else
        return true;
    return false;
}
