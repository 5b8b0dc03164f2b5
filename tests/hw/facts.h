/* SPDX-License-Identifier: MIT */
/*
 * facts.h - every fact of a machine as "key=value" lines, as they stand in
 * the expected.txt of a recorded machine. The software's fingerprint is not
 * one: it belongs to the build that asks.
 */
#pragma once

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "takt/machine.h"

struct facts {
    char text[16384];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static inline void
facts_add(struct facts *facts, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    const int length =
        vsnprintf(facts->text + facts->length,
                  sizeof facts->text - facts->length, format, values);
    va_end(values);
    if (length > 0 && facts->length + (size_t)length < sizeof facts->text)
        facts->length += (size_t)length;
}

static inline void facts_add_isas(struct facts *facts,
                                  const takt_machine *machine)
{
    facts_add(facts, "isas=");
    for (int isa = TAKT_ISA_SCALAR; isa <= TAKT_ISA_NEON; isa++)
        if (machine->isas >> isa & 1)
            facts_add(facts, "%s%s", isa == TAKT_ISA_SCALAR ? "" : " ",
                      takt_isa_name((takt_isa)isa));
    facts_add(facts, "\nbest_isa=%s\n",
              takt_isa_name(takt_machine_best_isa(machine)));
    facts_add(facts, "avx512_vnni=%d\n",
              (machine->features & TAKT_CPU_AVX512_VNNI) != 0);
    facts_add(facts, "amx=%d\n", (machine->features & TAKT_CPU_AMX) != 0);
    facts_add(facts, "sve=%d\n", (machine->features & TAKT_CPU_SVE) != 0);
    facts_add(facts, "sve_bits=%u\n", machine->sve_bits);
}

static inline void facts_add_cpus(struct facts *facts,
                                  const takt_machine *machine)
{
    facts_add(facts, "cores=%u\n", machine->cores);
    facts_add(facts, "logical_cpus=%u\n", machine->logical_cpus);
    facts_add(facts, "allowed_cpus=%u\n", machine->allowed_cpus);
    facts_add(facts, "quota_cpus=%g\n", machine->quota_cpus);
    facts_add(facts, "threads=%u\n", machine->threads);
    facts_add(facts, "numa_nodes=%u\n", machine->numa_nodes);
    facts_add(facts, "l1d_bytes=%zu\n", machine->l1d_bytes);
    facts_add(facts, "l2_bytes=%zu\n", machine->l2_bytes);
    facts_add(facts, "l3_bytes=%zu\n", machine->l3_bytes);
    facts_add(facts, "memory_bytes=%" PRIu64 "\n", machine->memory_bytes);
}

static inline void facts_add_gpu(struct facts *facts, unsigned i,
                                 const takt_gpu *gpu)
{
    facts_add(facts, "gpu%u.name=%s\n", i, gpu->name);
    facts_add(facts, "gpu%u.address=%s\n", i, gpu->address);
    facts_add(facts, "gpu%u.vendor=%04" PRIx32 "\n", i, gpu->vendor);
    facts_add(facts, "gpu%u.device=%04" PRIx32 "\n", i, gpu->device);
    facts_add(facts, "gpu%u.subsystem=%08" PRIx32 "\n", i, gpu->subsystem);
    facts_add(facts, "gpu%u.fingerprint=%s\n", i, gpu->fingerprint);
}

static inline void facts_of(const takt_machine *machine, struct facts *facts)
{
    memset(facts, 0, sizeof *facts);
    facts_add(facts, "architecture=%s\n", machine->architecture);
    facts_add(facts, "cpu_vendor=%s\n", machine->cpu_vendor);
    facts_add(facts, "cpu_name=%s\n", machine->cpu_name);
    facts_add(facts, "cpu_family=%u\n", machine->cpu_family);
    facts_add(facts, "cpu_model=%u\n", machine->cpu_model);
    facts_add(facts, "cpu_stepping=%u\n", machine->cpu_stepping);
    facts_add_isas(facts, machine);
    facts_add(facts, "is_virtual=%d\n", machine->is_virtual);
    facts_add_cpus(facts, machine);
    facts_add(facts, "gpu_count=%u\n", machine->gpu_count);
    for (unsigned i = 0; i < machine->gpu_count; i++)
        facts_add_gpu(facts, i, &machine->gpu[i]);
    facts_add(facts, "hw_fingerprint=%s\n", machine->hw_fingerprint);
}
