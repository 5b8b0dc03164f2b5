/* SPDX-License-Identifier: MIT */
/* cmd_machine.c - `takt machine`: what Takt sees of the hardware. */
#include <stdio.h>
#include <string.h>

#include <takt/takt.h>

#include "clean.h"
#include "commands.h"
#include "context.h"
#include "machine.h"

/* Scalar code runs everywhere. */
static bool machine_has(const takt_machine *machine, int isa)
{
    return isa == TAKT_ISA_SCALAR || (machine->isas >> isa & 1) != 0;
}

void print_bytes(const char *label, double bytes)
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

static void print_text(takt_ctx *ctx, bool is_live)
{
    const takt_machine *m = takt_ctx_machine(ctx);

    print_cpu(m);
    print_experts(ctx);
    print_gpus(ctx, is_live);
    printf("fingerprint  hardware %.16s, software %.16s\n", m->hw_fingerprint,
           m->sw_fingerprint);
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

static void print_json(takt_ctx *ctx, bool is_live)
{
    const takt_machine *m = takt_ctx_machine(ctx);
    struct json json = json_begin(stdout);

    json_print(&json, "{architecture:%s", m->architecture);
    print_cpu_json(&json, m);
    print_cores_json(&json, m);
    print_experts_json(&json, ctx);
    print_gpus_json(&json, ctx, is_live);
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
    if (option_given(invocation, "json"))
        print_json(ctx, is_live);
    else
        print_text(ctx, is_live);
    takt_ctx_destroy(ctx);
    return EXIT_DONE;
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
        "is said in a line. The fingerprints tell whether what was learned on "
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
