/* SPDX-License-Identifier: MIT */
/* front.h - the experts of a call by mean time, p99 and energy, and which of
 * them each objective chooses. */
#pragma once

#include "json.h"
#include "route.h"

enum { front_goals = 6 };

/* What each goal chooses, in the order of front_goal_names. */
struct front {
    const takt_estimate *estimate; /* borrowed */
    size_t count;
    bool is_known[front_goals]; /* energy may not be */
    char expert[front_goals][TAKT_EXPERT_NAME_MAX];
};

extern const char *const front_goal_names[front_goals];

/* Finds out what each goal chooses for a request, whose estimates are borrowed.
 */
void front_ask(takt_ctx *ctx, const takt_request *request,
               const takt_estimate *estimate, size_t count, struct front *out);

void front_print(const struct front *front);

/* "front", an array, and "choices", an object, inside an open object. */
void front_print_json(struct json *json, const struct front *front);
