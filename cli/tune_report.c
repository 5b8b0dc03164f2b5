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
    char facts[most_facts][longest_fact];
    size_t fact_count;
};

/* Where it is kept; NULL: nowhere. */
static const char *store_of(const struct tune *tune,
                            const takt_learning *learning)
{
    return learning->store[0] != '\0' && tune->result.stored == TAKT_OK
               ? learning->store
               : NULL;
}

static void print_json(const struct tune *tune, const struct outcome *outcome)
{
    const takt_tune_result *result = &tune->result;
    const char *diag = outcome->learning.diag.text;
    struct json json = json_begin(stdout);

    json_open(&json, NULL, '{');
    json_count(&json, "cells", result->cells);
    json_count(&json, "known_cells", result->known_cells);
    json_count(&json, "samples", result->samples);
    json_count(&json, "resident_samples", result->gpu_samples);
    json_count(&json, "gpus", result->gpus);
    json_count(&json, "rejected", result->rejected);
    json_count(&json, "discarded", result->discarded);
    json_number(&json, "seconds", result->seconds);
    json_bool(&json, "complete", result->end == TAKT_TUNE_COMPLETE);
    json_bool(&json, "machine_loaded", result->discarded > 0);
    json_string(&json, "store", store_of(tune, &outcome->learning));
    json_string(&json, "diag", diag[0] != '\0' ? diag : NULL);
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

/* Programs list GPUs by the bus: others have to be asked for. */
static void print_unlisted(const struct tune *tune)
{
    takt_gpu_device gpu = {.size = sizeof gpu};

    for (size_t i = 0; takt_ctx_gpu(tune->ctx, i, &gpu) == TAKT_OK; i++)
        if (gpu.state == TAKT_GPU_READY && !gpu.is_software &&
            !is_on_bus(takt_ctx_machine(tune->ctx), gpu.address))
            printf("  %s is not on the PCI bus: programs use it with "
                   "TAKT_GPU=all\n",
                   gpu.expert);
}

static void print_text(const struct tune *tune, const struct outcome *outcome)
{
    const takt_tune_result *result = &tune->result;
    const char *store = store_of(tune, &outcome->learning);

    if (result->cells == 0 && result->end == TAKT_TUNE_COMPLETE)
        printf("nothing to do: all %zu cells were measured before "
               "(--full measures more)\n",
               result->known_cells);
    else
        printf("measured %zu cells, %zu samples, %zu rejected, in %.1f s; "
               "%zu cells were known\n",
               result->cells, result->samples, result->rejected,
               result->seconds, result->known_cells);
    if (result->gpu_samples > 0)
        printf("%zu of the samples are of operands on a GPU\n",
               result->gpu_samples);
    if (tune->signal != 0)
        puts("interrupted: everything so far is kept; run it again to go on");
    else if (result->end == TAKT_TUNE_TIME_UP)
        puts("time was up: run it again to go on, or give it a --budget");
    for (size_t i = 0; i < outcome->fact_count; i++)
        printf("  %s\n", outcome->facts[i]);
    print_unlisted(tune);
    if (store != NULL)
        print_line(stdout, "kept in %s", store);
}

/* What is not as it should be, one line each. */
static void print_trouble(const struct tune *tune,
                          const takt_learning *learning)
{
    const takt_tune_result *result = &tune->result;

    if (result->discarded > 0)
        fprintf(stderr,
                "takt tune: others use this machine: %zu samples taken "
                "meanwhile were not kept (--anyway keeps them)\n",
                result->discarded);
    if (result->learned != TAKT_OK)
        fprintf(stderr, "takt tune: some samples could not be learned: %s\n",
                takt_status_text(result->learned));
    if (learning->diag.text[0] != '\0')
        complain(&cmd_tune, "%s", learning->diag.text);
    else if (result->stored != TAKT_OK)
        complain(&cmd_tune, "%s: %s", learning->store,
                 takt_status_text(result->stored));
}

/* A GPU that failed on the way was measured in part. */
static void print_losses(const struct tune *tune)
{
    takt_gpu_device gpu = {.size = sizeof gpu};

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

int report_tune(const struct tune *tune, const char *pin)
{
    const takt_tune_result *result = &tune->result;
    struct outcome outcome;
    int code = EXIT_DONE;

    outcome.learning.size = sizeof outcome.learning;
    takt_ctx_learning(tune->ctx, &outcome.learning);
    outcome.fact_count =
        tune->signal == 0 ? find_facts(tune, outcome.facts) : 0;
    if (tune->is_json)
        print_json(tune, &outcome);
    else
        print_text(tune, &outcome);
    print_trouble(tune, &outcome.learning);
    print_losses(tune);
    if (pin != NULL)
        code = write_pin(tune, pin);
    if (tune->signal != 0)
        return 128 + tune->signal;
    if (result->stored != TAKT_OK || result->learned != TAKT_OK ||
        (result->discarded > 0 && result->samples == 0))
        code = EXIT_FINDING;
    return code;
}
