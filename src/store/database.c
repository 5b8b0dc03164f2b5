/* SPDX-License-Identifier: MIT */
/*
 * database.c - opening a file that may be missing, damaged, another's, locked
 * or on a file system that cannot lock.
 *
 * Whoever opens a database holds the gate (places.h) until SQLite has all its
 * files open. So a damaged one is moved aside by one process only, and nobody
 * can have the old database with the new one's log. We never open the file
 * ourselves: closing a descriptor of it would drop the locks that SQLite
 * holds for another connection of this process.
 */
#include "store/database.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/aside.h"
#include "store/diag.h"
#include "store/hold.h"
#include "store/path.h"
#include "store/places.h"
#include "store/schema.h"
#include "store/sql.h"
#include "store/store.h"

enum {
    busy_ms = 2000,
    longest_text = 1 << 20, /* nothing in a store is nearly so long */
    cheap_check_bytes = 4 << 20,
    checkpoint_pages = 256
};

#define PUT_RECORD                                                        \
    "INSERT INTO record VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10," \
    " ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)"             \
    " ON CONFLICT DO UPDATE SET epoch = ?11, seq = ?12, n = ?13,"         \
    " mean = ?14, m2 = ?15, first_s = ?16, bytes = ?17, flops = ?18,"     \
    " calls = ?19, seconds = ?20, last_unix_s = ?21"

static const char *const texts[TAKT_SQL_COUNT] = {
    [TAKT_SQL_FIND_NAME] = "SELECT id FROM name WHERE text = ?1",
    [TAKT_SQL_ADD_NAME] = "INSERT INTO name (text) VALUES (?1)",
    [TAKT_SQL_ADVANCE] = PUT_RECORD " WHERE (?11, ?12) > (epoch, seq)",
    /* Two records with the same epoch and seq should not be; if they are, the
     * rest decides, so that the order of merging does not. */
    [TAKT_SQL_MERGE] = PUT_RECORD
    " WHERE (?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21) >"
    " (epoch, seq, n, mean, m2, first_s, bytes, flops, calls, seconds,"
    " last_unix_s)",
    [TAKT_SQL_SELECT] =
        "SELECT m.text, d.text, s.text, w.text, o.text, l.text, e.text,"
        " dtype, situation, bin, epoch, seq, n, mean, m2, first_s, bytes,"
        " flops, calls, seconds, last_unix_s FROM record r"
        " CROSS JOIN name m ON m.id = r.machine"
        " CROSS JOIN name d ON d.id = r.device"
        " CROSS JOIN name s ON s.id = r.software"
        " CROSS JOIN name w ON w.id = r.writer"
        " CROSS JOIN name o ON o.id = r.op"
        " CROSS JOIN name l ON l.id = r.layout"
        " CROSS JOIN name e ON e.id = r.expert"
        " ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10",
    [TAKT_SQL_FIND_WRITER] =
        "SELECT n.text, w.epoch FROM writer w"
        " JOIN name m ON m.id = w.machine JOIN name n ON n.id = w.name"
        " WHERE w.place = ?1 AND m.text = ?2 AND w.inode = ?3",
    [TAKT_SQL_ADD_WRITER] = "INSERT INTO writer VALUES (?1, ?2, ?3, ?4, ?5)"
                            " ON CONFLICT DO UPDATE SET name = ?4, epoch = ?5",
    [TAKT_SQL_LAST_EPOCH] = "SELECT max(epoch) FROM record WHERE writer ="
                            " (SELECT id FROM name WHERE text = ?1)",
    [TAKT_SQL_FORGET] = "DELETE FROM record WHERE ?1 IS NULL OR op ="
                        " (SELECT id FROM name WHERE text = ?1)",
};

/* A file from elsewhere may define what it likes under our tables' names; it
 * gets to run nothing. */
static void distrust(sqlite3 *db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, longest_text);
    sqlite3_busy_timeout(db, busy_ms);
}

static takt_status connect(const char *name, int flags, sqlite3 **out)
{
    const int result =
        sqlite3_open_v2(name, out, flags | SQLITE_OPEN_NOMUTEX, NULL);

    if (result != SQLITE_OK) {
        sqlite3_close(*out);
        *out = NULL;
        return takt__sql_status(result);
    }
    distrust(*out);
    return TAKT_OK;
}

