/* SPDX-License-Identifier: MIT */
/*
 * cmd_doctor.c - `takt doctor`: what is configured, found, missing or refused.
 *
 * It makes the context that a program would get and lists what the library
 * itself logs meanwhile, so the two cannot disagree. Whatever is not as it
 * should be is one line that ends with what to do about it.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/library.h"
#include "clean.h"
#include "commands.h"
#include "context.h"
#include "doctor.h"
#include "json.h"
#include "machine_energy.h"
#include "run.h"

extern char **environ;

static const char *const state_name[] = {"ok", "note", "problem"};

/* Threads of Takt log what fails in them. */
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

/* A variable of Takt or OpenTelemetry that holds a file or an address. */
static bool has_place(const char *variable)
{
    return (strncmp(variable, "TAKT_", 5) == 0 ||
            strncmp(variable, "OTEL_", 5) == 0) &&
           strchr(variable, '/') != NULL;
}

/* A problem with what a variable names, names the variable, too: that is what
 * there is to change. */
static void name_variable(struct finding *finding)
{
    char name[64] = "";

    for (char **at = environ; *at != NULL; at++) {
        const char *value = strchr(*at, '=');
        if (!has_place(*at) || value == NULL ||
            strstr(finding->text, value + 1) == NULL)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(value - *at), *at);
        if (strstr(finding->text, name) != NULL)
            return;
    }
    const size_t end = strlen(finding->text);
    if (name[0] != '\0')
        snprintf(finding->text + end, sizeof finding->text - end,
                 "; correct %s, or unset it", name);
}

void doctor_add(struct diagnosis *report, const char *area, enum state state,
                const char *format, ...)
{
    va_list values;

    pthread_mutex_lock(&adding);
    if (report->count < most_findings) {
        struct finding *finding = &report->finding[report->count++];
        finding->area = area;
        finding->state = state;
        va_start(values, format);
        vsnprintf(finding->text, sizeof finding->text, format, values);
        va_end(values);
        if (state == STATE_PROBLEM)
            name_variable(finding);
        report->problems += state == STATE_PROBLEM;
    }
    pthread_mutex_unlock(&adding);
}

bool doctor_has(const struct diagnosis *report, const char *text)
{
    for (size_t i = 0; i < report->count; i++)
        if (strstr(report->finding[i].text, text) != NULL)
            return true;
    return false;
}

static const char asks_for_energy[] = "TAKT_ENERGY asks for energy";

/* Of what may be right: unknown names, which may be mistyped, and a store that
 * others write to all the time. */
static void take_message(void *self, takt_log_level level, const char *text)
{
    if (level != TAKT_LOG_ERROR && strstr(text, "not a variable") == NULL &&
        strstr(text, "cannot be written now") == NULL)
        return;
    if (strstr(text, asks_for_energy) == text)
        return; /* check_energy() says it, with reasons */
    doctor_add(self, "settings",
               level == TAKT_LOG_ERROR ? STATE_PROBLEM : STATE_NOTE, "%s",
               text);
}

/* ---- what is looked at ---- */

static void check_cpu(struct diagnosis *report, const takt_machine *m)
{
    doctor_add(report, "machine", STATE_OK,
               "%s, %u cores, %u allowed, %u threads", m->cpu_name, m->cores,
               m->allowed_cpus, m->threads);
    if (strcmp(m->architecture, "x86_64") == 0 &&
        (m->isas >> TAKT_ISA_AVX2 & 1) == 0)
        doctor_add(
            report, "machine", STATE_NOTE,
            "the processor or the system has no AVX2: calls run on SSE2, at "
            "half the speed or less");
    if (m->quota_cpus > 0 && m->quota_cpus < m->allowed_cpus)
        doctor_add(
            report, "machine", STATE_NOTE,
            "a cgroup limits this process to %.4g of %u processors; raise its "
            "cpu.max for more threads",
            m->quota_cpus, m->allowed_cpus);
    else if (m->allowed_cpus < m->logical_cpus)
        doctor_add(
            report, "machine", STATE_NOTE,
            "affinity leaves %u of %u processors to this process (taskset -p "
            "shows it)",
            m->allowed_cpus, m->logical_cpus);
}

