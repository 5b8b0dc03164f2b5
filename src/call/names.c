/* SPDX-License-Identifier: MIT */
/* names.c - the names of policies, reasons and states. */
#include "takt/context.h"
#include "takt/gpu.h"
#include "takt/policy.h"

const char *takt_policy_name(takt_policy policy)
{
    switch (policy) {
    case TAKT_POLICY_ADAPTIVE:
        return "adaptive";
    case TAKT_POLICY_MOE:
        return "moe";
    case TAKT_POLICY_COST:
        return "cost";
    case TAKT_POLICY_HEURISTIC:
        return "heuristic";
    case TAKT_POLICY_FIXED:
        return "fixed";
    case TAKT_POLICY_PINNED:
        return "pinned";
    }
    return "?";
}

const char *takt_reason_name(takt_reason reason)
{
    switch (reason) {
    case TAKT_REASON_STATIC:
        return "static";
    case TAKT_REASON_FALLBACK:
        return "fallback";
    case TAKT_REASON_PRIOR:
        return "prior";
    case TAKT_REASON_FORCED:
        return "forced";
    case TAKT_REASON_ONLY:
        return "only";
    case TAKT_REASON_MODEL:
        return "model";
    case TAKT_REASON_EXPLORE:
        return "explore";
    case TAKT_REASON_PINNED:
        return "pinned";
    }
    return "?";
}

const char *takt_gpu_state_name(takt_gpu_state state)
{
    switch (state) {
    case TAKT_GPU_ASLEEP:
        return "asleep";
    case TAKT_GPU_READY:
        return "ready";
    case TAKT_GPU_LOST:
        return "lost";
    case TAKT_GPU_ABSENT:
        return "absent";
    }
    return "?";
}
