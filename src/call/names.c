/* SPDX-License-Identifier: MIT */
/* names.c - the names of policies, reasons and states. */
#include "base/name.h"
#include "takt/context.h"
#include "takt/gpu.h"
#include "takt/policy.h"

const char *takt_policy_name(takt_policy policy)
{
    static const char *const names[] = {
        [TAKT_POLICY_ADAPTIVE] = "adaptive",
        [TAKT_POLICY_MOE] = "moe",
        [TAKT_POLICY_COST] = "cost",
        [TAKT_POLICY_HEURISTIC] = "heuristic",
        [TAKT_POLICY_FIXED] = "fixed",
        [TAKT_POLICY_PINNED] = "pinned",
    };
    return TAKT_NAME_IN(names, policy);
}

const char *takt_reason_name(takt_reason reason)
{
    static const char *const names[] = {
        [TAKT_REASON_STATIC] = "static",   [TAKT_REASON_FALLBACK] = "fallback",
        [TAKT_REASON_PRIOR] = "prior",     [TAKT_REASON_FORCED] = "forced",
        [TAKT_REASON_ONLY] = "only",       [TAKT_REASON_MODEL] = "model",
        [TAKT_REASON_EXPLORE] = "explore", [TAKT_REASON_PINNED] = "pinned",
    };
    return TAKT_NAME_IN(names, reason);
}

const char *takt_gpu_state_name(takt_gpu_state state)
{
    static const char *const names[] = {
        [TAKT_GPU_ASLEEP] = "asleep",
        [TAKT_GPU_READY] = "ready",
        [TAKT_GPU_LOST] = "lost",
        [TAKT_GPU_ABSENT] = "absent",
    };
    return TAKT_NAME_IN(names, state);
}
