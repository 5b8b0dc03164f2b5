/* SPDX-License-Identifier: MIT */
/* front.c - the Pareto front of the experts of a call. */
#include "front.h"

#include <stdio.h>
#include <string.h>

#include "clean.h"

const char *const front_goal_names[front_goals] = {
    "time", "p95", "p99", "throughput", "energy", "edp"};

void front_ask(takt_ctx *ctx, const takt_request *request,
               const takt_estimate *estimate, size_t count, struct front *out)
{
    *out = (struct front){.estimate = estimate, .count = count};
    for (int i = 0; i < front_goals; i++) {
        takt_request asked = *request;
        takt_decision decision = {.size = sizeof decision};
        asked.size = sizeof asked;
        asked.policy = TAKT_POLICY_ADAPTIVE;
        asked.objective = front_goal_names[i];
        out->is_known[i] = takt_select(ctx, &asked, &decision) == TAKT_OK;
        if (out->is_known[i])
            memcpy(out->expert[i], decision.expert, sizeof decision.expert);
    }
}

static bool is_choice(const struct front *front, int goal, const char *expert)
{
    return front->is_known[goal] && strcmp(front->expert[goal], expert) == 0;
}

/* "time, p99"; empty: no goal chooses it. */
static struct phrase goals_of(const struct front *front, const char *expert)
{
    struct phrase out = {""};

    for (int i = 0; i < front_goals; i++)
        if (is_choice(front, i, expert))
            out = phrase("%s%s%s", out.at, out.at[0] != '\0' ? ", " : "",
                         front_goal_names[i]);
    return out;
}

static struct phrase joules_text(double joules)
{
    return joules < 0       ? phrase("-")
           : joules >= 1    ? phrase("%.3g J", joules)
           : joules >= 1e-3 ? phrase("%.3g mJ", joules * 1e3)
                            : phrase("%.3g uJ", joules * 1e6);
}

/* Grey on a terminal. */
static void print_expert(const struct front *front, const takt_estimate *of)
{
    const bool is_grey = of->is_dominated && wants_colour(stdout);
    const struct phrase goals = goals_of(front, of->expert);

    printf("%s  %-16s %10s %10s  %9s .. %-9s %8.0f %10s  %s%s%s%s\n",
           is_grey ? "\033[2m" : "", of->expert, seconds_text(total_s(of)).at,
           seconds_text(of->p99_s + of->transfer_s).at,
           seconds_text(of->p99_low_s + of->transfer_s).at,
           seconds_text(of->p99_high_s + of->transfer_s).at, of->tail_samples,
           joules_text(of->joules).at, goals.at[0] != '\0' ? "best for " : "",
           goals.at,
           of->is_dominated ? goals.at[0] != '\0' ? "; dominated" : "dominated"
                            : "",
           is_grey ? "\033[0m" : "");
}

void front_print(const struct front *front)
{
    printf(
        "\n  objectives: dominated is what another expert beats or equals in "
        "mean time, p99 and energy\n");
    printf("  %-16s %10s %10s  %22s %8s %10s\n", "", "time", "p99",
           "p99, 95% between", "samples", "energy");
    for (size_t i = 0; i < front->count; i++)
        print_expert(front, &front->estimate[i]);
    if (!front->is_known[4])
        printf("  energy cannot be measured here: the power of no expert is "
               "known\n");
}

static void print_point(struct json *json, const struct front *front,
                        const takt_estimate *of)
{
    json_print(
        json,
        "{expert:%s time_us:%g p95_us:%g p99_us:%g p999_us:%g "
        "p99_low_us:%g p99_high_us:%g tail_samples:%g energy_mj:%g "
        "energy_low_mj:%g energy_high_mj:%g dominated:%d best_for:[",
        of->expert, total_s(of) * 1e6, (of->p95_s + of->transfer_s) * 1e6,
        (of->p99_s + of->transfer_s) * 1e6, (of->p999_s + of->transfer_s) * 1e6,
        (of->p99_low_s + of->transfer_s) * 1e6,
        (of->p99_high_s + of->transfer_s) * 1e6, of->tail_samples,
        known_number(of->joules * 1e3), known_number(of->joules_low * 1e3),
        known_number(of->joules_high * 1e3), of->is_dominated != 0);
    for (int i = 0; i < front_goals; i++)
        if (is_choice(front, i, of->expert))
            json_string(json, NULL, front_goal_names[i]);
    json_print(json, "]}");
}

void front_print_json(struct json *json, const struct front *front)
{
    json_print(json, "front:[");
    for (size_t i = 0; i < front->count; i++)
        print_point(json, front, &front->estimate[i]);
    json_print(json, "] choices:{");
    for (int i = 0; i < front_goals; i++)
        json_string(json, front_goal_names[i],
                    front->is_known[i] ? front->expert[i] : NULL);
    json_print(json, "}");
}
