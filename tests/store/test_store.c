/* SPDX-License-Identifier: MIT */
/* test_store.c - what is written is read back, and the later record wins. */
#include "store/store.h"

#include <sqlite3.h>

#include "scratch.h"
#include "store/path.h"
#include "support/config.h"
#include "support/random.h"

struct seen {
    size_t count;
    struct takt_record record[16];
};

static void keep(void *self, const struct takt_record *record)
{
    struct seen *seen = self;

    if (seen->count < 16)
        seen->record[seen->count] = *record;
    seen->count++;
}

static struct seen read_all(struct takt_store *store)
{
    struct seen seen = {.count = 0};
    EXPECT_INT(takt__store_read(store, keep, &seen), TAKT_OK);
    return seen;
}

static void what_is_written_is_read_back(void)
{
    const char *path = scratch_path();
    struct takt_store *store = scratch_open(path);
    struct takt_record written = scratch_record("matmul", 9, 5);

    strcpy(written.layout, "nt.thin_m");
    strcpy(written.device, "dd44");
    written.situation = 3;
    written.last_unix_s = INT64_MIN;
    EXPECT_INT(takt__store_write(store, &written, 1), TAKT_OK);
    EXPECT_STR(written.machine, "aa11");
    EXPECT_STR(written.software, "bb22");
    EXPECT_STR(written.writer, takt__store_writer(store));
    EXPECT_INT(written.epoch, 1);
    takt__store_close(store);

    store = scratch_open(path);
    const struct seen seen = read_all(store);
    EXPECT_INT(seen.count, 1);
    EXPECT(memcmp(&seen.record[0], &written, sizeof written) == 0);
    takt__store_close(store);
}

static void only_a_later_record_replaces_one(void)
{
    struct takt_store *store = scratch_open(scratch_path());

    scratch_write(store, "add", 1, 7);
    scratch_write(store, "add", 1, 6);
    EXPECT_INT(read_all(store).record[0].seq, 7);
    scratch_write(store, "add", 1, 8);
    EXPECT_INT(read_all(store).record[0].seq, 8);
    struct takt_record same = scratch_record("add", 1, 8);
    same.n = 99;
    EXPECT_INT(takt__store_write(store, &same, 1), TAKT_OK);
    EXPECT_NEAR(read_all(store).record[0].n, 3.25, 0);
    EXPECT_INT(scratch_count(store), 1);
    takt__store_close(store);
}

static void the_clock_on_the_wall_decides_nothing(void)
{
    struct takt_store *store = scratch_open(scratch_path());
    static const int64_t clock[] = {1700000000, 5, -1, INT64_MAX, INT64_MIN};

    for (unsigned i = 0; i < 5; i++) {
        struct takt_record record = scratch_record("add", 1, i + 1);
        record.last_unix_s = clock[i];
        EXPECT_INT(takt__store_write(store, &record, 1), TAKT_OK);
        const struct seen seen = read_all(store);
        EXPECT_INT(seen.record[0].seq, i + 1);
        EXPECT_INT(seen.record[0].last_unix_s, clock[i]);
    }
    takt__store_close(store);
}

static void a_batch_with_a_wrong_record_changes_nothing(void)
{
    static const struct {
        size_t offset;
        double value;
    } wrong[] = {{offsetof(struct takt_record, n), -1},
                 {offsetof(struct takt_record, mean), NAN},
                 {offsetof(struct takt_record, m2), INFINITY},
                 {offsetof(struct takt_record, seconds), -0.5}};
    struct takt_store *store = scratch_open(scratch_path());
    struct takt_record batch[3];

    scratch_write(store, "old", 1, 1);
    for (size_t i = 0; i < 4; i++) {
        for (unsigned k = 0; k < 3; k++)
            batch[k] = scratch_record("new", k, 1);
        memcpy((char *)&batch[2] + wrong[i].offset, &wrong[i].value,
               sizeof(double));
        EXPECT_INT(takt__store_write(store, batch, 3), TAKT_EINVAL);
    }
    batch[2] = scratch_record("new", TAKT_RECORD_BINS, 1);
    EXPECT_INT(takt__store_write(store, batch, 3), TAKT_EINVAL);
    batch[2] = scratch_record("", 1, 1);
    EXPECT_INT(takt__store_write(store, batch, 3), TAKT_EINVAL);
    batch[2] = scratch_record("a\tb", 1, 1);
    EXPECT_INT(takt__store_write(store, batch, 3), TAKT_EINVAL);
    EXPECT_INT(scratch_count(store), 1);
    takt__store_close(store);
}

