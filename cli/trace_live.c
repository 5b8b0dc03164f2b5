/* SPDX-License-Identifier: MIT */
/*
 * trace_live.c - programs that connect while they run.
 *
 * Programs come to the reader: it listens on a socket in a folder that is its
 * user's alone. A program that it started has the path in TAKT_TRACE; one that
 * runs already checks now and then whether a reader listens for it.
 */
#define _GNU_SOURCE /* struct ucred, syscall() */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "clean.h"
#include "telemetry/listener.h"
#include "trace.h"

enum {
    most_inlets = 256,
    poll_ms = 200,
    patience_ms = 2000, /* until a message says that nothing connects */
    grace_ms = 500      /* for what is under way when the program has ended */
};

struct live {
    struct trace *trace;
    long pid;  /* of the program that runs already; 0: a child's */
    int pidfd; /* the same, whatever becomes of the number; -1: none */
    struct trace_child child; /* the program that was started */
    int signals;
    struct trace_place place[most_trace_places];
    size_t place_count;
    struct inlet *inlet[most_inlets]; /* owned */
    size_t inlet_count;
    bool has_connected, is_asked_to_end;
};

/* ---- connections ---- */

/* The state and the parent of a process. False: there is no such process. */
static bool read_stat(long pid, char *state, long *parent)
{
    char path[64], line[512];

    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t length = read(fd, line, sizeof line - 1);
    close(fd);
    line[length > 0 ? length : 0] = '\0';
    const char *name_end = strrchr(line, ')'); /* a name may have some, too */
    return name_end != NULL && sscanf(name_end, ") %c %ld", state, parent) == 2;
}

/* Whether the process with that number has ended, though its parent may not
 * know yet. */
static bool is_gone(long pid)
{
    char state;
    long parent;

    return !read_stat(pid, &state, &parent) || state == 'Z' || state == 'X';
}

/* Whether the program that is traced has ended. */
static bool has_ended(const struct live *live)
{
    struct pollfd end = {.fd = live->pidfd, .events = POLLIN};

    return live->pidfd >= 0 ? poll(&end, 1, 0) != 0 : is_gone(live->pid);
}

/* Whether a process is the one that is traced, or was forked by it. */
static bool is_of_program(const struct live *live, long pid)
{
    enum { most_generations = 64 };
    char state;

    for (int i = 0; i < most_generations && pid > 1; i++) {
        if (pid == live->pid) /* if it is not another one with its number */
            return !has_ended(live) || is_gone(pid);
        if (!read_stat(pid, &state, &pid))
            return false;
    }
    return false;
}

/* Any process that can open the folder can connect. Only records of the
 * program itself are shown. */
static void accept_all(struct live *live, int listener)
{
    pid_t peer;
    int fd;

    while ((fd = accept_program(listener, &peer)) >= 0) {
        const bool is_shown = live->pid == 0 || is_of_program(live, peer);
        struct inlet *inlet = live->inlet_count < most_inlets && is_shown
                                  ? malloc(sizeof *inlet)
                                  : NULL;
        if (inlet == NULL) {
            close(fd);
            continue;
        }
        inlet->fd = fd;
        inlet->length = 0;
        live->inlet[live->inlet_count++] = inlet;
        greet_program(fd, (struct takt_trace_greeting){
                              .wants_all = live->trace->wants_all});
    }
}

/* One look at a connection, so that none keeps the others waiting. */
static void read_inlet(struct live *live, size_t index)
{
    struct inlet *inlet = live->inlet[index];
    const ssize_t got = take_bytes(live->trace, inlet);

    live->has_connected |= got > 0;
    if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
        return;
    take_rest(live->trace, inlet);
    close(inlet->fd);
    free(inlet);
    live->inlet[index] = live->inlet[--live->inlet_count];
}

/* ---- the loop ---- */

/* A terminal sends ^C to the program as well, but a hangup to the first process
 * of a session alone. */