static void check_threads(struct diagnosis *report, const takt_machine *m)
{
    takt_ctx_options options = {.size = sizeof options};

    takt_ctx_environment(&options);
    const unsigned asked = options.threads;

    if (asked > m->threads)
        doctor_add(
            report, "settings", STATE_PROBLEM,
            "TAKT_THREADS=%u is more than the %u processors that this process "
            "may use: threads will wait for each other; set at most %u",
            asked, m->threads, m->threads);
}

static void check_load(struct diagnosis *report, const takt_machine *m)
{
    FILE *file = fopen("/proc/loadavg", "re");
    double load = 0;

    if (file == NULL)
        return;
    const bool is_read = fscanf(file, "%lf", &load) == 1;
    fclose(file);
    if (is_read && load > 0.5 * m->allowed_cpus)
        doctor_add(
            report, "machine", STATE_NOTE,
            "others are at work here (load %.1f on %u processors): what is "
            "measured now holds for a busy machine",
            load, m->allowed_cpus);
}

static void check_store(struct diagnosis *report, takt_ctx *ctx)
{
    takt_learning learning = {.size = sizeof learning};
    const char *full;

    if (takt_ctx_learning(ctx, &learning) != TAKT_OK)
        doctor_add(report, "store", STATE_PROBLEM,
                   "it cannot be read: no memory");
    else if (learning.diag.text[0] != '\0' &&
             doctor_has(report, learning.diag.text))
        return; /* the library has logged it */
    else if (learning.diag.text[0] != '\0')
        doctor_add(report, "store", STATE_PROBLEM, "%s", learning.diag.text);
    else if (learning.store[0] == '\0')
        doctor_add(
            report, "store", STATE_NOTE,
            "nothing that is learned is kept: TAKT_DB is empty, or HOME is no "
            "absolute path; set TAKT_DB to a file");
    else if (learning.is_stored &&
             (full = store_room_problem(learning.store)) != NULL)
        doctor_add(report, "store", STATE_PROBLEM,
                   "%s cannot grow: %s; what is learned is lost: make room, or "
                   "use another (TAKT_DB)",
                   learning.store, full);
    else if (learning.own_records == 0)
        doctor_add(
            report, "store", STATE_NOTE,
            "%s holds nothing about this machine yet; run 'takt tune' once",
            learning.store);
    else
        doctor_add(report, "store", STATE_OK,
                   "%s, %.0f records of this machine", learning.store,
                   learning.own_records);
}

static void check_libraries(struct diagnosis *report, const takt_ctx *ctx)
{
    const char *problem = takt_ctx_library_problem(ctx);
    const char *name = takt_ctx_library(ctx, 0);

    for (size_t i = 0; name != NULL; name = takt_ctx_library(ctx, ++i))
        doctor_add(report, "libraries", STATE_OK, "%s", name);
    if (problem != NULL)
        doctor_add(
            report, "libraries", STATE_NOTE,
            "%s: products run on our own kernels alone (TAKT_BLAS; install "
            "libopenblas0-pthread to have more experts)",
            problem);
}

/* What OpenBLAS calls processors without AVX2, whose kernels it uses on one
 * that it does not know. */
static bool is_old_processor(const char *name)
{
    static const char *const old[] = {
        "Katmai",  "Coppermine",   "Northwood",  "Prescott",   "Banias",
        "Core2",   "Penryn",       "Dunnington", "Nehalem",    "Athlon",
        "Opteron", "Opteron_SSE3", "Barcelona",  "Bobcat",     "Atom",
        "Nano",    "Sandybridge",  "Bulldozer",  "Piledriver", "Steamroller"};

    for (size_t i = 0; i < sizeof old / sizeof old[0]; i++)
        if (strcmp(name, old[i]) == 0)
            return true;
    return false;
}

