/* SPDX-License-Identifier: MIT */
/*
 * test_journal.c - samples come out in the order they went in, a full journal
 * drops and counts, and producers that push at once lose nothing that was
 * accepted.
 */
#include "observe/journal.h"

#include <pthread.h>

#include "support/tap.h"
#include "support/tolerance.h"

static struct takt_journal journal;

static struct takt_sample sample_of(unsigned producer, uint64_t number)
{
    return (struct takt_sample){.series = (uint16_t)producer,
                                .start_ns = number,
                                .seconds = (double)(number * 3 + producer)};
}

static void samples_come_out_in_order(void)
{
    struct takt_sample out;
    uint64_t in = 0, expected = 0;

    takt__journal_init(&journal);
    EXPECT(!takt__journal_next(&journal, &out));
    for (unsigned round = 0; round < 5000; round++) {
        for (unsigned i = 0; i < round % 7; i++) {
            const struct takt_sample sample = sample_of(1, in++);
            EXPECT(takt__journal_push(&journal, &sample));
        }
        EXPECT_INT(takt__journal_count(&journal), in - expected);
        while (takt__journal_next(&journal, &out))
            EXPECT_INT(out.start_ns, expected++);
    }
    EXPECT_INT(expected, in);
    EXPECT(in > 3 * TAKT_JOURNAL_SLOTS); /* it went round */
}

static void a_full_journal_keeps_the_old_and_counts_the_rest(void)
{
    struct takt_sample sample, out;
    const unsigned extra = 10;

    takt__journal_init(&journal);
    for (uint64_t i = 0; i < TAKT_JOURNAL_SLOTS + extra; i++) {
        sample = sample_of(0, i);
        EXPECT_INT(takt__journal_push(&journal, &sample),
                   i < TAKT_JOURNAL_SLOTS);
    }
    EXPECT_INT(atomic_load(&journal.ring.dropped), extra);
    EXPECT_INT(takt__journal_count(&journal), TAKT_JOURNAL_SLOTS);
    EXPECT(takt__journal_next(&journal, &out));
    EXPECT_INT(out.start_ns, 0);
    EXPECT(takt__journal_push(&journal, &sample)); /* there is room again */
    for (uint64_t i = 1; i < TAKT_JOURNAL_SLOTS; i++) {
        REQUIRE(takt__journal_next(&journal, &out));
        EXPECT_INT(out.start_ns, i);
    }
    EXPECT(takt__journal_next(&journal, &out));
    EXPECT_INT(out.start_ns, TAKT_JOURNAL_SLOTS + extra - 1);
    EXPECT(!takt__journal_next(&journal, &out));
    EXPECT_INT(atomic_load(&journal.ring.dropped), extra);
}

enum { producers = 4 };

static _Atomic unsigned finished;
static uint64_t accepted[producers], accepted_sum[producers];

static uint64_t pushes(void)
{
    return is_sanitized ? 20000 : 100000;
}

static void *produce(void *self)
{
    const unsigned producer = (unsigned)(uintptr_t)self;

    for (uint64_t i = 0; i < pushes(); i++) {
        const struct takt_sample sample = sample_of(producer, i);
        if (takt__journal_push(&journal, &sample)) {
            accepted[producer]++;
            accepted_sum[producer] += i;
        }
    }
    atomic_fetch_add(&finished, 1);
    return NULL;
}

struct tally {
    uint64_t count[producers], sum[producers], next[producers];
    uint64_t disordered, torn;
};

static void tally_all(struct tally *tally)
{
    struct takt_sample out;

    while (takt__journal_next(&journal, &out)) {
        REQUIRE(out.series < producers);
        tally->disordered += out.start_ns < tally->next[out.series];
        tally->torn += out.seconds != (double)(out.start_ns * 3 + out.series);
        tally->next[out.series] = out.start_ns + 1;
        tally->count[out.series]++;
        tally->sum[out.series] += out.start_ns;
    }
}

static void what_was_accepted_comes_out_once_and_in_order(void)
{
    pthread_t thread[producers];
    static struct tally tally;
    uint64_t all = 0;

    takt__journal_init(&journal);
    for (uintptr_t i = 0; i < producers; i++)
        REQUIRE(pthread_create(&thread[i], NULL, produce, (void *)i) == 0);
    while (atomic_load(&finished) < producers)
        tally_all(&tally);
    for (unsigned i = 0; i < producers; i++)
        pthread_join(thread[i], NULL);
    tally_all(&tally);
    for (unsigned i = 0; i < producers; i++) {
        EXPECT_INT(tally.count[i], accepted[i]);
        EXPECT_INT(tally.sum[i], accepted_sum[i]);
        all += accepted[i];
    }
    EXPECT_INT(tally.disordered, 0);
    EXPECT_INT(tally.torn, 0);
    EXPECT_INT(all + atomic_load(&journal.ring.dropped), producers * pushes());
    EXPECT(all >= TAKT_JOURNAL_SLOTS);
    EXPECT_INT(takt__journal_count(&journal), 0);
}

/* ---- threads that are cancelled ------------------------------------------
 */

static void *push_until_cancelled(void *has_begun)
{
    const struct takt_sample sample = sample_of(0, 0);

    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    for (;;) {
        takt__journal_push(&journal, &sample);
        atomic_store((_Atomic bool *)has_begun, true);
    }
    return NULL;
}

static void nobody_who_is_cancelled_leaves_a_slot_unfilled(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || \
    defined(TAKT_TEST_EMULATED)
    SKIP("neither the sanitizers nor the emulator can follow a thread that "
         "is unwound anywhere");
    return;
#endif
    struct takt_sample out;

    takt__journal_init(&journal);
    for (int round = 0; round < 100; round++) {
        _Atomic bool has_begun = false;
        pthread_t thread;
        REQUIRE(pthread_create(&thread, NULL, push_until_cancelled,
                               &has_begun) == 0);
        while (!atomic_load(&has_begun))
            takt__journal_next(&journal, &out);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
        while (takt__journal_next(&journal, &out))
            ;
        EXPECT_INT(takt__journal_count(&journal), 0);
        if (takt__journal_count(&journal) != 0)
            return;
    }
}

int main(void)
{
    RUN(samples_come_out_in_order);
    RUN(a_full_journal_keeps_the_old_and_counts_the_rest);
    RUN(what_was_accepted_comes_out_once_and_in_order);
    RUN(nobody_who_is_cancelled_leaves_a_slot_unfilled);
    return tap_done();
}
