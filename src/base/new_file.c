/* SPDX-License-Identifier: MIT */
/* new_file.c - a temporary file, synced, then renamed. */
#define _GNU_SOURCE /* O_PATH, realpath() */
#include "base/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/database_file.h"
#include "base/say.h"
#include "base/write_signals.h"

static takt_status say_errno(takt_diag *diag, const char *path,
                             const char *what)
{
    return takt__say(diag, TAKT_EIO, "%.300s: %s: %s", path, what,
                     strerror(errno));
}

static takt_status say_unwritable(takt_diag *diag, const char *path)
{
    return say_errno(diag, path, "cannot be written");
}

/* ---- what is written in place -------------------------------------------- */

/* The descriptor that a path such as /dev/stdout names; -1: it names none.
 * Opening the path instead would write over the start of a file. */
static int named_descriptor(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

    if (strcmp(path, "/dev/stdout") == 0)
        return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0)
        return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const size_t length = strlen(folders[i]);
        const char *digits = path + length;
        if (strncmp(path, folders[i], length) == 0 && digits[0] != '\0' &&
            strlen(digits) < 7 && digits[strspn(digits, "0123456789")] == '\0')
            return atoi(digits);
    }
    return -1;
}

static bool is_stream(const struct stat *facts)
{
    return S_ISFIFO(facts->st_mode) || S_ISCHR(facts->st_mode);
}

/* Opens what is written in place. False: `path` is nothing of that kind. */
static bool open_stream(const char *path, struct takt_new_file *file)
{
    const int named = named_descriptor(path);
    struct stat facts;

    if (named >= 0) {
        file->fd = fcntl(named, F_DUPFD_CLOEXEC, 0);
        return true;
    }
    if (stat(path, &facts) != 0 || !is_stream(&facts))
        return false;
    file->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (file->fd >= 0 && (fstat(file->fd, &facts) != 0 || !is_stream(&facts))) {
        close(file->fd);
        file->fd = -1;
        errno = EAGAIN; /* it was changed meanwhile */
    }
    return true;
}

/* ---- what is replaced ---------------------------------------------------- */

/* Splits a path into its directory, "." if none is named, and a name. */
static bool split(const char *path, char folder[PATH_MAX],
                  char name[NAME_MAX + 1])
{
    const char *slash = strrchr(path, '/');
    const char *last = slash != NULL ? slash + 1 : path;
    const size_t length = (size_t)(last - path);

    errno = ENAMETOOLONG;
    if (length >= PATH_MAX || strlen(last) > NAME_MAX)
        return false;
    errno = EISDIR;
    if (last[0] == '\0' || strcmp(last, ".") == 0 || strcmp(last, "..") == 0)
        return false;
    memcpy(folder, path, length);
    strcpy(folder + length, length == 0 ? "." : "");
    strcpy(name, last);
    return true;
}

/* Whether another user may have put a link there for others to follow: the
 * rule of Linux's fs.protected_symlinks, which not every system sets. */
static bool is_planted(const char *path, const struct stat *link)
{
    char folder[PATH_MAX], name[NAME_MAX + 1];
    struct stat above;

    if (!split(path, folder, name) || stat(folder, &above) != 0)
        return true;
    return (above.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH) &&
           link->st_uid != geteuid() && link->st_uid != above.st_uid;
}

/* The path itself, or that of the file at the end of its links. */
static takt_status resolve(const char *path, unsigned flags,
                           char target[PATH_MAX], takt_diag *diag)
{
    struct stat facts, end;
    const bool is_there = lstat(path, &facts) == 0;

    if (!is_there && errno != ENOENT)
        return say_unwritable(diag, path);
    if (is_there && (flags & TAKT_NEW_FILE_ONLY) != 0)
        return TAKT_EEXIST;
    if (is_there && S_ISLNK(facts.st_mode)) {
        if ((flags & TAKT_NEW_FILE_NO_LINKS) != 0)
            return takt__say(diag, TAKT_EIO, "%.300s: is a symbolic link",
                             path);
        if (is_planted(path, &facts))
            return takt__say(diag, TAKT_EIO,
                             "%.300s: is a symbolic link of another user",
                             path);
        /* stat() follows the kernel's own rules about links, realpath() not. */
        if (stat(path, &end) == 0 && realpath(path, target) != NULL)
            return TAKT_OK;
        return errno == ENOENT
                   ? takt__say(diag, TAKT_EIO,
                               "%.300s: is a symbolic link that leads nowhere",
                               path)
                   : say_unwritable(diag, path);
    }
    if ((size_t)snprintf(target, PATH_MAX, "%s", path) < PATH_MAX)
        return TAKT_OK;
    errno = ENAMETOOLONG;
    return say_unwritable(diag, path);
}

