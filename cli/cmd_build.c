/* SPDX-License-Identifier: MIT */
/* cmd_build.c - `takt build`: the last phase of the line. */
#include <stdio.h>

#include "commands.h"
#include "json.h"
#include "workflow.h"

static bool build(const struct shell_line *shell, char *error, size_t size)
{
    if (shell->text != NULL)
        return run_line(shell, error, size);
    snprintf(error, size, "%s, and no [build] command is in takt.toml",
             shell->source);
    return false;
}

static void answer(const struct invocation *invocation, const char *line,
                   const char *error)
{
    struct json json = json_begin(stdout);

    if (!option_given(invocation, "json")) {
        if (error == NULL)
            print_line(stdout, "Build: '%s' succeeded", line);
        return;
    }
    json_print(&json, "{command:%s succeeded:%d error:%s}\n", line,
               error == NULL, error);
}

static int run(const struct invocation *invocation)
{
    struct workflow workflow;
    char error[512];

    int code = workflow_open(invocation, WORKFLOW_CHANGES, &workflow);
    if (code != EXIT_DONE)
        return code;
    const struct shell_line shell = find_line(
        &workflow, workflow.config.build_command, "cargo build --release");
    code = workflow_agree(&workflow, invocation, TAKT_PHASE_BUILD, &shell);
    if (code == EXIT_DONE)
        code = workflow_begin(&workflow, TAKT_PHASE_BUILD);
    if (code == EXIT_DONE) {
        const bool is_built = build(&shell, error, sizeof error);
        answer(invocation, shell.text, is_built ? NULL : error);
        code =
            workflow_end(&workflow, TAKT_PHASE_BUILD, is_built ? NULL : error);
    }
    workflow_close(&workflow);
    return code;
}

const struct command cmd_build = {
    .name = "build",
    .operands = "[DIR]",
    .summary = "build a project that was optimized and validated",
    .description =
        "Runs the command that takt.toml names ([build] command), or 'cargo "
        "build --release' where there is a Cargo.toml. What it prints goes to "
        "stderr. Refused, with exit status 1, until all phases before it are "
        "completed; 'takt status' shows them.\n\n"
        "The command is the project's, and so is the code that cargo runs: it "
        "is shown and asked about once. Without a terminal, and without "
        "--trust, nothing is run and the exit status is 1.",
    .max_operands = 1,
    .options = {TRUST_OPTION, {"json", NULL, NULL, "print one JSON object"}},
    .examples = {"takt build", "takt build --trust app"},
    .run = run,
};
