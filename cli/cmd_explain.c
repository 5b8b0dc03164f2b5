/* SPDX-License-Identifier: MIT */
/* cmd_explain.c - `takt explain`: where would this go, and why? */
#include <stdio.h>
#include <string.h>

#include "clean.h"
#include "commands.h"
#include "front.h"
#include "route.h"

/* ---- why ---- */

/* What the estimate of the best expert is based on. */
static struct phrase explain_source(const takt_estimate *best,
                                    const takt_decision *decision)
{
    if (best->samples > 0)
        return phrase("measured %.0f time%s here", best->samples,
                      best->samples > 1 ? "s" : "");
    if (best->machines > 0)
        return phrase("by %.0f machines like this one", best->machines);
    return phrase("%s", decision->reason == TAKT_REASON_MODEL
                            ? "measured at other sizes"
                            : "never measured: a prior");
}

/* What the decision was made by. */
static const char *objective_of(const struct route *route)
{
    return takt_ctx_objective(route->ctx, 0);
}

/* Why the chosen expert is not the fastest. */
static struct phrase explain_objective(const struct route *route)
{
    const takt_estimate *best = &route->estimate[0];

    return phrase("%s is the best by '%s'; its p99 is %s", best->expert,
                  objective_of(route), seconds_text(best->p99_s).at);
}

static struct phrase explain_win(const struct route *route,
                                 const takt_decision *decision)
{
    const takt_estimate *best = &route->estimate[0];
    const takt_estimate next =
        route->estimate[route->estimate_count > 1 ? 1 : 0];
    const bool is_only = route->estimate_count == 1 || next.is_asleep;
    const double margin = is_only ? 0 : total_s(&next) / total_s(best);
    const struct phrase how = explain_source(best, decision);

    if (margin > 0 && strcmp(objective_of(route), "time") != 0)
        return explain_objective(route);
    if (margin == 0)
        return phrase("%s is the only one (%s)", best->expert, how.at);
    if (margin < 0.97)
        return phrase("%s is in use and warm; %s would be %.3g times as fast, "
                      "less what changing costs (%s)",
                      best->expert, next.expert, 1 / margin, how.at);
    if (margin < 1.03)
        return phrase(
            "%s and %s are as fast within 3%%: the one in use stays (%s)",
            best->expert, next.expert, how.at);
    return phrase("%s is %.3g times as fast as %s (%s)", best->expert, margin,
                  next.expert, how.at);
}

/* Why what is stored says nothing about this call; empty: it does. */
static struct phrase explain_store(const struct route *route,
                                   const takt_learning *learning)
{
    if (route->is_recorded)
        return phrase("a recorded machine has no store");
    if (learning->store[0] == '\0')
        return phrase("no store%s%s",
                      learning->diag.text[0] != '\0' ? ": "
                                                     : ": TAKT_DB is empty",
                      learning->diag.text);
    if (learning->diag.text[0] != '\0')
        return phrase("%s", learning->diag.text);
    if (route->estimate[0].samples == 0 && route->estimate[0].machines > 0)
        return phrase("nothing was measured here; %s has what the fleet "
                      "measured ('takt fleet')",
                      learning->store);
    if (learning->own_records == 0 && learning->other_records > 0)
        return phrase("%s has records of other machines only, which are "
                      "hints: 'takt tune' measures this one",
                      learning->store);
    if (learning->own_records == 0)
        return phrase("%s is empty: 'takt tune' measures this machine",
                      learning->store);
    if (route->estimate[0].samples > 0)
        return phrase("%s", "");
    return phrase("no sample of %s at this size, layout and situation among "
                  "%.0f records: judged by what is nearest",
                  route->estimate[0].expert, learning->own_records);
}

/* ---- text ---- */

