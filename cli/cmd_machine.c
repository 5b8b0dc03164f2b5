/* SPDX-License-Identifier: MIT */
/*
 * cmd_machine.c - `takt machine`: what Takt sees of the hardware.
 *
 * Of GPUs, a driver knows what one is and whether it works; the bus knows those
 * that no driver has, and how each is connected.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "clean.h"
#include "commands.h"
#include "context.h"
#include "json.h"
#include "machine_energy.h"
#include "report.h"

/* Scalar code runs everywhere. */
static bool machine_has(const takt_machine *machine, int isa)
{
    return isa == TAKT_ISA_SCALAR || (machine->isas >> isa & 1) != 0;
}

/* "139.8 GiB" after a label. */
static void print_bytes(const char *label, double bytes)
{
    if (bytes >= 1024.0 * 1024 * 1024)
        printf("%s %.1f GiB", label, bytes / (1024.0 * 1024 * 1024));
    else if (bytes >= 1024.0 * 1024)
        printf("%s %.4g MiB", label, bytes / (1024.0 * 1024));
    else if (bytes > 0)
        printf("%s %.4g KiB", label, bytes / 1024.0);
    else
        printf("%s unknown", label);
}

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

/* `is_live`: the GPUs of this machine, which are open if they can be; else
 * those that a recording has. */
static void print_gpus(takt_ctx *ctx, bool is_live)
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

    if (read_link(address, &link))
        json_print(json,
                   "link:{width:%g gt_per_s:%g max_width:%g max_gt_per_s:%g}",
                   link.width, link.speed, link.most_width, link.most_speed);
    else
        json_print(json, "link:null");
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

static void print_gpus_json(struct json *json, takt_ctx *ctx, bool is_live)
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

static void print_cpu(const takt_machine *m)
{
    printf("processor    %s (%s, %s %x/%x/%x%s)\n", m->cpu_name,
           m->architecture, m->cpu_vendor, m->cpu_family, m->cpu_model,
           m->cpu_stepping, m->is_virtual ? ", virtual" : "");
    printf("instructions");
    for (int isa = TAKT_ISA_SCALAR; isa <= TAKT_ISA_NEON; isa++)
        if (machine_has(m, isa))
            printf(" %s", takt_isa_name((takt_isa)isa));
    printf("%s%s%s\n", m->features & TAKT_CPU_AVX512_VNNI ? " vnni" : "",
           m->features & TAKT_CPU_AMX ? " amx" : "",
           m->features & TAKT_CPU_SVE ? " sve" : "");
    printf("cores        %u cores, %u hardware threads, %u allowed", m->cores,
           m->logical_cpus, m->allowed_cpus);
    if (m->quota_cpus > 0)
        printf(", quota %.4g", m->quota_cpus);
    printf("; Takt uses up to %u\n", m->threads);
    print_bytes("caches       L1d", (double)m->l1d_bytes);
    print_bytes(", L2", (double)m->l2_bytes);
    print_bytes(", L3", (double)m->l3_bytes);
    print_bytes("\nmemory      ", (double)m->memory_bytes);
    printf(", %u NUMA node%s\n", m->numa_nodes, m->numa_nodes == 1 ? "" : "s");
}

static void print_experts(const takt_ctx *ctx)
{
    const char *name;
    size_t column = 12;

    printf("experts     ");
    for (size_t i = 0; (name = takt_ctx_expert(ctx, i, NULL)) != NULL; i++) {
        if (column + 1 + strlen(name) > 78) {
            printf("\n            ");
            column = 12;
        }
        column += (size_t)printf(" %s", name);
    }
    putchar('\n');
    for (size_t i = 0; (name = takt_ctx_library(ctx, i)) != NULL; i++)
        print_line(stdout, "%s %s", i == 0 ? "libraries   " : "            ",
                   name);
    if (takt_ctx_library_problem(ctx) != NULL)
        printf("libraries    -: %s\n", takt_ctx_library_problem(ctx));
}

static void print_text(takt_ctx *ctx, bool is_live,
                       const struct takt_energy_meter *energy)
{
    const takt_machine *m = takt_ctx_machine(ctx);

    print_cpu(m);
    print_experts(ctx);
    print_gpus(ctx, is_live);
    print_energy(energy);
    if (m->hw_fingerprint[0] == '\0')
        puts("fingerprint  unknown: a file of the machine cannot be read");
    else
        printf("fingerprint  hardware %.16s, software %.16s\n",
               m->hw_fingerprint, m->sw_fingerprint);
}

