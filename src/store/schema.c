/* SPDX-License-Identifier: MIT */
/*
 * schema.c - the tables of a store, one step for each version.
 *
 * A step is never changed once it has been released: every store out there is
 * the sum of the steps up to its version. Names are kept once and referred to
 * by number, which makes a record a third of what it would be.
 */
#include "store/schema.h"

#include <stdio.h>
#include <string.h>

#include "store/sql.h"

static const char *const steps[TAKT_SCHEMA_VERSION] = {
    /* Every text of a key: fingerprints, writers, ops, layouts, experts. */
    "CREATE TABLE name ("
    " id INTEGER PRIMARY KEY,"
    " text TEXT NOT NULL UNIQUE);"

    "CREATE TABLE record ("
    " machine INTEGER NOT NULL, device INTEGER NOT NULL,"
    " software INTEGER NOT NULL, writer INTEGER NOT NULL,"
    " op INTEGER NOT NULL, layout INTEGER NOT NULL, expert INTEGER NOT NULL,"
    " dtype INTEGER NOT NULL, situation INTEGER NOT NULL,"
    " bin INTEGER NOT NULL, epoch INTEGER NOT NULL, seq INTEGER NOT NULL,"
    " n REAL NOT NULL, mean REAL NOT NULL, m2 REAL NOT NULL,"
    " first_s REAL NOT NULL, bytes REAL NOT NULL, flops REAL NOT NULL,"
    " calls REAL NOT NULL, seconds REAL NOT NULL,"
    " last_unix_s INTEGER NOT NULL,"
    " PRIMARY KEY (machine, device, software, writer, op, layout, expert,"
    "  dtype, situation, bin)) WITHOUT ROWID;"

    /* The writer of each slot. The inode makes a copied file another one:
     * two that go on from the same state must not be the same writer. */
    "CREATE TABLE writer ("
    " place INTEGER NOT NULL, machine INTEGER NOT NULL,"
    " inode INTEGER NOT NULL, name INTEGER NOT NULL, epoch INTEGER NOT NULL,"
    " PRIMARY KEY (place, machine, inode)) WITHOUT ROWID;"

    /* For people with a shell; nothing here reads it. */
    "CREATE VIEW history AS SELECT"
    " o.text AS op, l.text AS layout, r.dtype, r.situation, r.bin,"
    " e.text AS expert, r.n, exp(r.mean) / 1000 AS typical_us, r.calls,"
    " r.seconds, datetime(r.last_unix_s, 'unixepoch') AS last,"
    " substr(m.text, 1, 8) AS machine, substr(d.text, 1, 8) AS device,"
    " substr(s.text, 1, 8) AS software, substr(w.text, 1, 8) AS writer,"
    " r.epoch, r.seq"
    " FROM record r JOIN name m ON m.id = r.machine"
    " JOIN name d ON d.id = r.device JOIN name s ON s.id = r.software"
    " JOIN name w ON w.id = r.writer JOIN name o ON o.id = r.op"
    " JOIN name l ON l.id = r.layout JOIN name e ON e.id = r.expert"
    " ORDER BY o.text, l.text, r.dtype, r.situation, r.bin, r.mean;",
};

takt_status takt__schema_read(sqlite3 *db, enum takt_schema_state *state,
                              int64_t *version)
{
    int64_t objects = 0, application = 0;

    *state = TAKT_SCHEMA_FOREIGN;
    takt_status status = takt__sql_number(db, "PRAGMA user_version", version);
    if (status == TAKT_OK)
        status = takt__sql_number(db, "PRAGMA application_id", &application);
    if (status == TAKT_OK)
        status = takt__sql_number(db, "SELECT count(*) FROM sqlite_master",
                                  &objects);
    if (status != TAKT_OK)
        return status;
    if (application == 0 && *version == 0 && objects == 0)
        *state = TAKT_SCHEMA_EMPTY;
    else if (application != TAKT_SCHEMA_APPLICATION || *version < 1)
        *state = TAKT_SCHEMA_FOREIGN;
    else if (*version == TAKT_SCHEMA_VERSION)
        *state = TAKT_SCHEMA_CURRENT;
    else
        *state = *version > TAKT_SCHEMA_VERSION ? TAKT_SCHEMA_LATER
                                                : TAKT_SCHEMA_OLDER;
    return TAKT_OK;
}

