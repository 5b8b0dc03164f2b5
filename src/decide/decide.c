/* SPDX-License-Identifier: MIT */
/* decide.c - from the rule's backend to an expert of this machine. */
#include "decide/decide.h"

#include <time.h>

/* Low ops are element-wise, Medium ones vectors, and High ones pay for what
 * their shape says; a user's op pays for what the user says. */
static takt_status ask_cost(const struct takt_decider *decider,
                            const struct takt_sizes *sizes, takt_backend *out)
{
    const takt_op *op = sizes->op;

    if (sizes->work_is_given) {
        *out = takt_cost_select(&decider->cost, sizes->work);
        return TAKT_OK;
    }
    if (op == NULL)
        return TAKT_EINVAL;
    if (!op->is_user && op->complexity == TAKT_COMPLEXITY_LOW) {
        *out = takt_cost_select_elementwise(sizes->elements);
        return TAKT_OK;
    }
    if (sizes->work.bytes < 0)
        return TAKT_ESHAPE;
    if (op->is_user || op->complexity == TAKT_COMPLEXITY_HIGH) {
        *out = takt_cost_select(&decider->cost, sizes->work);
        return TAKT_OK;
    }
    const double n = (double)sizes->elements;
    *out = takt_cost_select_vector(&decider->cost, sizes->elements,
                                   n > 0 ? sizes->work.flops / n : 0);
    return TAKT_OK;
}

/* What the static rule says; it consults no machine. */
static takt_status ask_rule(const struct takt_decider *decider,
                            takt_policy policy, const struct takt_sizes *sizes,
                            takt_backend *out)
{
    const char *name = sizes->name;

    switch (policy) {
    case TAKT_POLICY_MOE:
        *out = takt_moe_select(sizes->complexity, sizes->elements);
        return TAKT_OK;
    case TAKT_POLICY_COST:
        return ask_cost(decider, sizes, out);
    case TAKT_POLICY_HEURISTIC:
        if (name == NULL && sizes->op != NULL)
            name = sizes->op->name;
        *out = takt_heuristic_select(name, sizes->elements);
        return TAKT_OK;
    case TAKT_POLICY_ADAPTIVE:
    case TAKT_POLICY_FIXED:
        break;
    }
    return TAKT_EINVAL;
}

/* Whether the last call that could use threads was a moment ago: as long as
 * workers stay awake after a job. Then waking them is paid once and gains on
 * every call that follows; a lone call would pay it for itself. */
static bool is_busy(struct takt_decider *decider)
{
    static const uint64_t moment_ns = 100000;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t ns =
        (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    const uint64_t last =
        atomic_load_explicit(&decider->last_ns, memory_order_relaxed);
    atomic_store_explicit(&decider->last_ns, ns, memory_order_relaxed);
    return ns - last < moment_ns;
}

static void consider(const struct takt_decider *decider, const takt_work *work,
                     bool is_awake, struct takt_choice *out)
{
    const struct takt_team *team = decider->team;

    out->expert = team[0].expert;
    out->predicted_s = takt__prior_seconds(decider, &team[0], work);
    for (unsigned i = 1; i < decider->team_count; i++) {
        const double seconds =
            takt__prior_seconds(decider, &team[i], work) +
            takt__prior_start(decider, &team[i], work, is_awake);
        if (seconds < out->predicted_s) {
            out->predicted_s = seconds;
            out->expert = team[i].expert;
        }
    }
}

bool takt__decider_is_alone(const struct takt_decider *decider,
                            const takt_work *work)
{
    struct takt_choice choice;

    consider(decider, work, true, &choice);
    return choice.expert == decider->team[0].expert;
}

/* The team that the prior expects to finish first. Whether workers have to be
 * woken is asked only where they would be first if they were awake. */
static void choose_team(struct takt_decider *decider, const takt_work *work,
                        struct takt_choice *out)
{
    consider(decider, work, true, out);
    if (out->expert == decider->team[0].expert || is_busy(decider))
        return;
    consider(decider, work, false, out);
}

static void choose_simd(struct takt_decider *decider,
                        const struct takt_sizes *sizes, struct takt_choice *out)
{
    out->expert = decider->team[0].expert;
    out->predicted_s = -1;
    if (sizes->work.bytes >= 0)
        choose_team(decider, &sizes->work, out);
}

static takt_status choose_by_rule(struct takt_decider *decider,
                                  takt_policy policy,
                                  const struct takt_sizes *sizes,
                                  struct takt_choice *out)
{
    const takt_status status = ask_rule(decider, policy, sizes, &out->backend);

    if (status != TAKT_OK)
        return status;
    if (out->backend == TAKT_BACKEND_SCALAR) {
        out->expert = 0;
        out->predicted_s = -1;
    } else {
        choose_simd(decider, sizes, out);
    }
    out->reason = decider->fleet->expert[out->expert].backend == out->backend
                      ? TAKT_REASON_STATIC
                      : TAKT_REASON_FALLBACK;
    return TAKT_OK;
}

takt_status takt__decide(struct takt_decider *decider, takt_policy policy,
                         const struct takt_sizes *sizes,
                         struct takt_choice *out)
{
    *out = (struct takt_choice){.predicted_s = -1};
    if (policy == TAKT_POLICY_FIXED && decider->policy != policy)
        return TAKT_EINVAL; /* nobody said which expert */
    if (policy == TAKT_POLICY_FIXED) {
        out->expert = decider->fixed;
        out->reason = TAKT_REASON_FORCED;
    } else if (policy == TAKT_POLICY_ADAPTIVE) {
        choose_simd(decider, sizes, out);
        out->reason =
            decider->fleet->count == 1 ? TAKT_REASON_ONLY : TAKT_REASON_PRIOR;
    } else {
        return choose_by_rule(decider, policy, sizes, out);
    }
    out->backend = decider->fleet->expert[out->expert].backend;
    return TAKT_OK;
}
