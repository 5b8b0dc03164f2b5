/* SPDX-License-Identifier: MIT */
/*
 * fuzz_foreign.c - any bytes, read as somebody else's store: its pages, its
 * log, a journal beside it.
 *
 * It is read or refused with a reason, every record that is read is sound, the
 * files are left as they are, and so is every other one. Of the first byte, two
 * bits tell whether the rest is the file, its log, a journal, or is laid over a
 * sound file at the place that the next two bytes tell, in 16-byte steps.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store.h"

static const struct takt_store_identity own = {.machine = "aa",
                                               .software = "bb"};
static const struct takt_store_identity foreign = {
    .machine = "aa", .software = "bb", .is_foreign = true};
static char folder[] = "/dev/shm/takt-fuzz-XXXXXX";
static char path[64], log_path[80], journal[80], victim[80];
static char sound[65536], whole[65536];
static size_t sound_length;
static int nowhere;

static void demand(bool condition)
{
    if (!condition)
        abort();
}

static void clean_up(void)
{
    char writers[80];

    snprintf(writers, sizeof writers, "%s-writers", path);
    const char *const all[] = {path, log_path, journal, victim, writers};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        unlink(all[i]);
    rmdir(folder);
}

static void save(const char *name, const void *bytes, size_t length)
{
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    demand(fd >= 0 && write(fd, bytes, length) == (ssize_t)length);
    close(fd);
}

static void learn(struct takt_store *store)
{
    struct takt_record records[40];

    memset(records, 0, sizeof records);
    for (unsigned i = 0; i < 40; i++) {
        snprintf(records[i].op, sizeof records[i].op, "op%u", i % 5);
        strcpy(records[i].expert, "scalar");
        records[i].bin = i;
        records[i].seq = 1;
        records[i].n = i;
    }
    demand(takt__store_write(store, records, 40) == TAKT_OK);
}

static void prepare(void)
{
    struct takt_store *store;

    demand(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/f.db", folder);
    snprintf(log_path, sizeof log_path, "%s-wal", path);
    snprintf(journal, sizeof journal, "%s-journal", path);
    snprintf(victim, sizeof victim, "%s/v", folder);
    atexit(clean_up);
    demand(takt__store_open(path, &own, NULL, &store) == TAKT_OK);
    learn(store);
    takt__store_close(store);
    const int fd = open(path, O_RDONLY);
    const ssize_t length = read(fd, sound, sizeof sound);
    demand(length > 0);
    sound_length = (size_t)length;
    close(fd);
    save(victim, "v", 1);
    nowhere = open("/dev/null", O_WRONLY);
}

static void lay_out(const uint8_t *bytes, size_t length)
{
    const unsigned kind = bytes[0] % 4;

    unlink(log_path);
    unlink(journal);
    if (kind == 0) {
        save(path, bytes + 1, length - 1);
        return;
    }
    memcpy(whole, sound, sound_length);
    if (kind == 3) {
        const size_t at = 16 * (size_t)(bytes[1] + 256 * bytes[2]);
        for (size_t i = 3; i < length && at + i - 3 < sound_length; i++)
            whole[at + i - 3] = (char)bytes[i];
    } else {
        save(kind == 1 ? log_path : journal, bytes + 1, length - 1);
    }
    save(path, whole, sound_length);
}

static bool exists(const char *name)
{
    struct stat facts;
    return lstat(name, &facts) == 0;
}

static void look(void *self, const struct takt_record *record)
{
    (void)self;
    demand(takt__record_is_sound(record));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct takt_store *store;
    struct stat before, after;
    takt_diag diag;

    if (sound_length == 0)
        prepare();
    if (length < 3)
        return 0;
    lay_out(bytes, length);
    demand(stat(path, &before) == 0);
    const takt_status status = takt__store_open(path, &foreign, &diag, &store);
    demand((status == TAKT_OK) == (store != NULL));
    demand(status == TAKT_OK || diag.text[0] != '\0');
    if (store != NULL)
        takt__store_read(store, look, NULL);
    takt__store_close(store);
    if (bytes[0] & 4)
        takt_store_export(path, nowhere, &diag);
    demand(stat(path, &after) == 0 && before.st_size == after.st_size &&
           before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    demand(exists(victim));
    demand(exists(log_path) == (bytes[0] % 4 == 1));
    demand(exists(journal) == (bytes[0] % 4 == 2));
    return 0;
}
