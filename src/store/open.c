/* SPDX-License-Identifier: MIT */
/*
 * open.c - opening a file that may be missing, damaged, another's, locked or
 * on a file system that cannot lock.
 *
 * A process that opens a database to write holds the opening lock (lockfile.h)
 * until SQLite has all its files open. So a damaged one is renamed by one
 * process only, and no process has the old database with the new one's log. We
 * never open the file ourselves: closing a descriptor of it would drop the
 * locks that SQLite holds for another connection of this process.
 *
 * A disk that fails to read once, or a lack of memory, can look like damage:
 * SQLite's check reports both as it does damage. So a file is only called
 * damaged when a copy of it in memory, read without an error, is damaged too.
 * The reverse happens as well: a table whose description claims to be 4 GiB
 * long is a lack of memory to SQLite. So after that, too, it is looked at
 * again.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/database_file.h"
#include "base/say.h"
#include "store/path.h"
#include "store/read.h"
#include "store/sql.h"

/* Of a path SQLite takes 512 bytes, "-journal" included. */
enum { longest_path = 504 };

enum { busy_ms = 2000, cheap_check_bytes = 4 << 20, checkpoint_pages = 256 };

static bool is_cheap_to_check(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && facts.st_size <= cheap_check_bytes;
}

/* Known damage needs no check. Nor does a file that
 * was opened for writing and whose header forbids to write it: its version is
 * one that SQLite does not know. */
static takt_status check(struct takt_database *database)
{
    const enum takt_damage damage = takt__lockfile_damage(database->lockfile);

    if (damage == TAKT_DAMAGE_FOUND || damage == TAKT_DAMAGE_FOUND_AGAIN ||
        sqlite3_db_readonly(database->db, "main") == 1)
        return TAKT_ECORRUPT;
    return is_cheap_to_check(database->path)
               ? takt__schema_check(database->db, false)
               : TAKT_OK;
}

/* As SQLite would by itself, but for looking before: this is when it writes to
 * the file, and waits for the disk. */
static int on_commit(void *self, sqlite3 *db, const char *name, int pages)
{
    if (pages >= checkpoint_pages && takt__database_is_usable(self))
        sqlite3_wal_checkpoint(db, name);
    return SQLITE_OK;
}

/* The log makes readers and a writer independent of each other, but it needs
 * memory shared by all of them: one host. */
static takt_status make_current(struct takt_database *database,
                                enum takt_schema_state state)
{
    sqlite3 *db = database->db;
    const bool is_remote = takt__path_is_remote(database->path);
    const takt_status status =
        takt__sql_run(db, is_remote ? "PRAGMA journal_mode = DELETE"
                                    : "PRAGMA journal_mode = WAL;"
                                      "PRAGMA synchronous = NORMAL");

    sqlite3_wal_hook(db, on_commit, database);
    if (status != TAKT_OK || state == TAKT_SCHEMA_CURRENT)
        return status;
    return takt__schema_upgrade(db);
}

/* As sqlite3_busy_timeout() does, while there is patience. */
static int wait_for_others(void *self, int times)
{
    enum { pause_ms = 2 };
    const struct timespec pause = {.tv_nsec = pause_ms * 1000000L};
    const struct takt_database *database = self;

    if (times >= busy_ms / pause_ms || !takt__may_wait(database->patience))
        return 0;
    nanosleep(&pause, NULL);
    return 1;
}

static void wait_with_patience(struct takt_database *database)
{
    if (database->patience == NULL)
        sqlite3_busy_timeout(database->db, busy_ms);
    else
        sqlite3_busy_handler(database->db, wait_for_others, database);
}

void takt__database_is_open(struct takt_database *database)
{
    if (database->patience != NULL && database->db != NULL)
        sqlite3_busy_timeout(database->db, busy_ms);
    database->patience = NULL;
}

