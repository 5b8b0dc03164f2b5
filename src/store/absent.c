/* SPDX-License-Identifier: MIT */
/* absent.c - the store of a build without SQLite: there is none. */
#include "store/store.h"

#include <string.h>

#include "base/say.h"
#include "base/sized.h"

/* Hardly any function here looks at what it is given. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

static takt_status refuse(takt_diag *diag)
{
    return takt__say(diag, TAKT_ENOTSUP,
                     "this Takt was built without SQLite: what is learned "
                     "stays in memory");
}

takt_status takt__store_open(const char *path,
                             const struct takt_store_identity *identity,
                             takt_diag *diag, struct takt_store **out)
{
    *out = NULL;
    return refuse(diag);
}

takt_status takt__store_replace(const char *path, const char *machine,
                                const struct takt_record *records, size_t count,
                                takt_diag *diag)
{
    return refuse(diag);
}

void takt__store_close(struct takt_store *store)
{
}

bool takt__store_is_lost(const struct takt_store *store)
{
    return false;
}

bool takt__store_is_renamed(const struct takt_store *store)
{
    return false;
}

bool takt__store_is_locked(const struct takt_store *store)
{
    return false;
}

const char *takt__store_writer(const struct takt_store *store)
{
    return "";
}

takt_status takt__store_read(struct takt_store *store, takt_record_visit *visit,
                             void *self)
{
    return TAKT_ENOTSUP;
}

takt_status takt__store_scan(struct takt_store *store, takt_record_visit *visit,
                             void *self)
{
    return TAKT_ENOTSUP;
}

takt_status takt__store_write(struct takt_store *store,
                              struct takt_record *records, size_t count)
{
    return TAKT_ENOTSUP;
}

takt_status takt__store_reset(struct takt_store *store, const char *op)
{
    return TAKT_ENOTSUP;
}

/* False: it is too short. */
static bool clear(takt_store_report *report)
{
    if (report == NULL)
        return true;
    if (!takt__sized_fits(report))
        return false;
    takt__sized_fill(report, &(takt_store_report){0});
    return true;
}

takt_status takt_store_merge(const char *into, const char *from,
                             takt_store_report *report, takt_diag *diag)
{
    return !clear(report) || into == NULL || from == NULL ? TAKT_EINVAL
                                                          : refuse(diag);
}

takt_status takt_store_export(const char *store, int fd, takt_diag *diag)
{
    return store == NULL ? TAKT_EINVAL : refuse(diag);
}

takt_status takt_store_import(const char *store, int fd,
                              takt_store_report *report, takt_diag *diag)
{
    return !clear(report) || store == NULL ? TAKT_EINVAL : refuse(diag);
}
