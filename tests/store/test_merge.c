/* SPDX-License-Identifier: MIT */
/* test_merge.c - merging is choosing, in any order and however often. */
#include <sqlite3.h>

#include "scratch.h"
#include "support/random.h"

enum { rounds = 25, keys = 30 };

/* Few keys and few epochs, so that stores have much in common, and sometimes
 * two records that claim to be equally late and are not the same. */
static struct takt_record random_record(uint64_t *seed)
{
    const uint64_t random = random_next(seed);
    struct takt_record record =
        scratch_record(random % 2 ? "add" : "matmul",
                       (unsigned)(random / 2 % 5), random / 16 % 4);

    strcpy(record.machine, random / 64 % 2 ? "aa11" : "cc33");
    strcpy(record.software, "bb22");
    snprintf(record.writer, sizeof record.writer, "%032x",
             (unsigned)(random / 128 % 3));
    record.epoch = random / 512 % 3;
    record.n = random_real(seed, -3, 9);
    record.mean = random_real(seed, -5, 1.5) * (random / 2048 % 2 ? 1 : -1);
    record.m2 = random / 4096 % 4 ? random_unit(seed) : 0;
    record.seconds = random_real(seed, -300, 11);
    record.last_unix_s = (int64_t)random_next(seed);
    return record;
}

static void import_text(const char *path, const char *text)
{
    takt_diag diag;
    const takt_status status =
        scratch_import(path, text, strlen(text), NULL, &diag);
    TAP_CHECK(status == TAKT_OK, "%s", diag.text);
}

static void make_random(const char *path, uint64_t *seed)
{
    char *text = malloc((keys + 2) * TAKT_TEXT_LINE);
    REQUIRE(text != NULL);
    char *at = text + takt__text_print_head(text);
    const size_t count = (size_t)(random_next(seed) % keys);

    for (size_t i = 0; i < count; i++) {
        const struct takt_record record = random_record(seed);
        at += takt__text_print(&record, at);
    }
    takt__text_print_end(count, at);
    import_text(path, text);
    free(text);
}

static takt_store_report merge(const char *into, const char *from)
{
    takt_store_report report = {.size = sizeof report};
    takt_diag diag;
    const takt_status status = takt_store_merge(into, from, &report, &diag);

    TAP_CHECK(status == TAKT_OK, "%s", diag.text);
    return report;
}

/* A new store with the content of the given ones, merged in that order. */
static const char *sum(const char *first, const char *second)
{
    const char *path = scratch_path();

    merge(path, first);
    merge(path, second);
    return path;
}

static void expect_same(const char *a, const char *b, int round)
{
    char *left = scratch_export(a);
    char *right = scratch_export(b);

    TAP_CHECK(strcmp(left, right) == 0, "round %d:\n%s\n%s", round, left,
              right);
    free(left);
    free(right);
}

static void merging_is_commutative_associative_and_idempotent(void)
{
    uint64_t seed = 11;

    for (int round = 0; round < rounds; round++) {
        char a[128], b[128], c[128], ab[128];
        snprintf(a, sizeof a, "%s", scratch_path());
        snprintf(b, sizeof b, "%s", scratch_path());
        snprintf(c, sizeof c, "%s", scratch_path());
        make_random(a, &seed);
        make_random(b, &seed);
        make_random(c, &seed);
        snprintf(ab, sizeof ab, "%s", sum(a, b));
        expect_same(ab, sum(b, a), round);
        expect_same(sum(ab, c), sum(a, sum(b, c)), round);
        expect_same(sum(ab, c), sum(sum(c, b), a), round);
        expect_same(sum(a, a), a, round);
        expect_same(sum(ab, b), ab, round);
    }
}

static void a_report_counts_what_was_new(void)
{
    const char *a = scratch_path(), *b = scratch_path();
    struct takt_store *store = scratch_open(a);

    scratch_write(store, "add", 1, 1);
    scratch_write(store, "add", 2, 1);
    takt__store_close(store);
    takt_store_report report = merge(b, a);
    EXPECT_INT(report.read, 2);
    EXPECT_INT(report.added, 2);
    EXPECT_INT(report.renewed, 0);
    store = scratch_open(a);
    scratch_write(store, "add", 2, 2);
    scratch_write(store, "add", 3, 1);
    takt__store_close(store);
    report = merge(b, a);
    EXPECT_INT(report.read, 3);
    EXPECT_INT(report.added, 1);
    EXPECT_INT(report.renewed, 1);
    report = merge(b, a);
    EXPECT_INT(report.added + report.renewed, 0);
}

