/* SPDX-License-Identifier: MIT */
/* cmd_map.c - `takt map`: for each op, which sizes go where. */
#include <stdio.h>
#include <string.h>

#include "clean.h"
#include "commands.h"
#include "context.h"
#include "map.h"
#include "number.h"
#include "report.h"

/* How the answer is written, and what it is about. */
struct mapping {
    const struct invocation *invocation;
    takt_ctx *ctx;
    takt_dtype dtype;
    unsigned situation;
    bool is_json, is_csv, has_all_layouts;
    bool has_gpu; /* so it matters where the operands are */
    struct json json;
    struct legend legend;
};

static bool is_asked(const struct invocation *invocation, const takt_op *op)
{
    for (size_t i = 0; i < invocation->operand_count; i++)
        if (takt_op_find(invocation->operands[i]) == op)
            return true;
    return invocation->operand_count == 0;
}

static bool all_known(const struct invocation *invocation, takt_dtype dtype)
{
    for (size_t i = 0; i < invocation->operand_count; i++) {
        const takt_op *op =
            find_named_op(invocation->command, invocation->operands[i]);
        if (op == NULL || !has_dtype(invocation->command, op, dtype))
            return false;
    }
    return true;
}

/* ---- the thresholds of the moe rule ---- */

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

static void print_moe_text(const struct moe_row *row)
{
    const struct number_text gpu = row->gpu_above != SIZE_MAX
                                       ? count_text(row->gpu_above)
                                       : (struct number_text){"never"};

    printf("%-15s %-8s %12s %12s   %s, %s%s%s\n", row->op->name,
           takt_complexity_name(row->op->complexity),
           count_text(row->simd_above).at, gpu.at, row->scalar, row->simd,
           row->gpu[0] ? ", " : "", row->gpu);
}

static void print_range(struct json *json, const char *backend, size_t above,
                        const char *expert)
{
    json_print(json, "{backend:%s above:%zu expert:%s}", backend, above,
               expert);
}

static void print_moe_json(struct json *json, const struct moe_row *row)
{
    json_print(json, "{op:%s policy:%s ranges:[", row->op->name, "moe");
    print_range(json, "scalar", 0, row->scalar);
    print_range(json, "simd", row->simd_above, row->simd);
    if (row->gpu_above != SIZE_MAX)
        print_range(json, "gpu", row->gpu_above, row->gpu);
    json_print(json, "]}");
}

static void print_thresholds(const struct mapping *mapping)
{
    struct json json = json_begin(stdout);

    if (mapping->is_json)
        json_open(&json, NULL, '[');
    else
        printf("%-15s %-8s %12s %12s   %s\n", "op", "", "SIMD above",
               "GPU above", "experts on this machine");
    for (size_t i = 0; i < takt_op_count(); i++) {
        if (!is_asked(mapping->invocation, takt_op_at(i)))
            continue;
        const struct moe_row row = row_of(mapping->ctx, takt_op_at(i));
        if (mapping->is_json)
            print_moe_json(&json, &row);
        else
            print_moe_text(&row);
    }
    if (mapping->is_json)
        json_print(&json, "]\n");
}

/* ---- the fastest expert for each size ---- */

static void print_course(struct mapping *mapping, const takt_op *op,
                         const struct takt_family *family, unsigned situation)
{
    struct map_row row;

    if (!find_map_row(mapping->ctx, op, mapping->dtype, family, situation,
                      &row))
        return;
    row.is_told_apart = mapping->has_gpu;
    if (mapping->is_json)
        print_map_row_json(&mapping->json, &row);
    else if (mapping->is_csv)
        print_map_row_csv(&row);
    else
        print_map_row_text(&row, &mapping->legend);
}

static void print_op(struct mapping *mapping, const takt_op *op)
{
    const struct takt_family *family;

    if ((op->dtypes >> mapping->dtype & 1) == 0)
        return;
    for (size_t i = 0; (family = takt__family_at(op, i)) != NULL; i++) {
        print_course(mapping, op, family, mapping->situation);
        if (mapping->has_gpu)
            print_course(mapping, op, family,
                         mapping->situation | TAKT_SITUATION_ON_GPU);
        if (!mapping->has_all_layouts)
            return;
    }
}

/* All ops, for people: a chart has room for them. */
static bool is_overview(const struct mapping *mapping)
{
    return mapping->invocation->operand_count == 0 && !mapping->is_json &&
           !mapping->is_csv && !mapping->has_all_layouts;
}

static void print_head(struct mapping *mapping)
{
    takt_learning learning = {.size = sizeof learning};

    if (mapping->is_csv)
        puts("op,dtype,layout,situation,from,to,expert,"
             "predicted_speedup_over_next,predicted_speedup_over_moe,"
             "measured,sizes");
    if (mapping->is_csv || mapping->is_json)
        return;
    takt_ctx_learning(mapping->ctx, &learning);
    printf("%s, situation %s; ", takt_dtype_name(mapping->dtype),
           situation_name(mapping->situation));
    if (learning.own_records > 0)
        print_line(stdout, "by %.0f records of %s", learning.own_records,
                   learning.store);
    else
        puts("nothing measured here yet: 'takt tune' does that");
    if (!is_overview(mapping))
        printf("\n  %-20s %-16s %7s %7s\n", "n", "expert", "next", "moe");
}

