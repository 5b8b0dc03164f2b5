/* SPDX-License-Identifier: MIT */
/* loop_choice.c - means per kind and side, and the side of the next call. */
#include "loop_choice.h"

/* Calls of a kind before splitting is tried, and of those that take longer than
 * all that disturbs. The first one counts for nothing: memory is touched for
 * the first time. */
enum { first_whole = 3, first_long = 2 };

/* Splitting is judged by so many calls at least. */
enum { first_split = 2 };

/* The side that is not preferred runs for a stretch of calls, of which the
 * first do not count: threads have to be woken and find their processors, or
 * they spin until they sleep (pool.c) and take one from a call that runs whole.
 */
static const struct {
    uint32_t settles_us, lasts_us;
} stretches[] = {
    [TAKT_LOOP_WHOLE] = {150, 300}, [TAKT_LOOP_SPLIT] = {1000, 3000}};

/* When splitting is tried again, calls before that count as a few. */
enum { kept = 4 };

/* Splitting has to be better by this factor. */
static const float least_gain = 1.03f;

/* How many stretches of time there are to one of the other side: with a hundred
 * times what such a stretch loses, it costs one percent. */
static const float least_period = 24, per_loss = 100, most_loss = 40;

/* Of calls that run whole one in so many is timed, once that is settled. */
enum { timed_of_whole = 8 };

static float mean_of(const struct takt_loop_kind *kind,
                     enum takt_loop_side side)
{
    return takt__mean_of(&kind->side[side]);
}

static uint32_t timed_of(const struct takt_loop_kind *kind,
                         enum takt_loop_side side)
{
    return takt__mean_count(&kind->side[side]);
}

static bool is_split_better(const struct takt_loop_kind *kind)
{
    return timed_of(kind, TAKT_LOOP_SPLIT) >= first_split &&
           mean_of(kind, TAKT_LOOP_SPLIT) * least_gain <
               mean_of(kind, TAKT_LOOP_WHOLE);
}

static float period_of(float preferred, float other)
{
    const float loss =
        preferred > 0 && other > preferred ? other / preferred - 1 : 0;

    return least_period + per_loss * (loss < most_loss ? loss : most_loss);
}

/* ---- stretches of the other side ----------------------------------------- */

static void begin_stretch(struct takt_loop_kind *kind, enum takt_loop_side side)
{
    if (side == TAKT_LOOP_SPLIT)
        takt__mean_forget(&kind->side[side], kept);
    atomic_fetch_add_explicit(&kind->stretches, 1, memory_order_relaxed);
    atomic_store_explicit(&kind->spent_us, 0, memory_order_relaxed);
    atomic_store_explicit(&kind->stretch, side + 1, memory_order_relaxed);
}

static void end_stretch(struct takt_loop_kind *kind)
{
    atomic_store_explicit(&kind->spent_us, 0, memory_order_relaxed);
    atomic_store_explicit(&kind->stretch, 0, memory_order_relaxed);
}

/* How long after a stretch the next one may begin, in lengths of it. The first
 * ones come soon: something else may have disturbed them. */
static float stretch_period(const struct takt_loop_kind *kind,
                            enum takt_loop_side preferred,
                            enum takt_loop_side other)
{
    enum { soon = 5 };
    const uint32_t before =
        atomic_load_explicit(&kind->stretches, memory_order_relaxed);
    const float period =
        period_of(mean_of(kind, preferred), mean_of(kind, other));
    const float most = before < soon ? (float)(2u << before) : period;

    return period < most ? period : most;
}

/* How long a stretch of the other side takes, if a call of the preferred one
 * takes so long: one call at least. */
static float stretch_us(const struct takt_loop_kind *kind,
                        enum takt_loop_side preferred,
                        enum takt_loop_side other, uint32_t call_us)
{
    const float lasts = (float)stretches[other].lasts_us;
    const float one =
        mean_of(kind, preferred) > 0
            ? (float)call_us * mean_of(kind, other) / mean_of(kind, preferred)
            : 0;

    return one > lasts ? one : lasts;
}

