/* SPDX-License-Identifier: MIT */
/*
 * fingerprint.c - canonical lines, hashed as they are written.
 *
 * Values are numbers or tidied text, so none of them can contain a newline
 * and pass for another line.
 */
#include "hw/fingerprint.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void add_text(struct takt_sha256 *lines, const char *key,
                     const char *value)
{
    takt__sha256_add(lines, key, strlen(key));
    takt__sha256_add(lines, "=", 1);
    takt__sha256_add(lines, value, strlen(value));
    takt__sha256_add(lines, "\n", 1);
}

static void add_number(struct takt_sha256 *lines, const char *key,
                       uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    add_text(lines, key, text);
}

static bool has_isa(const takt_machine *machine, takt_isa isa)
{
    return machine->isas >> isa & 1;
}

static bool has_feature(const takt_machine *machine, unsigned feature)
{
    return (machine->features & feature) != 0;
}

static void add_instructions(struct takt_sha256 *lines,
                             const takt_machine *machine)
{
    add_number(lines, "avx2_fma", has_isa(machine, TAKT_ISA_AVX2));
    add_number(lines, "avx512", has_isa(machine, TAKT_ISA_AVX512));
    add_number(lines, "avx512_vnni",
               has_feature(machine, TAKT_CPU_AVX512_VNNI));
    add_number(lines, "amx", has_feature(machine, TAKT_CPU_AMX));
    add_number(lines, "neon", has_isa(machine, TAKT_ISA_NEON));
    add_number(lines, "sve_bits", machine->sve_bits);
}

void takt__cpu_fingerprint(const takt_machine *machine,
                           char out[TAKT_SHA256_HEX])
{
    struct takt_sha256 lines;

    takt__sha256_init(&lines);
    add_text(&lines, "architecture", machine->architecture);
    add_text(&lines, "vendor", machine->cpu_vendor);
    add_number(&lines, "family", machine->cpu_family);
    add_number(&lines, "model", machine->cpu_model);
    add_number(&lines, "stepping", machine->cpu_stepping);
    add_instructions(&lines, machine);
    add_number(&lines, "cores", machine->cores);
    add_number(&lines, "logical_cpus", machine->logical_cpus);
    add_number(&lines, "numa_nodes", machine->numa_nodes);
    add_number(&lines, "l1d_bytes", machine->l1d_bytes);
    add_number(&lines, "l2_bytes", machine->l2_bytes);
    add_number(&lines, "l3_bytes", machine->l3_bytes);
    add_number(&lines, "hypervisor", machine->is_virtual != 0);
    takt__sha256_finish_hex(&lines, out);
}

/* What only a driver knows is 0: a fingerprint must not depend on whether one
 * was asked. */
void takt__gpu_fingerprint(const takt_gpu *gpu, char out[TAKT_SHA256_HEX])
{
    struct takt_sha256 lines;

    takt__sha256_init(&lines);
    add_number(&lines, "vendor", gpu->vendor);
    add_number(&lines, "device", gpu->device);
    add_number(&lines, "subsystem", gpu->subsystem);
    add_number(&lines, "units", 0);
    add_number(&lines, "memory_mib", 0);
    add_number(&lines, "partition", 0);
    add_number(&lines, "ecc", 0);
    takt__sha256_finish_hex(&lines, out);
}

void takt__sw_fingerprint(const struct takt_sw_traits *traits,
                          char out[TAKT_SHA256_HEX])
{
    struct takt_sha256 lines;

    takt__sha256_init(&lines);
    add_number(&lines, "abi", TAKT_ABI_VERSION);
    add_text(&lines, "kernels", traits->kernels);
    add_text(&lines, "driver", traits->driver);
    add_text(&lines, "vulkan_driver", traits->vulkan_driver);
    takt__sha256_finish_hex(&lines, out);
}

void takt__machine_fingerprint(takt_machine *machine)
{
    const struct takt_sw_traits no_kernels = {"", "", ""};

    takt__cpu_fingerprint(machine, machine->hw_fingerprint);
    takt__sw_fingerprint(&no_kernels, machine->sw_fingerprint);
    for (unsigned i = 0; i < machine->gpu_count; i++)
        takt__gpu_fingerprint(&machine->gpu[i], machine->gpu[i].fingerprint);
}
