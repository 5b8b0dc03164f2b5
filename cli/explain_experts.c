/* SPDX-License-Identifier: MIT */
/* explain_experts.c - all experts for one call, and why the first one won. */
#include <stdio.h>

#include "clean.h"
#include "explain.h"
#include "number.h"

enum { longest_reason = 1300 };

/* ---- why ---- */

static void explain_win(const struct route *route,
                        const takt_decision *decision, char *out, size_t size)
{
    const takt_estimate *best = &route->estimate[0];
    const takt_estimate next =
        route->estimate[route->estimate_count > 1 ? 1 : 0];
    const bool is_only = route->estimate_count == 1 || next.is_asleep;
    const double margin = is_only ? 0 : total_s(&next) / total_s(best);
    char how[96];

    if (best->samples > 0)
        snprintf(how, sizeof how, "measured %.0f time%s here", best->samples,
                 best->samples > 1 ? "s" : "");
    else if (decision->reason == TAKT_REASON_MODEL)
        snprintf(how, sizeof how, "measured at other sizes");
    else
        snprintf(how, sizeof how, "never measured: a prior");
    if (margin == 0)
        snprintf(out, size, "%s is the only one (%s)", best->expert, how);
    else if (margin < 0.97)
        snprintf(out, size,
                 "%s is in use and warm; %s would be %.3g times as fast, less "
                 "what changing costs (%s)",
                 best->expert, next.expert, 1 / margin, how);
    else if (margin < 1.03)
        snprintf(out, size,
                 "%s and %s are as fast within 3%%: the one in use stays (%s)",
                 best->expert, next.expert, how);
    else
        snprintf(out, size, "%s is %.3g times as fast as %s (%s)", best->expert,
                 margin, next.expert, how);
}

/* Why what is stored says nothing about this call; empty: it does. */
static void explain_store(const struct route *route,
                          const takt_learning *learning, bool is_recorded,
                          char *out, size_t size)
{
    out[0] = '\0';
    if (is_recorded)
        snprintf(out, size, "a recorded machine has no store");
    else if (learning->store[0] == '\0')
        snprintf(out, size, "no store%s%s",
                 learning->diag.text[0] != '\0' ? ": " : ": TAKT_DB is empty",
                 learning->diag.text);
    else if (learning->diag.text[0] != '\0')
        snprintf(out, size, "%s", learning->diag.text);
    else if (learning->own_records == 0 && learning->other_records > 0)
        snprintf(out, size,
                 "%s has records of other machines only, which are hints: "
                 "'takt tune' measures this one",
                 learning->store);
    else if (learning->own_records == 0)
        snprintf(out, size, "%s is empty: 'takt tune' measures this machine",
                 learning->store);
    else if (route->estimate[0].samples <= 0)
        snprintf(out, size,
                 "no sample of %s at this size, layout and situation among "
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
    if (has_transfer)
        printf("  %9s", moving_s > 0 ? seconds_text(moving_s).at : "-");
    printf("  %9s  %s%s%s\n",
           estimate->first_s > 0 ? seconds_text(estimate->first_s).at : "-",
           estimate->is_chosen ? "chosen" : "",
           estimate->is_suspect ? " suspect: left alone for a while" : "",
           estimate->is_asleep ? " asleep: opened when that pays" : "");
}

static bool any_transfer(const struct route *route)
{
    for (size_t i = 0; i < route->estimate_count; i++)
        if (route->estimate[i].transfer_s > 0)
            return true;
    return false;
}

void explain_experts(const struct route *route, const takt_decision *decision)
{
    const bool has_transfer = any_transfer(route);
    takt_learning learning = {.size = sizeof learning};
    char why[longest_reason];

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
    printf("  %-16s %10s  %22s %8s%s  %9s\n", "", "expected", "95% of calls",
           "samples", has_transfer ? "   fetching" : "", "first run");
    for (size_t i = 0; i < route->estimate_count; i++)
        print_estimate(&route->estimate[i], has_transfer);
    explain_win(route, decision, why, sizeof why);
    printf("\n  why         %s", why);
    if (decision->confidence >= 0)
        printf("; %.0f%% sure", 100 * decision->confidence);
    putchar('\n');
    takt_ctx_learning(route->ctx, &learning);
    explain_store(route, &learning, route->is_recorded, why, sizeof why);
    if (why[0] != '\0')
        print_line(stdout, "  store       %s", why);
}

/* ---- JSON ---- */

static void print_estimate_json(struct json *json,
                                const takt_estimate *estimate)
{
    json_print(json,
               "{expert:%s backend:%s predicted_us:%g low_us:%g high_us:%g "
               "samples:%g transfer_us:%g total_us:%g first_us:%g suspect:%d "
               "chosen:%d asleep:%d}",
               estimate->expert, takt_backend_key(estimate->backend),
               estimate->predicted_s * 1e6, estimate->low_s * 1e6,
               estimate->high_s * 1e6, estimate->samples,
               estimate->transfer_s * 1e6, total_s(estimate) * 1e6,
               positive_number(estimate->first_s * 1e6),
               estimate->is_suspect != 0, estimate->is_chosen != 0,
               estimate->is_asleep != 0);
}

void explain_experts_json(struct json *json, const struct route *route,
                          const takt_decision *decision)
{
    takt_learning learning = {.size = sizeof learning};
    char why[longest_reason] = "";

    json_print(json, "resident:%s experts:[",
               route->home[0] != '\0' ? "gpu" : "host");
    for (size_t i = 0; i < route->estimate_count; i++)
        print_estimate_json(json, &route->estimate[i]);
    if (route->estimate_count > 0)
        explain_win(route, decision, why, sizeof why);
    json_print(json, "] why:%s", known_text(why));
    takt_ctx_learning(route->ctx, &learning);
    why[0] = '\0';
    if (route->estimate_count > 0)
        explain_store(route, &learning, route->is_recorded, why, sizeof why);
    json_print(json, "store:%s not_measured:%s", known_text(learning.store),
               known_text(why));
}
