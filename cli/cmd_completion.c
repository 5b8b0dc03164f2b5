/* SPDX-License-Identifier: MIT */
/* cmd_completion.c - `takt completion`: scripts for the shells. */
#include "commands.h"
#include "help.h"

static int run(const struct invocation *invocation)
{
    static void (*const print[])(FILE *) = {
        print_bash_completion, print_zsh_completion, print_fish_completion};
    size_t shell;

    if (!find_choice(invocation->operands[0], "bash|zsh|fish", &shell))
        return usage_error(invocation->command,
                           "'%s' is not one of bash, zsh, fish",
                           invocation->operands[0]);
    print[shell](stdout);
    return EXIT_DONE;
}

const struct command cmd_completion = {
    .name = "completion",
    .operands = "bash|zsh|fish",
    .summary = "print a completion script for a shell",
    .description = "Prints a script that teaches the shell to complete takt's "
                   "commands, options and ops. An installed takt has put them "
                   "where the shells look.",
    .min_operands = 1,
    .max_operands = 1,
    .examples = {"source <(takt completion bash)",
                 "takt completion fish | source"},
    .run = run,
};
