/* SPDX-License-Identifier: MIT */
/* cmd_map.c - `takt map`: for each op, which sizes go where. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <takt/takt.h>

#include "commands.h"
#include "json.h"
#include "number.h"

/* The sizes of one op: the ranges of the moe rule and who runs them here. */
struct row {
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
    takt_decision decision;

    if (takt_select(ctx, &request, &decision) == TAKT_OK)
        memcpy(out, decision.expert, sizeof decision.expert);
}

static struct row row_of(takt_ctx *ctx, const takt_op *op)
{
    struct row row = {
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

static void print_text(const struct row *row)
{
    char simd[32], gpu[32] = "never";

    format_count(row->simd_above, simd, sizeof simd);
    if (row->gpu_above != SIZE_MAX)
        format_count(row->gpu_above, gpu, sizeof gpu);
    printf("%-15s %-8s %12s %12s   %s, %s%s%s\n", row->op->name,
           takt_complexity_name(row->op->complexity), simd, gpu, row->scalar,
           row->simd, row->gpu[0] ? ", " : "", row->gpu);
}

static void print_range(struct json *json, const char *backend, size_t above,
                        const char *expert)
{
    json_open(json, NULL, '{');
    json_string(json, "backend", backend);
    json_count(json, "above", above);
    json_string(json, "expert", expert);
    json_close(json, '}');
}

static void print_json(struct json *json, const struct row *row)
{
    json_open(json, NULL, '{');
    json_string(json, "op", row->op->name);
    json_string(json, "policy", "moe");
    json_open(json, "ranges", '[');
    print_range(json, "scalar", 0, row->scalar);
    print_range(json, "simd", row->simd_above, row->simd);
    if (row->gpu_above != SIZE_MAX)
        print_range(json, "gpu", row->gpu_above, row->gpu);
    json_close(json, ']');
    json_close(json, '}');
}

static bool is_asked(const struct invocation *invocation, const takt_op *op)
{
    for (size_t i = 0; i < invocation->operand_count; i++)
        if (takt_op_find(invocation->operands[i]) == op)
            return true;
    return invocation->operand_count == 0;
}

static bool all_known(const struct invocation *invocation)
{
    for (size_t i = 0; i < invocation->operand_count; i++) {
        const char *name = invocation->operands[i];
        const char *near = takt_op_nearest(name);
        if (takt_op_find(name) != NULL)
            continue;
        if (near != NULL)
            usage_error(invocation->command, "no op '%s'; did you mean '%s'?",
                        name, near);
        else
            usage_error(invocation->command, "no op '%s'", name);
        return false;
    }
    return true;
}

static void print_rows(const struct invocation *invocation, takt_ctx *ctx)
{
    const bool as_json = option_given(invocation, "json");
    struct json json = json_begin(stdout);

    if (as_json)
        json_open(&json, NULL, '[');
    else
        printf("%-15s %-8s %12s %12s   %s\n", "op", "", "SIMD above",
               "GPU above", "experts on this machine");
    for (size_t i = 0; i < takt_op_count(); i++) {
        if (!is_asked(invocation, takt_op_at(i)))
            continue;
        const struct row row = row_of(ctx, takt_op_at(i));
        if (as_json)
            print_json(&json, &row);
        else
            print_text(&row);
    }
    if (as_json) {
        json_close(&json, ']');
        json_end(&json);
    }
}

static int run(const struct invocation *invocation)
{
    const char *recording = option_value(invocation, "machine");
    const takt_ctx_options options = {.recording = recording, .blas = ""};
    takt_ctx *ctx;

    if (!all_known(invocation))
        return EXIT_USAGE;
    const takt_status status = takt_ctx_create(&options, &ctx);
    if (status != TAKT_OK)
        return usage_error(invocation->command, "--machine '%s': %s",
                           recording != NULL ? recording : "this machine",
                           takt_status_text(status));
    print_rows(invocation, ctx);
    takt_ctx_destroy(ctx);
    return EXIT_DONE;
}

const struct command cmd_map = {
    .name = "map",
    .operands = "[OP...]",
    .summary = "show which sizes of each op go where",
    .description =
        "For each op of the catalogue (or those named): the number of "
        "elements above which the moe rule leaves Scalar for SIMD and SIMD "
        "for GPU, and the expert of this machine that runs each range.",
    .max_operands = max_operands,
    .options = {{"machine", "DIR", NULL, "answer for a recorded machine"},
                {"json", NULL, NULL, "print a JSON array"}},
    .examples = {"takt map", "takt map matmul sum", "takt map --json"},
    .run = run,
};
