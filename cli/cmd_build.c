/* SPDX-License-Identifier: MIT */
/* cmd_build.c - `takt build`: the last phase of the line. */
#include <stdio.h>

#include "commands.h"
#include "json.h"
#include "workflow.h"

static const char *find_line(const struct workflow *workflow)
{
    if (workflow->config.build_command != NULL)
        return workflow->config.build_command;
    return has_file(workflow->target, "Cargo.toml") ? "cargo build --release"
                                                    : NULL;
}

/* A command of the project's own runs in its own folder, Cargo where the
 * manifest is. */
static bool build(const struct workflow *workflow, const char *line,
                  char *error, size_t size)
{
    const bool is_own = line == workflow->config.build_command;

    if (line != NULL && (is_own || has_program("cargo")))
        return run_line(is_own ? workflow->folder : workflow->target, line,
                        error, size);
    snprintf(error, size, "%s, and no [build] command is in takt.toml",
             line != NULL ? "cargo is not installed"
                          : "there is no Cargo.toml");
    return false;
}

static void answer(const struct invocation *invocation, const char *line,
                   const char *error)
{
    struct json json = json_begin(stdout);
    char clean[512];

    if (!option_given(invocation, "json")) {
        if (error == NULL)
            printf("Build: '%s' succeeded\n", line);
        return;
    }
    json_open(&json, NULL, '{');
    json_string(&json, "command", line);
    json_bool(&json, "succeeded", error == NULL);
    json_string(&json, "error",
                error == NULL ? NULL : clean_text(error, clean, sizeof clean));
    json_close(&json, '}');
    json_end(&json);
}

static int run(const struct invocation *invocation)
{
    struct workflow workflow;
    char error[512];

    int code = workflow_open(invocation, WORKFLOW_CHANGES, &workflow);
    if (code != EXIT_DONE)
        return code;
    code = workflow_begin(&workflow, TAKT_PHASE_BUILD);
    if (code == EXIT_DONE) {
        const char *line = find_line(&workflow);
        const bool is_built = build(&workflow, line, error, sizeof error);
        answer(invocation, line, is_built ? NULL : error);
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
        "completed; 'takt status' shows them.",
    .max_operands = 1,
    .options = {{"json", NULL, NULL, "print one JSON object"}},
    .examples = {"takt build", "takt build app"},
    .run = run,
};
