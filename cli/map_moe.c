/* SPDX-License-Identifier: MIT */
/* map_moe.c - the thresholds of the moe rule, and the expert of each range. */
#include <stdint.h>
#include <string.h>

#include "map.h"
#include "number.h"

/* The sizes of one op: the ranges of the moe rule and their experts. */
struct moe_row {
    const takt_op *op;
    size_t simd_above, gpu_above; /* SIZE_MAX: never */
    char scalar[TAKT_EXPERT_NAME_MAX];
    char simd[TAKT_EXPERT_NAME_MAX];
    char gpu[TAKT_EXPERT_NAME_MAX];
};

/* The expert for one element more than the threshold. */
static void expert_above(takt_ctx *ctx, const takt_op *op, size_t above,
                         char *out)
{
    const takt_request request = {
        .policy = TAKT_POLICY_MOE,
        .complexity = op->complexity,
        .shape = {.rank = 1, .dim = {above == SIZE_MAX ? above : above + 1}},
    };
    takt_decision decision = {.size = sizeof decision};

    if (takt_select(ctx, &request, &decision) == TAKT_OK)
        memcpy(out, decision.expert, sizeof decision.expert);
}

static struct moe_row row_of(takt_ctx *ctx, const takt_op *op)
{
    struct moe_row row = {
        .op = op,
        .simd_above = takt_moe_threshold(op->complexity, TAKT_BACKEND_SIMD),
        .gpu_above = takt_moe_threshold(op->complexity, TAKT_BACKEND_GPU),
    };

    expert_above(ctx, op, 0, row.scalar);
    expert_above(ctx, op, row.simd_above, row.simd);
    if (row.gpu_above != SIZE_MAX)
        expert_above(ctx, op, row.gpu_above, row.gpu);
    return row;
}

static void print_text(const struct moe_row *row)
{
    char gpu[32] = "never";

    if (row->gpu_above != SIZE_MAX)
        format_count(row->gpu_above, gpu, sizeof gpu);
    printf("%-15s %-8s %12s %12s   %s, %s%s%s\n", row->op->name,
           takt_complexity_name(row->op->complexity),
           count_text(row->simd_above).at, gpu, row->scalar, row->simd,
           row->gpu[0] ? ", " : "", row->gpu);
}

static void print_range(struct json *json, const char *backend, size_t above,
                        const char *expert)
{
    json_print(json, "{backend:%s above:%zu expert:%s}", backend, above,
               expert);
}

static void print_json(struct json *json, const struct moe_row *row)
{
    json_print(json, "{op:%s policy:%s ranges:[", row->op->name, "moe");
    print_range(json, "scalar", 0, row->scalar);
    print_range(json, "simd", row->simd_above, row->simd);
    if (row->gpu_above != SIZE_MAX)
        print_range(json, "gpu", row->gpu_above, row->gpu);
    json_print(json, "]}");
}

void print_thresholds(takt_ctx *ctx,
                      bool (*is_asked)(const void *, const takt_op *),
                      const void *self, bool as_json)
{
    struct json json = json_begin(stdout);

    if (as_json)
        json_open(&json, NULL, '[');
    else
        printf("%-15s %-8s %12s %12s   %s\n", "op", "", "SIMD above",
               "GPU above", "experts on this machine");
    for (size_t i = 0; i < takt_op_count(); i++) {
        if (!is_asked(self, takt_op_at(i)))
            continue;
        const struct moe_row row = row_of(ctx, takt_op_at(i));
        if (as_json)
            print_json(&json, &row);
        else
            print_text(&row);
    }
    if (as_json)
        json_print(&json, "]\n");
}
