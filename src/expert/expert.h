/* SPDX-License-Identifier: MIT */
/*
 * expert.h - who can run a call on this machine.
 *
 * An expert is one concrete way: an instruction set on so many threads,
 * somebody's BLAS, or a GPU. Experts are numbered from 0 in a fixed order, so
 * that a set of them is a word of bits. Number 0 is always "scalar" on one
 * thread: it can run everything, and it is the definition of what is right.
 *
 * BLAS libraries are opened late: places for their experts are kept at the end
 * of the list, which have no name until then.
 *
 * Threads: constant once made, but for those places.
 */
#ifndef TAKT_EXPERT_EXPERT_H
#define TAKT_EXPERT_EXPERT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "blas/blas.h"
#include "expert/slots.h"
#include "gpu/devices.h"
#include "pool/pool.h"
#include "takt/call.h"
#include "takt/machine.h"

enum { TAKT_MAX_EXPERTS = 64 };

enum takt_expert_kind { TAKT_EXPERT_CPU, TAKT_EXPERT_BLAS, TAKT_EXPERT_GPU };

struct takt_expert {
    char name[TAKT_EXPERT_NAME_MAX];
    enum takt_expert_kind kind;
    takt_backend backend;
    takt_isa isa;
    unsigned threads;
    const struct takt_slots *slots; /* CPU: its kernels */
    struct takt_blas *blas;         /* BLAS: its library */
    struct takt_device *device;     /* GPU: itself */
};

struct takt_fleet {
    struct takt_expert expert[TAKT_MAX_EXPERTS];
    unsigned count;         /* with the places that are kept */
    _Atomic unsigned known; /* those that have a name come first */
    struct takt_slots slots[TAKT_KERNEL_ISAS];
    /* Written once, before the experts that use them are known. */
    struct takt_blas blas[TAKT_BLAS_MAX];
    size_t blas_count;
    char *blas_file; /* owned; NULL: the usual libraries alone */
    unsigned threads;
    struct takt_devices devices;
    struct takt_pool *pool;
    size_t l3_bytes;
};

struct takt_fleet_options {
    const takt_machine *machine;
    unsigned threads; /* at least 1 */
    const char *blas; /* as takt__blas_open_all() wants it, later */
    const char *gpu;  /* "": none; "all": every device, opened now; NULL or
                       * anything else: those on the PCI bus */
    bool is_recorded; /* list what that machine would have; run nothing */
};

takt_status takt__fleet_open(const struct takt_fleet_options *options,
                             struct takt_fleet *out);
void takt__fleet_close(struct takt_fleet *fleet);

/* Opens the libraries of the fleet, as takt__blas_open_all(); takes a good part
 * of a tenth of a second. Changes nothing in the fleet. */
size_t takt__fleet_open_libraries(const struct takt_fleet *fleet,
                                  struct takt_blas out[TAKT_BLAS_MAX]);

/* Makes experts of them, which are the last ones from then on. Once, by one
 * thread; the libraries are the fleet's to close then. */
void takt__fleet_add_libraries(struct takt_fleet *fleet,
                               const struct takt_blas *libraries, size_t count);

/* How many experts there are that have a name. */
static inline unsigned takt__fleet_known(const struct takt_fleet *fleet)
{
    return atomic_load_explicit(&fleet->known, memory_order_acquire);
}

/* The number of the expert of that name, regardless of case; -1: none. */
int takt__fleet_find(const struct takt_fleet *fleet, const char *name);

/* Whether the expert can run this call, which was admitted. */
bool takt__expert_can_run(const struct takt_expert *expert,
                          const takt_call *call);

#endif
