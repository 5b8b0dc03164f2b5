/* SPDX-License-Identifier: MIT */
/*
 * quiet.c - forks of tests under AddressSanitizer.
 *
 * The locks of its allocator are copied as they are: a child that is made while
 * another thread allocates, if only because it starts, waits for ever. So
 * fork() waits until all other threads sleep. It does so when it has taken
 * Takt's locks, with which Takt's own threads come to rest: handlers run in the
 * reverse order of their registration.
 */
#define _GNU_SOURCE /* gettid() */
#include <dirent.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool sleeps(const char *thread)
{
    char path[64], text[128] = "";

    snprintf(path, sizeof path, "/proc/self/task/%.16s/stat", thread);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return true; /* it has ended */
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    const char *state = strrchr(text, ')');
    return state == NULL || strncmp(state, ") S", 3) == 0;
}

static bool all_sleep(void)
{
    DIR *threads = opendir("/proc/self/task");
    bool do_all = true;

    if (threads == NULL)
        return true;
    for (const struct dirent *one; (one = readdir(threads)) != NULL;)
        if (one->d_name[0] != '.' && atoi(one->d_name) != gettid())
            do_all = do_all && sleeps(one->d_name);
    closedir(threads);
    return do_all;
}

/* Not for ever: some tests fork while threads of theirs compute, and those do
 * so again and again. */
static void before_fork(void)
{
    static int most_ms = 200;
    int waited_ms = 0;

    while (waited_ms < most_ms && !all_sleep()) {
        usleep(1000);
        waited_ms++;
    }
    if (waited_ms == most_ms)
        most_ms = 5;
}

/* Before Takt registers its own. */
__attribute__((constructor(101))) static void watch(void)
{
    (void)pthread_atfork(before_fork, NULL, NULL);
}