/* What there is to know about the file to replace; mode 0: there is none. */
static takt_status read_facts(const struct takt_new_file *file,
                              struct stat *facts, takt_diag *diag)
{
    const char *path = file->path;

    if (fstatat(file->folder, file->name, facts, AT_SYMLINK_NOFOLLOW) != 0) {
        facts->st_mode = 0;
        return errno == ENOENT ? TAKT_OK : say_unwritable(diag, path);
    }
    if (!S_ISREG(facts->st_mode))
        return takt__say(diag, TAKT_EIO, "%.300s: is no file", path);
    /* A file without write permission is not replaced, by root neither. */
    if ((facts->st_mode & 0222) == 0 ||
        faccessat(file->folder, file->name, W_OK, 0) != 0)
        return takt__say(diag, TAKT_EIO, "%.300s: is read-only", path);
    if (takt__is_database(file->folder, file->name))
        return takt__say(diag, TAKT_EIO, "%.300s: is a database, and stays",
                         path);
    return TAKT_OK;
}

/* Gives an open file the owner and the permissions in `facts`. */
static bool dress(int fd, const struct stat *facts)
{
    struct stat own;

    if (fstat(fd, &own) != 0)
        return false;
    if ((own.st_uid != facts->st_uid || own.st_gid != facts->st_gid) &&
        fchown(fd, facts->st_uid, facts->st_gid) != 0)
        return false;
    return fchmod(fd, facts->st_mode & 07777) == 0;
}

