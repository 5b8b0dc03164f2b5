/* SPDX-License-Identifier: MIT */
/*
 * rows.c - records in and out of a database.
 *
 * The columns are those of takt__record_fields. Neighbours mostly share their
 * names, so each column keeps the last name it looked up; not beyond the
 * transaction, which may be undone and the name's number with it.
 */
#include "store/database.h"

#include <string.h>

#include "store/sql.h"

static takt_status find_name(struct takt_database *database, const char *text,
                             int64_t *id)
{
    sqlite3_stmt *find;
    const takt_status status =
        takt__database_prepare_text(database, TAKT_SQL_FIND_NAME, text, &find);

    *id = 0;
    if (status != TAKT_OK)
        return status;
    const int result = sqlite3_step(find);
    if (result == SQLITE_ROW)
        *id = sqlite3_column_int64(find, 0);
    sqlite3_reset(find);
    return takt__sql_status(result);
}

takt_status takt__rows_name(struct takt_database *database, int slot,
                            const char *text, int64_t *id)
{
    struct takt_known_name *known = &database->known[slot];

    if (known->id == 0 || strcmp(known->text, text) != 0) {
        takt_status status = find_name(database, text, &known->id);
        if (status == TAKT_OK && known->id == 0) {
            status = takt__database_run(database, TAKT_SQL_ADD_NAME, text);
            known->id = sqlite3_last_insert_rowid(database->db);
        }
        if (status != TAKT_OK) {
            known->id = 0;
            return status;
        }
        strcpy(known->text, text);
    }
    *id = known->id;
    return TAKT_OK;
}

static void bind_number(sqlite3_stmt *put, int at, enum takt_field_kind kind,
                        const void *value)
{
    switch (kind) {
    case TAKT_FIELD_SMALL:
        sqlite3_bind_int64(put, at, *(const unsigned *)value);
        break;
    case TAKT_FIELD_LARGE:
        sqlite3_bind_int64(put, at, (int64_t) * (const uint64_t *)value);
        break;
    case TAKT_FIELD_REAL:
        sqlite3_bind_double(put, at, *(const double *)value + 0.0); /* no -0 */
        break;
    case TAKT_FIELD_TIME:
        sqlite3_bind_int64(put, at, *(const int64_t *)value);
        break;
    case TAKT_FIELD_TEXT:
        break; /* by number, not by value */
    }
}

takt_status takt__rows_put(struct takt_database *database, enum takt_sql rule,
                           const struct takt_record *record, bool *is_put)
{
    sqlite3_stmt *put;
    takt_status status = takt__database_prepare(database, rule, &put);

    *is_put = false;
    for (int i = 0; status == TAKT_OK && i < TAKT_RECORD_FIELDS; i++) {
        const struct takt_record_field *field = &takt__record_fields[i];
        const char *value = (const char *)record + field->offset;
        int64_t id;

        if (field->kind != TAKT_FIELD_TEXT) {
            bind_number(put, i + 1, field->kind, value);
            continue;
        }
        status = takt__rows_name(database, i, value, &id);
        if (status == TAKT_OK)
            sqlite3_bind_int64(put, i + 1, id);
    }
    if (status != TAKT_OK)
        return status;
    status = takt__sql_step(put);
    *is_put = status == TAKT_OK && sqlite3_changes(database->db) > 0;
    return status;
}

