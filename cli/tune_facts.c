/* SPDX-License-Identifier: MIT */
/*
 * tune_facts.c - sentences about what was found.
 *
 * From which size threads pay, and a GPU does, for the best known ops; and
 * where the fixed thresholds would have cost most. Only what was measured is
 * said.
 */
#include <stdio.h>
#include <string.h>

#include "context.h"
#include "number.h"
#include "tune.h"
#include "tune/family.h"
#include "tune/operands.h"

enum { most_experts = 128 };

/* One op, element type and layout. */
struct series {
    takt_ctx *ctx;
    const takt_op *op;
    takt_dtype dtype;
    const struct takt_family *family;
};

/* The best expert, and what the moe rule would take instead. */
struct verdict {
    takt_estimate best;
    takt_estimate processor; /* the best of these; samples 0: none measured */
    double moe_s;            /* 0: not measured */
};

/* False: nothing was measured there. */
static bool judge(const struct series *series, unsigned step,
                  unsigned situation, struct verdict *out)
{
    takt_request request =
        takt__family_request(series->family, series->op, series->dtype, step);
    takt_estimate all[most_experts] = {{.size = sizeof all[0]}};
    takt_decision moe = {.size = sizeof moe};
    size_t count;

    *out = (struct verdict){0};
    request.situation = situation;
    if (takt_explain(series->ctx, &request, all, most_experts, &count) !=
            TAKT_OK ||
        count == 0 || all[0].samples <= 0)
        return false;
    out->best = all[0];
    for (size_t i = count; i-- > 0;)
        if (all[i].backend != TAKT_BACKEND_GPU)
            out->processor = all[i];
    request.policy = TAKT_POLICY_MOE;
    if (takt_select(series->ctx, &request, &moe) != TAKT_OK)
        return true;
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].expert, moe.expert) == 0 && all[i].samples > 0)
            out->moe_s = all[i].predicted_s;
    return true;
}

static void name_size(const struct series *series, unsigned step, char *out,
                      size_t size)
{
    const takt_shape shape = takt__family_shape(series->family, step);

    format_shape(&shape, out, size);
    if (shape.rank == 1)
        format_short(shape.dim[0], out, size);
}

/* ---- from which size on ----------------------------------------------------
 */

enum contest { several_threads, a_gpu };

struct fact_crossover {
    unsigned seen; /* sizes that were measured */
    bool wins;     /* at the largest of them, and ... */
    char from[64]; /* ... from this one on */
    struct verdict last;
};

static struct fact_crossover find_crossover(const struct series *series,
                                            unsigned situation, enum contest of)
{
    struct fact_crossover out = {.seen = 0};

    for (unsigned step = series->family->low; step <= series->family->high;
         step++) {
        struct verdict verdict;
        if (!judge(series, step, situation, &verdict) ||
            (of == several_threads && verdict.processor.samples <= 0))
            continue;
        const bool wins = of == a_gpu
                              ? verdict.best.backend == TAKT_BACKEND_GPU
                              : expert_threads(verdict.processor.expert) > 1;
        if (wins && !out.wins)
            name_size(series, step, out.from, sizeof out.from);
        out.seen++;
        out.wins = wins;
        out.last = verdict;
    }
    return out;
}

static bool tell_threads(const struct series *series, char *out)
{
    const struct fact_crossover threads =
        find_crossover(series, 0, several_threads);

    if (threads.seen < 2)
        return false;
    if (threads.wins)
        snprintf(out, longest_fact, "%s: %u threads from %s", series->op->name,
                 expert_threads(threads.last.processor.expert), threads.from);
    else
        snprintf(out, longest_fact, "%s: one thread at every size measured",
                 series->op->name);
    return true;
}

static bool tell_gpu(const struct series *series, char *out)
{
    const struct fact_crossover there =
        find_crossover(series, TAKT_SITUATION_ON_GPU, a_gpu);
    const struct fact_crossover host = find_crossover(series, 0, a_gpu);

    if (!there.wins)
        return false;
    if (host.wins)
        snprintf(out, longest_fact,
                 "%s: %s from %s with operands on the host, from %s with "
                 "operands on it",
                 series->op->name, host.last.best.expert, host.from,
                 there.from);
    else
        snprintf(out, longest_fact, "%s: %s from %s with operands on it only",
                 series->op->name, there.last.best.expert, there.from);
    return true;
}

/* The largest gain of a series, if it is above *most. */
static bool tell_gain(const struct series *series, double *most, char *out)
{
    bool found = false;
    char size[64];

    for (unsigned step = series->family->low; step <= series->family->high;
         step++) {
        struct verdict verdict;
        if (!judge(series, step, 0, &verdict) ||
            verdict.moe_s / verdict.best.predicted_s < *most)
            continue;
        *most = verdict.moe_s / verdict.best.predicted_s;
        found = true;
        name_size(series, step, size, sizeof size);
        snprintf(out, longest_fact,
                 "biggest gain over the moe thresholds: %s %s of %s, "
                 "%.3g times (%s)",
                 series->op->name, takt_dtype_name(series->dtype), size, *most,
                 verdict.best.expert);
    }
    return found;
}

/* ---- what was asked for ----------------------------------------------------
 */

static bool find_gain(const struct tune *tune, char *out)
{
    struct series series = {.ctx = tune->ctx};
    double most = 1.05;
    bool found = false;

    for (size_t i = 0; (series.op = takt__tune_op(&tune->options, i)) != NULL;
         i++)
        for (size_t f = 0;
             (series.family = takt__family_at(series.op, f)) != NULL; f++)
            for (int dtype = TAKT_F32; dtype <= TAKT_F64; dtype++) {
                series.dtype = (takt_dtype)dtype;
                found = tell_gain(&series, &most, out) || found;
            }
    return found;
}

size_t find_facts(const struct tune *tune, char facts[most_facts][longest_fact])
{
    static const char *const telling[] = {"matmul", "add", "sum", "exp"};
    const bool has_f32 = (tune->options.dtypes & 1u << TAKT_F32) != 0;
    struct series series = {.ctx = tune->ctx,
                            .dtype = has_f32 ? TAKT_F32 : TAKT_F64};
    size_t count = 0, told = 0;

    for (size_t t = 0; t < sizeof telling / sizeof telling[0]; t++)
        for (size_t i = 0;
             told < most_told &&
             (series.op = takt__tune_op(&tune->options, i)) != NULL;
             i++) {
            const size_t before = count;
            if (strcmp(series.op->name, telling[t]) != 0)
                continue;
            series.family = takt__family_at(series.op, 0);
            count += tell_threads(&series, facts[count]);
            if (tune->result.gpus > 0)
                count += tell_gpu(&series, facts[count]);
            told += count > before;
            break;
        }
    count += find_gain(tune, facts[count]);
    return count;
}
