/* SPDX-License-Identifier: MIT */
/* telemetry.h - the telemetry of a context. */
#pragma once

#include "call/ctx.h"
#include "takt/otlp.h"

/* Gives a context its telemetry thread, before its learner is made; and opens
 * what the environment sets up, once everything else is there. */
takt_status takt__ctx_prepare_telemetry(takt_ctx *ctx);
void takt__ctx_open_telemetry(takt_ctx *ctx, const takt_ctx_options *options);

/* For the learner (learner.h). */
void takt__ctx_learned(void *self, const struct takt_sample *sample,
                       const struct takt_model_counters *counters);

/* Adds a sink. TAKT_ENODEV: the context runs nothing. */
takt_status takt__ctx_add_sink(takt_ctx *ctx, const takt_sink *sink);

/* Exports calls; without options, as the environment says. */
takt_status takt__ctx_export(takt_ctx *ctx, const takt_otlp_options *options,
                             takt_diag *diag);

/* What the options leave open comes from the environment. */
struct takt_tap_settings
takt__telemetry_settings(const takt_trace_options *options);