/* Version 0.3.21 takes a Sapphire Rapids for a Prescott, for one. It is not
 * loaded for this: the context knows where it would wait for ever. */
static void check_openblas(struct diagnosis *report, const takt_machine *m)
{
    void *library =
        dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    const char *(*get_name)(void);

    if (takt__library_find(library, "openblas_get_corename", &get_name) &&
        (m->isas >> TAKT_ISA_AVX2 & 1) != 0 && is_old_processor(get_name()))
        doctor_add(
            report, "libraries", STATE_NOTE,
            "OpenBLAS takes this processor for a %s, and is several times as "
            "slow as it could be: set OPENBLAS_CORETYPE=%s",
            get_name(),
            (m->isas >> TAKT_ISA_AVX512 & 1) != 0 ? "SKYLAKEX" : "HASWELL");
    if (library != NULL)
        dlclose(library);
}

static void check_gpu(struct diagnosis *report, const takt_gpu_device *gpu)
{
    if (gpu->state == TAKT_GPU_READY && gpu->is_software)
        doctor_add(report, "gpu", STATE_NOTE,
                   "%s: %s is software, and used only if it is named",
                   gpu->expert, gpu->model);
    else if (gpu->state == TAKT_GPU_READY)
        doctor_add(report, "gpu", STATE_OK, "%s: %s, driver %s", gpu->expert,
                   gpu->model, gpu->version);
    else
        doctor_add(report, "gpu", STATE_PROBLEM, "%s is %s: %s", gpu->expert,
                   takt_gpu_state_name(gpu->state),
                   gpu->problem[0] != '\0' ? gpu->problem : "nothing says why");
}

/* In a context of its own that opens the drivers, as 'takt machine' does. */
static void check_gpus(struct diagnosis *report)
{
    const takt_ctx_options options = {
        .blas = "", .store = "", .telemetry = "", .gpu = all_gpus()};
    const char *cusolver = takt__config()->cusolver;
    takt_gpu_device gpu = {.size = sizeof gpu};
    takt_ctx *ctx;
    const char *problem;

    if (options.gpu[0] == '\0') {
        doctor_add(report, "gpu", STATE_NOTE,
                   "TAKT_GPU is empty: none is used");
        return;
    }
    if (takt_ctx_create(&options, &ctx) != TAKT_OK)
        return;
    takt_ctx_open_gpus(ctx);
    if (cusolver != NULL && cusolver[0] != '\0')
        takt_solver_open(ctx); /* which says what is wrong with it */
    for (size_t i = 0; takt_ctx_gpu(ctx, i, &gpu) == TAKT_OK; i++)
        check_gpu(report, &gpu);
    for (size_t i = 0; (problem = takt_ctx_gpu_problem(ctx, i)) != NULL; i++)
        doctor_add(report, "gpu", STATE_NOTE, "%s", problem);
    if (takt_ctx_machine(ctx)->gpu_count == 0)
        doctor_add(report, "gpu", STATE_OK, "none on the PCI bus");
    else if (takt_ctx_gpu(ctx, 0, &gpu) != TAKT_OK)
        doctor_add(
            report, "gpu", STATE_PROBLEM,
            "%u on the PCI bus, but no driver has it: install NVIDIA's driver, "
            "or the Vulkan driver of its maker",
            takt_ctx_machine(ctx)->gpu_count);
    takt_ctx_destroy(ctx);
}

