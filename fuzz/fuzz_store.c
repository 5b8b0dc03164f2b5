/* SPDX-License-Identifier: MIT */
/*
 * fuzz_store.c - any bytes, opened as the file of a store.
 *
 * It ends with a store that can be used, or with an error that says why. The
 * first byte tells whether the rest is the file (0), or is laid over a sound
 * one, on its first page (bit 3) or later, at the place that the next two
 * bytes tell, in 16-byte steps: a fuzzer would take long to find out how a
 * database begins. One input in 8 goes the whole way; the others are laid over
 * the later pages, which are those of the records, and are read and written
 * through a connection that is open already.
 *
 * A damaged file is moved aside, and what is made in its place does not depend
 * on the input: for 7 inputs in 8 moving fails instead, which is an error.
 */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pages.h"
#include "store/schema.h"
#include "store/writer.h"

static const struct takt_store_identity identity = {.machine = "aa",
                                                    .software = "bb"};
static char folder[] = "/dev/shm/takt-fuzz-XXXXXX";
static char path[64], first[80];
static int file = -1;
static bool may_move;
static size_t runs, whole_runs;

static void remove_with(const char *end)
{
    char name[96];

    snprintf(name, sizeof name, "%s%s", path, end);
    unlink(name);
}

static void remove_companions(void)
{
    remove_with("-wal");
    remove_with("-shm");
    remove_with("-journal");
}

/* A file that was moved aside comes back: the writer that the store knows is
 * known by the number of the file, too. */
static void put_back(void)
{
    char aside[96];

    snprintf(aside, sizeof aside, "%s.damaged-1", path);
    if (access(aside, F_OK) != 0)
        return;
    for (char number = '1'; number < '4'; number++) {
        aside[strlen(aside) - 1] = number;
        unlink(aside);
    }
    for (char number = '1'; number < '4'; number++) {
        static const char *const ends[] = {"-wal", "-shm", "-journal"};
        for (size_t i = 0; i < 3; i++) {
            char end[32];
            snprintf(end, sizeof end, ".damaged-%c%s", number, ends[i]);
            remove_with(end);
        }
    }
    unlink(path);
    demand(link(first, path) == 0);
}

static void clean_up(void)
{
    fprintf(stderr, "fuzz_store: %zu of %zu the whole way\n", whole_runs, runs);
    put_back();
    remove_companions();
    remove_with("-writers");
    unlink(path);
    unlink(first);
    rmdir(folder);
}

static void prepare(void)
{
    struct takt_store *store;

    pages_set_up();
    demand(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/f.db", folder);
    snprintf(first, sizeof first, "%s/first", folder);
    atexit(clean_up);
    demand(takt__store_open(path, &identity, NULL, &store) == TAKT_OK);
    demand(pages_learn(store, 24, 1) == TAKT_OK);
    takt__store_close(store);
    pages_keep(path);
    file = open(path, O_RDWR | O_CLOEXEC);
    demand(file >= 0 && link(path, first) == 0);
}

static void save(const void *bytes, size_t length)
{
    demand(ftruncate(file, 0) == 0 &&
           pwrite(file, bytes, length, 0) == (ssize_t)length);
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

int __wrap_rename(const char *from, const char *to)
{
    if (may_move)
        return __real_rename(from, to);
    errno = EACCES;
    return -1;
}

static void open_and_use(void)
{
    takt_status used = TAKT_ECORRUPT;

    for (uint64_t i = 0; i < 3 && used == TAKT_ECORRUPT; i++) {
        struct takt_store *store;
        takt_diag diag;
        const takt_status status =
            takt__store_open(path, &identity, &diag, &store);
        demand((status == TAKT_OK) == (store != NULL));
        if (status != TAKT_OK) {
            demand(diag.text[0] != '\0');
            return;
        }
        used = takt__store_read(store, pages_look, NULL);
        if (used == TAKT_OK)
            used = pages_learn(store, 8, (uint64_t)1 << 20);
        if (takt__store_is_renamed(store))
            used = TAKT_OK; /* the input claims the writer's name */
        takt__store_close(store);
    }
    demand(used == TAKT_OK);
}

static void run_whole(const uint8_t *bytes, size_t length)
{
    whole_runs++;
    may_move = pages_is_one_in_8(bytes, length, 1);
    put_back();
    remove_companions();
    if (length < 3 || bytes[0] == 0) {
        save(bytes + 1, length > 0 ? length - 1 : 0);
    } else {
        size_t size;
        const char *laid = pages_lay(bytes, length, &size);
        save(laid, size);
    }
    open_and_use();
}

/* A length in a damaged page may be more than there is memory: `checked` is
 * what a check said of the page. */
static void expect(takt_status status, takt_status checked)
{
    demand(status == TAKT_OK || status == TAKT_ECORRUPT ||
           (status == TAKT_ENOMEM && checked == TAKT_ECORRUPT));
}

/* Undone in the end. */
static takt_status write_some(struct takt_database *database)
{
    struct takt_record record = {.machine = "aa",
                                 .software = "bb",
                                 .op = "op1",
                                 .expert = "scalar",
                                 .epoch = 2,
                                 .seq = 1};
    uint64_t epoch;
    bool is_put, is_spent;

    memset(record.writer, 'a', TAKT_RECORD_WRITER - 1);
    takt_status status =
        takt__writer_last_epoch(database, record.writer, &epoch, &is_spent);
    for (unsigned bin = 0; status == TAKT_OK && bin < 8; bin++) {
        record.bin = 11 * bin;
        status = takt__rows_put(database, TAKT_SQL_ADVANCE, &record, &is_put);
    }
    return status;
}

static void run_kept(const uint8_t *bytes, size_t length)
{
    struct takt_database *database = pages_swap(bytes, length);
    const takt_status checked = takt__schema_check(database->db, false);

    expect(checked, TAKT_OK);
    expect(takt__rows_visit(database, TAKT_SQL_SELECT, pages_look, NULL),
           checked);
    if (takt__database_begin(database) == TAKT_OK) {
        expect(write_some(database), checked);
        demand(takt__database_end(database, TAKT_EINVAL) == TAKT_EINVAL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    if (file < 0)
        prepare();
    runs++;
    if (length < 3 || pages_is_one_in_8(bytes, length, 0))
        run_whole(bytes, length);
    else
        run_kept(bytes, length);
    return 0;
}
