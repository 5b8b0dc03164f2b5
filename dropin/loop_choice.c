/* SPDX-License-Identifier: MIT */
/* loop_choice.c - means per kind and side, and whose turn it is. */
#include "loop_choice.h"

/* Calls of a kind before splitting is tried. The first one counts for nothing:
 * memory is touched for the first time. */
enum { first_whole = 3 };

/* While a kind runs whole, splitting is probed for so long; at first threads
 * have to be woken and find their processors, which does not count. */
static const uint32_t probe_us = 3000, settles_us = 1000;

/* Older calls count for less; at the start of a probe, those before it count as
 * so many. */
static const float least_weight = 1 / 16.0f;
enum { kept_by_probe = 2 };

/* Splitting has to be better by this factor. */
static const float least_gain = 1.03f;

/* How many calls, or probes of time, there are to one of the other side: with a
 * hundred times what such a call loses, it costs one percent. */
static const float least_period = 24, per_loss = 100, most_loss = 40;

/* Of calls that run whole one in so many is timed, once that is settled. */
enum { timed_of_whole = 8 };

static float mean_of(const struct takt_loop_kind *kind,
                     enum takt_loop_side side)
{
    return atomic_load_explicit(&kind->mean[side], memory_order_relaxed);
}

static uint32_t timed_of(const struct takt_loop_kind *kind,
                         enum takt_loop_side side)
{
    return atomic_load_explicit(&kind->timed[side], memory_order_relaxed);
}

static bool is_split_better(const struct takt_loop_kind *kind)
{
    return timed_of(kind, TAKT_LOOP_SPLIT) > 1 &&
           mean_of(kind, TAKT_LOOP_SPLIT) * least_gain <
               mean_of(kind, TAKT_LOOP_WHOLE);
}

static float period_of(float preferred, float other)
{
    const float loss =
        preferred > 0 && other > preferred ? other / preferred - 1 : 0;

    return least_period + per_loss * (loss < most_loss ? loss : most_loss);
}

/* ---- probes of splitting ------------------------------------------------- */

static void begin_probe(struct takt_loop_kind *kind)
{
    if (timed_of(kind, TAKT_LOOP_SPLIT) > kept_by_probe)
        atomic_store_explicit(&kind->timed[TAKT_LOOP_SPLIT], kept_by_probe,
                              memory_order_relaxed);
    atomic_fetch_add_explicit(&kind->probes, 1, memory_order_relaxed);
    atomic_store_explicit(&kind->spent_us, 0, memory_order_relaxed);
    atomic_store_explicit(&kind->is_probe, true, memory_order_relaxed);
}

static void end_probe(struct takt_loop_kind *kind)
{
    atomic_store_explicit(&kind->spent_us, 0, memory_order_relaxed);
    atomic_store_explicit(&kind->is_probe, false, memory_order_relaxed);
}

/* How long after a probe the next one may begin, in lengths of a probe. The
 * first ones come soon: something else may have disturbed them. */
static float probe_period(const struct takt_loop_kind *kind)
{
    enum { soon = 5 };
    const uint32_t probes =
        atomic_load_explicit(&kind->probes, memory_order_relaxed);
    const float period = period_of(mean_of(kind, TAKT_LOOP_WHOLE),
                                   mean_of(kind, TAKT_LOOP_SPLIT));
    const float most = probes < soon ? (float)(2u << probes) : period;

    return period < most ? period : most;
}

/* A call of a kind that runs whole has ended. */
static void look_for_probe(struct takt_loop_kind *kind, uint32_t us)
{
    const uint32_t timed = timed_of(kind, TAKT_LOOP_WHOLE);
    const float spent =
        (float)us + (float)atomic_fetch_add_explicit(&kind->spent_us, us,
                                                     memory_order_relaxed);

    if (timed < first_whole)
        return;
    if (timed_of(kind, TAKT_LOOP_SPLIT) == 0 ||
        spent > (float)probe_us * probe_period(kind))
        begin_probe(kind);
}

/* Whether a call of a probe counts. The one that is longer than all that
 * disturbs does. */