static bool has_reached_both(const struct signalfd_siginfo *signal)
{
    return signal->ssi_code > 0 &&
           (signal->ssi_signo != SIGHUP || getsid(0) != getpid());
}

/* What has not reached the program is passed on. Without a child, signals end
 * the reader. */
static void take_signals(struct live *live)
{
    struct signalfd_siginfo signal;

    while (read(live->signals, &signal, sizeof signal) == sizeof signal) {
        if (signal.ssi_signo == SIGCHLD)
            continue;
        if (live->pid != 0)
            live->is_asked_to_end = true;
        else if (!has_reached_both(&signal) && !child_poll(&live->child))
            kill(live->child.pid, (int)signal.ssi_signo);
    }
}

/* Waits for something to happen, and does what follows. */
static void turn_once(struct live *live)
{
    struct pollfd wanted[1 + most_trace_places + most_inlets];
    const size_t places = live->place_count, inlets = live->inlet_count;
    const size_t count = 1 + places + inlets;

    for (size_t i = 0; i < count; i++)
        wanted[i] = (struct pollfd){.fd = i == 0 ? live->signals
                                          : i <= places
                                              ? live->place[i - 1].fd
                                              : live->inlet[i - 1 - places]->fd,
                                    .events = POLLIN};
    if (poll(wanted, (nfds_t)count, poll_ms) <= 0)
        return;
    if (wanted[0].revents != 0)
        take_signals(live);
    for (size_t i = inlets; i-- > 0;) /* the last moves to a free index */
        if (wanted[1 + places + i].revents != 0)
            read_inlet(live, i);
    for (size_t i = 0; i < places; i++)
        if (wanted[1 + i].revents != 0)
            accept_all(live, live->place[i].fd);
    fflush(live->trace->out);
    if (live->trace->record != NULL)
        fflush(live->trace->record);
}

static bool is_over(struct live *live)
{
    if (live->pid == 0)
        return child_poll(&live->child);
    return live->is_asked_to_end || has_ended(live);
}

/* Until the program has ended, or time is up. */
static void follow(struct live *live)
{
    const uint64_t start_ns = takt__now_ns();
    const double for_s = live->trace->for_s;
    bool has_noted = live->pid == 0;

    while (!is_over(live) && !ferror(live->trace->out)) {
        const double past_s = (double)(takt__now_ns() - start_ns) * 1e-9;
        if (for_s > 0 && past_s >= for_s)
            return;
        if (!has_noted && past_s * 1000 >= patience_ms) {
            if (!live->has_connected)
                fprintf(stderr,
                        "takt trace: nothing from process %ld yet: is it using "
                        "Takt, and calling it just now? (^C ends)\n",
                        live->pid);
            has_noted = true;
        }
        turn_once(live);
    }
    /* What was sent before the end is still to be read. */
    const uint64_t end_ns = takt__now_ns() + (uint64_t)grace_ms * 1000000;
    for (size_t i = 0; i < live->place_count; i++)
        accept_all(live, live->place[i].fd);
    while (!live->is_asked_to_end && live->inlet_count > 0 &&
           takt__now_ns() < end_ns)
        turn_once(live);
}

static void let_go(struct live *live)
{
    close_places(live->place, live->place_count);
    live->place_count = 0;
    for (size_t i = 0; i < live->inlet_count; i++) {
        close(live->inlet[i]->fd);
        free(live->inlet[i]);
    }
    live->inlet_count = 0;
}

static bool begin(struct live *live, struct trace *trace)
{
    live->trace = trace;
    live->signals = open_signals();
    signal(SIGPIPE, SIG_IGN); /* the reader of our lines may close them */
    gauge_open(&trace->gauge, trace->store);
    return live->signals >= 0;
}

/* ---- a program that runs already ---- */