/* In a folder that cannot be written, SQLite has no place for the index of
 * its log, and refuses, unless told that nobody writes. Which is so: whoever
 * can write there would have left an index. */
static takt_status connect_immutable(const char *path, sqlite3 **out)
{
    static const char tail[] = "?immutable=1";
    char *name = malloc(strlen("file:") + 3 * strlen(path) + sizeof tail);

    *out = NULL;
    if (name == NULL)
        return TAKT_ENOMEM;
    char *at = name + sprintf(name, "file:");
    for (; *path != '\0'; path++)
        at += sprintf(at, strchr("%?#", *path) ? "%%%02X" : "%c",
                      (unsigned)(unsigned char)*path);
    strcpy(at, tail);
    const takt_status status =
        connect(name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, out);
    free(name);
    return status;
}

takt_status takt__database_prepare(struct takt_database *database,
                                   enum takt_sql which, sqlite3_stmt **out)
{
    sqlite3_stmt **kept = &database->statement[which];
    int result = SQLITE_OK;

    if (*kept == NULL)
        result = sqlite3_prepare_v3(database->db, texts[which], -1,
                                    SQLITE_PREPARE_PERSISTENT, kept, NULL);
    *out = *kept;
    return takt__sql_status(result);
}

static takt_status read_schema(struct takt_database *database,
                               enum takt_schema_state *state, int64_t *version)
{
    takt_status status = takt__schema_read(database->db, state, version);

    const int result = sqlite3_errcode(database->db);
    if (status == TAKT_EIO && database->is_readonly &&
        (result == SQLITE_CANTOPEN || result == SQLITE_READONLY)) {
        sqlite3_close(database->db);
        status = connect_immutable(database->path, &database->db);
        if (status == TAKT_OK)
            status = takt__schema_read(database->db, state, version);
    }
    return status;
}

/* Not ours to touch; says why. */
static takt_status refuse(const char *path, enum takt_schema_state state,
                          int64_t version, takt_diag *diag)
{
    if (state == TAKT_SCHEMA_LATER)
        takt__diag_say(diag,
                       "%s is of version %lld and this Takt knows up to %d: "
                       "use a later Takt, or another file (TAKT_DB)",
                       path, (long long)version, TAKT_SCHEMA_VERSION);
    else
        takt__diag_say(diag,
                       "%s is a database of another program: use another file "
                       "(TAKT_DB)",
                       path);
    return TAKT_ECORRUPT;
}

static bool is_cheap_to_check(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && facts.st_size <= cheap_check_bytes;
}

/* A mark needs no check: SQLite has met damage there, and there is damage that
 * it only meets when it writes. */
static takt_status check(struct takt_database *database,
                         enum takt_database_use use)
{
    if (use == TAKT_DATABASE_READ)
        return takt__schema_check(database->db, true);
    if (takt__places_is_marked(database->places))
        return TAKT_ECORRUPT;
    return is_cheap_to_check(database->path)
               ? takt__schema_check(database->db, false)
               : TAKT_OK;
}

/* As SQLite would by itself, but for looking before: this is when it writes to
 * the file, and waits for the disk. */
