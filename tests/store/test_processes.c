/* SPDX-License-Identifier: MIT */
/*
 * test_processes.c - many processes, one file, and some of them die, or close
 * what they did not open.
 */
#include <errno.h>
#include <signal.h>
#include <time.h>

#include <sqlite3.h>

#include "base/database_file.h"
#include "base/new_file.h"
#include "scratch.h"
#include "support/random.h"

enum { per_batch = 8, writers = 4, per_writer = 500 };

static void sleep_us(long us)
{
    const struct timespec time = {.tv_nsec = us * 1000};
    nanosleep(&time, NULL);
}

/* Writes until it is done: a loaded machine may keep it waiting. */
static void insist(struct takt_store *store, struct takt_record *records,
                   size_t count)
{
    takt_status status = TAKT_EIO;

    for (int i = 0; i < 30 && status == TAKT_EIO; i++)
        status = takt__store_write(store, records, count);
    EXPECT_INT(status, TAKT_OK);
}

struct team {
    const char *path;
    int ready[2]; /* pipes */
    int go[2];
};

static void learn(void *self)
{
    const struct team *team = self;
    struct takt_record batch[50];
    char byte = 1;
    unsigned done = 0;

    struct takt_store *store = scratch_open(team->path);
    REQUIRE(write(team->ready[1], &byte, 1) == 1);
    close(team->go[1]);
    REQUIRE(read(team->go[0], &byte, 1) == 0); /* all have opened */
    while (done < per_writer) {
        for (unsigned i = 0; i < 50; i++, done++)
            batch[i] = scratch_record("add", done, done + 1);
        insist(store, batch, 50);
    }
    takt__store_close(store);
}

static void start_team(const char *path)
{
    struct team team = {.path = path};
    pid_t child[writers];
    char byte;

    REQUIRE(pipe(team.ready) == 0 && pipe(team.go) == 0);
    for (int i = 0; i < writers; i++)
        child[i] = scratch_fork(learn, &team);
    for (int i = 0; i < writers; i++)
        REQUIRE(read(team.ready[0], &byte, 1) == 1);
    close(team.go[0]);
    close(team.go[1]);
    for (int i = 0; i < writers; i++)
        scratch_join(child[i]);
    close(team.ready[0]);
    close(team.ready[1]);
}

static void processes_that_write_at_once_lose_nothing(void)
{
    const char *path = scratch_path();

    for (int round = 0; round < 2; round++) {
        start_team(path);
        struct takt_store *store = scratch_open(path);
        /* The second team has the places, and so the names, of the first. */
        EXPECT_INT(scratch_count(store), writers * per_writer);
        takt__store_close(store);
    }
}

struct stream {
    const char *path;
    int news[2];
};

/* Batch k has the op "k"; each is acknowledged once it is written. */
static void write_for_ever(void *self)
{
    const struct stream *stream = self;
    struct takt_store *store = scratch_open(stream->path);
    struct takt_record batch[per_batch];
    char op[16];

    REQUIRE(write(stream->news[1], takt__store_writer(store),
                  TAKT_RECORD_WRITER) == TAKT_RECORD_WRITER);
    for (unsigned k = 0;; k++) {
        snprintf(op, sizeof op, "%06u", k);
        for (unsigned i = 0; i < per_batch; i++)
            batch[i] = scratch_record(op, i, k + 1);
        if (takt__store_write(store, batch, per_batch) == TAKT_OK)
            REQUIRE(write(stream->news[1], "x", 1) == 1);
    }
}

/* In key order, so batch after batch. */
static void check_next(void *self, const struct takt_record *record)
{
    size_t *count = self;
    const size_t batch = *count / per_batch;

    EXPECT_INT(atoi(record->op), batch);
    EXPECT_INT(record->bin, *count % per_batch);
    EXPECT_INT(record->seq, batch + 1);
    ++*count;
}

