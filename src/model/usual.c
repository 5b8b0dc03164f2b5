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

bool takt__is_measured(const struct takt_line *line, unsigned arm)
{
    const struct takt_track *track = line->track[arm];

    for (unsigned s = 0; track != NULL && s < TAKT_SITUATIONS; s++)
        if (track->samples[s] > 0)
            return true;
    return false;
}

/* By how much the best has to be better: a little if it was measured, much if
 * it is a GPU, since to try that beside a call takes long. */
static float least_of(const struct takt_model *model,
                      const struct takt_line *line, unsigned best)
{
    return takt__is_measured(line, best)         ? clearly
           : takt__arm_is_gpu(&model->arm[best]) ? twice
                                                 : INFINITY;
}

/* At the beginning anybody may be first, by what was learned before; later the
 * one who is, or one with whom the calls so far would have gained something. */
static bool is_worth_it(const struct takt_spot *spot,
                        const struct takt_candidate *usual,
                        const struct takt_candidate *best)
{
    const double gain_s =
        (double)(expf(usual->log_cost) - expf(best->log_cost));

    return spot == NULL || spot->incumbent == TAKT_NO_ARM ||
           spot->incumbent == best->arm || spot->calls * gain_s >= worth_s;
}

void takt__usual_prefer(const struct takt_model *model,
                        const struct takt_line *line,
                        const struct takt_spot *spot, struct takt_field *field)
{
    const unsigned first = field->best;
    const struct takt_candidate *best = &field->of[first];
    const float least = least_of(model, line, best->arm);

    for (unsigned i = 0; i < field->count; i++) {
        const struct takt_candidate *usual = &field->of[i];
        if (i == first || !model->arm[usual->arm].is_usual)
            continue;
        if (usual->log_cost < best->log_cost + least ||
            !is_worth_it(spot, usual, best)) {
            field->second = first;
            field->best = i;
        }
    }
}
