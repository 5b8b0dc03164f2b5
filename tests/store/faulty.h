/* SPDX-License-Identifier: MIT */
/*
 * faulty.h - SQLite's system, of which one operation fails when told to.
 *
 * It becomes SQLite's default, so whoever takes that one gets it.
 */
#pragma once

#include <sqlite3.h>
#include <stdbool.h>
#include <string.h>

#include "support/tap.h"

enum fault {
    FAULT_OPEN,
    FAULT_READ,
    FAULT_WRITE,
    FAULT_SYNC,
    FAULT_TRUNCATE,
    FAULT_SIZE,
    FAULT_LOCK,
    FAULT_MAP,
    FAULT_ACCESS,
    FAULT_DELETE,
    FAULT_COUNT
};

static const struct {
    const char *name;
    int result;
} faults[FAULT_COUNT] = {
    [FAULT_OPEN] = {"open", SQLITE_CANTOPEN},
    [FAULT_READ] = {"read", SQLITE_IOERR_READ},
    [FAULT_WRITE] = {"write", SQLITE_IOERR_WRITE},
    [FAULT_SYNC] = {"sync", SQLITE_IOERR_FSYNC},
    [FAULT_TRUNCATE] = {"truncate", SQLITE_IOERR_TRUNCATE},
    [FAULT_SIZE] = {"size", SQLITE_IOERR_FSTAT},
    [FAULT_LOCK] = {"lock", SQLITE_IOERR_LOCK},
    [FAULT_MAP] = {"map", SQLITE_IOERR_SHMMAP},
    [FAULT_ACCESS] = {"access", SQLITE_IOERR_ACCESS},
    [FAULT_DELETE] = {"delete", SQLITE_IOERR_DELETE},
};

static struct {
    sqlite3_vfs vfs;
    sqlite3_vfs *usual;
    enum fault kind;
    bool is_on, is_lasting;
    long at;    /* the call that fails, from 0 */
    long calls; /* of that kind so far */
} faulty;

struct faulty_file {
    sqlite3_file base;
    sqlite3_file *real; /* behind this */
};

static inline int faulty_try(enum fault kind)
{
    if (!faulty.is_on || kind != faulty.kind)
        return SQLITE_OK;
    const long call = faulty.calls++;
    return call == faulty.at || (faulty.is_lasting && call > faulty.at)
               ? faults[kind].result
               : SQLITE_OK;
}

static inline sqlite3_file *faulty_real(sqlite3_file *file)
{
    return ((struct faulty_file *)file)->real;
}

/* FORWARD(fault, method, arguments): fails, or does what the real file does. */
#define FORWARD(fault, method, ...)                               \
    do {                                                          \
        sqlite3_file *real_ = faulty_real(file);                  \
        const int result_ = faulty_try(fault);                    \
        return result_ != SQLITE_OK                               \
                   ? result_                                      \
                   : real_->pMethods->method(real_, __VA_ARGS__); \
    } while (0)

