/* SPDX-License-Identifier: MIT */
/* watts.c - what arms draw, by what bounds a call. */
#include "model/inside.h"

void takt__model_set_watts_of(struct takt_model *model, unsigned arm,
                              unsigned bound, struct takt_watts watts)
{
    model->watts_of[arm][bound] = watts;
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
