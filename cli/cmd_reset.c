/* SPDX-License-Identifier: MIT */
/* cmd_reset.c - `takt reset`: phases as if they had never run. */
#include <stdio.h>
#include <sys/stat.h>

#include "commands.h"
#include "workflow.h"

static int run(const struct invocation *invocation)
{
    const char *word = option_value(invocation, "phase");
    struct takt_phase_event event = {.kind = TAKT_STEP_RESET_ALL};
    struct workflow workflow;
    takt_diag diag = {""};

    if (word != NULL) {
        event.kind = TAKT_STEP_RESET;
        takt__phase_parse(word, &event.phase); /* the table knows the words */
    }
    int code = workflow_open(invocation, WORKFLOW_CHANGES, &workflow);
    if (code != EXIT_DONE)
        return code;
    struct stat facts; /* of the file or of a link, which is refused below */
    if (lstat(workflow.state.path, &facts) != 0) {
        puts("nothing to reset: no phase has run");
        workflow_close(&workflow);
        return EXIT_DONE;
    }
    takt__pipeline_step(&workflow.state.pipeline, &event, NULL);
    if (takt__state_save(&workflow.state, &diag) != TAKT_OK)
        code = complain(invocation->command, "%s", diag.text);
    else if (word != NULL)
        printf("%s was reset; phases after it that had run are stale\n",
               takt__phase_name(event.phase));
    else
        puts("all phases were reset");
    workflow_close(&workflow);
    return code;
}

const struct command cmd_reset = {
    .name = "reset",
    .operands = "[DIR]",
    .summary = "take phases of a project back",
    .description =
        "Marks one phase, or all of them, as Not Started. Phases after it that "
        "had run become Stale. What they wrote (the profile in Cargo.toml, "
        "build output) stays as it is. A damaged state file is kept aside.",
    .max_operands = 1,
    .options = {{"phase", "NAME",
                 "analysis|transpilation|optimization|validation|build",
                 "this phase, instead of all"}},
    .examples = {"takt reset", "takt reset --phase validation app"},
    .run = run,
};
