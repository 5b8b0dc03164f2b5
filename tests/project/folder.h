/* SPDX-License-Identifier: MIT */
/* folder.h - a folder of a test's own, with files in it. */
#pragma once

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/tap.h"

static char folder[64];

static inline const char *in_folder(const char *name)
{
    static char path[8][PATH_MAX];
    static unsigned next;
    char *room = path[next++ % 8];

    snprintf(room, PATH_MAX, "%s/%s", folder, name);
    return room;
}

static inline void remove_all(const char *path)
{
    struct stat facts;
    DIR *entries = NULL;

    if (lstat(path, &facts) == 0 && S_ISDIR(facts.st_mode))
        entries = opendir(path);
    for (struct dirent *entry; entries && (entry = readdir(entries)) != NULL;) {
        char inside[PATH_MAX];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(inside, sizeof inside, "%.2000s/%.300s", path, entry->d_name);
        remove_all(inside);
    }
    if (entries != NULL)
        closedir(entries);
    remove(path);
}

/* A new one; what was in the last is gone. */
static inline void new_folder(void)
{
    if (folder[0] != '\0')
        remove_all(folder);
    strcpy(folder, "/tmp/takt-test-XXXXXX");
    REQUIRE(mkdtemp(folder) != NULL);
}

/* Writes a file, and the folders on its way. */
static inline void put_file(const char *name, const char *text)
{
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s", in_folder(name));
    for (char *slash = path + strlen(folder) + 1;
         (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    FILE *out = fopen(path, "wb");
    REQUIRE(out != NULL);
    fputs(text, out);
    REQUIRE(fclose(out) == 0);
}

/* "" if there is none; valid until the next but three. */
static inline const char *get_file(const char *name)
{
    static char text[4][65536];
    static unsigned next;
    char *room = text[next++ % 4];
    FILE *in = fopen(in_folder(name), "rb");

    room[0] = '\0';
    if (in != NULL) {
        room[fread(room, 1, 65535, in)] = '\0';
        fclose(in);
    }
    return room;
}

/* How many things are in the folder. */
static inline int count_files(void)
{
    DIR *entries = opendir(folder);
    int count = -2; /* "." and ".." */

    REQUIRE(entries != NULL);
    while (readdir(entries) != NULL)
        count++;
    closedir(entries);
    return count;
}