static void print_map(struct mapping *mapping)
{
    print_head(mapping);
    if (is_overview(mapping)) {
        print_chart(mapping->ctx, mapping->dtype, mapping->situation);
        return;
    }
    if (mapping->is_json) {
        mapping->json = json_begin(stdout);
        json_open(&mapping->json, NULL, '[');
    }
    for (size_t i = 0; i < takt_op_count(); i++)
        if (is_asked(mapping->invocation, takt_op_at(i)))
            print_op(mapping, takt_op_at(i));
    if (mapping->is_json) {
        json_print(&mapping->json, "]\n");
    } else if (!mapping->is_csv) {
        print_legend(&mapping->legend);
    }
}

static bool is_asked_op(const void *self, const takt_op *op)
{
    return is_asked(self, op);
}

static void print_picture(const struct mapping *mapping)
{
    draw_map(stdout, NULL,
             &(struct map_question){.ctx = mapping->ctx,
                                    .dtype = mapping->dtype,
                                    .situation = mapping->situation,
                                    .is_asked = is_asked_op,
                                    .self = mapping->invocation});
}

static bool print_html_page(const struct mapping *mapping)
{
    return print_page(
        stdout, &(struct report){
                    .ctx = mapping->ctx,
                    .store = option_value(mapping->invocation, "db"),
                    .is_live = !option_given(mapping->invocation, "machine")});
}

static struct mapping read_options(const struct invocation *invocation)
{
    return (struct mapping){
        .invocation = invocation,
        .dtype = (takt_dtype)option_choice(invocation, "dtype"),
        .situation = read_situation(invocation),
        .is_json = option_given(invocation, "json"),
        .is_csv = option_given(invocation, "csv"),
        .has_all_layouts = option_given(invocation, "layouts"),
    };
}

static int run(const struct invocation *invocation)
{
    struct mapping mapping = read_options(invocation);
    const size_t policy = option_choice(invocation, "policy");
    takt_gpu_device gpu = {.size = sizeof gpu};
    int code = EXIT_DONE;
    const struct context_wish wish = {
        .recording = option_value(invocation, "machine"),
        .store = option_value(invocation, "db"),
        .objective = option_value(invocation, "objective"),
        .opens_gpus = policy == TAKT_POLICY_ADAPTIVE};

    if (!all_known(invocation, mapping.dtype))
        return EXIT_USAGE;
    if (policy == TAKT_POLICY_MOE &&
        (mapping.is_csv || option_given(invocation, "svg") ||
         option_given(invocation, "html")))
        return usage_error(invocation->command,
                           "the thresholds of moe are text, or --json");
    if (!open_context(invocation->command, &wish, &mapping.ctx))
        return EXIT_USAGE;
    mapping.has_gpu = find_usable_gpu(mapping.ctx, &gpu);
    if (policy == TAKT_POLICY_MOE)
        print_thresholds(&mapping);
    else if (option_given(invocation, "svg"))
        print_picture(&mapping);
    else if (option_given(invocation, "html"))
        code = print_html_page(&mapping)
                   ? EXIT_DONE
                   : complain(invocation->command, "%s",
                              takt_status_text(TAKT_ENOMEM));
    else
        print_map(&mapping);
    takt_ctx_destroy(mapping.ctx);
    return code;
}

const struct command cmd_map = {
    .name = "map",
    .operands = "[OP...]",
    .summary = "show which sizes of each op go where",
    .description =
        "Without an op: a chart of all of them, with a mark for every octave "
        "of n that says what runs it. For each op that is named: the ranges of "
        "sizes and the expert of this machine that is expected to finish first "
        "in each, how many times as fast it is predicted to be as the next "
        "best "
        "expert and as what the moe thresholds would run, and whether it was "
        "measured. "
        "The chart beside an op has a letter for every half octave. Where a "
        "GPU can be used, each op is shown twice: with operands on the host, "
        "and with operands that the GPU has already, as in a takt_buffer.\n\n"
        "--situation says what came before a call: 'fresh', other operands "
        "than in the previous call; 'repeat', the same ones; 'asleep', after a "
        "pause, so that threads have to be woken. --policy moe shows the "
        "numbers of elements above which the moe rule leaves Scalar for SIMD "
        "and SIMD for GPU.",
    .max_operands = max_operands,
    .options = {{"dtype", "TYPE", "f32|f64", "element type (default f32)"},
                SITUATION_OPTION,
                {"layouts", NULL, NULL,
                 "thin, transposed and other layouts too"},
                {"policy", "NAME", "adaptive|moe",
                 "adaptive (default), or the thresholds of moe"},
                OBJECTIVE_OPTION,
                {"machine", "DIR", NULL, "answer for a recorded machine"},
                DB_OPTION,
                {"json", NULL, NULL, "print a JSON array"},
                {"csv", NULL, NULL, "print a table for spreadsheets"},
                {"svg", NULL, NULL, "print a picture"},
                {"html", NULL, NULL,
                 "print the page of 'takt report', with all ops"}},
    .examples = {"takt map", "takt map matmul sum --situation repeat",
                 "takt map matmul --objective p99",
                 "takt map matmul --layouts --csv", "takt map --policy moe",
                 "takt map --json", "takt map matmul sum --svg",
                 "takt map --html > my-map.html"},
    .run = run,
};
