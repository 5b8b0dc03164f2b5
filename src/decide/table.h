/* SPDX-License-Identifier: MIT */
/*
 * table.h - what was decided, one word per objective, series, column and
 * bucket.
 *
 * A decision reads one word; the learner writes one. Of a word that is 0
 * nothing is known (it was never written, or withdrawn when a GPU was closed):
 * the caller has the learner read what is known of the series, once, and
 * where that is nothing writes what the prior says. A trial of another
 * expert is a token in the word: the caller that takes it out runs the trial.
 *
 * A column is a situation; with TAKT_RESIDENT in it, the best way to run a call
 * on the processor if the host has all operands, which is written only while a
 * GPU is open: without one it is as if that bit were not there. Or it is a
 * GPU, TAKT_COLUMN_GPU and following: there best, runner-up and explore are
 * that GPU's expert, seconds is what it takes if it has all operands (about
 * FLT_MAX: it refused lately), and confidence the factor by which it may be
 * faster. What has to be moved is the caller's to add, as is the choice.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "model/objective.h"
#include "op/key.h"
#include "takt/status.h"

struct takt_cell {
    uint8_t best, runner_up; /* experts */
    uint8_t explore;         /* expert to try, while tries > 0 */
    uint8_t tries;           /* 0 to 63 */
    uint8_t sample_shift;    /* one call in 1 << shift is timed, 0 to 7 */
    bool is_measured;        /* not by the prior alone */
    bool is_threaded;        /* best has more than one thread */
    float confidence;        /* 0 to 1 in steps of 1/255 */
    float seconds; /* of a call in the middle of the bucket; 11 bits of
                    * mantissa */
};

/* A column of the table, by objective and column: one after another. */
static inline unsigned takt__table_column(unsigned objective, unsigned column)
{
    return objective * TAKT_COLUMNS + column;
}

struct takt_table {
    /* By objective, series, column and bucket; NULL: there is no such
     * objective. */
    _Atomic uint64_t (*cell[TAKT_OBJECTIVES])[TAKT_COLUMNS][TAKT_BUCKETS];
    /* Whether the learner was asked about a series: bit 0 for operands that lie
     * elsewhere than those of the last call, bit 1 for the same ones. Once
     * asked, a word that is 0 means that nothing is known. */
    _Atomic uint8_t asked[TAKT_SERIES_COUNT];
};

/* All cells empty; pages that are not touched take no memory. */
takt_status takt__table_create(struct takt_table *out);
void takt__table_destroy(struct takt_table *table);

/* Makes the columns of another objective, before anyone reads them.
 * TAKT_ENOMEM. */
takt_status takt__table_add(struct takt_table *table, unsigned objective);

static inline _Atomic uint64_t *takt__table_at(const struct takt_table *table,
                                               struct takt_key key,
                                               unsigned column)
{
    return &table->cell[column / TAKT_COLUMNS][key.series]
                       [column % TAKT_COLUMNS][key.bucket];
}

/* Bits, from the low end: best 8, runner-up 8, explore 8, tries 6, shift 3,
 * measured 1, threaded 1, written 1, confidence 8, seconds 20. */
enum {
    TAKT_CELL_TRIES = 24,
    TAKT_CELL_SHIFT = 30,
    TAKT_CELL_MEASURED = 33,
    TAKT_CELL_THREADED = 34,
    TAKT_CELL_WRITTEN = 35,
    TAKT_CELL_CONFIDENCE = 36,
    TAKT_CELL_SECONDS = 44,
    TAKT_CELL_SECONDS_CUT = 12
};

static inline uint64_t takt__cell_pack(const struct takt_cell *cell)
{
    uint32_t seconds;

    memcpy(&seconds, &cell->seconds, sizeof seconds);
    return (uint64_t)cell->best | (uint64_t)cell->runner_up << 8 |
           (uint64_t)cell->explore << 16 |
           (uint64_t)cell->tries << TAKT_CELL_TRIES |
           (uint64_t)cell->sample_shift << TAKT_CELL_SHIFT |
           (uint64_t)cell->is_measured << TAKT_CELL_MEASURED |
           (uint64_t)cell->is_threaded << TAKT_CELL_THREADED |
           (uint64_t)1 << TAKT_CELL_WRITTEN |
           (uint64_t)(cell->confidence * 255 + 0.5f) << TAKT_CELL_CONFIDENCE |
           (uint64_t)(seconds >> TAKT_CELL_SECONDS_CUT) << TAKT_CELL_SECONDS;
}

