/* SPDX-License-Identifier: MIT */
/*
 * top_others.c - programs of other users that use Takt.
 *
 * They send to their own user alone. What every user may read of them is in
 * /proc: their names, and those of their threads, of which Takt's have a prefix
 * of their own.
 */
#include <dirent.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "top.h"

enum { most_others = 512 };

/* At least so long between two searches, and so many times as long as one
 * takes: 0.2% of a core at most. */
static const uint64_t every_ns = 1000000000, times_as_long = 500;

/* Reads the name of a process or thread. */
static bool read_name(const char *folder, char *out, size_t size)
{
    char path[128];

    snprintf(path, sizeof path, "%s/comm", folder);
    FILE *file = fopen(path, "re");
    const bool is_read = file != NULL && fgets(out, (int)size, file) != NULL;
    if (file != NULL)
        fclose(file);
    if (is_read)
        out[strcspn(out, "\n")] = '\0';
    return is_read;
}

/* Whether one of the threads in that folder is Takt's. */
static bool has_thread_of_takt(const char *folder)
{
    DIR *tasks = opendir(folder);
    const struct dirent *task;
    char path[96], name[64];
    bool has = false;

    while (tasks != NULL && !has && (task = readdir(tasks)) != NULL) {
        snprintf(path, sizeof path, "%s/%.20s", folder, task->d_name);
        has =
            read_name(path, name, sizeof name) &&
            strncmp(name, TAKT_THREAD_PREFIX, strlen(TAKT_THREAD_PREFIX)) == 0;
    }
    if (tasks != NULL)
        closedir(tasks);
    return has;
}

static void name_user(uid_t id, char *out, size_t size)
{
    const struct passwd *user = getpwuid(id);

    if (user != NULL)
        snprintf(out, size, "%s", user->pw_name);
    else
        snprintf(out, size, "%lu", (unsigned long)id);
}

/* The number of links of the folder of threads says how many there are: a
 * program with a single one has none of Takt's. */
static bool is_other(const char *pid, struct top_other *out)
{
    char folder[32], tasks[48];
    struct stat facts;

    *out = (struct top_other){.pid = strtoull(pid, NULL, 10)};
    snprintf(folder, sizeof folder, "/proc/%.20s", pid);
    snprintf(tasks, sizeof tasks, "%s/task", folder);
    if (out->pid == 0 || stat(tasks, &facts) != 0 ||
        facts.st_uid == geteuid() || facts.st_nlink == 3 ||
        !has_thread_of_takt(tasks) ||
        !read_name(folder, out->program, sizeof out->program))
        return false;
    name_user(facts.st_uid, out->user, sizeof out->user);
    top_find_script(out->pid, out->program, out->script);
    return true;
}

void top_find_others(struct top_model *model, uint64_t now_ns)
{
    const struct dirent *entry;
    struct top_other found;

    if (now_ns < model->others_due_ns)
        return;
    DIR *processes = opendir("/proc");
    model->other_count = 0;
    if (model->other == NULL)
        model->other = calloc(most_others, sizeof *model->other);
    while (processes != NULL && model->other != NULL &&
           model->other_count < most_others &&
           (entry = readdir(processes)) != NULL)
        if (is_other(entry->d_name, &found))
            model->other[model->other_count++] = found;
    if (processes != NULL)
        closedir(processes);
    const uint64_t took_ns = times_as_long * (takt__now_ns() - now_ns);
    model->others_due_ns = now_ns + (took_ns > every_ns ? took_ns : every_ns);
}
