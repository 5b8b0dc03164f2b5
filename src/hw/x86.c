/* SPDX-License-Identifier: MIT */
/*
 * x86.c - what CPUID says, and what the operating system makes usable.
 *
 * An instruction set counts only when the operating system saves its
 * registers (XCR0): a hypervisor or a kernel option can switch AVX-512 off
 * and leave its CPUID bits on. Compiled on every architecture.
 */
#include "hw/ask.h"

#include <string.h>

#include "hw/text.h"

enum { eax, ebx, ecx, edx, registers };

/* Leaf 1. */
static const uint32_t sse2_edx = 1u << 26;
static const uint32_t osxsave_ecx = 1u << 27;
static const uint32_t fma_and_avx_ecx = 1u << 12 | 1u << 28;
static const uint32_t hypervisor_ecx = 1u << 31;

/* Leaf 7. */
static const uint32_t avx2_ebx = 1u << 5;
static const uint32_t avx512_ebx = /* F, DQ, CD, BW, VL */
    1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
static const uint32_t avx512_vnni_ecx = 1u << 11;
static const uint32_t amx_tile_edx = 1u << 24;

/* XCR0: what is saved at a context switch. */
static const uint32_t saves_ymm = 1u << 1 | 1u << 2;
static const uint32_t saves_zmm =
    1u << 1 | 1u << 2 | 1u << 5 | 1u << 6 | 1u << 7;
static const uint32_t saves_tiles = 1u << 17 | 1u << 18;

static const uint32_t first_extended = 0x80000000;

static bool has_all(uint64_t value, uint32_t mask)
{
    return (value & mask) == mask;
}

static unsigned field(uint32_t value, unsigned low, unsigned bits)
{
    return value >> low & ((1u << bits) - 1);
}

static void ask(struct takt_probe *probe, uint32_t leaf, uint32_t subleaf,
                uint32_t reg[registers])
{
    memset(reg, 0, registers * sizeof reg[0]);
    probe->source->cpuid(probe->source->self, leaf, subleaf, reg);
}

/* The highest leaf of the range that starts at `first`. A processor without
 * that range answers with something else, below it. */
static uint32_t highest_leaf(struct takt_probe *probe, uint32_t first)
{
    uint32_t reg[registers];
    ask(probe, first, 0, reg);
    return reg[eax] < first ? first : reg[eax];
}

static void spell(const uint32_t *word, size_t count, char *out)
{
    for (size_t i = 0; i < 4 * count; i++)
        out[i] = (char)(word[i / 4] >> 8 * (i % 4) & 0xff);
    out[4 * count] = '\0';
}

static void read_vendor(struct takt_probe *probe)
{
    uint32_t reg[registers];
    char text[13];

    ask(probe, 0, 0, reg);
    const uint32_t word[3] = {reg[ebx], reg[edx], reg[ecx]};
    spell(word, 3, text);
    takt__text_tidy(text, probe->machine->cpu_vendor,
                    sizeof probe->machine->cpu_vendor);
}

static void read_brand(struct takt_probe *probe)
{
    const uint32_t first = first_extended + 2;
    uint32_t reg[3 * registers];
    char text[49];

    if (highest_leaf(probe, first_extended) < first + 2)
        return;
    for (uint32_t i = 0; i < 3; i++)
        ask(probe, first + i, 0, reg + registers * i);
    spell(reg, 3 * registers, text);
    takt__text_tidy(text, probe->machine->cpu_name,
                    sizeof probe->machine->cpu_name);
}

/* The extended fields add to the base ones where those were too small. */
static void decode_signature(uint32_t signature, takt_machine *machine)
{
    const unsigned family = field(signature, 8, 4);
    const unsigned model = field(signature, 4, 4);

    machine->cpu_stepping = field(signature, 0, 4);
    machine->cpu_family = family;
    machine->cpu_model = model;
    if (family == 15)
        machine->cpu_family += field(signature, 20, 8);
    if (family == 6 || family == 15)
        machine->cpu_model |= field(signature, 16, 4) << 4;
}

/* Adds the instruction sets with wide registers. */
static void decode_wide(const uint32_t leaf1[registers],
                        const uint32_t leaf7[registers], uint64_t xcr0,
                        takt_machine *machine)
{
    if (!has_all(leaf1[ecx], fma_and_avx_ecx) ||
        !has_all(leaf7[ebx], avx2_ebx) || !has_all(xcr0, saves_ymm))
        return;
    machine->isas |= 1u << TAKT_ISA_AVX2;
    if (has_all(leaf7[ebx], avx512_ebx) && has_all(xcr0, saves_zmm)) {
        machine->isas |= 1u << TAKT_ISA_AVX512;
        if (has_all(leaf7[ecx], avx512_vnni_ecx))
            machine->features |= TAKT_CPU_AVX512_VNNI;
    }
    if (has_all(leaf7[edx], amx_tile_edx) && has_all(xcr0, saves_tiles))
        machine->features |= TAKT_CPU_AMX;
}

void takt__x86_probe(struct takt_probe *probe)
{
    takt_machine *machine = probe->machine;
    const struct takt_hw_source *source = probe->source;
    const uint32_t highest = highest_leaf(probe, 0);
    uint32_t leaf1[registers] = {0};
    uint32_t leaf7[registers] = {0};

    read_vendor(probe);
    read_brand(probe);
    if (highest >= 1)
        ask(probe, 1, 0, leaf1);
    if (highest >= 7)
        ask(probe, 7, 0, leaf7);
    decode_signature(leaf1[eax], machine);
    machine->is_virtual = has_all(leaf1[ecx], hypervisor_ecx);
    if (has_all(leaf1[edx], sse2_edx))
        machine->isas |= 1u << TAKT_ISA_SSE2;
    if (has_all(leaf1[ecx], osxsave_ecx))
        decode_wide(leaf1, leaf7, source->xcr0(source->self), machine);
}

/* Notes the caches that `leaf` describes: Intel's leaf 4 and AMD's 0x8000001D
 * have the same form, a subleaf for each cache up to one of type 0. */
static void read_caches(struct takt_probe *probe, uint32_t leaf)
{
    enum { none = 0, instruction = 2, most = 16 };
    uint32_t reg[registers];

    for (uint32_t i = 0; i < most; i++) {
        ask(probe, leaf, i, reg);
        const unsigned type = field(reg[eax], 0, 5);
        if (type == none)
            return;
        if (type == instruction)
            continue;
        const uint64_t line = field(reg[ebx], 0, 12) + 1;
        const uint64_t partitions = field(reg[ebx], 12, 10) + 1;
        const uint64_t ways = field(reg[ebx], 22, 10) + 1;
        const uint64_t sets = (uint64_t)reg[ecx] + 1;
        /* At most 12 + 10 + 10 + 32 bits: 2^64 wraps to 0, unknown. */
        takt__cache_note(probe->machine, field(reg[eax], 5, 3),
                         line * partitions * ways * sets);
    }
}

void takt__x86_probe_caches(struct takt_probe *probe)
{
    static const uint32_t intel = 4;
    static const uint32_t amd = 0x8000001d;

    if (highest_leaf(probe, 0) >= intel)
        read_caches(probe, intel);
    if (probe->machine->l1d_bytes == 0 &&
        highest_leaf(probe, first_extended) >= amd)
        read_caches(probe, amd);
}
