/* SPDX-License-Identifier: MIT */
/*
 * image.c - reading a database that others may be writing to, and giving the
 * copy to SQLite.
 *
 * The files are read by SQLite's own system: a descriptor that we close would
 * drop the locks that other connections of this process have on the file.
 * Nothing locks out writers, so both files must look the same before and after
 * they were read.
 */
#include "store/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/say.h"
#include "store/descriptors.h"
#include "store/path.h"
#include "store/sql.h"

enum { parts = 2, attempts = 50, pause_ms = 10, page = 4096 };

/* A file system's clock may advance by no more than 4 ms at a time (HZ=250),
 * or 10 (HZ=100): what changed later than so long ago may have changed since
 * and show the same time. */
enum { clock_tick_ms = 20 };

static const char *const ends[parts] = {"", "-wal"};
static const int kinds[parts] = {SQLITE_OPEN_MAIN_DB, SQLITE_OPEN_WAL};

struct bytes {
    char *at;
    size_t length, capacity;
};

struct takt_image {
    struct bytes part[parts];
};

struct image_file {
    sqlite3_file base;
    struct bytes *bytes;
};

/* ---- reading ------------------------------------------------------------- */

struct file_facts {
    struct stat part[parts]; /* zeros: there is none */
    bool has_journal;
};

/* A journal that was ended but kept begins with zeros, and one that holds
 * nothing is empty; neither is seen here, since Takt removes its journals. */
static takt_status read_facts(const char *path, struct file_facts *out)
{
    struct stat facts;

    memset(out, 0, sizeof *out);
    for (int i = 0; i < parts; i++) {
        char *name = takt__path_extend(path, ends[i]);
        if (name == NULL)
            return TAKT_ENOMEM;
        const int result = stat(name, &facts);
        free(name);
        if (result == 0)
            out->part[i] = facts;
        else if (errno != ENOENT)
            return TAKT_EIO;
    }
    char *journal = takt__path_extend(path, "-journal");
    if (journal == NULL)
        return TAKT_ENOMEM;
    out->has_journal = stat(journal, &facts) == 0 && facts.st_size > 0;
    free(journal);
    return TAKT_OK;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool is_recent(const struct stat *facts)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    const double ms = 1e3 * (double)(now.tv_sec - facts->st_mtim.tv_sec) +
                      1e-6 * (double)(now.tv_nsec - facts->st_mtim.tv_nsec);
    return ms >= 0 && ms < clock_tick_ms;
}

static takt_status check_facts(const char *path, const struct file_facts *files,
                               size_t limit, takt_diag *diag)
{
    size_t bytes = 0;

    if (files->part[0].st_ino == 0)
        return takt__say(diag, TAKT_ENOENT, "%s: there is no such file", path);
    for (int i = 0; i < parts; i++) {
        const struct stat *part = &files->part[i];
        if (part->st_ino != 0 && !S_ISREG(part->st_mode))
            return takt__say(diag, TAKT_EIO, "%s%s is not a regular file", path,
                             ends[i]);
        if (part->st_ino != 0 && !takt__descriptors_may_read(part, i > 0))
            return takt__say(diag, TAKT_ECORRUPT,
                             "%s%s belongs to another store", path, ends[i]);
        if ((uint64_t)part->st_size > limit - bytes)
            return takt__say(diag, TAKT_ECORRUPT,
                             "%s is too large: at most %zu MiB are read", path,
                             limit >> 20);
        bytes += (size_t)part->st_size;
    }
    return TAKT_OK;
}

static takt_status reserve(struct bytes *bytes, size_t capacity)
{
    if (capacity <= bytes->capacity)
        return TAKT_OK;
    const size_t more = (capacity + capacity / 8 + page) / page * page;
    char *at = realloc(bytes->at, more);
    if (at == NULL)
        return TAKT_ENOMEM;
    memset(at + bytes->capacity, 0, more - bytes->capacity);
    bytes->at = at;
    bytes->capacity = more;
    return TAKT_OK;
}

/* *is_short: the file has become shorter meanwhile, or is gone. */
static takt_status read_file(sqlite3_vfs *vfs, const char *name, int kind,
                             struct bytes *out, bool *is_short)
{
    sqlite3_file *file = calloc(1, (size_t)vfs->szOsFile);
    const char *known = sqlite3_create_filename(name, "", "", 0, NULL);
    int result = SQLITE_NOMEM, ignored;

    if (file != NULL && known != NULL) {
        result =
            vfs->xOpen(vfs, known, file, SQLITE_OPEN_READONLY | kind, &ignored);
        for (size_t at = 0; result == SQLITE_OK && at < out->length;) {
            const size_t left = out->length - at;
            const int some = left < 1 << 20 ? (int)left : 1 << 20;
            result = file->pMethods->xRead(file, out->at + at, some,
                                           (sqlite3_int64)at);
            at += (size_t)some;
        }
        if (file->pMethods != NULL)
            file->pMethods->xClose(file);
    }
    *is_short = result == SQLITE_IOERR_SHORT_READ;
    sqlite3_free_filename((char *)known);
    free(file);
    return takt__sql_status(result);
}