/* False: it said why. */
static bool is_traceable(const struct trace *trace, const char *word, long pid)
{
    struct stat facts;
    char path[64];

    snprintf(path, sizeof path, "/proc/%ld", pid);
    if (pid <= 0 || stat(path, &facts) != 0)
        return reject(trace->command,
                      "there is no process %s (a file of that name: ./%s)",
                      word, word);
    if (facts.st_uid != geteuid())
        return reject(trace->command,
                      "process %s is not yours: run takt trace as its user "
                      "(number %lu)",
                      word, (unsigned long)facts.st_uid);
    return true;
}

static bool listen_for(struct live *live)
{
    char who[32];

    snprintf(who, sizeof who, "process %ld", live->pid);
    live->place_count =
        listen_in_folders(live->trace->command,
                          takt__listener_name(live->pid).at, who, live->place);
    return live->place_count > 0;
}

int trace_process(struct trace *trace, const char *word)
{
    struct live *live = calloc(1, sizeof *live);
    const long pid = strlen(word) < 10 ? strtol(word, NULL, 10) : 0;
    int code = EXIT_FINDING;

    trace->tally.lacks_memory |= live == NULL;
    if (live == NULL)
        return EXIT_FINDING;
    live->pid = pid;
    live->pidfd = pid > 0 ? (int)syscall(SYS_pidfd_open, (pid_t)pid, 0) : -1;
    if (!is_traceable(trace, word, pid)) {
        close(live->pidfd);
        free(live);
        return EXIT_USAGE;
    }
    if (begin(live, trace) && listen_for(live)) {
        follow(live);
        code = live->has_connected ? EXIT_DONE : EXIT_FINDING;
        if (live->has_connected)
            print_summary(trace);
        else
            fprintf(stderr, "takt trace: process %ld told nothing\n", pid);
    }
    let_go(live);
    close(live->signals);
    close(live->pidfd);
    free(live);
    return code;
}

/* ---- a program that is started ---- */

/* What a reader of the trace would wonder about. */
static void explain_command(const struct live *live, const char *name)
{
    const bool is_routed = live->child.is_routed;

    if (live->has_connected && is_routed && !live->trace->is_json &&
        !live->trace->is_converted)
        print_line(live->trace->out,
                   "'%s' is not linked with libtakt: its BLAS calls were "
                   "routed, as by 'takt run' (--as-is does not)",
                   name);
    else if (!live->has_connected && is_routed)
        print_line(stderr,
                   "takt trace: '%s' told nothing: it is not linked with "
                   "libtakt, and made no BLAS calls that were worth routing",
                   name);
    else if (!live->has_connected)
        print_line(stderr, "takt trace: '%s' told nothing: does it use Takt?",
                   name);
}

static void run_and_follow(struct live *live, char *const *program)
{
    if (!child_start(&live->child, program, live->place[0].path,
                     live->trace->as_is))
        return;
    follow(live);
    let_go(live);
    if (live->has_connected)
        print_summary(live->trace);
    explain_command(live, program[0]);
    while (!child_poll(&live->child)) /* time was up before it ended */
        turn_once(live);
}

int trace_program(struct trace *trace, char *const *program)
{
    struct live *live = calloc(1, sizeof *live);
    char folder[] = "/tmp/takt-trace-XXXXXX", path[sizeof folder + 8];
    int code = EXIT_FINDING;

    trace->tally.lacks_memory |= live == NULL;
    if (live == NULL)
        return EXIT_FINDING;
    if (begin(live, trace) && mkdtemp(folder) != NULL) {
        snprintf(path, sizeof path, "%s/trace", folder);
        live->place_count = listen_on(path, &live->place[0]);
        if (live->place_count > 0) {
            run_and_follow(live, program);
            code = live->child.code;
        } else {
            fprintf(stderr, "takt trace: '%s': %s\n", path, strerror(errno));
        }
        let_go(live);
        rmdir(folder);
    } else {
        fprintf(stderr, "takt trace: '%s': %s\n", folder, strerror(errno));
    }
    close(live->signals);
    free(live);
    return code;
}
