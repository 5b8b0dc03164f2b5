/* SPDX-License-Identifier: MIT */
/*
 * decide.h - the second step of a call: who should run it, and why.
 *
 * A static rule names a backend from the op and its sizes alone; the prior
 * then names the expert of that backend. `adaptive` asks the prior about all
 * of them. Nothing here runs, waits or allocates.
 */
#ifndef TAKT_DECIDE_DECIDE_H
#define TAKT_DECIDE_DECIDE_H

#include <stdatomic.h>

#include "expert/expert.h"
#include "takt/policy.h"

enum { TAKT_MAX_TEAMS = 16 };

/* So many threads of the best instruction set, and what to expect of them. */
struct takt_team {
    unsigned expert;
    unsigned threads;
    double s_per_flop;
    double s_per_byte[3]; /* operands in L2, in L3, in memory */
    double l2_bytes;      /* of all its cores */
};

/* What decides: constant once made, but for the time of the last call. */
struct takt_decider {
    const struct takt_fleet *fleet;
    takt_policy policy;
    takt_cost_model cost;
    unsigned fixed; /* the expert of policy `fixed` */
    takt_isa best_isa;
    double l3_bytes;
    unsigned team_count; /* at least 1: the first has one thread */
    struct takt_team team[TAKT_MAX_TEAMS];
    _Atomic uint64_t last_ns; /* when threads were last found worth waking */
};

/* Prepares `decider` for the fleet of a machine; policy, cost and fixed are
 * the caller's to set. */
void takt__decider_init(struct takt_decider *decider,
                        const struct takt_fleet *fleet,
                        const takt_machine *machine);

/* Whether one thread is first for that work even with all workers awake. */
bool takt__decider_is_alone(const struct takt_decider *decider,
                            const takt_work *work);

/* A decision before it is made into text. */
struct takt_choice {
    unsigned expert;
    takt_backend backend; /* what the rule said; the expert's, if no rule */
    takt_reason reason;
    double predicted_s; /* negative: not known */
};

/* A call is decided by its sizes; operands may be missing (takt_select()). */
struct takt_sizes {
    const takt_op *op; /* NULL: an op nobody described */
    const char *name;  /* what the heuristic rule reads */
    takt_complexity complexity;
    size_t elements;
    takt_work work;     /* bytes negative: not known */
    bool work_is_given; /* by the caller, not by the op */
};

/* TAKT_ESHAPE, TAKT_EINVAL: the cost rule lacks the shape or the work.
 * TAKT_EINVAL: policy fixed, but the decider has no fixed expert. */
takt_status takt__decide(struct takt_decider *decider, takt_policy policy,
                         const struct takt_sizes *sizes,
                         struct takt_choice *out);

/* Seconds that a team would take once it is at work, by a roofline with the
 * caches; made to choose between teams, not to be believed. */
double takt__prior_seconds(const struct takt_decider *decider,
                           const struct takt_team *team, const takt_work *work);

/* Seconds until all of a team is at work. `is_awake`: take it as awake, without
 * looking. */
double takt__prior_start(const struct takt_decider *decider,
                         const struct takt_team *team, const takt_work *work,
                         bool is_awake);

#endif