/* Trials in a row that are still to be made. */
static inline unsigned takt__cell_tries(uint64_t word)
{
    return word >> TAKT_CELL_TRIES & TAKT_MOST_TRIES;
}

static inline struct takt_cell takt__cell_unpack(uint64_t word)
{
    const uint32_t seconds = (uint32_t)(word >> TAKT_CELL_SECONDS)
                             << TAKT_CELL_SECONDS_CUT;
    struct takt_cell cell = {
        .best = (uint8_t)word,
        .runner_up = (uint8_t)(word >> 8),
        .explore = (uint8_t)(word >> 16),
        .tries = (uint8_t)takt__cell_tries(word),
        .sample_shift = word >> TAKT_CELL_SHIFT & 7,
        .is_measured = word >> TAKT_CELL_MEASURED & 1,
        .is_threaded = word >> TAKT_CELL_THREADED & 1,
        .confidence = (float)(word >> TAKT_CELL_CONFIDENCE & 255) / 255,
    };

    memcpy(&cell.seconds, &seconds, sizeof seconds);
    return cell;
}

/* Experts in a word are known before it is written. */
static inline uint64_t takt__table_load(const struct takt_table *table,
                                        struct takt_key key, unsigned column)
{
    return atomic_load_explicit(takt__table_at(table, key, column),
                                memory_order_acquire);
}

static inline bool takt__table_is_asked(const struct takt_table *table,
                                        unsigned series, unsigned situation)
{
    return (atomic_load_explicit(&table->asked[series], memory_order_relaxed) >>
                (situation & TAKT_REPEAT) &
            1) != 0;
}

/* `situations`: bit 1 << situation, one or more. */
static inline void takt__table_set_asked(struct takt_table *table,
                                         unsigned series, unsigned situations)
{
    atomic_fetch_or_explicit(&table->asked[series],
                             (uint8_t)(situations & (1 | 1 << TAKT_REPEAT)),
                             memory_order_relaxed);
}

/* Writes what the prior said, unless the word was written meanwhile. */
static inline void takt__table_offer(struct takt_table *table,
                                     struct takt_key key, unsigned column,
                                     const struct takt_cell *cell)
{
    uint64_t empty = 0;

    atomic_compare_exchange_strong_explicit(
        takt__table_at(table, key, column), &empty, takt__cell_pack(cell),
        memory_order_relaxed, memory_order_relaxed);
}

static inline void takt__table_store(struct takt_table *table,
                                     struct takt_key key, unsigned column,
                                     const struct takt_cell *cell)
{
    atomic_store_explicit(takt__table_at(table, key, column),
                          takt__cell_pack(cell), memory_order_relaxed);
}

/* Takes one try out of the word that was just read; false: another call did,
 * or it was written anew. */
static inline bool takt__table_take_try(struct takt_table *table,
                                        struct takt_key key, unsigned column,
                                        uint64_t word)
{
    return atomic_compare_exchange_strong_explicit(
        takt__table_at(table, key, column), &word,
        word - ((uint64_t)1 << TAKT_CELL_TRIES), memory_order_relaxed,
        memory_order_relaxed);
}

/* Empties a series. */
void takt__table_clear(struct takt_table *table, unsigned series);

/* How often to time calls of that length: all from 8 microseconds up, where
 * two clock readings are below 0.3%; one in 64 below half a microsecond. */
static inline uint8_t takt__sample_shift(double seconds)
{
    return seconds >= 8e-6 ? 0 : seconds >= 2e-6 ? 2 : seconds >= 5e-7 ? 4 : 6;
}
