/* SPDX-License-Identifier: MIT */
/*
 * takt/takt.h - all of Takt.
 *
 * Takt runs each numeric operation on whichever processor of a machine
 * finishes it first. Include this, or only the header you need.
 *
 * NULL, in every function of every header:
 * - A context (takt_ctx *) of NULL is the default one, takt_ctx_default(). If
 *   that cannot be made, the function returns TAKT_ENOMEM, or what it returns
 *   when there is nothing.
 * - Any other pointer may be NULL where its header says so. Elsewhere NULL is
 *   refused with TAKT_EINVAL; a function that returns no status then returns
 *   NULL, 0 or the enumerator that is 0, or does nothing.
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
#include <takt/op.h>
#include <takt/ops.h>
#include <takt/otlp.h>
#include <takt/policy.h>
#include <takt/status.h>
#include <takt/store.h>
#include <takt/telemetry.h>
#include <takt/tune.h>
#include <takt/version.h>

#endif