static takt_status run_steps(sqlite3 *db)
{
    char text[96];
    int64_t version;
    takt_status status = takt__sql_number(db, "PRAGMA user_version", &version);

    for (; status == TAKT_OK && version < TAKT_SCHEMA_VERSION; version++)
        status = takt__sql_run(db, steps[version]);
    snprintf(text, sizeof text,
             "PRAGMA application_id = %d; PRAGMA user_version = %d",
             TAKT_SCHEMA_APPLICATION, TAKT_SCHEMA_VERSION);
    return status == TAKT_OK ? takt__sql_run(db, text) : status;
}

takt_status takt__schema_upgrade(sqlite3 *db)
{
    takt_status status = takt__sql_run(db, "BEGIN IMMEDIATE");

    if (status != TAKT_OK)
        return status;
    status = run_steps(db);
    if (status == TAKT_OK)
        status = takt__sql_run(db, "COMMIT");
    if (status != TAKT_OK)
        takt__sql_run(db, "ROLLBACK");
    return status;
}

/* Whether both statements give the same rows. */
static takt_status compare_rows(sqlite3_stmt *a, sqlite3_stmt *b, bool *is_same)
{
    int left, right;

    *is_same = true;
    do {
        left = sqlite3_step(a);
        right = sqlite3_step(b);
        if (left != SQLITE_ROW && left != SQLITE_DONE)
            return takt__sql_status(left);
        if (right != SQLITE_ROW && right != SQLITE_DONE)
            return takt__sql_status(right);
        *is_same = left == right;
        for (int i = 0; *is_same && left == SQLITE_ROW && i < 4; i++) {
            const char *x = (const char *)sqlite3_column_text(a, i);
            const char *y = (const char *)sqlite3_column_text(b, i);
            *is_same = x == NULL || y == NULL ? x == y : strcmp(x, y) == 0;
        }
    } while (*is_same && left == SQLITE_ROW);
    return TAKT_OK;
}

#define SELECT_OBJECTS(condition)                                   \
    "SELECT type, name, tbl_name, sql FROM sqlite_master" condition \
    " ORDER BY type, name"

/* The first stores of version 1 had no view. */
static takt_status compare(sqlite3 *db, sqlite3 *made, bool *is_same)
{
    sqlite3_stmt *a = NULL, *b = NULL;
    int64_t views;
    takt_status status = takt__sql_number(
        db, "SELECT count(*) FROM sqlite_master WHERE type = 'view'", &views);
    const char *text = views > 0 ? SELECT_OBJECTS("")
                                 : SELECT_OBJECTS(" WHERE type <> 'view'");

    if (status == TAKT_OK)
        status = takt__sql_status(sqlite3_prepare_v2(db, text, -1, &a, NULL));

    if (status == TAKT_OK)
        status = takt__sql_status(sqlite3_prepare_v2(made, text, -1, &b, NULL));
    if (status == TAKT_OK)
        status = compare_rows(a, b, is_same);
    sqlite3_finalize(a);
    sqlite3_finalize(b);
    return status;
}

takt_status takt__schema_compare(sqlite3 *db, int64_t version, bool *is_same)
{
    sqlite3 *made = NULL;
    takt_status status = takt__sql_status(sqlite3_open_v2(
        ":memory:", &made,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
        NULL));

    *is_same = false;
    for (int64_t i = 0; status == TAKT_OK && i < version; i++)
        status = takt__sql_run(made, steps[i]);
    if (status == TAKT_OK)
        status = compare(db, made, is_same);
    sqlite3_close(made);
    return status;
}

takt_status takt__schema_check(sqlite3 *db, bool is_thorough)
{
    const char *text =
        is_thorough ? "PRAGMA integrity_check(1)" : "PRAGMA quick_check(1)";
    sqlite3_stmt *statement;
    const int result = sqlite3_prepare_v2(db, text, -1, &statement, NULL);
    bool is_sound = false;

    if (result != SQLITE_OK)
        return takt__sql_status(result);
    if (sqlite3_step(statement) == SQLITE_ROW) {
        const unsigned char *said = sqlite3_column_text(statement, 0);
        is_sound = said != NULL && strcmp((const char *)said, "ok") == 0;
    }
    const takt_status status = takt__sql_status(sqlite3_finalize(statement));
    return status == TAKT_OK && !is_sound ? TAKT_ECORRUPT : status;
}
