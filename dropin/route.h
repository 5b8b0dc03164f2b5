/* SPDX-License-Identifier: MIT */
/*
 * route.h - a context of libtakt for one baseline library and one number of
 * threads. router.c makes them.
 */
#pragma once

#include <string.h>

#include "baseline.h"
#include "mode.h"
#include "takt/takt.h"

/* What is used of libtakt: use_(member, function). */
/* clang-format off */
#define TAKT_LIBTAKT_FUNCTIONS(use_)          \
    use_(environment, takt_ctx_environment)   \
    use_(create, takt_ctx_create)             \
    use_(ctx_machine, takt_ctx_machine)       \
    use_(machine, takt_machine_create)        \
    use_(machine_drop, takt_machine_destroy)  \
    use_(add_expert, takt_ctx_add_expert)     \
    use_(run, takt_run)                       \
    use_(explain, takt_explain)               \
    use_(find_op, takt_op_find)               \
    use_(select, takt_select)                 \
    use_(gpu, takt_ctx_gpu)                   \
    use_(expert, takt_ctx_expert)             \
    use_(run_on, takt_run_on)                 \
    use_(run_parts, takt_run_parts)           \
    use_(record, takt_record)                 \
    use_(define_op, takt_ctx_define_op)       \
    use_(history_best, takt_history_best)     \
    use_(history_read, takt_history_read)     \
    use_(open_gpus, takt_ctx_open_gpus_later) \
    use_(leave_gpus, takt_gpus_leave)         \
    use_(solver_open, takt_solver_open)       \
    use_(solver_run, takt_solver_run)         \
    use_(solver_run_here, takt_solver_run_here) \
    use_(buffer_create, takt_buffer_create)   \
    use_(buffer_destroy, takt_buffer_destroy) \
    use_(buffer_address, takt_buffer_address) \
    use_(buffer_map, takt_buffer_map)         \
    use_(buffer_unmap, takt_buffer_unmap)
/* clang-format on */

struct takt_libtakt {
#define TAKT_MEMBER(member_, function_) __typeof__(function_) *member_;
    TAKT_LIBTAKT_FUNCTIONS(TAKT_MEMBER)
#undef TAKT_MEMBER
};

struct takt_route {
    const struct takt_baseline *baseline;
    unsigned threads; /* that the program allows; 0: not said */
    unsigned team;    /* threads of `ctx` */
    const struct takt_libtakt *takt;
    takt_ctx *ctx;
    char expert[TAKT_EXPERT_NAME_MAX]; /* the name of `baseline` in it */
    const takt_op *op[TAKT_ROUTINES];  /* NULL: not routed as such */
    takt_policy policy;
    bool is_adaptive;
    bool has_gpu;
};

/* Whether a name is that of the baseline library. */
static inline bool takt__is_baseline_expert(const struct takt_route *route,
                                            const char *expert)
{
    return strcmp(expert, route->expert) == 0;
}

/* A call of a routine's op, still without shape and operands. */
static inline takt_call takt__call_of(const struct takt_route *route,
                                      enum takt_routine routine,
                                      enum takt_blas_type type)
{
    return (takt_call){
        .op = route->op[routine],
        .dtype = type == TAKT_D ? TAKT_F64 : TAKT_F32,
        .flags = takt__mode_has(TAKT_MODE_STEADY) ? TAKT_CALL_STEADY : 0};
}
