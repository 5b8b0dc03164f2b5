/* SPDX-License-Identifier: MIT */
/*
 * gpus.c - the GPUs on the PCI bus.
 *
 * Found without any driver: whether one can be used is for a backend to say.
 */
#include "hw/ask.h"

#include <stdio.h>
#include <string.h>

#include "hw/text.h"

enum { nvidia = 0x10de, amd = 0x1002, intel = 0x8086 };

/* Display controllers; AMD's largest call themselves accelerators. */
static bool is_gpu_class(uint64_t class_code, uint64_t vendor)
{
    const uint64_t base = class_code >> 16;
    return base == 0x03 || (base == 0x12 && vendor == amd);
}

/* NULL: no vendor whose GPUs Takt could use. */
static const char *vendor_name(uint64_t vendor)
{
    switch (vendor) {
    case nvidia:
        return "NVIDIA";
    case amd:
        return "AMD";
    case intel:
        return "Intel";
    default:
        return NULL;
    }
}

/* A PCI id of the device at `address`; 0: unknown. */
static uint32_t read_id(struct takt_probe *probe, const char *address,
                        const char *file)
{
    char path[96];
    uint64_t id;

    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/%s", address, file);
    if (!takt__probe_number(probe, path, 16, &id) || id > 0xffffff)
        return 0;
    return (uint32_t)id;
}

/* What NVIDIA's kernel driver calls it, if that is loaded. */
static void read_model(struct takt_probe *probe, takt_gpu *gpu)
{
    char path[96];
    char text[2048];
    char *rest = text;

    snprintf(path, sizeof path, "/proc/driver/nvidia/gpus/%s/information",
             gpu->address);
    if (!takt__probe_file(probe, path, text, sizeof text))
        return;
    for (char *line; (line = takt__text_cut(&rest, '\n')) != NULL;) {
        const char *model = takt__text_value(line, "Model");
        if (model != NULL && model[0] > ' ')
            takt__text_tidy(model, gpu->name, sizeof gpu->name);
    }
}

/* False: no GPU. */
static bool read_gpu(struct takt_probe *probe, const char *address,
                     takt_gpu *gpu)
{
    const uint32_t class_code = read_id(probe, address, "class");
    if (class_code >> 16 != 0x03 && class_code >> 16 != 0x12)
        return false;
    const uint32_t vendor = read_id(probe, address, "vendor");
    const char *maker = vendor_name(vendor);
    if (maker == NULL || !is_gpu_class(class_code, vendor))
        return false;

    memset(gpu, 0, sizeof *gpu);
    gpu->vendor = vendor;
    gpu->device = read_id(probe, address, "device") & 0xffff;
    gpu->subsystem = (read_id(probe, address, "subsystem_device") & 0xffff)
                         << 16 |
                     (read_id(probe, address, "subsystem_vendor") & 0xffff);
    takt__text_tidy(address, gpu->address, sizeof gpu->address);
    snprintf(gpu->name, sizeof gpu->name, "%s device %04x", maker,
             (unsigned)gpu->device);
    if (vendor == nvidia)
        read_model(probe, gpu);
    return true;
}

void takt__gpus_probe(struct takt_probe *probe)
{
    takt_machine *machine = probe->machine;
    char *rest = probe->text;

    takt__probe_list(probe, "/sys/bus/pci/devices", rest, TAKT_PROBE_TEXT);
    for (char *name; (name = takt__text_cut(&rest, '\n')) != NULL &&
                     machine->gpu_count < TAKT_MACHINE_MAX_GPUS;) {
        takt_gpu *gpu = &machine->gpu[machine->gpu_count];
        if (strlen(name) < sizeof gpu->address && read_gpu(probe, name, gpu))
            machine->gpu_count++;
    }
}
