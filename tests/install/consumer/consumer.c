/* SPDX-License-Identifier: MIT */
/* consumer.c - a stranger's C program built against an installed Takt. */
#include <stdio.h>
#include <string.h>
#include <takt/takt.h>

int main(void)
{
    takt_ctx *ctx;
    takt_decision decision = {.size = sizeof decision};
    const takt_request request = {.policy = TAKT_POLICY_MOE,
                                  .op = takt_op_find("matrix_multiply"),
                                  .shape = {.rank = 3, .dim = {200, 200, 200}}};

    if (strcmp(takt_version(), TAKT_VERSION_STRING) != 0 ||
        takt_ctx_create(NULL, &ctx) != TAKT_OK)
        return 1;
    const takt_status status = takt_select(ctx, &request, &decision);
    takt_ctx_destroy(ctx);
    if (status != TAKT_OK || decision.backend != TAKT_BACKEND_GPU)
        return 1;

    const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
    float c[4];
    if (takt_matmul_f32(2, 2, 2, a, b, c) != TAKT_OK || c[0] != 19 ||
        c[3] != 50)
        return 1;
    printf("C: %s, here %s\n", takt_backend_name(decision.backend),
           decision.expert);
    return 0;
}
