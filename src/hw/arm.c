/* SPDX-License-Identifier: MIT */
/*
 * arm.c - what /proc/cpuinfo says on aarch64.
 *
 * The registers that identify an ARM core are the kernel's to read, and it
 * prints them there. Where cores differ (big.LITTLE), the first one counts.
 */
#include "hw/ask.h"

#include <stdio.h>
#include <string.h>

#include "hw/text.h"

struct name {
    unsigned id;
    const char *text;
};

static const struct name implementers[] = {
    {0x41, "ARM"},       {0x42, "Broadcom"},  {0x43, "Cavium"},
    {0x46, "Fujitsu"},   {0x48, "HiSilicon"}, {0x4e, "NVIDIA"},
    {0x50, "APM"},       {0x51, "Qualcomm"},  {0x61, "Apple"},
    {0x6d, "Microsoft"}, {0xc0, "Ampere"},    {0, NULL}};

/* Cores designed by ARM that servers and boards are made of; a core that is
 * not here is named by its number. */
static const struct name arm_parts[] = {
    {0xd03, "Cortex-A53"},  {0xd05, "Cortex-A55"},
    {0xd07, "Cortex-A57"},  {0xd08, "Cortex-A72"},
    {0xd0b, "Cortex-A76"},  {0xd0c, "Neoverse-N1"},
    {0xd40, "Neoverse-V1"}, {0xd49, "Neoverse-N2"},
    {0xd4f, "Neoverse-V2"}, {0, NULL}};

struct identity {
    unsigned implementer;
    unsigned variant;
    unsigned part;
    unsigned revision;
};

static const char *find_name(const struct name *names, unsigned id)
{
    while (names->text != NULL && names->id != id)
        names++;
    return names->text;
}

/* Takes the number of "key : 0x41" or "key : 3". */
static void take(const char *line, const char *key, unsigned *out)
{
    const char *value = takt__text_value(line, key);
    uint64_t number;

    if (value == NULL)
        return;
    const unsigned base = strncmp(value, "0x", 2) == 0 ? 16 : 10;
    if (takt__text_number(&value, base, &number) && number <= 0xffff)
        *out = (unsigned)number;
}

static void take_features(const char *line, takt_machine *machine)
{
    const char *words = takt__text_value(line, "Features");

    if (words == NULL)
        return;
    if (!takt__text_has_word(words, "asimd", ' '))
        machine->isas &= ~(1u << TAKT_ISA_NEON);
    if (takt__text_has_word(words, "sve", ' '))
        machine->features |= TAKT_CPU_SVE;
}

/* Reads the lines of the first processor, which end with an empty one. */
static void read_first(struct takt_probe *probe, struct identity *out)
{
    char *text = takt__probe_text(probe, "/proc/cpuinfo");

    for (char *line;
         (line = takt__text_cut(&text, '\n')) != NULL && line[0] != '\0';) {
        take(line, "CPU implementer", &out->implementer);
        take(line, "CPU variant", &out->variant);
        take(line, "CPU part", &out->part);
        take(line, "CPU revision", &out->revision);
        take_features(line, probe->machine);
    }
}

static void name_core(const struct identity *core, takt_machine *machine)
{
    const char *vendor = find_name(implementers, core->implementer);
    const char *part =
        core->implementer == 0x41 ? find_name(arm_parts, core->part) : NULL;

    snprintf(machine->cpu_vendor, sizeof machine->cpu_vendor, "%s",
             vendor != NULL ? vendor : "unknown");
    if (part != NULL)
        snprintf(machine->cpu_name, sizeof machine->cpu_name, "%s %s",
                 machine->cpu_vendor, part);
    else
        snprintf(machine->cpu_name, sizeof machine->cpu_name, "%s part 0x%03x",
                 machine->cpu_vendor, core->part);
}

/* The default length in bytes, which is what a program is started with; the
 * architecture's smallest where the kernel does not say. */
static unsigned read_sve_bits(struct takt_probe *probe)
{
    uint64_t bytes;

    if (!takt__probe_number(probe, "/proc/sys/abi/sve_default_vector_length",
                            10, &bytes) ||
        bytes < 16 || bytes > 256 || bytes % 16 != 0)
        return 128;
    return (unsigned)bytes * 8;
}

/* There is no hypervisor bit: Xen, a device tree and QEMU's firmware show it.
 */
static bool has_hypervisor(struct takt_probe *probe)
{
    char text[64];

    return takt__probe_file(probe, "/sys/hypervisor/type", text, sizeof text) ||
           takt__probe_file(probe,
                            "/sys/firmware/devicetree/base/hypervisor/"
                            "compatible",
                            text, sizeof text) ||
           (takt__probe_file(probe, "/sys/class/dmi/id/sys_vendor", text,
                             sizeof text) &&
            strncmp(text, "QEMU", 4) == 0);
}

void takt__arm_probe(struct takt_probe *probe)
{
    takt_machine *machine = probe->machine;
    struct identity core = {0};

    /* Every 64-bit ARM that runs Linux has it, unless it says otherwise. */
    machine->isas |= 1u << TAKT_ISA_NEON;
    read_first(probe, &core);
    machine->cpu_family = core.implementer;
    machine->cpu_model = core.part;
    machine->cpu_stepping = core.variant << 4 | core.revision;
    name_core(&core, machine);
    if (machine->features & TAKT_CPU_SVE)
        machine->sve_bits = read_sve_bits(probe);
    machine->is_virtual = has_hypervisor(probe);
}