static int on_commit(void *self, sqlite3 *db, const char *name, int pages)
{
    if (pages >= checkpoint_pages && takt__database_is_held(self))
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

/* Tables that lack a column pass every check, and would fail every use. */
static takt_status prepare_all(struct takt_database *database)
{
    takt_status status = TAKT_OK;
    sqlite3_stmt *ignored;

    for (int i = 0; status == TAKT_OK && i < TAKT_SQL_COUNT; i++)
        status = takt__database_prepare(database, (enum takt_sql)i, &ignored);
    return status;
}

/* TAKT_ECORRUPT with *is_ours: damaged, so it may be moved aside. */
static takt_status open_file(struct takt_database *database,
                             enum takt_database_use use, takt_diag *diag,
                             bool *is_ours)
{
    const int make = use == TAKT_DATABASE_WRITE ? SQLITE_OPEN_CREATE : 0;
    enum takt_schema_state state;
    int64_t version;

    *is_ours = false;
    takt_status status =
        connect(database->path, SQLITE_OPEN_READWRITE | make, &database->db);
    if (status != TAKT_OK)
        return status;
    database->is_readonly = use == TAKT_DATABASE_READ ||
                            sqlite3_db_readonly(database->db, "main") == 1;
    status = read_schema(database, &state, &version);
    *is_ours = status == TAKT_ECORRUPT;
    if (status != TAKT_OK)
        return status;
    if (state == TAKT_SCHEMA_LATER || state == TAKT_SCHEMA_FOREIGN)
        return refuse(database->path, state, version, diag);
    *is_ours = true;
    database->is_empty = database->is_readonly && state == TAKT_SCHEMA_EMPTY;
    status = check(database, use);
    if (status == TAKT_OK && !database->is_readonly)
        status = make_current(database, state);
    if (status == TAKT_OK && !database->is_empty)
        status = prepare_all(database);
    return status;
}

static void close_file(struct takt_database *database)
{
    for (int i = 0; i < TAKT_SQL_COUNT; i++)
        sqlite3_finalize(database->statement[i]);
    memset(database->statement, 0, sizeof database->statement);
    sqlite3_close(database->db);
    database->db = NULL;
}

/* What people are told when nothing more precise has been said. */
static takt_status explain(const struct takt_database *database,
                           takt_status status, takt_diag *diag)
{
    if (diag == NULL || diag->text[0] != '\0')
        return status;
    if (status == TAKT_ECORRUPT)
        takt__diag_say(diag, "%s is damaged, or not a store of Takt's",
                       database->path);
    else if (status == TAKT_EIO && !takt__database_is_held(database))
        takt__diag_say(diag, "%s", TAKT_STORE_LOST);
    else if (status == TAKT_EIO)
        takt__diag_say(diag,
                       "%s cannot be used (%s): check its folder's rights, "
                       "the space left, and who else uses it",
                       database->path,
                       database->db != NULL ? sqlite3_errmsg(database->db)
                                            : "no access");
    return status;
}

/* Behind the gate. */
static takt_status replace_damaged(struct takt_database *database,
                                   takt_diag *diag)
{
    int number;
    bool is_ours;

    close_file(database);
    if (takt__aside_move(database->path, &number) != TAKT_OK) {
        takt__diag_say(diag,
                       "%s is damaged and cannot be moved aside: remove it",
                       database->path);
        return TAKT_EIO;
    }
    takt__places_mark(database->places, false);
    const takt_status status =
        open_file(database, TAKT_DATABASE_WRITE, diag, &is_ours);
    if (status == TAKT_OK)
        takt__diag_say(diag,
                       "%s was damaged and is now %s.damaged-%d: learning "
                       "starts anew in a new file",
                       database->path, database->path, number);
    return status;
}

static takt_status open_behind_gate(struct takt_database *database,
                                    enum takt_database_use use, takt_diag *diag)
{
    bool is_ours;
    const takt_status status = open_file(database, use, diag, &is_ours);

    if (status != TAKT_ECORRUPT || !is_ours || use == TAKT_DATABASE_READ ||
        database->is_readonly)
        return status;
    return replace_damaged(database, diag);
}

static takt_status find(const char *path, enum takt_database_use use,
                        struct takt_database *database, struct stat *facts)
{
    memset(database, 0, sizeof *database);
    memset(facts, 0, sizeof *facts);
    database->places = -1;
    if (use == TAKT_DATABASE_WRITE && !takt__path_make_folders(path))
        return TAKT_EIO;
    database->path = takt__path_resolve(path);
    if (database->path == NULL)
        return errno == ENOENT && use == TAKT_DATABASE_READ ? TAKT_ENOENT
                                                            : TAKT_EIO;
    if (stat(database->path, facts) != 0)
        return use == TAKT_DATABASE_READ ? TAKT_ENOENT : TAKT_OK;
    return S_ISREG(facts->st_mode) ? TAKT_OK : TAKT_EIO;
}

/* Behind the gate, too: later the file of that name may be another one. */
static takt_status note_file(struct takt_database *database, takt_status status)
{
    struct stat facts;

    if (status != TAKT_OK)
        return status;
    if (stat(database->path, &facts) != 0)
        return TAKT_EIO;
    database->inode = (int64_t)facts.st_ino;
    return takt__hold_take(database->path, &facts, database->places,
                           &database->hold);
}

static takt_status enter_and_open(struct takt_database *database,
                                  enum takt_database_use use, takt_diag *diag)
{
    const bool may_make = use == TAKT_DATABASE_WRITE;
    takt_status status;

    database->places = takt__places_open(database->path, may_make);
    if (database->places < 0) {
        status = open_behind_gate(database, TAKT_DATABASE_READ, diag);
        return note_file(database, status);
    }
    status = takt__places_enter(database->places);
    if (status != TAKT_OK) {
        takt__diag_say(diag, "%s-writers stays locked by another process",
                       database->path);
        return status;
    }
    status = note_file(database, open_behind_gate(database, use, diag));
    takt__places_leave(database->places);
    return status;
}

static takt_status open_or_say(const char *path, enum takt_database_use use,
                               takt_diag *diag, struct takt_database *out)
{
    struct stat facts;
    takt_status status = find(path, use, out, &facts);

    if (status == TAKT_ENOENT)
        takt__diag_say(diag, "%s: there is no such file", path);
    else if (status != TAKT_OK && out->path == NULL)
        takt__diag_say(diag, "%s: %s", path, strerror(errno));
    else if (status != TAKT_OK)
        takt__diag_say(diag, "%s is not a regular file", path);
    else if (takt__hold_may_open(&facts))
        status = explain(out, enter_and_open(out, use, diag), diag);
    else {
        takt__diag_say(diag, "%s", TAKT_STORE_LOST);
        status = TAKT_EIO;
    }
    return status;
}

takt_status takt__database_open(const char *path, enum takt_database_use use,
                                takt_diag *diag, struct takt_database *out)
{
    const takt_status status = open_or_say(path, use, diag, out);

    if (status != TAKT_OK) {
        takt__database_close(out);
        return status;
    }
    if (use == TAKT_DATABASE_WRITE && out->is_readonly && diag != NULL &&
        diag->text[0] == '\0')
        takt__diag_say(diag,
                       "%s can be read and not written: what is learned stays "
                       "in memory; make the file and its folder writable, or "
                       "use another (TAKT_DB)",
                       out->path);
    return TAKT_OK;
}

takt_status takt__database_open_private(struct takt_database *out)
{
    memset(out, 0, sizeof *out);
    out->places = -1;
    takt_status status =
        connect("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &out->db);
    if (status == TAKT_OK)
        status = takt__schema_upgrade(out->db);
    if (status != TAKT_OK)
        takt__database_close(out);
    return status;
}

void takt__database_close(struct takt_database *database)
{
    if (takt__hold_begin_release(database->hold, database->db)) {
        close_file(database);
        takt__places_close(database->places);
        takt__hold_end_release(database->hold);
    }
    free(database->path);
    database->path = NULL;
    database->places = -1;
    database->hold = NULL;
}

bool takt__database_is_there(const struct takt_database *database)
{
    struct stat facts;
    return stat(database->path, &facts) == 0 &&
           (int64_t)facts.st_ino == database->inode;
}

bool takt__database_is_held(const struct takt_database *database)
{
    return takt__hold_is_whole(database->hold);
}

takt_status takt__database_begin(struct takt_database *database)
{
    if (!takt__database_is_held(database))
        return TAKT_EIO;
    memset(database->known, 0, sizeof database->known);
    return takt__sql_run(database->db, "BEGIN IMMEDIATE");
}

takt_status takt__database_end(struct takt_database *database,
                               takt_status so_far)
{
    if (!takt__database_is_held(database))
        return TAKT_EIO; /* undoing would touch the files, too */
    if (so_far == TAKT_OK)
        so_far = takt__sql_run(database->db, "COMMIT");
    if (so_far != TAKT_OK && !sqlite3_get_autocommit(database->db))
        takt__sql_run(database->db, "ROLLBACK");
    return so_far;
}
