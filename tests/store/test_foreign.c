/* SPDX-License-Identifier: MIT */
/*
 * test_foreign.c - stores that somebody else made, to do harm.
 *
 * Whoever reads one leaves every other file alone, writes nothing, and ends.
 */
#include <sqlite3.h>

#include "scratch.h"

static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9,
                                       0x20, 0xa1, 0x63, 0xd7};

static void put_word(FILE *file, uint32_t word)
{
    const unsigned char bytes[4] = {
        (unsigned char)(word >> 24), (unsigned char)(word >> 16),
        (unsigned char)(word >> 8), (unsigned char)word};
    REQUIRE(fwrite(bytes, 4, 1, file) == 1);
}

/* A rollback journal whose transaction seems to have been cut off, as one of
 * several databases under the super-journal `victim`. SQLite deletes that file
 * when it has played the journal back. */
static void plant_journal(const char *store, const char *victim)
{
    char path[256];
    uint32_t sum = 0;

    snprintf(path, sizeof path, "%s-journal", store);
    FILE *file = fopen(path, "wb");
    REQUIRE(file != NULL);
    fwrite(magic, sizeof magic, 1, file);
    put_word(file, 0);    /* records */
    put_word(file, 1);    /* nonce */
    put_word(file, 3);    /* pages of the database */
    put_word(file, 512);  /* sector */
    put_word(file, 4096); /* page */
    while (ftell(file) < 512)
        fputc(0, file);
    put_word(file, 0x40000000 / 4096 + 1);
    for (const char *at = victim; *at != '\0'; at++)
        sum = sum + (unsigned char)*at;
    fputs(victim, file);
    put_word(file, (uint32_t)strlen(victim));
    put_word(file, sum);
    fwrite(magic, sizeof magic, 1, file);
    fclose(file);
}

static void make_store(const char *path, unsigned count)
{
    struct takt_store *store = scratch_open(path);

    for (unsigned i = 0; i < count; i++)
        scratch_write(store, "add", i, i + 1);
    takt__store_close(store);
}

/* A store with such a journal beside it, and the file that it names. */
static void plant(char store[128], char victim[128])
{
    snprintf(store, 128, "%s", scratch_path());
    snprintf(victim, 128, "%s/thesis.txt", scratch);
    make_store(store, 5);
    scratch_save(victim, "years of work", 13);
    plant_journal(store, victim);
}

static void a_journal_beside_a_source_deletes_nothing(void)
{
    char store[128], victim[128];
    takt_diag diag;

    plant(store, victim);
    EXPECT_INT(takt_store_merge(scratch_path(), store, NULL, &diag), TAKT_EIO);
    EXPECT(strstr(diag.text, "-journal") != NULL);
    EXPECT(scratch_exists(victim, ""));
    EXPECT_INT(takt_store_export(store, 1, &diag), TAKT_EIO);
    EXPECT(scratch_exists(victim, ""));
    EXPECT(scratch_exists(store, "-journal")); /* it is not ours to remove */
}

static void a_journal_beside_the_own_store_deletes_nothing(void)
{
    char path[128], victim[128];
    struct takt_store *store;

    plant(path, victim);
    EXPECT_INT(takt__store_open(path, &scratch_identity, NULL, &store),
               TAKT_OK);
    EXPECT(scratch_exists(victim, ""));
    scratch_write(store, "mul", 1, 1);
    EXPECT_INT(scratch_count(store), 6);
    takt__store_close(store);
    EXPECT(scratch_exists(victim, ""));
}

static void another_file_in_the_place_of_the_locks_is_left_alone(void)
{
    char path[128], locks[144];
    struct takt_store *store;
    struct stat facts;
    takt_diag diag;

    snprintf(path, sizeof path, "%s", scratch_path());
    snprintf(locks, sizeof locks, "%s-writers", path);
    make_store(path, 5);
    scratch_save(locks, "years of work", 13);
    EXPECT_INT(takt__store_open(path, &scratch_identity, &diag, &store),
               TAKT_EIO);
    EXPECT(strstr(diag.text, "-writers is no file of Takt's") != NULL);
    EXPECT(stat(locks, &facts) == 0 && facts.st_size == 13);
    unlink(locks);
    store = scratch_open(path);
    EXPECT_INT(scratch_count(store), 5);
    takt__store_close(store);
}

