/* SPDX-License-Identifier: MIT */
/*
 * experts.c - makes the list of experts: each usable instruction set on 1, 2,
 * 4, ... threads and on all of them, each GPU, and, when they are opened, each
 * BLAS library on one thread and on all.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/name.h"
#include "expert/gpu.h"

/* A full table loses the experts that come last. */
static void add(struct takt_experts *experts, const struct takt_expert *expert)
{
    if (experts->count < TAKT_MAX_EXPERTS)
        experts->expert[experts->count++] = *expert;
}

static void name_team(struct takt_expert *expert, const char *prefix,
                      const char *name)
{
    char suffix[12] = "";

    if (expert->threads > 1)
        snprintf(suffix, sizeof suffix, "x%u", expert->threads);
    snprintf(expert->name, sizeof expert->name, "%s%s%s", prefix, name, suffix);
}

static void add_cpu(struct takt_experts *experts, takt_isa isa,
                    unsigned threads)
{
    const bool is_scalar = isa == TAKT_ISA_SCALAR;
    struct takt_expert expert = {
        .class = &takt__cpu_class,
        .backend = is_scalar ? TAKT_BACKEND_SCALAR : TAKT_BACKEND_SIMD,
        .isa = isa,
        .threads = threads,
        .kernel_set = &experts->kernel_set[isa],
    };

    name_team(&expert, is_scalar ? "" : "simd.", takt_isa_name(isa));
    add(experts, &expert);
}

/* Slots for experts of libraries that may be opened. */
static void reserve_libraries(struct takt_experts *experts)
{
    const unsigned each = experts->threads > 1 ? 2 : 1;

    for (unsigned i = 0; i < each * TAKT_BLAS_MAX; i++)
        add(experts, &(struct takt_expert){.class = &takt__library_class,
                                           .backend = TAKT_BACKEND_SIMD,
                                           .threads = 1});
}

/* Fills the next reserved entry. */
static void add_library(struct takt_experts *experts, unsigned *entry,
                        struct takt_blas *blas, unsigned threads)
{
    struct takt_expert *expert = &experts->expert[*entry];

    if (*entry == experts->count)
        return;
    expert->threads = threads;
    expert->blas = blas;
    name_team(expert, "blas.", blas->name);
    ++*entry;
}

/* Scalar code is the definition, on one thread; more would only blur it. */
static void add_isa(struct takt_experts *experts, takt_isa isa,
                    unsigned threads)
{
    add_cpu(experts, isa, 1);
    if (isa == TAKT_ISA_SCALAR)
        return;
    for (unsigned k = 2; k < threads; k *= 2)
        add_cpu(experts, isa, k);
    if (threads > 1)
        add_cpu(experts, isa, threads);
}

size_t takt__experts_open_libraries(const struct takt_experts *experts,
                                    struct takt_blas out[TAKT_BLAS_MAX])
{
    return takt__blas_open_all(experts->blas_file, experts->threads, out,
                               TAKT_BLAS_MAX);
}

void takt__experts_add_libraries(struct takt_experts *experts,
                                 const struct takt_blas *libraries,
                                 size_t count)
{
    unsigned entry = atomic_load(&experts->known);

    for (size_t i = 0; i < count; i++) {
        experts->blas[i] = libraries[i];
        add_library(experts, &entry, &experts->blas[i], 1);
        if (experts->threads > 1 && experts->blas[i].max_threads > 1)
            add_library(experts, &entry, &experts->blas[i], experts->threads);
    }
    experts->blas_count = count;
    atomic_store_explicit(&experts->known, entry, memory_order_release);
}

static void add_gpus(struct takt_experts *experts)
{
    for (unsigned i = 0; i < experts->devices.count; i++) {
        struct takt_device *device = &experts->devices.device[i];
        struct takt_expert expert = {.class = &takt__gpu_class,
                                     .backend = TAKT_BACKEND_GPU,
                                     .threads = 1,
                                     .device = device};
        memcpy(expert.name, device->name, sizeof expert.name);
        add(experts, &expert);
    }
}

/* The best instruction sets come first, so that a full table loses the ones
 * that matter least. */
static void add_all(struct takt_experts *experts,
                    const struct takt_experts_options *options)
{
    static const takt_isa order[] = {TAKT_ISA_AVX512, TAKT_ISA_AVX2,
                                     TAKT_ISA_NEON, TAKT_ISA_SSE2};

    add_isa(experts, TAKT_ISA_SCALAR, 1);
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        const bool is_built = experts->kernel_set[order[i]].gemm[0] != NULL;
        if ((options->machine->isas >> order[i] & 1) != 0 &&
            (is_built || options->is_recorded))
            add_isa(experts, order[i], options->threads);
    }
    add_gpus(experts);
    atomic_store(&experts->known, experts->count);
    if (options->blas == NULL || options->blas[0] != '\0')
        reserve_libraries(experts);
}

takt_status takt__experts_open(const struct takt_experts_options *options,
                               struct takt_experts *out)
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
        takt__kernel_sets_fill(out->kernel_set,
                               machine->isas | 1u << TAKT_ISA_SCALAR, &caches);
    out->threads = options->threads;
    if (options->blas != NULL) {
        out->blas_file = strdup(options->blas);
        if (out->blas_file == NULL) {
            takt__experts_close(out);
            return TAKT_ENOMEM;
        }
    }
    takt__gpus_list(out, options);
    add_all(out, options);
    return TAKT_OK;
}

void takt__experts_close(struct takt_experts *experts)
{
    takt__devices_close(&experts->devices);
    takt__pool_destroy(experts->pool);
    for (size_t i = 0; i < experts->blas_count; i++)
        takt__blas_close(&experts->blas[i]);
    free(experts->blas_file);
    memset(experts, 0, sizeof *experts);
}

int takt__experts_find(const struct takt_experts *experts, const char *name)
{
    for (unsigned i = 0; i < takt__experts_known(experts); i++)
        if (takt__name_equal(name, experts->expert[i].name))
            return (int)i;
    return -1;
}
