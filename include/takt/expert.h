/* SPDX-License-Identifier: MIT */
/*
 * takt/expert.h - your own code as experts, of your own ops or of ours.
 *
 * Define an op (takt_ctx_define_op), add the ways you have to run it, and call
 * takt_run(): Takt picks one, runs it, times it and learns. Or run it yourself:
 * takt_select() says where, takt_record() (takt/history.h) tells what it took.
 * An expert that is added to an op of the catalogue stands beside Takt's own.
 *
 * Since: 0.2.
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
     * another expert then runs the same call. NULL: never run by Takt, only
     * chosen by takt_select(). Any thread may call it, several at once. No
     * lock is held: the thread may be cancelled in it. */
    takt_status (*run)(const takt_call *call, void *self);
    /* Whether it can run the call; NULL: any. Called before every run. */
    int (*can_run)(const takt_call *call, void *self);
    void *self; /* handed to both; borrowed for the life of the context */
    /* Not 0: it runs what nothing was measured of yet, as the code did that
     * was there before Takt. Of several on one op, the last. */
    int is_usual;
} takt_expert_spec;

/* Adds an expert to an op of the catalogue, or to one that the user defined in
 * this context.
 * TAKT_EINVAL: not such an op, a view, no name, or letters that names cannot
 *   have.
 * TAKT_EEXIST: the op has an expert of that name.
 * TAKT_EFULL: the op has 16 experts, or the context 190. */
TAKT_API takt_status takt_ctx_add_expert(takt_ctx *ctx, const takt_op *op,
                                         const takt_expert_spec *spec);

#ifdef __cplusplus
}
#endif

#endif
