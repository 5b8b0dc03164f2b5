/* SPDX-License-Identifier: MIT */
/*
 * tune_report.c - what was measured, where it is kept, what is wrong with it;
 * and sentences about what was found: from which size threads pay, and a GPU
 * does, for the best known ops; and where the fixed thresholds would have cost
 * most. Only what was measured is said.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "clean.h"
#include "commands.h"
#include "context.h"
#include "json.h"
#include "number.h"
#include "tune.h"
#include "tune/family.h"
#include "tune/operands.h"

enum {
    most_experts = 128,
    most_told = 3,
    most_facts = 2 * most_told + 1,
    longest_fact = 1024
};

/* One op, element type and layout. */
struct series {
    takt_ctx *ctx;
    const takt_op *op;
    takt_dtype dtype;
    const struct takt_family *family;
};

/* The best expert, and what the moe rule would take instead. */
struct verdict {
    takt_estimate best;
    takt_estimate processor; /* the best of these; samples 0: none measured */
    double moe_s;            /* 0: not measured */
};

/* False: nothing was measured there. */
static bool judge(const struct series *series, unsigned step,
                  unsigned situation, struct verdict *out)
{
    takt_request request =
        takt__family_request(series->family, series->op, series->dtype, step);
    takt_estimate all[most_experts] = {{.size = sizeof all[0]}};
    takt_decision moe = {.size = sizeof moe};
    size_t count;

    *out = (struct verdict){0};
    request.situation = situation;
    if (takt_explain(series->ctx, &request, all, most_experts, &count) !=
            TAKT_OK ||
        count == 0 || all[0].samples <= 0)
        return false;
    out->best = all[0];
    for (size_t i = count; i-- > 0;)
        if (all[i].backend != TAKT_BACKEND_GPU)
            out->processor = all[i];
    request.policy = TAKT_POLICY_MOE;
    if (takt_select(series->ctx, &request, &moe) != TAKT_OK)
        return true;
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].expert, moe.expert) == 0 && all[i].samples > 0)
            out->moe_s = all[i].predicted_s;
    return true;
}

static struct shape_text name_size(const struct series *series, unsigned step)
{
    const takt_shape shape = takt__family_shape(series->family, step);

    return short_shape(&shape);
}

/* ---- from which size on ---- */

enum contest { several_threads, a_gpu };

struct fact_crossover {
    unsigned seen;          /* sizes that were measured */
    bool wins;              /* at the largest of them, and ... */
    struct shape_text from; /* ... from this one on */
    struct verdict last;
};

static struct fact_crossover find_crossover(const struct series *series,
                                            unsigned situation, enum contest of)
{
    struct fact_crossover out = {.seen = 0};

    for (unsigned step = series->family->low; step <= series->family->high;
         step++) {
        struct verdict verdict;
        if (!judge(series, step, situation, &verdict) ||
            (of == several_threads && verdict.processor.samples <= 0))
            continue;
        const bool wins = of == a_gpu
                              ? verdict.best.backend == TAKT_BACKEND_GPU
                              : expert_threads(verdict.processor.expert) > 1;
        if (wins && !out.wins)
            out.from = name_size(series, step);
        out.seen++;
        out.wins = wins;
        out.last = verdict;
    }
    return out;
}

static bool tell_threads(const struct series *series, char *out)
{
    const struct fact_crossover threads =
        find_crossover(series, 0, several_threads);

    if (threads.seen < 2)
        return false;
    if (threads.wins)
        snprintf(out, longest_fact, "%s: %u threads from %s", series->op->name,
                 expert_threads(threads.last.processor.expert),
                 threads.from.at);
    else
        snprintf(out, longest_fact, "%s: one thread at every size measured",
                 series->op->name);
    return true;
}

static bool tell_gpu(const struct series *series, char *out)
{
    const struct fact_crossover there =
        find_crossover(series, TAKT_SITUATION_ON_GPU, a_gpu);
    const struct fact_crossover host = find_crossover(series, 0, a_gpu);

    if (!there.wins)
        return false;
    if (host.wins)
        snprintf(out, longest_fact,
                 "%s: %s from %s with operands on the host, from %s with "
                 "operands on it",
                 series->op->name, host.last.best.expert, host.from.at,
                 there.from.at);
    else
        snprintf(out, longest_fact, "%s: %s from %s with operands on it only",
                 series->op->name, there.last.best.expert, there.from.at);
    return true;
}

/* The largest predicted speedup of a series, if it is above *most. */
static bool tell_speedup(const struct series *series, double *most, char *out)
{
    bool found = false;

    for (unsigned step = series->family->low; step <= series->family->high;
         step++) {
        struct verdict verdict;
        if (!judge(series, step, 0, &verdict) ||
            verdict.moe_s / verdict.best.predicted_s < *most)
            continue;
        *most = verdict.moe_s / verdict.best.predicted_s;
        found = true;
        snprintf(out, longest_fact,
                 "largest predicted speedup over the moe thresholds: %s %s of "
                 "%s, %.3g times (%s)",
                 series->op->name, takt_dtype_name(series->dtype),
                 name_size(series, step).at, *most, verdict.best.expert);
    }
    return found;
}

/* ---- what was asked for ---- */

static bool find_speedup(const struct tune *tune, char *out)
{
    struct series series = {.ctx = tune->ctx};
    double most = 1.05;
    bool found = false;

    for (size_t i = 0; (series.op = takt__tune_op(&tune->options, i)) != NULL;
         i++)
        for (size_t f = 0;
             (series.family = takt__family_at(series.op, f)) != NULL; f++)
            for (int dtype = TAKT_F32; dtype <= TAKT_F64; dtype++) {
                series.dtype = (takt_dtype)dtype;
                found = tell_speedup(&series, &most, out) || found;
            }
    return found;
}

/* Sentences about what was found; returns how many. */
static size_t find_facts(const struct tune *tune,
                         char facts[most_facts][longest_fact])
{
    static const char *const telling[] = {"matmul", "add", "sum", "exp"};
    const bool has_f32 = (tune->options.dtypes & 1u << TAKT_F32) != 0;
    struct series series = {.ctx = tune->ctx,
                            .dtype = has_f32 ? TAKT_F32 : TAKT_F64};
    size_t count = 0, told = 0;

    for (size_t t = 0; t < sizeof telling / sizeof telling[0]; t++)
        for (size_t i = 0;
             told < most_told &&
             (series.op = takt__tune_op(&tune->options, i)) != NULL;
             i++) {
            const size_t before = count;
            if (strcmp(series.op->name, telling[t]) != 0)
                continue;
            series.family = takt__family_at(series.op, 0);
            count += tell_threads(&series, facts[count]);
            if (tune->result.gpus > 0)
                count += tell_gpu(&series, facts[count]);
            told += count > before;
            break;
        }
    count += find_speedup(tune, facts[count]);
    return count;
}

/* ---- the report ---- */

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
    struct json json = json_begin(stdout);

    json_print(
        &json,
        "{cells:%zu known_cells:%zu samples:%zu resident_samples:%zu gpus:%zu "
        "rejected:%zu discarded:%zu seconds:%g complete:%d machine_loaded:%d "
        "store:%s diag:%s facts:[",
        result->cells, result->known_cells, result->samples,
        result->gpu_samples, result->gpus, result->rejected, result->discarded,
        result->seconds, result->end == TAKT_TUNE_COMPLETE,
        result->discarded > 0, store_of(tune, &outcome->learning),
        known_text(outcome->learning.diag.text));
    for (size_t i = 0; i < outcome->fact_count; i++)
        json_string(&json, NULL, outcome->facts[i]);
    json_print(&json, "]}\n");
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
