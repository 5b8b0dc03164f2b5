/* SPDX-License-Identifier: MIT */
/*
 * alone.c - a program without shared libraries: it computes and learns with
 * what is linked into it, and is told that there is nothing else. Its argument
 * is a file to learn into.
 */
#include <stdio.h>
#include <stdlib.h>
#include <takt/takt.h>

enum { n = 256 };

static float a[n * n], b[n * n], c[n * n];

#define CHECK(condition)                                       \
    do {                                                       \
        if (!(condition)) {                                    \
            fprintf(stderr, "%d: %s\n", __LINE__, #condition); \
            exit(1);                                           \
        }                                                      \
    } while (0)

static void compute(takt_ctx *ctx)
{
    const takt_call call = {.op = takt_op_find("matmul"),
                            .shape = {.rank = 3, .dim = {n, n, n}},
                            .in = {a, b},
                            .alpha = 1,
                            .out = c};

    for (int i = 0; i < 20; i++)
        CHECK(takt_run(ctx, &call, NULL) == TAKT_OK && c[n] == n);
    CHECK(takt_ctx_library(ctx, 0) == NULL);
    CHECK(takt_ctx_library_problem(ctx) != NULL);
    printf("static: %s\n", takt_ctx_library_problem(ctx));
}

int main(int argc, char **argv)
{
    takt_ctx *ctx;
    takt_learning learning = {.size = sizeof learning};
    takt_diag diag;

    CHECK(argc == 2);
    for (int i = 0; i < n * n; i++)
        a[i] = b[i] = 1;
    CHECK(takt_add_f32(n * n, a, b, c) == TAKT_OK && c[n - 1] == 2);
    CHECK(takt_matmul_f32(n, n, n, a, b, c) == TAKT_OK && c[0] == n);
    CHECK(takt_ctx_create(&(takt_ctx_options){.store = argv[1], .gpu = "all"},
                          &ctx) == TAKT_OK);
    compute(ctx);
    takt_ctx_open_gpus(ctx);
    CHECK(takt_ctx_export(ctx, NULL, &diag) != TAKT_OK);
    CHECK(takt_ctx_flush(ctx) == TAKT_OK);
    CHECK(takt_ctx_learning(ctx, &learning) == TAKT_OK && learning.samples > 0);
    takt_ctx_destroy(ctx);
    return 0;
}
