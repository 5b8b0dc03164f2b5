/* SPDX-License-Identifier: MIT */
/*
 * takt/expert.h - adds your own code as experts.
 *
 * Define an op (takt_ctx_define_op()), add the functions that can run it, and
 * call takt_run(): Takt chooses one, runs it, times it and learns. To run the
 * op yourself, ask takt_select() for the expert and report the time with
 * takt_record() (takt/history.h). An expert can also be added to an op of the
 * catalogue; it then competes with Takt's own.
 *
 *     const takt_op *op;
 *     const takt_op_spec average = {.size = sizeof average, .name = "average"};
 *     const takt_expert_spec direct = {.size = sizeof direct,
 *                                      .name = "direct",
 *                                      .backend = TAKT_BACKEND_SCALAR};
 *
 *     if (takt_ctx_define_op(NULL, &average, &op) != TAKT_OK ||
 *         takt_ctx_add_expert(NULL, op, &direct) != TAKT_OK)
 *         return 1;
 *
 * Here Takt does not run it, but chooses; examples/own_kernels.c is a program
 * whose experts have functions.
 *
 * Threads: everything here may be called from any thread. An expert is called
 *   by every thread that makes calls, also by several at once.
 */
#ifndef TAKT_EXPERT_H
#define TAKT_EXPERT_H

#include <takt/backend.h>
#include <takt/call.h>
#include <takt/context.h>
#include <takt/export.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One way to run an op. */
typedef struct takt_expert_spec {
    size_t size;          /* sizeof(takt_expert_spec): see takt/takt.h */
    const char *name;     /* copied, at most 26 letters; shown as "user.NAME" */
    takt_backend backend; /* what it runs on */
    unsigned threads;     /* that it uses; 0: one */
    /* Runs the call. A failure (not TAKT_OK) means that nothing was touched:
     * another expert then runs the same call. But TAKT_EDEFINITE of cholesky
     * and TAKT_ESINGULAR of solve and lstsq are results: the output is NaN.
     * NULL: Takt does not run it; takt_select() may choose it. Several threads
     * may call it at once. No lock is held: the thread may be cancelled in it.
     */
    takt_status (*run)(const takt_call *call, void *self);
    /* Whether it can run the call; NULL: any. Called before every run. */
    int (*can_run)(const takt_call *call, void *self);
    void *self; /* passed to both; borrowed for the life of the context */
    /* Not 0: it is the default expert of the op, which runs calls of sizes that
     * were not measured yet: usually the code that ran them before Takt. Of
     * several on one op, the last one counts. */
    int is_usual;
    /* Not 0: the program runs it where it wants to, and reports its times with
     * takt_record(). Takt compares it with the others, and never chooses it. */
    int is_observed;
} takt_expert_spec;

/* Adds an expert to an op. The op is one of the catalogue, or one that the user
 * defined in this context.
 * TAKT_EINVAL: the op is neither, or a view; no name, or a character that names
 *   cannot have.
 * TAKT_EEXIST: the op has an expert of that name.
 * TAKT_EFULL: the op has 16 experts, or the context 190. */
TAKT_API takt_status takt_ctx_add_expert(takt_ctx *ctx, const takt_op *op,
                                         const takt_expert_spec *spec);

#ifdef __cplusplus
}
#endif

#endif
