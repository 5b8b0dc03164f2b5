/* SPDX-License-Identifier: MIT */
/*
 * vfs.c - SQLite's own file system layer, with a list of the files it may
 * touch.
 *
 * SQLite finds a layer by its name, so each is registered for as long as
 * opening takes: the host program may use SQLite too.
 */
#include "store/vfs.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/sql.h"

struct takt_vfs {
    sqlite3_vfs vfs; /* first: SQLite passes it to the functions below */
    sqlite3_vfs *inner;
    struct takt_image *image; /* NULL: the files themselves */
    char name[32];
    char path[];
};

static const struct takt_vfs *of(sqlite3_vfs *vfs)
{
    return (const struct takt_vfs *)vfs;
}

/* What follows the path of the database in `name`; NULL: it is another file. */
static const char *end_of(const struct takt_vfs *vfs, const char *name)
{
    const size_t length = strlen(vfs->path);
    return strncmp(name, vfs->path, length) == 0 ? name + length : NULL;
}

static bool is_companion(const struct takt_vfs *vfs, const char *name)
{
    const char *end = end_of(vfs, name);
    return end != NULL &&
           (strcmp(end, "-journal") == 0 || strcmp(end, "-wal") == 0);
}

static int open_file(sqlite3_vfs *self, const char *name, sqlite3_file *file,
                     int flags, int *flags_out)
{
    const struct takt_vfs *vfs = of(self);

    if (vfs->image != NULL)
        return takt__image_open(vfs->image, file, flags, flags_out);
    if ((flags & SQLITE_OPEN_SUPER_JOURNAL) == 0)
        return vfs->inner->xOpen(vfs->inner, name, file, flags, flags_out);
    file->pMethods = NULL;
    return SQLITE_CANTOPEN;
}

static int delete_file(sqlite3_vfs *self, const char *name, int is_synced)
{
    const struct takt_vfs *vfs = of(self);

    if (vfs->image != NULL)
        return SQLITE_OK;
    return is_companion(vfs, name)
               ? vfs->inner->xDelete(vfs->inner, name, is_synced)
               : SQLITE_IOERR_DELETE;
}

/* A super-journal that is not there means to SQLite that the transaction was
 * ended, and it plays nothing back. */
static int look_for(sqlite3_vfs *self, const char *name, int what, int *out)
{
    const struct takt_vfs *vfs = of(self);
    const char *end = end_of(vfs, name);

    *out = 0;
    if (vfs->image != NULL) {
        *out = end != NULL && strcmp(end, "-wal") == 0 &&
               takt__image_has_log(vfs->image);
        return SQLITE_OK;
    }
    if (end == NULL || (end[0] != '\0' && !is_companion(vfs, name)))
        return SQLITE_OK;
    return vfs->inner->xAccess(vfs->inner, name, what, out);
}

/* The path has been made absolute already. */
static int complete(sqlite3_vfs *self, const char *name, int size, char *out)
{
    (void)self;
    return snprintf(out, (size_t)size, "%s", name) < size ? SQLITE_OK
                                                          : SQLITE_CANTOPEN;
}

static int random_bytes(sqlite3_vfs *self, int count, char *out)
{
    return of(self)->inner->xRandomness(of(self)->inner, count, out);
}

static int sleep_us(sqlite3_vfs *self, int us)
{
    return of(self)->inner->xSleep(of(self)->inner, us);
}

static int tell_time(sqlite3_vfs *self, double *days)
{
    return of(self)->inner->xCurrentTime(of(self)->inner, days);
}

static int last_error(sqlite3_vfs *self, int size, char *out)
{
    sqlite3_vfs *inner = of(self)->inner;
    return inner->xGetLastError == NULL
               ? 0
               : inner->xGetLastError(inner, size, out);
}

static void fill(struct takt_vfs *vfs)
{
    const int bytes = takt__image_file_bytes();

    snprintf(vfs->name, sizeof vfs->name, "takt-%p", (void *)vfs);
    vfs->vfs = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = vfs->inner->szOsFile > bytes ? vfs->inner->szOsFile : bytes,
        .mxPathname = vfs->inner->mxPathname,
        .zName = vfs->name,
        .xOpen = open_file,
        .xDelete = delete_file,
        .xAccess = look_for,
        .xFullPathname = complete,
        .xRandomness = random_bytes,
        .xSleep = sleep_us,
        .xCurrentTime = tell_time,
        .xGetLastError = last_error,
    };
}

static takt_status make(const char *path, struct takt_image *image,
                        struct takt_vfs **out)
{
    const int result = sqlite3_initialize();
    sqlite3_vfs *inner = result == SQLITE_OK ? sqlite3_vfs_find(NULL) : NULL;

    *out = NULL;
    if (inner == NULL)
        return result == SQLITE_OK ? TAKT_EIO : takt__sql_status(result);
    struct takt_vfs *vfs = calloc(1, sizeof *vfs + strlen(path) + 1);
    if (vfs == NULL)
        return TAKT_ENOMEM;
    strcpy(vfs->path, path);
    vfs->inner = inner;
    vfs->image = image;
    fill(vfs);
    *out = vfs;
    return TAKT_OK;
}

takt_status takt__vfs_connect(const char *path, int flags,
                              struct takt_image *image, struct takt_vfs **out,
                              sqlite3 **db)
{
    const takt_status status = make(path, image, out);

    *db = NULL;
    if (status != TAKT_OK) {
        takt__image_free(image);
        return status;
    }
    struct takt_vfs *vfs = *out;
    int result = sqlite3_vfs_register(&vfs->vfs, 0);
    if (result == SQLITE_OK) {
        result =
            sqlite3_open_v2(path, db, flags | SQLITE_OPEN_NOMUTEX, vfs->name);
        sqlite3_vfs_unregister(&vfs->vfs);
    }
    if (result == SQLITE_OK)
        return TAKT_OK;
    sqlite3_close(*db);
    takt__vfs_free(vfs);
    *db = NULL;
    *out = NULL;
    return takt__sql_status(result);
}

/* ---- copies of Takt ------------------------------------------------------ */

/* Stays in SQLite's list: it has to outlive this library, which a program may
 * have loaded as a part of another one. */
struct mark {
    sqlite3_vfs vfs; /* that nobody opens anything by */
    char name[16];
};

static struct mark *make_mark(const char *name)
{
    struct mark *mark = calloc(1, sizeof *mark);

    if (mark == NULL)
        return NULL;
    snprintf(mark->name, sizeof mark->name, "%s", name);
    mark->vfs = (sqlite3_vfs){.iVersion = 1, .zName = mark->name};
    return mark;
}

bool takt__vfs_shares_sqlite(void)
{
    static const char name[] = "takt-copy";
    static _Atomic(struct mark *) own;
    static atomic_bool is_shared;
    sqlite3_vfs *found = sqlite3_vfs_find(name);
    struct mark *none = NULL;

    if (found != NULL && found != (sqlite3_vfs *)atomic_load(&own))
        atomic_store(&is_shared, true);
    if (atomic_load(&own) != NULL)
        return atomic_load(&is_shared);
    struct mark *mark = make_mark(name);
    if (mark != NULL && atomic_compare_exchange_strong(&own, &none, mark))
        sqlite3_vfs_register(&mark->vfs, 0);
    else
        free(mark);
    return atomic_load(&is_shared);
}

void takt__vfs_free(struct takt_vfs *vfs)
{
    if (vfs == NULL)
        return;
    takt__image_free(vfs->image);
    free(vfs);
}
