/* SPDX-License-Identifier: MIT */
/*
 * gemm_team.c - rounds of copying and multiplying, claimed piece by piece.
 *
 * A round of a plan with copies has two parts: all rows of A and all columns of
 * B are copied, and then every block of the area is multiplied. Each member has
 * a rectangle of blocks, so that what it reads stays in its caches and it meets
 * the same blocks in every round; when these are claimed, it takes blocks of
 * others. Rounds overlap: they use two copies in turns.
 *
 * Nothing is locked. What is claimed next is a counter that the member that
 * claims it increments, and what has been done is another one. A member waits
 * only for what another one has claimed before and is at work on:
 *   - a block waits for the copies of its round, and for itself in the round
 *     before, whose sums it adds to;
 *   - a copy waits for all blocks of the round before last, which read what it
 *     replaces.
 * So a member in the earliest round never waits.
 */
#include "kernels/gemm_team.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/futex.h"
#include "base/size.h"

enum { line = 64, copies = 2, areas = 2 };

/* Pieces that are claimed in order: the round in the upper half of the word,
 * how many of its pieces are claimed in the lower one. */
struct claims {
    _Alignas(line) _Atomic uint64_t count;
};

struct takt_gemm_team {
    struct takt_gemm call;
    const struct takt_gemm_kernels *kernels;
    const struct takt_gemm_blocks *blocks;
    struct takt_gemm_plan plan;
    unsigned threads;
    /* The round after the last one done, for each block: of an area, and of the
     * next one, whose first round overlaps. */
    _Atomic uint32_t *next_round;
    char *memory; /* the copies */
    struct claims to_copy;
    _Alignas(line) _Atomic size_t copied;       /* pieces, in all rounds */
    _Alignas(line) _Atomic size_t done[copies]; /* blocks, in rounds in turns */
    struct claims to_multiply[];                /* for each member */
};

/* ---- memory -------------------------------------------------------------- */

static size_t head_bytes(unsigned threads)
{
    return sizeof(struct takt_gemm_team) + threads * sizeof(struct claims);
}

static size_t flag_bytes(const struct takt_gemm_plan *plan)
{
    return takt__size_round_up(areas * plan->blocks * sizeof(uint32_t), line);
}

size_t takt__gemm_team_room(const struct takt_gemm_plan *plan, unsigned threads)
{
    const size_t times = takt__gemm_rounds(plan) > 1 ? copies : 1;

    return head_bytes(threads) + flag_bytes(plan) +
           times * (plan->a_bytes + plan->b_bytes);
}

struct takt_gemm_team *takt__gemm_team_open(
    const struct takt_gemm *call, const struct takt_gemm_kernels *kernels,
    const struct takt_gemm_blocks *blocks, const struct takt_gemm_plan *plan,
    unsigned threads, void *scratch)
{
    struct takt_gemm_team *team = scratch;
    char *flags = (char *)scratch + head_bytes(threads);

    memset(team, 0, head_bytes(threads));
    team->call = *call;
    team->kernels = kernels;
    team->blocks = blocks;
    team->plan = *plan;
    team->threads = threads;
    team->next_round = (_Atomic uint32_t *)(void *)flags;
    team->memory = flags + flag_bytes(plan);
    memset(flags, 0, flag_bytes(plan));
    return team;
}

/* ---- a round ------------------------------------------------------------- */

struct round {
    uint32_t number;
    bool is_first;                /* of its area */
    struct takt_gemm area;        /* the product of this round */
    _Atomic uint32_t *next_round; /* of the area's blocks */
    size_t down, across;          /* blocks */
    size_t panels; /* columns of B are copied in panels of tile_cols */
    char *a, *b;   /* the copies */
};

