/* SPDX-License-Identifier: MIT */
/* fuzz_select.c - any shape of any op is answered or refused. */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <takt/takt.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static takt_ctx *ctx;
    takt_request request = {0};
    takt_decision decision = {.size = sizeof decision};

    if (ctx == NULL && takt_ctx_create(NULL, &ctx) != TAKT_OK)
        abort();
    if (length < 4)
        return 0;
    request.op = takt_op_at(bytes[0] % (takt_op_count() + 1));
    request.policy = (takt_policy)(bytes[1] % 4);
    request.dtype = (takt_dtype)(bytes[2] % 3);
    request.shape.rank = bytes[3] % 12;
    length -= 4;
    if (length > sizeof request.shape.dim)
        length = sizeof request.shape.dim;
    memcpy(request.shape.dim, bytes + 4, length);
    if (takt_select(ctx, &request, &decision) == TAKT_OK &&
        (decision.expert[0] == '\0' || isnan(decision.work.bytes) ||
         isnan(decision.work.flops)))
        abort();
    return 0;
}
