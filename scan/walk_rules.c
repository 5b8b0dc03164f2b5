/* SPDX-License-Identifier: MIT */
/*
 * walk_rules.c - rules of a folder hold for all that is below it; those further
 * down come first, and what a repository keeps for itself comes last.
 */
#include "walk_rules.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/grow.h"

static takt_status add_rules(struct takt_walk *walk,
                             const struct takt_folder *folder, const char *name,
                             size_t base)
{
    size_t size = 0;
    char *text = takt__folder_text(folder, name, &size);

    if (text == NULL)
        return TAKT_OK; /* not there, or not to be read: there are no rules */
    if (!takt__grow(&walk->rules, &walk->rule_room, walk->rule_count + 1,
                    sizeof *walk->rules)) {
        free(text);
        return TAKT_ENOMEM;
    }
    struct takt_walk_rules *rules = &walk->rules[walk->rule_count];
    const bool is_read = takt__ignore_read(&rules->ignore, text, size);
    rules->base = base;
    walk->rule_count += is_read;
    free(text);
    return is_read ? TAKT_OK : TAKT_ENOMEM;
}

takt_status takt__walk_rules_of(struct takt_walk *walk,
                                const struct takt_folder *folder)
{
    if (walk->options->with_ignored || !takt__folder_has(folder, ".gitignore"))
        return TAKT_OK;
    return add_rules(walk, folder, ".gitignore", walk->full_size + 1);
}

/* The folder at the first `size` bytes of the path, which is absolute. */
static int open_above(const char *path, size_t size)
{
    char *above = malloc(size + 2);
    int fd = -1;

    if (above == NULL)
        return -1;
    snprintf(above, size + 2, "%.*s/", (int)size, path);
    fd = open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(above);
    return fd;
}

static bool is_repository(const char *path, size_t size)
{
    const int fd = open_above(path, size);
    bool is_one = false;

    if (fd >= 0) {
        is_one = faccessat(fd, ".git", F_OK, 0) == 0;
        close(fd);
    }
    return is_one;
}

/* The size of the path to the repository's top; SIZE_MAX: it is in none. */
static size_t find_top(const char *path, size_t size)
{
    for (;;) {
        if (is_repository(path, size))
            return size;
        if (size == 0)
            return SIZE_MAX;
        while (size > 0 && path[--size] != '/')
            ;
    }
}

static takt_status add_rules_above(struct takt_walk *walk, size_t size,
                                   const char *name)
{
    struct takt_folder folder = {.fd = open_above(walk->full, size)};
    takt_status status = TAKT_OK;

    if (folder.fd >= 0) {
        status = add_rules(walk, &folder, name, size + 1);
        close(folder.fd);
    }
    return status;
}

takt_status takt__walk_rules_above(struct takt_walk *walk)
{
    const size_t end = walk->full_size;
    takt_status status;
    size_t size;

    if (walk->options->with_ignored || walk->full[0] != '/')
        return TAKT_OK;
    size = find_top(walk->full, end);
    if (size == SIZE_MAX)
        return TAKT_OK;
    status = add_rules_above(walk, size, ".git/info/exclude");
    while (status == TAKT_OK && size < end) {
        status = add_rules_above(walk, size, ".gitignore");
        do
            size++;
        while (size < end && walk->full[size] != '/');
    }
    return status;
}

void takt__walk_rules_drop(struct takt_walk *walk, size_t count)
{
    while (walk->rule_count > count)
        takt__ignore_clear(&walk->rules[--walk->rule_count].ignore);
}

bool takt__walk_rules_ignore(const struct takt_walk *walk, bool is_folder)
{
    for (size_t i = walk->rule_count; i > 0; i--) {
        const struct takt_walk_rules *rules = &walk->rules[i - 1];
        const struct takt_span path = {walk->full + rules->base,
                                       walk->full_size - rules->base};
        const int verdict =
            takt__ignore_verdict(&rules->ignore, path, is_folder);
        if (verdict != 0)
            return verdict > 0;
    }
    return false;
}
