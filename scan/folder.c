/* SPDX-License-Identifier: MIT */
/*
 * folder.c - reads folders, and files of rules in them.
 */
#define _DEFAULT_SOURCE /* the kind of an entry without asking again */
#include "folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/grow.h"

enum { MOST_TEXT = 1 << 20 };

static enum takt_entry_kind kind_of(int fd, const struct dirent *from)
{
    struct stat facts;

    switch (from->d_type) {
    case DT_REG:
        return TAKT_ENTRY_FILE;
    case DT_DIR:
        return TAKT_ENTRY_FOLDER;
    case DT_LNK:
        return TAKT_ENTRY_LINK;
    case DT_UNKNOWN: /* not every file system tells */
        break;
    default:
        return TAKT_ENTRY_OTHER;
    }
    if (fstatat(fd, from->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
        return TAKT_ENTRY_FILE; /* opening it will tell */
    return S_ISREG(facts.st_mode)   ? TAKT_ENTRY_FILE
           : S_ISDIR(facts.st_mode) ? TAKT_ENTRY_FOLDER
           : S_ISLNK(facts.st_mode) ? TAKT_ENTRY_LINK
                                    : TAKT_ENTRY_OTHER;
}

/* As their paths sort: what is in a folder follows its name and a slash. */
static int by_path(const void *left, const void *right)
{
    const struct takt_entry *a = left, *b = right;
    size_t i = 0;

    while (a->name[i] != 0 && a->name[i] == b->name[i])
        i++;
    int x = (unsigned char)a->name[i], y = (unsigned char)b->name[i];
    if (x == 0 && a->kind == TAKT_ENTRY_FOLDER)
        x = '/';
    if (y == 0 && b->kind == TAKT_ENTRY_FOLDER)
        y = '/';
    return x - y;
}

static bool add_entry(struct takt_folder *folder, size_t *room,
                      const struct dirent *from)
{
    const size_t size = strlen(from->d_name) + 1;
    char *name = takt__region_take(&folder->region, size);
    if (name == NULL || !takt__grow(&folder->entry, room, folder->count + 1,
                                    sizeof *folder->entry))
        return false;
    memcpy(name, from->d_name, size);
    folder->entry[folder->count++] =
        (struct takt_entry){name, kind_of(folder->fd, from)};
    return true;
}

static int read_entries(DIR *stream, struct takt_folder *folder)
{
    size_t room = 0;

    for (;;) {
        errno = 0;
        const struct dirent *from = readdir(stream);
        if (from == NULL)
            return errno;
        if (strcmp(from->d_name, ".") == 0 || strcmp(from->d_name, "..") == 0)
            continue;
        if (!add_entry(folder, &room, from))
            return ENOMEM;
    }
}

int takt__folder_read(int fd, struct takt_folder *out)
{
    const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0); /* the stream closes it */
    DIR *stream = copy >= 0 ? fdopendir(copy) : NULL;
    int error = errno;

    *out = (struct takt_folder){.fd = fd};
    if (stream != NULL) {
        error = read_entries(stream, out);
        closedir(stream);
    } else if (copy >= 0)
        close(copy);
    if (stream == NULL || error != 0) {
        takt__folder_close(out);
        return error;
    }
    if (out->count > 0)
        qsort(out->entry, out->count, sizeof *out->entry, by_path);
    return 0;
}

void takt__folder_close(struct takt_folder *folder)
{
    close(folder->fd);
    free(folder->entry);
    takt__region_free(&folder->region);
    *folder = (struct takt_folder){.fd = -1};
}

bool takt__folder_has(const struct takt_folder *folder, const char *name)
{
    for (size_t i = 0; i < folder->count; i++)
        if (strcmp(folder->entry[i].name, name) == 0)
            return true;
    return false;
}

static char *read_text(int fd, size_t *size)
{
    struct stat facts;
    char *text = NULL;

    if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode) ||
        facts.st_size > MOST_TEXT)
        return NULL;
    const size_t wanted = (size_t)facts.st_size;
    text = malloc(wanted + 1);
    *size = 0;
    while (text != NULL && *size < wanted) {
        const ssize_t got = read(fd, text + *size, wanted - *size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        *size += (size_t)got;
    }
    if (text != NULL)
        text[*size] = 0;
    return text;
}

char *takt__folder_text(const struct takt_folder *folder, const char *name,
                        size_t *size)
{
    const int fd = openat(folder->fd, name,
                          O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return NULL;
    char *text = read_text(fd, size);
    close(fd);
    return text;
}
