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

enum { most_experts = 128 };

/* One op, element type and layout. */
struct series {
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

static bool judge(const struct tune *tune, const struct series *series,
                  unsigned step, unsigned situation, struct verdict *out)
{
    takt_request request =
        takt__family_request(series->family, series->op, series->dtype, step);
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
    const takt_shape shape = takt__family_shape(series->family, step);

    format_shape(&shape, out, size);
    if (shape.rank == 1)
        format_short(shape.dim[0], out, size);
}

/* From which size on several threads win at every size that was measured. */
static bool tell_threads(const struct tune *tune, const struct series *series,
                         char *out)
{
    unsigned from = TAKT_FAMILY_STEPS, threads = 0, seen = 0;
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
            from = TAKT_FAMILY_STEPS;
        else if (from == TAKT_FAMILY_STEPS)
            from = step;
        threads = here;
    }
    if (seen < 2)
        return false;
    if (from == TAKT_FAMILY_STEPS) {
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
static bool gpu_wins_from(const struct tune *tune, const struct series *series,
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

static bool tell_gpu(const struct tune *tune, const struct series *series,
                     char *out)
{
    char host[64], there[64], expert[TAKT_EXPERT_NAME_MAX];

    if (tune->result.gpus == 0 ||
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

/* The largest gain of a series, if it is above *most. */
static bool tell_gain(const struct tune *tune, const struct series *series,
                      double *most, char *out)
{
    bool found = false;
    char size[64];

    for (unsigned step = series->family->low; step <= series->family->high;
         step++) {
        struct verdict verdict;
        if (!judge(tune, series, step, 0, &verdict) ||
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

/* ---- what was asked for ---------------------------------------------------
 */

static const takt_op *op_at(const struct tune *tune, size_t index)
{
    if (tune->options.ops == NULL)
        return takt_op_at(index);
    return index < tune->options.op_count ? tune->options.ops[index] : NULL;
}

static bool has_dtype_of(const struct tune *tune, const takt_op *op,
                         takt_dtype dtype)
{
    return (op->dtypes & tune->options.dtypes & 1u << dtype) != 0;
}

static bool find_gain(const struct tune *tune, char *out)
{
    double most = 1.05;
    bool found = false;
    struct series series;

    for (size_t i = 0; (series.op = op_at(tune, i)) != NULL; i++)
        for (int dtype = TAKT_F32; dtype <= TAKT_F64; dtype++) {
            series.dtype = (takt_dtype)dtype;
            if (!has_dtype_of(tune, series.op, series.dtype))
                continue;
            for (size_t f = 0;
                 (series.family = takt__family_at(series.op, f)) != NULL; f++)
                found = tell_gain(tune, &series, &most, out) || found;
        }
    return found;
}

/* The first layout of an op that was asked for, of its first element type. */
static bool find_series(const struct tune *tune, const char *name,
                        struct series *out)
{
    for (size_t i = 0; (out->op = op_at(tune, i)) != NULL; i++)
        if (strcmp(out->op->name, name) == 0) {
            out->dtype =
                has_dtype_of(tune, out->op, TAKT_F32) ? TAKT_F32 : TAKT_F64;
            out->family = takt__family_at(out->op, 0);
            return true;
        }
    return false;
}

size_t find_facts(const struct tune *tune, char facts[most_facts][longest_fact])
{
    static const char *const telling[] = {"matmul", "add", "sum", "exp"};
    size_t count = 0, told = 0;

    for (size_t t = 0;
         t < sizeof telling / sizeof telling[0] && told < most_told; t++) {
        struct series series;
        const size_t before = count;
        if (!find_series(tune, telling[t], &series))
            continue;
        count += tell_threads(tune, &series, facts[count]);
        count += tell_gpu(tune, &series, facts[count]);
        told += count > before;
    }
    count += find_gain(tune, facts[count]);
    return count;
}
