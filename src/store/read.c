/* SPDX-License-Identifier: MIT */
/*
 * read.c - a copy of a file in memory, and what is asked of it.
 *
 * SQLite runs on the copy (image.h), so that no file but this one is opened,
 * and none is written. The copy must have exactly the tables that Takt makes,
 * must be in order, and reading it must not take longer than its size allows.
 */
#include "store/read.h"

#include <string.h>

#include "base/say.h"
#include "store/sql.h"

enum {
    longest_text = 1 << 20, /* nothing in a store is nearly so long */
    longest_foreign_text = 1 << 16,
    steps_at_once = 4096
};

/* A record takes 100 bytes and, checked and read, about 400 steps of SQLite's
 * machine. Ten times as many, and some for the beginning. */
static const size_t least_steps = 10000000, steps_per_byte = 40;

void takt__read_distrust(sqlite3 *db)
{
    sqlite3_extended_result_codes(db, 1);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, longest_text);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, longest_text);
    sqlite3_limit(db, SQLITE_LIMIT_COLUMN, 64);
    sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 64);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
    /* A cell that claims to reach beyond its page is damage, and is not read:
     * SQLite otherwise compares some bytes behind the page. It costs a look at
     * each cell of a page that is loaded. */
    sqlite3_exec(db, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
}

static int count_steps(void *self)
{
    struct takt_database *database = self;
    const bool is_over = database->steps_left < steps_at_once;

    database->steps_left -= is_over ? 0 : steps_at_once;
    return is_over;
}

/* The image is owned from here on. Sorting is done in memory: there is no file
 * to do it in. */
static takt_status connect_image(struct takt_database *database,
                                 struct takt_image *image, int flags)
{
    database->steps_left =
        least_steps + steps_per_byte * takt__image_bytes(image);
    const takt_status status = takt__vfs_connect(database->path, flags, image,
                                                 &database->vfs, &database->db);
    if (status != TAKT_OK)
        return status;
    takt__read_distrust(database->db);
    sqlite3_limit(database->db, SQLITE_LIMIT_LENGTH, longest_foreign_text);
    sqlite3_progress_handler(database->db, steps_at_once, count_steps,
                             database);
    return takt__sql_run(database->db, "PRAGMA locking_mode = EXCLUSIVE;"
                                       "PRAGMA temp_store = MEMORY");
}

takt_status takt__read_refuse(const char *path, enum takt_schema_state state,
                              int64_t version, takt_diag *diag)
{
    if (state == TAKT_SCHEMA_LATER)
        return takt__say(diag, TAKT_ECORRUPT,
                         "%s is of version %lld and this Takt knows up to %d: "
                         "use a later Takt, or another file (TAKT_DB)",
                         path, (long long)version, TAKT_SCHEMA_VERSION);
    return takt__say(diag, TAKT_ECORRUPT,
                     "%s is a database of another program: use another file "
                     "(TAKT_DB)",
                     path);
}

static takt_status read_schema(struct takt_database *database, takt_diag *diag)
{
    enum takt_schema_state state;
    int64_t version;
    bool is_same;
    takt_status status = takt__schema_read(database->db, &state, &version);

    if (status != TAKT_OK)
        return status;
    if (state == TAKT_SCHEMA_LATER || state == TAKT_SCHEMA_FOREIGN)
        return takt__read_refuse(database->path, state, version, diag);
    database->is_empty = state == TAKT_SCHEMA_EMPTY;
    if (database->is_empty)
        return TAKT_OK;
    status = takt__schema_compare(database->db, version, &is_same);
    if (status != TAKT_OK || is_same)
        return status;
    return takt__say(diag, TAKT_ECORRUPT, "%s has other tables than Takt makes",
                     database->path);
}

static takt_status open_image(struct takt_database *database,
                              struct takt_image *image, takt_diag *diag)
{
    takt_status status = connect_image(database, image, SQLITE_OPEN_READONLY);

