/* SPDX-License-Identifier: MIT */
/*
 * walk.c - a stack of folders; each is read whole, so that it can be sorted.
 */
#define _XOPEN_SOURCE 700 /* realpath() */
#include "walk.h"

#include "base/grow.h"
#include "languages.h"
#include "walk_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum step { STEP_AGAIN, STEP_FOUND, STEP_NO_MEMORY };

void takt__walk_open(struct takt_walk *walk,
                     const struct takt_scan_options *options)
{
    *walk = (struct takt_walk){.options = options};
}

void takt__walk_close(struct takt_walk *walk)
{
    while (walk->depth > 0)
        takt__folder_close(&walk->level[--walk->depth].folder);
    takt__walk_rules_drop(walk, 0);
    free(walk->rules);
    free(walk->full);
    *walk = (struct takt_walk){0};
}

/* Makes `full` what it is up to `base`, with a name added. */
static bool set_full(struct takt_walk *walk, size_t base, const char *slash,
                     const char *name)
{
    const size_t room = base + strlen(slash) + strlen(name) + 1;

    if (!takt__grow(&walk->full, &walk->full_room, room, 1))
        return false;
    snprintf(walk->full + base, walk->full_room - base, "%s%s", slash, name);
    walk->full_size = room - 1;
    return true;
}

/* The path as those know it who gave its beginning. */
static char *shown_path(const struct takt_walk *walk)
{
    const size_t rest = walk->full_size - walk->root_size;
    const bool ends_in_slash =
        walk->given_size > 0 && walk->given[walk->given_size - 1] == '/';
    const char *from = walk->full + walk->root_size;
    char *path = malloc(walk->given_size + rest + 1);

    if (path == NULL)
        return NULL;
    const size_t skip = ends_in_slash && rest > 0; /* not two slashes */
    memcpy(path, walk->given, walk->given_size);
    memcpy(path + walk->given_size, from + skip, rest - skip);
    path[walk->given_size + rest - skip] = 0;
    return path;
}

static enum step tell(const struct takt_walk *walk, const char *why, int error,
                      struct takt_walk_file *out)
{
    char text[64] = "";

    *out = (struct takt_walk_file){
        .path = shown_path(walk), .fd = -1, .is_unreadable = error != 0};
    if (error != 0)
        strerror_r(error, text, sizeof text);
    snprintf(out->why, sizeof out->why, "%s%s%s", why, error != 0 ? ": " : "",
             text);
    return out->path != NULL ? STEP_FOUND : STEP_NO_MEMORY;
}

/* Goes into a folder that is open. */
static enum step enter(struct takt_walk *walk, int fd,
                       struct takt_walk_file *out)
{
    struct takt_walk_level *level = &walk->level[walk->depth];

    if (walk->depth == TAKT_WALK_DEEPEST) {
        close(fd);
        walk->ignored++;
        return tell(walk, "nested too deeply, passed over", 0, out);
    }
    *level = (struct takt_walk_level){.path_size = walk->full_size,
                                      .rules = walk->rule_count};
    const int error = takt__folder_read(fd, &level->folder);
    if (error != 0)
        return tell(walk, "cannot be read", error, out);
    if (walk->depth > 0 && !walk->options->with_vendored &&
        takt__is_vendored_folder(&level->folder)) {
        takt__folder_close(&level->folder);
        walk->ignored++;
        return STEP_AGAIN;
    }
    walk->depth++;
    return takt__walk_rules_of(walk, &level->folder) == TAKT_OK
               ? STEP_AGAIN
               : STEP_NO_MEMORY;
}

static void leave(struct takt_walk *walk)
{
    struct takt_walk_level *level = &walk->level[--walk->depth];

    takt__folder_close(&level->folder);
    takt__walk_rules_drop(walk, level->rules);
}

static enum step offer(struct takt_walk *walk, int fd,
                       const struct takt_language *language,
                       struct takt_walk_file *out)
{
    *out = (struct takt_walk_file){
        .path = shown_path(walk), .fd = fd, .language = language};
    if (out->path == NULL) {
        close(fd);
        return STEP_NO_MEMORY;
    }
    out->inner = out->path;
    if (walk->depth > 0)
        out->inner += walk->given_size;
    out->inner += *out->inner == '/' && walk->depth > 0;
    return STEP_FOUND;
}