static void print_estimate(const takt_estimate *estimate, bool has_transfer)
{
    const double moving_s = estimate->transfer_s;

    printf("  %-16s %10s  %9s .. %-9s %8.0f", estimate->expert,
           seconds_text(total_s(estimate)).at,
           seconds_text(estimate->low_s + moving_s).at,
           seconds_text(estimate->high_s + moving_s).at, estimate->samples);
    printf("  %9s", seconds_text(estimate->p99_s + moving_s).at);
    if (has_transfer)
        printf("  %9s", moving_s > 0 ? seconds_text(moving_s).at : "-");
    printf("  %9s  %s%s%s\n",
           estimate->first_s > 0 ? seconds_text(estimate->first_s).at : "-",
           estimate->is_chosen ? "chosen" : "",
           estimate->is_suspect ? " suspended after a refusal" : "",
           estimate->is_asleep ? " not open: opened when that pays" : "");
}

static bool any_transfer(const struct route *route)
{
    for (size_t i = 0; i < route->estimate_count; i++)
        if (route->estimate[i].transfer_s > 0)
            return true;
    return false;
}

static void explain_experts(const struct route *route,
                            const takt_decision *decision)
{
    const bool has_transfer = any_transfer(route);
    takt_learning learning = {.size = sizeof learning};

    if (route->estimate_count == 0)
        return;
    if (route->home[0] != '\0')
        printf("\n  experts, operands on %s: 'fetching' them is a part of what "
               "others take\n",
               route->home);
    else
        printf("\n  experts, operands %s%s\n",
               situation_name(route->request.situation),
               route->lacks_gpu ? " on the host: there is no usable GPU" : "");
    printf("  %-16s %10s  %22s %8s  %9s%s  %9s\n", "", "expected",
           "95% of calls", "samples", "p99", has_transfer ? "   fetching" : "",
           "first run");
    for (size_t i = 0; i < route->estimate_count; i++)
        print_estimate(&route->estimate[i], has_transfer);
    if (strcmp(objective_of(route), "time") != 0)
        printf("\n  objective   %s", objective_of(route));
    printf("\n  why         %s", explain_win(route, decision).at);
    if (decision->confidence >= 0)
        printf("; %.0f%% sure", 100 * decision->confidence);
    putchar('\n');
    takt_ctx_learning(route->ctx, &learning);
    const struct phrase lack = explain_store(route, &learning);
    if (lack.at[0] != '\0')
        print_line(stdout, "  store       %s", lack.at);
}

/* ---- JSON ---- */

static void print_estimate_json(struct json *json,
                                const takt_estimate *estimate)
{
    json_print(json,
               "{expert:%s backend:%s predicted_us:%g low_us:%g high_us:%g "
               "samples:%g machines:%g transfer_us:%g total_us:%g first_us:%g "
               "p95_us:%g p99_us:%g p999_us:%g tail_samples:%g "
               "suspect:%d chosen:%d asleep:%d}",
               estimate->expert, takt_backend_key(estimate->backend),
               estimate->predicted_s * 1e6, estimate->low_s * 1e6,
               estimate->high_s * 1e6, estimate->samples, estimate->machines,
               estimate->transfer_s * 1e6, total_s(estimate) * 1e6,
               positive_number(estimate->first_s * 1e6), estimate->p95_s * 1e6,
               estimate->p99_s * 1e6, estimate->p999_s * 1e6,
               estimate->tail_samples, estimate->is_suspect != 0,
               estimate->is_chosen != 0, estimate->is_asleep != 0);
}

static void explain_experts_json(struct json *json, const struct route *route,
                                 const takt_decision *decision)
{
    takt_learning learning = {.size = sizeof learning};
    struct phrase why = {""}, lack = {""};

    json_print(json, "resident:%s experts:[",
               route->home[0] != '\0' ? "gpu" : "host");
    for (size_t i = 0; i < route->estimate_count; i++)
        print_estimate_json(json, &route->estimate[i]);
    takt_ctx_learning(route->ctx, &learning);
    if (route->estimate_count > 0) {
        why = explain_win(route, decision);
        lack = explain_store(route, &learning);
    }
    json_print(json, "] why:%s store:%s not_measured:%s", known_text(why.at),
               known_text(learning.store), known_text(lack.at));
}

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
    const struct shape_text shape = shape_text(&route->request.shape);

    if (op != NULL)
        printf("%s %s  %s\n", op->name, shape.at, op->summary);
    else
        printf("%s\n", shape.at);
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

