/* SPDX-License-Identifier: MIT */
/* test_last_thread.c - which threads keep a program alive whose main one ended.
 */
#define _GNU_SOURCE /* pthread_setname_np() */
#include <sched.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/last_thread.h"
#include "base/thread.h"
#include "support/tap.h"

enum { stayed = 3 };

static bool has_main_ended(void)
{
    char text[128] = "";
    FILE *file = fopen("/proc/self/stat", "re");

    if (file == NULL)
        return true;
    const size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    return strstr(text, ") Z") != NULL;
}

/* As Takt's workers do while the program is in a call. */
static void *look(void *self)
{
    (void)self;
    takt__thread_enter("takt-test");
    if (!takt__exit_if_last())
        _exit(stayed);
    for (;;)
        pause(); /* until the program has ended */
    return NULL;
}

static void *lend(void *self)
{
    pthread_t thread;

    (void)self;
    while (!has_main_ended())
        sched_yield();
    takt__thread_name_lend("takt-library");
    if (!takt__thread_start(&thread, look, NULL))
        _exit(stayed);
    for (;;)
        pause();
    return NULL;
}

static void end_main(void *run(void *self))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, run, NULL) != 0)
        _exit(4);
    pthread_exit(NULL);
}

static int status_of(void *run(void *self))
{
    const pid_t child = fork();
    int status = 0;

    if (child == 0)
        end_main(run);
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_thread_that_has_lent_its_name_is_the_programs(void)
{
    EXPECT_INT(status_of(lend), stayed);
}

static void *wait_for_main(void *self)
{
    while (!has_main_ended())
        sched_yield();
    return look(self);
}

static void beside_own_threads_alone_the_program_ends(void)
{
    EXPECT_INT(status_of(wait_for_main), 0);
}

static void a_name_comes_back(void)
{
    char name[16];
    const unsigned lendings = takt__thread_lendings();

    REQUIRE(pthread_setname_np(pthread_self(), "mine") == 0);
    const struct takt_thread_name before =
        takt__thread_name_lend("takt-library");
    EXPECT(takt__thread_has_lent(getpid()));
    takt__thread_name_back(before);
    EXPECT(!takt__thread_has_lent(getpid()));
    EXPECT(takt__thread_lendings() != lendings);
    REQUIRE(pthread_getname_np(pthread_self(), name, sizeof name) == 0);
    EXPECT_STR(name, "mine");
}

int main(void)
{
    RUN(a_thread_that_has_lent_its_name_is_the_programs);
    RUN(beside_own_threads_alone_the_program_ends);
    RUN(a_name_comes_back);
    return tap_done();
}