static void kill_one(uint64_t *seed)
{
    struct stream stream = {.path = scratch_path()};
    char writer[TAKT_RECORD_WRITER], bytes[4096];
    size_t told = 0, count = 0;
    ssize_t length;
    int status;

    REQUIRE(pipe(stream.news) == 0);
    const pid_t child = scratch_fork(write_for_ever, &stream);
    close(stream.news[1]);
    REQUIRE(read(stream.news[0], writer, sizeof writer) == sizeof writer);
    sleep_us((long)(random_next(seed) % 40000));
    kill(child, SIGKILL);
    REQUIRE(waitpid(child, &status, 0) == child);
    while ((length = read(stream.news[0], bytes, sizeof bytes)) > 0)
        told += (size_t)length;
    close(stream.news[0]);

    struct takt_store *store = scratch_open(stream.path);
    EXPECT_INT(takt__store_read(store, check_next, &count), TAKT_OK);
    EXPECT_INT(count % per_batch, 0);
    TAP_CHECK(count >= told * per_batch, "%zu of %zu batches are there",
              count / per_batch, told);
    if (told > 0) /* the place is free, and with it goes the name */
        EXPECT_STR(takt__store_writer(store), writer);
    scratch_write(store, "000000", 0, 1000000);
    takt__store_close(store);
}

static void a_killed_writer_leaves_whole_batches_and_its_place(void)
{
    uint64_t seed = 7;

    for (int round = 0; round < 12; round++)
        kill_one(&seed);
}

static void open_another(void *self)
{
    struct takt_store *parents = self;
    char writer[TAKT_RECORD_WRITER], path[256];

    snprintf(path, sizeof path, "%s/fork.db", scratch);
    strcpy(writer, takt__store_writer(parents));
    struct takt_store *store = scratch_open(path);
    EXPECT(strcmp(takt__store_writer(store), writer) != 0);
    scratch_write(store, "add", 1, 1);
    takt__store_close(store);
}

static void a_forked_child_takes_nothing_from_its_parent(void)
{
    char path[256];

    snprintf(path, sizeof path, "%s/fork.db", scratch);
    struct takt_store *store = scratch_open(path);
    for (unsigned i = 0; i < 3; i++) {
        scratch_write(store, "add", 1, 2 * i + 1);
        scratch_join(scratch_fork(open_another, store));
        scratch_write(store, "add", 1, 2 * i + 2);
    }
    EXPECT_INT(scratch_count(store), 2);
    takt__store_close(store);
}

static void open_damaged(void *self)
{
    const struct team *team = self;
    struct takt_store *store;
    takt_diag diag;
    char byte;

    close(team->go[1]);
    REQUIRE(read(team->go[0], &byte, 1) == 0);
    EXPECT_INT(takt__store_open(team->path, &scratch_identity, &diag, &store),
               TAKT_OK);
    REQUIRE(store != NULL);
    struct takt_record record = scratch_record("add", 1, 1);
    snprintf(record.device, sizeof record.device, "%d", (int)getpid());
    insist(store, &record, 1);
    if (diag.text[0] != '\0')
        REQUIRE(write(team->ready[1], "x", 1) == 1);
    takt__store_close(store);
}

static void damage_found_by_many_is_moved_aside_once(void)
{
    char bytes[64];

    for (int round = 0; round < 10; round++) {
        struct team team = {.path = scratch_path()};
        pid_t child[writers];

        takt__store_close(scratch_open(team.path));
        scratch_save(team.path, "this is no database any more", 28);
        REQUIRE(pipe(team.ready) == 0 && pipe(team.go) == 0);
        for (int i = 0; i < writers; i++)
            child[i] = scratch_fork(open_damaged, &team);
        close(team.go[0]);
        close(team.go[1]);
        for (int i = 0; i < writers; i++)
            scratch_join(child[i]);
        close(team.ready[1]);
        EXPECT_INT(read(team.ready[0], bytes, sizeof bytes), 1); /* said once */
        close(team.ready[0]);
        EXPECT(scratch_exists(team.path, ".damaged-1"));
        EXPECT(!scratch_exists(team.path, ".damaged-2"));
        struct takt_store *store = scratch_open(team.path);
        EXPECT_INT(scratch_count(store), writers);
        takt__store_close(store);
    }
}

/* ---- a program that closes what it does not know --------------------------
 */

enum { own_files = 40 };

static void close_unknown(void)
{
    for (int fd = 3; fd < 256; fd++)
        close(fd);
}

static void own_path(int i, char path[128])
{
    snprintf(path, 128, "%s/own-%d", scratch, i);
}

