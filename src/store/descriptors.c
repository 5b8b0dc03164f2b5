/* SPDX-License-Identifier: MIT */
/* descriptors.c - which descriptors are a database's, and looking at them. */
#include "store/descriptors.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/fork.h"
#include "base/lock.h"
#include "base/open_files.h"
#include "store/path.h"

enum { parts = 3 };

struct file {
    dev_t device;
    ino_t inode;
};

/* Of -writers, which is none of SQLite's. */
enum { lockfile_part = parts };

struct descriptor {
    int fd, part;
    struct file file;
};

struct kept {
    struct kept *next;
    void *connection;
};

struct takt_descriptors {
    struct takt_descriptors *next;
    struct file database;
    unsigned users;
    bool is_lost;
    size_t count;
    struct descriptor *list;
    struct kept *kept; /* for leak checkers */
};

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static struct takt_fork_entry fork_entry = {.handlers = &takt__fork_mutex,
                                            .self = &list_lock};
TAKT_FORK_STATIC(fork_entry)
static struct takt_descriptors *first;

static struct file file_of(const struct stat *facts)
{
    return (struct file){facts->st_dev, facts->st_ino};
}

static bool is_same(struct file a, struct file b)
{
    return a.device == b.device && a.inode == b.inode;
}

/* A server that does not answer is another kind of trouble. */
static bool is_as_it_was(const struct descriptor *descriptor)
{
    struct stat facts;
    return fstat(descriptor->fd, &facts) == 0
               ? is_same(file_of(&facts), descriptor->file)
               : errno != EBADF;
}

static bool check(struct takt_descriptors *of)
{
    for (size_t i = 0; i < of->count && !of->is_lost; i++)
        of->is_lost = !is_as_it_was(&of->list[i]);
    return !of->is_lost;
}

static struct takt_descriptors *find(struct file database)
{
    struct takt_descriptors *of = first;

    while (of != NULL && !is_same(of->database, database))
        of = of->next;
    return of;
}

static struct takt_descriptors *find_or_add(struct file database)
{
    struct takt_descriptors *of = find(database);

    if (of == NULL && (of = calloc(1, sizeof *of)) != NULL) {
        of->database = database;
        of->next = first;
        first = of;
    }
    return of;
}

static bool has(const struct takt_descriptors *of, int fd)
{
    for (size_t i = 0; of != NULL && i < of->count; i++)
        if (of->list[i].fd == fd)
            return true;
    return false;
}

static bool add(struct takt_descriptors *of, int fd, int part, struct file file)
{
    if (has(of, fd))
        return true;
    struct descriptor *more =
        realloc(of->list, (of->count + 1) * sizeof *of->list);
    if (more == NULL)
        return false;
    of->list = more;
    more[of->count++] = (struct descriptor){fd, part, file};
    return true;
}

struct descriptor_search {
    struct takt_descriptors *of; /* NULL: there are none */
    struct file part[parts];
    bool is_complete, has_stranger;
};

static bool add_if_part(void *self, int fd, const struct stat *facts)
{
    struct descriptor_search *search = self;
    const struct file file = file_of(facts);

    for (int i = 0; i < parts && search->is_complete; i++)
        if (is_same(file, search->part[i]))
            search->is_complete = add(search->of, fd, i, file);
    return search->is_complete;
}

static bool look_for_stranger(void *self, int fd, const struct stat *facts)
{
    struct descriptor_search *search = self;
    const struct file file = file_of(facts);

    for (int i = 1; i < parts; i++)
        if (is_same(file, search->part[i]) && !has(search->of, fd))
            search->has_stranger = true;
    return !search->has_stranger;
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

bool takt__descriptors_may_open(const struct stat *database)
{
    takt__lock(&list_lock);
    struct takt_descriptors *of = find(file_of(database));
    const bool may = of == NULL || check(of);
    takt__unlock(&list_lock);
    return may;
}

static bool is_other_part(struct file file, int part)
{
    for (const struct takt_descriptors *of = first; of != NULL; of = of->next)
        for (size_t i = 0; i < of->count; i++)
            if (is_same(of->list[i].file, file) && of->list[i].part != part)
                return true;
    return false;
}

bool takt__descriptors_may_read(const struct stat *facts, bool is_log)
{
    takt__lock(&list_lock);
    const bool may = !is_other_part(file_of(facts), is_log ? 1 : 0);
    takt__unlock(&list_lock);
    return may;
}

bool takt__descriptors_have_stranger(const char *path)
{
    struct descriptor_search search = {0};

    takt__lock(&list_lock);
    if (find_parts(path, search.part)) {
        search.of = find(search.part[0]);
        takt__open_files_visit(look_for_stranger, &search);
    }
    takt__unlock(&list_lock);
    return search.has_stranger;
}

static bool add_lockfile(struct takt_descriptors *of, int lockfile)
{
    struct stat facts;
    return lockfile < 0 || fstat(lockfile, &facts) != 0 ||
           add(of, lockfile, lockfile_part, file_of(&facts));
}

takt_status takt__descriptors_add(const char *path, const struct stat *database,
                                  int lockfile, struct takt_descriptors **out)
{
    struct descriptor_search search = {.is_complete = true};
    takt_status status = TAKT_ENOMEM;

    takt__lock(&list_lock);
    struct takt_descriptors *of = find_or_add(file_of(database));
    if (of != NULL) {
        of->users++;
        search.of = of;
        if (!check(of))
            status = TAKT_EIO;
        else if (find_parts(path, search.part)) {
            takt__open_files_visit(add_if_part, &search);
            if (search.is_complete && add_lockfile(of, lockfile))
                status = TAKT_OK;
        }
    }
    takt__unlock(&list_lock);
    *out = of;
    return status;
}

bool takt__descriptors_are_ours(struct takt_descriptors *of)
{
    if (of == NULL)
        return true;
    takt__lock(&list_lock);
    const bool is_whole = check(of);
    takt__unlock(&list_lock);
    return is_whole;
}

static void keep(struct takt_descriptors *of, void *connection)
{
    struct kept *kept = malloc(sizeof *kept);

    if (kept == NULL)
        return;
    *kept = (struct kept){of->kept, connection};
    of->kept = kept;
}

bool takt__descriptors_begin_release(struct takt_descriptors *of,
                                     void *connection)
{
    takt__lock(&list_lock);
    if (of == NULL || check(of))
        return true;
    keep(of, connection);
    takt__unlock(&list_lock);
    return false;
}

static void remove_entry(struct takt_descriptors *of)
{
    struct takt_descriptors **at = &first;

    while (*at != of)
        at = &(*at)->next;
    *at = of->next;
    free(of->list);
    free(of);
}

/* All were as they were when this began: what is not any more, we closed. What
 * SQLite still has open, for it cannot close a file that another connection
 * has locked, stays. */
void takt__descriptors_end_release(struct takt_descriptors *of)
{
    size_t left = 0;

    for (size_t i = 0; of != NULL && i < of->count; i++)
        if (is_as_it_was(&of->list[i]))
            of->list[left++] = of->list[i];
    if (of != NULL) {
        of->count = left;
        if (--of->users == 0)
            remove_entry(of);
    }
    takt__unlock(&list_lock);
}
