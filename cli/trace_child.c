/* SPDX-License-Identifier: MIT */
/* trace_child.c - the program that `takt trace -- COMMAND` runs. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "commands.h"
#include "run.h"
#include "trace.h"

extern char **environ;

/* What shells say of a command that is not there, or is none. */
enum { not_found = 127, not_runnable = 126 };

/* The value of LD_PRELOAD for a program that does not use Takt itself, so that
 * its BLAS does, as under `takt run`; to be freed. NULL: it is run as it is. */
static char *find_preload(const char *program)
{
    char reason[reason_size];

    return contains_takt(program) || must_leave_alone(program, reason)
               ? NULL
               : preload_value();
}

/* False: no memory. */
static bool set_preload(const char *preload)
{
    char *checks = address_sanitizer_value();
    const bool is_set = checks != NULL &&
                        setenv("LD_PRELOAD", preload, 1) == 0 &&
                        setenv(ADDRESS_SANITIZER_VARIABLE, checks, 1) == 0;

    free(checks);
    return is_set;
}

/* Signals that the reader blocks have their defaults in the program. */
static int spawn(pid_t *pid, char *const *program)
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
        posix_spawnp(pid, program[0], NULL, &attributes, program, environ);
    posix_spawnattr_destroy(&attributes);
    return wrong;
}

bool child_start(struct trace_child *child, char *const *program,
                 const char *path, bool as_is)
{
    char address[128];
    int wrong = ENOMEM;
    char *preload = as_is ? NULL : find_preload(program[0]);

    snprintf(address, sizeof address, "unix:%s", path);
    *child = (struct trace_child){.code = EXIT_FINDING,
                                  .is_routed = preload != NULL};
    if (setenv("TAKT_TRACE", address, 1) == 0 &&
        (preload == NULL || set_preload(preload)))
        wrong = spawn(&child->pid, program);
    free(preload);
    if (wrong == 0)
        return true;
    complain(&cmd_trace, "cannot run '%s': %s", program[0], strerror(wrong));
    child->code = wrong == ENOENT ? not_found : not_runnable;
    child->has_ended = true;
    return false;
}

bool child_poll(struct trace_child *child)
{
    int status;

    if (child->has_ended || waitpid(child->pid, &status, WNOHANG) != child->pid)
        return child->has_ended;
    child->has_ended = true;
    child->code =
        WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}
