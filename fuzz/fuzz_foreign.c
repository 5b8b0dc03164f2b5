/* SPDX-License-Identifier: MIT */
/*
 * fuzz_foreign.c - any bytes, read as somebody else's store: its pages, its
 * log, a journal beside it.
 *
 * It is read or refused with a reason, every record that is read is sound, the
 * files are left as they are, and so is every other one. Of the first byte, two
 * bits tell whether the rest is the file, its log, a journal, or is laid over a
 * sound file, on its first page (bit 3 is set) or later, at the place that the
 * next two bytes tell, in 16-byte steps. Of what is laid over the later pages,
 * which are those of the records, one input in 8 goes the whole way; the others
 * are read through a connection that is open already. A log is made of pages
 * with the right checks, which a fuzzer would take long to find, if bit 4 is
 * set: each a number, a place in 16-byte steps, a length and bytes.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pages.h"
#include "store/schema.h"

enum kind { KIND_FILE, KIND_LOG, KIND_JOURNAL, KIND_LAID };

static const struct takt_store_identity own = {.machine = "aa",
                                               .software = "bb"};
static const struct takt_store_identity foreign = {
    .machine = "aa", .software = "bb", .is_foreign = true};
static char folder[] = "/dev/shm/takt-fuzz-XXXXXX";
static char path[64], log_path[80], journal[80], victim[80];
static int nowhere = -1;
static size_t runs, whole_runs;

static void clean_up(void)
{
    char writers[80];

    fprintf(stderr, "fuzz_foreign: %zu of %zu the whole way\n", whole_runs,
            runs);
    snprintf(writers, sizeof writers, "%s-writers", path);
    const char *const all[] = {path, log_path, journal, victim, writers};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        unlink(all[i]);
    rmdir(folder);
}

/* As if it were written long ago: a log that was written just now is waited
 * for. */
static void save(const char *name, const void *bytes, size_t length)
{
    static const struct timespec long_ago[2] = {{.tv_sec = 1000000000},
                                                {.tv_sec = 1000000000}};
    const int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    demand(fd >= 0 && write(fd, bytes, length) == (ssize_t)length &&
           futimens(fd, long_ago) == 0);
    close(fd);
}