/* The piece of `whole` that begins at row i and column j. */
static struct takt_gemm piece_at(const struct takt_gemm *whole, size_t size,
                                 size_t i, size_t j, size_t rows, size_t cols)
{
    struct takt_gemm piece = *whole;

    piece.m = takt__size_min(rows, whole->m - i);
    piece.n = takt__size_min(cols, whole->n - j);
    piece.a = (const char *)whole->a + i * whole->a_row * size;
    piece.b = (const char *)whole->b + j * whole->b_col * size;
    piece.c = (char *)whole->c + (i * whole->ldc + j) * size;
    return piece;
}

/* The product of an area from depth p on. Only the first round meets the
 * caller's C. */
static struct takt_gemm area_at(const struct takt_gemm_team *team, size_t area,
                                size_t p)
{
    const struct takt_gemm_plan *plan = &team->plan;
    const struct takt_gemm *call = &team->call;
    const size_t size = team->kernels->parts->size;
    const size_t i = area / plan->areas_across * plan->area_rows;
    const size_t j = area % plan->areas_across * plan->area_cols;
    struct takt_gemm is =
        piece_at(call, size, i, j, plan->area_rows, plan->area_cols);

    is.k = takt__size_min(plan->depth, call->k - p);
    is.a = (const char *)is.a + p * call->a_col * size;
    is.b = (const char *)is.b + p * call->b_row * size;
    is.beta = p == 0 ? call->beta : 1;
    return is;
}

static struct round round_at(const struct takt_gemm_team *team, uint32_t number)
{
    const struct takt_gemm_plan *plan = &team->plan;
    const size_t area = number / plan->deep, depth = number % plan->deep;
    struct round round = {.number = number,
                          .is_first = depth == 0,
                          .area = area_at(team, area, depth * plan->depth),
                          .next_round =
                              team->next_round + area % areas * plan->blocks};

    round.down = takt__size_ceil_div(round.area.m, plan->block_rows);
    round.across = takt__size_ceil_div(round.area.n, plan->block_cols);
    if (plan->copies) {
        round.panels =
            takt__size_ceil_div(round.area.n, team->kernels->parts->tile_cols);
        round.a =
            team->memory + number % copies * (plan->a_bytes + plan->b_bytes);
        round.b = round.a + plan->a_bytes;
    }
    return round;
}

/* Claims the next of `count` pieces of a round; false when there is none. All
 * pieces of earlier rounds were claimed before. */
static bool claim(struct claims *claims, uint32_t round, size_t count,
                  size_t *index)
{
    const uint64_t first = (uint64_t)round << 32;
    uint64_t now = atomic_load_explicit(&claims->count, memory_order_relaxed);

    for (;;) {
        const uint64_t next = now > first ? now : first;
        if (next - first >= count)
            return false;
        if (atomic_compare_exchange_weak_explicit(
                &claims->count, &now, next + 1, memory_order_relaxed,
                memory_order_relaxed)) {
            *index = (size_t)(next - first);
            return true;
        }
    }
}

/* Between two reads of what is waited for. The members that are at work on it
 * may have no processor: after a while this one is offered to them. */
static void pause_at(unsigned look)
{
    takt__pause();
    if (look % 64 == 63)
        sched_yield();
}

static void wait_until(const _Atomic size_t *count, size_t goal)
{
    for (unsigned i = 0;
         atomic_load_explicit(count, memory_order_acquire) < goal; i++)
        pause_at(i);
}

/* ---- copying ------------------------------------------------------------- */

/* Piece `index` is the A of a row of blocks, or a panel of B: the small ones
 * come last, so that all members end at nearly the same time. */
static void copy_one(const struct takt_gemm_team *team,
                     const struct round *round, size_t index)
{
    const struct takt_gemm_parts *parts = team->kernels->parts;
    const size_t rows = team->plan.block_rows, cols = parts->tile_cols;

    if (index < round->down) {
        const struct takt_gemm piece = piece_at(
            &round->area, parts->size, index * rows, 0, rows, round->area.n);
        parts->copy_a(&piece, round->a + index * team->plan.a_block);
    } else {
        const size_t j = (index - round->down) * cols;
        const struct takt_gemm piece =
            piece_at(&round->area, parts->size, 0, j, round->area.m, cols);
        parts->copy_b(&piece, round->b + j * round->area.k * parts->size);
    }
}

