/* SPDX-License-Identifier: MIT */
/*
 * detached.c - a process between, which ends at once.
 *
 * The process between has no signal for its end, so that neither a handler nor
 * a wait() of the program's sees it; execve() would set that signal again, so
 * another process is made which becomes the program. Both use the memory of the
 * caller, which stands still meanwhile (CLONE_VFORK), and so may only make
 * system calls: a function of libc, or of a sanitizer, would change what is
 * the caller's.
 */
#define _GNU_SOURCE /* clone() */
#include "base/detached.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __clang__
#define SYSTEM_CALLS_ONLY __attribute__((no_sanitize("all")))
#else
#define SYSTEM_CALLS_ONLY \
    __attribute__((no_sanitize("address", "thread", "undefined")))
#endif

/* The thread sanitizer takes a clone() for a fork(), and forgets all threads of
 * the caller. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
int __clone(int (*run)(void *self), void *stack, int flags, void *self, ...);
#define clone __clone
#endif

enum {
    stack_bytes = 32 << 10,
    mask_bytes = 8, /* of a set of signals, for the kernel */
    signals = 64,   /* its number of them */
    most_files = 1 << 16
};

struct detaching {
    const struct takt_detached *what;
    char *stack; /* two of them */
    volatile int error;
};

/* What the kernel takes for a handler: all 0 is the default. */
struct kernel_action {
    unsigned long word[4];
};

SYSTEM_CALLS_ONLY static void close_files(void)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 0, ~0u, 0) == 0)
        return;
#endif
    for (int fd = 0; fd < most_files; fd++)
        syscall(SYS_close, fd);
}

/* Signals are blocked until no handler is left that could run here. */
SYSTEM_CALLS_ONLY static void reset_signals(void)
{
    const struct kernel_action by_default = {{0}};
    const unsigned long none = 0;

    for (int i = 1; i <= signals; i++)
        syscall(SYS_rt_sigaction, i, &by_default, NULL, mask_bytes);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, mask_bytes);
}

SYSTEM_CALLS_ONLY static int become_program(void *self)
{
    struct detaching *detaching = self;
    const struct takt_detached *what = detaching->what;
    const struct itimerval limit = {.it_value = {.tv_sec = what->limit_s}};

    syscall(SYS_setsid);
    close_files();
    for (int i = 0; i < 3; i++)
        syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR);
    syscall(SYS_setitimer, ITIMER_REAL, &limit, NULL);
    reset_signals();
    syscall(SYS_setpriority, PRIO_PROCESS, 0, 10); /* the caller waits: last */
    syscall(SYS_execve, what->path, what->argv, what->envp);
    detaching->error = errno;
    syscall(SYS_exit_group, 127);
    return 127;
}

SYSTEM_CALLS_ONLY static int start_program(void *self)
{
    struct detaching *detaching = self;

    if (clone(become_program, detaching->stack + 2 * stack_bytes,
              CLONE_VM | CLONE_VFORK | SIGCHLD, detaching) < 0)
        detaching->error = errno;
    syscall(SYS_exit_group, 0);
    return 0;
}

static void start(struct detaching *detaching)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int between = clone(start_program, detaching->stack + stack_bytes,
                              CLONE_VM | CLONE_VFORK, detaching);
    if (between < 0)
        detaching->error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    while (between > 0 && waitpid(between, NULL, (int)__WCLONE) < 0 &&
           errno == EINTR)
        continue;
}

bool takt__start_detached(const struct takt_detached *what, int *error)
{
    struct detaching detaching = {.what = what};

    detaching.stack = mmap(NULL, 2 * stack_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (detaching.stack == MAP_FAILED) {
        *error = errno;
        return false;
    }
    start(&detaching);
    munmap(detaching.stack, 2 * stack_bytes);
    *error = detaching.error;
    return detaching.error == 0;
}
