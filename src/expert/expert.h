/* SPDX-License-Identifier: MIT */
/*
 * expert.h - the table of experts: every way to run a call on this machine.
 *
 * An expert is an instruction set on so many threads, a BLAS library, a GPU or
 * code of the user's. What it can run and how follows from its class; callers
 * never look which class that is. Experts are numbered from 0 in a fixed order.
 * Number 0 is always "scalar" on one thread: it can run every op of the
 * catalogue, and it defines the right result.
 *
 * BLAS libraries are opened late: entries for their experts are reserved after
 * the others and have no name until then. Experts of the user's come last.
 *
 * Threads: an entry is constant once it is known (takt__experts_known(),
 * `user_count`).
 */
#pragma once

#include <stdatomic.h>

#include "blas/blas.h"
#include "expert/kernel_set.h"
#include "gpu/devices.h"
#include "pool/pool.h"
#include "takt/expert.h"
#include "takt/machine.h"

enum {
    TAKT_MAX_EXPERTS = 64,
    TAKT_MAX_USER_EXPERTS = 190,
    TAKT_MAX_EXPERTS_PER_OP = 16 /* of the user's */
};

struct takt_experts;
struct takt_expert;

/* What experts of one kind have in common. */
struct takt_expert_class {
    /* Whether it can run calls of that op at all; the model learns of those. */
    bool (*may)(const struct takt_expert *expert, const takt_op *op,
                takt_dtype dtype);
    /* Whether it can run this call, which was admitted. A question has no
     * operands: of these nothing is asked. */
    bool (*can)(const struct takt_expert *expert, const takt_call *call);
    /* Runs a call that it can run.
     * takt__is_numeric_status(): it did, and this is what came out.
     * TAKT_ENODEV, TAKT_ENOMEM, ...: not now, and nothing was touched. */
    takt_status (*run)(struct takt_experts *experts,
                       const struct takt_expert *expert, const takt_call *call);
};

/* Whether a status is about the operands of a call that was run. Of an op
 * that finds out nothing it is a refusal like any other. */
static inline bool takt__is_numeric_status(const takt_op *op,
                                           takt_status status)
{
    const enum takt_op_id id = takt__op_id(op);

    return (status == TAKT_EDEFINITE && id == TAKT_OP_cholesky) ||
           (status == TAKT_ESINGULAR &&
            (id == TAKT_OP_solve || id == TAKT_OP_lstsq));
}

extern const struct takt_expert_class takt__cpu_class, takt__library_class,
    takt__gpu_class, takt__user_class;

struct takt_expert {
    char name[TAKT_EXPERT_NAME_MAX];
    const struct takt_expert_class *class;
    takt_backend backend;
    unsigned threads;
    takt_isa isa;                             /* of Takt's own kernels */
    const struct takt_kernel_set *kernel_set; /* NULL: it has none */
    struct takt_blas *blas;     /* its library; NULL: it has none */
    struct takt_device *device; /* its GPU; NULL: it runs on the CPU */
    const takt_op *op;          /* the one op that a user's expert runs */
    takt_expert_spec spec;      /* the user's; `run` may be NULL */
};

struct takt_experts {
    struct takt_expert expert[TAKT_MAX_EXPERTS + TAKT_MAX_USER_EXPERTS];
    unsigned count;              /* Takt's own, with the reserved entries */
    _Atomic unsigned known;      /* those that have a name come first */
    _Atomic unsigned user_count; /* the user's, from number `count` on */
    struct takt_kernel_set kernel_set[TAKT_KERNEL_ISAS];
    /* Written once, before the experts that use them are known. */
    struct takt_blas blas[TAKT_BLAS_MAX];
    size_t blas_count;
    char *blas_file; /* owned; NULL: the default libraries alone */
    unsigned threads;
    struct takt_devices devices;
    struct takt_pool *pool;
    size_t l3_bytes;
};

struct takt_experts_options {
    const takt_machine *machine;
    unsigned threads; /* at least 1 */
    const char *blas; /* as takt__blas_open_all() wants it, later */
    const char *gpu;  /* "": none; "all": every device, opened now; NULL or
                       * anything else: those on the PCI bus */
    bool is_recorded; /* list what that machine would have; run nothing */
};

takt_status takt__experts_open(const struct takt_experts_options *options,
                               struct takt_experts *out);
void takt__experts_close(struct takt_experts *experts);

/* Opens the BLAS libraries, as takt__blas_open_all(); takes a good part of a
 * tenth of a second. Changes nothing in the table. */
size_t takt__experts_open_libraries(const struct takt_experts *experts,
                                    struct takt_blas out[TAKT_BLAS_MAX]);

/* Fills the reserved entries with them. Once, by one thread; the table then
 * owns the libraries. */
void takt__experts_add_libraries(struct takt_experts *experts,
                                 const struct takt_blas *libraries,
                                 size_t count);

/* How many of Takt's own experts have a name. */
static inline unsigned takt__experts_known(const struct takt_experts *experts)
{
    return atomic_load_explicit(&experts->known, memory_order_acquire);
}

/* The number of Takt's own expert of that name, in any case; -1: none. */
int takt__experts_find(const struct takt_experts *experts, const char *name);

/* Whether BLAS libraries run some calls of that op. */
static inline bool takt__library_runs(const takt_op *op)
{
    return takt__library_class.may(NULL, op, TAKT_F32);
}

/* The number of an expert of the table. */
static inline unsigned takt__expert_number(const struct takt_experts *experts,
                                           const struct takt_expert *expert)
{
    return (unsigned)(expert - experts->expert);
}

/* Whether it runs on the threads of the pool, which may be asleep. */
static inline bool takt__expert_uses_pool(const struct takt_expert *expert)
{
    return expert->class == &takt__cpu_class && expert->threads > 1;
}

static inline bool takt__expert_can(const struct takt_expert *expert,
                                    const takt_call *call)
{
    return expert->class->can(expert, call);
}

/* Runs an admitted call on an expert, if that can run it.
 * TAKT_ENODEV: it cannot. Whatever else is neither TAKT_OK nor a numeric
 * status (takt__is_numeric_status()): it refused. Nothing was touched then. */
static inline takt_status takt__expert_run(struct takt_experts *experts,
                                           unsigned number,
                                           const takt_call *call)
{
    const struct takt_expert *expert = &experts->expert[number];

    return takt__expert_can(expert, call)
               ? expert->class->run(experts, expert, call)
               : TAKT_ENODEV;
}

/* ---- the user's: user.c -------------------------------------------------- */

/* The experts of an op, one after another: begins with NULL, ends with NULL. */
const struct takt_expert *
takt__user_expert_next(const struct takt_experts *experts, const takt_op *op,
                       const struct takt_expert *after);

/* The expert of an op by that name, regardless of case; NULL: none. */
const struct takt_expert *
takt__user_expert_find(const struct takt_experts *experts, const takt_op *op,
                       const char *name);

/* Fills the next free entry. It is known once takt__user_expert_publish() was
 * called. One thread at a time.
 * TAKT_EEXIST: the op has one of that name. TAKT_EFULL: no room. */
takt_status takt__user_expert_add(struct takt_experts *experts,
                                  const takt_op *op, const char *name,
                                  const takt_expert_spec *spec,
                                  const struct takt_expert **out);
void takt__user_expert_publish(struct takt_experts *experts);

/* How many experts the user gave to an op. */
unsigned takt__user_expert_count(const struct takt_experts *experts,
                                 const takt_op *op);