static int compare(const struct takt_record *a, const struct takt_record *b)
{
    for (int i = 0; i < TAKT_RECORD_KEY; i++) {
        const struct takt_record_field *field = &takt__record_fields[i];
        const char *left = (const char *)a + field->offset;
        const char *right = (const char *)b + field->offset;
        int order = 0;

        if (field->kind == TAKT_FIELD_TEXT)
            order = strcmp(left, right);
        else if (*(const unsigned *)left != *(const unsigned *)right)
            order = *(const unsigned *)left < *(const unsigned *)right ? -1 : 1;
        if (order != 0)
            return order;
    }
    return 0;
}

struct order {
    struct takt_record last;
    size_t count;
    bool is_broken;
};

static void check_order(void *self, const struct takt_record *record)
{
    struct order *order = self;

    if (order->count++ > 0 && compare(&order->last, record) >= 0)
        order->is_broken = true;
    order->last = *record;
}

static void records_come_in_the_order_of_their_keys(void)
{
    struct takt_store *store = scratch_open(scratch_path());
    struct order order = {.count = 0};
    uint64_t seed = 1;

    for (unsigned i = 0; i < 300; i++) {
        const uint64_t random = random_next(&seed);
        char op[16];
        snprintf(op, sizeof op, "op%u", (unsigned)(random % 12));
        struct takt_record record =
            scratch_record(op, (unsigned)(random >> 8) % 300, i + 1);
        record.dtype = (unsigned)(random >> 20) % 2;
        snprintf(record.device, sizeof record.device, "%.*s",
                 (int)(random >> 30) % 4, "dev");
        EXPECT_INT(takt__store_write(store, &record, 1), TAKT_OK);
    }
    EXPECT_INT(takt__store_read(store, check_order, &order), TAKT_OK);
    EXPECT(!order.is_broken);
    EXPECT(order.count > 200);
    takt__store_close(store);
}

static void a_reset_forgets_and_starts_a_new_epoch(void)
{
    const char *path = scratch_path();
    struct takt_store *store = scratch_open(path);
    struct takt_record record = scratch_record("add", 1, 90);

    EXPECT_INT(takt__store_write(store, &record, 1), TAKT_OK);
    const uint64_t before = record.epoch;
    scratch_write(store, "mul", 1, 91);
    EXPECT_INT(takt__store_reset(store, "add"), TAKT_OK);
    EXPECT_INT(scratch_count(store), 1);
    record = scratch_record("mul", 1, 1);
    EXPECT_INT(takt__store_write(store, &record, 1), TAKT_OK);
    EXPECT_INT(record.epoch, before + 1); /* which beats a larger seq */
    EXPECT_INT(read_all(store).record[0].seq, 1);
    EXPECT_INT(takt__store_reset(store, NULL), TAKT_OK);
    EXPECT_INT(scratch_count(store), 0);
    takt__store_close(store);
    store = scratch_open(path);
    EXPECT_INT(takt__store_write(store, &record, 1), TAKT_OK);
    EXPECT_INT(record.epoch, before + 2);
    takt__store_close(store);
}

static void two_stores_of_one_process_are_two_writers(void)
{
    char link[256], first[TAKT_RECORD_WRITER];
    const char *path = scratch_path();
    struct takt_store *a = scratch_open(path);

    snprintf(link, sizeof link, "%s.link", path);
    REQUIRE(symlink(path, link) == 0);
    struct takt_store *b = scratch_open(link);
    EXPECT(strcmp(takt__store_writer(a), takt__store_writer(b)) != 0);
    scratch_write(a, "add", 1, 1);
    scratch_write(b, "add", 1, 1);
    scratch_write(a, "add", 1, 2);
    EXPECT_INT(scratch_count(b), 2);
    strcpy(first, takt__store_writer(a));
    takt__store_close(a);
    a = scratch_open(path); /* the lowest place is free again */
    EXPECT_STR(takt__store_writer(a), first);
    takt__store_close(a);
    takt__store_close(b);
}

