/* SPDX-License-Identifier: MIT */
/*
 * optimize_tally.c - findings counted by backend, and the best of them.
 *
 * The best are those that save most time in a call, as the tuned model has it.
 * Where nothing was measured, and after those that were, it is the ones that do
 * most work in a call; where the size is not known, as if it were a typical
 * one.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "number.h"
#include "optimize.h"
#include "tune/family.h"

void format_found(const struct takt_finding *finding,
                  const struct advice *advice, char *out, size_t size)
{
    char shape[96] = "";

    if (finding->size.shape.rank > 0)
        format_shape(&finding->size.shape, shape, sizeof shape);
    for (char *at = shape; *at != '\0'; at++) /* a size that is not known */
        if (*at == '0' && (at == shape || at[-1] == 'x') &&
            (at[1] == 'x' || at[1] == '\0'))
            *at = '?';
    const char *source = takt__size_source_name(finding->size.source);
    snprintf(out, size, "%s %s%s%s%s%s%s", finding->name,
             takt_dtype_name(finding->is_dtype_known ? finding->dtype
                                                     : advice->dtype),
             shape[0] != '\0' ? " " : "", shape,
             shape[0] != '\0' && source[0] != '\0' ? " (" : "",
             shape[0] != '\0' ? source : "",
             shape[0] != '\0' && source[0] != '\0' ? ")" : "");
}

void format_gain(const struct advice *advice, char *out, size_t size)
{
    char scalar[24];
    const double gain = predicted_gain(advice);

    out[0] = '\0';
    if (gain > 0)
        snprintf(out, size,
                 "%.3g times as fast as scalar with %s (%s instead of %s)",
                 gain, advice->expert, seconds_text(advice->best_s).at,
                 format_seconds(advice->scalar_s, scalar, sizeof scalar));
}

static double work_of(const takt_op *op, const struct advice *advice)
{
    const struct takt_family *family = takt__family_at(op, 0);
    takt_shape shape = advice->shape;
    takt_work work;

    if (shape.rank == 0 && family != NULL)
        shape = takt__family_shape(family, (family->low + family->high) / 2);
    if (shape.rank > 0 &&
        takt_op_work(op, advice->dtype, &shape, &work) == TAKT_OK)
        return work.flops + work.bytes / 4;
    return shape.rank > 0 ? (double)takt_op_elements(op, &shape) : 0;
}

/* Seconds that are saved, or a negative number that still tells apart. */
static double rank_of(const struct takt_finding *finding,
                      const struct advice *advice)
{
    if (predicted_gain(advice) > 1)
        return advice->scalar_s - advice->best_s;
    return log2(work_of(finding->op, advice) + 1) - 1e6;
}

static void keep_best(struct finding_tally *tally,
                      const struct takt_finding *finding,
                      const struct advice *advice)
{
    const double rank = rank_of(finding, advice);
    struct top_finding *top = tally->top;
    size_t at = tally->top_count;
    char path[longest_path];

    while (at > 0 && top[at - 1].rank < rank)
        at--;
    if (at == most_top)
        return;
    if (tally->top_count < most_top)
        tally->top_count++;
    memmove(&top[at + 1], &top[at],
            (tally->top_count - at - 1) * sizeof top[0]);
    top[at] = (struct top_finding){.advice = *advice, .rank = rank};
    snprintf(top[at].place, sizeof top[at].place, "%.480s:%u:%u",
             clean_text(finding->path, path, sizeof path), finding->line,
             finding->column);
    format_found(finding, advice, top[at].what, sizeof top[at].what);
    clean_text(finding->snippet, top[at].snippet, sizeof top[at].snippet);
}

void count_finding(struct finding_tally *tally,
                   const struct takt_finding *finding,
                   const struct advice *advice)
{
    if (finding->is_test) {
        tally->in_tests++;
        return;
    }
    tally->conditional += advice->is_conditional;
    tally->gpu +=
        !advice->is_conditional && advice->backend == TAKT_BACKEND_GPU;
    tally->simd +=
        !advice->is_conditional && advice->backend == TAKT_BACKEND_SIMD;
    tally->scalar +=
        !advice->is_conditional && advice->backend == TAKT_BACKEND_SCALAR;
    /* What would stay where it is is not among the best. */
    if (advice->is_conditional || advice->backend != TAKT_BACKEND_SCALAR)
        keep_best(tally, finding, advice);
}

uint64_t tally_total(const struct finding_tally *tally)
{
    return tally->gpu + tally->simd + tally->scalar + tally->conditional;
}