/* TAKT_ECORRUPT with *is_ours: it seems to be damaged. */
static takt_status open_to_write(struct takt_database *database,
                                 takt_diag *diag, bool *is_ours)
{
    enum takt_schema_state state;
    int64_t version;

    *is_ours = false;
    takt_status status = takt__vfs_connect(
        database->path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL,
        &database->vfs, &database->db);
    if (status != TAKT_OK)
        return status;
    takt__read_distrust(database->db);
    wait_with_patience(database);
    if (sqlite3_db_readonly(database->db, "main") == 1) {
        takt__database_disconnect(database);
        return takt__read_open(database, TAKT_IMAGE_OWN_BYTES, diag);
    }
    status = takt__schema_read(database->db, &state, &version);
    *is_ours = status == TAKT_ECORRUPT;
    if (status != TAKT_OK)
        return status;
    if (state == TAKT_SCHEMA_LATER || state == TAKT_SCHEMA_FOREIGN)
        return takt__read_refuse(database->path, state, version, diag);
    *is_ours = true;
    status = check(database);
    if (status == TAKT_OK)
        status = make_current(database, state);
    /* Tables that lack a column pass every check, and would fail every use. */
    if (status == TAKT_OK)
        status = takt__database_prepare_all(database);
    return status;
}

/* The message for people, unless a more precise one was written. */
static takt_status explain(const struct takt_database *database,
                           takt_status status, takt_diag *diag)
{
    const char *path = database->path;

    if (status == TAKT_OK || diag == NULL || diag->text[0] != '\0')
        return status;
    if (status == TAKT_ECORRUPT)
        return takt__say(diag, status,
                         "%s is damaged, or not a store of Takt's", path);
    if (status == TAKT_ENOMEM)
        return takt__say(diag, status, "there is not enough memory to read %s",
                         path);
    if (!takt__database_is_usable(database))
        return takt__say(diag, status, "%s", TAKT_STORE_LOST);
    return takt__say(diag, status,
                     "%s cannot be used (%s): check its folder's rights, the "
                     "space left, and what else uses it",
                     path,
                     database->db != NULL ? sqlite3_errmsg(database->db)
                                          : "no access");
}

/* ---- damage -------------------------------------------------------------- */

enum { most_damaged = 100, number_bytes = 32 };

/* The database goes last: were we killed in between, what is left under its
 * name is still damaged and is found again, and never is a journal left that
 * would be applied to the new one. */
static const char *const companions[] = {"-wal", "-shm", "-journal", ""};

static bool exists(const char *path)
{
    struct stat facts;
    return lstat(path, &facts) == 0;
}

static bool move(char *from, char *to)
{
    char *const from_end = from + strlen(from);
    char *const to_end = to + strlen(to);
    bool is_moved = true;

    for (size_t i = 0; i < sizeof companions / sizeof companions[0]; i++) {
        strcpy(from_end, companions[i]);
        strcpy(to_end, companions[i]);
        if (rename(from, to) != 0 && errno != ENOENT)
            is_moved = false;
    }
    return is_moved;
}

/* Renames the database at `path` to the first of "PATH.damaged-1",
 * "PATH.damaged-2", ... that is free, together with the files that SQLite keeps
 * beside it. *number tells which it was. TAKT_EIO: it cannot be moved, or there
 * are too many already. */
static takt_status quarantine(const char *path, int *number)
{
    const size_t bytes = strlen(path) + number_bytes;
    char *from = malloc(bytes);
    char *to = malloc(bytes);
    takt_status status = TAKT_EIO;

    *number = 0;
    if (from == NULL || to == NULL) {
        status = TAKT_ENOMEM;
        goto out;
    }
    strcpy(from, path);
    for (int i = 1; i <= most_damaged; i++) {
        snprintf(to, bytes, "%s.damaged-%d", path, i);
        if (exists(to))
            continue;
        *number = i;
        status = move(from, to) ? TAKT_OK : TAKT_EIO;
        break;
    }
out:
    free(to);
    free(from);
    return status;
}

/* With the opening lock. */
static takt_status replace_damaged(struct takt_database *database,
                                   takt_diag *diag)
{
    int number;
    bool is_ours;
    takt_status status = quarantine(database->path, &number);

    if (status == TAKT_ENOMEM)
        return status;
    if (status != TAKT_OK)
        return takt__say(diag, TAKT_EIO,
                         "%s is damaged and cannot be moved aside: remove it",
                         database->path);
    takt__lockfile_set_damage(database->lockfile, TAKT_DAMAGE_NONE);
    status = open_to_write(database, diag, &is_ours);
    return takt__say(diag, status == TAKT_ECORRUPT ? TAKT_EIO : status,
                     "%s was damaged and is now %s.damaged-%d: learning starts "
                     "anew in a new file",
                     database->path, database->path, number);
}

