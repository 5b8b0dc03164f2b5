/* SPDX-License-Identifier: MIT */
/* sides.c - which side is faster, and how sure that is: sums over all kinds of
 * calls. */
#include "sides.h"

#include <stddef.h>

/* How much slices of the same work differ on a machine that is not alone, as a
 * share of their time; and the least gain that is worth a change. */
static const double between_slices = 0.025, least_gain = 0.01;

/* The square root, without libm. */
static double root(double square)
{
    double x = square > 1 ? square : 1;

    for (int i = 0; i < 64 && x * x > square * 1.0001; i++)
        x = (x + square / x) / 2;
    return square > 0 ? x : 0;
}

/* Sums over kinds, each weighed by what was called of it lately: what routing
 * changes in the calls and between them, and the variance of both. */
struct side_sums {
    double baseline_ns;
    double call_ns, call_v, gap_ns, gap_v;
};

bool takt__sides_are_measured(const struct takt_moments of[TAKT_SIDES])
{
    enum { least_baseline = 3, least_routed = 2 };

    return of[TAKT_SIDE_BASELINE].n >= least_baseline &&
           of[TAKT_SIDE_ROUTED].n >= least_routed;
}

/* Whether outliers count: routed calls are held up clearly more often than
 * those in the library, or less. That is then not what others do, but what the
 * side does, such as threads that have to be woken. Of few calls in the library
 * not one may have been held up by chance: each stands for `scale` others. */
static bool has_other_outliers(const struct takt_moments of[TAKT_SIDES])
{
    static const double few = 4;
    const struct takt_moments *baseline = &of[TAKT_SIDE_BASELINE];
    const struct takt_moments *routed = &of[TAKT_SIDE_ROUTED];
    const double times = routed->n / baseline->n;
    const double scale = times > 1 ? times : 1;
    const double expected = baseline->clips * times;
    const double more = routed->clips - expected;

    return (more > 0 ? more : -more) > scale * few + 3 * root(scale * expected);
}

/* What was clipped off calls of a side, for each of them. */
static double clipped_of(const struct takt_moments *moments)
{
    return moments->clipped / moments->n;
}

double takt__sides_change(const struct takt_moments of[TAKT_SIDES])
{
    const struct takt_moments *baseline = &of[TAKT_SIDE_BASELINE];
    const struct takt_moments *routed = &of[TAKT_SIDE_ROUTED];
    const double change = routed->mean - baseline->mean;

    return has_other_outliers(of)
               ? change + clipped_of(routed) - clipped_of(baseline)
               : change;
}

/* Of the mean. A few calls that happen to be alike are no certainty: single
 * calls vary by a tenth at least. */
static double error2_of(const struct takt_moments *moments)
{
    const double least = moments->mean / 10;
    const double seen = takt__moments_error2(moments);
    const double floor = least * least / moments->n;

    return seen > floor ? seen : floor;
}

/* Calls are held up at random: how often varies by its root. */
static double cut_error2_of(const struct takt_moments *moments)
{
    const double clipped = clipped_of(moments);

    return moments->clips > 0 ? clipped * clipped / moments->clips : 0;
}

double takt__sides_variance(const struct takt_moments of[TAKT_SIDES])
{
    const struct takt_moments *baseline = &of[TAKT_SIDE_BASELINE];
    const struct takt_moments *routed = &of[TAKT_SIDE_ROUTED];
    const double variance = error2_of(routed) + error2_of(baseline);

    return has_other_outliers(of)
               ? variance + cut_error2_of(routed) + cut_error2_of(baseline)
               : variance;
}

static void compare_kind(void *self, struct takt_kind *kind)
{
    struct side_sums *sums = self;
    const double work = kind->work, calls = kind->calls;

    kind->work /= 2;
    kind->calls /= 2;
    if (!takt__sides_are_measured(kind->call))
        return;
    sums->baseline_ns += work * kind->call[TAKT_SIDE_BASELINE].mean;
    if (kind->is_kept)
        return;
    sums->call_ns += work * takt__sides_change(kind->call);
    sums->call_v += work * work * takt__sides_variance(kind->call);
    if (!takt__sides_are_measured(kind->gap))
        return;
    sums->gap_ns += calls * takt__sides_change(kind->gap);
    sums->gap_v += calls * calls * takt__sides_variance(kind->gap);
}

