/* SPDX-License-Identifier: MIT */
/*
 * fleet.c - makes the list of experts: each usable instruction set on 1, 2,
 * 4, ... threads and on all of them, each GPU, and, when they are opened, each
 * BLAS library on one thread and on all.
 */
#include "expert/expert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "expert/gpus.h"

static struct takt_expert *next_expert(struct takt_fleet *fleet)
{
    return fleet->count < TAKT_MAX_EXPERTS ? &fleet->expert[fleet->count]
                                           : NULL;
}

static void add_cpu(struct takt_fleet *fleet, takt_isa isa, unsigned threads)
{
    struct takt_expert *expert = next_expert(fleet);
    const bool is_scalar = isa == TAKT_ISA_SCALAR;
    char suffix[12] = "";

    if (expert == NULL)
        return;
    if (threads > 1)
        snprintf(suffix, sizeof suffix, "x%u", threads);
    snprintf(expert->name, sizeof expert->name, "%s%s%s",
             is_scalar ? "" : "simd.", takt_isa_name(isa), suffix);
    expert->kind = TAKT_EXPERT_CPU;
    expert->backend = is_scalar ? TAKT_BACKEND_SCALAR : TAKT_BACKEND_SIMD;
    expert->isa = isa;
    expert->threads = threads;
    expert->slots = &fleet->slots[isa];
    fleet->count++;
}

/* A place for an expert of a library that may be opened. */
static void keep_place(struct takt_fleet *fleet)
{
    struct takt_expert *expert = next_expert(fleet);

    if (expert == NULL)
        return;
    expert->kind = TAKT_EXPERT_BLAS;
    expert->backend = TAKT_BACKEND_SIMD;
    expert->threads = 1;
    fleet->count++;
}

static void keep_places(struct takt_fleet *fleet, unsigned threads)
{
    const unsigned each = threads > 1 ? 2 : 1;

    for (unsigned i = 0; i < each * TAKT_BLAS_MAX; i++)
        keep_place(fleet);
}

/* The next place is that expert's. */
static void add_blas(struct takt_fleet *fleet, unsigned *place,
                     struct takt_blas *blas, unsigned threads)
{
    struct takt_expert *expert = &fleet->expert[*place];
    char suffix[12] = "";

    if (*place == fleet->count)
        return;
    if (threads > 1)
        snprintf(suffix, sizeof suffix, "x%u", threads);
    snprintf(expert->name, sizeof expert->name, "blas.%s%s", blas->name,
             suffix);
    expert->threads = threads;
    expert->blas = blas;
    ++*place;
}

/* Scalar code is the definition, on one thread; more would only blur it. */
static void add_isa(struct takt_fleet *fleet, takt_isa isa, unsigned threads)
{
    add_cpu(fleet, isa, 1);
    if (isa == TAKT_ISA_SCALAR)
        return;
    for (unsigned k = 2; k < threads; k *= 2)
        add_cpu(fleet, isa, k);
    if (threads > 1)
        add_cpu(fleet, isa, threads);
}

size_t takt__fleet_open_libraries(const struct takt_fleet *fleet,
                                  struct takt_blas out[TAKT_BLAS_MAX])
{
    return takt__blas_open_all(fleet->blas_file, fleet->threads, out,
                               TAKT_BLAS_MAX);
}

void takt__fleet_add_libraries(struct takt_fleet *fleet,
                               const struct takt_blas *libraries, size_t count)
{
    unsigned place = atomic_load(&fleet->known);

    for (size_t i = 0; i < count; i++) {
        fleet->blas[i] = libraries[i];
        add_blas(fleet, &place, &fleet->blas[i], 1);
        if (fleet->threads > 1 && fleet->blas[i].max_threads > 1)
            add_blas(fleet, &place, &fleet->blas[i], fleet->threads);
    }
    fleet->blas_count = count;
    atomic_store_explicit(&fleet->known, place, memory_order_release);
}

static void add_gpus(struct takt_fleet *fleet)
{
    for (unsigned i = 0; i < fleet->devices.count; i++) {
        struct takt_device *device = &fleet->devices.device[i];
        struct takt_expert *expert = next_expert(fleet);
        if (expert == NULL)
            return;
        memcpy(expert->name, device->name, sizeof expert->name);
        expert->kind = TAKT_EXPERT_GPU;
        expert->backend = TAKT_BACKEND_GPU;
        expert->threads = 1;
        expert->device = device;
        fleet->count++;
    }
}

/* The best instruction sets come first, so that a full list loses the ones
 * that matter least. */
static void add_all(struct takt_fleet *fleet,
                    const struct takt_fleet_options *options)
{
    static const takt_isa order[] = {TAKT_ISA_AVX512, TAKT_ISA_AVX2,
                                     TAKT_ISA_NEON, TAKT_ISA_SSE2};

    add_isa(fleet, TAKT_ISA_SCALAR, 1);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        const bool is_built = fleet->slots[order[i]].gemm[0] != NULL;
        if ((options->machine->isas >> order[i] & 1) != 0 &&
            (is_built || options->is_recorded))
            add_isa(fleet, order[i], options->threads);
    }
    add_gpus(fleet);
    atomic_store(&fleet->known, fleet->count);
    if (options->blas == NULL || options->blas[0] != '\0')
        keep_places(fleet, options->threads);
}

takt_status takt__fleet_open(const struct takt_fleet_options *options,
                             struct takt_fleet *out)
{
    const takt_machine *machine = options->machine;
    const struct takt_gemm_caches caches = {
        .l1d = machine->l1d_bytes,
        .l2 = machine->l2_bytes,
        .l3 = machine->l3_bytes / options->threads,
    };

    memset(out, 0, sizeof *out);
    const takt_status status = takt__pool_create(options->threads, &out->pool);
    if (status != TAKT_OK)
        return status;
    out->l3_bytes = machine->l3_bytes;
    if (!options->is_recorded)
        takt__slots_fill(out->slots, machine->isas | 1u << TAKT_ISA_SCALAR,
                         &caches);
    out->threads = options->threads;
    if (options->blas != NULL) {
        out->blas_file = strdup(options->blas);
        if (out->blas_file == NULL) {
            takt__fleet_close(out);
            return TAKT_ENOMEM;
        }
    }
    takt__fleet_list_gpus(out, options);
    add_all(out, options);
    return TAKT_OK;
}

void takt__fleet_close(struct takt_fleet *fleet)
{
    takt__devices_close(&fleet->devices);
    takt__pool_destroy(fleet->pool);
    for (size_t i = 0; i < fleet->blas_count; i++)
        takt__blas_close(&fleet->blas[i]);
    free(fleet->blas_file);
    memset(fleet, 0, sizeof *fleet);
}

int takt__fleet_find(const struct takt_fleet *fleet, const char *name)
{
    for (unsigned i = 0; i < takt__fleet_known(fleet); i++)
        if (takt__name_equal(name, fleet->expert[i].name))
            return (int)i;
    return -1;
}