static void run_sql(const char *path, const char *text)
{
    sqlite3 *db;

    REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
    TAP_CHECK(sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK, "%s",
              sqlite3_errmsg(db));
    sqlite3_close(db);
}

/* What is not exactly what Takt makes is not read, however harmless. */
static void tables_that_takt_did_not_make_are_refused(void)
{
    static const char *const changes[] = {
        "CREATE TABLE more (x)",
        "CREATE INDEX more ON record (bin)",
        "CREATE VIEW more AS SELECT 1",
        "CREATE TRIGGER more AFTER INSERT ON record BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE more USING fts5(x)",
        "ALTER TABLE record ADD COLUMN more AS (bin + 1)",
        "ALTER TABLE record ADD COLUMN more",
        "DROP TABLE writer",
        "DROP VIEW history; CREATE VIEW history AS SELECT 1 AS op",
        "ANALYZE",
    };

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const char *path = scratch_path();
        takt_diag diag;
        make_store(path, 3);
        run_sql(path, changes[i]);
        const takt_status status =
            takt_store_merge(scratch_path(), path, NULL, &diag);
        TAP_CHECK(status == TAKT_ECORRUPT && diag.text[0] != '\0', "%s: %d",
                  changes[i], status);
    }
}

/* Ids that repeat make of each record as many as there are combinations. */
static void repeated_ids_are_refused_at_once(void)
{
    const char *path = scratch_path();
    takt_diag diag;

    make_store(path, 3);
    run_sql(path, "ALTER TABLE name RENAME TO old;"
                  "CREATE TABLE name (id INTEGER, text TEXT NOT NULL);"
                  "WITH RECURSIVE i(x) AS (SELECT 1 UNION ALL"
                  " SELECT x + 1 FROM i WHERE x < 30)"
                  " INSERT INTO name SELECT old.id, text || x FROM i, old;"
                  "DROP TABLE old; PRAGMA journal_mode = DELETE");
    EXPECT_INT(takt_store_merge(scratch_path(), path, NULL, &diag),
               TAKT_ECORRUPT);
    EXPECT_INT(takt_store_export(path, 1, &diag), TAKT_ECORRUPT);
}

static void a_source_is_left_as_it_is(void)
{
    const char *path = scratch_path();
    struct stat before, after;
    size_t length, length_after;

    make_store(path, 5);
    char *bytes = scratch_load(path, &length);
    REQUIRE(stat(path, &before) == 0);
    EXPECT_INT(takt_store_merge(scratch_path(), path, NULL, NULL), TAKT_OK);
    free(scratch_export(path));
    REQUIRE(stat(path, &after) == 0);
    char *bytes_after = scratch_load(path, &length_after);
    EXPECT(length == length_after && memcmp(bytes, bytes_after, length) == 0);
    EXPECT(before.st_mtim.tv_sec == after.st_mtim.tv_sec &&
           before.st_mtim.tv_nsec == after.st_mtim.tv_nsec);
    EXPECT(!scratch_exists(path, "-wal") && !scratch_exists(path, "-shm"));
    free(bytes);
    free(bytes_after);
}

/* They had no view yet. */
static void the_first_stores_can_be_merged(void)
{
    const char *path = scratch_path();
    takt_store_report report = {.size = sizeof report};
    takt_diag diag;
    size_t length;
    char *sql =
        scratch_load(TAKT_SOURCE_DIR "/tests/fixtures/stores/v1.sql", &length);

    run_sql(path, sql);
    free(sql);
    const takt_status status =
        takt_store_merge(scratch_path(), path, &report, &diag);
    TAP_CHECK(status == TAKT_OK, "%s", diag.text);
    EXPECT_INT(report.added, 3);
}

/* What a process that was killed leaves: the records are in the log. */
static void die_after_writing(void *self)
{
    struct takt_store *store = scratch_open(self);

    scratch_write(store, "add", 1, 1);
    scratch_write(store, "add", 2, 1);
    fflush(stdout);
    _exit(tap_failures != 0);
}