static void print_cpu_json(struct json *json, const takt_machine *m)
{
    json_print(json,
               "cpu:{name:%s vendor:%s family:%u model:%u stepping:%u isas:[",
               m->cpu_name, m->cpu_vendor, m->cpu_family, m->cpu_model,
               m->cpu_stepping);
    for (int isa = TAKT_ISA_SCALAR; isa <= TAKT_ISA_NEON; isa++)
        if (machine_has(m, isa))
            json_string(json, NULL, takt_isa_name((takt_isa)isa));
    json_print(json, "] avx512_vnni:%d amx:%d sve_bits:%u virtual:%d}",
               (m->features & TAKT_CPU_AVX512_VNNI) != 0,
               (m->features & TAKT_CPU_AMX) != 0, m->sve_bits, m->is_virtual);
}

static void print_cores_json(struct json *json, const takt_machine *m)
{
    json_print(json,
               "cores:%u logical_cpus:%u allowed_cpus:%u quota_cpus:%g "
               "threads:%u numa_nodes:%u l1d_bytes:%zu l2_bytes:%zu "
               "l3_bytes:%zu memory_bytes:%ju",
               m->cores, m->logical_cpus, m->allowed_cpus,
               positive_number(m->quota_cpus), m->threads, m->numa_nodes,
               m->l1d_bytes, m->l2_bytes, m->l3_bytes, m->memory_bytes);
}

static void print_experts_json(struct json *json, const takt_ctx *ctx)
{
    const char *name;

    json_open(json, "experts", '[');
    for (size_t i = 0; (name = takt_ctx_expert(ctx, i, NULL)) != NULL; i++)
        json_string(json, NULL, name);
    json_print(json, "] libraries:[");
    for (size_t i = 0; (name = takt_ctx_library(ctx, i)) != NULL; i++)
        json_string(json, NULL, name);
    json_close(json, ']');
}

void print_machine_json(FILE *stream, takt_ctx *ctx, bool is_live,
                        const struct takt_energy_meter *energy)
{
    const takt_machine *m = takt_ctx_machine(ctx);
    struct json json = json_begin(stream);

    json_print(&json, "{architecture:%s", m->architecture);
    print_cpu_json(&json, m);
    print_cores_json(&json, m);
    print_experts_json(&json, ctx);
    print_gpus_json(&json, ctx, is_live);
    if (energy != NULL)
        print_energy_json(&json, energy);
    json_print(&json, "hw_fingerprint:%s sw_fingerprint:%s}\n",
               m->hw_fingerprint, m->sw_fingerprint);
}

static int record(const struct invocation *invocation, const char *folder)
{
    const takt_status status = takt_machine_record(folder);

    if (status != TAKT_OK)
        return usage_error(invocation->command, "--record '%s': %s", folder,
                           takt_status_text(status));
    print_line(stdout, "recorded in %s", folder);
    return EXIT_DONE;
}

static int run(const struct invocation *invocation)
{
    const char *recording = option_value(invocation, "from");
    const bool is_live = recording == NULL;
    const takt_ctx_options options = {.recording = recording,
                                      .gpu = is_live ? all_gpus() : NULL,
                                      .telemetry = ""};
    takt_ctx *ctx;

    if (option_given(invocation, "record"))
        return record(invocation, option_value(invocation, "record"));
    const takt_status status = takt_ctx_create(&options, &ctx);
    if (status != TAKT_OK)
        return usage_error(invocation->command, "--from '%s': %s",
                           recording != NULL ? recording : "this machine",
                           takt_status_text(status));
    struct takt_energy_meter *energy = open_energy(recording);
    if (option_given(invocation, "json"))
        print_machine_json(stdout, ctx, is_live, energy);
    else
        print_text(ctx, is_live, energy);
    takt__meter_close(energy);
    const bool is_known = takt_ctx_machine(ctx)->hw_fingerprint[0] != '\0';
    takt_ctx_destroy(ctx);
    return is_known ? EXIT_DONE
                    : complain(invocation->command,
                               "a file of the machine cannot be read; facts "
                               "may be missing");
}

const struct command cmd_machine = {
    .name = "machine",
    .operands = "",
    .summary = "show the processor, its cores, caches and GPUs",
    .description =
        "Shows what routing is based on: the processor and the instruction "
        "sets that it and the operating system support, the cores that "
        "affinity and cgroups leave to a process, caches, memory, the experts "
        "that calls are routed to, the libraries found, and the GPUs: each is "
        "opened, and shown with its memory, its driver, its link to the "
        "processor and its state; what keeps a driver or a GPU from being used "
        "is said in a line. Then come the counters of energy, or why there are "
        "none and what to do about it. The fingerprints tell whether what was "
        "learned on "
        "one "
        "machine holds on another; they contain no host name and no serial "
        "number.\n\n--record writes everything that was read to a folder, to "
        "be attached to a bug report and asked later with --from.",
    .options = {{"from", "DIR", NULL, "show a recorded machine"},
                {"record", "DIR", NULL, "record this machine in a new folder"},
                {"json", NULL, NULL, "print one JSON object"}},
    .examples = {"takt machine", "takt machine --json",
                 "takt machine --record my-machine",
                 "takt machine --from my-machine"},
    .run = run,
};