static bool read_text(sqlite3_stmt *row, int at, size_t size, char *out)
{
    if (sqlite3_column_type(row, at) != SQLITE_TEXT)
        return false;
    const unsigned char *text = sqlite3_column_text(row, at);
    const size_t length = (size_t)sqlite3_column_bytes(row, at);
    if (text == NULL || length >= size || memchr(text, '\0', length) != NULL)
        return false;
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

static bool read_small(sqlite3_stmt *row, int at, unsigned *out)
{
    const int64_t value = sqlite3_column_int64(row, at);

    *out = (unsigned)value;
    return value >= 0 && value <= UINT32_MAX;
}

static bool read_number(sqlite3_stmt *row, int at, void *out)
{
    const struct takt_record_field *field = &takt__record_fields[at];

    if (field->kind == TAKT_FIELD_REAL) {
        *(double *)out = sqlite3_column_double(row, at);
        return sqlite3_column_type(row, at) == SQLITE_FLOAT;
    }
    if (sqlite3_column_type(row, at) != SQLITE_INTEGER)
        return false;
    if (field->kind == TAKT_FIELD_SMALL)
        return read_small(row, at, out);
    const int64_t value = sqlite3_column_int64(row, at);
    memcpy(out, &value, sizeof value); /* below zero is "too large" */
    return true;
}

/* A scan of records. Neighbours share most of their names, so a name is looked
 * up when its number differs from that of the row before. */
struct row_scan {
    sqlite3_stmt *row, *name_of;
    bool has_names;                  /* in the row, not their numbers */
    int64_t name[TAKT_RECORD_NAMES]; /* that the record has; 0: none */
    struct takt_record record;
    int result; /* of the last step */
};

/* False: there is no such name, or it cannot be read (scan->result). */
static bool look_up(struct row_scan *scan, int at, int64_t id, char *out)
{
    sqlite3_bind_int64(scan->name_of, 1, id);
    scan->result = sqlite3_step(scan->name_of);
    const bool is_found =
        scan->result == SQLITE_ROW &&
        read_text(scan->name_of, 0, takt__record_fields[at].size, out);
    if (scan->result == SQLITE_DONE)
        scan->result = SQLITE_ROW; /* the scan goes on */
    sqlite3_reset(scan->name_of);
    return is_found;
}

static bool read_name(struct row_scan *scan, int at, char *out)
{
    const struct takt_record_field *field = &takt__record_fields[at];

    if (scan->has_names)
        return read_text(scan->row, at, field->size, out) &&
               takt__field_fault(field, &scan->record) == NULL;
    if (sqlite3_column_type(scan->row, at) != SQLITE_INTEGER)
        return false;
    const int64_t id = sqlite3_column_int64(scan->row, at);
    if (id == scan->name[at] && id != 0)
        return true;
    scan->name[at] = 0;
    if (!look_up(scan, at, id, out) ||
        takt__field_fault(field, &scan->record) != NULL)
        return false;
    scan->name[at] = id;
    return true;
}

static bool read_row(struct row_scan *scan)
{
    for (int i = 0; i < TAKT_RECORD_FIELDS; i++) {
        const struct takt_record_field *field = &takt__record_fields[i];
        void *out = (char *)&scan->record + field->offset;
        if (field->kind == TAKT_FIELD_TEXT
                ? !read_name(scan, i, out)
                : !read_number(scan->row, i, out) ||
                      takt__field_fault(field, &scan->record) != NULL)
            return false;
    }
    return true;
}

takt_status takt__rows_visit(struct takt_database *database,
                             enum takt_sql which, takt_record_visit *visit,
                             void *self)
{
    struct row_scan scan = {.has_names = which == TAKT_SQL_SELECT,
                            .result = SQLITE_ROW};

    if (!takt__database_is_usable(database))
        return TAKT_EIO;
    if (database->is_empty)
        return TAKT_OK;
    takt_status status = takt__database_prepare(database, which, &scan.row);
    if (status == TAKT_OK)
        status =
            takt__database_prepare(database, TAKT_SQL_NAME_OF, &scan.name_of);
    if (status != TAKT_OK)
        return status;
    while (scan.result == SQLITE_ROW &&
           (scan.result = sqlite3_step(scan.row)) == SQLITE_ROW)
        if (read_row(&scan))
            visit(self, &scan.record);
    sqlite3_reset(scan.row);
    return takt__sql_status(scan.result);
}
