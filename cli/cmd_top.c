/* SPDX-License-Identifier: MIT */
/* cmd_top.c - `takt top`: programs that use Takt, live. */
#include <errno.h>
#include <float.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "clean.h"
#include "commands.h"
#include "context.h"
#include "telemetry/listener.h"
#include "text/memory_file.h"
#include "top.h"
#include "trace.h"

enum { most_programs = 512 };

/* A program that is connected. */
struct connection {
    int fd;
    uint64_t number; /* no two have the same */
    size_t length;
    unsigned char bytes[16 * 1024];
};

struct top {
    const struct command *command;
    struct top_model model;
    struct top_view view;
    uint64_t selected; /* the program under the bar; 0: none */
    struct trace_place place[most_trace_places];
    size_t place_count;
    struct connection *connection[most_programs]; /* owned */
    size_t connection_count;
    uint64_t connected; /* connections so far */
    int signals;
    unsigned every_ms;
    bool has_screen, is_json, is_over;
    struct termios before;
};

/* ---- programs ---- */

static void accept_programs(struct top *top, int listener)
{
    pid_t pid;
    int fd;

    while ((fd = accept_program(listener, &pid)) >= 0) {
        struct connection *new =
            top->connection_count < most_programs ? malloc(sizeof *new) : NULL;
        if (new == NULL) {
            close(fd);
            continue;
        }
        new->fd = fd;
        new->number = ++top->connected;
        new->length = 0;
        top->connection[top->connection_count++] = new;
        greet_program(fd,
                      (struct takt_trace_greeting){.metrics_ms = top->every_ms,
                                                   .wants_no_events = 1});
    }
}

static size_t take_records(struct top *top, struct connection *from)
{
    struct takt_trace_record record;
    size_t at = 0, used = 0;

    for (; at < from->length; at += used) {
        const enum takt_trace_outcome outcome = takt__trace_decode(
            from->bytes + at, from->length - at, &record, &used);
        if (outcome == TAKT_TRACE_SHORT)
            break;
        if (outcome == TAKT_TRACE_FOUND)
            top_take(&top->model, from->number, &record);
    }
    return at;
}

/* One read, so that none keeps the others waiting. */
static void read_program(struct top *top, size_t index)
{
    struct connection *from = top->connection[index];
    const ssize_t got = read(from->fd, from->bytes + from->length,
                             sizeof from->bytes - from->length);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got > 0) {
        from->length += (size_t)got;
        const size_t used = take_records(top, from);
        from->length -= used;
        memmove(from->bytes, from->bytes + used, from->length);
        return;
    }
    top_end(&top->model, from->number, takt__now_ns());
    close(from->fd);
    free(from);
    top->connection[index] = top->connection[--top->connection_count];
}

/* ---- the terminal ---- */

static void read_size(struct top *top)
{
    struct winsize size;

    top->view.width = 80;
    top->view.height = 24;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 &&
        size.ws_row > 0) {
        top->view.width = size.ws_col;
        top->view.height = size.ws_row;
    }
}

static void enter_screen(struct top *top)
{
    struct termios raw;

    top->has_screen = !top->is_json && isatty(STDOUT_FILENO) &&
                      isatty(STDIN_FILENO) &&
                      tcgetattr(STDIN_FILENO, &top->before) == 0;
    if (!top->has_screen)
        return;
    raw = top->before;
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    fputs("\033[?1049h\033[?25l\033[2J", stdout);
    read_size(top);
}

static void leave_screen(struct top *top)
{
    if (!top->has_screen)
        return;
    fputs("\033[?25h\033[?1049l", stdout);
    fflush(stdout);
    tcsetattr(STDIN_FILENO, TCSANOW, &top->before);
}

static void draw(struct top *top)
{
    struct takt_memory_file out;

    if (!takt__memory_file_open(&out))
        return;
    top->selected = draw_screen(out.stream, &top->model, &top->view);
    if (takt__memory_file_close(&out)) {
        fwrite(out.text, 1, out.length, stdout);
        fflush(stdout);
    }
    free(out.text);
}

/* ---- keys ---- */

