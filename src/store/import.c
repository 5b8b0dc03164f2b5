/* SPDX-License-Identifier: MIT */
/*
 * import.c - a text merged into a store.
 *
 * The text is read into a store of its own first: a pipe may be slow, and the
 * real store must not be locked meanwhile, nor changed if the text is wrong.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/say.h"
#include "store/database.h"
#include "store/text.h"

enum { chunk = 16384 };

struct import {
    struct takt_database database;
    takt_status status; /* of putting records */
    struct takt_text_reader reader;
    char bytes[chunk];
};

static bool put(void *self, const struct takt_record *record)
{
    struct import *import = self;
    bool is_put;

    import->status =
        takt__rows_put(&import->database, TAKT_SQL_MERGE, record, &is_put);
    return import->status == TAKT_OK;
}

/* -1: cannot be read; 0: the end. */
static ssize_t read_more(int fd, char *bytes)
{
    ssize_t length;

    do
        length = read(fd, bytes, chunk);
    while (length < 0 && errno == EINTR);
    return length;
}

static takt_status explain(const struct takt_text_reader *reader,
                           takt_diag *diag)
{
    return takt__say(diag, TAKT_ECORRUPT,
                     "line %zu: %s%s%s; nothing was imported", reader->line,
                     reader->column != NULL ? reader->column : "",
                     reader->column != NULL ? " is " : "", reader->fault);
}

static takt_status read_text(struct import *import, int fd, takt_diag *diag)
{
    struct takt_text_reader *reader = &import->reader;
    ssize_t length;

    takt__text_init(reader, put, import);
    while ((length = read_more(fd, import->bytes)) > 0)
        if (!takt__text_feed(reader, import->bytes, (size_t)length))
            break;
    if (length < 0)
        return takt__say(diag, TAKT_EIO, "the text cannot be read");
    if (length == 0)
        takt__text_finish(reader);
    if (reader->fault != NULL)
        return explain(reader, diag);
    if (import->status == TAKT_OK)
        return TAKT_OK;
    return takt__say(diag,
                     import->status == TAKT_ENOMEM ? TAKT_ENOMEM : TAKT_EIO,
                     "no space to read the text into");
}

static takt_status fill(struct import *import, int fd, takt_diag *diag)
{
    takt_status status = takt__database_open_private(&import->database);

    if (status != TAKT_OK)
        return status;
    status = takt__database_begin(&import->database);
    if (status == TAKT_OK)
        status = read_text(import, fd, diag);
    status = takt__database_end(&import->database, status);
    if (status != TAKT_OK)
        takt__database_close(&import->database);
    return status;
}

static takt_status import_text(const char *store, const void *from,
                               takt_store_report *report, takt_diag *diag)
{
    const int fd = *(const int *)from;
    struct import import = {.status = TAKT_OK};
    struct takt_database into;

    takt__say(diag, TAKT_OK, "%s", "");
    if (store == NULL || store[0] == '\0' || fd < 0)
        return TAKT_EINVAL;
    takt_status status = fill(&import, fd, diag);
    if (status != TAKT_OK)
        return status;
    status = takt__merge_open(store, diag, &into);
    if (status == TAKT_OK) {
        status = takt__merge(&into, &import.database, report);
        if (status != TAKT_OK)
            takt__say(diag, TAKT_OK, "%s could not be written", into.path);
        takt__database_close(&into);
    }
    takt__database_close(&import.database);
    return status;
}

takt_status takt_store_import(const char *store, int fd,
                              takt_store_report *report, takt_diag *diag)
{
    return takt__merge_guarded(import_text, store, &fd, report, diag);
}
