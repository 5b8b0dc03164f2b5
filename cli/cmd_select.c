/* SPDX-License-Identifier: MIT */
/* cmd_select.c - `takt select`: where would this go? */
#include <stdio.h>

#include "commands.h"
#include "route.h"

static void print_text(const struct route *route, takt_policy policy,
                       const takt_decision *decision)
{
    printf("%-6s  %s: %s; here: %s%s\n", takt_backend_name(decision->backend),
           takt_policy_name(policy), route_rule(route, policy, decision).at,
           decision->expert,
           decision->reason == TAKT_REASON_FALLBACK ? " (fallback)" : "");
}

static int run(const struct invocation *invocation)
{
    const char *word = option_value(invocation, "policy");
    struct route route;
    takt_decision decision = {.size = sizeof decision};
    size_t policy = option_choice(invocation, "policy");
    const bool obeys_pin = word == NULL && is_pinned();
    if (obeys_pin && !option_given(invocation, "machine"))
        policy = TAKT_POLICY_PINNED;
    const struct route_wish wish = {
        .reads_name = policy == TAKT_POLICY_HEURISTIC,
        .obeys_pin = obeys_pin,
        .opens_gpus = policy == TAKT_POLICY_ADAPTIVE};
    if (!route_open(invocation, &wish, &route))
        return EXIT_USAGE;
    if (!route_select(invocation, &route, (takt_policy)policy, &decision)) {
        route_close(&route);
        return EXIT_USAGE;
    }
    if (option_given(invocation, "json")) {
        struct json json = json_begin(stdout);
        json_open(&json, NULL, '{');
        route_print_json(&json, &route, (takt_policy)policy, &decision);
        json_print(&json, "}\n");
    } else {
        print_text(&route, (takt_policy)policy, &decision);
    }
    route_close(&route);
    return EXIT_DONE;
}

const struct command cmd_select = {
    .name = "select",
    .operands = "[OP] SHAPE",
    .summary = "say where a call would run",
    .description =
        "Answers with the backend that the policy names: Scalar, SIMD or GPU, "
        "and the expert that would run the call on this machine. The policy "
        "adaptive names the expert that should finish first, and says how that "
        "is known: measured on this machine (how often, how sure, what comes "
        "next) or, as long as it was not, by a prior. TAKT_PIN decides when it "
        "is set and no policy is named. The rules moe, "
        "cost and heuristic are exact and consult no machine; a GPU answer on "
        "a machine without a usable GPU falls back to the best expert of the "
        "processor.\n\n"
        "--resident gpu asks about operands that are on the first usable GPU "
        "already, as in a takt_buffer: any other expert has to fetch "
        "them.\n\n"
        "SHAPE is the sizes of the op joined by x (50K for sum, 1024x512x256 "
        "for matmul). The rules moe and heuristic also take a number of "
        "elements alone. OP is an op of the catalogue, "
        "an alias, or with --complexity any name of your own.",
    .max_operands = 2,
    .options = {{"policy", "NAME", policy_choice,
                 "adaptive (default), or the rule moe, cost or heuristic"},
                ROUTE_OPTIONS},
    .examples = {"takt select sum 50K",
                 "takt select --policy moe --complexity high 10001",
                 "takt select --policy cost matmul 18751x18751x18751",
                 "takt select --policy cost --bytes 1M --flops 3.2e9",
                 "takt select --policy heuristic matrix_multiply 10001",
                 "takt select matmul 512x512x512 --objective p99",
                 "takt select matmul 256x256x256 --objective throughput "
                 "--callers 16",
                 "takt select matmul 512x512x512 --resident gpu",
                 "takt select --json matmul 512x512x512"},
    .run = run,
};