static void type_filter(struct top_view *view, char key)
{
    const size_t length = strlen(view->filter);

    if (key == '\r' || key == '\n' || key == '\033')
        view->is_typing = false;
    else if (key == 127 || key == '\b')
        view->filter[length > 0 ? length - 1 : 0] = '\0';
    else if (key >= ' ' && key < 127 && length + 1 < sizeof view->filter)
        view->filter[length] = key, view->filter[length + 1] = '\0';
}

static void press(struct top *top, char key)
{
    struct top_view *view = &top->view;

    if (view->is_typing) {
        type_filter(view, key);
        return;
    }
    switch (key) {
    case 'q':
        top->is_over = true;
        break;
    case 'p':
        view->is_paused = !view->is_paused;
        break;
    case 's':
        view->order = (enum top_order)((view->order + 1) % top_orders);
        break;
    case '/':
        view->is_typing = true;
        view->filter[0] = '\0';
        break;
    case 'k':
        view->selected -= view->selected > 0;
        break;
    case 'j':
        view->selected++;
        break;
    case '\r':
    case '\n':
        if (view->pid == 0 && top->selected != 0)
            view->pid = top->selected, view->selected = 0;
        break;
    case '\033':
    case 127:
        view->pid = 0;
        break;
    }
}

/* Arrows come as Escape, [ and a letter. */
static void take_keys(struct top *top)
{
    char keys[64];
    const ssize_t got = read(STDIN_FILENO, keys, sizeof keys);

    for (ssize_t i = 0; i < got; i++) {
        const bool is_arrow =
            keys[i] == '\033' && i + 2 < got && keys[i + 1] == '[';
        if (is_arrow && (keys[i + 2] == 'A' || keys[i + 2] == 'B'))
            press(top, keys[i + 2] == 'A' ? 'k' : 'j');
        else if (!is_arrow)
            press(top, keys[i]);
        i += is_arrow ? 2 : 0;
    }
    draw(top);
}

/* ---- the loop ---- */

static void take_signals(struct top *top)
{
    struct signalfd_siginfo signal;

    while (read(top->signals, &signal, sizeof signal) == sizeof signal) {
        if (signal.ssi_signo == SIGWINCH)
            read_size(top);
        else
            top->is_over = true;
    }
}

/* Waits until something comes, or for so long. */
static void wait_once(struct top *top, int timeout_ms)
{
    static struct pollfd wanted[2 + most_trace_places + most_programs];
    const size_t places = top->place_count, programs = top->connection_count;
    size_t count = 0;

    wanted[count++] = (struct pollfd){.fd = top->signals, .events = POLLIN};
    wanted[count++] = (struct pollfd){.fd = top->has_screen ? STDIN_FILENO : -1,
                                      .events = POLLIN};
    for (size_t i = 0; i < places; i++)
        wanted[count++] =
            (struct pollfd){.fd = top->place[i].fd, .events = POLLIN};
    for (size_t i = 0; i < programs; i++)
        wanted[count++] =
            (struct pollfd){.fd = top->connection[i]->fd, .events = POLLIN};
    if (poll(wanted, (nfds_t)count, timeout_ms) <= 0)
        return;
    if (wanted[0].revents != 0)
        take_signals(top);
    top->is_over |= (wanted[1].revents & (POLLHUP | POLLERR)) != 0;
    if ((wanted[1].revents & POLLIN) != 0)
        take_keys(top);
    for (size_t i = programs; i-- > 0;) /* the last moves to a free index */
        if (wanted[2 + places + i].revents != 0)
            read_program(top, i);
    for (size_t i = 0; i < places; i++)
        if (wanted[2 + i].revents != 0)
            accept_programs(top, top->place[i].fd);
}

static void show(struct top *top, uint64_t now_ns)
{
    top_age(&top->model, now_ns);
    top_read_gains(&top->model, now_ns);
    top_find_others(&top->model, now_ns);
    if (top->is_json)
        print_top_json(stdout, &top->model);
    else if (!top->view.is_paused)
        draw(top);
    top->is_over |= ferror(stdout) != 0;
}