/* With the opening lock. A file that seemed damaged, or for which there seemed
 * to be no memory: looks at it again, and if that finds nothing, opens it
 * again.
 */
static takt_status look_again(struct takt_database *database, takt_diag *diag)
{
    const enum takt_damage damage = takt__lockfile_damage(database->lockfile);
    bool is_ours = true;

    takt_status status =
        damage == TAKT_DAMAGE_FOUND_AGAIN
            ? TAKT_ECORRUPT
            : takt__read_verify(database->path, damage == TAKT_DAMAGE_FOUND,
                                diag);
    if (status == TAKT_OK) {
        if (damage == TAKT_DAMAGE_FOUND)
            takt__lockfile_set_damage(database->lockfile, TAKT_DAMAGE_CHECKED);
        status = open_to_write(database, diag, &is_ours);
    }
    if (status != TAKT_ECORRUPT || !is_ours)
        return status;
    takt__database_disconnect(database);
    return replace_damaged(database, diag);
}

static takt_status open_locked(struct takt_database *database, takt_diag *diag)
{
    bool is_ours;
    const takt_status status = open_to_write(database, diag, &is_ours);

    if (status == TAKT_ENOMEM && takt__read_claims_too_much(database->path)) {
        takt__database_disconnect(database);
        return replace_damaged(database, diag);
    }
    if (status != TAKT_ECORRUPT || !is_ours)
        return status;
    takt__database_disconnect(database);
    return look_again(database, diag);
}

static takt_status find(const char *path, enum takt_database_use use,
                        struct takt_database *database, struct stat *facts)
{
    memset(database, 0, sizeof *database);
    memset(facts, 0, sizeof *facts);
    database->lockfile = -1;
    if (use == TAKT_DATABASE_WRITE && !takt__path_make_folders(path))
        return TAKT_EIO;
    database->path = takt__path_resolve(path);
    if (database->path == NULL && errno == ENOMEM)
        return TAKT_ENOMEM;
    if (database->path == NULL)
        return errno == ENOENT && use == TAKT_DATABASE_READ ? TAKT_ENOENT
                                                            : TAKT_EIO;
    if (stat(database->path, facts) != 0)
        return use == TAKT_DATABASE_READ ? TAKT_ENOENT : TAKT_OK;
    return S_ISREG(facts->st_mode) ? TAKT_OK : TAKT_EIO;
}

/* With the opening lock, too: later the file of that name may be another. */
static takt_status note_file(struct takt_database *database, takt_status status)
{
    struct stat facts;

    if (status != TAKT_OK || database->is_readonly)
        return status;
    if (stat(database->path, &facts) != 0)
        return TAKT_EIO;
    database->inode = (int64_t)facts.st_ino;
    return takt__descriptors_add(database->path, &facts, database->lockfile,
                                 &database->descriptors);
}

/* Whether it is the log of a store, say. To open such a file can drop the locks
 * of that store. */
static bool is_part_of_another(const char *path)
{
    struct stat facts;

    return takt__is_part_of_store(AT_FDCWD, path) ||
           (stat(path, &facts) == 0 &&
            !takt__descriptors_may_read(&facts, false));
}

/* Whether the file was never a store: it has content, but not the first bytes
 * of a database, and no store's list of writers beside it. A store that lost
 * its first page to zeros is damaged, not of another program. */
static bool is_of_another(const char *path)
{
    static const char title[16] = "SQLite format 3";
    static const char zeros[sizeof title];
    char start[sizeof title] = "";
    char *writers = takt__path_extend(path, "-writers");
    const bool is_store = writers == NULL || access(writers, F_OK) == 0;

    free(writers);
    return !is_store && takt__image_start(path, start, sizeof start) &&
           memcmp(start, title, sizeof title) != 0 &&
           memcmp(start, zeros, sizeof zeros) != 0;
}

/* What is wrong with a file that SQLite would write to; NULL: nothing. It waits
 * for ever for a writer to a pipe. It finds the log of a database by its
 * name, so that one with two names has two, and what is in one of them is lost;
 * and it writes over a log that is another name of some other file. */
static const char *find_fault(const char *name)
{
    struct stat facts;

    if (lstat(name, &facts) != 0)
        return NULL;
    if (!S_ISREG(facts.st_mode))
        return "is no regular file: remove it";
    return facts.st_nlink > 1 ? "has another name (a hard link), and what is "
                                "written by both would be lost: use a copy"
                              : NULL;
}