static void merging_a_store_into_itself_changes_nothing(void)
{
    char link[256], link_there[256];
    const char *path = scratch_path();
    uint64_t seed = 3;

    make_random(path, &seed);
    char *before = scratch_export(path);
    snprintf(link, sizeof link, "%s.link", path);
    snprintf(link_there, sizeof link_there, "%s/link-to-folder", scratch);
    REQUIRE(symlink(path, link) == 0 && symlink(scratch, link_there) == 0);
    strcat(link_there, strrchr(path, '/'));
    const char *const names[] = {path, link, link_there};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            EXPECT_INT(merge(names[i], names[k]).added, 0);
    char *after = scratch_export(path);
    EXPECT_STR(after, before);
    free(before);
    free(after);
}

static void a_store_in_use_can_be_merged_and_exported(void)
{
    const char *path = scratch_path(), *other = scratch_path();
    struct takt_store *store = scratch_open(path);

    scratch_write(store, "add", 1, 1);
    EXPECT_INT(merge(other, path).added, 1);
    EXPECT_INT(merge(path, other).added, 0);
    scratch_write(store, "add", 2, 1);
    EXPECT_INT(merge(other, path).added, 1);
    expect_same(path, other, 0);
    takt__store_close(store);
}

static void a_damaged_source_changes_nothing(void)
{
    const char *from = scratch_path(), *into = scratch_path();
    takt_store_report report = {.size = sizeof report};
    takt_diag diag;
    uint64_t seed = 5;
    size_t length;

    make_random(from, &seed);
    make_random(into, &seed);
    char *before = scratch_export(into);
    char *bytes = scratch_load(from, &length);
    for (size_t page = 1; page < length / 4096; page++) {
        char *bad = malloc(length);
        REQUIRE(bad != NULL);
        memcpy(bad, bytes, length);
        memset(bad + 4096 * page, 0xFF, 4096);
        scratch_save(from, bad, length);
        free(bad);
        EXPECT_INT(takt_store_merge(into, from, &report, &diag), TAKT_ECORRUPT);
        EXPECT_INT(report.read, 0);
        EXPECT(diag.text[0] != '\0');
    }
    char *after = scratch_export(into);
    EXPECT_STR(after, before);
    free(bytes);
    free(before);
    free(after);
}

/* A file from elsewhere that would keep its reader busy for ever. */
static void a_source_runs_nothing_of_its_own(void)
{
    const char *from = scratch_path();
    takt_diag diag;
    sqlite3 *db;

    REQUIRE(sqlite3_open(from, &db) == SQLITE_OK);
    TAP_CHECK(sqlite3_exec(db,
                           "PRAGMA application_id = 1415670644;"
                           "PRAGMA user_version = 1;"
                           "CREATE TABLE name (id INTEGER PRIMARY KEY, text);"
                           "CREATE TABLE writer (place, machine, inode, name,"
                           " epoch);"
                           "CREATE VIEW record AS WITH RECURSIVE more(i) AS"
                           " (SELECT 1 UNION ALL SELECT i FROM more)"
                           " SELECT i AS machine, i AS device, i AS software,"
                           " i AS writer, i AS op, i AS layout, i AS expert,"
                           " i AS dtype, i AS situation, i AS bin, i AS epoch,"
                           " i AS seq, i AS n, i AS mean, i AS m2,"
                           " i AS first_s, i AS bytes, i AS flops, i AS calls,"
                           " i AS seconds, i AS last_unix_s FROM more;",
                           NULL, NULL, NULL) == SQLITE_OK,
              "%s", sqlite3_errmsg(db));
    sqlite3_close(db);
    EXPECT_INT(takt_store_merge(scratch_path(), from, NULL, &diag),
               TAKT_ECORRUPT);
    EXPECT_INT(takt_store_export(from, 1, &diag), TAKT_ECORRUPT);
}

