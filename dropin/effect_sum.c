/* SPDX-License-Identifier: MIT */
/* effect_sum.c - sums over the kinds of steps, and their doubt. */
#include "effect_sum.h"

/* How much slices of the same work differ at least, as a share of their time.
 */
static const double least_noise = 0.025;

/* Of all kinds: measured ones by what they take off and on. Steps of the others
 * count as those of off slices did on average (`off_ns` and `on_ns`: what those
 * took, and what the same steps take with Takt): slices are a sample of the
 * program's time. */
struct step_sum {
    double gain_ns, baseline_ns, variance;
    double off_ns, on_ns, rest_ns;
};

/* Calls, or the gaps before them; `amount`: work, or gaps, of each side. */
static void add_part(struct step_sum *sum,
                     const struct takt_moments of[TAKT_SIDES],
                     const double amount[TAKT_SIDES], double change,
                     double variance)
{
    const double on = amount[TAKT_SIDE_ROUTED];
    const double off = amount[TAKT_SIDE_BASELINE];
    const double off_mean = of[TAKT_SIDE_BASELINE].mean;
    const double on_mean = of[TAKT_SIDE_ROUTED].mean;

    if (of[TAKT_SIDE_ROUTED].n < 1)
        return;
    sum->off_ns += off * off_mean;
    sum->on_ns += off * on_mean;
    if (!takt__sides_are_measured(of)) {
        sum->rest_ns += on * on_mean;
        return;
    }
    sum->baseline_ns += on * off_mean;
    sum->gain_ns -= on * change;
    sum->variance += on * on * variance;
}

/* To compute with none would leave a floating-point flag behind. */
static void add_calls(struct step_sum *sum, const struct takt_kind_steps *steps)
{
    const bool has_some = takt__sides_are_measured(steps->call);

    add_part(sum, steps->call, steps->work,
             has_some ? takt__sides_change(steps->call) : 0,
             has_some ? takt__sides_variance(steps->call) : 0);
}

/* A slice sees the gaps of one phase of the program: those of another slice may
 * be as unlike as gaps are at all. */
static double gap_variance(const struct takt_moments gap[TAKT_SIDES],
                           double slices)
{
    const struct takt_moments *on = &gap[TAKT_SIDE_ROUTED];
    const double phases = on->n > 1 ? on->m2 / (on->n - 1) / slices : 0;

    return takt__sides_variance(gap) + phases;
}

static void add_gaps(struct step_sum *sum, const struct takt_kind_steps *steps,
                     double slices)
{
    const struct takt_moments *gap = steps->gap;

    add_part(sum, gap, steps->gaps,
             gap[TAKT_SIDE_ROUTED].mean - gap[TAKT_SIDE_BASELINE].mean,
             takt__sides_are_measured(gap) ? gap_variance(gap, slices) : 0);
}

/* The sample may be unlike the rest: by half of what it gained, the less the
 * more slices there were. */
static void add_rest(struct step_sum *sum, double slices)
{
    if (!(sum->on_ns > 0))
        return;
    const double gain_ns = sum->rest_ns * (sum->off_ns / sum->on_ns - 1);
    sum->gain_ns += gain_ns;
    sum->baseline_ns += sum->rest_ns + gain_ns;
    sum->variance += gain_ns * gain_ns / 4 / slices;
}

/* Gaps hold whatever the program does. They count the more, the clearer it is
 * that they differ; what is left of the difference is doubt. */
static void count_gaps(const struct step_sum *gaps, struct takt_effect *effect)
{
    const double gain2 = gaps->gain_ns * gaps->gain_ns;
    const double share = gain2 > 0 ? gain2 / (gain2 + gaps->variance) : 0;
    const double left_ns = (1 - share) * gaps->gain_ns;

    effect->baseline_ns += gaps->baseline_ns - left_ns;
    effect->gain_ns += share * gaps->gain_ns;
    effect->variance += share * share * gaps->variance + left_ns * left_ns;
}

/* Slices differ on a machine that is not alone. */
static void add_noise(const struct takt_moments *noise, double slices,
                      struct takt_effect *effect)
{
    const double seen = noise->n > 1 ? noise->m2 / (noise->n - 1) : 0;
    const double least = least_noise * least_noise;

    effect->variance += effect->baseline_ns * effect->baseline_ns *
                        (seen > least ? seen : least) / slices;
}

struct takt_effect takt__effect_sum(const struct takt_kind_steps *kind,
                                    unsigned kinds, double slices,
                                    const struct takt_moments *noise)
{
    struct step_sum calls = {0}, gaps = {0};
    double covered_ns = 0;

    for (unsigned i = 0; i < kinds; i++) {
        add_calls(&calls, &kind[i]);
        add_gaps(&gaps, &kind[i], slices);
        covered_ns += kind[i].work[TAKT_SIDE_ROUTED] *
                      kind[i].call[TAKT_SIDE_ROUTED].mean;
    }
    add_rest(&calls, slices);
    add_rest(&gaps, slices);
    struct takt_effect effect = {.gain_ns = calls.gain_ns,
                                 .baseline_ns = calls.baseline_ns,
                                 .variance = calls.variance,
                                 .covered_ns = covered_ns};
    count_gaps(&gaps, &effect);
    add_noise(noise, slices, &effect);
    return effect;
}
