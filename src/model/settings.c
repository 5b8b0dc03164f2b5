/* SPDX-License-Identifier: MIT */
/* settings.c - what a model is told beside samples: objectives, and how many
 * callers are at work. */
#include <math.h>

#include "model/inside.h"

static void judge_all_anew(struct takt_model *model)
{
    for (unsigned i = 0; i < TAKT_SERIES_COUNT; i++)
        if (model->series[i] != NULL)
            takt__series_change(model->series[i]);
}

static void set_objective(struct takt_model *model, unsigned number,
                          const struct takt_objective *objective)
{
    model->objective[number] = *objective;
    model->uses_tails |= takt__objective_uses_tails(objective);
    judge_all_anew(model);
}

void takt__model_set_objective(struct takt_model *model,
                               const struct takt_objective *objective)
{
    set_objective(model, 0, objective);
}

int takt__model_add_objective(struct takt_model *model,
                              const struct takt_objective *objective)
{
    if (model->objective_count + 1 >= TAKT_OBJECTIVES)
        return -1;
    set_objective(model, ++model->objective_count, objective);
    return (int)model->objective_count;
}

unsigned takt__model_objective_count(const struct takt_model *model)
{
    return model->objective_count + 1;
}

const struct takt_objective *
takt__model_objective(const struct takt_model *model, unsigned number)
{
    return &model->objective[number];
}

/* Verdicts follow when the number has changed by a quarter. */
void takt__model_set_callers(struct takt_model *model, double callers)
{
    if (fabs(callers - model->callers) < 0.25 * fmax(model->callers, 1))
        return;
    model->callers = callers;
    for (unsigned i = 0; i <= model->objective_count; i++)
        if (model->objective[i].goal == TAKT_MEASURE_THROUGHPUT) {
            judge_all_anew(model);
            return;
        }
}

double takt__model_callers(const struct takt_model *model)
{
    return model->callers;
}