/* `calls` of the preferred side have taken so long each. */
static void look_for_stretch(struct takt_loop_kind *kind,
                             enum takt_loop_side preferred, uint32_t call_us,
                             uint32_t calls)
{
    const enum takt_loop_side other =
        preferred == TAKT_LOOP_WHOLE ? TAKT_LOOP_SPLIT : TAKT_LOOP_WHOLE;
    const uint32_t us = call_us * calls;
    const float spent =
        (float)us + (float)atomic_fetch_add_explicit(&kind->spent_us, us,
                                                     memory_order_relaxed);

    if (timed_of(kind, TAKT_LOOP_WHOLE) <
        (call_us > stretches[TAKT_LOOP_SPLIT].lasts_us ? first_long
                                                       : first_whole))
        return;
    if (timed_of(kind, other) == 0 ||
        spent > stretch_us(kind, preferred, other, call_us) *
                    stretch_period(kind, preferred, other))
        begin_stretch(kind, other);
}

/* Whether a call of a stretch counts. One that is longer than all that disturbs
 * does. The first stretch of split calls has as many as a verdict needs: a loop
 * that takes milliseconds may be called a few times only. */
static bool is_settled(struct takt_loop_kind *kind, enum takt_loop_side side,
                       uint32_t us)
{
    const uint32_t spent =
        atomic_fetch_add_explicit(&kind->spent_us, us, memory_order_relaxed);
    const bool counts =
        spent >= stretches[side].settles_us || us > stretches[side].lasts_us;

    const uint32_t enough = side == TAKT_LOOP_SPLIT ? first_split : 1;

    if (spent + us > stretches[side].lasts_us && counts &&
        timed_of(kind, side) + 1 >= enough)
        end_stretch(kind);
    return counts;
}

/* ---- calls --------------------------------------------------------------- */

static enum takt_loop_side preferred_of(const struct takt_loop_kind *kind)
{
    return is_split_better(kind) ? TAKT_LOOP_SPLIT : TAKT_LOOP_WHOLE;
}

struct takt_loop_choice takt__loop_choose(struct takt_loop_kind *kind)
{
    const uint32_t calls =
        atomic_fetch_add_explicit(&kind->calls, 1, memory_order_relaxed);
    const uint32_t stretch =
        atomic_load_explicit(&kind->stretch, memory_order_relaxed);

    if (stretch != 0)
        return (struct takt_loop_choice){(enum takt_loop_side)(stretch - 1),
                                         true};
    const enum takt_loop_side side = preferred_of(kind);
    return (struct takt_loop_choice){
        side, side == TAKT_LOOP_SPLIT || timed_of(kind, TAKT_LOOP_SPLIT) == 0 ||
                  calls % timed_of_whole == 0};
}

/* Of split calls more counts: threads that share their processors with others
 * are a part of what they take. */
void takt__loop_note(struct takt_loop_kind *kind, enum takt_loop_side side,
                     size_t elements, uint64_t ns)
{
    static const float far[] = {[TAKT_LOOP_WHOLE] = 16, [TAKT_LOOP_SPLIT] = 24};

    takt__mean_add(&kind->side[side], (float)ns / (float)elements, far[side]);
}

void takt__loop_learn(struct takt_loop_kind *kind, enum takt_loop_side side,
                      size_t elements, uint64_t ns)
{
    const uint32_t us = ns < UINT32_MAX ? (uint32_t)(ns / 1000) : UINT32_MAX;
    const bool is_stretch =
        atomic_load_explicit(&kind->stretch, memory_order_relaxed) == side + 1;
    const bool stands_for_others =
        side == TAKT_LOOP_WHOLE && timed_of(kind, TAKT_LOOP_SPLIT) != 0;

    if (is_stretch && !is_settled(kind, side, us))
        return;
    takt__loop_note(kind, side, elements, ns);
    if (!is_stretch && side == preferred_of(kind))
        look_for_stretch(kind, side, us,
                         stands_for_others ? timed_of_whole : 1);
}

struct takt_mean_estimate takt__loop_expect(const struct takt_loop_kind *kind,
                                            enum takt_loop_side side,
                                            size_t elements)
{
    return takt__mean_expect(&kind->side[side], (double)elements);
}
