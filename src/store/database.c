/* SPDX-License-Identifier: MIT */
/*
 * database.c - statements, transactions, and the end of a connection; open.c
 * has its beginning.
 */
#include "store/database.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "store/schema.h"
#include "store/sql.h"

#define PUT_RECORD                                                        \
    "INSERT INTO record VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10," \
    " ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)"             \
    " ON CONFLICT DO UPDATE SET epoch = ?11, seq = ?12, n = ?13,"         \
    " mean = ?14, m2 = ?15, first_s = ?16, bytes = ?17, flops = ?18,"     \
    " calls = ?19, seconds = ?20, last_unix_s = ?21"

#define NUMBERS                                                        \
    " dtype, situation, bin, epoch, seq, n, mean, m2, first_s, bytes," \
    " flops, calls, seconds, last_unix_s FROM record r"

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
    [TAKT_SQL_NAME_OF] = "SELECT text FROM name WHERE id = ?1",
    [TAKT_SQL_SCAN] =
        "SELECT machine, device, software, writer, op, layout, expert," NUMBERS,
    [TAKT_SQL_SELECT] =
        "SELECT m.text, d.text, s.text, w.text, o.text, l.text, e.text," NUMBERS
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
    [TAKT_SQL_LAST_OF_WRITER] =
        "SELECT max(epoch), max(seq) FROM record WHERE writer ="
        " (SELECT id FROM name WHERE text = ?1)",
    [TAKT_SQL_RETIRE_WRITER] = "DELETE FROM writer WHERE name ="
                               " (SELECT id FROM name WHERE text = ?1)",
    [TAKT_SQL_FORGET] = "DELETE FROM record WHERE ?1 IS NULL OR op ="
                        " (SELECT id FROM name WHERE text = ?1)",
    [TAKT_SQL_FORGET_MACHINE] = "DELETE FROM record WHERE machine ="
                                " (SELECT id FROM name WHERE text = ?1)",
};

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

takt_status takt__database_prepare_text(struct takt_database *database,
                                        enum takt_sql which, const char *text,
                                        sqlite3_stmt **out)
{
    const takt_status status = takt__database_prepare(database, which, out);

    if (status == TAKT_OK)
        sqlite3_bind_text(*out, 1, text, -1, SQLITE_STATIC);
    return status;
}

takt_status takt__database_run(struct takt_database *database,
                               enum takt_sql which, const char *text)
{
    sqlite3_stmt *statement;
    const takt_status status =
        takt__database_prepare_text(database, which, text, &statement);

    return status == TAKT_OK ? takt__sql_step(statement) : status;
}

takt_status takt__database_prepare_all(struct takt_database *database)
{
    takt_status status = TAKT_OK;
    sqlite3_stmt *ignored;

    for (int i = 0; status == TAKT_OK && i < TAKT_SQL_COUNT; i++)
        status = takt__database_prepare(database, (enum takt_sql)i, &ignored);
    return status;
}

void takt__database_disconnect(struct takt_database *database)
{
    for (int i = 0; i < TAKT_SQL_COUNT; i++)
        sqlite3_finalize(database->statement[i]);
    memset(database->statement, 0, sizeof database->statement);
    sqlite3_close(database->db);
    takt__vfs_free(database->vfs);
    database->db = NULL;
    database->vfs = NULL;
}

takt_status takt__database_open_private(struct takt_database *out)
{
    memset(out, 0, sizeof *out);
    out->lockfile = -1;
    takt_status status = takt__sql_status(sqlite3_open_v2(
        "", &out->db,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
        NULL));
    if (status == TAKT_OK)
        status = takt__schema_upgrade(out->db);
    if (status != TAKT_OK)
        takt__database_close(out);
    return status;
}

void takt__database_close(struct takt_database *database)
{
    if (takt__descriptors_begin_release(database->descriptors, database->db)) {
        takt__database_disconnect(database);
        takt__lockfile_close(database->lockfile);
        takt__descriptors_end_release(database->descriptors);
    }
    free(database->path);
    database->path = NULL;
    database->lockfile = -1;
    database->descriptors = NULL;
}

bool takt__database_is_there(const struct takt_database *database)
{
    struct stat facts;
    return stat(database->path, &facts) == 0 &&
           (int64_t)facts.st_ino == database->inode;
}

bool takt__database_is_usable(const struct takt_database *database)
{
    return takt__descriptors_are_ours(database->descriptors);
}

takt_status takt__database_begin(struct takt_database *database)
{
    if (!takt__database_is_usable(database))
        return TAKT_EIO;
    memset(database->known, 0, sizeof database->known);
    return takt__sql_run(database->db, "BEGIN IMMEDIATE");
}

takt_status takt__database_end(struct takt_database *database,
                               takt_status so_far)
{
    if (!takt__database_is_usable(database))
        return TAKT_EIO; /* undoing would touch the files, too */
    if (so_far == TAKT_OK)
        so_far = takt__sql_run(database->db, "COMMIT");
    if (so_far != TAKT_OK && !sqlite3_get_autocommit(database->db))
        takt__sql_run(database->db, "ROLLBACK");
    return so_far;
}
