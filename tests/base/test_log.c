/* SPDX-License-Identifier: MIT */
/* test_log.c - messages for people: levels, once each, to stderr or a program.
 */
#include "base/log.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>

#include "support/child.h"

static struct {
    int count;
    takt_log_level level;
    char text[1100];
} heard;

static void hear(void *self, takt_log_level level, const char *text)
{
    heard.count += *(int *)self;
    heard.level = level;
    snprintf(heard.text, sizeof heard.text, "%s", text);
}

static void listen_at(takt_log_level level)
{
    static int one = 1;

    heard.count = 0;
    REQUIRE(takt_log_set(level, hear, &one) == TAKT_OK);
}

static void levels_have_names(void)
{
    takt_log_level level = TAKT_LOG_OFF;

    EXPECT_STR(takt_log_level_name(TAKT_LOG_ERROR), "error");
    EXPECT_STR(takt_log_level_name((takt_log_level)9), "?");
    EXPECT(takt__log_level_find("Debug", &level));
    EXPECT_INT(level, TAKT_LOG_DEBUG);
    EXPECT(!takt__log_level_find("loud", &level));
}

static void only_the_level_that_was_asked_for_is_emitted(void)
{
    listen_at(TAKT_LOG_ERROR);
    takt__log(TAKT_LOG_INFO, "too detailed");
    EXPECT_INT(heard.count, 0);
    takt__log(TAKT_LOG_ERROR, "%s is %d", "seven", 7);
    EXPECT_INT(heard.count, 1);
    EXPECT_INT(heard.level, TAKT_LOG_ERROR);
    EXPECT_STR(heard.text, "seven is 7");
    listen_at(TAKT_LOG_OFF);
    takt__log(TAKT_LOG_ERROR, "to nobody");
    EXPECT_INT(heard.count, 0);
}

static void a_text_is_emitted_once(void)
{
    listen_at(TAKT_LOG_ERROR);
    for (int i = 0; i < 3; i++)
        takt__log(TAKT_LOG_ERROR, "the same");
    EXPECT_INT(heard.count, 1);
    takt__log(TAKT_LOG_ERROR, "another");
    EXPECT_INT(heard.count, 2);
}

static void a_long_text_is_cut(void)
{
    listen_at(TAKT_LOG_ERROR);
    takt__log(TAKT_LOG_ERROR, "%2000d", 1);
    EXPECT_INT(heard.count, 1);
    EXPECT_INT(strlen(heard.text), 1023);
}

static void a_message_is_one_line(void)
{
    listen_at(TAKT_LOG_ERROR);
    takt__log(TAKT_LOG_ERROR, "of %s", "two\nlines\x1b[2J");
    EXPECT_STR(heard.text, "of two?lines?[2J");
    takt__log(TAKT_LOG_ERROR, "%s",
              "\u202eJ\u00f6rg\u20ac\xc2\x9b\x9b\xe2\x80");
    EXPECT_STR(heard.text, "???J\u00f6rg\u20ac?????");
}

static void a_level_that_is_none_changes_nothing(void)
{
    listen_at(TAKT_LOG_ERROR);
    EXPECT_INT(takt_log_set((takt_log_level)4, NULL, NULL), TAKT_EINVAL);
    takt__log(TAKT_LOG_ERROR, "still heard");
    EXPECT_INT(heard.count, 1);
}

static void what_the_program_set_outlives_the_environment(void)
{
    listen_at(TAKT_LOG_ERROR);
    takt__log_default(TAKT_LOG_OFF);
    takt__log(TAKT_LOG_ERROR, "the program wants it");
    EXPECT_INT(heard.count, 1);
}

static void flood(void)
{
    listen_at(TAKT_LOG_ERROR);
    for (int i = 0; i < 5000; i++)
        takt__log(TAKT_LOG_ERROR, "changing words %d", i);
    EXPECT(heard.count > 0 && heard.count <= 256);
}

static void a_failure_that_repeats_cannot_flood(void)
{
    in_child(flood);
}

static void write_to_a_pipe(void)
{
    int ends[2];
    char line[64] = "";

    REQUIRE(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    REQUIRE(takt_log_set(TAKT_LOG_INFO, NULL, NULL) == TAKT_OK);
    takt__log(TAKT_LOG_INFO, "to people");
    EXPECT_INT(read(ends[0], line, sizeof line - 1), 16);
    EXPECT_STR(line, "takt: to people\n");
}

static void without_a_function_a_line_goes_to_stderr(void)
{
    in_child(write_to_a_pipe);
}

static bool is_pending(int number)
{
    sigset_t pending;

    return sigpending(&pending) == 0 && sigismember(&pending, number) == 1;
}

/* The line is lost, and the program goes on: no signal comes, now or when it
 * takes signals again, but for one that was its own. */
static void write_to_a_broken_pipe(void)
{
    int ends[2];
    sigset_t set, before;

    REQUIRE(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) >= 0);
    close(ends[0]);
    REQUIRE(takt_log_set(TAKT_LOG_INFO, NULL, NULL) == TAKT_OK);
    takt__log(TAKT_LOG_INFO, "to nobody");
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    REQUIRE(sigprocmask(SIG_BLOCK, &set, &before) == 0);
    takt__log(TAKT_LOG_INFO, "to nobody either");
    EXPECT(!is_pending(SIGPIPE));
    raise(SIGPIPE);
    takt__log(TAKT_LOG_INFO, "nor this");
    EXPECT(is_pending(SIGPIPE));
}

static void a_broken_pipe_does_not_end_the_program(void)
{
    in_child(write_to_a_broken_pipe);
}

int main(void)
{
    RUN(a_failure_that_repeats_cannot_flood);
    RUN(without_a_function_a_line_goes_to_stderr);
    RUN(a_broken_pipe_does_not_end_the_program);
    RUN(levels_have_names);
    RUN(only_the_level_that_was_asked_for_is_emitted);
    RUN(a_text_is_emitted_once);
    RUN(a_long_text_is_cut);
    RUN(a_message_is_one_line);
    RUN(a_level_that_is_none_changes_nothing);
    RUN(what_the_program_set_outlives_the_environment);
    return tap_done();
}
