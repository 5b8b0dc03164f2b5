/* SPDX-License-Identifier: MIT */
/*
 * tune_facts.c - what is worth telling at the end.
 *
 * From which size threads pay, and a GPU does, for the best known ops; and
 * where the fixed thresholds would have cost most. Only what was measured is
 * told.
 */
#include <stdio.h>
#include <string.h>

#include "number.h"
#include "tune.h"

/* Who wins, and what the moe rule would take instead. */
struct verdict {
    takt_estimate best;
    takt_estimate processor; /* the best of these; samples 0: none measured */
    double moe_s;            /* 0: not measured */
};

static bool judge(struct tune *tune, const struct series *series, unsigned step,
                  unsigned situation, struct verdict *out)
{
    takt_request request =
        family_request(series->family, series->op, series->dtype, step);
    takt_estimate all[most_experts];
    takt_decision moe;
    size_t count;

    *out = (struct verdict){0};
    request.situation = situation;
    if (takt_explain(tune->ctx, &request, all, most_experts, &count) !=
            TAKT_OK ||
        count == 0 || all[0].samples <= 0)
        return false;
    out->best = all[0];
    for (size_t i = count; i-- > 0;)
        if (all[i].backend != TAKT_BACKEND_GPU)
            out->processor = all[i];
    request.policy = TAKT_POLICY_MOE;
    if (takt_select(tune->ctx, &request, &moe) != TAKT_OK)
        return true;
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].expert, moe.expert) == 0 && all[i].samples > 0)
            out->moe_s = all[i].predicted_s;
    return true;
}

static void name_size(const struct series *series, unsigned step, char *out,
                      size_t size)
{
    const takt_shape shape = family_shape(series->family, step);

    format_shape(&shape, out, size);
    if (shape.rank == 1)
        format_short(shape.dim[0], out, size);
}

/* From which size on several threads win at every size that was measured. */
static bool tell_threads(struct tune *tune, const struct series *series,
                         char *out)
{
    unsigned from = most_steps, threads = 0, seen = 0;
    char size[64];

    for (unsigned step = series->family->low; step <= series->family->high;
         step++) {
        struct verdict verdict;
        if (!judge(tune, series, step, 0, &verdict) ||
            verdict.processor.samples <= 0)
            continue;
        seen++;
        const unsigned here = expert_threads(verdict.processor.expert);
        if (here == 1)
            from = most_steps;
        else if (from == most_steps)
            from = step;
        threads = here;
    }
    if (seen < 2)
        return false;
    if (from == most_steps) {
        snprintf(out, longest_fact, "%s: one thread at every size measured",
                 series->op->name);
        return true;
    }
    name_size(series, from, size, sizeof size);
    snprintf(out, longest_fact, "%s: %u threads from %s", series->op->name,
             threads, size);
    return true;
}

/* From which size on a GPU wins at every size that was measured; false: not at
 * the largest. */
static bool gpu_wins_from(struct tune *tune, const struct series *series,
                          unsigned situation, char *size, size_t room,
                          char expert[TAKT_EXPERT_NAME_MAX])
{
    bool wins = false;

    for (unsigned step = series->family->low; step <= series->family->high;
         step++) {
        struct verdict verdict;
        if (!judge(tune, series, step, situation, &verdict))
            continue;
        const bool is_gpu = verdict.best.backend == TAKT_BACKEND_GPU;
        if (is_gpu && !wins)
            name_size(series, step, size, room);
        if (is_gpu)
            memcpy(expert, verdict.best.expert, sizeof verdict.best.expert);
        wins = is_gpu;
    }
    return wins;
}

static bool tell_gpu(struct tune *tune, const struct series *series, char *out)
{
    char host[64], there[64], expert[TAKT_EXPERT_NAME_MAX];

    if (tune->gpu_count == 0 ||
        !gpu_wins_from(tune, series, TAKT_SITUATION_ON_GPU, there, sizeof there,
                       expert))
        return false;
    if (gpu_wins_from(tune, series, 0, host, sizeof host, expert))
        snprintf(out, longest_fact,
                 "%s: %s from %s with operands on the host, from %s with "
                 "operands on it",
                 series->op->name, expert, host, there);
    else
        snprintf(out, longest_fact, "%s: %s from %s with operands on it only",
                 series->op->name, expert, there);
    return true;
}

static bool tell_gain(struct tune *tune, char *out)
{
    double most = 1.05;
    bool found = false;
    char size[64];

    for (size_t i = 0; i < tune->plan.series_count; i++) {
        const struct series *series = &tune->plan.series[i];
        for (unsigned step = series->family->low; step <= series->family->high;
             step++) {
            struct verdict verdict;
            if (!series->is_known[step] ||
                !judge(tune, series, step, 0, &verdict) ||
                verdict.moe_s / verdict.best.predicted_s < most)
                continue;
            most = verdict.moe_s / verdict.best.predicted_s;
            found = true;
            name_size(series, step, size, sizeof size);
            snprintf(out, longest_fact,
                     "biggest gain over the moe thresholds: %s %s of %s, "
                     "%.3g times (%s)",
                     series->op->name, takt_dtype_name(series->dtype), size,
                     most, verdict.best.expert);
        }
    }
    return found;
}

size_t find_facts(struct tune *tune, char facts[most_facts][longest_fact])
{
    static const char *const telling[] = {"matmul", "add", "sum", "exp"};
    size_t count = 0, told = 0;

    for (size_t t = 0; t < sizeof telling / sizeof telling[0]; t++)
        for (size_t i = 0; i < tune->plan.series_count && told < most_told;
             i++) {
            const struct series *series = &tune->plan.series[i];
            if (strcmp(series->op->name, telling[t]) == 0 &&
                series->family->importance == 0) {
                const size_t before = count;
                count += tell_threads(tune, series, facts[count]);
                count += tell_gpu(tune, series, facts[count]);
                told += count > before;
                break;
            }
        }
    count += tell_gain(tune, facts[count]);
    return count;
}