    if (status == TAKT_OK)
        status = read_schema(database, diag);
    if (status == TAKT_OK && !database->is_empty)
        status = takt__schema_check(database->db, true);
    if (status == TAKT_OK && !database->is_empty)
        status = takt__database_prepare_all(database);
    return status;
}

takt_status takt__read_open(struct takt_database *database, size_t limit,
                            takt_diag *diag)
{
    struct takt_image *image;
    takt_status status = takt__image_read(database->path, limit, diag, &image);

    if (status != TAKT_OK)
        return status;
    const bool claims_too_much = takt__image_claims_too_much(image);
    const bool lacks_log = takt__image_lacks_log(image);
    database->is_readonly = true;
    status = open_image(database, image, diag);
    if (status == TAKT_OK && database->is_empty && lacks_log)
        return takt__say(diag, TAKT_ECORRUPT,
                         "%s has nothing in it: what was learned was still in "
                         "its log, which is to be copied too (...-wal), or use "
                         "'takt history export'",
                         database->path);
    return status == TAKT_ENOMEM && claims_too_much ? TAKT_ECORRUPT : status;
}

/* Some damage shows only when something is written: this takes pages, fills and
 * frees them, and moves the log into the database; all of the copy. */
static takt_status try_to_write(sqlite3 *db)
{
    return takt__sql_run(
        db, "BEGIN IMMEDIATE;"
            "WITH RECURSIVE i(x) AS (VALUES(1) UNION ALL"
            " SELECT x + 1 FROM i WHERE x < 500)"
            " INSERT INTO name (text) SELECT printf('takt:trial%0200d', x)"
            " FROM i;"
            "UPDATE record SET seq = seq + 1, n = n + 1;"
            "COMMIT; BEGIN IMMEDIATE;"
            "DELETE FROM record; DELETE FROM writer; DELETE FROM name;"
            "COMMIT; PRAGMA wal_checkpoint(TRUNCATE)");
}

static takt_status verify(struct takt_database *database,
                          struct takt_image *image, bool is_thorough)
{
    enum takt_schema_state state = TAKT_SCHEMA_EMPTY;
    int64_t version;
    takt_status status = connect_image(database, image,
                                       is_thorough ? SQLITE_OPEN_READWRITE
                                                   : SQLITE_OPEN_READONLY);

    if (status == TAKT_OK) { /* of ours, and judged as it would be opened */
        sqlite3_progress_handler(database->db, 0, NULL, NULL);
        sqlite3_limit(database->db, SQLITE_LIMIT_LENGTH, longest_text);
        status = takt__schema_read(database->db, &state, &version);
    }
    if (status == TAKT_OK)
        status = takt__schema_check(database->db, is_thorough);
    if (status == TAKT_OK && state == TAKT_SCHEMA_CURRENT)
        status = takt__database_prepare_all(database);
    if (status == TAKT_OK && state == TAKT_SCHEMA_CURRENT && is_thorough)
        status = try_to_write(database->db);
    return status;
}

takt_status takt__read_verify(const char *path, bool is_thorough,
                              takt_diag *diag)
{
    struct takt_database copy = {.path = (char *)path, .lockfile = -1};
    struct takt_image *image;
    takt_status status =
        takt__image_read(path, TAKT_IMAGE_OWN_BYTES, diag, &image);

    if (status != TAKT_OK)
        return status;
    const bool claims_too_much = takt__image_claims_too_much(image);
    status = verify(&copy, image, is_thorough);
    takt__database_disconnect(&copy);
    return status == TAKT_ENOMEM && claims_too_much ? TAKT_ECORRUPT : status;
}

bool takt__read_claims_too_much(const char *path)
{
    struct takt_image *image;

    if (takt__image_read(path, TAKT_IMAGE_OWN_BYTES, NULL, &image) != TAKT_OK)
        return false;
    const bool claims_too_much = takt__image_claims_too_much(image);
    takt__image_free(image);
    return claims_too_much;
}