static void follow(struct top *top, double every_s, double for_s)
{
    const uint64_t start_ns = takt__now_ns();
    const uint64_t every_ns = (uint64_t)(every_s * 1e9);
    uint64_t next_ns = start_ns + (top->is_json ? every_ns : 0);

    while (!top->is_over) {
        const uint64_t now_ns = takt__now_ns();
        if (now_ns >= next_ns) {
            show(top, now_ns);
            next_ns = now_ns + every_ns;
        }
        if (for_s > 0 && (double)(now_ns - start_ns) * 1e-9 >= for_s)
            return;
        wait_once(top, (int)((next_ns - now_ns) / 1000000) + 1);
    }
}

static bool open_top(struct top *top)
{
    sigset_t more;

    top->signals = open_signals();
    sigemptyset(&more);
    sigaddset(&more, SIGWINCH);
    sigaddset(&more, SIGINT);
    sigaddset(&more, SIGTERM);
    sigaddset(&more, SIGHUP);
    sigaddset(&more, SIGQUIT);
    if (top->signals < 0 || sigprocmask(SIG_BLOCK, &more, NULL) != 0 ||
        signalfd(top->signals, &more, 0) < 0)
        return complain(top->command, "%s", strerror(errno)), false;
    signal(SIGPIPE, SIG_IGN);
    top->place_count = listen_in_folders(
        top->command, takt__listener_name(0).at, "every program", top->place);
    return top->place_count > 0;
}

static void close_top(struct top *top)
{
    close_places(top->place, top->place_count);
    for (size_t i = 0; i < top->connection_count; i++) {
        close(top->connection[i]->fd);
        free(top->connection[i]);
    }
    if (top->signals >= 0)
        close(top->signals);
    top_free(&top->model);
    free(top);
}

static int run(const struct invocation *invocation)
{
    struct top *top = calloc(1, sizeof *top);
    double every_s = 1, for_s = 0;
    int code = EXIT_USAGE;

    if (top == NULL)
        return complain(invocation->command, "%s", strerror(ENOMEM));
    top->command = invocation->command;
    top->signals = -1;
    top->is_json = option_given(invocation, "json");
    top->view.order = by_busy;
    top->view.has_colour = wants_colour(stdout);
    if (read_rate_option(invocation, "every", 3600, "is no time (at most 3600)",
                         &every_s) &&
        read_rate_option(invocation, "for", DBL_MAX, "is no time", &for_s)) {
        code = EXIT_FINDING;
        every_s = every_s < 0.1 ? 0.1 : every_s;
        top->every_ms = (unsigned)(every_s * 1000);
        if (!top->is_json && !isatty(STDOUT_FILENO))
            usage_error(top->command, "standard output is no terminal: use "
                                      "--json");
        else if (open_top(top)) {
            enter_screen(top);
            follow(top, every_s, for_s);
            leave_screen(top);
            code = EXIT_DONE;
        }
    }
    close_top(top);
    return code;
}

const struct command cmd_top = {
    .name = "top",
    .operands = "",
    .summary = "watch the programs on this machine that use Takt",
    .description =
        "A live view of all programs that use Takt or run under "
        "'takt run'; interpreters have the name of their script. It shows "
        "calls per second, without those that stay in a library of the "
        "program's own; the share of a core that they take (busy; above 100% "
        "when several threads call); the mean time of a call; the op that "
        "takes most and the expert that runs it; the share of the time on a "
        "GPU; what a program under 'takt run --report' has gained, measured; "
        "and how often an expert changed its speed (drift). Programs need no "
        "preparation; they are noticed within a second or two while they make "
        "calls.\n"
        "Keys: q quit, p pause, s sort by another column, / filter by name, "
        "arrows or j and k select, Enter opens a program (by op and expert), "
        "Esc goes back.\n"
        "Programs send their figures to their own user alone, not even to "
        "root. "
        "Those of other users are listed by name; to watch them, run 'takt "
        "top' as that user.",
    .options = {{"every", "SECONDS", NULL,
                 "time between two updates (default 1)"},
                {"for", "SECONDS", NULL, "stop after so many seconds"},
                {"json", NULL, NULL, "print a JSON object per update instead"}},
    .examples = {"takt top", "takt top --every 5",
                 "takt top --json --for 10 | tail -n 1"},
    .run = run,
};
