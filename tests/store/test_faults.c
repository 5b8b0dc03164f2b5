/* SPDX-License-Identifier: MIT */
/*
 * test_faults.c - every single read, write, open, ... and every allocation
 * fails, once or from then on.
 *
 * Afterwards the store has what it had, or that and what was written. Who used
 * it was told: a failure is a status, lack of memory is TAKT_ENOMEM, and a
 * store that could not be read never looks like an empty one.
 */
#include "faulty.h"
#include "learn/allocation.h"
#include "scratch.h"

enum { records = 60 };

static char path[128], other[128];
static uint64_t next_seq = 1000;

static void make_store(const char *at)
{
    struct takt_store *store = scratch_open(at);
    struct takt_record batch[records];
    char op[16];

    for (unsigned i = 0; i < records; i++) {
        snprintf(op, sizeof op, "op%u", i / 10);
        batch[i] = scratch_record(op, i % 10, i + 1);
    }
    EXPECT_INT(takt__store_write(store, batch, records), TAKT_OK);
    takt__store_close(store);
}

/* What came of using the store. */
struct outcome {
    takt_status open, read, write;
    size_t count;
    takt_diag diag;
};

static struct outcome use(void)
{
    struct outcome out = {.read = TAKT_OK};
    struct takt_store *store;
    struct takt_record record = scratch_record("new", 1, next_seq++);

    out.open = takt__store_open(path, &scratch_identity, &out.diag, &store);
    if (out.open != TAKT_OK)
        return out;
    out.read = takt__store_read(store, scratch_tally, &out.count);
    out.write = takt__store_write(store, &record, 1);
    takt__store_close(store);
    return out;
}

static bool is_transient(takt_status status, bool is_memory)
{
    return status == TAKT_OK || status == TAKT_ENOMEM ||
           (status == TAKT_EIO && !is_memory);
}

/* Without faults: nothing is lost, nothing was moved aside. */
static void expect_whole(const char *what, long at)
{
    struct takt_store *store = NULL;
    takt_diag diag;
    size_t count = 0;

    const takt_status status =
        takt__store_open(path, &scratch_identity, &diag, &store);
    TAP_CHECK(status == TAKT_OK && diag.text[0] == '\0', "%s %ld: %d, %s", what,
              at, status, diag.text);
    REQUIRE(store != NULL);
    EXPECT_INT(takt__store_read(store, scratch_tally, &count), TAKT_OK);
    TAP_CHECK(count >= records, "%s %ld: %zu records are left", what, at,
              count);
    takt__store_close(store);
    TAP_CHECK(!scratch_exists(path, ".damaged-1"), "%s %ld: moved aside", what,
              at);
}

static void judge(const struct outcome *out, const char *what, long at,
                  bool is_memory)
{
    TAP_CHECK(is_transient(out->open, is_memory), "%s %ld: open is %d (%s)",
              what, at, out->open, out->diag.text);
    TAP_CHECK(out->open == TAKT_OK || out->diag.text[0] != '\0',
              "%s %ld: nothing is said of status %d", what, at, out->open);
    if (out->open != TAKT_OK)
        return;
    TAP_CHECK(is_transient(out->read, is_memory) ||
                  out->read == TAKT_ECORRUPT, /* see takt__sql_status() */
              "%s %ld: read is %d", what, at, out->read);
    TAP_CHECK(out->read != TAKT_OK || out->count >= records,
              "%s %ld: %zu records without an error", what, at, out->count);
    TAP_CHECK(is_transient(out->write, is_memory) ||
                  out->write == TAKT_ECORRUPT,
              "%s %ld: write is %d", what, at, out->write);
}

static void each_operation_may_fail(bool is_lasting)
{
    for (int kind = 0; kind < FAULT_COUNT; kind++) {
        bool has_failed = true;
        for (long at = 0; has_failed; at++) {
            faulty_begin((enum fault)kind, at, is_lasting);
            const struct outcome out = use();
            has_failed = faulty_end();
            judge(&out, faults[kind].name, at, false);
            expect_whole(faults[kind].name, at);
        }
    }
}

static void any_operation_fails_once_and_nothing_is_lost(void)
{
    each_operation_may_fail(false);
}

static void any_operation_fails_for_good_and_nothing_is_lost(void)
{
    each_operation_may_fail(true);
}