/* What replaces a file must not be readable before it has the file's mode. */
static int open_temporary(struct takt_new_file *file, bool is_replacement)
{
    const mode_t mode = is_replacement ? 0600 : 0666;
    uint64_t number;
    int fd = -1;

    errno = EEXIST;
    for (int i = 0; fd < 0 && errno == EEXIST && i < 100; i++) {
        if (getrandom(&number, sizeof number, 0) != sizeof number)
            return -1;
        snprintf(file->temporary, sizeof file->temporary, ".takt-%016llx",
                 (unsigned long long)number);
        fd = openat(file->folder, file->temporary,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    }
    return fd;
}

/* A directory that may be used but not read cannot be synced either. */
static int open_folder(const char *folder)
{
    const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return fd >= 0 || errno != EACCES
               ? fd
               : open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static takt_status open_beside(struct takt_new_file *file, unsigned flags,
                               takt_diag *diag)
{
    char target[PATH_MAX], folder[PATH_MAX];
    struct stat facts;
    takt_status status = resolve(file->path, flags, target, diag);

    if (status != TAKT_OK)
        return status;
    if (!split(target, folder, file->name) ||
        (file->folder = open_folder(folder)) < 0)
        return say_unwritable(diag, file->path);
    status = read_facts(file, &facts, diag);
    if (status != TAKT_OK)
        return status;
    file->fd = open_temporary(file, facts.st_mode != 0);
    if (file->fd < 0)
        return say_unwritable(diag, file->path);
    if (facts.st_mode != 0 && !dress(file->fd, &facts))
        return say_errno(diag, file->path, "cannot keep its owner and mode");
    return TAKT_OK;
}

takt_status takt__new_file_open(const char *path, unsigned flags,
                                struct takt_new_file *out, takt_diag *diag)
{
    *out = (struct takt_new_file){.fd = -1,
                                  .folder = -1,
                                  .path = path,
                                  .is_only = (flags & TAKT_NEW_FILE_ONLY) != 0};
    takt__say(diag, TAKT_OK, "%s", "");
    if ((flags & TAKT_NEW_FILE_STREAMS) != 0 && open_stream(path, out))
        return out->fd >= 0 ? TAKT_OK : say_unwritable(diag, path);
    const takt_status status = open_beside(out, flags, diag);
    if (status != TAKT_OK)
        takt__new_file_drop(out);
    return status;
}

/* ---- the end ------------------------------------------------------------- */

void takt__new_file_drop(struct takt_new_file *file)
{
    if (file->folder >= 0 && file->fd >= 0)
        unlinkat(file->folder, file->temporary, 0);
    if (file->fd >= 0)
        close(file->fd);
    if (file->folder >= 0)
        close(file->folder);
    file->fd = file->folder = -1;
}

/* A second name never takes that of another file, as rename() would; but not
 * every file system has them. */
static bool put_in_place(const struct takt_new_file *file)
{
    const int folder = file->folder;

    if (file->is_only &&
        linkat(folder, file->temporary, folder, file->name, 0) == 0)
        return unlinkat(folder, file->temporary, 0) == 0;
    if (file->is_only && errno == EEXIST)
        return false;
    return renameat(folder, file->temporary, folder, file->name) == 0;
}

takt_status takt__new_file_commit(struct takt_new_file *file, takt_diag *diag)
{
    if (file->folder < 0) { /* a stream */
        const int fd = file->fd;
        file->fd = -1;
        return close(fd) == 0 ? TAKT_OK : say_unwritable(diag, file->path);
    }
    if (fsync(file->fd) != 0 || !put_in_place(file)) {
        const takt_status status = file->is_only && errno == EEXIST
                                       ? TAKT_EEXIST
                                       : say_unwritable(diag, file->path);
        takt__new_file_drop(file);
        return status;
    }
    /* It is in place whether or not the directory can be synced. */
    fsync(file->folder);
    close(file->folder);
    close(file->fd);
    file->fd = file->folder = -1;
    return TAKT_OK;
}

static bool write_on(int fd, const char *text, size_t length)
{
    while (length > 0) {
        const ssize_t written = write(fd, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        text += written;
        length -= (size_t)written;
    }
    return true;
}

bool takt__write_all(int fd, const char *text, size_t length)
{
    struct takt_write_signals signals;

    takt__write_signals_block(&signals);
    const bool is_written = write_on(fd, text, length);
    const int why = errno;
    takt__write_signals_restore(&signals);
    errno = why;
    return is_written;
}

takt_status takt__new_file_write(const struct takt_new_file *file,
                                 const char *text, size_t length,
                                 takt_diag *diag)
{
    return takt__write_all(file->fd, text, length)
               ? TAKT_OK
               : say_unwritable(diag, file->path);
}

static takt_status write_and_commit(struct takt_new_file *file,
                                    const char *text, size_t length,
                                    takt_diag *diag)
{
    const takt_status status = takt__new_file_write(file, text, length, diag);

    if (status == TAKT_OK)
        return takt__new_file_commit(file, diag);
    takt__new_file_drop(file);
    return status;
}

takt_status takt__write_whole(const char *path, unsigned flags,
                              const char *text, size_t length, takt_diag *diag)
{
    struct takt_new_file file;
    const takt_status status = takt__new_file_open(path, flags, &file, diag);

    return status == TAKT_OK ? write_and_commit(&file, text, length, diag)
                             : status;
}

takt_status takt__create_like(const char *path, const char *like,
                              const char *text, size_t length, takt_diag *diag)
{
    struct takt_new_file file;
    struct stat facts;
    const takt_status status =
        takt__new_file_open(path, TAKT_NEW_FILE_ONLY, &file, diag);

    if (status != TAKT_OK)
        return status;
    if (stat(like, &facts) == 0 && dress(file.fd, &facts))
        return write_and_commit(&file, text, length, diag);
    takt__new_file_drop(&file);
    return say_errno(diag, path, "cannot get the owner and mode of another");
}
