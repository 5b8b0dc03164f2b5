/* SPDX-License-Identifier: MIT */
/*
 * program.c - a program that computes, learns and asks, and checks what it
 * gets. 0: all is well. 1: something could not be done, and it said what. 3: a
 * call said that it was done and the result is wrong.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <takt/takt.h>

enum { length = 100000, side = 96 };

static float a[length], b[length], out[length];
static float x[side * side], y[side * side], z[side * side];
static int code;

static int is_done(takt_status status, const char *what)
{
    if (status != TAKT_OK) {
        fprintf(stderr, "%s: %s\n", what, takt_status_text(status));
        code = 1;
    }
    return status == TAKT_OK;
}

static void expect(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s: wrong\n", what);
    exit(3);
}

static void compute(void)
{
    for (int i = 0; i < length; i++) {
        a[i] = (float)i;
        b[i] = 1;
    }
    for (int round = 0; round < 30; round++)
        if (is_done(takt_add_f32(length, a, b, out), "add"))
            expect(out[0] == 1 && out[length - 1] == (float)length, "add");
    for (int i = 0; i < side * side; i++)
        x[i] = y[i] = 1;
    for (int round = 0; round < 10; round++)
        if (is_done(takt_matmul_f32(side, side, side, x, y, z), "matmul"))
            expect(z[0] == side && z[side * side - 1] == side, "matmul");
}

static void ask(takt_ctx *ctx)
{
    const takt_request request = {.op = takt_op_find("add"),
                                  .shape = {.rank = 1, .dim = {length}}};
    takt_estimate all[64] = {{.size = sizeof all[0]}};
    takt_decision decision = {.size = sizeof decision};
    takt_learning learning = {.size = sizeof learning};
    size_t count;

    if (is_done(takt_select(ctx, &request, &decision), "select"))
        expect(decision.expert[0] != '\0', "select");
    if (is_done(takt_explain(ctx, &request, all, 64, &count), "explain"))
        for (size_t i = 0; i < count; i++)
            expect(isfinite(all[i].predicted_s), "explain");
    is_done(takt_record(ctx, &(takt_measurement){.request = &request,
                                                 .expert = "scalar",
                                                 .seconds = 1e-3}),
            "record");
    if (is_done(takt_ctx_learning(ctx, &learning), "learning") &&
        learning.store_status != TAKT_OK) {
        expect(learning.diag.text[0] != '\0', "learning");
        is_done(learning.store_status, learning.diag.text);
    }
    is_done(takt_ctx_flush(ctx), "flush");
}

int main(void)
{
    takt_ctx *ctx = takt_ctx_default();

    compute();
    if (ctx == NULL)
        return is_done(TAKT_ENOMEM, "context") ? 0 : code;
    ask(ctx);
    return code;
}
