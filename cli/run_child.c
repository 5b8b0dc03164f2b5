/* SPDX-License-Identifier: MIT */
/*
 * run_child.c - a program that is run as if takt were not there.
 *
 * Without a report takt becomes the program. With one it has to wait, and then
 * takt has to look like the program: signals to takt are passed on, takt stops
 * and continues with the program, and ends as it does. Both are
 * in one process group, so what a terminal sends has reached both already.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "commands.h"
#include "run.h"

/* What shells say of a command that is not there, or is none. */
enum { not_found = 127, not_runnable = 126, after_signal = 128 };

struct run_child {
    pid_t pid;
    bool is_stopped, has_ended;
    int status;
};

/* ---- starting ---- */

/* False: no memory. */
static bool set_variables(const struct launch *launch)
{
    for (size_t i = 0; i < launch->variable_count; i++) {
        const struct variable *variable = &launch->variable[i];
        if ((variable->value != NULL
                 ? setenv(variable->name, variable->value, 1)
                 : unsetenv(variable->name)) != 0)
            return false;
    }
    return true;
}

int refuse_program(const char *program, int wrong)
{
    complain(&cmd_run, "cannot run '%s': %s", program, strerror(wrong));
    return wrong == ENOENT ? not_found : not_runnable;
}

int become_program(const struct launch *launch)
{
    fflush(NULL);
    if (set_variables(launch))
        execvp(launch->program[0], launch->program);
    return refuse_program(launch->program[0], errno);
}

/* In the child. */
static bool set_streams(const struct launch *launch)
{
    if (launch->streams == NULL)
        return true;
    for (int i = 0; i < 3; i++)
        if (dup2(launch->streams[i], i) < 0)
            return false;
    return setpgid(0, 0) == 0;
}

/* In the child. What went wrong goes through the pipe, which closes by itself
 * when nothing did. */
static void start(const struct launch *launch, const struct signals *before,
                  int pipe_end)
{
    const bool is_set = set_variables(launch) && set_streams(launch);

    sigaction(SIGCHLD, &before->child, NULL);
    sigprocmask(SIG_SETMASK, &before->mask, NULL);
    if (is_set)
        execvp(launch->program[0], launch->program);
    const int wrong = errno;
    while (write(pipe_end, &wrong, sizeof wrong) < 0 && errno == EINTR)
        continue;
    _exit(not_found);
}

/* Returns 0, or what is wrong. */
static int await_start(int pipe_end)
{
    int wrong = 0;
    ssize_t got;

    do
        got = read(pipe_end, &wrong, sizeof wrong);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)sizeof wrong ? wrong : 0;
}

int start_program(const struct launch *launch, const struct signals *before,
                  pid_t *out)
{
    int ends[2];

    if (pipe(ends) != 0)
        return errno;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    fflush(NULL);
    *out = fork();
    if (*out == 0)
        start(launch, before, ends[1]);
    int wrong = *out < 0 ? errno : 0;
    close(ends[1]);
    if (*out > 0)
        wrong = await_start(ends[0]);
    close(ends[0]);
    if (*out > 0 && wrong != 0)
        waitpid(*out, NULL, 0);
    return wrong;
}

/* ---- signals ---- */

void choose_signals(sigset_t *out)
{
    static const int own[] = {SIGSEGV, SIGBUS,  SIGFPE, SIGILL,
                              SIGTRAP, SIGABRT, SIGSYS};

    sigfillset(out);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(out, own[i]);
}

void hold_signals(struct signals *before)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t all;

    choose_signals(&all);
    sigprocmask(SIG_BLOCK, &all, &before->mask);
    /* If it is ignored, children cannot be waited for. */
    sigaction(SIGCHLD, &usual, &before->child);
}

/* Whether the kernel has sent it to the whole process group, as for a key. A
 * hangup is sent to the first process of a session alone. */
static bool has_reached_both(int number, const siginfo_t *about)
{
    if (about->si_code <= 0)
        return false; /* a process sent it */
    switch (number) {
    case SIGINT:
    case SIGQUIT:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
    case SIGWINCH:
        return true;
    case SIGHUP:
        return getsid(0) != getpid();
    default:
        return false;
    }
}

static void pass_on(const struct run_child *child, int number,
                    const siginfo_t *about)
{
    /* What it sends to its group it has got, and what it sends to its parent
     * is not for itself. */
    const bool is_its_own = about->si_code <= 0 && about->si_pid == child->pid;

    if (number == SIGCONT ? !child->is_stopped
                          : is_its_own || has_reached_both(number, about))
        return;
    if (about->si_code == SI_QUEUE)
        sigqueue(child->pid, number, about->si_value);
    else
        kill(child->pid, number);
}

void suffer_signal(int number)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t one;

    sigemptyset(&one);
    sigaddset(&one, number);
    sigaction(number, &usual, NULL);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    sigprocmask(SIG_BLOCK, &one, NULL);
}

/* ---- waiting ---- */

/* As process 1 of a container takt also gets the children of others, and reaps
 * them. */
static void reap_children(struct run_child *child)
{
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
        if (pid != child->pid)
            continue;
        child->is_stopped = WIFSTOPPED(status);
        child->has_ended = WIFEXITED(status) || WIFSIGNALED(status);
        child->status = status;
    }
}

static void await_end(struct run_child *child)
{
    sigset_t all;
    siginfo_t about;

    choose_signals(&all);
    while (!child->has_ended) {
        const bool was_stopped = child->is_stopped;
        const int number = sigwaitinfo(&all, &about);
        if (number == SIGCHLD)
            reap_children(child);
        else if (number > 0)
            pass_on(child, number, &about);
        if (child->is_stopped && !was_stopped)
            suffer_signal(WSTOPSIG(child->status));
    }
}

bool watch_program(const struct launch *launch, const struct signals *before,
                   struct ending *out, int *code)
{
    struct run_child child = {0};
    const uint64_t start_ns = takt__now_ns();
    const int wrong = start_program(launch, before, &child.pid);

    if (wrong != 0) {
        *code = refuse_program(launch->program[0], wrong);
        return false;
    }
    await_end(&child);
    *out = (struct ending){.status = child.status,
                           .wall_s = (double)(takt__now_ns() - start_ns) / 1e9};
    return true;
}

int end_alike(const struct ending *ending)
{
    if (!WIFSIGNALED(ending->status))
        return WEXITSTATUS(ending->status);
    fflush(NULL);
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* the core is the program's to leave */
    suffer_signal(WTERMSIG(ending->status));
    return after_signal + WTERMSIG(ending->status); /* process 1 lives on */
}