/* Gaps hold whatever the program does: they count if they clearly differ. */
static void compare(struct takt_switchback_result *result)
{
    struct side_sums sums = {0};

    takt__kinds_each(compare_kind, &sums);
    if (sums.baseline_ns <= 0)
        return;
    result->probes++;
    const double slices = between_slices / root(result->probes);
    double change_ns = sums.call_ns, variance = sums.call_v;
    if (sums.gap_ns * sums.gap_ns > 6 * sums.gap_v) {
        change_ns += sums.gap_ns;
        variance += sums.gap_v;
    }
    result->ratio = 1 + change_ns / sums.baseline_ns;
    result->error =
        root(variance / sums.baseline_ns / sums.baseline_ns + slices * slices);
}

/* A change to routing takes a difference of 2 standard errors; to stay with it,
 * half of one is enough. What has not been compared yet stays as it is: a probe
 * also ends when a call or two lost too much. */
static bool is_routing_better(const struct takt_switchback_result *result)
{
    const double doubt = result->is_routed ? 0.5 : 2;

    if (result->probes == 0)
        return result->is_routed;
    return result->ratio + doubt * result->error < 1 &&
           result->ratio < 1 - least_gain;
}

static bool is_clear(const struct takt_switchback_result *result)
{
    return result->probes > 0 && (result->ratio - 2 * result->error > 1 ||
                                  result->ratio + 2 * result->error < 1);
}

static bool is_even(const struct takt_switchback_result *result)
{
    static const double relevant = 0.9;

    return result->probes > 0 && !result->is_clear &&
           result->ratio - 2 * result->error > relevant;
}

/* A kind that is clearly slower routed stays in the baseline library. */
static void keep_kind(void *self, struct takt_kind *kind)
{
    const double baseline = kind->call[TAKT_SIDE_BASELINE].mean;
    const double doubt = between_slices * baseline;

    (void)self;
    if (!takt__sides_are_measured(kind->call))
        return;
    const double change = takt__sides_change(kind->call);
    kind->is_kept = change > baseline / 10 &&
                    change * change >
                        9 * (takt__sides_variance(kind->call) + doubt * doubt);
}

static void release_kind(void *self, struct takt_kind *kind)
{
    (void)self;
    kind->is_kept = false;
}

void takt__kind_set_control(struct takt_kind *kind)
{
    const struct takt_moments *baseline = &kind->call[TAKT_SIDE_BASELINE];
    const struct takt_moments *routed = &kind->call[TAKT_SIDE_ROUTED];

    if (routed->n >= 2)
        atomic_store_explicit(&kind->routed, (float)routed->mean,
                              memory_order_relaxed);
    if (baseline->n < 2)
        return;
    const bool is_disturbed = kind->least > 0 && kind->least < baseline->mean;
    const double control = is_disturbed ? kind->least : baseline->mean;
    const double doubt = (baseline->mean - control) / 2;
    atomic_store_explicit(&kind->control, (float)control, memory_order_relaxed);
    atomic_store_explicit(&kind->control_error,
                          (float)root(error2_of(baseline) + doubt * doubt),
                          memory_order_relaxed);
}

static void set_control(void *self, struct takt_kind *kind)
{
    (void)self;
    takt__kind_set_control(kind);
}

static void age_kind(void *self, struct takt_kind *kind)
{
    const enum takt_side side = *(enum takt_side *)self;

    takt__moments_age(&kind->call[side]);
    takt__moments_age(&kind->gap[side]);
}

/* ---- for the owner ---------------------------------------------------------
 */

void takt__sides_compare(struct takt_switchback_result *result)
{
    compare(result);
    result->is_routed = is_routing_better(result);
    result->is_clear = is_clear(result);
    result->is_even = is_even(result);
}

void takt__sides_keep(bool is_slow_kept)
{
    takt__kinds_each(is_slow_kept ? keep_kind : release_kind, NULL);
}

void takt__sides_set_controls(void)
{
    takt__kinds_each(set_control, NULL);
}

void takt__sides_age(enum takt_side side)
{
    takt__kinds_each(age_kind, &side);
}