static void a_copied_file_has_writers_of_its_own(void)
{
    const char *path = scratch_path(), *copy = scratch_path();
    char writer[TAKT_RECORD_WRITER];
    struct takt_store *store = scratch_open(path);
    size_t length;

    scratch_write(store, "add", 1, 1);
    strcpy(writer, takt__store_writer(store));
    takt__store_close(store);
    char *bytes = scratch_load(path, &length);
    scratch_save(copy, bytes, length);
    free(bytes);
    store = scratch_open(copy);
    EXPECT(strcmp(takt__store_writer(store), writer) != 0);
    EXPECT_INT(scratch_count(store), 1);
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

static void records_that_make_no_sense_are_skipped(void)
{
    static const char *const nonsense[] = {
        "UPDATE record SET n = -1",
        "UPDATE record SET mean = 9e999",
        "UPDATE record SET m2 = 'many'",
        "UPDATE record SET seconds = x'00'",
        "UPDATE record SET bin = 1000000",
        "UPDATE record SET bin = -1",
        "UPDATE record SET bin = 'x'",
        "UPDATE record SET dtype = 256",
        "UPDATE record SET dtype = 4294967296",
        "UPDATE record SET situation = 65536",
        "UPDATE record SET seq = -1",
        "UPDATE record SET epoch = 9223372036854775807",
        "UPDATE record SET op = 12345678",
        "UPDATE name SET text = printf('%.*c', 70000, 'x') WHERE text = 'add'",
        "UPDATE name SET text = char(9) WHERE text = 'add'",
        "UPDATE name SET text = 'a' || char(0) || 'b' WHERE text = 'add'",
        "UPDATE name SET text = x'616464' WHERE text = 'add'",
        "UPDATE name SET text = upper(text) || 'g' WHERE length(text) = 32"};

    for (size_t i = 0; i < sizeof nonsense / sizeof nonsense[0]; i++) {
        const char *path = scratch_path();
        struct takt_store *store = scratch_open(path);
        scratch_write(store, "add", 1, 1);
        takt__store_close(store);
        run_sql(path, nonsense[i]);
        store = scratch_open(path);
        TAP_CHECK(scratch_count(store) == 0, "%s", nonsense[i]);
        scratch_write(store, "mul", 1, 1);
        takt__store_close(store);
    }
}

static void version_1_stays_readable(void)
{
    size_t length;
    char *sql =
        scratch_load(TAKT_SOURCE_DIR "/tests/fixtures/stores/v1.sql", &length);
    const char *path = scratch_path();

    run_sql(path, sql);
    free(sql);
    struct takt_store *store = scratch_open(path);
    const struct seen seen = read_all(store);
    EXPECT_INT(seen.count, 3);
    EXPECT_STR(seen.record[0].op, "add");
    EXPECT_STR(seen.record[1].op, "matmul");
    EXPECT_STR(seen.record[1].layout, "nt.thin_m");
    EXPECT_STR(seen.record[1].expert, "blas.openblas");
    EXPECT_STR(seen.record[1].writer, "00112233445566778899aabbccddeeff");
    EXPECT_STR(seen.record[2].writer, "ffeeddccbbaa99887766554433221100");
    EXPECT_INT(seen.record[1].bin, 41);
    EXPECT_INT(seen.record[1].epoch, 2);
    EXPECT_INT(seen.record[1].seq, 77);
    EXPECT_NEAR(seen.record[1].mean, 11.512925464970229, 0);
    EXPECT_INT(seen.record[1].last_unix_s, 1700000000);
    takt__store_close(store);
}

static void later_versions_and_other_programs_are_left_alone(void)
{
    static const char *const sql[] = {
        "PRAGMA user_version = 2", "PRAGMA application_id = 7",
        "PRAGMA user_version = 0", "PRAGMA application_id = 0"};
    struct takt_store *store;
    takt_diag diag;
    size_t before_length, after_length;

    for (size_t i = 0; i < 4; i++) {
        const char *path = scratch_path();
        takt__store_close(scratch_open(path));
        run_sql(path, sql[i]);
        char *before = scratch_load(path, &before_length);
        EXPECT_INT(takt__store_open(path, &scratch_identity, &diag, &store),
                   TAKT_ECORRUPT);
        EXPECT(store == NULL);
        EXPECT(strstr(diag.text, "TAKT_DB") != NULL);
        EXPECT_INT(takt_store_merge(scratch_path(), path, NULL, NULL),
                   TAKT_ECORRUPT);
        char *after = scratch_load(path, &after_length);
        EXPECT(before_length == after_length &&
               memcmp(before, after, before_length) == 0);
        EXPECT(!scratch_exists(path, ".damaged-1"));
        free(before);
        free(after);
    }
}

static void network_file_systems_are_known(void)
{
    static const uint32_t remote[] = {0x6969,    0xFF534D42, 0xFE534D42,
                                      0x517B,    0x65735546, 0x01021997,
                                      0x0BD00BD0};
    static const uint32_t local[] = {0xEF53, 0x58465342, 0x01021994, 0x9123683E,
                                     0x794c7630};

    for (size_t i = 0; i < sizeof remote / sizeof remote[0]; i++)
        EXPECT(takt__path_is_remote_kind(remote[i]));
    for (size_t i = 0; i < sizeof local / sizeof local[0]; i++)
        EXPECT(!takt__path_is_remote_kind(local[i]));
}

static void the_path_follows_the_environment(void)
{
    char path[512], want[256];
    char small[8] = "x";

    test_config()->db = "/somewhere/else.db";
    EXPECT_INT(takt_store_path(path, sizeof path), TAKT_OK);
    if (takt__path_is_remote(path)) /* then the host's hash is added */
        path[strlen("/somewhere/else.db")] = '\0';
    EXPECT_STR(path, "/somewhere/else.db");
    EXPECT_INT(takt_store_path(small, sizeof small), TAKT_EINVAL);
    EXPECT_STR(small, "");
    test_config()->db = "";
    EXPECT_INT(takt_store_path(path, sizeof path), TAKT_OK);
    EXPECT_STR(path, "");
    test_config()->db = NULL;
    test_config()->state_home = scratch;
    EXPECT_INT(takt_store_path(path, sizeof path), TAKT_OK);
    snprintf(want, sizeof want, "%s/takt/", scratch);
    EXPECT(strncmp(path, want, strlen(want)) == 0);
    EXPECT(strstr(path, ".db") != NULL);
    test_config()->state_home = "relative";
    test_config()->home = scratch;
    EXPECT_INT(takt_store_path(path, sizeof path), TAKT_OK);
    snprintf(want, sizeof want, "%s/.local/state/takt/", scratch);
    EXPECT(strncmp(path, want, strlen(want)) == 0);
    takt__store_close(scratch_open(path)); /* makes the folders */
    EXPECT(scratch_exists(path, ""));
    test_config()->home = "relative";
    EXPECT_INT(takt_store_path(path, sizeof path), TAKT_OK);
    EXPECT_STR(path, "");
    test_config()->home = NULL;
    EXPECT_INT(takt_store_path(path, sizeof path), TAKT_OK);
    EXPECT_STR(path, "");
}

int main(void)
{
    scratch_make();
    RUN(what_is_written_is_read_back);
    RUN(only_a_later_record_replaces_one);
    RUN(the_clock_on_the_wall_decides_nothing);
    RUN(a_batch_with_a_wrong_record_changes_nothing);
    RUN(records_come_in_the_order_of_their_keys);
    RUN(a_reset_forgets_and_starts_a_new_epoch);
    RUN(two_stores_of_one_process_are_two_writers);
    RUN(a_copied_file_has_writers_of_its_own);
    RUN(records_that_make_no_sense_are_skipped);
    RUN(version_1_stays_readable);
    RUN(later_versions_and_other_programs_are_left_alone);
    RUN(network_file_systems_are_known);
    RUN(the_path_follows_the_environment);
    return tap_done();
}