bool takt__image_start(const char *path, char *out, size_t length)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    struct bytes start = {.at = out, .length = length};
    bool is_short = false;

    if (vfs == NULL)
        return false;
    takt__descriptors_begin_release(NULL, NULL);
    const takt_status status =
        read_file(vfs, path, kinds[0], &start, &is_short);
    takt__descriptors_end_release(NULL);
    return status == TAKT_OK || is_short;
}

static takt_status read_parts(const char *path, const struct file_facts *facts,
                              struct takt_image *image, bool *is_short)
{
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    takt_status status = vfs != NULL ? TAKT_OK : TAKT_ENOMEM;

    *is_short = false;
    takt__descriptors_begin_release(NULL, NULL);
    for (int i = 0; status == TAKT_OK && i < parts; i++) {
        struct bytes *bytes = &image->part[i];
        char *name = takt__path_extend(path, ends[i]);
        status = name == NULL ? TAKT_ENOMEM
                              : reserve(bytes, (size_t)facts->part[i].st_size);
        bytes->length = (size_t)facts->part[i].st_size;
        if (status == TAKT_OK && bytes->length > 0)
            status = read_file(vfs, name, kinds[i], bytes, is_short);
        free(name);
    }
    takt__descriptors_end_release(NULL);
    return status;
}

/* Whether what was read is what was there all the while. */
static bool is_settled(const struct file_facts *before,
                       const struct file_facts *after)
{
    const bool has_log = before->part[1].st_size > 0;

    return !before->has_journal && !after->has_journal &&
           is_same(&before->part[0], &after->part[0]) &&
           is_same(&before->part[1], &after->part[1]) &&
           !(has_log &&
             (is_recent(&after->part[0]) || is_recent(&after->part[1])));
}

static takt_status read_once(const char *path, size_t limit, takt_diag *diag,
                             struct takt_image *image, bool *is_good)
{
    struct file_facts before, after;
    bool is_short;

    *is_good = false;
    takt_status status = read_facts(path, &before);
    if (status == TAKT_OK)
        status = check_facts(path, &before, limit, diag);
    if (status != TAKT_OK)
        return status;
    if (before.has_journal)
        return takt__say(
            diag, TAKT_EIO,
            "%s has an unfinished transaction beside it "
            "(%s-journal): open it once with the Takt that wrote it",
            path, path);
    status = read_parts(path, &before, image, &is_short);
    if (status == TAKT_OK || is_short || status == TAKT_EIO) {
        const takt_status again = read_facts(path, &after);
        if (again != TAKT_OK)
            return again;
        *is_good = status == TAKT_OK && is_settled(&before, &after);
        if (is_short || !is_same(&before.part[0], &after.part[0]) ||
            !is_same(&before.part[1], &after.part[1]))
            return TAKT_OK; /* to be read again */
    }
    return status;
}

takt_status takt__image_read(const char *path, size_t limit, takt_diag *diag,
                             struct takt_image **out)
{
    const struct timespec pause = {.tv_nsec = pause_ms * 1000000L};
    struct takt_image *image = calloc(1, sizeof *image);
    takt_status status = image != NULL ? TAKT_OK : TAKT_ENOMEM;
    bool is_good = false;

    *out = NULL;
    for (int i = 0; status == TAKT_OK && !is_good && i < attempts; i++) {
        if (i > 0)
            nanosleep(&pause, NULL);
        status = read_once(path, limit, diag, image, &is_good);
    }
    if (status == TAKT_OK && !is_good)
        status = takt__say(diag, TAKT_EIO, "%s is being written to: try again",
                           path);
    if (status != TAKT_OK)
        takt__image_free(image);
    else
        *out = image;
    return status;
}

void takt__image_free(struct takt_image *image)
{
    for (int i = 0; image != NULL && i < parts; i++)
        free(image->part[i].at);
    free(image);
}

size_t takt__image_bytes(const struct takt_image *image)
{
    return image->part[0].length + image->part[1].length;
}

bool takt__image_has_log(const struct takt_image *image)
{
    return image->part[1].length > 0;
}

bool takt__image_lacks_log(const struct takt_image *image)
{
    enum { version_to_read = 19, with_log = 2 };

    return !takt__image_has_log(image) &&
           image->part[0].length > version_to_read &&
           image->part[0].at[version_to_read] == with_log;
}

/* ---- the first page ------------------------------------------------------ */

enum { head_of_log = 32, head_of_frame = 24 };

static size_t two_bytes(const unsigned char *at)
{
    return (size_t)at[0] << 8 | at[1];
}

/* A number as SQLite writes it: seven bits to a byte, at most nine bytes. */
static uint64_t number_at(const unsigned char *at)
{
    uint64_t number = 0;

    for (int i = 0; i < 8; i++) {
        number = number << 7 | (at[i] & 0x7fu);
        if (at[i] < 0x80)
            return number;
    }
    return number << 8 | at[8];
}