/* More files than a store has: they get all of its numbers. */
static void open_own_files(void)
{
    char path[128];

    for (int i = 0; i < own_files; i++) {
        own_path(i, path);
        const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        REQUIRE(fd >= 0 && write(fd, "whole", 5) == 5);
    }
}

static void expect_own_files(void)
{
    char path[128];
    size_t length;

    for (int i = 0; i < own_files; i++) {
        own_path(i, path);
        char *bytes = scratch_load(path, &length);
        TAP_CHECK(length == 5 && memcmp(bytes, "whole", 5) == 0,
                  "%s was written to", path);
        free(bytes);
    }
    for (int fd = 3; fd < 3 + own_files; fd++)
        EXPECT(fcntl(fd, F_GETFD) >= 0);
}

static void expect_lost(struct takt_store *store, const char *path)
{
    struct takt_record record = scratch_record("add", 2, 2);
    struct takt_store *again;
    size_t count = 0;
    takt_diag diag;

    EXPECT_INT(takt__store_write(store, &record, 1), TAKT_EIO);
    EXPECT_INT(takt__store_read(store, scratch_tally, &count), TAKT_EIO);
    EXPECT_INT(takt__store_reset(store, NULL), TAKT_EIO);
    EXPECT_INT(count, 0);
    EXPECT(takt__store_is_lost(store));
    EXPECT_INT(takt__store_open(path, &scratch_identity, &diag, &again),
               TAKT_EIO);
    EXPECT_STR(diag.text, TAKT_STORE_LOST);
    EXPECT_INT(takt_store_merge(path, path, NULL, NULL), TAKT_EIO);
}

/* What SQLite remembers of the file is inherited. */
static void open_in_vain(void *self)
{
    struct takt_store *store;

    EXPECT_INT(takt__store_open(self, &scratch_identity, NULL, &store),
               TAKT_EIO);
}

static void lose_all(void *self)
{
    struct takt_store *store = scratch_open(self);
    struct takt_store *other = scratch_open(self);

    scratch_write(store, "add", 1, 1);
    EXPECT(!takt__store_is_lost(store));
    close_unknown();
    open_own_files();
    expect_lost(store, self);
    takt__store_close(store);
    takt__store_close(other);
    scratch_join(scratch_fork(open_in_vain, self));
    expect_own_files();
    /* Others may be opened. */
    store = scratch_open(scratch_path());
    scratch_write(store, "add", 1, 1);
    takt__store_close(store);
    expect_own_files();
}

static void lose_all_for_nothing(void *self)
{
    struct takt_store *store = scratch_open(self);

    scratch_write(store, "add", 1, 1);
    close_unknown();
    expect_lost(store, self);
    takt__store_close(store);
}

/* Any one of them, closed by mistake. */
static void lose_one(void *self)
{
    close_unknown(); /* so that those of a store have numbers in a row */
    const int first = open("/dev/null", O_RDONLY);

    (void)self;
    close(first);
    for (int i = 0; i < 4; i++) {
        const char *path = scratch_path();
        struct takt_store *store = scratch_open(path);
        scratch_write(store, "add", 1, 1);
        REQUIRE(close(first + i) == 0);
        expect_lost(store, path);
        takt__store_close(store);
        close_unknown();
    }
}

static void what_the_program_closed_is_not_written_to(void)
{
    void (*const bodies[])(void *) = {lose_all, lose_all_for_nothing, lose_one};
    char path[128];

    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s", scratch_path());
        scratch_join(scratch_fork(bodies[i], path));
        if (!scratch_exists(path, ""))
            continue;
        struct takt_store *store = scratch_open(path);
        EXPECT_INT(scratch_count(store), 1);
        takt__store_close(store);
    }
}

/* They share SQLite's locks, and what one closes is not missed. */
static void stores_of_one_file_come_and_go(void)
{
    const char *path = scratch_path();
    struct takt_store *first = scratch_open(path), *second;

    for (unsigned i = 1; i < 5; i++) {
        second = scratch_open(path);
        scratch_write(second, "add", 1, i);
        free(scratch_export(path));
        takt__store_close(first);
        EXPECT(!takt__store_is_lost(second));
        scratch_write(second, "mul", 1, i);
        first = second;
    }
    takt__store_close(first);
}

