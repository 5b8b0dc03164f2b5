/* SPDX-License-Identifier: MIT */
/*
 * usual.c - who was there first, and what it takes to leave him.
 *
 * To change is to change the last bits of results, so it has to be worth it.
 */
#include <math.h>

#include "model/inside.h"

/* In ln(seconds): 15%, and twice as fast. */
static const float clearly = 0.14f, twice = 0.6931f;

/* What calls would have gained so far, for a program to see another expert in
 * the middle of its work. */
static const double worth_s = 0.1;

bool takt__is_measured(const struct takt_series *series, unsigned arm)
{
    const struct takt_track *track = series->track[arm];

    for (unsigned s = 0; track != NULL && s < TAKT_SITUATIONS; s++)
        if (track->samples[s] > 0)
            return true;
    return false;
}

/* By how much another has to be better: a little if it was measured, much if it
 * is a GPU, since to try that beside a call takes long. */
static float least_of(const struct takt_model *model,
                      const struct takt_series *series, unsigned arm)
{
    return takt__is_measured(series, arm)       ? clearly
           : takt__arm_is_gpu(&model->arm[arm]) ? twice
                                                : INFINITY;
}

/* The position of the best of those who are better by so much; of `usual` if
 * there is none. Who is at work stays unless another is clearly better. */
static unsigned best_instead(const struct takt_model *model,
                             const struct takt_series *series,
                             const struct takt_field *field, unsigned usual,
                             unsigned incumbent)
{
    float lowest = INFINITY;
    unsigned best = usual;

    for (unsigned i = 0; i < field->count; i++) {
        const struct takt_candidate *who = &field->of[i];
        const float cost =
            who->log_cost - (who->arm == incumbent ? clearly : 0);
        if (i == usual || cost >= lowest ||
            who->log_cost + least_of(model, series, who->arm) >
                field->of[usual].log_cost)
            continue;
        lowest = cost;
        best = i;
    }
    return best;
}

/* At the beginning anybody may be first, by what was learned before; later the
 * one who is, or one with whom the calls so far would have gained something. */
static bool is_worth_it(const struct takt_spot *spot, double calls,
                        const struct takt_candidate *usual,
                        const struct takt_candidate *best)
{
    const double gain_s =
        (double)(expf(usual->log_cost) - expf(best->log_cost));

    return spot == NULL || spot->incumbent == TAKT_NO_ARM ||
           spot->incumbent == best->arm || calls * gain_s >= worth_s;
}

void takt__usual_prefer(const struct takt_model *model,
                        const struct takt_series *series,
                        const struct takt_spot *spot, double calls,
                        struct takt_field *field)
{
    const unsigned first = field->best;
    unsigned usual = 0;

    while (usual < field->count && !model->arm[field->of[usual].arm].is_usual)
        usual++;
    if (usual == field->count)
        return;
    unsigned best = best_instead(model, series, field, usual,
                                 spot == NULL ? TAKT_NO_ARM : spot->incumbent);
    if (!is_worth_it(spot, calls, &field->of[usual], &field->of[best]))
        best = usual;
    if (best == first)
        return;
    field->best = best;
    field->second = first;
}