static int faulty_close(sqlite3_file *file)
{
    return faulty_real(file)->pMethods->xClose(faulty_real(file));
}
static int faulty_read(sqlite3_file *file, void *to, int n, sqlite3_int64 at)
{
    FORWARD(FAULT_READ, xRead, to, n, at);
}
static int faulty_write(sqlite3_file *file, const void *from, int n,
                        sqlite3_int64 at)
{
    FORWARD(FAULT_WRITE, xWrite, from, n, at);
}
static int faulty_truncate(sqlite3_file *file, sqlite3_int64 size)
{
    FORWARD(FAULT_TRUNCATE, xTruncate, size);
}
static int faulty_sync(sqlite3_file *file, int flags)
{
    FORWARD(FAULT_SYNC, xSync, flags);
}
static int faulty_size(sqlite3_file *file, sqlite3_int64 *size)
{
    FORWARD(FAULT_SIZE, xFileSize, size);
}
static int faulty_lock(sqlite3_file *file, int lock)
{
    FORWARD(FAULT_LOCK, xLock, lock);
}
static int faulty_unlock(sqlite3_file *file, int lock)
{
    return faulty_real(file)->pMethods->xUnlock(faulty_real(file), lock);
}
static int faulty_reserved(sqlite3_file *file, int *out)
{
    return faulty_real(file)->pMethods->xCheckReservedLock(faulty_real(file),
                                                           out);
}
static int faulty_control(sqlite3_file *file, int operation, void *argument)
{
    return faulty_real(file)->pMethods->xFileControl(faulty_real(file),
                                                     operation, argument);
}
static int faulty_sector(sqlite3_file *file)
{
    return faulty_real(file)->pMethods->xSectorSize(faulty_real(file));
}
static int faulty_traits(sqlite3_file *file)
{
    return faulty_real(file)->pMethods->xDeviceCharacteristics(
        faulty_real(file));
}
static int faulty_map(sqlite3_file *file, int region, int size, int extend,
                      void volatile **out)
{
    FORWARD(FAULT_MAP, xShmMap, region, size, extend, out);
}
static int faulty_shm_lock(sqlite3_file *file, int offset, int n, int flags)
{
    if ((flags & SQLITE_SHM_LOCK) != 0)
        FORWARD(FAULT_LOCK, xShmLock, offset, n, flags);
    return faulty_real(file)->pMethods->xShmLock(faulty_real(file), offset, n,
                                                 flags);
}
static void faulty_barrier(sqlite3_file *file)
{
    faulty_real(file)->pMethods->xShmBarrier(faulty_real(file));
}
static int faulty_unmap(sqlite3_file *file, int deletes)
{
    return faulty_real(file)->pMethods->xShmUnmap(faulty_real(file), deletes);
}

static const sqlite3_io_methods faulty_methods = {
    .iVersion = 2,
    .xClose = faulty_close,
    .xRead = faulty_read,
    .xWrite = faulty_write,
    .xTruncate = faulty_truncate,
    .xSync = faulty_sync,
    .xFileSize = faulty_size,
    .xLock = faulty_lock,
    .xUnlock = faulty_unlock,
    .xCheckReservedLock = faulty_reserved,
    .xFileControl = faulty_control,
    .xSectorSize = faulty_sector,
    .xDeviceCharacteristics = faulty_traits,
    .xShmMap = faulty_map,
    .xShmLock = faulty_shm_lock,
    .xShmBarrier = faulty_barrier,
    .xShmUnmap = faulty_unmap,
};

static int faulty_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file,
                       int flags, int *out)
{
    struct faulty_file *opened = (struct faulty_file *)file;
    int result = faulty_try(FAULT_OPEN);

    (void)vfs;
    opened->base.pMethods = NULL;
    opened->real = (sqlite3_file *)(opened + 1);
    if (result == SQLITE_OK)
        result =
            faulty.usual->xOpen(faulty.usual, name, opened->real, flags, out);
    if (result == SQLITE_OK)
        opened->base.pMethods = &faulty_methods;
    return result;
}

static int faulty_delete(sqlite3_vfs *vfs, const char *name, int is_synced)
{
    const int result = faulty_try(FAULT_DELETE);

    (void)vfs;
    return result != SQLITE_OK
               ? result
               : faulty.usual->xDelete(faulty.usual, name, is_synced);
}

static int faulty_access(sqlite3_vfs *vfs, const char *name, int what, int *out)
{
    const int result = faulty_try(FAULT_ACCESS);

    (void)vfs;
    return result != SQLITE_OK
               ? result
               : faulty.usual->xAccess(faulty.usual, name, what, out);
}

/* The methods that are not replaced do not look at the system they get. */
static inline void faulty_install(void)
{
    faulty.usual = sqlite3_vfs_find(NULL);
    REQUIRE(faulty.usual != NULL);
    faulty.vfs = *faulty.usual;
    faulty.vfs.zName = "faulty";
    faulty.vfs.szOsFile += (int)sizeof(struct faulty_file);
    faulty.vfs.xOpen = faulty_open;
    faulty.vfs.xDelete = faulty_delete;
    faulty.vfs.xAccess = faulty_access;
    REQUIRE(sqlite3_vfs_register(&faulty.vfs, 1) == SQLITE_OK);
}

static inline void faulty_begin(enum fault kind, long at, bool is_lasting)
{
    faulty.kind = kind;
    faulty.at = at;
    faulty.is_lasting = is_lasting;
    faulty.calls = 0;
    faulty.is_on = true;
}

/* Whether the call that was to fail came. */
static inline bool faulty_end(void)
{
    faulty.is_on = false;
    return faulty.calls > faulty.at;
}
