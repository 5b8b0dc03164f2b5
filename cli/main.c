/* SPDX-License-Identifier: MIT */
/* main.c - finds the command and runs it. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "clean.h"
#include "commands.h"

const struct command *const commands[] = {
    &cmd_machine, &cmd_doctor,    &cmd_tune,       &cmd_map,     &cmd_report,
    &cmd_select,  &cmd_explain,   &cmd_history,    &cmd_trace,   &cmd_top,
    &cmd_run,     &cmd_recommend, &cmd_bench,      &cmd_analyze, &cmd_optimize,
    &cmd_fleet,   &cmd_validate,  &cmd_build,      &cmd_status,  &cmd_reset,
    &cmd_version, &cmd_help,      &cmd_completion, NULL,
};

static int unknown_command(const char *name)
{
    size_t shortest = (size_t)-1;
    const char *near = NULL;

    for (size_t i = 0; commands[i] != NULL; i++)
        if (is_nearer(name, commands[i]->name, &shortest))
            near = commands[i]->name;
    if (near != NULL)
        print_line(stderr, "takt: no command '%s'; did you mean '%s'?", name,
                   near);
    else
        print_line(stderr, "takt: no command '%s' (see 'takt help')", name);
    return EXIT_USAGE;
}

static bool asks_for_help(int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
    return false;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    struct invocation invocation;

    if (asks_for_help(argc, argv)) {
        print_help(stdout, command);
        return EXIT_DONE;
    }
    if (!parse_invocation(command, argc, argv, &invocation))
        return EXIT_USAGE;
    return command->run(&invocation);
}

/* An answer that could not be written is not an answer. */
static int finish(int code)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    fputs("takt: cannot write to standard output\n", stderr);
    return EXIT_FINDING;
}

/* --version and --help are commands that people expect as options. */
static const char *command_name(const char *word)
{
    if (strcmp(word, "--version") == 0)
        return "version";
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return "help";
    return word;
}

static void pass(int signal)
{
    (void)signal;
}

/* A write beyond a limit of file sizes (`ulimit -f`) fails and ends nothing: an
 * end would leave half a file. A handler is not inherited by the programs that
 * are started, as ignoring would be. */
static void fail_by_status(void)
{
    struct sigaction action = {.sa_handler = pass, .sa_flags = SA_RESTART};
    struct sigaction before;

    if (sigaction(SIGXFSZ, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(SIGXFSZ, &action, NULL);
}

int main(int argc, char **argv)
{
    fail_by_status();
    if (argc < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    const struct command *command = find_command(command_name(argv[1]));
    if (command == NULL)
        return unknown_command(argv[1]);
    return finish(run_command(command, argc - 2, argv + 2));
}
