/* SPDX-License-Identifier: MIT */
/* cmd_help.c - `takt help`. */
#include <string.h>

#include "commands.h"
#include "help.h"

static int run(const struct invocation *invocation)
{
    const bool man = option_given(invocation, "man");
    const char *name =
        invocation->operand_count > 0 ? invocation->operands[0] : NULL;
    const struct command *command = name != NULL ? find_command(name) : NULL;

    if (name != NULL && command == NULL)
        return usage_error(invocation->command, "no command '%s'", name);
    if (man)
        print_man(stdout, command);
    else if (command != NULL)
        print_help(stdout, command);
    else
        print_overview(stdout);
    return EXIT_DONE;
}

const struct command cmd_help = {
    .name = "help",
    .operands = "[COMMAND]",
    .summary = "explain takt or one of its commands",
    .description = "Prints what 'takt COMMAND --help' prints, or the list of "
                   "commands.",
    .max_operands = 1,
    .options = {{"man", NULL, NULL, "print the man page, as roff"}},
    .examples = {"takt help", "takt help select",
                 "takt help --man select | man -l -"},
    .run = run,
};