static void write_once_and_leave(void *self)
{
    const struct team *team = self;
    char byte;

    close(team->go[1]);
    REQUIRE(read(team->go[0], &byte, 1) == 0);
    struct takt_store *store = scratch_open(team->path);
    scratch_write(store, "add", 1, 1);
    takt__store_close(store);
}

/* The last process to close a store removes its log: one whose locks are gone,
 * since the file was closed once more, counts for none. */
static void what_is_written_after_others_left_is_seen(void)
{
    char path[128];
    struct team team = {.path = path};

    snprintf(path, sizeof path, "%s/others.db", scratch);
    REQUIRE(pipe(team.go) == 0);
    const pid_t other = scratch_fork(write_once_and_leave, &team);
    struct takt_store *first = scratch_open(path);
    struct takt_store *second = scratch_open(path);
    EXPECT_INT(takt__write_whole(path, 0, "by mistake", 10, NULL), TAKT_EIO);
    EXPECT(takt__append_open(path, 0600) < 0 && errno == EEXIST);
    close(team.go[0]);
    close(team.go[1]);
    scratch_join(other);
    scratch_write(first, "mul", 1, 1);
    char *seen = scratch_export(path);
    EXPECT(strstr(seen, "\tadd\t") != NULL);
    EXPECT(strstr(seen, "\tmul\t") != NULL);
    free(seen);
    takt__store_close(second);
    takt__store_close(first);
}

/* As another copy of SQLite would: what either of them closes drops the locks
 * of the other. */
static void a_store_that_the_program_itself_has_open_is_not_opened(void)
{
    const char *path = scratch_path();
    struct takt_store *store;
    takt_diag diag;
    sqlite3 *own;

    takt__store_close(scratch_open(path));
    REQUIRE(sqlite3_open(path, &own) == SQLITE_OK);
    REQUIRE(sqlite3_exec(own, "SELECT * FROM record", NULL, NULL, NULL) ==
            SQLITE_OK);
    EXPECT_INT(takt__store_open(path, &scratch_identity, &diag, &store),
               TAKT_EIO);
    EXPECT(strstr(diag.text, "another copy") != NULL);
    sqlite3_close(own);
    takt__store_close(scratch_open(path));
}

/* Two copies of libtakt on one libsqlite3 share its locks. */
static void one_that_another_copy_of_takt_has_open_is_opened(void)
{
    const char *path = scratch_path();
    sqlite3_vfs other = {.iVersion = 1, .zName = "takt-copy"};
    sqlite3 *own;

    takt__store_close(scratch_open(path));
    REQUIRE(sqlite3_vfs_register(&other, 0) == SQLITE_OK);
    REQUIRE(sqlite3_open(path, &own) == SQLITE_OK);
    REQUIRE(sqlite3_exec(own, "SELECT * FROM record", NULL, NULL, NULL) ==
            SQLITE_OK);
    takt__store_close(scratch_open(path));
    sqlite3_close(own);
    sqlite3_vfs_unregister(&other);
}

/* What is printed where there is no output must not be found in a store. */
static void open_without_standard_files(void *self)
{
    struct stat facts;

    close(0);
    close(1);
    struct takt_store *store = scratch_open(self);
    for (int fd = 0; fd < 2; fd++)
        EXPECT(fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode));
    takt__store_close(store);
}

static void standard_files_are_left_to_the_program(void)
{
    char path[128];

    snprintf(path, sizeof path, "%s", scratch_path());
    scratch_join(scratch_fork(open_without_standard_files, path));
}

int main(void)
{
    scratch_make();
    RUN(processes_that_write_at_once_lose_nothing);
    RUN(a_killed_writer_leaves_whole_batches_and_its_place);
    RUN(a_forked_child_takes_nothing_from_its_parent);
    RUN(damage_found_by_many_is_moved_aside_once);
    RUN(what_the_program_closed_is_not_written_to);
    RUN(stores_of_one_file_come_and_go);
    RUN(what_is_written_after_others_left_is_seen);
    RUN(a_store_that_the_program_itself_has_open_is_not_opened);
    RUN(standard_files_are_left_to_the_program);
    RUN(one_that_another_copy_of_takt_has_open_is_opened);
    return tap_done();
}
