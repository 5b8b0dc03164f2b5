/* SPDX-License-Identifier: MIT */
/*
 * writer.c - a slot, and the name under which records are written from it.
 *
 * A new name is only written down together with the first records: a process
 * that learns nothing writes nothing, and a full disk does not
 * prevent opening.
 */
#include "store/writer.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "store/sql.h"

static bool make_name(char out[TAKT_RECORD_WRITER])
{
    unsigned char bytes[(TAKT_RECORD_WRITER - 1) / 2];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(out + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static bool is_name(const char *text, int length)
{
    return text != NULL && length == TAKT_RECORD_WRITER - 1 &&
           strspn(text, "0123456789abcdef") == TAKT_RECORD_WRITER - 1;
}

static takt_status find_known(struct takt_database *database,
                              struct takt_writer *writer)
{
    sqlite3_stmt *find;
    const takt_status status =
        takt__database_prepare(database, TAKT_SQL_FIND_WRITER, &find);

    if (status != TAKT_OK)
        return status;
    sqlite3_bind_int(find, 1, writer->slot);
    sqlite3_bind_text(find, 2, writer->machine, -1, SQLITE_STATIC);
    sqlite3_bind_int64(find, 3, database->inode);
    const int result = sqlite3_step(find);
    if (result == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(find, 0);
        const int64_t epoch = sqlite3_column_int64(find, 1);
        writer->is_known = is_name(name, sqlite3_column_bytes(find, 0));
        if (writer->is_known)
            strcpy(writer->name, name);
        if (epoch > 0 && epoch <= TAKT_RECORD_LATEST)
            writer->epoch = (uint64_t)epoch;
    }
    sqlite3_reset(find);
    return takt__sql_status(result);
}

takt_status takt__writer_rename(struct takt_writer *writer)
{
    writer->epoch = 1;
    writer->is_known = false;
    return make_name(writer->name) ? TAKT_OK : TAKT_EIO;
}

takt_status takt__writer_take(struct takt_database *database,
                              const char *machine, struct takt_writer *out)
{
    uint64_t epoch = 0;
    bool is_spent = false;

    memset(out, 0, sizeof *out);
    strcpy(out->machine, machine);
    out->epoch = 1;
    out->slot = takt__lockfile_take(database->lockfile);
    if (out->slot < 0)
        return TAKT_EIO;
    takt_status status = find_known(database, out);
    if (status == TAKT_OK && out->is_known)
        status =
            takt__writer_last_epoch(database, out->name, &epoch, &is_spent);
    if (status == TAKT_OK && (!out->is_known || is_spent))
        return takt__writer_rename(out);
    if (epoch > out->epoch)
        out->epoch = epoch;
    return status;
}

takt_status takt__writer_retire(struct takt_database *database,
                                const char *name)
{
    return takt__database_run(database, TAKT_SQL_RETIRE_WRITER, name);
}

takt_status takt__writer_check(struct takt_database *database,
                               const struct takt_writer *writer, bool *is_own)
{
    struct takt_writer stored = *writer;

    stored.is_known = false;
    const takt_status status = find_known(database, &stored);
    *is_own = stored.is_known && strcmp(stored.name, writer->name) == 0;
    return status;
}

takt_status takt__writer_put(struct takt_database *database,
                             const struct takt_writer *writer)
{
    int64_t machine = 0, name = 0;
    sqlite3_stmt *add;
    takt_status status =
        takt__rows_name(database, 0, writer->machine, &machine);

    if (status == TAKT_OK)
        status = takt__rows_name(database, 3, writer->name, &name);
    if (status == TAKT_OK)
        status = takt__database_prepare(database, TAKT_SQL_ADD_WRITER, &add);
    if (status != TAKT_OK)
        return status;
    sqlite3_bind_int(add, 1, writer->slot);
    sqlite3_bind_int64(add, 2, machine);
    sqlite3_bind_int64(add, 3, database->inode);
    sqlite3_bind_int64(add, 4, name);
    sqlite3_bind_int64(add, 5, (int64_t)writer->epoch);
    return takt__sql_step(add);
}

/* Half of the range is enough for ever. What is no number is larger than
 * any to SQLite. */
static bool is_far(sqlite3_stmt *row, int column)
{
    const int type = sqlite3_column_type(row, column);
    const int64_t value = sqlite3_column_int64(row, column);

    return type != SQLITE_NULL &&
           (type != SQLITE_INTEGER || value > TAKT_RECORD_LATEST / 2);
}

takt_status takt__writer_last_epoch(struct takt_database *database,
                                    const char *name, uint64_t *epoch,
                                    bool *is_spent)
{
    sqlite3_stmt *last;
    const takt_status status = takt__database_prepare_text(
        database, TAKT_SQL_LAST_OF_WRITER, name, &last);

    *epoch = 0;
    *is_spent = false;
    if (status != TAKT_OK)
        return status;
    const int result = sqlite3_step(last);
    if (result == SQLITE_ROW) {
        const int64_t value = sqlite3_column_int64(last, 0);
        *is_spent = is_far(last, 0) || is_far(last, 1);
        *epoch = value > 0 && !*is_spent ? (uint64_t)value : 0;
    }
    sqlite3_reset(last);
    return takt__sql_status(result);
}
