/* SPDX-License-Identifier: MIT */
/*
 * run_compare_child.c - one of the runs that are compared.
 *
 * All runs get the same input. What they print comes through pipes, so that it
 * needs no space: of stdout the digest and the first bytes are kept, of stderr
 * the last ones. A run is in a process group of its own, so that a signal that
 * ends takt ends all of its processes.
 */
#define _GNU_SOURCE /* wait4(), pipe2(), O_TMPFILE */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu_time.h"
#include "base/new_file.h"
#include "commands.h"
#include "run_compare.h"

enum {
    most_input = 1 << 30,
    patience_ms = 1000, /* until it is said that input is waited for */
    grace_ms = 2000     /* from a signal until SIGKILL */
};

/* A run on its way. */
struct compare_watch {
    struct compare_child *child;
    struct compare_run *run;
    pid_t pid;
    int signals;  /* a descriptor of signals that wait */
    int out, err; /* ours of the pipes; -1: at their end */
    bool has_ended;
    uint64_t asked_ns;   /* when it was asked to end; 0: it was not */
    uint64_t stopped_ns; /* for which takt was stopped by its user */
    struct takt_sha256 hash;
};

/* ---- input ---- */

/* An unnamed file; -1: errno says why. */
static int make_spool(void)
{
    const char *named = getenv("TMPDIR");
    char path[PATH_MAX];

    if ((size_t)snprintf(path, sizeof path, "%s/takt-input-XXXXXX",
                         named != NULL && named[0] == '/' ? named : "/tmp") >=
        sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int fd = mkstemp(path);
    if (fd >= 0) {
        unlink(path);
        fcntl(fd, F_SETFD, FD_CLOEXEC);
    }
    return fd;
}

static void await_input(void)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

    if (poll(&input, 1, patience_ms) == 0)
        fputs("takt run: reading standard input to its end, for all runs\n",
              stderr);
}

/* Returns 0, or what is wrong. */
static int copy_input(int spool)
{
    static char block[1 << 16];
    size_t total = 0;
    ssize_t got;

    await_input();
    while ((got = read(STDIN_FILENO, block, sizeof block)) != 0) {
        if (got < 0 && errno != EINTR)
            return errno;
        if (got < 0)
            continue;
        total += (size_t)got;
        if (total > most_input)
            return EFBIG;
        if (!takt__write_all(spool, block, (size_t)got))
            return errno;
    }
    return 0;
}

static bool no_input(int wrong)
{
    complain(&cmd_run, "standard input cannot be kept for all runs: %s",
             strerror(wrong));
    return false;
}

/* A pipe is read to its end; a terminal gives nothing. */
static bool open_input(struct compare_child *child)
{
    struct stat facts;

    child->input_start = -1;
    if (fstat(STDIN_FILENO, &facts) != 0 || isatty(STDIN_FILENO) ||
        S_ISCHR(facts.st_mode)) {
        child->input = open("/dev/null", O_RDONLY | O_CLOEXEC);
        return child->input >= 0 || no_input(errno);
    }
    if (S_ISREG(facts.st_mode)) {
        child->input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
        child->input_start = lseek(child->input, 0, SEEK_CUR);
        return child->input >= 0 || no_input(errno);
    }
    child->input = make_spool();
    const int wrong = child->input < 0 ? errno : copy_input(child->input);
    child->input_start = 0;
    return wrong == 0 || no_input(wrong);
}

bool compare_open(struct compare_child *out, bool shows_output)
{
    *out = (struct compare_child){.input = -1, .shows_output = shows_output};
    out->head = malloc(kept_bytes);
    if (out->head == NULL)
        return no_input(ENOMEM);
    return open_input(out);
}

void compare_close(struct compare_child *child)
{
    if (child->input >= 0)
        close(child->input);
    free(child->head);
}

/* ---- output ---- */

static void keep_head(struct compare_child *child, const char *bytes,
                      size_t size)
{
    const size_t left = kept_bytes - child->head_size;
    const size_t used = size < left ? size : left;

    memcpy(child->head + child->head_size, bytes, used);
    child->head_size += used;
}

