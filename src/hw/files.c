/* SPDX-License-Identifier: MIT */
/*
 * files.c - reading and writing the small text files of a machine.
 *
 * Files of /proc and /sys say they have size 0 or 4096 whatever they hold, so
 * reading goes on until the end, never by the size.
 */
#include "hw/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/new_file.h"
#include "hw/source.h"

enum { longest_path = 4096, attempts = 3 };

bool takt__path_stays_below(const char *path)
{
    if (path[0] != '/')
        return false;
    for (const char *part = path; part != NULL; part = strchr(part, '/')) {
        part++;
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return false;
    }
    return true;
}

bool takt__path_join(const char *folder, const char *path, char *out,
                     size_t cap)
{
    const int length = snprintf(out, cap, "%s%s", folder, path);
    return length >= 0 && (size_t)length < cap;
}

/* Whether the next attempt may have another outcome. Kernels have their own
 * errors for what a machine does not have (ENODEV, EINVAL, ...). */
static bool may_pass(int error)
{
    static const int passing[] = {EMFILE, ENFILE,    ENOMEM,   EIO,   EINTR,
                                  EAGAIN, ETIMEDOUT, ENOTCONN, ESTALE};

    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++)
        if (error == passing[i])
            return true;
    return false;
}

static size_t outcome_of(int error)
{
    return may_pass(error) ? TAKT_HW_FAILED : 0;
}

/* -1: not there, or not to be opened; errno says which. */
static int open_regular(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat facts;

    if (fd >= 0 && (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode))) {
        close(fd);
        errno = ENOENT;
        return -1;
    }
    return fd;
}

/* Half a file is none: it would describe another machine. */
static size_t read_once(const char *path, char *buf, size_t cap)
{
    size_t length = 0;
    ssize_t step = 1;
    const int fd = open_regular(path);

    if (fd < 0)
        return outcome_of(errno);
    while (length < cap - 1 && step != 0) {
        step = read(fd, buf + length, cap - 1 - length);
        if (step < 0 && errno != EINTR)
            break;
        length += step > 0 ? (size_t)step : 0;
    }
    const int error = errno;
    close(fd);
    return step < 0 && length < cap - 1 ? outcome_of(error) : length;
}

size_t takt__file_read(const char *path, char *buf, size_t cap)
{
    size_t length = TAKT_HW_FAILED;

    if (cap == 0)
        return 0;
    for (int i = 0; i < attempts && length == TAKT_HW_FAILED; i++)
        length = read_once(path, buf, cap);
    buf[length == TAKT_HW_FAILED ? 0 : length] = '\0';
    return length;
}

static int is_listed(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && strchr(entry->d_name, '\n') == NULL;
}

/* Not alphasort(): its order depends on the locale. */
static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

size_t takt__folder_list(const char *folder, char *buf, size_t cap)
{
    struct dirent **entry = NULL;
    size_t length = 0;
    int count = -1;

    if (cap == 0)
        return 0;
    buf[0] = '\0';
    errno = EINTR;
    for (int i = 0; i < attempts && count < 0 && may_pass(errno); i++)
        count = scandir(folder, &entry, is_listed, by_bytes);
    if (count < 0)
        return outcome_of(errno);
    for (int i = 0; i < count; i++) {
        const size_t size = strlen(entry[i]->d_name) + 1;
        if (size < cap - length) {
            memcpy(buf + length, entry[i]->d_name, size - 1);
            buf[length + size - 1] = '\n';
            length += size;
        }
        free(entry[i]);
    }
    free(entry);
    buf[length] = '\0';
    return length;
}

/* Makes every folder of `path` that comes after its first `from` bytes. */
static bool make_folders(char *path, size_t from)
{
    for (char *slash = strchr(path + from + 1, '/'); slash != NULL;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        const bool is_there = mkdir(path, 0777) == 0 || errno == EEXIST;
        *slash = '/';
        if (!is_there)
            return false;
    }
    return true;
}

bool takt__file_write(const char *root, const char *path, const char *text,
                      size_t length)
{
    char whole[longest_path];

    if (!takt__path_stays_below(path) ||
        !takt__path_join(root, path, whole, sizeof whole) ||
        !make_folders(whole, strlen(root)))
        return false;
    const int fd = open(
        whole, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return false;
    const bool is_written = takt__write_all(fd, text, length);
    return close(fd) == 0 && is_written;
}

static void empty(int folder_fd);

static void remove_entry(int folder_fd, const char *name)
{
    if (unlinkat(folder_fd, name, 0) == 0)
        return;
    const int fd = openat(folder_fd, name,
                          O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    empty(fd);
    unlinkat(folder_fd, name, AT_REMOVEDIR);
}

/* Removes what is in the folder and closes it. */
static void empty(int folder_fd)
{
    DIR *stream = fdopendir(folder_fd);
    if (stream == NULL) {
        close(folder_fd);
        return;
    }
    for (struct dirent *entry = readdir(stream); entry != NULL;
         entry = readdir(stream))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            remove_entry(dirfd(stream), entry->d_name);
    closedir(stream);
}

void takt__folder_remove(const char *folder)
{
    remove_entry(AT_FDCWD, folder);
}
