/* SPDX-License-Identifier: MIT */
/* cmd_explain.c - `takt explain`: where would this go, and why? */
#include <stdio.h>

#include "commands.h"
#include "explain.h"
#include "number.h"
#include "route.h"

enum { policy_count = TAKT_POLICY_HEURISTIC + 1 };

/* What every policy says; `asked` is false where one cannot answer. */
struct policy_answers {
    bool asked[policy_count];
    takt_decision decision[policy_count];
};

/* A policy that lacks something it needs is no error here: the others still
 * have an answer. */
static void ask(const struct route *route, struct policy_answers *out)
{
    for (int i = 0; i < policy_count; i++) {
        takt_request request = route->request;
        request.policy = (takt_policy)i;
        out->decision[i].size = sizeof out->decision[i];
        out->asked[i] =
            takt_select(route->ctx, &request, &out->decision[i]) == TAKT_OK;
        if (i == TAKT_POLICY_ADAPTIVE && is_bare_count(route))
            out->asked[i] = false;
        if (i == TAKT_POLICY_MOE && !route->has_complexity)
            out->asked[i] = false;
        if (i == TAKT_POLICY_HEURISTIC && route->name[0] == '\0')
            out->asked[i] = false;
    }
}

static const char *missing(const struct route *route, int policy)
{
    if (policy == TAKT_POLICY_MOE)
        return "needs an op of the catalogue or --complexity";
    if (policy == TAKT_POLICY_HEURISTIC)
        return "needs the name of an op";
    if (policy == TAKT_POLICY_ADAPTIVE)
        return "needs all sizes";
    return route->request.op != NULL && !route->request.op->is_user
               ? "needs the full shape, or --bytes and --flops"
               : "needs --bytes and --flops";
}

static void print_op(const struct route *route, const takt_decision *any)
{
    const takt_op *op = route->request.op;
    char shape[128];

    format_shape(&route->request.shape, shape, sizeof shape);
    if (op != NULL)
        printf("%s %s  %s\n", op->name, shape, op->summary);
    else
        printf("%s\n", shape);
    if (op != NULL && !op->is_user)
        printf("  sizes       %s, %s\n", op->shape,
               takt_dtype_name(route->request.dtype));
    if (route->has_complexity)
        printf("  complexity  %s\n",
               takt_complexity_name(op ? op->complexity
                                       : route->request.complexity));
    printf("  elements    %s (largest operand)\n",
           count_text(any->elements).at);
    if (any->work.bytes < 0)
        return;
    printf("  work        %s, %s", amount_text(any->work.bytes, "B").at,
           amount_text(any->work.flops, "FLOP").at);
    if (any->work.bytes > 0)
        printf(" (%.3g operations per byte)",
               any->work.flops / any->work.bytes);
    putchar('\n');
}

/* GPUs by their experts; those without a driver are only counted. */
static void print_gpus(const struct route *route)
{
    takt_gpu_device gpu = {.size = sizeof gpu};
    size_t i = 0;

    for (; takt_ctx_gpu(route->ctx, i, &gpu) == TAKT_OK; i++)
        printf("%s%s %s", i > 0 ? ", " : "", gpu.expert,
               gpu.is_software ? "software" : takt_gpu_state_name(gpu.state));
    if (i == 0)
        printf("%u GPUs found", takt_ctx_machine(route->ctx)->gpu_count);
    putchar('\n');
}

static void print_text(const struct route *route,
                       const struct policy_answers *answers)
{
    const takt_machine *machine = takt_ctx_machine(route->ctx);
    char rule[256];

    print_op(route, &answers->decision[TAKT_POLICY_ADAPTIVE]);
    printf("\n  %-10s  %-7s  %-14s  %s\n", "policy", "backend", "expert here",
           "why");
    for (int i = 0; i < policy_count; i++) {
        const takt_decision *decision = &answers->decision[i];
        if (!answers->asked[i]) {
            printf("  %-10s  %-7s  %-14s  %s\n",
                   takt_policy_name((takt_policy)i), "-", "-",
                   missing(route, i));
            continue;
        }
        route_rule(route, (takt_policy)i, decision, rule, sizeof rule);
        printf("  %-10s  %-7s  %-14s  %s%s\n", takt_policy_name((takt_policy)i),
               takt_backend_name(decision->backend), decision->expert, rule,
               decision->reason == TAKT_REASON_FALLBACK
                   ? "; no expert for it here, so the best of the processor"
                   : "");
    }
    explain_experts(route, &answers->decision[TAKT_POLICY_ADAPTIVE]);
    printf("\n  machine     %s, %u threads, best instruction set %s, ",
           machine->cpu_name, machine->threads,
           takt_isa_name(takt_machine_best_isa(machine)));
    print_gpus(route);
}

static void print_json(const struct route *route,
                       const struct policy_answers *answers)
{
    const takt_decision *decision = &answers->decision[TAKT_POLICY_ADAPTIVE];
    struct json json = json_begin(stdout);

    json_print(&json, "{policies:[");
    for (int i = 0; i < policy_count; i++) {
        json_open(&json, NULL, '{');
        if (answers->asked[i]) {
            char rule[256];
            route_rule(route, (takt_policy)i, &answers->decision[i], rule,
                       sizeof rule);
            route_print_json(&json, route, (takt_policy)i,
                             &answers->decision[i]);
            json_string(&json, "why", rule);
        } else {
            json_print(&json, "policy:%s backend:null why:%s",
                       takt_policy_name((takt_policy)i), missing(route, i));
        }
        json_close(&json, '}');
    }
    json_close(&json, ']');
    explain_experts_json(&json, route, decision);
    json_print(&json, "}\n");
}

static int run(const struct invocation *invocation)
{
    struct route route;
    struct policy_answers answers;

    const struct route_wish wish = {.reads_name = true, .opens_gpus = true};

    if (!route_open(invocation, &wish, &route))
        return EXIT_USAGE;
    ask(&route, &answers);
    if (option_given(invocation, "json"))
        print_json(&route, &answers);
    else
        print_text(&route, &answers);
    route_close(&route);
    return EXIT_DONE;
}

const struct command cmd_explain = {
    .name = "explain",
    .operands = "[OP] SHAPE",
    .summary = "say where a call would run under every policy, and why",
    .description =
        "Shows what the call is made of (elements, bytes, operations), what "
        "each policy answers and which of its rules decided, and which expert "
        "of this machine would run it.\n\n"
        "Then all experts of this machine that could run it, the best first: "
        "the time that is expected, between which times 95% of calls should "
        "be, how many samples of this size and situation that is based on, "
        "and what the first run in a process took; and why the first one won, "
        "or what keeps Takt from knowing better. A GPU on operands of the host "
        "has to move them, which is a part of its time.\n\n"
        "--resident gpu asks about operands that are on the first usable GPU "
        "already, as in a takt_buffer: whoever else runs the call has to fetch "
        "them first, which is shown and is a part of the expected time.",
    .max_operands = 2,
    .options = {ROUTE_OPTIONS},
    .examples = {"takt explain matmul 1024x1024x1024",
                 "takt explain sum 1M --situation repeat",
                 "takt explain matmul 1024x1024x1024 --resident gpu",
                 "takt explain my_kernel 50K --complexity medium",
                 "takt explain conv2d 8x64x56x56x64x3x3x1x1"},
    .run = run,
};