static void keep_tail(struct compare_child *child, const char *bytes,
                      size_t size)
{
    const size_t room = sizeof child->tail - 1; /* and a 0 */
    const size_t used = size < room ? size : room;
    const size_t old =
        child->tail_size + used <= room ? child->tail_size : room - used;

    memmove(child->tail, child->tail + child->tail_size - old, old);
    memcpy(child->tail + old, bytes + size - used, used);
    child->tail_size = old + used;
    child->tail[child->tail_size] = '\0';
}

/* Nothing is there yet; any other failure would be one again and again. */
static bool is_for_later(void)
{
    return errno == EAGAIN || errno == EINTR;
}

/* Takes what is in the pipe; at its end *pipe_end is closed. */
static bool take_output(struct compare_watch *watch, int *pipe_end)
{
    static char block[1 << 16];
    const ssize_t got = read(*pipe_end, block, sizeof block);

    if (got < 0 && is_for_later())
        return false;
    if (got <= 0) {
        close(*pipe_end);
        *pipe_end = -1;
        return false;
    }
    if (watch->child->shows_output)
        takt__write_all(STDERR_FILENO, block, (size_t)got);
    if (pipe_end == &watch->err) {
        keep_tail(watch->child, block, (size_t)got);
        return true;
    }
    watch->run->output_bytes += (uint64_t)got;
    takt__sha256_add(&watch->hash, block, (size_t)got);
    keep_head(watch->child, block, (size_t)got);
    return true;
}

/* Children that live on may hold the pipe: what is in it is taken, and no more
 * is waited for. */
static void drain(struct compare_watch *watch, int *pipe_end)
{
    while (*pipe_end >= 0 && take_output(watch, pipe_end))
        continue;
    if (*pipe_end >= 0)
        close(*pipe_end);
}

/* ---- signals ---- */

static double seconds(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void note_end(struct compare_watch *watch, int status,
                     const struct rusage *used)
{
    const double cpu_s = seconds(used->ru_utime) + seconds(used->ru_stime);

    watch->has_ended = true;
    watch->run->status = status;
    watch->run->cpu_s = cpu_s > 1e-6 ? cpu_s : 1e-6;
}

static void reap_children(struct compare_watch *watch)
{
    struct rusage used;
    int status;
    pid_t pid;

    while ((pid = wait4(-1, &status, WNOHANG | WUNTRACED, &used)) > 0) {
        if (pid != watch->pid)
            continue;
        if (!WIFSTOPPED(status)) {
            note_end(watch, status, &used);
            continue;
        }
        if (WSTOPSIG(status) == SIGTTIN || WSTOPSIG(status) == SIGTTOU) {
            watch->child->stopped_by = WSTOPSIG(status); /* for a terminal */
            kill(-pid, SIGKILL);
        }
    }
}

/* ^Z: everything stops; the time until it goes on is not the program's. */
static void stop_all(struct compare_watch *watch)
{
    const uint64_t start_ns = takt__now_ns();
    struct rusage used;
    int status = 0;

    kill(-watch->pid, SIGSTOP);
    if (wait4(watch->pid, &status, WUNTRACED, &used) == watch->pid &&
        !WIFSTOPPED(status))
        note_end(watch, status, &used);
    suffer_signal(SIGTSTP);
    if (!watch->has_ended)
        kill(-watch->pid, SIGCONT);
    watch->stopped_ns += takt__now_ns() - start_ns;
}

static void ask_to_end(struct compare_watch *watch, int number)
{
    kill(-watch->pid, watch->asked_ns == 0 ? number : SIGKILL);
    if (watch->asked_ns == 0)
        watch->asked_ns = takt__now_ns();
    watch->child->signal = number;
}

static void take_signal(struct compare_watch *watch)
{
    struct signalfd_siginfo about;

    if (read(watch->signals, &about, sizeof about) != (ssize_t)sizeof about) {
        if (!is_for_later())
            reap_children(watch);
        return;
    }
    switch (about.ssi_signo) {
    case SIGCHLD:
        reap_children(watch);
        break;
    case SIGTSTP:
        stop_all(watch);
        break;
    case SIGCONT:
    case SIGWINCH:
    case SIGURG:
    case SIGPIPE: /* the reader has gone, which is reported at the end */
    case SIGTTIN:
    case SIGTTOU:
        break;
    default:
        ask_to_end(watch, (int)about.ssi_signo);
    }
}

/* ---- running ---- */

/* Until the grace of one that was asked to end is over; -1: for ever. */
static int time_left_ms(const struct compare_watch *watch)
{
    if (watch->asked_ns == 0)
        return -1;
    const uint64_t ms = (takt__now_ns() - watch->asked_ns) / 1000000;
    return ms < grace_ms ? (int)(grace_ms - ms) : 0;
}

static void await(struct compare_watch *watch)
{
    while (!watch->has_ended) {
        struct pollfd ends[] = {{.fd = watch->signals, .events = POLLIN},
                                {.fd = watch->out, .events = POLLIN},
                                {.fd = watch->err, .events = POLLIN}};
        const int ready = poll(ends, 3, time_left_ms(watch));
        if (ready == 0)
            ask_to_end(watch, watch->child->signal);
        if (ready <= 0)
            continue;
        if (ends[1].revents != 0)
            take_output(watch, &watch->out);
        if (ends[2].revents != 0)
            take_output(watch, &watch->err);
        if (ends[0].revents != 0)
            take_signal(watch);
    }
}

static int open_signals(void)
{
    sigset_t all;

    choose_signals(&all);
    return signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* A pipe of which our end does not block. False: errno says why. */
static bool make_pipe(int *ours, int *theirs)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *ours = ends[0];
    *theirs = ends[1];
    return true;
}

static void close_all(const int *fd, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fd[i] >= 0)
            close(fd[i]);
}

