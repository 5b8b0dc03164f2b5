/* SPDX-License-Identifier: MIT */
/*
 * test_sync_fleet.c - programs have their store synced, one of them at a time,
 * by a process that they never hear of.
 *
 * The tool is a script that writes down how it was called. `test_sync_fleet
 * call` is a program that makes calls.
 */
#define _GNU_SOURCE /* pipe2() */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/detached.h"
#include "store/turn.h"
#include "support/tap.h"
#include <takt/takt.h>

static char folder[] = "/tmp/takt-share-XXXXXX";
static char store[64], tool[64], said[64], lock_file[80], fifo[64];

static const uint64_t patience_ns = 60000000000;

/* ---- help ---- */

static size_t read_said(char *out, size_t size)
{
    const int fd = open(said, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? 0 : read(fd, out, size - 1);

    if (fd >= 0)
        close(fd);
    out[length > 0 ? length : 0] = '\0';
    return strlen(out);
}

/* Waits until the tool has written a line; its text, or "" after a minute. */
static const char *await_line(void)
{
    static char text[4096];
    const uint64_t end_ns = takt__now_ns() + patience_ns;

    while (read_said(text, sizeof text) == 0 ||
           text[strlen(text) - 1] != '\n') {
        if (takt__now_ns() > end_ns)
            return "";
        poll(NULL, 0, 5);
    }
    return text;
}

static void write_tool(const char *text)
{
    const int fd = open(tool, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

    REQUIRE(fd >= 0 && dprintf(fd, "#!/bin/sh\n%s\n", text) > 0);
    close(fd);
    unlink(said);
}

/* The file of the turns as if the last sync were so long ago. */
static void set_age(double age_s)
{
    const time_t then = time(NULL) - (time_t)age_s;
    const struct timespec times[] = {{.tv_sec = then}, {.tv_sec = then}};
    const int fd = open(lock_file, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    REQUIRE(fd >= 0 && futimens(fd, times) == 0);
    close(fd);
}

static int count_lines(void)
{
    char text[4096];
    int lines = 0;

    read_said(text, sizeof text);
    for (const char *at = text; *at != '\0'; at++)
        lines += *at == '\n';
    return lines;
}

/* ---- a process of its own ---- */

static volatile sig_atomic_t children;

static void count_child(int signal)
{
    (void)signal;
    children++;
}

static bool start_tool(unsigned limit_s, int *error)
{
    static const char *const argv[] = {"takt", "hello", NULL};
    static const char *const envp[] = {"HOME=/nowhere", NULL};
    const struct takt_detached what = {
        .path = tool, .argv = argv, .envp = envp, .limit_s = limit_s};

    return takt__start_detached(&what, error);
}

static void a_detached_program_is_nobodys_child(void)
{
    struct sigaction counting = {.sa_handler = count_child};
    int ends[2], error = 0;
    char script[512];
    struct pollfd other = {.events = POLLIN};

    snprintf(
        script, sizeof script,
        "echo \"$1 $HOME $(readlink /proc/$$/fd/[012] | uniq) "
        "$(grep SigBlk /proc/$$/status | tr -d '\\t')\" >> %s\nread x < %s",
        said, fifo);
    write_tool(script);
    REQUIRE(mkfifo(fifo, 0600) == 0 && pipe(ends) == 0);
    sigaction(SIGCHLD, &counting, NULL);
    EXPECT(start_tool(0, &error));
    EXPECT_INT(error, 0);
    close(ends[1]);
    other.fd = ends[0];
    const char *line = await_line();
    EXPECT_STR(line, "hello /nowhere /dev/null SigBlk:0000000000000000\n");
    /* It lives, and has nothing of ours. */
    EXPECT_INT(poll(&other, 1, 0), 1);
    EXPECT(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
    const int go = open(fifo, O_WRONLY | O_CLOEXEC);
    EXPECT(go >= 0 && write(go, "x\n", 2) == 2);
    close(go);
    close(ends[0]);
    EXPECT_INT(children, 0);
    unlink(fifo);
}

static void a_program_that_takes_too_long_is_ended(void)
{
    char script[512];
    int error, fd;

    snprintf(script, sizeof script, "echo x >> %s\nexec sleep 100 > %s", said,
             fifo);
    write_tool(script);
    REQUIRE(mkfifo(fifo, 0600) == 0);
    fd = open(fifo, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    EXPECT(start_tool(1, &error));
    await_line();
    struct pollfd end = {.fd = fd, .events = POLLIN};
    EXPECT_INT(poll(&end, 1, 50000), 1); /* the other end was closed */
    close(fd);
    unlink(fifo);
}

static void what_cannot_be_started_is_an_error(void)
{
    int error = 0;

    unlink(tool);
    EXPECT(!start_tool(0, &error));
    EXPECT_INT(error, ENOENT);
    EXPECT(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD);
}

/* ---- turns ---- */

static void of_many_programs_one_gets_the_turn(void)
{
    enum { programs = 50 };
    int taken = 0, ends[2];
    char byte;

    signal(SIGCHLD, SIG_DFL);
    set_age(5000);
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    for (int i = 0; i < programs; i++)
        if (fork() == 0) {
            close(ends[1]);
            (void)!read(ends[0], &byte, 1); /* until all are there */
            _exit(takt__turn_look(store, 3600, true).is_now);
        }
    close(ends[1]);
    close(ends[0]);
    for (int i = 0; i < programs; i++) {
        int status;
        wait(&status);
        taken += WEXITSTATUS(status);
    }
    EXPECT_INT(taken, 1);
    EXPECT(!takt__turn_look(store, 3600, true).is_now);
}

static void a_turn_comes_after_the_interval_and_a_random_part(void)
{
    struct takt_turn turn;
    double least = 1e9, most = 0;
    struct stat facts;

    for (int i = 0; i < 40; i++) {
        takt__turn_note(store, 1000, "");
        REQUIRE(stat(lock_file, &facts) == 0);
        const double later = (double)facts.st_mtim.tv_sec - (double)time(NULL);
        least = later < least ? later : least;
        most = later > most ? later : most;
    }
    EXPECT(least >= -2 && most <= 250 && most - least > 50);
    set_age(3500);
    EXPECT(!takt__turn_look(store, 3600, true).is_now);
    set_age(-1e6); /* a clock was wrong */
    EXPECT(takt__turn_look(store, 3600, true).is_now);
    unlink(lock_file);
    turn = takt__turn_look(store, 3600, true); /* a machine that is new */
    EXPECT(turn.wait_s <= 60);
    EXPECT_INT(access(lock_file, F_OK), 0);
}

static void whoever_syncs_has_the_turn(void)
{
    set_age(5000);
    const int fd = open(lock_file, O_RDWR | O_CLOEXEC);
    REQUIRE(flock(fd, LOCK_EX) == 0);
    EXPECT(!takt__turn_look(store, 3600, true).is_now);
    close(fd);
    EXPECT(takt__turn_look(store, 3600, false).is_now);
    EXPECT(takt__turn_look(store, 3600, true).is_now);
}

static void what_failed_is_said_to_programs(void)
{
    takt__turn_note(store, 3600, "no route to host");
    EXPECT_STR(takt__turn_look(store, 3600, true).said, "no route to host");
    takt__turn_note(store, 3600, "");
    EXPECT_STR(takt__turn_look(store, 3600, true).said, "");
}

/* It has that name by chance. */
static void a_file_that_is_not_ours_stays_as_it_is(void)
{
    static const char page[] = "years of work ";
    struct stat facts;
    FILE *file = fopen(lock_file, "we");

    REQUIRE(file != NULL);
    for (int i = 0; i < 100; i++)
        fputs(page, file);
    REQUIRE(fclose(file) == 0);
    takt__turn_note(store, 3600, "no route to host");
    EXPECT_INT(takt__turn_look(store, 3600, true).wrong, EEXIST);
    EXPECT(stat(lock_file, &facts) == 0 &&
           facts.st_size == 100 * (sizeof page - 1));
    unlink(lock_file);
    EXPECT_INT(takt__turn_look(store, 3600, true).wrong, 0);
}

/* ---- programs ---- */

/* A program: calls until the tool was started, or for so long. */
static int make_calls(double most_s)
{
    const takt_ctx_options options = {.size = sizeof options,
                                      .store = getenv("SHARED_STORE"),
                                      .gpu = "",
                                      .blas = "",
                                      .telemetry = ""};
    static float x[1 << 16], y[1 << 16];
    const uint64_t end_ns = takt__now_ns() + (uint64_t)(most_s * 1e9);
    const uint64_t least_ns = takt__now_ns() + 200000000;
    takt_ctx *ctx;
    char text[8];

    strcpy(said, getenv("SHARED_SAID"));
    if (takt_ctx_create(&options, &ctx) != TAKT_OK)
        return 2;
    const takt_call call = {.op = takt_op_find("add"),
                            .dtype = TAKT_F32,
                            .shape = {.rank = 1, .dim = {1 << 16}},
                            .in = {x, y},
                            .out = y};
    while (takt__now_ns() < end_ns &&
           (takt__now_ns() < least_ns || read_said(text, sizeof text) == 0))
        takt_run(ctx, &call, NULL);
    takt_ctx_destroy(ctx);
    return 0;
}

static void run_programs(int count, double most_s)
{
    char seconds[32];

    snprintf(seconds, sizeof seconds, "%g", most_s);
    unlink(said);
    setenv("SHARED_STORE", store, 1);
    setenv("SHARED_SAID", said, 1);
    for (int i = 0; i < count; i++)
        if (fork() == 0) {
            execl("/proc/self/exe", "test_sync_fleet", "call", seconds,
                  (char *)NULL);
            _exit(127);
        }
    for (int i = 0; i < count; i++) {
        int status;
        wait(&status);
        EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    }
}

static void one_of_several_programs_starts_a_sync(void)
{
    char script[256], expected[256];

    snprintf(script, sizeof script, "echo \"$* $TAKT_FLEET $PGPASSFILE\" >> %s",
             said);
    write_tool(script);
    set_age(5000);
    setenv("TAKT_FLEET", "host=nowhere", 1);
    setenv("PGPASSFILE", "/secret", 1);
    setenv("TAKT_FLEET_TOOL", tool, 1);
    unsetenv("TAKT_FLEET_EVERY");
    run_programs(4, 60);
    snprintf(expected, sizeof expected,
             "fleet sync --db %s host=nowhere /secret\n", store);
    EXPECT_STR(await_line(), expected);
    EXPECT_INT(count_lines(), 1);
    run_programs(2, 0.3); /* it is not time yet */
    EXPECT_INT(count_lines(), 0);
}

static void nothing_is_started_unless_the_setting_says_so(void)
{
    set_age(5000);
    setenv("TAKT_FLEET_EVERY", "0", 1);
    run_programs(1, 0.3);
    EXPECT_INT(count_lines(), 0);
    unsetenv("TAKT_FLEET_EVERY");
    unsetenv("TAKT_FLEET");
    run_programs(1, 0.3);
    EXPECT_INT(count_lines(), 0);
    setenv("TAKT_FLEET", "host=nowhere", 1);
    setenv("TAKT_FLEET_TOOL", "takt", 1); /* not absolute */
    run_programs(1, 0.3);
    EXPECT_INT(count_lines(), 0);
}

int main(int argc, char **argv)
{
    if (argc > 2)
        return make_calls(strtod(argv[2], NULL));
    REQUIRE(mkdtemp(folder) != NULL);
    snprintf(store, sizeof store, "%s/store.db", folder);
    snprintf(tool, sizeof tool, "%s/tool", folder);
    snprintf(said, sizeof said, "%s/said", folder);
    snprintf(fifo, sizeof fifo, "%s/fifo", folder);
    snprintf(lock_file, sizeof lock_file, "%s-fleet-lock", store);
    RUN(a_detached_program_is_nobodys_child);
    RUN(a_program_that_takes_too_long_is_ended);
    RUN(what_cannot_be_started_is_an_error);
    RUN(of_many_programs_one_gets_the_turn);
    RUN(a_turn_comes_after_the_interval_and_a_random_part);
    RUN(whoever_syncs_has_the_turn);
    RUN(what_failed_is_said_to_programs);
    RUN(a_file_that_is_not_ours_stays_as_it_is);
    RUN(one_of_several_programs_starts_a_sync);
    RUN(nothing_is_started_unless_the_setting_says_so);
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0)
        return 2;
    return tap_done();
}