static bool is_settled(struct takt_loop_kind *kind, uint32_t us)
{
    const uint32_t spent =
        atomic_fetch_add_explicit(&kind->spent_us, us, memory_order_relaxed);

    if (spent + us > probe_us && timed_of(kind, TAKT_LOOP_SPLIT) > 1)
        end_probe(kind);
    return spent > settles_us;
}

/* ---- calls --------------------------------------------------------------- */

struct takt_loop_choice takt__loop_choose(struct takt_loop_kind *kind)
{
    const uint32_t turn =
        atomic_fetch_add_explicit(&kind->turn, 1, memory_order_relaxed);

    if (atomic_load_explicit(&kind->is_probe, memory_order_relaxed))
        return (struct takt_loop_choice){TAKT_LOOP_SPLIT, true};
    if (!is_split_better(kind))
        return (struct takt_loop_choice){TAKT_LOOP_WHOLE,
                                         timed_of(kind, TAKT_LOOP_SPLIT) == 0 ||
                                             turn % timed_of_whole == 0};
    /* Odd, so that it keeps step with few programs. */
    const uint32_t period =
        (uint32_t)period_of(mean_of(kind, TAKT_LOOP_SPLIT),
                            mean_of(kind, TAKT_LOOP_WHOLE)) |
        1;
    return (struct takt_loop_choice){
        turn % period == 0 ? TAKT_LOOP_WHOLE : TAKT_LOOP_SPLIT, true};
}

/* Another process may have had the processor: of the first calls the fastest
 * counts, and later ones count as three times the mean at most. */
static float typical(float value, float mean, uint32_t timed)
{
    enum { few = 4, far = 3 };
    const float most = timed == 0 ? value : timed < few ? mean : far * mean;

    return value < most ? value : most;
}

static void add(struct takt_loop_kind *kind, enum takt_loop_side side,
                float value)
{
    const uint32_t timed = timed_of(kind, side);
    const float before = mean_of(kind, side);
    const float change = typical(value, before, timed) - before;
    const float distance =
        atomic_load_explicit(&kind->distance[side], memory_order_relaxed);
    float weight = timed < 2 ? 1 : 1 / (float)timed;

    if (weight < least_weight)
        weight = least_weight;
    atomic_store_explicit(&kind->mean[side], before + weight * change,
                          memory_order_relaxed);
    if (timed > 0)
        atomic_store_explicit(
            &kind->distance[side],
            distance + weight * ((change < 0 ? -change : change) - distance),
            memory_order_relaxed);
    if (timed < UINT32_MAX)
        atomic_store_explicit(&kind->timed[side], timed + 1,
                              memory_order_relaxed);
}

void takt__loop_learn(struct takt_loop_kind *kind, enum takt_loop_side side,
                      size_t elements, uint64_t ns)
{
    const uint32_t us = ns < UINT32_MAX ? (uint32_t)(ns / 1000) : UINT32_MAX;
    const bool is_probe =
        atomic_load_explicit(&kind->is_probe, memory_order_relaxed);

    if (side == TAKT_LOOP_SPLIT && is_probe && !is_settled(kind, us))
        return;
    add(kind, side, (float)ns / (float)elements);
    if (side == TAKT_LOOP_WHOLE && !is_probe && !is_split_better(kind))
        look_for_probe(kind, timed_of(kind, TAKT_LOOP_SPLIT) == 0
                                 ? us
                                 : us * timed_of_whole);
}

struct takt_loop_estimate takt__loop_expect(const struct takt_loop_kind *kind,
                                            enum takt_loop_side side,
                                            size_t elements)
{
    /* Single calls vary by a tenth at least; the mean is that of some 16. */
    static const float least = 0.1f, root_of_calls = 4;
    const float mean = mean_of(kind, side);
    const float distance =
        atomic_load_explicit(&kind->distance[side], memory_order_relaxed);
    const float error = distance > least * mean ? distance : least * mean;

    if (timed_of(kind, side) < 2)
        return (struct takt_loop_estimate){0, 0};
    return (struct takt_loop_estimate){(double)mean * (double)elements,
                                       (double)(error / root_of_calls) *
                                           (double)elements};
}
