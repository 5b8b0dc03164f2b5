/* SPDX-License-Identifier: MIT */
/*
 * machine_gpus.c - GPUs as their drivers and the PCI bus report them.
 *
 * A driver knows what a GPU is and whether it works; the bus knows those that
 * no driver has, and how each is connected.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "clean.h"
#include "context.h"
#include "machine.h"

/* ---- the bus ---- */

/* How a GPU is connected; 0: not known. */
struct link {
    double speed, most_speed; /* GT/s of a lane */
    double width, most_width; /* lanes */
};

static double read_number(const char *address, const char *name)
{
    char path[128], folder[32], text[64] = "";
    size_t i = 0;

    for (; address[i] != '\0' && i + 1 < sizeof folder; i++)
        folder[i] = (char)tolower((unsigned char)address[i]);
    folder[i] = '\0';
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return 0;
    const bool is_read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    const double number = is_read ? strtod(text, NULL) : 0;
    return number > 0 && number < 255 ? number : 0; /* 255 lanes: unknown */
}

static bool read_link(const char *address, struct link *out)
{
    *out = (struct link){0};
    if (address[0] == '\0' || strchr(address, '/') != NULL)
        return false;
    out->speed = read_number(address, "current_link_speed");
    out->width = read_number(address, "current_link_width");
    out->most_speed = read_number(address, "max_link_speed");
    out->most_width = read_number(address, "max_link_width");
    return out->speed > 0 && out->width > 0;
}

/* What the bus calls the GPU at an address; NULL: it has none there. */
static const takt_gpu *find_on_bus(const takt_machine *machine,
                                   const char *address)
{
    for (unsigned i = 0; i < machine->gpu_count && address[0] != '\0'; i++)
        if (strcasecmp(machine->gpu[i].address, address) == 0)
            return &machine->gpu[i];
    return NULL;
}

static bool is_driven(takt_ctx *ctx, const takt_gpu *gpu)
{
    takt_gpu_device device = {.size = sizeof device};

    for (size_t i = 0; takt_ctx_gpu(ctx, i, &device) == TAKT_OK; i++)
        if (strcasecmp(device.address, gpu->address) == 0)
            return true;
    return false;
}

static const char *why_unused(void)
{
    return all_gpus()[0] == '\0' ? "TAKT_GPU is empty" : "no driver has it";
}

/* ---- text ---- */

/* The label of a block stands before its first line only. */
static void begin_line(bool *is_begun)
{
    fputs(*is_begun ? "             " : "GPUs         ", stdout);
    *is_begun = true;
}

static void print_link(const struct link *link)
{
    printf(", PCIe x%.0f, %.1f GT/s", link->width, link->speed);
    if (link->most_width > link->width || link->most_speed > link->speed)
        printf(" (up to x%.0f, %.1f GT/s)", link->most_width, link->most_speed);
}

static void print_device(const takt_gpu_device *device, bool *is_begun)
{
    struct link link;

    begin_line(is_begun);
    printf("%s: ", device->expert);
    print_clean(stdout, device->model[0] != '\0' ? device->model : "a GPU");
    if (device->memory_bytes > 0)
        print_bytes(",", (double)device->memory_bytes);
    if (device->version[0] != '\0')
        printf(", %s", device->version);
    putchar('\n');
    begin_line(is_begun);
    printf("  %s", takt_gpu_state_name(device->state));
    if (device->state == TAKT_GPU_READY)
        printf(", opened in %.2f s", device->open_s);
    if (device->problem[0] != '\0') {
        fputs(": ", stdout);
        print_clean(stdout, device->problem);
    }
    if (device->is_software)
        printf("; software: used only when it is named");
    if (device->address[0] != '\0')
        printf("; at %s", device->address);
    if (read_link(device->address, &link))
        print_link(&link);
    putchar('\n');
}

void print_gpus(takt_ctx *ctx, bool is_live)
{
    const takt_machine *machine = takt_ctx_machine(ctx);
    takt_gpu_device device = {.size = sizeof device};
    const char *problem;
    bool is_begun = false;

    for (size_t i = 0; is_live && takt_ctx_gpu(ctx, i, &device) == TAKT_OK; i++)
        print_device(&device, &is_begun);
    for (unsigned i = 0; i < machine->gpu_count; i++) {
        const takt_gpu *gpu = &machine->gpu[i];
        if (is_live && is_driven(ctx, gpu))
            continue;
        begin_line(&is_begun);
        print_clean(stdout, gpu->name);
        fputs(" at ", stdout);
        print_clean(stdout, gpu->address);
        if (is_live)
            printf("; not used: %s", why_unused());
        putchar('\n');
    }
    if (!is_begun) {
        begin_line(&is_begun);
        puts("none found");
    }
    for (size_t i = 0; (problem = takt_ctx_gpu_problem(ctx, i)) != NULL; i++) {
        begin_line(&is_begun);
        puts(problem);
    }
}

/* ---- JSON ---- */

static void print_link_json(struct json *json, const char *address)
{
    struct link link;

    if (!read_link(address, &link)) {
        json_null(json, "link");
        return;
    }
    json_print(json, "link:{width:%g gt_per_s:%g max_width:%g max_gt_per_s:%g}",
               link.width, link.speed, link.most_width, link.most_speed);
}

static void print_device_json(struct json *json, const takt_machine *machine,
                              const takt_gpu_device *device)
{
    const takt_gpu *gpu = find_on_bus(machine, device->address);

    json_print(
        json,
        "{name:%s address:%s fingerprint:%s expert:%s state:%s problem:%s "
        "model:%s memory_bytes:%ju driver:%s software:%d open_s:%g",
        gpu != NULL ? gpu->name : known_text(device->model),
        known_text(device->address), gpu != NULL ? gpu->fingerprint : NULL,
        device->expert, takt_gpu_state_name(device->state),
        known_text(device->problem), known_text(device->model),
        device->memory_bytes, known_text(device->version),
        device->is_software != 0, device->open_s);
    print_link_json(json, device->address);
    json_close(json, '}');
}

static void print_unused_json(struct json *json, const takt_gpu *gpu,
                              bool is_live)
{
    json_print(json, "{name:%s address:%s fingerprint:%s expert:null",
               gpu->name, gpu->address, gpu->fingerprint);
    if (is_live) {
        json_print(json, "state:%s problem:%s",
                   takt_gpu_state_name(TAKT_GPU_ABSENT), why_unused());
        print_link_json(json, gpu->address);
    }
    json_close(json, '}');
}

void print_gpus_json(struct json *json, takt_ctx *ctx, bool is_live)
{
    const takt_machine *machine = takt_ctx_machine(ctx);
    takt_gpu_device device = {.size = sizeof device};
    const char *problem;

    json_print(json, "gpus:[");
    for (size_t i = 0; is_live && takt_ctx_gpu(ctx, i, &device) == TAKT_OK; i++)
        print_device_json(json, machine, &device);
    for (unsigned i = 0; i < machine->gpu_count; i++)
        if (!is_live || !is_driven(ctx, &machine->gpu[i]))
            print_unused_json(json, &machine->gpu[i], is_live);
    json_print(json, "] gpu_problems:[");
    for (size_t i = 0; (problem = takt_ctx_gpu_problem(ctx, i)) != NULL; i++)
        json_string(json, NULL, problem);
    json_close(json, ']');
}
