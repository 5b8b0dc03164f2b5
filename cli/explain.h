/* SPDX-License-Identifier: MIT */
/* explain.h - what is expected of every expert, and why one of them won. */
#ifndef TAKT_CLI_EXPLAIN_H
#define TAKT_CLI_EXPLAIN_H

#include "json.h"
#include "route.h"

/* `decision` is the answer of the policy adaptive. */
void explain_experts(const struct route *route, const takt_decision *decision);
void explain_experts_json(struct json *json, const struct route *route,
                          const takt_decision *decision);

#endif
