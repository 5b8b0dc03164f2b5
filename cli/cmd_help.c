/* SPDX-License-Identifier: MIT */
/* cmd_help.c - `takt help`, `takt version` and `takt completion`. */
#include <stdio.h>

#include <takt/version.h>

#include "commands.h"
#include "json.h"

static int print_version(const struct invocation *invocation)
{
    if (!option_given(invocation, "json")) {
        printf("takt %s\n", takt_version());
        return EXIT_DONE;
    }
    struct json json = json_begin(stdout);
    json_print(&json, "{version:%s}\n", takt_version());
    return EXIT_DONE;
}

const struct command cmd_version = {
    .name = "version",
    .operands = "",
    .summary = "print the version",
    .description = "Prints the version of the library that is running.",
    .options = {{"json", NULL, NULL, "print one JSON object"}},
    .examples = {"takt version"},
    .run = print_version,
};

static int print_completion(const struct invocation *invocation)
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
    .run = print_completion,
};

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
