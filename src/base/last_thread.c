/* SPDX-License-Identifier: MIT */
/* last_thread.c - the threads of the process, in /proc. */
#define _GNU_SOURCE /* O_CLOEXEC */
#include "base/last_thread.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/thread.h"

static void read_start(const char *path, char *out, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? -1 : read(fd, out, size - 1);

    if (fd >= 0)
        close(fd);
    out[length > 0 ? length : 0] = '\0';
}

/* "1234 (name) Z ...": the name may hold anything. */
static bool has_main_ended(void)
{
    char text[128];

    read_start("/proc/self/stat", text, sizeof text);
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && strncmp(name_end, ") Z", 3) == 0;
}

static bool is_own(const char *number)
{
    char path[64], name[32];

    snprintf(path, sizeof path, "/proc/self/task/%.16s/comm", number);
    read_start(path, name, sizeof name);
    return strncmp(name, TAKT_THREAD_PREFIX, strlen(TAKT_THREAD_PREFIX)) == 0;
}

/* The program's threads have a name of ours for a while, too, in calls of
 * libraries that start threads. */
static bool are_others_own(void)
{
    const unsigned lendings = takt__thread_lendings();
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry;
    bool are_own = folder != NULL;

    while (are_own && (entry = readdir(folder)) != NULL) {
        const long thread = strtol(entry->d_name, NULL, 10);
        are_own = entry->d_name[0] == '.' || thread == getpid() ||
                  (is_own(entry->d_name) && !takt__thread_has_lent(thread));
    }
    if (folder != NULL)
        closedir(folder);
    return are_own && takt__thread_lendings() == lendings;
}

static void *end_program(void *self)
{
    (void)self;
    takt__thread_enter(TAKT_THREAD_PREFIX "exit");
    exit(0);
}

bool takt__exit_if_last(void)
{
    pthread_t thread;

    if (!has_main_ended() || !are_others_own() ||
        !takt__thread_start(&thread, end_program, NULL))
        return false;
    pthread_detach(thread);
    return true;
}