static void check_energy(struct diagnosis *report)
{
    struct takt_energy_meter *meter = open_energy(NULL);
    const char *problem;
    char text[128];

    if (takt__config()->is_energy_asked &&
        (meter == NULL || takt__meter_count(meter) == 0) &&
        !doctor_has(report, "TAKT_NVML="))
        doctor_add(
            report, "energy", STATE_PROBLEM,
            "%s, and no counter can be read here: nothing is measured; the "
            "notes say what to do",
            asks_for_energy);
    for (unsigned i = 0; meter != NULL && i < takt__meter_count(meter); i++) {
        describe_counter(&takt__meter_counters(meter)[i], text, sizeof text);
        doctor_add(report, "energy", STATE_OK, "%s", text);
    }
    for (unsigned i = 0;
         meter != NULL && (problem = takt__meter_problem(meter, i)) != NULL;
         i++)
        doctor_add(report, "energy", STATE_NOTE, "%s", problem);
    takt__meter_close(meter);
}

static void diagnose(struct diagnosis *report)
{
    char *otel = find_beside_takt("libtakt-otel.so." TAKT_SOVERSION);

    if (otel != NULL)
        setenv("TAKT_OTEL", otel, 0); /* where a program's libtakt has it */
    free(otel);
    takt_log_set(TAKT_LOG_INFO, take_message, report);
    takt_ctx *ctx = takt_ctx_default();

    if (ctx == NULL)
        return; /* which was logged */
    check_cpu(report, takt_ctx_machine(ctx));
    check_threads(report, takt_ctx_machine(ctx));
    check_load(report, takt_ctx_machine(ctx));
    check_store(report, ctx);
    check_libraries(report, ctx);
    check_openblas(report, takt_ctx_machine(ctx));
    check_gpus(report);
    check_energy(report);
    doctor_check_telemetry(report, ctx);
    doctor_check_fleet(report);
    doctor_check_run(report, ctx);
    doctor_check_names(report);
}

/* ---- printing ---- */

/* Problems first: they are what the command is asked for. */
static void print_text(const struct diagnosis *report)
{
    for (int state = STATE_PROBLEM; state >= STATE_OK; state--)
        for (size_t i = 0; i < report->count; i++) {
            const struct finding *finding = &report->finding[i];
            if ((int)finding->state == state)
                print_line(stdout, "%-8s %-10s %s", state_name[state],
                           finding->area, finding->text);
        }
    if (report->problems == 0)
        printf("\nnothing is wrong\n");
    else
        printf("\n%zu problem%s\n", report->problems,
               report->problems == 1 ? "" : "s");
}

static void print_json(const struct diagnosis *report)
{
    struct json json = json_begin(stdout);

    json_print(&json, "{problems:%zu findings:[", report->problems);
    for (size_t i = 0; i < report->count; i++)
        json_print(&json, "{area:%s state:%s text:%s}", report->finding[i].area,
                   state_name[report->finding[i].state],
                   report->finding[i].text);
    json_print(&json, "]}\n");
}

static int run(const struct invocation *invocation)
{
    static struct diagnosis report; /* the log may be used until the end */

    diagnose(&report);
    if (option_given(invocation, "json"))
        print_json(&report);
    else
        print_text(&report);
    return report.problems > 0 ? EXIT_FINDING : EXIT_DONE;
}

const struct command cmd_doctor = {
    .name = "doctor",
    .operands = "",
    .summary = "show what is configured, found, missing or refused",
    .description =
        "Sets Takt up as a program with this environment would get it, and "
        "says in one line each what works (ok), what is limited (note) and "
        "what is wrong (problem), with what to do about it: the settings of "
        "the environment, the processor, the store, BLAS libraries, GPUs, "
        "counters of energy, telemetry and the library of 'takt run'. GPUs are "
        "opened, and one "
        "call is traced to wherever the environment sends traces.\n\nThe exit "
        "status is 1 if there is a problem.",
    .options = {{"json", NULL, NULL, "print one JSON object"}},
    .examples = {"takt doctor", "TAKT_POLICY=mow takt doctor",
                 "takt doctor --json"},
    .run = run,
};