/* What every objective chooses, where all of them are asked about. */
static bool ask_front(const struct route *route, struct front *out)
{
    if (route->estimate_count > 0)
        front_ask(route->ctx, &route->request, route->estimate,
                  route->estimate_count, out);
    return route->estimate_count > 0;
}

static void print_text(const struct route *route,
                       const struct policy_answers *answers, bool asks_all)
{
    struct front front;
    const takt_machine *machine = takt_ctx_machine(route->ctx);

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
        printf("  %-10s  %-7s  %-14s  %s%s\n", takt_policy_name((takt_policy)i),
               takt_backend_name(decision->backend), decision->expert,
               route_rule(route, (takt_policy)i, decision).at,
               decision->reason == TAKT_REASON_FALLBACK
                   ? "; no expert for it here, so the best of the processor"
                   : "");
    }
    explain_experts(route, &answers->decision[TAKT_POLICY_ADAPTIVE]);
    if (asks_all && ask_front(route, &front))
        front_print(&front);
    printf("\n  machine     %s, %u threads, best instruction set %s, ",
           machine->cpu_name, machine->threads,
           takt_isa_name(takt_machine_best_isa(machine)));
    print_gpus(route);
}

static void print_json(const struct route *route,
                       const struct policy_answers *answers, bool asks_all)
{
    struct front front;
    const takt_decision *decision = &answers->decision[TAKT_POLICY_ADAPTIVE];
    struct json json = json_begin(stdout);

    json_print(&json, "{policies:[");
    for (int i = 0; i < policy_count; i++) {
        json_open(&json, NULL, '{');
        if (answers->asked[i]) {
            route_print_json(&json, route, (takt_policy)i,
                             &answers->decision[i]);
            json_string(
                &json, "why",
                route_rule(route, (takt_policy)i, &answers->decision[i]).at);
        } else {
            json_print(&json, "policy:%s backend:null why:%s",
                       takt_policy_name((takt_policy)i), missing(route, i));
        }
        json_close(&json, '}');
    }
    json_close(&json, ']');
    explain_experts_json(&json, route, decision);
    json_string(&json, "objective", objective_of(route));
    if (asks_all && ask_front(route, &front))
        front_print_json(&json, &front);
    json_print(&json, "}\n");
}

static int run(const struct invocation *invocation)
{
    struct route route;
    struct policy_answers answers;

    const char *objective = option_value(invocation, "objective");
    const bool asks_all = objective != NULL && strcmp(objective, "all") == 0;
    const struct route_wish wish = {
        .reads_name = true, .opens_gpus = true, .asks_all = asks_all};

    if (!route_open(invocation, &wish, &route))
        return EXIT_USAGE;
    ask(&route, &answers);
    if (option_given(invocation, "json"))
        print_json(&route, &answers, asks_all);
    else
        print_text(&route, &answers, asks_all);
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
        "already, as in a takt_buffer: any other expert has to fetch "
        "them first, which is shown and is a part of the expected time.\n\n"
        "--objective says what the best is the best at. With --objective all "
        "the experts are shown by mean time, p99 and energy, which of them "
        "each objective would choose, and which of them another one "
        "dominates: is at least as good in all three.",
    .max_operands = 2,
    .options = {ROUTE_OPTIONS},
    .examples = {"takt explain matmul 1024x1024x1024",
                 "takt explain sum 1M --situation repeat",
                 "takt explain matmul 1024x1024x1024 --resident gpu",
                 "takt explain matmul 512x512x512 --objective all",
                 "takt explain sum 1M --objective p99",
                 "takt explain my_kernel 50K --complexity medium",
                 "takt explain conv2d 8x64x56x56x64x3x3x1x1"},
    .run = run,
};
