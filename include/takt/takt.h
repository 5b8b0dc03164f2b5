/* SPDX-License-Identifier: MIT */
/*
 * takt/takt.h - all of Takt.
 *
 * Takt runs each numeric operation on the processor that should finish it
 * first. Include this header, or only the one you need.
 *
 * NULL, in every function of every header:
 * - A context (takt_ctx *) of NULL is the default one, takt_ctx_default(). If
 *   that cannot be made, the function returns TAKT_ENOMEM, or what it returns
 *   when there is nothing.
 * - Any other pointer may be NULL where its header says so. Elsewhere NULL is
 *   refused with TAKT_EINVAL; a function that returns no status then returns
 *   NULL, 0 or the enumerator that is 0, or does nothing.
 *
 * Structs that you allocate begin with `size_t size`. Set it to sizeof the
 * struct, or leave it 0, which means the size in the first version:
 *
 *     const takt_request request = {.size = sizeof request,
 *                                   .op = takt_op_find("sum"),
 *                                   .shape = {.rank = 1, .dim = {1000}}};
 *     takt_decision decision = {.size = sizeof decision};
 *
 *     if (takt_select(NULL, &request, &decision) != TAKT_OK)
 *         return 1;
 *
 * So a program may run with a later library than it was compiled for, or with
 * an earlier one:
 * - A struct that Takt reads: members beyond `size` count as 0. Members that
 *   the library does not know must be 0.
 * - A struct that Takt fills: nothing beyond `size` is written, and `size`
 *   stays. Members that the library does not know are left as they are.
 * - An array: the size of its first element is that of all elements.
 * - TAKT_EINVAL: `size` is smaller than in the first version, or a member that
 *   the library does not know is not 0. Nothing was touched. Do not pass a
 *   struct that is not initialised: its size would be random.
 *
 * Structs that only Takt allocates (takt_machine, takt_op, takt_framework_op,
 * takt_event, takt_metrics, takt_tune_progress) grow at the end: a
 * copy has the members that the program was compiled with.
 *
 * These structs have no size and never change: takt_shape, takt_work,
 * takt_cost_model and takt_span_context, which are plain values, complete by
 * definition; and takt_diag, takt_gpu, takt_sink_report, takt_op_metric and
 * takt_duration_metric, which are members or elements of other structs, so
 * their size is part of the layout of these.
 */
#ifndef TAKT_TAKT_H
#define TAKT_TAKT_H

#include <takt/backend.h>
#include <takt/buffer.h>
#include <takt/call.h>
#include <takt/context.h>
#include <takt/expert.h>
#include <takt/framework.h>
#include <takt/gpu.h>
#include <takt/history.h>
#include <takt/log.h>
#include <takt/machine.h>
#include <takt/objective.h>
#include <takt/op.h>
#include <takt/ops.h>
#include <takt/otlp.h>
#include <takt/policy.h>
#include <takt/solver.h>
#include <takt/status.h>
#include <takt/store.h>
#include <takt/telemetry.h>
#include <takt/tune.h>
#include <takt/version.h>

#endif
