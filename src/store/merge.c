/* SPDX-License-Identifier: MIT */
/*
 * merge.c - per key, the later record.
 *
 * Since the writer is part of the key and the rule is a total order, merging
 * is the least upper bound: commutative, associative, idempotent.
 */

#include <string.h>
#include <sys/stat.h>

#include "base/lock.h"
#include "base/say.h"
#include "base/sized.h"
#include "base/write_signals.h"
#include "store/sql.h"
#include "store/writer.h"

struct merge {
    struct takt_database *into;
    takt_status status; /* of writing */
    size_t read;
    size_t put;
    char retired[TAKT_RECORD_WRITER]; /* the last one */
};

/* Sequence numbers come from the writer alone: a record from elsewhere may have
 * the largest one, and the writer could not write a later record. */
static takt_status retire(struct merge *merge, const char *writer)
{
    if (strcmp(merge->retired, writer) == 0)
        return TAKT_OK;
    strcpy(merge->retired, writer);
    return takt__writer_retire(merge->into, writer);
}

static void put(void *self, const struct takt_record *record)
{
    struct merge *merge = self;
    bool is_put;

    if (merge->status != TAKT_OK)
        return;
    merge->status =
        takt__rows_put(merge->into, TAKT_SQL_MERGE, record, &is_put);
    if (merge->status == TAKT_OK && is_put)
        merge->status = retire(merge, record->writer);
    merge->read++;
    merge->put += is_put;
}

takt_status takt__merge_open(const char *path, takt_diag *diag,
                             struct takt_database *out)
{
    takt_status status =
        takt__database_open(path, TAKT_DATABASE_WRITE, NULL, diag, out);

    if (status != TAKT_OK || !out->is_readonly)
        return status;
    takt__say(diag, TAKT_OK, "%s cannot be written: check its rights",
              out->path);
    takt__database_close(out);
    return TAKT_EIO;
}

/* Damage of the target is no fault of the source. */
static takt_status blame_target(takt_status status)
{
    return status == TAKT_ECORRUPT ? TAKT_EIO : status;
}

takt_status takt__merge(struct takt_database *into, struct takt_database *from,
                        takt_store_report *report)
{
    static const char count_records[] = "SELECT count(*) FROM record";
    struct merge merge = {.into = into};
    int64_t before = 0, after = 0;
    takt_status status = blame_target(takt__database_begin(into));

    if (status != TAKT_OK)
        return status;
    merge.status = takt__sql_number(into->db, count_records, &before);
    status = takt__rows_visit(from, TAKT_SQL_SELECT, put, &merge);
    if (merge.status == TAKT_OK)
        merge.status = takt__sql_number(into->db, count_records, &after);
    if (merge.status != TAKT_OK)
        status = blame_target(merge.status);
    const bool is_read = status == TAKT_OK;
    status = takt__database_end(into, status);
    if (status != TAKT_OK)
        return is_read ? blame_target(status) : status;
    report->read = merge.read;
    report->added = (size_t)(after - before);
    report->renewed = merge.put - report->added;
    return TAKT_OK;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static void count(void *self, const struct takt_record *record)
{
    (void)record;
    ++*(size_t *)self;
}

static takt_status merge_files(const char *into, struct takt_database *from,
                               takt_store_report *report, takt_diag *diag)
{
    struct takt_database target;

    if (is_same_file(into, from->path))
        return takt__rows_visit(from, TAKT_SQL_SCAN, count, &report->read);
    takt_status status = takt__merge_open(into, diag, &target);
    if (status != TAKT_OK)
        return blame_target(status);
    status = takt__merge(&target, from, report);
    if (status != TAKT_OK)
        takt__say(diag, TAKT_OK, "%s could not be merged into %s: %s",
                  from->path, target.path,
                  status == TAKT_ECORRUPT ? "it is damaged"
                                          : takt_status_text(status));
    takt__database_close(&target);
    return status;
}

static takt_status merge_stores(const char *into, const void *self,
                                takt_store_report *report, takt_diag *diag)
{
    const char *from = self;
    struct takt_database source;

    takt__say(diag, TAKT_OK, "%s", "");
    if (into == NULL || from == NULL || into[0] == '\0' || from[0] == '\0')
        return TAKT_EINVAL;
    takt_status status =
        takt__database_open(from, TAKT_DATABASE_READ, NULL, diag, &source);
    if (status != TAKT_OK)
        return status;
    status = merge_files(into, &source, report, diag);
    takt__database_close(&source);
    if (status != TAKT_OK)
        *report = (takt_store_report){0};
    return status;
}

/* SQLite has locks of its own, which a cancelled thread would keep. */
takt_status takt__merge_guarded(takt_merge_run *run, const char *into,
                                const void *from, takt_store_report *report,
                                takt_diag *diag)
{
    takt_store_report found = {0};
    struct takt_write_signals signals;

    if (report != NULL && !takt__sized_fits(report))
        return TAKT_EINVAL;
    takt__section_begin();
    takt__write_signals_block(&signals);
    const takt_status status = run(into, from, &found, diag);
    takt__write_signals_restore(&signals);
    takt__section_end();
    if (report != NULL)
        takt__sized_fill(report, &found);
    return status;
}

takt_status takt_store_merge(const char *into, const char *from,
                             takt_store_report *report, takt_diag *diag)
{
    return takt__merge_guarded(merge_stores, into, from, report, diag);
}
