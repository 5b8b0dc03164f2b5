/* SPDX-License-Identifier: MIT */
/*
 * decide.h - which expert should run a call that was admitted, and why.
 *
 * A static rule names a backend from the op and its sizes alone; the prior
 * then names the expert of that backend. `adaptive` reads what was learned out
 * of a table, and falls back on the prior where nothing was. Nothing here runs,
 * waits or allocates.
 */
#pragma once

#include "decide/situation.h"
#include "decide/table.h"
#include "expert/expert.h"
#include "model/rates.h"
#include "takt/policy.h"

enum { TAKT_MAX_TEAMS = 16 };

/* So many threads of the best instruction set, and what to expect of them. */
struct takt_team {
    unsigned expert;
    struct takt_rates rates;
};

/* A GPU, and what to expect of it: more is known once it is open. */
struct takt_gpu_expert {
    unsigned expert;
    struct takt_device *device;
    struct takt_rates guessed, known;
    _Atomic(const struct takt_rates *) rates; /* one of these */
};

/* What decides: constant once made, but for what the table learns. */
struct takt_decider {
    const struct takt_experts *experts;
    takt_policy policy;
    takt_cost_model cost;
    unsigned fixed; /* the expert of policy `fixed` */
    takt_isa best_isa;
    unsigned team_count; /* at least 1: the first has one thread */
    struct takt_team team[TAKT_MAX_TEAMS];
    unsigned gpu_count;
    struct takt_gpu_expert gpu[TAKT_MAX_GPUS]; /* in the order of the devices */
    uint64_t moment; /* in ticks: how long workers stay awake after a job */
    /* By op of the catalogue, the default expert, which runs what nothing was
     * measured of: 0 (none), or its number, shifted, and whether it has more
     * than one thread (bit 0). */
    _Atomic uint16_t by_default[TAKT_OP_COUNT];
    struct takt_table table;
};

/* Prepares `decider` for the experts of a machine; policy, cost and fixed are
 * the caller's to set.
 * TAKT_ENOMEM: no room for the table. */
takt_status takt__decider_init(struct takt_decider *decider,
                               const struct takt_experts *experts,
                               const takt_machine *machine);
void takt__decider_fini(struct takt_decider *decider);

/* Makes an expert the default one of an op. */
void takt__decider_set_default(struct takt_decider *decider, const takt_op *op,
                               unsigned expert, unsigned threads);

/* Whether one thread is first for that work even with all workers awake. */
bool takt__decider_prefers_one_thread(const struct takt_decider *decider,
                                      struct takt_key key,
                                      const takt_work *work);

/* A decision before it is made into text. The expert is a number of the table.
 */
struct takt_choice {
    uint8_t expert;
    uint8_t situation;    /* in which it was decided */
    uint8_t sample_shift; /* how seldom to time it */
    bool is_threaded;     /* the best expert, were threads awake, has
                           * several */
    bool is_rule;         /* a static rule decided, and said `backend` */
    takt_reason reason;
    takt_backend backend;
    uint64_t word;      /* of the table, with all that is known; 0: none */
    double predicted_s; /* where there is no word; negative: not known */
};

/* What is to be decided: a call without its operands, which may be missing
 * (takt_select()). */
struct takt_question {
    const takt_op *op; /* NULL: an op that is not described */
    const char *name;  /* what the heuristic rule reads */
    takt_complexity complexity;
    size_t elements;
    takt_work work;     /* bytes negative: not known */
    bool work_is_given; /* by the caller, not by the op */
    bool has_key;       /* `key` is set: the shape is known, or the work */
    bool is_steady;     /* TAKT_CALL_STEADY: decided alike in all situations */
    uint8_t objective;  /* its number in the context */
    struct takt_key key;
};

/* What a rule, or the prior, says without the table.
 * TAKT_ESHAPE, TAKT_EINVAL: the cost rule lacks the shape or the work.
 * TAKT_EINVAL: policy fixed, but the decider has no fixed expert. */
takt_status takt__decide_static(const struct takt_decider *decider,
                                takt_policy policy,
                                const struct takt_question *question,
                                struct takt_choice *out);

/* What the table says in that situation; false: nothing yet. */
bool takt__decide_learned(const struct takt_decider *decider,
                          const struct takt_question *question,
                          unsigned situation, struct takt_choice *out);

/* Decides a call that is about to run: as above by the policy of the decider,
 * with the situation the thread is in, and with trials. `is_repeat`: its
 * operands lie where the previous call left them. Nothing is tried in place of
 * what takes longer than `longest_s`: 0, nothing at all.
 * TAKT_ENOENT: the learner was not asked about this series yet (table.h), or it
 * is of an op of the user's that nothing is known about. */
takt_status takt__decide(struct takt_decider *decider,
                         struct takt_thread *thread,
                         const struct takt_question *question, bool is_repeat,
                         double longest_s, struct takt_choice *out);

/* What it takes to bring the operands of a call to where it would run, and to
 * wait until that is free. */
struct takt_move_costs {
    double host_s;
    double gpu_s[TAKT_MAX_GPUS];
    bool is_open[TAKT_MAX_GPUS]; /* it can run this call just now */
};

/* Decides a call on buffers: the CPU or one of the GPUs, wherever it is done
 * first, the moves included. */
void takt__decide_location(struct takt_decider *decider,
                           struct takt_thread *thread,
                           const struct takt_question *question,
                           const struct takt_move_costs *moves, bool is_urgent,
                           struct takt_choice *out);

/* The best processor for it, whatever GPUs there are. */
void takt__decide_host(struct takt_decider *decider, struct takt_thread *thread,
                       const struct takt_question *question,
                       struct takt_choice *out);

/* Seconds to move so many bytes over a link (TAKT_LINK_...) of a GPU. */
double takt__decide_link(const struct takt_decider *decider, unsigned gpu,
                         unsigned link, double bytes);

/* Adds the GPUs of the table; and takes in the data sheet of one, which is
 * known once it is open. */
void takt__decider_add_gpus(struct takt_decider *decider);
void takt__decider_update_gpu(struct takt_decider *decider, unsigned gpu);

/* What to expect of an expert on that machine, before any measurement. */
struct takt_rates takt__prior_rates(const struct takt_expert *expert,
                                    const takt_machine *machine);

/* The same of a GPU, by its data sheet and the rate of its link, per second;
 * 0: not known (yet). */
struct takt_rates takt__prior_gpu(double flops, double memory_rate,
                                  double link_rate);