static void a_log_that_was_left_is_read(void)
{
    char path[128];
    takt_store_report report = {.size = sizeof report};

    snprintf(path, sizeof path, "%s", scratch_path());
    scratch_join(scratch_fork(die_after_writing, path));
    EXPECT(scratch_exists(path, "-wal"));
    EXPECT_INT(takt_store_merge(scratch_path(), path, &report, NULL), TAKT_OK);
    EXPECT_INT(report.read, 2);
    EXPECT(scratch_exists(path, "-wal"));
}

/* As by a copy of the file alone, before the log was emptied. */
static void a_store_without_its_log_is_not_taken_for_an_empty_one(void)
{
    char path[128], log[160];
    takt_diag diag = {""};

    snprintf(path, sizeof path, "%s", scratch_path());
    snprintf(log, sizeof log, "%s-wal", path);
    scratch_join(scratch_fork(die_after_writing, path));
    REQUIRE(unlink(log) == 0);
    EXPECT_INT(takt_store_merge(scratch_path(), path, NULL, &diag),
               TAKT_ECORRUPT);
    EXPECT(strstr(diag.text, "-wal") != NULL);
}

static void a_pipe_or_a_folder_for_a_log_is_refused(void)
{
    char path[128], log[160];
    takt_diag diag;

    snprintf(path, sizeof path, "%s", scratch_path());
    snprintf(log, sizeof log, "%s-wal", path);
    make_store(path, 2);
    REQUIRE(mkfifo(log, 0600) == 0);
    EXPECT_INT(takt_store_merge(scratch_path(), path, NULL, &diag), TAKT_EIO);
    EXPECT(diag.text[0] != '\0');
    REQUIRE(unlink(log) == 0 && mkdir(log, 0700) == 0);
    EXPECT_INT(takt_store_merge(scratch_path(), path, NULL, &diag), TAKT_EIO);
    REQUIRE(rmdir(log) == 0);
}

static void a_source_that_is_too_large_is_refused(void)
{
    const char *path = scratch_path();
    takt_diag diag;

    make_store(path, 2);
    REQUIRE(truncate(path, (off_t)1 << 40) == 0);
    EXPECT_INT(takt_store_merge(scratch_path(), path, NULL, &diag),
               TAKT_ECORRUPT);
    EXPECT(strstr(diag.text, "large") != NULL);
    unlink(path);
}

static void a_store_of_others_is_opened_and_never_written(void)
{
    const char *path = scratch_path();
    struct takt_store_identity identity = scratch_identity;
    struct takt_record record = scratch_record("mul", 1, 1);
    struct takt_store *store;
    takt_diag diag;

    identity.is_foreign = true;
    EXPECT_INT(takt__store_open(path, &identity, &diag, &store), TAKT_ENOENT);
    EXPECT(!scratch_exists(path, ""));
    make_store(path, 4);
    EXPECT_INT(takt__store_open(path, &identity, &diag, &store), TAKT_OK);
    EXPECT_INT(scratch_count(store), 4);
    EXPECT_STR(takt__store_writer(store), "");
    EXPECT_INT(takt__store_write(store, &record, 1), TAKT_EIO);
    EXPECT_INT(takt__store_reset(store, NULL), TAKT_EIO);
    takt__store_close(store);
    scratch_save(path, "not a database at all", 21);
    EXPECT_INT(takt__store_open(path, &identity, &diag, &store), TAKT_ECORRUPT);
    EXPECT(!scratch_exists(path, ".damaged-1"));
}

int main(void)
{
    scratch_make();
    RUN(a_journal_beside_a_source_deletes_nothing);
    RUN(a_journal_beside_the_own_store_deletes_nothing);
    RUN(another_file_in_the_place_of_the_locks_is_left_alone);
    RUN(tables_that_takt_did_not_make_are_refused);
    RUN(repeated_ids_are_refused_at_once);
    RUN(a_source_is_left_as_it_is);
    RUN(the_first_stores_can_be_merged);
    RUN(a_log_that_was_left_is_read);
    RUN(a_store_without_its_log_is_not_taken_for_an_empty_one);
    RUN(a_pipe_or_a_folder_for_a_log_is_refused);
    RUN(a_source_that_is_too_large_is_refused);
    RUN(a_store_of_others_is_opened_and_never_written);
    return tap_done();
}
