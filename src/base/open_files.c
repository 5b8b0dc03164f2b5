/* SPDX-License-Identifier: MIT */
/* open_files.c - the list of descriptors, and borrowing of it. */
#include "base/open_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { without_proc = 1024 };

static void visit_without_proc(takt_open_file_visit *visit, void *self)
{
    struct stat facts;

    for (int fd = 0; fd < without_proc; fd++)
        if (fstat(fd, &facts) == 0 && !visit(self, fd, &facts))
            return;
}

/* Of this thread: the first one may be gone, and its list with it. The entries
 * lead to the open files, which is asked by name: other threads open and close
 * descriptors meanwhile. */
void takt__open_files_visit(takt_open_file_visit *visit, void *self)
{
    DIR *folder = opendir("/proc/thread-self/fd");
    const struct dirent *entry;
    struct stat facts;
    bool goes_on = true;

    if (folder == NULL) {
        visit_without_proc(visit, self);
        return;
    }
    while (goes_on && (entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.' &&
            fstatat(dirfd(folder), entry->d_name, &facts, 0) == 0)
            goes_on = visit(self, atoi(entry->d_name), &facts);
    closedir(folder);
}

struct lender_search {
    struct stat facts;
    int own;    /* does not count */
    int lender; /* -1: none */
    bool can_read;
};

static bool look_for_lender(void *self, int fd, const struct stat *facts)
{
    struct lender_search *search = self;

    if (fd == search->own || facts->st_dev != search->facts.st_dev ||
        facts->st_ino != search->facts.st_ino)
        return true;
    const int flags = fcntl(fd, F_GETFL);
    search->lender = fd;
    search->can_read = flags >= 0 && (flags & O_ACCMODE) != O_WRONLY;
    return !search->can_read;
}

struct takt_borrowed takt__borrow(int folder, const char *name)
{
    struct takt_borrowed out = {.fd = -1};
    struct lender_search search = {.own = -1, .lender = -1};

    if (fstatat(folder, name, &search.facts, 0) != 0)
        return out;
    takt__open_files_visit(look_for_lender, &search);
    if (search.lender < 0) {
        out.fd =
            openat(folder, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        out.is_own = true;
    } else if (search.can_read) {
        out.fd = search.lender;
    } else {
        errno = EBADF;
    }
    return out;
}

/* One that somebody else has opened meanwhile stays open. */
void takt__give_back(struct takt_borrowed file)
{
    struct lender_search search = {.own = file.fd, .lender = -1};

    if (file.fd < 0 || !file.is_own)
        return;
    if (fstat(file.fd, &search.facts) == 0 && S_ISREG(search.facts.st_mode))
        takt__open_files_visit(look_for_lender, &search);
    if (search.lender < 0)
        close(file.fd);
}
