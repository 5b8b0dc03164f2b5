/* SPDX-License-Identifier: MIT */
/*
 * test_table.c - a cell survives being a word, a try is handed out once, and
 * what the prior offers overwrites nothing.
 */
#include "decide/table.h"

#include <float.h>
#include <pthread.h>

#include "support/random.h"
#include "support/tap.h"

static struct takt_table table;

static struct takt_cell random_cell(uint64_t *state)
{
    return (struct takt_cell){
        .best = (uint8_t)random_next(state),
        .runner_up = (uint8_t)random_next(state),
        .explore = (uint8_t)random_next(state),
        .tries = random_next(state) & TAKT_MOST_TRIES,
        .sample_shift = random_next(state) & 7,
        .is_measured = random_next(state) & 1,
        .is_threaded = random_next(state) & 1,
        .confidence = (float)random_unit(state),
        .seconds = (float)random_real(state, -9, 5),
    };
}

static void a_cell_survives_being_a_word(void)
{
    uint64_t state = 1;

    for (int i = 0; i < 200000; i++) {
        const struct takt_cell cell = random_cell(&state);
        const uint64_t word = takt__cell_pack(&cell);
        const struct takt_cell back = takt__cell_unpack(word);
        EXPECT(word != 0);
        EXPECT_INT((uint8_t)word,
                   cell.best); /* who is in a hurry reads it so */
        EXPECT_INT(back.best, cell.best);
        EXPECT_INT(back.runner_up, cell.runner_up);
        EXPECT_INT(back.explore, cell.explore);
        EXPECT_INT(back.tries, cell.tries);
        EXPECT_INT(back.sample_shift, cell.sample_shift);
        EXPECT_INT(back.is_measured, cell.is_measured);
        EXPECT_INT(back.is_threaded, cell.is_threaded);
        EXPECT_NEAR((double)back.confidence, (double)cell.confidence,
                    0.5 / 255 + 1e-6);
        EXPECT_NEAR((double)(back.seconds / cell.seconds), 1, 0x1p-11);
        EXPECT_INT(takt__cell_pack(&back), word);
    }
}

static void the_ends_of_the_scale_stay_apart(void)
{
    const struct takt_cell none = {0};
    struct takt_cell sure = {.confidence = 1, .seconds = 1};

    EXPECT(takt__cell_pack(&none) != 0); /* 0 means: never written */
    EXPECT(takt__cell_unpack(takt__cell_pack(&sure)).confidence == 1);
    EXPECT(takt__cell_unpack(takt__cell_pack(&sure)).seconds == 1);
    sure.seconds = -1; /* not known */
    EXPECT(takt__cell_unpack(takt__cell_pack(&sure)).seconds == -1);
}

static const struct takt_key key = {.series = 5, .bucket = 7};

static void an_offer_overwrites_nothing(void)
{
    const struct takt_cell first = {.best = 1}, second = {.best = 2};

    EXPECT_INT(takt__table_load(&table, key, 1), 0);
    takt__table_offer(&table, key, 1, &first);
    takt__table_offer(&table, key, 1, &second);
    EXPECT_INT(takt__cell_unpack(takt__table_load(&table, key, 1)).best, 1);
    takt__table_store(&table, key, 1, &second);
    EXPECT_INT(takt__cell_unpack(takt__table_load(&table, key, 1)).best, 2);
    EXPECT_INT(takt__table_load(&table, key, 0), 0);
    EXPECT_INT(takt__table_load(&table, key, 3), 0);
    takt__table_clear(&table, key.series + 1);
    EXPECT(takt__table_load(&table, key, 1) != 0);
    takt__table_clear(&table, key.series);
    EXPECT_INT(takt__table_load(&table, key, 1), 0);
}

static void places_of_gpus_are_cells_like_others(void)
{
    const struct takt_cell cell = {.best = 3, .seconds = FLT_MAX};
    const struct takt_key last = {.series = TAKT_SERIES_COUNT - 1,
                                  .bucket = TAKT_BUCKETS - 1};

    takt__table_store(&table, last, TAKT_COLUMNS - 1, &cell);
    for (unsigned place = 0; place < TAKT_COLUMNS - 1; place++)
        EXPECT_INT(takt__table_load(&table, last, place), 0);
    const struct takt_cell back =
        takt__cell_unpack(takt__table_load(&table, last, TAKT_COLUMNS - 1));
    EXPECT_INT(back.best, 3);
    EXPECT(isfinite(back.seconds) && back.seconds > 3e38f); /* not infinity */
    takt__table_clear(&table, last.series);
    EXPECT_INT(takt__table_load(&table, last, TAKT_COLUMNS - 1), 0);
}

static void a_try_belongs_to_the_word_it_was_read_with(void)
{
    const struct takt_cell cell = {.best = 1, .explore = 3, .tries = 1};

    takt__table_store(&table, key, 0, &cell);
    const uint64_t word = takt__table_load(&table, key, 0);
    EXPECT(takt__table_take_try(&table, key, 0, word));
    EXPECT(!takt__table_take_try(&table, key, 0, word));
    const struct takt_cell left =
        takt__cell_unpack(takt__table_load(&table, key, 0));
    EXPECT_INT(left.tries, 0);
    EXPECT_INT(left.best, 1);
    EXPECT_INT(left.explore, 3);
}

enum { takers = 4, rounds = 20000 };

static _Atomic unsigned taken;
static _Atomic bool is_over;

static void *take(void *self)
{
    (void)self;
    while (!atomic_load(&is_over)) {
        const uint64_t word = takt__table_load(&table, key, 0);
        if (takt__cell_tries(word) != 0 &&
            takt__table_take_try(&table, key, 0, word))
            atomic_fetch_add(&taken, 1);
    }
    return NULL;
}

/* A new offer is only made when the last one was taken, as the learner does. */
static void every_try_is_taken_once(void)
{
    pthread_t thread[takers];
    unsigned offered = 0;

    takt__table_clear(&table, key.series);
    for (int i = 0; i < takers; i++)
        REQUIRE(pthread_create(&thread[i], NULL, take, NULL) == 0);
    while (offered < rounds) {
        const uint64_t word = takt__table_load(&table, key, 0);
        if (takt__cell_tries(word) != 0)
            continue;
        const struct takt_cell cell = {.explore = (uint8_t)offered,
                                       .tries = (uint8_t)(1 + offered % 3)};
        takt__table_store(&table, key, 0, &cell);
        offered += cell.tries;
    }
    while (takt__cell_tries(takt__table_load(&table, key, 0)) != 0)
        ;
    atomic_store(&is_over, true);
    for (int i = 0; i < takers; i++)
        pthread_join(thread[i], NULL);
    EXPECT_INT(taken, offered);
}

static void short_calls_are_timed_seldom(void)
{
    unsigned last = 7;

    for (double seconds = 1e-9; seconds < 1; seconds *= 1.5) {
        const unsigned shift = takt__sample_shift(seconds);
        EXPECT(shift <= last);
        last = shift;
    }
    EXPECT_INT(takt__sample_shift(1e-5), 0);
    EXPECT(takt__sample_shift(1e-7) > 0);
}

int main(void)
{
    REQUIRE(takt__table_create(&table) == TAKT_OK);
    RUN(a_cell_survives_being_a_word);
    RUN(the_ends_of_the_scale_stay_apart);
    RUN(an_offer_overwrites_nothing);
    RUN(places_of_gpus_are_cells_like_others);
    RUN(a_try_belongs_to_the_word_it_was_read_with);
    RUN(every_try_is_taken_once);
    RUN(short_calls_are_timed_seldom);
    takt__table_destroy(&table);
    return tap_done();
}