/* Returns 0, or what is wrong. */
static int start_watched(struct compare_watch *watch,
                         const struct launch *launch)
{
    struct launch apart = *launch;
    int streams[3] = {watch->child->input, -1, -1};
    int wrong = 0;

    watch->signals = open_signals();
    if (watch->signals < 0 || !make_pipe(&watch->out, &streams[1]) ||
        !make_pipe(&watch->err, &streams[2]))
        wrong = errno;
    apart.streams = streams;
    if (wrong == 0)
        wrong = start_program(&apart, &watch->child->before, &watch->pid);
    close_all(streams + 1, 2);
    if (wrong != 0)
        close_all((int[]){watch->signals, watch->out, watch->err}, 3);
    return wrong;
}

/* Of processes that the program did not wait for, too. */
static double others_in(const struct compare_run *run, double busy_s)
{
    static const double least_s = 0.1; /* the kernel counts in hundredths */

    if (busy_s <= 0 || run->wall_s < least_s)
        return (double)NAN;
    return fmax(0, busy_s - run->cpu_s) / run->wall_s;
}

bool compare_child_run(struct compare_child *child, const struct launch *launch,
                       struct compare_run *out, int *code)
{
    struct compare_watch watch = {
        .child = child, .run = out, .signals = -1, .out = -1, .err = -1};

    *out = (struct compare_run){0};
    child->head_size = child->tail_size = 0;
    child->tail[0] = '\0';
    child->stopped_by = 0;
    takt__sha256_init(&watch.hash);
    if (child->input_start >= 0)
        lseek(child->input, child->input_start, SEEK_SET);
    const double busy_s = takt__cpu_time().busy_s;
    const uint64_t start_ns = takt__now_ns();
    const int wrong = start_watched(&watch, launch);
    if (wrong != 0) {
        *code = refuse_program(launch->program[0], wrong);
        return false;
    }
    await(&watch);
    out->wall_s = (double)(takt__now_ns() - start_ns - watch.stopped_ns) / 1e9;
    out->others = others_in(out, takt__cpu_time().busy_s - busy_s);
    drain(&watch, &watch.out);
    drain(&watch, &watch.err);
    close(watch.signals);
    takt__sha256_finish_hex(&watch.hash, out->output);
    return true;
}
