/* SPDX-License-Identifier: MIT */
/* trace_child.c - the program that `takt trace -- COMMAND` runs. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "commands.h"
#include "trace.h"

extern char **environ;

/* What shells say of a command that is not there, or is none. */
enum { not_found = 127, not_runnable = 126 };

/* The environment with one variable more, to be freed; TAKT_TRACE is not in it
 * before. NULL: no memory. */
static char **environment_with(char *variable)
{
    size_t count = 0;

    while (environ[count] != NULL)
        count++;
    char **list = malloc((count + 2) * sizeof *list);
    if (list == NULL)
        return NULL;
    memcpy(list, environ, count * sizeof *list);
    list[count] = variable;
    list[count + 1] = NULL;
    return list;
}

/* Signals that the reader keeps for itself are as usual for the program. */
static int spawn(pid_t *pid, char *const *program, char *const *environment)
{
    posix_spawnattr_t attributes;
    sigset_t none, usual;

    if (posix_spawnattr_init(&attributes) != 0)
        return ENOMEM;
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    const int wrong =
        posix_spawnp(pid, program[0], NULL, &attributes, program, environment);
    posix_spawnattr_destroy(&attributes);
    return wrong;
}

bool child_start(struct child *child, char *const *program, const char *path)
{
    char variable[128];

    snprintf(variable, sizeof variable, "TAKT_TRACE=unix:%s", path);
    *child = (struct child){.code = EXIT_FINDING};
    char **environment = environment_with(variable);
    const int wrong =
        environment != NULL ? spawn(&child->pid, program, environment) : ENOMEM;
    free(environment);
    if (wrong == 0)
        return true;
    complain(&cmd_trace, "cannot run '%s': %s", program[0], strerror(wrong));
    child->code = wrong == ENOENT ? not_found : not_runnable;
    child->has_ended = true;
    return false;
}

bool child_look(struct child *child)
{
    int status;

    if (child->has_ended || waitpid(child->pid, &status, WNOHANG) != child->pid)
        return child->has_ended;
    child->has_ended = true;
    child->code =
        WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}
