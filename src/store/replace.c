/* SPDX-License-Identifier: MIT */
/* replace.c - all records of one machine, by others. */
#include "store/store.h"

#include "base/lock.h"
#include "base/say.h"
#include "base/write_signals.h"
#include "store/database.h"

static takt_status put_all(struct takt_database *database, const char *machine,
                           const struct takt_record *records, size_t count)
{
    takt_status status = takt__database_begin(database);
    bool is_put;

    if (status != TAKT_OK)
        return status;
    status = takt__database_run(database, TAKT_SQL_FORGET_MACHINE, machine);
    for (size_t i = 0; status == TAKT_OK && i < count; i++)
        status = takt__rows_put(database, TAKT_SQL_MERGE, &records[i], &is_put);
    return takt__database_end(database, status);
}

static takt_status replace(const char *path, const char *machine,
                           const struct takt_record *records, size_t count,
                           takt_diag *diag)
{
    struct takt_database database;
    takt_status status = takt__merge_open(path, diag, &database);

    if (status != TAKT_OK)
        return status;
    status = put_all(&database, machine, records, count);
    if (status != TAKT_OK)
        takt__say(diag, TAKT_OK, "%s could not be written: %s", database.path,
                  takt_status_text(status));
    takt__database_close(&database);
    return status == TAKT_ECORRUPT ? TAKT_EIO : status;
}

takt_status takt__store_replace(const char *path, const char *machine,
                                const struct takt_record *records, size_t count,
                                takt_diag *diag)
{
    struct takt_write_signals signals;

    takt__section_begin();
    takt__write_signals_block(&signals);
    const takt_status status = replace(path, machine, records, count, diag);
    takt__write_signals_restore(&signals);
    takt__section_end();
    return status;
}
