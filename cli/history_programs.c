/* SPDX-License-Identifier: MIT */
/*
 * history_programs.c - what routing gained in programs under `takt run`.
 *
 * The store has an op for each program (dropin/program_history.h) whose experts
 * are the sides. A context knows the records of an op only when it is defined,
 * so the names are looked up in the text of the store first.
 */
#include <math.h>
#include <string.h>

#include "clean.h"
#include "history.h"

static const char prefix[] = "run.";
static const char lapack_prefix[] = "lapack."; /* dropin/lapack_history.h */

/* ---- names ---- */

/* The op of a line of the text of a store; NULL: it is that of no program. */
static char *program_in(char *line)
{
    enum { op_column = 4 };
    char *at = line;

    for (int column = 0; column < op_column && at != NULL; column++)
        at = strchr(at, '\t') != NULL ? strchr(at, '\t') + 1 : NULL;
    if (at == NULL || !is_program_name(at))
        return NULL;
    at[strcspn(at, "\t")] = '\0';
    return at;
}

struct definition {
    takt_ctx *ctx;
    bool is_whole;
};

static void define_program(void *self, char *line)
{
    struct definition *into = self;
    const takt_op_spec spec = {.size = sizeof spec, .name = program_in(line)};
    const takt_op *op;

    if (spec.name != NULL && takt_ctx_find_op(into->ctx, spec.name) == NULL)
        into->is_whole &= takt_ctx_define_op(into->ctx, &spec, &op) == TAKT_OK;
}

bool define_programs(takt_ctx *ctx, const char *store)
{
    struct definition into = {.ctx = ctx, .is_whole = true};

    visit_lines(store, define_program, &into);
    return into.is_whole;
}

static bool begins_with(const char *text, const char *first)
{
    return strncmp(text, first, strlen(first)) == 0;
}

bool is_program_name(const char *op)
{
    return begins_with(op, prefix) || begins_with(op, lapack_prefix);
}

static bool is_program(const takt_history_row *row)
{
    return row->op->is_user && begins_with(row->op->name, prefix);
}

/* ---- gains ---- */

/* The time of a program's calls routed, as a share of what they took in the
 * baseline library, and what 95% of the comparisons say. */
struct ratio {
    const char *program, *side;
    double comparisons, mean, low, high; /* low, high NAN: not known */
};

static bool read_ratio(const takt_history_row *row, struct ratio *out)
{
    if (!is_program(row) || !(row->samples > 0) ||
        strcmp(row->expert, "baseline") == 0)
        return false;
    const bool has_range = row->samples >= 2 && row->spread > 0;
    const double range = has_range ? exp(2 * row->spread) : (double)NAN;

    *out = (struct ratio){.program = row->op->name + strlen(prefix),
                          .side = row->expert,
                          .comparisons = row->samples,
                          .mean = row->mean_s,
                          .low = row->mean_s / range,
                          .high = row->mean_s * range};
    return true;
}

static void print_ratio(const struct ratio *of)
{
    char range[48] = "-";

    if (isfinite(of->low))
        snprintf(range, sizeof range, "%+.1f to %+.1f%%", 100 * (1 - of->high),
                 100 * (1 - of->low));
    print_line(stdout, "%-34.34s %-6s %11.0f %+7.1f%% %17s", of->program,
               strcmp(of->side, "gpu") == 0 ? "gpu" : "cpu", of->comparisons,
               100 * (1 - of->mean), range);
}

bool print_programs(const struct memories *memories)
{
    struct ratio ratio;
    bool is_first = true;

    for (size_t i = 0; i < memories->count; i++) {
        if (!read_ratio(&memories->memory[i].row, &ratio))
            continue;
        if (is_first)
            printf("programs under 'takt run': calls routed against calls in "
                   "the baseline library,\nin turns of the same runs\n%-34s "
                   "%-6s %11s %8s %17s\n",
                   "program", "to", "comparisons", "gain", "95% of them");
        is_first = false;
        print_ratio(&ratio);
    }
    if (!is_first)
        puts("gain: of the time of their BLAS calls; below 0 routing was "
             "slower, and stays off");
    if (memories->lacks_programs)
        puts("there are more programs than can be shown");
    return !is_first;
}

void print_programs_json(struct json *json, const struct memories *memories)
{
    struct ratio ratio;

    json_open(json, "programs", '[');
    for (size_t i = 0; i < memories->count; i++)
        if (read_ratio(&memories->memory[i].row, &ratio))
            json_print(json,
                       "{program:%s side:%s baseline:%s comparisons:%g "
                       "ratio:%g gain_share:%g gain_low_share:%g "
                       "gain_high_share:%g}",
                       ratio.program, ratio.side, "baseline library",
                       ratio.comparisons, ratio.mean, 1 - ratio.mean,
                       1 - ratio.high, 1 - ratio.low);
    json_print(json, "] lacks_programs:%d", memories->lacks_programs);
}
