/* SPDX-License-Identifier: MIT */
/* trace_child.c - the program that `takt trace -- COMMAND` runs. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "commands.h"
#include "preload.h"
#include "trace.h"

extern char **environ;

/* What shells say of a command that is not there, or is none. */
enum { not_found = 127, not_runnable = 126 };

static bool is_of(const char *entry, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

/* The environment with TAKT_TRACE, and LD_PRELOAD if that is not NULL; to be
 * freed. NULL: no memory. */
static char **environment_with(char *trace, char *preload)
{
    size_t count = 0, kept = 0;

    while (environ[count] != NULL)
        count++;
    char **list = malloc((count + 3) * sizeof *list);
    if (list == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!is_of(environ[i], "TAKT_TRACE") &&
            (preload == NULL || !is_of(environ[i], "LD_PRELOAD")))
            list[kept++] = environ[i];
    list[kept++] = trace;
    list[kept] = preload;
    list[kept + (preload != NULL)] = NULL;
    return list;
}

/* "LD_PRELOAD=..." for a program that does not use Takt itself, so that its
 * BLAS does, as under `takt run`; to be freed. NULL: it is run as it is. */
static char *find_preload(const char *program)
{
    char reason[reason_size];
    char *variable = NULL;

    if (contains_takt(program) || must_leave_alone(program, reason))
        return NULL;
    char *value = preload_value();
    const size_t size = value != NULL ? strlen(value) + 12 : 0;
    if (value != NULL && (variable = malloc(size)) != NULL)
        snprintf(variable, size, "LD_PRELOAD=%s", value);
    free(value);
    return variable;
}

/* Signals that the reader blocks have their defaults in the program. */
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

bool child_start(struct trace_child *child, char *const *program,
                 const char *path, bool as_is)
{
    char variable[128];
    char *preload = as_is ? NULL : find_preload(program[0]);

    snprintf(variable, sizeof variable, "TAKT_TRACE=unix:%s", path);
    *child = (struct trace_child){.code = EXIT_FINDING,
                                  .is_routed = preload != NULL};
    char **environment = environment_with(variable, preload);
    const int wrong =
        environment != NULL ? spawn(&child->pid, program, environment) : ENOMEM;
    free(environment);
    free(preload);
    if (wrong == 0)
        return true;
    complain(&cmd_trace, "cannot run '%s': %s", program[0], strerror(wrong));
    child->code = wrong == ENOENT ? not_found : not_runnable;
    child->has_ended = true;
    return false;
}

bool child_look(struct trace_child *child)
{
    int status;

    if (child->has_ended || waitpid(child->pid, &status, WNOHANG) != child->pid)
        return child->has_ended;
    child->has_ended = true;
    child->code =
        WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}
