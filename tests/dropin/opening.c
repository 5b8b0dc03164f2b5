/* SPDX-License-Identifier: MIT */
/*
 * opening.c - programs that do something while a thread of the interposer is
 * opening Takt.
 *
 * usage: opening WHAT
 */
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "program.h"

enum { order = 64, longest_s = 60 };

static _Atomic bool is_over;

static void nap(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

/* Whether the call came to the library. */
static bool multiply(void)
{
    static _Thread_local double a[order * order], c[order * order];
    const uint64_t before = baseline_calls();

    cblas_dgemm(101, 111, 111, order, order, order, 1, a, order, a, order, 0, c,
                order);
    return baseline_calls() != before;
}

static void *keep_multiplying(void *self)
{
    while (!atomic_load(&is_over))
        multiply();
    return self;
}

/* ---- exit() ---------------------------------------------------------------
 * slow_takt.c makes the first file, and goes on a moment after the second.
 */

static int leaves(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, keep_multiplying, NULL) != 0)
        return 1;
    while (access("opening", F_OK) != 0)
        nap();
    close(open("leaving", O_CREAT | O_WRONLY, 0600));
    exit(0);
}

static bool is_mapped(const char *library)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    bool is_found = false;

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        is_found |= strstr(line, library) != NULL;
    if (maps != NULL)
        fclose(maps);
    return is_found;
}

static bool is_late;

/* With calls for which Takt would be opened at any other time. */
__attribute__((destructor)) static void end(void)
{
    for (int i = 0; is_late && i < 200; i++)
        multiply();
    if (is_late)
        printf("%s\n", is_mapped("/libtakt.so") ? "opened" : "not opened");
}

static int calls_late(void)
{
    multiply();
    is_late = true;
    return 0;
}

/* ---- fork() ---------------------------------------------------------------
 */

static bool is_opening_thread(const char *task)
{
    char path[300], name[32] = "";

    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task);
    const int file = open(path, O_RDONLY);
    const ssize_t length = read(file, name, sizeof name - 1);
    close(file);
    return length > 0 && strcmp(name, "takt-open\n") == 0;
}

static bool is_opening(void)
{
    DIR *tasks = opendir("/proc/self/task");
    const struct dirent *task;
    bool is_found = false;

    while (tasks != NULL && (task = readdir(tasks)) != NULL)
        is_found |= is_opening_thread(task->d_name);
    closedir(tasks);
    return is_found;
}

static pthread_t caller;

/* Registered first, so run last: the interposer has prepared for the fork. */
static void begin_opening(void)
{
    if (pthread_create(&caller, NULL, keep_multiplying, NULL) != 0)
        abort();
    while (!is_opening())
        nap();
    atomic_store(&is_over, true);
}

/* The child's calls are routed in the end. */
static int forks(void)
{
    int status = 0;

    pthread_atfork(begin_opening, NULL, NULL);
    cblas_ddot(1, &(double){1}, 1, &(double){1}, 1);
    const pid_t child = fork();
    if (child == 0) {
        alarm(longest_s);
        while (multiply())
            continue;
        _exit(3);
    }
    pthread_join(caller, NULL);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int count, char **words)
{
    alarm(longest_s);
    if (count > 1 && strcmp(words[1], "leaves") == 0)
        return leaves();
    if (count > 1 && strcmp(words[1], "calls_late") == 0)
        return calls_late();
    if (count > 1 && strcmp(words[1], "forks") == 0)
        return forks();
    fprintf(stderr, "usage: opening WHAT\n");
    return 2;
}
