/* SPDX-License-Identifier: MIT */
/* hold.c - which descriptors are a database's, and looking at them. */
#include "store/hold.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fork.h"
#include "base/lock.h"
#include "store/path.h"

enum { parts = 3, without_proc = 1024 };

struct file {
    dev_t device;
    ino_t inode;
};

struct held {
    int fd;
    struct file file;
};

struct kept {
    struct kept *next;
    void *connection;
};

struct takt_hold {
    struct takt_hold *next;
    struct file database;
    unsigned users;
    bool is_lost;
    size_t count;
    struct held *held;
    struct kept *kept; /* for leak checkers */
};

static pthread_mutex_t holds_lock = PTHREAD_MUTEX_INITIALIZER;
static struct takt_fork_entry fork_entry = {.handlers = &takt__fork_mutex,
                                            .self = &holds_lock};
TAKT_FORK_STATIC(fork_entry)
static struct takt_hold *first_hold;

static struct file file_of(const struct stat *facts)
{
    return (struct file){facts->st_dev, facts->st_ino};
}

static bool is_same(struct file a, struct file b)
{
    return a.device == b.device && a.inode == b.inode;
}

/* A server that does not answer is another kind of trouble. */
static bool is_as_it_was(const struct held *held)
{
    struct stat facts;
    return fstat(held->fd, &facts) == 0 ? is_same(file_of(&facts), held->file)
                                        : errno != EBADF;
}

static bool look(struct takt_hold *hold)
{
    for (size_t i = 0; i < hold->count && !hold->is_lost; i++)
        hold->is_lost = !is_as_it_was(&hold->held[i]);
    return !hold->is_lost;
}

static struct takt_hold *find(struct file database)
{
    struct takt_hold *hold = first_hold;

    while (hold != NULL && !is_same(hold->database, database))
        hold = hold->next;
    return hold;
}

static struct takt_hold *find_or_add(struct file database)
{
    struct takt_hold *hold = find(database);

    if (hold == NULL && (hold = calloc(1, sizeof *hold)) != NULL) {
        hold->database = database;
        hold->next = first_hold;
        first_hold = hold;
    }
    return hold;
}

static bool add(struct takt_hold *hold, int fd, struct file file)
{
    for (size_t i = 0; i < hold->count; i++)
        if (hold->held[i].fd == fd)
            return true;
    struct held *more =
        realloc(hold->held, (hold->count + 1) * sizeof *hold->held);
    if (more == NULL)
        return false;
    hold->held = more;
    more[hold->count++] = (struct held){fd, file};
    return true;
}

static bool add_if_part(struct takt_hold *hold, int fd,
                        const struct stat *facts, const struct file part[parts])
{
    for (int i = 0; i < parts; i++)
        if (is_same(file_of(facts), part[i]))
            return add(hold, fd, part[i]);
    return true;
}

static bool add_without_proc(struct takt_hold *hold,
                             const struct file part[parts])
{
    struct stat facts;
    bool is_done = true;

    for (int fd = 0; is_done && fd < without_proc; fd++)
        if (fstat(fd, &facts) == 0)
            is_done = add_if_part(hold, fd, &facts, part);
    return is_done;
}

/* Of this thread: the first one may be gone, and its list with it. The entries
 * lead to the open files, which is asked by name: other threads open and close
 * descriptors meanwhile. */
static bool add_all(struct takt_hold *hold, const struct file part[parts])
{
    DIR *folder = opendir("/proc/thread-self/fd");
    const struct dirent *entry;
    struct stat facts;
    bool is_done = true;

    if (folder == NULL)
        return add_without_proc(hold, part);
    while (is_done && (entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.' &&
            fstatat(dirfd(folder), entry->d_name, &facts, 0) == 0)
            is_done = add_if_part(hold, atoi(entry->d_name), &facts, part);
    closedir(folder);
    return is_done;
}

/* One that is not there is 0, which no file is. */
static bool find_parts(const char *path, struct file part[parts])
{
    static const char *const ends[parts] = {"", "-wal", "-shm"};

    for (int i = 0; i < parts; i++) {
        struct stat facts;
        char *name = takt__path_extend(path, ends[i]);
        if (name == NULL)
            return false;
        if (stat(name, &facts) == 0)
            part[i] = file_of(&facts);
        free(name);
    }
    return true;
}

bool takt__hold_may_open(const struct stat *database)
{
    takt__lock(&holds_lock);
    struct takt_hold *hold = find(file_of(database));
    const bool may = hold == NULL || look(hold);
    takt__unlock(&holds_lock);
    return may;
}

static bool add_lockfile(struct takt_hold *hold, int lockfile)
{
    struct stat facts;
    return lockfile < 0 || fstat(lockfile, &facts) != 0 ||
           add(hold, lockfile, file_of(&facts));
}

takt_status takt__hold_take(const char *path, const struct stat *database,
                            int lockfile, struct takt_hold **out)
{
    struct file part[parts] = {0};
    takt_status status = TAKT_ENOMEM;

    takt__lock(&holds_lock);
    struct takt_hold *hold = find_or_add(file_of(database));
    if (hold != NULL) {
        hold->users++;
        if (!look(hold))
            status = TAKT_EIO;
        else if (find_parts(path, part) && add_all(hold, part) &&
                 add_lockfile(hold, lockfile))
            status = TAKT_OK;
    }
    takt__unlock(&holds_lock);
    *out = hold;
    return status;
}

bool takt__hold_is_whole(struct takt_hold *hold)
{
    if (hold == NULL)
        return true;
    takt__lock(&holds_lock);
    const bool is_whole = look(hold);
    takt__unlock(&holds_lock);
    return is_whole;
}

static void keep(struct takt_hold *hold, void *connection)
{
    struct kept *kept = malloc(sizeof *kept);

    if (kept == NULL)
        return;
    *kept = (struct kept){hold->kept, connection};
    hold->kept = kept;
}

bool takt__hold_begin_release(struct takt_hold *hold, void *connection)
{
    takt__lock(&holds_lock);
    if (hold == NULL || look(hold))
        return true;
    keep(hold, connection);
    takt__unlock(&holds_lock);
    return false;
}

static void remove_hold(struct takt_hold *hold)
{
    struct takt_hold **at = &first_hold;

    while (*at != hold)
        at = &(*at)->next;
    *at = hold->next;
    free(hold->held);
    free(hold);
}

/* All were as they were when this began: what is not any more, we closed. What
 * SQLite still has open, for it cannot close a file that another connection
 * has locked, stays. */
void takt__hold_end_release(struct takt_hold *hold)
{
    size_t left = 0;

    for (size_t i = 0; hold != NULL && i < hold->count; i++)
        if (is_as_it_was(&hold->held[i]))
            hold->held[left++] = hold->held[i];
    if (hold != NULL) {
        hold->count = left;
        if (--hold->users == 0)
            remove_hold(hold);
    }
    takt__unlock(&holds_lock);
}
