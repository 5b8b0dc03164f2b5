/* SPDX-License-Identifier: MIT */
/* cmd_recommend.c - `takt recommend`: where should numpy.add of 2M run? */
#include <stdio.h>
#include <string.h>

#include <takt/takt.h>

#include "commands.h"
#include "json.h"
#include "number.h"

/* Opens an object with the members of a row. */
static void print_row_json(struct json *json, const takt_framework_op *row)
{
    json_print(
        json,
        "{framework:%s operation:%s module:%s functions:%s complexity:%s "
        "op:%s call:%s",
        takt_framework_name(row->framework), row->name, row->module,
        row->functions, takt_complexity_name(row->complexity), row->op,
        row->call);
}

static int list(const struct invocation *invocation)
{
    const bool as_json = option_given(invocation, "json");
    struct json json = json_begin(stdout);

    if (as_json)
        json_open(&json, NULL, '[');
    for (size_t i = 0; i < takt_framework_op_count(); i++) {
        const takt_framework_op *row = takt_framework_op_at(i);
        if (as_json) {
            print_row_json(&json, row);
            json_print(&json, "}");
        } else {
            printf("%-12s  %-22s  %-6s  %-14s  %s\n",
                   takt_framework_name(row->framework), row->name,
                   takt_complexity_name(row->complexity),
                   row->op != NULL ? row->op : "-", row->functions);
        }
    }
    if (as_json)
        json_print(&json, "]\n");
    return EXIT_DONE;
}

static int unknown(const struct invocation *invocation, const char *name)
{
    char near[128];

    if (strchr(name, '.') == NULL)
        return usage_error(invocation->command,
                           "'%s' is not FRAMEWORK.OPERATION, such as numpy.add",
                           name);
    if (takt_framework_nearest(name, near, sizeof near))
        return usage_error(invocation->command,
                           "no operation '%s'; did you mean '%s'?", name, near);
    return usage_error(invocation->command,
                       "no operation '%s'; --list shows them all", name);
}

/* The request of a framework operation: the moe rule on its complexity. */
static takt_request request_for(const takt_framework_op *row, size_t elements)
{
    return (takt_request){.policy = TAKT_POLICY_MOE,
                          .name = row->name,
                          .complexity = row->complexity,
                          .shape = {.rank = 1, .dim = {elements}}};
}

static void print_json(const takt_framework_op *row, size_t elements,
                       const takt_decision *decision)
{
    struct json json = json_begin(stdout);

    print_row_json(&json, row);
    json_print(&json,
               "elements:%zu policy:%s backend:%s expert:%s reason:%s}\n",
               elements, "moe", takt_backend_key(decision->backend),
               decision->expert, takt_reason_name(decision->reason));
}

static void print_text(const takt_framework_op *row, size_t elements,
                       const takt_decision *decision)
{
    printf("%-6s  %s %s, %s complexity, %s elements; here: %s%s",
           takt_backend_name(decision->backend),
           takt_framework_name(row->framework), row->name,
           takt_complexity_name(row->complexity), count_text(elements).at,
           decision->expert,
           decision->reason == TAKT_REASON_FALLBACK ? " (fallback)" : "");
    if (row->call != NULL)
        printf("; in C: %s()", row->call);
    putchar('\n');
}

static int recommend(const struct invocation *invocation)
{
    const char *name = invocation->operands[0];
    const char *size = invocation->operands[1];
    const takt_framework_op *row;
    takt_decision decision = {.size = sizeof decision};
    takt_ctx *ctx;
    size_t elements = 0;

    if (takt_framework_find(name, &row) != TAKT_OK)
        return unknown(invocation, name);
    const char *wrong = parse_count(size, &elements);
    if (wrong != NULL)
        return usage_error(invocation->command, "size '%s' %s", size, wrong);

    takt_status status =
        takt_ctx_create(&(takt_ctx_options){.blas = "", .telemetry = ""}, &ctx);
    const takt_request request = request_for(row, elements);
    if (status == TAKT_OK)
        status = takt_select(ctx, &request, &decision);
    takt_ctx_destroy(ctx);
    if (status != TAKT_OK)
        return usage_error(invocation->command, "%s", takt_status_text(status));
    if (option_given(invocation, "json"))
        print_json(row, elements, &decision);
    else
        print_text(row, elements, &decision);
    return EXIT_DONE;
}

static int run(const struct invocation *invocation)
{
    if (option_given(invocation, "list"))
        return list(invocation);
    if (invocation->operand_count < 2)
        return usage_error(invocation->command, "needs %s",
                           invocation->command->operands);
    return recommend(invocation);
}

const struct command cmd_recommend = {
    .name = "recommend",
    .operands = "FRAMEWORK.OPERATION SIZE",
    .summary = "say where an operation of NumPy, scikit-learn or PyTorch "
               "should run",
    .description =
        "Looks the operation up in the framework tables and answers by the "
        "moe rule for its complexity. Frameworks: numpy (np), sklearn, torch "
        "(pytorch, nn, F). Operations are found by the name of their row or "
        "of a Python function, in any case.",
    .max_operands = 2,
    .options = {{"list", NULL, NULL, "print the tables instead"},
                {"json", NULL, NULL, "print JSON"}},
    .examples = {"takt recommend numpy.add 2M",
                 "takt recommend sklearn.KMeans 100K",
                 "takt recommend torch.nn.Linear 50000",
                 "takt recommend --list"},
    .run = run,
};
