/* SPDX-License-Identifier: MIT */
/*
 * store.c - a database together with the writer that this process is in it.
 *
 * Damage that shows only later is not repaired under a running program: the
 * operation fails, the file is marked, and the next process to open it renames
 * it.
 */
#include "store/store.h"

#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/write_signals.h"
#include "store/schema.h"
#include "store/writer.h"

struct takt_store {
    struct takt_database database;
    struct takt_writer writer; /* no name: nothing can be written */
    bool is_renamed; /* there are records under its name from elsewhere */
    bool is_locked;  /* for too long, when it was to be written last */
    char software[TAKT_SHA256_HEX];
};

static bool fits(const char *fingerprint)
{
    return fingerprint != NULL && fingerprint[0] != '\0' &&
           strlen(fingerprint) < TAKT_SHA256_HEX;
}

/* The next process to open the store checks it. */
static void note_damage(const struct takt_database *database)
{
    const enum takt_damage now = takt__lockfile_damage(database->lockfile);

    takt__lockfile_set_damage(database->lockfile,
                              now < TAKT_DAMAGE_CHECKED
                                  ? TAKT_DAMAGE_FOUND
                                  : TAKT_DAMAGE_FOUND_AGAIN);
}

/* A record that claims to be almost 4 GiB long makes SQLite report a lack of
 * memory each time it is read. A check of the file shows which of the two it
 * is. The check itself can take a lack of memory for damage: so after a check
 * that found no damage, it is a lack of memory. */
static takt_status check_no_memory(const struct takt_database *database,
                                   takt_status status)
{
    if (status != TAKT_ENOMEM || !takt__database_is_usable(database) ||
        takt__lockfile_damage(database->lockfile) >= TAKT_DAMAGE_CHECKED)
        return status;
    return takt__schema_check(database->db, false) == TAKT_ECORRUPT
               ? TAKT_ECORRUPT
               : TAKT_ENOMEM;
}

static takt_status open_parts(const char *path,
                              const struct takt_store_identity *identity,
                              takt_diag *diag, struct takt_store *store)
{
    struct takt_database *database = &store->database;
    takt_status status = takt__database_open(
        path, identity->is_foreign ? TAKT_DATABASE_READ : TAKT_DATABASE_WRITE,
        identity->patience, diag, database);

    if (status != TAKT_OK || database->is_readonly)
        return status;
    status =
        check_no_memory(database, takt__writer_take(database, identity->machine,
                                                    &store->writer));
    if (status == TAKT_OK)
        return TAKT_OK;
    if (status == TAKT_ECORRUPT && takt__database_is_usable(database))
        note_damage(database);
    takt__say(diag, TAKT_OK, "%s: no writer slot in it can be had",
              database->path);
    takt__database_close(database);
    return status;
}

/* A file too large for the cheap check may show its damage only when the
 * writer looks for its records; then it is looked at, and, should that find
 * nothing, renamed the time after. */
static takt_status open_thrice(const char *path,
                               const struct takt_store_identity *identity,
                               takt_diag *diag, struct takt_store *store)
{
    takt_status status = TAKT_ECORRUPT;
    bool is_ours = true;

    for (int i = 0; i < 3 && status == TAKT_ECORRUPT && is_ours; i++) {
        takt__say(diag, TAKT_OK, "%s", "");
        status = open_parts(path, identity, diag, store);
        is_ours = store->writer.machine[0] != '\0';
    }
    return status;
}

takt_status takt__store_open(const char *path,
                             const struct takt_store_identity *identity,
                             takt_diag *diag, struct takt_store **out)
{
    struct takt_write_signals signals;

    *out = NULL;
    takt__say(diag, TAKT_OK, "%s", "");
    if (path == NULL || path[0] == '\0' || !fits(identity->machine) ||
        !fits(identity->software))
        return TAKT_EINVAL;
    struct takt_store *store = calloc(1, sizeof *store);
    if (store == NULL)
        return takt__say(diag, TAKT_ENOMEM,
                         "there is not enough memory to open %s", path);
    strcpy(store->software, identity->software);
    takt__write_signals_block(&signals);
    const takt_status status = open_thrice(path, identity, diag, store);
    takt__write_signals_restore(&signals);
    if (status != TAKT_OK) {
        free(store);
        return status;
    }
    takt__database_is_open(&store->database);
    *out = store;
    return TAKT_OK;
}

void takt__store_close(struct takt_store *store)
{
    struct takt_write_signals signals;

    if (store == NULL)
        return;
    takt__write_signals_block(&signals);
    takt__database_close(&store->database);
    takt__write_signals_restore(&signals);
    free(store);
}

bool takt__store_is_lost(const struct takt_store *store)
{
    return !takt__database_is_usable(&store->database);
}

const char *takt__store_writer(const struct takt_store *store)
{
    return store->writer.name;
}

bool takt__store_is_renamed(const struct takt_store *store)
{
    return store->is_renamed;
}

