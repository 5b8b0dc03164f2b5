/* SPDX-License-Identifier: MIT */
/*
 * route.h - a routing question from the command line, and its answer.
 *
 * What `select` and `explain` have in common: the options, the context, the
 * op (of the catalogue or the user's) and the shape.
 */
#pragma once

#include "context.h"
#include "json.h"
#include "number.h"

/* The options of both commands, but for --policy. */
#define ROUTE_OPTIONS                                                    \
    {"complexity", "LEVEL", "low|medium|high",                           \
     "complexity, for an op that the catalogue does not have"},          \
        {"dtype", "TYPE", "f32|f64", "element type (default f32)"},      \
        {"bytes", "N", NULL, "bytes moved, instead of what OP implies"}, \
        {"flops", "N", NULL, "operations, instead of what OP implies"},  \
        {"pcie-bandwidth", "B/S", NULL,                                  \
         "cost: bytes per second of the link (default 32e9)"},           \
        {"gpu-flops", "FLOP/S", NULL,                                    \
         "cost: operations per second of the GPU (default 20e12)"},      \
        {"dispatch-ratio", "R", NULL,                                    \
         "cost: how often the transfer must be repaid (default 5)"},     \
        {"machine", "DIR", NULL, "answer for a recorded machine"},       \
        SITUATION_OPTION, OBJECTIVE_OPTION,                              \
        {"callers", "N", NULL,                                           \
         "under throughput: threads that call at the same time"},        \
        {"resident", "WHERE", "host|gpu",                                \
         "where the operands are (default host)"},                       \
        DB_OPTION,                                                       \
    {                                                                    \
        "json", NULL, NULL, "print one JSON object"                      \
    }

enum { most_estimates = 128 };

struct route {
    takt_ctx *ctx; /* owned */
    takt_cost_model cost;
    takt_request request; /* policy is set by the command */
    takt_work work;
    bool is_recorded;    /* of another machine, perhaps */
    bool has_complexity; /* of the catalogue, or given */
    bool lacks_gpu;      /* operands were to be on one, and there is none */
    char home[TAKT_EXPERT_NAME_MAX]; /* the GPU that has them; empty: none */
    char name[64];                   /* the name asked for; empty: none */
    takt_estimate estimate[most_estimates]; /* as takt_explain() has them */
    size_t estimate_count;
};

struct route_wish {
    bool reads_name; /* a name that is not in the catalogue will do */
    bool obeys_pin;  /* TAKT_PIN decides, if it is set */
    bool opens_gpus; /* as a program does that has use for them */
    bool asks_all;   /* --objective is "all": the question names each */
};

/* Reads the question. On failure says what is wrong in one line, holds nothing
 * and returns false. */
bool route_open(const struct invocation *invocation,
                const struct route_wish *wish, struct route *out);
void route_close(struct route *route);

/* Whether the shape is a lone number for an op that takes several sizes. The
 * rules moe and heuristic count elements; what was measured needs the sizes. */
bool is_bare_count(const struct route *route);

/* Decides by one policy. On failure says what is wrong and returns false. */
bool route_select(const struct invocation *invocation,
                  const struct route *route, takt_policy policy,
                  takt_decision *out);

/* What a call takes there, with what it takes to bring the operands. */
double total_s(const takt_estimate *estimate);

/* The members of a decision, inside an open object. */
void route_print_json(struct json *json, const struct route *route,
                      takt_policy policy, const takt_decision *decision);

/* Why a policy answered as it did, as one phrase. */
struct phrase route_rule(const struct route *route, takt_policy policy,
                         const takt_decision *decision);
