/* SPDX-License-Identifier: MIT */
#include "pages.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "heap.h"
#include "store/read.h"
#include "store/sql.h"

/* In the header of a database. */
enum { write_version = 18, counter = 24, counter_again = 92 };

static char sound[pages_most], whole[pages_most];
static size_t sound_length;
static struct takt_database kept;
static sqlite3_file *kept_file;

void demand(bool condition)
{
    if (!condition)
        abort();
}

void pages_set_up(void)
{
    demand(sqlite3_config(SQLITE_CONFIG_SINGLETHREAD) == SQLITE_OK);
    demand(sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0) == SQLITE_OK);
    heap_give_to_sqlite();
    demand(sqlite3_initialize() == SQLITE_OK);
    sqlite3_vfs *exclusive = sqlite3_vfs_find("unix-excl");
    demand(exclusive != NULL &&
           sqlite3_vfs_register(exclusive, 1) == SQLITE_OK);
}

takt_status pages_learn(struct takt_store *store, unsigned count, uint64_t seq)
{
    struct takt_record records[40];

    memset(records, 0, sizeof records);
    for (unsigned i = 0; i < count; i++) {
        snprintf(records[i].op, sizeof records[i].op, "op%u", i % 5);
        strcpy(records[i].expert, "scalar");
        records[i].bin = i;
        records[i].seq = seq;
        records[i].n = i;
    }
    return takt__store_write(store, records, count);
}

static void read_sound(const char *path)
{
    const int fd = open(path, O_RDONLY);
    const ssize_t length = read(fd, sound, sizeof sound);

    demand(length > pages_first && length < (ssize_t)sizeof sound);
    sound_length = (size_t)length;
    close(fd);
}

/* Without a log, which would need memory that is shared with others. */
static void write_without_log(const char *path)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    memcpy(whole, sound, sound_length);
    whole[write_version] = whole[write_version + 1] = 1;
    demand(write(fd, whole, sound_length) == (ssize_t)sound_length);
    close(fd);
}

struct takt_database *pages_keep(const char *path)
{
    char name[256];
    struct takt_image *image;

    read_sound(path);
    snprintf(name, sizeof name, "%s-kept", path);
    write_without_log(name);
    demand(takt__image_read(name, pages_most, NULL, &image) == TAKT_OK);
    unlink(name);
    kept = (struct takt_database){.path = name, .lockfile = -1};
    kept_file = calloc(1, (size_t)takt__image_file_bytes());
    demand(kept_file != NULL &&
           takt__image_open(image, kept_file, SQLITE_OPEN_MAIN_DB, NULL) ==
               SQLITE_OK);
    demand(takt__vfs_connect(name, SQLITE_OPEN_READWRITE, image, &kept.vfs,
                             &kept.db) == TAKT_OK);
    kept.path = NULL;
    takt__read_distrust(kept.db);
    demand(takt__sql_run(kept.db, "PRAGMA journal_mode = MEMORY;"
                                  "PRAGMA temp_store = MEMORY") == TAKT_OK);
    demand(takt__database_prepare_all(&kept) == TAKT_OK);
    return &kept;
}

static size_t place_told(const uint8_t *bytes)
{
    return 16 * (size_t)(bytes[1] + 256 * bytes[2]);
}

static size_t later_place(const uint8_t *bytes)
{
    return pages_first + place_told(bytes) % (sound_length - pages_first);
}

size_t pages_place(const uint8_t *bytes)
{
    return (bytes[0] & 8) != 0 ? place_told(bytes) % pages_first
                               : later_place(bytes);
}

bool pages_is_one_in_8(const uint8_t *bytes, size_t length, unsigned which)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return (hash >> (16 + 3 * which)) % 8 == 0;
}

static void lay(const uint8_t *bytes, size_t length, size_t at)
{
    const size_t room = sound_length - at;

    memcpy(whole, sound, sound_length);
    memcpy(whole + at, bytes + 3, length - 3 < room ? length - 3 : room);
}

const char *pages_lay(const uint8_t *bytes, size_t length, size_t *size)
{
    lay(bytes, length, pages_place(bytes));
    *size = sound_length;
    return whole;
}

struct takt_database *pages_swap(const uint8_t *bytes, size_t length)
{
    static uint32_t change;
    const size_t size = sound_length;

    lay(bytes, length, later_place(bytes));
    change++;
    for (int i = 0; i < 4; i++)
        whole[counter + i] = whole[counter_again + i] =
            (char)(change >> (24 - 8 * i));
    whole[write_version] = whole[write_version + 1] = 1;
    const sqlite3_io_methods *methods = kept_file->pMethods;
    demand(methods->xTruncate(kept_file, (sqlite3_int64)size) == SQLITE_OK &&
           methods->xWrite(kept_file, whole, (int)size, 0) == SQLITE_OK);
    return &kept;
}

void pages_look(void *self, const struct takt_record *record)
{
    (void)self;
    demand(takt__record_is_sound(record));
}