static void prepare(void)
{
    struct takt_store *store;

    pages_set_up();
    demand(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/f.db", folder);
    snprintf(log_path, sizeof log_path, "%s-wal", path);
    snprintf(journal, sizeof journal, "%s-journal", path);
    snprintf(victim, sizeof victim, "%s/v", folder);
    atexit(clean_up);
    demand(takt__store_open(path, &own, NULL, &store) == TAKT_OK);
    demand(pages_learn(store, 40, 1) == TAKT_OK);
    takt__store_close(store);
    sqlite3_limit(pages_keep(path)->db, SQLITE_LIMIT_LENGTH, 1 << 16);
    save(victim, "v", 1);
    nowhere = open("/dev/null", O_WRONLY);
    demand(nowhere >= 0);
}

static void put_word(unsigned char *out, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        out[i] = (unsigned char)(word >> (24 - 8 * i));
}

/* SQLite's, over words of the machine's order: see its "WAL file format". */
static void add_check(const unsigned char *bytes, size_t length,
                      uint32_t check[2])
{
    for (size_t at = 0; at < length; at += 8) {
        uint32_t word[2];
        memcpy(word, bytes + at, sizeof word);
        check[0] += word[0] + check[1];
        check[1] += word[1] + check[0];
    }
}

static size_t make_log(const uint8_t *bytes, size_t length, const char *pages,
                       uint32_t count, unsigned char *out)
{
    static const uint32_t head[6] = {0x377f0682, 3007000, pages_first, 0, 1, 2};
    enum { head_bytes = 32, frame_bytes = 24 };
    uint32_t check[2] = {0, 0};
    size_t made = head_bytes;

    for (int i = 0; i < 6; i++)
        put_word(out + 4 * i, head[i]);
    add_check(out, 24, check);
    put_word(out + 24, check[0]);
    put_word(out + 28, check[1]);
    for (size_t at = 0;
         at + 3 <= length && made + frame_bytes + pages_first <= pages_most;) {
        unsigned char *frame = out + made, *page = frame + frame_bytes;
        const uint32_t number = bytes[at] % count;
        const size_t offset = 16 * (size_t)bytes[at + 1];
        const size_t left = length - at - 3, room = pages_first - offset;
        size_t some = bytes[at + 2] < left ? bytes[at + 2] : left;
        put_word(frame, number + 1);
        put_word(frame + 4, count); /* ends a transaction */
        put_word(frame + 8, head[4]);
        put_word(frame + 12, head[5]);
        memcpy(page, pages + (size_t)number * pages_first, pages_first);
        memcpy(page + offset, bytes + at + 3, some < room ? some : room);
        add_check(frame, 8, check);
        add_check(page, pages_first, check);
        put_word(frame + 16, check[0]);
        put_word(frame + 20, check[1]);
        made += frame_bytes + pages_first;
        at += 3 + some;
    }
    return made;
}

static void save_beside(const uint8_t *bytes, size_t length, const char *pages,
                        size_t size)
{
    static unsigned char made[pages_most];

    if (bytes[0] % 4 == KIND_JOURNAL)
        save(journal, bytes + 1, length - 1);
    else if ((bytes[0] & 16) == 0)
        save(log_path, bytes + 1, length - 1);
    else
        save(log_path, made,
             make_log(bytes + 1, length - 1, pages,
                      (uint32_t)(size / pages_first), made));
}

static void lay_out(const uint8_t *bytes, size_t length)
{
    static const uint8_t nothing[3];
    const enum kind kind = bytes[0] % 4;
    size_t size;

    unlink(log_path);
    unlink(journal);
    if (kind == KIND_FILE) {
        save(path, bytes + 1, length - 1);
        return;
    }
    const char *laid = kind == KIND_LAID ? pages_lay(bytes, length, &size)
                                         : pages_lay(nothing, 3, &size);
    save(path, laid, size);
    if (kind != KIND_LAID)
        save_beside(bytes, length, laid, size);
}

static bool exists(const char *name)
{
    struct stat facts;
    return lstat(name, &facts) == 0;
}

static void run_whole(const uint8_t *bytes, size_t length)
{
    struct takt_store *store;
    struct stat before, after;
    takt_diag diag;

    whole_runs++;
    lay_out(bytes, length);
    demand(stat(path, &before) == 0);
    const takt_status status = takt__store_open(path, &foreign, &diag, &store);
    demand((status == TAKT_OK) == (store != NULL));
    demand(status == TAKT_OK || diag.text[0] != '\0');
    if (store != NULL)
        takt__store_read(store, pages_look, NULL);
    takt__store_close(store);
    if (pages_is_one_in_8(bytes, length, 1))
        takt_store_export(path, nowhere, &diag);
    demand(stat(path, &after) == 0 && before.st_size == after.st_size &&
           before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
           before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    demand(exists(victim));
    demand(exists(log_path) == (bytes[0] % 4 == KIND_LOG));
    demand(exists(journal) == (bytes[0] % 4 == KIND_JOURNAL));
}

static void run_kept(const uint8_t *bytes, size_t length)
{
    struct takt_database *database = pages_swap(bytes, length);
    const takt_status status = takt__schema_check(database->db, true);

    demand(status == TAKT_OK || status == TAKT_ECORRUPT);
    /* A length in a damaged page may be more than there is memory. */
    const takt_status visited =
        takt__rows_visit(database, TAKT_SQL_SELECT, pages_look, NULL);
    demand(visited == TAKT_OK || visited == TAKT_ECORRUPT ||
           (visited == TAKT_ENOMEM && status == TAKT_ECORRUPT));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (nowhere < 0)
        prepare();
    if (length < 3)
        return 0;
    runs++;
    if (bytes[0] % 4 != KIND_LAID || pages_place(bytes) < pages_first ||
        pages_is_one_in_8(bytes, length, 0))
        run_whole(bytes, length);
    else
        run_kept(bytes, length);
    return 0;
}
