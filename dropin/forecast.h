/* SPDX-License-Identifier: MIT */
/*
 * forecast.h - what a call would take, in the baseline library and elsewhere,
 * by the model. It decides whether triangles are halved, and says why a call
 * did not run on a GPU. What routing gained is measured, not forecast
 * (sides.h).
 */
#pragma once

#include "intercepted.h"
#include "route.h"

/* In seconds, 0: not known. The best expert counts whether it is awake or not.
 */
struct takt_forecast {
    double baseline_s, best_s, gpu_s;
    bool has_gpu, is_asleep, is_suspect; /* the best GPU */
};

/* By the model. Takes the learner's lock. */
void takt__forecast(const struct takt_route *route, const takt_request *request,
                    struct takt_forecast *out);

/* The same for an intercepted call, from a forecast that may be some calls old,
 * scaled to the work of this one. */
struct takt_forecast takt__forecast_call(const struct takt_route *route,
                                         const struct takt_intercept *intercept,
                                         const takt_call *call);

/* Scaled to another amount of work of the same kind. */
struct takt_forecast takt__forecast_scaled(struct takt_forecast forecast,
                                           double scale);

/* The question about a call. */
static inline takt_request takt__request_of(const takt_call *call)
{
    return (takt_request){.op = call->op,
                          .dtype = call->dtype,
                          .shape = call->shape,
                          .flags = call->flags};
}
