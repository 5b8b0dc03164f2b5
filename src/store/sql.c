/* SPDX-License-Identifier: MIT */
/* sql.c - running SQL: one-liners over SQLite's interface. */
#include "store/sql.h"

#include <stddef.h>

takt_status takt__sql_status(int result)
{
    if (result == SQLITE_IOERR_NOMEM)
        return TAKT_ENOMEM;
    switch (result & 0xff) { /* the rest of the bits are the details */
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return TAKT_OK;
    case SQLITE_NOMEM:
        return TAKT_ENOMEM;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
    case SQLITE_ERROR:
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
    case SQLITE_INTERRUPT:
        return TAKT_ECORRUPT;
    default:
        return TAKT_EIO;
    }
}

takt_status takt__sql_run(sqlite3 *db, const char *text)
{
    return takt__sql_status(sqlite3_exec(db, text, NULL, NULL, NULL));
}

takt_status takt__sql_number(sqlite3 *db, const char *text, int64_t *out)
{
    sqlite3_stmt *statement;

    *out = 0;
    int result = sqlite3_prepare_v2(db, text, -1, &statement, NULL);
    if (result != SQLITE_OK)
        return takt__sql_status(result);
    if (sqlite3_step(statement) == SQLITE_ROW)
        *out = sqlite3_column_int64(statement, 0);
    return takt__sql_status(sqlite3_finalize(statement));
}

takt_status takt__sql_step(sqlite3_stmt *statement)
{
    const int result = sqlite3_step(statement);

    sqlite3_reset(statement);
    return takt__sql_status(result);
}
