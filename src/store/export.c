/* SPDX-License-Identifier: MIT */
/* export.c - a store written as text. */
#include "base/lock.h"
#include "base/new_file.h"
#include "base/say.h"
#include "store/database.h"
#include "store/text.h"

struct export
{
    int fd;
    bool has_failed;
    size_t records;
    size_t length; /* of what waits in `text` */
    char text[16 * TAKT_TEXT_LINE];
};

static void flush(struct export *export)
{
    export->has_failed =
        export->has_failed ||
        !takt__write_all(export->fd, export->text, export->length);
    export->length = 0;
}

/* Where one more line fits. */
static char *reserve(struct export *export)
{
    if (sizeof export->text - export->length < TAKT_TEXT_LINE)
        flush(export);
    return export->text + export->length;
}

static void print(void *self, const struct takt_record *record)
{
    struct export *export = self;

    export->length += takt__text_print(record, reserve(export));
    export->records++;
}

static takt_status export_rows(struct takt_database *database,
                               struct export *export)
{
    export->length = takt__text_print_head(export->text);
    const takt_status status =
        takt__rows_visit(database, TAKT_SQL_SELECT, print, export);
    if (status != TAKT_OK)
        return status; /* without its end, the text is no good */
    export->length += takt__text_print_end(export->records, reserve(export));
    flush(export);
    return export->has_failed ? TAKT_EIO : TAKT_OK;
}

static takt_status export_store(const char *store, int fd, takt_diag *diag)
{
    struct export export = {.fd = fd};
    struct takt_database database;

    takt__say(diag, TAKT_OK, "%s", "");
    if (store == NULL || store[0] == '\0' || fd < 0)
        return TAKT_EINVAL;
    takt_status status =
        takt__database_open(store, TAKT_DATABASE_READ, NULL, diag, &database);
    if (status != TAKT_OK)
        return status;
    status = export_rows(&database, &export);
    if (status != TAKT_OK)
        takt__say(diag, TAKT_OK, "%s: %s", database.path,
                  export.has_failed ? "the text could not be written"
                                    : "it is damaged");
    takt__database_close(&database);
    return status;
}

/* SQLite has locks of its own, which a cancelled thread would keep. */
takt_status takt_store_export(const char *store, int fd, takt_diag *diag)
{
    takt__section_begin();
    const takt_status status = export_store(store, fd, diag);
    takt__section_end();
    return status;
}