/* Returns when all copies of the round are there. `before` is how many were
 * made in earlier ones. */
static void copy_all(struct takt_gemm_team *team, const struct round *round,
                     size_t before)
{
    const size_t count = round->panels + round->down;
    size_t index;

    while (claim(&team->to_copy, round->number, count, &index)) {
        copy_one(team, round, index);
        atomic_fetch_add_explicit(&team->copied, 1, memory_order_release);
    }
    wait_until(&team->copied, before + count);
}

/* ---- multiplying --------------------------------------------------------- */

/* A range of blocks. */
struct rectangle {
    size_t i, rows, j, cols;
};

static struct rectangle rectangle_of(const struct takt_gemm_team *team,
                                     const struct round *round, unsigned member)
{
    const struct takt_gemm_plan *plan = &team->plan;
    const size_t i = member / plan->across, j = member % plan->across;
    struct rectangle is = {.i = round->down * i / plan->down,
                           .j = round->across * j / plan->across};

    is.rows = round->down * (i + 1) / plan->down - is.i;
    is.cols = round->across * (j + 1) / plan->across - is.j;
    return is;
}

static void multiply_copies(struct takt_gemm_team *team,
                            const struct round *round, size_t i, size_t j,
                            const struct takt_gemm *piece)
{
    const struct takt_gemm_parts *parts = team->kernels->parts;
    const size_t b = j * team->plan.block_cols * piece->k * parts->size;
    _Atomic uint32_t *next = &round->next_round[i * round->across + j];

    for (unsigned look = 0;
         !round->is_first &&
         atomic_load_explicit(next, memory_order_acquire) != round->number;
         look++)
        pause_at(look);
    parts->multiply(piece, round->a + i * team->plan.a_block, round->b + b);
    atomic_store_explicit(next, round->number + 1, memory_order_release);
    atomic_fetch_add_explicit(&team->done[round->number % copies], 1,
                              memory_order_release);
}

static void multiply_one(struct takt_gemm_team *team, const struct round *round,
                         size_t i, size_t j)
{
    const struct takt_gemm_plan *plan = &team->plan;
    const struct takt_gemm piece =
        piece_at(&round->area, team->kernels->parts->size, i * plan->block_rows,
                 j * plan->block_cols, plan->block_rows, plan->block_cols);

    if (plan->copies)
        multiply_copies(team, round, i, j, &piece);
    else
        team->kernels->run(&piece, team->blocks, NULL);
}

/* What is left of one member's rectangle, column by column. */
static void multiply_rectangle(struct takt_gemm_team *team,
                               const struct round *round, unsigned member)
{
    const struct rectangle is = rectangle_of(team, round, member);
    size_t index;

    while (claim(&team->to_multiply[member], round->number, is.rows * is.cols,
                 &index))
        multiply_one(team, round, is.i + index % is.rows,
                     is.j + index / is.rows);
}

void takt__gemm_team_work(struct takt_gemm_team *team, unsigned member)
{
    const size_t rounds = takt__gemm_rounds(&team->plan);
    size_t copied = 0, done[copies] = {0}; /* in earlier rounds */

    for (uint32_t number = 0; number < rounds; number++) {
        const struct round round = round_at(team, number);
        const unsigned turn = number % copies;
        if (team->plan.copies) {
            wait_until(&team->done[turn], done[turn]);
            copy_all(team, &round, copied);
        }
        for (unsigned i = 0; i < team->threads; i++)
            multiply_rectangle(team, &round, (member + i) % team->threads);
        copied += round.panels + round.down;
        done[turn] += round.down * round.across;
    }
}
