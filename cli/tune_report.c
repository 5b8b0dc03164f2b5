/* SPDX-License-Identifier: MIT */
/*
 * tune_report.c - what was measured, where it is kept, what is wrong with it.
 */
#include <stdio.h>
#include <strings.h>

#include "clean.h"
#include "commands.h"
#include "json.h"
#include "tune.h"

struct outcome {
    takt_learning learning;
    takt_status stored;
    bool is_complete;
    bool is_loaded;
    double seconds;
    char facts[most_facts][longest_fact];
    size_t fact_count;
};

static void print_json(const struct tune *tune, const struct outcome *outcome)
{
    struct json json = json_begin(stdout);

    json_open(&json, NULL, '{');
    json_count(&json, "cells", tune->cells);
    json_count(&json, "known_cells", tune->known_cells);
    json_count(&json, "samples", tune->samples);
    json_count(&json, "resident_samples", tune->resident_samples);
    json_count(&json, "gpus", tune->gpu_count);
    json_count(&json, "rejected", tune->rejected);
    json_count(&json, "discarded", tune->discarded);
    json_number(&json, "seconds", outcome->seconds);
    json_bool(&json, "complete", outcome->is_complete);
    json_bool(&json, "machine_loaded", outcome->is_loaded);
    json_string(&json, "store",
                outcome->learning.store[0] != '\0' && outcome->stored == TAKT_OK
                    ? outcome->learning.store
                    : NULL);
    json_string(&json, "diag",
                outcome->learning.diag.text[0] != '\0'
                    ? outcome->learning.diag.text
                    : NULL);
    json_open(&json, "facts", '[');
    for (size_t i = 0; i < outcome->fact_count; i++)
        json_string(&json, NULL, outcome->facts[i]);
    json_close(&json, ']');
    json_close(&json, '}');
    json_end(&json);
}

static bool is_on_bus(const takt_machine *machine, const char *address)
{
    for (unsigned i = 0; i < machine->gpu_count; i++)
        if (strcasecmp(machine->gpu[i].address, address) == 0)
            return true;
    return false;
}

/* Programs go by the bus: who is not on it has to be asked for. */
static void print_unlisted(const struct tune *tune)
{
    takt_gpu_device gpu;

    for (size_t i = 0; takt_ctx_gpu(tune->ctx, i, &gpu) == TAKT_OK; i++)
        if (gpu.state == TAKT_GPU_READY && !gpu.is_software &&
            !is_on_bus(takt_ctx_machine(tune->ctx), gpu.address))
            printf("  %s is not on the PCI bus: programs use it with "
                   "TAKT_GPU=all\n",
                   gpu.expert);
}

static void print_text(const struct tune *tune, const struct outcome *outcome)
{
    const takt_learning *learning = &outcome->learning;

    if (tune->cells == 0 && outcome->is_complete)
        printf("nothing to do: all %zu cells were measured before "
               "(--full measures more)\n",
               tune->known_cells);
    else
        printf("measured %zu cells, %zu samples, %zu rejected, in %.1f s; "
               "%zu cells were known\n",
               tune->cells, tune->samples, tune->rejected, outcome->seconds,
               tune->known_cells);
    if (tune->resident_samples > 0)
        printf("%zu of the samples are of operands on a GPU\n",
               tune->resident_samples);
    if (stop_signal != 0)
        puts("interrupted: everything so far is kept; run it again to go on");
    else if (!outcome->is_complete)
        puts("time was up: run it again to go on, or give it a --budget");
    for (size_t i = 0; i < outcome->fact_count; i++)
        printf("  %s\n", outcome->facts[i]);
    print_unlisted(tune);
    if (learning->store[0] != '\0' && outcome->stored == TAKT_OK)
        print_line(stdout, "kept in %s", learning->store);
}

/* What is not as it should be, one line each. */
static void print_trouble(const struct tune *tune,
                          const struct outcome *outcome)
{
    const takt_learning *learning = &outcome->learning;

    if (outcome->is_loaded)
        fprintf(stderr,
                "takt tune: others use this machine: %zu samples taken "
                "meanwhile were not kept (--anyway keeps them)\n",
                tune->discarded);
    if (tune->refused != TAKT_OK)
        fprintf(stderr, "takt tune: some samples could not be learned: %s\n",
                takt_status_text(tune->refused));
    if (learning->diag.text[0] != '\0')
        complain(&cmd_tune, "%s", learning->diag.text);
    else if (outcome->stored != TAKT_OK)
        complain(&cmd_tune, "%s: %s", learning->store,
                 takt_status_text(outcome->stored));
}

/* A GPU that failed on the way was measured in part. */
static void print_losses(const struct tune *tune)
{
    takt_gpu_device gpu;

    for (size_t i = 0; takt_ctx_gpu(tune->ctx, i, &gpu) == TAKT_OK; i++)
        if (gpu.state == TAKT_GPU_LOST)
            complain(&cmd_tune, "%s: %s", gpu.expert, gpu.problem);
}

static int write_pin(const struct tune *tune, const char *path)
{
    takt_diag diag;

    if (takt_ctx_write_pin(tune->ctx, path, &diag) != TAKT_OK)
        return complain(&cmd_tune, "--pin: %s", diag.text);
    if (!tune->is_json)
        print_line(stdout, "pinned in %s: TAKT_PIN=%s replays these decisions",
                   path, path);
    return EXIT_DONE;
}

int report_tune(struct tune *tune, const char *pin)
{
    struct outcome outcome = {.seconds = tune_now() - tune->start_s,
                              .is_complete = tune->is_complete,
                              .is_loaded = tune->discarded > 0};
    int code = EXIT_DONE;

    hide_progress(tune);
    outcome.stored = takt_ctx_flush(tune->ctx);
    takt_ctx_learning(tune->ctx, &outcome.learning);
    if (stop_signal == 0)
        outcome.fact_count = find_facts(tune, outcome.facts);
    if (tune->is_json)
        print_json(tune, &outcome);
    else
        print_text(tune, &outcome);
    print_trouble(tune, &outcome);
    print_losses(tune);
    if (pin != NULL)
        code = write_pin(tune, pin);
    if (stop_signal != 0)
        return 128 + stop_signal;
    if (outcome.stored != TAKT_OK || tune->refused != TAKT_OK ||
        (tune->discarded > 0 && tune->samples == 0))
        code = EXIT_FINDING;
    return code;
}