bool takt__store_is_locked(const struct takt_store *store)
{
    return store->is_locked;
}

static takt_status note(struct takt_store *store, takt_status status)
{
    status = check_no_memory(&store->database, status);
    if (status == TAKT_ECORRUPT && takt__database_is_there(&store->database) &&
        takt__database_is_usable(&store->database))
        note_damage(&store->database);
    return status;
}

static takt_status visit_rows(struct takt_store *store, enum takt_sql sql,
                              takt_record_visit *visit, void *self)
{
    struct takt_write_signals signals;

    takt__write_signals_block(&signals);
    const takt_status status =
        note(store, takt__rows_visit(&store->database, sql, visit, self));
    takt__write_signals_restore(&signals);
    return status;
}

takt_status takt__store_read(struct takt_store *store, takt_record_visit *visit,
                             void *self)
{
    return visit_rows(store, TAKT_SQL_SELECT, visit, self);
}

takt_status takt__store_scan(struct takt_store *store, takt_record_visit *visit,
                             void *self)
{
    return visit_rows(store, TAKT_SQL_SCAN, visit, self);
}

static void sign(const struct takt_store *store, struct takt_record *record)
{
    strcpy(record->machine, store->writer.machine);
    strcpy(record->software, store->software);
    strcpy(record->writer, store->writer.name);
    record->epoch = store->writer.epoch;
}

static bool can_write(const struct takt_store *store)
{
    return !store->database.is_readonly &&
           takt__database_is_there(&store->database);
}

static takt_status put_all(struct takt_store *store,
                           const struct takt_record *records, size_t count)
{
    takt_status status = TAKT_OK;
    bool is_put, is_own = true;

    if (store->writer.is_known)
        status = takt__writer_check(&store->database, &store->writer, &is_own);
    else
        status = takt__writer_put(&store->database, &store->writer);
    if (status == TAKT_OK && !is_own) {
        store->is_renamed = true;
        return TAKT_EIO;
    }
    for (size_t i = 0; status == TAKT_OK && i < count; i++)
        status = takt__rows_put(&store->database, TAKT_SQL_ADVANCE, &records[i],
                                &is_put);
    return status;
}

static takt_status write_all(struct takt_store *store,
                             struct takt_record *records, size_t count)
{
    if (!can_write(store))
        return TAKT_EIO;
    for (size_t i = 0; i < count; i++) {
        sign(store, &records[i]);
        if (!takt__record_is_sound(&records[i]))
            return TAKT_EINVAL;
    }
    if (count == 0)
        return TAKT_OK;
    takt_status status = takt__database_begin(&store->database);
    store->is_locked =
        (sqlite3_errcode(store->database.db) & 0xff) == SQLITE_BUSY;
    if (status != TAKT_OK)
        return note(store, status);
    status = put_all(store, records, count);
    status = takt__database_end(&store->database, status);
    if (status == TAKT_OK) {
        store->writer.is_known = true;
        if (takt__lockfile_damage(store->database.lockfile) ==
            TAKT_DAMAGE_CHECKED)
            takt__lockfile_set_damage(store->database.lockfile,
                                      TAKT_DAMAGE_NONE);
    }
    return note(store, status);
}

takt_status takt__store_write(struct takt_store *store,
                              struct takt_record *records, size_t count)
{
    struct takt_write_signals signals;

    takt__write_signals_block(&signals);
    const takt_status status = write_all(store, records, count);
    takt__write_signals_restore(&signals);
    return status;
}

/* `next` is the writer with the raised epoch. */
static takt_status start_anew(struct takt_database *database, const char *op,
                              struct takt_writer *next)
{
    uint64_t last;
    bool is_spent, is_own = true;
    takt_status status =
        takt__writer_last_epoch(database, next->name, &last, &is_spent);

    if (status == TAKT_OK && next->is_known)
        status = takt__writer_check(database, next, &is_own);
    if (status == TAKT_OK && (is_spent || !is_own))
        status = takt__writer_rename(next);
    else if (last > next->epoch)
        next->epoch = last;
    next->epoch++;
    if (status == TAKT_OK)
        status = takt__database_run(database, TAKT_SQL_FORGET, op);
    if (status == TAKT_OK)
        status = takt__writer_put(database, next);
    return status;
}

static takt_status forget(struct takt_store *store, const char *op)
{
    struct takt_writer next = store->writer;

    if (!can_write(store))
        return TAKT_EIO;
    takt_status status = takt__database_begin(&store->database);
    if (status != TAKT_OK)
        return note(store, status);
    status = start_anew(&store->database, op, &next);
    status = takt__database_end(&store->database, status);
    if (status == TAKT_OK) {
        store->writer = next;
        store->writer.is_known = true;
    }
    return note(store, status);
}

takt_status takt__store_reset(struct takt_store *store, const char *op)
{
    struct takt_write_signals signals;

    takt__write_signals_block(&signals);
    const takt_status status = forget(store, op);
    takt__write_signals_restore(&signals);
    return status;
}