static takt_status check_files(const char *path, takt_diag *diag)
{
    takt_status status = TAKT_OK;

    for (size_t i = 0; i < sizeof companions / sizeof companions[0]; i++) {
        char *name = takt__path_extend(path, companions[i]);
        const char *fault = name == NULL ? NULL : find_fault(name);
        if (fault != NULL)
            status = takt__say(diag, TAKT_EIO, "%s %s", name, fault);
        free(name);
    }
    return status;
}

static takt_status enter_and_open(struct takt_database *database,
                                  enum takt_database_use use, takt_diag *diag)
{
    takt_status status;

    if (use == TAKT_DATABASE_READ)
        return takt__read_open(database, TAKT_IMAGE_FOREIGN_BYTES, diag);
    if (is_part_of_another(database->path) || is_of_another(database->path))
        return takt__say(diag, TAKT_ECORRUPT,
                         "%s is no store of Takt's and stays as it is: use "
                         "another file (TAKT_DB)",
                         database->path);
    status = check_files(database->path, diag);
    if (status != TAKT_OK)
        return status;
    database->lockfile = takt__lockfile_open(database->path, true);
    if (database->lockfile < 0 && errno == ENOMEM)
        return TAKT_ENOMEM;
    if (database->lockfile < 0 && errno == EEXIST)
        return takt__say(diag, TAKT_EIO,
                         "%s-writers is no file of Takt's and stays as it is: "
                         "use another store (TAKT_DB)",
                         database->path);
    if (database->lockfile < 0) {
        const int reason = errno;
        status = takt__read_open(database, TAKT_IMAGE_OWN_BYTES, diag);
        if (status != TAKT_ENOENT)
            return status;
        return takt__say(diag, TAKT_EIO,
                         "%s cannot be made: %s; make its folder writable, or "
                         "use another (TAKT_DB)",
                         database->path, strerror(reason));
    }
    status = takt__lockfile_lock(database->lockfile, database->patience);
    if (status != TAKT_OK)
        return takt__say(diag, status,
                         "%s-writers stays locked by another process",
                         database->path);
    const bool shares_sqlite = takt__vfs_shares_sqlite();
    status = !shares_sqlite && takt__descriptors_have_stranger(database->path)
                 ? takt__say(diag, TAKT_EIO, "%s: " TAKT_STORE_SHARED,
                             database->path)
                 : note_file(database, open_locked(database, diag));
    takt__lockfile_unlock(database->lockfile);
    return status;
}

static takt_status open_or_say(const char *path, enum takt_database_use use,
                               const struct takt_patience *patience,
                               takt_diag *diag, struct takt_database *out)
{
    struct stat facts;
    const takt_status status = find(path, use, out, &facts);

    if (out->path != NULL && strlen(out->path) > longest_path)
        return takt__say(diag, TAKT_EIO,
                         "a path of %zu bytes is too long for a store: use one "
                         "of %d at most (TAKT_DB)",
                         strlen(out->path), longest_path);
    out->patience = patience;
    if (status == TAKT_ENOENT)
        return takt__say(diag, status, "%s: there is no such file", path);
    if (status != TAKT_OK && out->path == NULL)
        return takt__say(diag, status,
                         "%s: %s; make its folder, or use another (TAKT_DB)",
                         path, strerror(errno));
    if (status != TAKT_OK)
        return takt__say(diag, status, "%s is not a regular file", path);
    if (!takt__descriptors_may_open(&facts))
        return takt__say(diag, TAKT_EIO, "%s", TAKT_STORE_LOST);
    return explain(out, enter_and_open(out, use, diag), diag);
}

takt_status takt__database_open(const char *path, enum takt_database_use use,
                                const struct takt_patience *patience,
                                takt_diag *diag, struct takt_database *out)
{
    const takt_status status = open_or_say(path, use, patience, diag, out);

    if (status != TAKT_OK) {
        takt__database_close(out);
        return status;
    }
    if (use == TAKT_DATABASE_WRITE && out->is_readonly && diag != NULL &&
        diag->text[0] == '\0')
        takt__say(diag, TAKT_OK,
                  "%s can be read and not written: what is learned stays "
                  "in memory; make the file and its folder writable, or "
                  "use another (TAKT_DB)",
                  out->path);
    return TAKT_OK;
}