static void each_allocation_may_fail(bool is_lasting)
{
    bool has_failed = can_count;

    if (!can_count)
        SKIP("allocations cannot be counted here");
    for (long at = 0; has_failed; at++) {
        allocations = 0;
        fail_at = at;
        keeps_failing = is_lasting;
        is_counting = true;
        const struct outcome out = use();
        is_counting = false;
        has_failed = allocations > (unsigned long)at;
        fail_at = -1;
        judge(&out, "allocation", at, true);
        expect_whole("allocation", at);
    }
}

static void any_allocation_fails_once_and_nothing_is_lost(void)
{
    each_allocation_may_fail(false);
}

static void any_allocation_fails_for_good_and_nothing_is_lost(void)
{
    each_allocation_may_fail(true);
}

/* The same for who merges and exports: all or nothing, and a reason. */
static void expect_reason(takt_status status, const takt_diag *diag,
                          const char *what, long at)
{
    TAP_CHECK(status == TAKT_OK ||
                  (is_transient(status, false) && diag->text[0] != '\0'),
              "%s %ld: %d, '%s'", what, at, status, diag->text);
}

static takt_status merge(takt_diag *diag)
{
    const char *into = scratch_path();
    const takt_status status = takt_store_merge(into, other, NULL, diag);

    is_counting = faulty.is_on = false;
    if (scratch_exists(into, "")) {
        struct takt_store *store = scratch_open(into);
        EXPECT_INT(scratch_count(store), status == TAKT_OK ? records : 0);
        takt__store_close(store);
    }
    return status;
}

static takt_status export(takt_diag *diag)
{
    const int fd = open("/dev/null", O_WRONLY);
    const takt_status status = takt_store_export(other, fd, diag);

    is_counting = faulty.is_on = false;
    close(fd);
    return status;
}

static void movers_say_what_failed(void)
{
    takt_status (*const movers[])(takt_diag *) = {merge, export};
    takt_diag diag;

    for (int i = 0; i < 2; i++)
        for (int kind = 0; kind < FAULT_COUNT; kind++) {
            bool has_failed = true;
            for (long at = 0; has_failed; at++) {
                faulty_begin((enum fault)kind, at, false);
                const takt_status status = movers[i](&diag);
                has_failed = faulty_end();
                expect_reason(status, &diag, faults[kind].name, at);
            }
        }
    for (int i = 0; can_count && i < 2; i++)
        for (long at = 0;; at++) {
            allocations = 0;
            fail_at = at;
            keeps_failing = false;
            is_counting = true;
            const takt_status status = movers[i](&diag);
            fail_at = -1;
            expect_reason(status, &diag, "allocation", at);
            if (allocations <= (unsigned long)at)
                break;
        }
}

/* A disk that cannot read a page at all is no reason to give the store up. */
static void a_page_that_cannot_be_read_is_no_damage(void)
{
    struct takt_store *store;
    takt_diag diag;

    for (long at = 1; at < 4; at++) {
        faulty_begin(FAULT_READ, at, true);
        for (int i = 0; i < 4; i++) {
            EXPECT_INT(takt__store_open(path, &scratch_identity, &diag, &store),
                       TAKT_EIO);
            EXPECT(diag.text[0] != '\0');
        }
        faulty_end();
        expect_whole("lasting read", at);
    }
}

/* A mark that a disk's failure left: the store is looked at and kept. */
static void suspected_damage_is_looked_at_first(void)
{
    char writers[160];

    snprintf(writers, sizeof writers, "%s-writers", path);
    REQUIRE(truncate(writers, 1) == 0);
    expect_whole("mark", 1);
    struct takt_store *store = scratch_open(path);
    scratch_write(store, "new", 2, next_seq++);
    takt__store_close(store);
    struct stat facts;
    REQUIRE(stat(writers, &facts) == 0);
    EXPECT_INT(facts.st_size, 0); /* it was written to: all is well */
}

int main(void)
{
    scratch_make();
    faulty_install();
    snprintf(path, sizeof path, "%s/store.db", scratch);
    snprintf(other, sizeof other, "%s/other.db", scratch);
    make_store(path);
    make_store(other);
    RUN(any_operation_fails_once_and_nothing_is_lost);
    RUN(any_operation_fails_for_good_and_nothing_is_lost);
    RUN(any_allocation_fails_once_and_nothing_is_lost);
    RUN(any_allocation_fails_for_good_and_nothing_is_lost);
    RUN(movers_say_what_failed);
    RUN(a_page_that_cannot_be_read_is_no_damage);
    RUN(suspected_damage_is_looked_at_first);
    return tap_done();
}