/* The same of one copy of the first page, which describes the tables. */
static bool claims_more(const unsigned char *at, size_t bytes, size_t most)
{
    enum { kind = 100, leaf = 13, count = 103, cells = 108, longest = 9 };

    for (size_t i = 0; at[kind] == leaf && i < two_bytes(at + count); i++) {
        const size_t place = cells + 2 * i;
        if (place + 2 > bytes)
            break;
        const size_t cell = two_bytes(at + place);
        if (cell + longest <= bytes && number_at(at + cell) > most)
            return true;
    }
    return false;
}

bool takt__image_claims_too_much(const struct takt_image *image)
{
    static const unsigned char first[4] = {0, 0, 0, 1};
    enum { least_page = 512, largest_page = 65536 };
    const unsigned char *database = (const unsigned char *)image->part[0].at;
    const unsigned char *log = (const unsigned char *)image->part[1].at;
    const size_t most = takt__image_bytes(image);

    if (image->part[0].length < least_page)
        return false;
    size_t bytes = two_bytes(database + 16);
    bytes = bytes == 1 ? largest_page : bytes;
    if (bytes < least_page || bytes > image->part[0].length)
        return false;
    if (claims_more(database, bytes, most))
        return true;
    for (size_t frame = head_of_log;
         frame + head_of_frame + bytes <= image->part[1].length;
         frame += head_of_frame + bytes)
        if (memcmp(log + frame, first, sizeof first) == 0 &&
            claims_more(log + frame + head_of_frame, bytes, most))
            return true;
    return false;
}

/* ---- SQLite's file ------------------------------------------------------- */

static struct bytes *bytes_of(sqlite3_file *file)
{
    return ((struct image_file *)file)->bytes;
}

static int close_file(sqlite3_file *file)
{
    (void)file;
    return SQLITE_OK;
}

static int read_bytes(sqlite3_file *file, void *to, int amount,
                      sqlite3_int64 offset)
{
    const struct bytes *bytes = bytes_of(file);
    const size_t want = (size_t)amount, at = (size_t)offset;
    const size_t left = at < bytes->length ? bytes->length - at : 0;
    const size_t have = left < want ? left : want;

    if (have > 0)
        memcpy(to, bytes->at + at, have);
    memset((char *)to + have, 0, want - have);
    return have == want ? SQLITE_OK : SQLITE_IOERR_SHORT_READ;
}

static int write_bytes(sqlite3_file *file, const void *from, int amount,
                       sqlite3_int64 offset)
{
    struct bytes *bytes = bytes_of(file);
    const size_t end = (size_t)offset + (size_t)amount;

    if (end > 2 * (size_t)TAKT_IMAGE_OWN_BYTES)
        return SQLITE_FULL;
    if (reserve(bytes, end) != TAKT_OK)
        return SQLITE_IOERR_NOMEM;
    memcpy(bytes->at + offset, from, (size_t)amount);
    if (end > bytes->length)
        bytes->length = end;
    return SQLITE_OK;
}

/* Beyond its length, the capacity is zeros. */
static int cut(sqlite3_file *file, sqlite3_int64 size)
{
    struct bytes *bytes = bytes_of(file);
    const size_t length = (size_t)size;

    if (length < bytes->length) {
        memset(bytes->at + length, 0, bytes->length - length);
        bytes->length = length;
    }
    return SQLITE_OK;
}

static int do_nothing(sqlite3_file *file, int flags)
{
    (void)file;
    (void)flags;
    return SQLITE_OK;
}

static int tell_size(sqlite3_file *file, sqlite3_int64 *size)
{
    *size = (sqlite3_int64)bytes_of(file)->length;
    return SQLITE_OK;
}

static int check_lock(sqlite3_file *file, int *is_locked)
{
    (void)file;
    *is_locked = 0;
    return SQLITE_OK;
}

static int control(sqlite3_file *file, int operation, void *argument)
{
    (void)file;
    (void)operation;
    (void)argument;
    return SQLITE_NOTFOUND;
}

static int tell_sector(sqlite3_file *file)
{
    (void)file;
    return page;
}

static int tell_traits(sqlite3_file *file)
{
    (void)file;
    return 0;
}

/* Version 1: no shared memory, so the index of the log is SQLite's own. */
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = close_file,
    .xRead = read_bytes,
    .xWrite = write_bytes,
    .xTruncate = cut,
    .xSync = do_nothing,
    .xFileSize = tell_size,
    .xLock = do_nothing,
    .xUnlock = do_nothing,
    .xCheckReservedLock = check_lock,
    .xFileControl = control,
    .xSectorSize = tell_sector,
    .xDeviceCharacteristics = tell_traits,
};

int takt__image_file_bytes(void)
{
    return (int)sizeof(struct image_file);
}

int takt__image_open(struct takt_image *image, sqlite3_file *file, int flags,
                     int *flags_out)
{
    struct image_file *opened = (struct image_file *)file;

    opened->base.pMethods = NULL;
    for (int i = 0; i < parts; i++)
        if ((flags & kinds[i]) != 0) {
            opened->bytes = &image->part[i];
            opened->base.pMethods = &methods;
        }
    if (opened->base.pMethods == NULL)
        return SQLITE_CANTOPEN;
    if (flags_out != NULL)
        *flags_out = flags;
    return SQLITE_OK;
}
