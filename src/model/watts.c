/* SPDX-License-Identifier: MIT */
/* watts.c - what arms draw, as somebody measured it. */
#include "model/inside.h"

void takt__model_set_watts(struct takt_model *model, unsigned arm,
                           struct takt_watts watts)
{
    model->watts[arm] = watts;
}

struct takt_watts takt__model_watts(const struct takt_model *model,
                                    unsigned arm)
{
    return model->watts[arm];
}

void takt__model_set_watts_of(struct takt_model *model, unsigned arm,
                              enum takt_power power, struct takt_watts watts)
{
    model->watts_of[arm][power] = watts;
}

struct takt_watts takt__model_watts_of(const struct takt_model *model,
                                       unsigned arm, enum takt_power power)
{
    return model->watts_of[arm][power];
}

enum takt_power takt__model_power(const struct takt_model *model,
                                  const struct takt_sample *sample)
{
    const struct takt_series *series = model->series[sample->series];
    const struct takt_arm *arm = &model->arm[sample->arm];
    const takt_work work = {(double)sample->bytes, (double)sample->flops};
    uint8_t bound = TAKT_BOUND_STARTING;

    if (series != NULL && series->link >= 0)
        return TAKT_POWER_LINK;
    if (series != NULL)
        takt__series_expect(series, arm, &work, sample->situation, &bound);
    return bound < TAKT_BOUND_COMPUTING    ? TAKT_POWER_MOVING
           : bound == TAKT_BOUND_COMPUTING ? TAKT_POWER_COMPUTING
           : bound == TAKT_BOUND_LINK      ? TAKT_POWER_LINK
                                           : TAKT_POWER_STARTING;
}
