/* SPDX-License-Identifier: MIT */
/* parts.c - jobs of the caller's own on the threads of a context. */
#include <pthread.h>

#include "call/ctx.h"
#include "pool/pool.h"
#include "takt/call.h"

struct parts_job {
    takt_part run;
    void *job;
};

static void run_part(void *self, unsigned part, unsigned parts, void *scratch)
{
    const struct parts_job *own = self;

    (void)scratch;
    own->run(own->job, part, parts);
}

takt_status takt_run_parts(takt_ctx *ctx, unsigned parts, takt_part run,
                           void *job)
{
    struct parts_job own = {run, job};
    int cancel; /* a part of the caller's may have cancellation points */

    if (run == NULL)
        return TAKT_EINVAL;
    const takt_status found = takt__ctx_to_run(&ctx);
    if (found != TAKT_OK)
        return found;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    const takt_status status =
        takt__pool_run(ctx->experts.pool, parts, 0, run_part, &own);
    pthread_setcancelstate(cancel, NULL);
    return status;
}