static enum step visit_file(struct takt_walk *walk, int folder,
                            const char *name, struct takt_walk_file *out)
{
    const struct takt_language *language = takt__language_of(name);
    struct stat facts;

    if (!takt__language_may_be(language, name, walk->options->languages)) {
        walk->others++;
        return STEP_AGAIN;
    }
    if (takt__walk_rules_ignore(walk, false)) {
        walk->ignored++;
        return STEP_AGAIN;
    }
    const int fd =
        openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return tell(walk, "cannot be read", errno, out);
    if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode))
        return offer(walk, fd, language, out);
    close(fd); /* it was another a moment ago */
    return tell(walk, "is no file any more", 0, out);
}

/* What is looked at, from the name of the folder on that was given. */
static const char *path_with_root(const struct takt_walk *walk)
{
    const char *at = walk->full + walk->root_size;

    while (at > walk->full && at[-1] != '/')
        at--;
    return at;
}

static enum step visit_folder(struct takt_walk *walk, int folder,
                              const char *name, struct takt_walk_file *out)
{
    if (takt__is_repository_name(name))
        return STEP_AGAIN;
    if ((!walk->options->with_vendored &&
         takt__is_vendored_name(name, path_with_root(walk))) ||
        takt__walk_rules_ignore(walk, true)) {
        walk->ignored++;
        return STEP_AGAIN;
    }
    const int fd =
        openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return tell(walk, "cannot be read", errno, out);
    return enter(walk, fd, out);
}

static enum step visit_entry(struct takt_walk *walk,
                             struct takt_walk_level *level,
                             struct takt_walk_file *out)
{
    const struct takt_entry *entry = &level->folder.entry[level->next++];

    if (!set_full(walk, level->path_size, "/", entry->name))
        return STEP_NO_MEMORY;
    switch (entry->kind) {
    case TAKT_ENTRY_FILE:
        return visit_file(walk, level->folder.fd, entry->name, out);
    case TAKT_ENTRY_FOLDER:
        return visit_folder(walk, level->folder.fd, entry->name, out);
    case TAKT_ENTRY_LINK:
        walk->linked++;
        break;
    case TAKT_ENTRY_OTHER:
        walk->others++;
        break;
    }
    return STEP_AGAIN;
}

static enum step begin_open(struct takt_walk *walk, int fd,
                            const struct takt_language *language,
                            struct takt_walk_file *out)
{
    struct stat facts = {0};

    fstat(fd, &facts); /* what fails is of no kind */
    if (S_ISDIR(facts.st_mode)) {
        if (takt__walk_rules_above(walk) == TAKT_OK)
            return enter(walk, fd, out);
        close(fd);
        return STEP_NO_MEMORY;
    }
    if (S_ISREG(facts.st_mode) &&
        takt__language_may_be(language, walk->given, walk->options->languages))
        return offer(walk, fd, language, out);
    close(fd);
    walk->others++;
    return tell(walk,
                S_ISREG(facts.st_mode) ? "is in no language that is looked for"
                                       : "is neither a file nor a folder",
                0, out);
}

/* Begins with a path that was given: a file or a folder, or a link to one, as
 * somebody asked for it. */
static enum step begin(struct takt_walk *walk, struct takt_walk_file *out)
{
    const char *given = walk->options->path[walk->next_path++];
    const struct takt_language *language = takt__language_of(given);
    char *real = realpath(given, NULL);

    takt__walk_rules_drop(walk, 0);
    const char *start = real != NULL ? real : given;
    const bool is_set =
        set_full(walk, 0, "", strcmp(start, "/") == 0 ? "" : start);
    free(real);
    if (!is_set)
        return STEP_NO_MEMORY;
    walk->given = given;
    walk->given_size = strlen(given);
    walk->root_size = walk->full_size;
    const int fd = open(given, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        walk->is_any_path_there |= errno != ENOENT && errno != ENOTDIR;
        return tell(walk, "cannot be read", errno, out);
    }
    walk->is_any_path_there = true;
    return begin_open(walk, fd, language, out);
}

takt_status takt__walk_next(struct takt_walk *walk, struct takt_walk_file *out)
{
    enum step step = STEP_AGAIN;

    while (step == STEP_AGAIN) {
        if (walk->depth > 0) {
            struct takt_walk_level *level = &walk->level[walk->depth - 1];
            if (level->next < level->folder.count)
                step = visit_entry(walk, level, out);
            else
                leave(walk);
        } else if (walk->next_path < walk->options->path_count)
            step = begin(walk, out);
        else
            return TAKT_ENOENT;
    }
    return step == STEP_FOUND ? TAKT_OK : TAKT_ENOMEM;
}