static void import_record(const char *path, const struct takt_record *record)
{
    char text[4 * TAKT_TEXT_LINE];
    size_t length = takt__text_print_head(text);

    length += takt__text_print(record, text + length);
    takt__text_print_end(1, text + length);
    import_text(path, text);
}

/* Somebody claims to be this store's writer, and to be later than it will ever
 * be. What it learns from then on is stored all the same, at once and by those
 * that come later. */
static void only_the_writer_numbers_what_it_writes(void)
{
    const char *path = scratch_path();
    struct takt_store *store = scratch_open(path);
    struct takt_record record = scratch_record("add", 1, 1);
    char name[TAKT_RECORD_WRITER];

    EXPECT_INT(takt__store_write(store, &record, 1), TAKT_OK);
    strcpy(name, takt__store_writer(store));
    record.epoch = record.seq = TAKT_RECORD_LATEST;
    import_record(path, &record);
    record = scratch_record("add", 1, 2);
    EXPECT_INT(takt__store_write(store, &record, 1), TAKT_EIO);
    EXPECT(takt__store_is_renamed(store));
    takt__store_close(store);
    store = scratch_open(path);
    EXPECT(strcmp(takt__store_writer(store), name) != 0);
    record = scratch_record("add", 1, 3);
    EXPECT_INT(takt__store_write(store, &record, 1), TAKT_OK);
    EXPECT_INT(record.epoch, 1);
    EXPECT_INT(scratch_count(store), 2);
    takt__store_close(store);
}

/* What comes back of one's own, unchanged, is no reason to take another name;
 * what comes back after a reset is. */
static void a_backup_can_be_taken_back(void)
{
    const char *path = scratch_path();
    struct takt_store *store = scratch_open(path);
    char name[TAKT_RECORD_WRITER];

    scratch_write(store, "add", 1, 1);
    strcpy(name, takt__store_writer(store));
    char *text = scratch_export(path);
    import_text(path, text);
    scratch_write(store, "add", 2, 2);
    EXPECT_STR(takt__store_writer(store), name);
    EXPECT_INT(takt__store_reset(store, NULL), TAKT_OK);
    import_text(path, text);
    free(text);
    EXPECT_INT(scratch_count(store), 1);
    takt__store_close(store);
    store = scratch_open(path);
    EXPECT(strcmp(takt__store_writer(store), name) != 0);
    scratch_write(store, "add", 1, 1);
    EXPECT_INT(scratch_count(store), 2);
    takt__store_close(store);
}

/* The same in the file itself, where no merge has seen it. */
static void a_name_without_room_is_given_up(void)
{
    static const char *const changes[] = {
        "UPDATE record SET seq = 9007199254740992",
        "UPDATE record SET epoch = 9223372036854775807",
        "UPDATE record SET seq = 'last'",
        "UPDATE writer SET epoch = 9223372036854775807"};

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        const char *path = scratch_path();
        struct takt_store *store = scratch_open(path);
        sqlite3 *db;
        scratch_write(store, "add", 1, 1);
        takt__store_close(store);
        REQUIRE(sqlite3_open(path, &db) == SQLITE_OK);
        EXPECT_INT(sqlite3_exec(db, changes[i], NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        store = scratch_open(path);
        const size_t before = scratch_count(store);
        scratch_write(store, "add", 2, 2);
        scratch_write(store, "add", 1, 2);
        TAP_CHECK(scratch_count(store) >= before + 1, "%s", changes[i]);
        EXPECT_INT(takt__store_reset(store, NULL), TAKT_OK);
        scratch_write(store, "add", 1, 1);
        EXPECT_INT(scratch_count(store), 1);
        takt__store_close(store);
    }
}

int main(void)
{
    scratch_make();
    RUN(merging_is_commutative_associative_and_idempotent);
    RUN(a_report_counts_what_was_new);
    RUN(merging_a_store_into_itself_changes_nothing);
    RUN(a_store_in_use_can_be_merged_and_exported);
    RUN(a_damaged_source_changes_nothing);
    RUN(a_source_runs_nothing_of_its_own);
    RUN(only_the_writer_numbers_what_it_writes);
    RUN(a_backup_can_be_taken_back);
    RUN(a_name_without_room_is_given_up);
    return tap_done();
}
