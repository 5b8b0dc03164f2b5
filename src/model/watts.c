/* SPDX-License-Identifier: MIT */
/* watts.c - what arms draw: of all their calls, and by what bounds a call. */
#include <math.h>

#include "model/inside.h"

/* Verdicts follow when watts have changed by a fiftieth. */
static void set(struct takt_model *model, unsigned arm,
                struct takt_watts *watts, struct takt_watts now)
{
    const struct takt_watts before = *watts;

    *watts = now;
    if (before.is_known && now.is_known &&
        fabsf(now.mean - before.mean) < 0.02f * before.mean)
        return;
    for (unsigned i = 0; i <= model->objective_count; i++)
        if (takt__objective_uses_energy(&model->objective[i])) {
            takt__model_change_arm(model, arm);
            return;
        }
}

void takt__model_set_watts(struct takt_model *model, unsigned arm,
                           struct takt_watts watts)
{
    set(model, arm, &model->watts[arm], watts);
}

struct takt_watts takt__model_watts(const struct takt_model *model,
                                    unsigned arm)
{
    return model->watts[arm];
}

bool takt__model_knows_watts(const struct takt_model *model)
{
    for (unsigned i = 0; i < model->arm_count; i++)
        if (model->watts[i].is_known)
            return true;
    return false;
}

void takt__model_set_watts_of(struct takt_model *model, unsigned arm,
                              unsigned bound, struct takt_watts watts)
{
    set(model, arm, &model->watts_of[arm][bound], watts);
}

struct takt_watts takt__model_watts_of(const struct takt_model *model,
                                       unsigned arm, unsigned bound)
{
    return model->watts_of[arm][bound];
}

unsigned takt__model_bound(const struct takt_model *model,
                           const struct takt_sample *sample)
{
    const struct takt_series *series = model->series[sample->series];
    const takt_work work = {(double)sample->bytes, (double)sample->flops};
    uint8_t bound = TAKT_BOUND_STARTING;

    if (series != NULL)
        takt__series_expect(series, &model->arm[sample->arm], &work,
                            sample->situation, &bound);
    return bound;
}
