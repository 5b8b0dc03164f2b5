/* SPDX-License-Identifier: MIT */
/*
 * bench_energy.c - joules per call: by Takt's attribution in a mixed run, and
 * directly, each kind of call alone for a while.
 *
 *     bench_energy [SECONDS] [ORDER] [RECORDING]
 *
 * SECONDS (60) is how long each kind runs alone, and an idle machine is looked
 * at; the mixed run takes twice that. ORDER (8192) is that of the products on a
 * GPU; those of the processor have a quarter of it. RECORDING is a new file for
 * all that the attribution was told (src/energy/recording.h). Without a counter
 * of the processor its joules are unknown, and without a GPU so are a GPU's.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "bench.h"
#include "call/exec.h"
#include "call/question.h"
#include "energy/energy.h"
#include "energy_direct.h"
#include "workload.h"

enum { most_kinds = 5, batch = 16 };

static void must(takt_status status, const char *what)
{
    if (status == TAKT_OK)
        return;
    fprintf(stderr, "bench_energy: %s: %s\n", what, takt_status_text(status));
    exit(1);
}

#define MUST(call) must(call, #call)

struct kind {
    char name[64];
    takt_call call;
    size_t expert;
    bool is_gpu;
    struct takt_sample sample; /* what is told of a call on the processor */
    double calls, seconds;     /* of the mixed run ... */
    struct takt_energy_watts beyond_idle, in_all; /* ... and its attribution */
    double alone_s; /* per call; 0: it was not run */
};

struct bench {
    double seconds;
    takt_ctx *ctx;
    struct kind kind[most_kinds];
    unsigned kinds;
    struct takt_energy_meter *meter;
    bool counts[TAKT_ENERGY_COUNTERS]; /* of those of the GPU and the host */
    double idle_w[TAKT_ENERGY_COUNTERS];
    char address[16]; /* of the GPU */
    uint64_t random;
};

/* ---- calls --------------------------------------------------------------- */

static int find_expert(takt_ctx *ctx, const char *name)
{
    const char *found;

    for (size_t i = 0; (found = takt_ctx_expert(ctx, i, NULL)) != NULL; i++)
        if (strcmp(found, name) == 0)
            return (int)i;
    return -1;
}

/* Of the best instruction set, with the most threads. */
static size_t widest_expert(takt_ctx *ctx)
{
    const takt_machine *machine = takt_ctx_machine(ctx);
    char name[64];

    snprintf(name, sizeof name, "simd.%sx%u",
             takt_isa_name(takt_machine_best_isa(machine)), machine->threads);
    const int found = find_expert(ctx, name);
    return found < 0 ? 0 : (size_t)found;
}

/* Operands in buffers; or, without a GPU, in plain memory. */
static void *operand(struct bench *bench, size_t n, bool is_gpu)
{
    float *plain = bench_floats(n);
    takt_buffer *buffer;

    if (!is_gpu)
        return plain;
    MUST(takt_buffer_create(bench->ctx, n * sizeof *plain, plain, &buffer));
    free(plain);
    return takt_buffer_address(buffer);
}

static struct takt_sample sample_of(const struct kind *kind)
{
    const takt_request request = {.op = kind->call.op,
                                  .dtype = kind->call.dtype,
                                  .shape = kind->call.shape};
    struct takt_question question;

    MUST(takt__request_question(&request, &question));
    return (struct takt_sample){.series = question.key.series,
                                .bucket = question.key.bucket,
                                .situation = kind->is_gpu ? TAKT_RESIDENT : 0,
                                .arm = (uint8_t)kind->expert,
                                .calls = 1,
                                .bytes = (float)question.work.bytes,
                                .flops = (float)question.work.flops};
}

static void add_kind(struct bench *bench, const char *op, takt_shape shape,
                     size_t expert, bool is_gpu)
{
    struct kind *kind = &bench->kind[bench->kinds++];
    const bool is_product = shape.rank == 3;
    const size_t n = is_product ? shape.dim[0] * shape.dim[0] : shape.dim[0];

    *kind = (struct kind){
        .call = {.op = takt_op_find(op),
                 .dtype = TAKT_F32,
                 .shape = shape,
                 .in = {operand(bench, n, is_gpu), operand(bench, n, is_gpu)},
                 .out = operand(bench, n, is_gpu)},
        .expert = expert,
        .is_gpu = is_gpu};
    if (is_product)
        kind->call.alpha = 1;
    kind->sample = sample_of(kind);
    snprintf(kind->name, sizeof kind->name, "%s %zu%s on %s", op, shape.dim[0],
             is_product ? " cubed" : "",
             takt_ctx_expert(bench->ctx, expert, NULL));
}

static void add_kinds(struct bench *bench, size_t order)
{
    const int gpu = find_expert(bench->ctx, "cuda.0");
    const size_t host = widest_expert(bench->ctx), small = order / 4;

    if (gpu >= 0) {
        add_kind(bench, "matmul",
                 (takt_shape){.rank = 3, .dim = {order, order, order}},
                 (size_t)gpu, true);
        add_kind(bench, "add",
                 (takt_shape){.rank = 1, .dim = {2 * order * order}},
                 (size_t)gpu, true);
        add_kind(bench, "exp", (takt_shape){.rank = 1, .dim = {order * order}},
                 (size_t)gpu, true);
    }
    add_kind(bench, "matmul",
             (takt_shape){.rank = 3, .dim = {small, small, small}}, host,
             false);
    add_kind(bench, "add", (takt_shape){.rank = 1, .dim = {order * order}},
             host, false);
}

/* The context runs everything on the GPU where there is one. On the processor
 * the expert is given, and its sample is left here. */
static void run_once(struct bench *bench, const struct kind *kind)
{
    struct takt_sample sample = kind->sample;

    if (kind->is_gpu) {
        MUST(takt_run(bench->ctx, &kind->call, NULL));
        return;
    }
    sample.start_ns = takt__now_ns();
    MUST(takt_run_on(bench->ctx, &kind->call, kind->expert));
    sample.seconds = (double)(takt__now_ns() - sample.start_ns) * 1e-9;
    takt__sample_push(bench->ctx, &sample);
}

/* Calls until that time, and how many. */
static double run_until(struct bench *bench, const struct kind *kind,
                        double end_ns)
{
    double calls = 0;

    do {
        for (int i = 0; i < (kind->is_gpu ? batch : 1); i++, calls++)
            run_once(bench, kind);
        MUST(takt_sync(bench->ctx));
    } while (bench_now_ns() < end_ns);
    return calls;
}

/* ---- the mixed run ------------------------------------------------------- */

/* A kind, or (one more) a pause, for half a second to three. */
static void run_part(struct bench *bench, unsigned which)
{
    const double start_ns = bench_now_ns();
    const double until_ns =
        start_ns + 0.5e9 + 2.5e9 * workload_random(&bench->random);
    struct kind *kind = &bench->kind[which];

    if (which == bench->kinds) {
        pause_until(until_ns);
        return;
    }
    kind->calls += run_until(bench, kind, until_ns);
    kind->seconds += (bench_now_ns() - start_ns) * 1e-9;
}

/* All in turns, in another order each time. */
static void run_mixed(struct bench *bench)
{
    const double end_ns = bench_now_ns() + 2e9 * bench->seconds;
    unsigned order[most_kinds + 1] = {0, 1, 2, 3, 4, 5};

    while (bench_now_ns() < end_ns)
        for (unsigned left = bench->kinds + 1; left > 0; left--) {
            const unsigned drawn =
                (unsigned)(workload_random(&bench->random) * left);
            const unsigned which = order[drawn];
            order[drawn] = order[left - 1];
            order[left - 1] = which;
            run_part(bench, which);
        }
}

/* ---- directly ------------------------------------------------------------ */

/* One kind, or (NULL) nothing, for so long; the watts of each counter. */
static void run_alone(struct bench *bench, struct kind *kind,
                      double watts[TAKT_ENERGY_COUNTERS])
{
    if (kind == NULL)
        pause_until(bench_now_ns() + 5e9); /* clocks go down */
    else
        run_until(bench, kind, bench_now_ns() + 3e9); /* and up */
    struct energy_reader *reader = energy_reader_begin(bench->meter);
    const double start_ns = bench_now_ns();
    const double end_ns = start_ns + 1e9 * bench->seconds;
    if (kind == NULL) {
        pause_until(end_ns);
    } else {
        const double calls = run_until(bench, kind, end_ns);
        kind->alone_s = (bench_now_ns() - start_ns) * 1e-9 / calls;
    }
    energy_reader_ask(reader);
    if (kind != NULL) /* until the reader has seen the last step */
        run_until(bench, kind, bench_now_ns() + 0.3e9);
    energy_reader_end(reader, watts);
}

/* Whether a counter is that of the GPU, or one of the processor's. */
static void choose_counters(struct bench *bench)
{
    struct takt_energy *energy = takt__energy_create(
        takt__meter_counters(bench->meter), takt__meter_count(bench->meter));
    const int gpu =
        energy == NULL ? -1 : takt__energy_find_gpu(energy, bench->address);

    for (unsigned i = 0; i < takt__meter_count(bench->meter); i++)
        bench->counts[i] =
            takt__meter_counters(bench->meter)[i].address[0] == '\0' ||
            (int)i == gpu;
    takt__energy_destroy(energy);
}

/* The sum over the counters of a kind, with or without what is idle; NAN: there
 * is none that it needs. */
static double sum_of(const struct bench *bench, const struct kind *kind,
                     const double watts[TAKT_ENERGY_COUNTERS], bool is_total)
{
    double sum = 0;
    bool has_own = false;

    for (unsigned i = 0; i < takt__meter_count(bench->meter); i++) {
        const bool is_gpus =
            takt__meter_counters(bench->meter)[i].address[0] != '\0';
        if (!bench->counts[i] || (is_gpus && !kind->is_gpu))
            continue;
        has_own |= is_gpus == kind->is_gpu;
        sum += watts[i] - (is_total ? 0 : bench->idle_w[i]);
    }
    return has_own ? sum : NAN;
}

/* ---- report -------------------------------------------------------------- */

static const char *const bound_name[TAKT_BOUNDS] = {
    "l2", "l3", "memory", "computing", "starting", "link", "opening"};

static void print_term(void *self, unsigned arm, unsigned bound)
{
    const struct bench *bench = self;
    const struct takt_energy_watts watts = takt__energy_watts(
        takt__learner_energy(bench->ctx->learner), arm, bound);

    printf("  %-16s %-9s %8.1f W +- %.1f%s\n",
           takt_ctx_expert(bench->ctx, arm, NULL),
           bound == TAKT_ENERGY_BOUNDS ? "all" : bound_name[bound], watts.mean,
           watts.error, watts.is_known ? "" : ", unknown");
}

/* What the mixed run taught. What follows is learned from as well, and does not
 * count. */
static void keep_attribution(struct bench *bench,
                             const struct takt_model *model)
{
    struct takt_energy *energy = takt__learner_energy(bench->ctx->learner);

    for (unsigned i = 0; i < takt__energy_counter_count(energy); i++) {
        const struct takt_energy_windows w = takt__energy_windows(energy, i);
        const struct takt_energy_watts idle = takt__energy_idle(energy, i);
        printf("  %s %s: %u windows, rejected: %u of others, %u mixed, %u "
               "broken%s; idle %.1f W +- %.1f\n",
               takt__energy_counter(energy, i)->source,
               takt__energy_counter(energy, i)->name, w.used, w.busy_elsewhere,
               w.mixed, w.broken, w.is_gone ? ", gone" : "", idle.mean,
               idle.error);
    }
    takt__energy_each(energy, print_term, bench);
    for (unsigned i = 0; i < bench->kinds; i++) {
        struct kind *kind = &bench->kind[i];
        const unsigned arm = (unsigned)kind->expert,
                       bound = takt__model_bound(model, &kind->sample);
        kind->beyond_idle = takt__energy_watts(energy, arm, bound);
        kind->in_all = takt__energy_total_watts(energy, arm, bound);
    }
}

static void print_ratio(const char *what, struct takt_energy_watts attributed,
                        double seconds, double direct_j)
{
    const double joules = attributed.mean * seconds;

    if (!attributed.is_known)
        printf("    %-12s unknown", what);
    else
        printf("    %-12s %.4g J +- %.2g", what, joules,
               attributed.error * seconds);
    if (isnan(direct_j))
        puts(", directly unknown");
    else if (attributed.is_known)
        printf(", directly %.4g J, ratio %.3f\n", direct_j, joules / direct_j);
    else
        printf(", directly %.4g J\n", direct_j);
}

static void print_kind(const struct bench *bench, const struct kind *kind,
                       const double watts[TAKT_ENERGY_COUNTERS])
{
    const double mixed_s = kind->seconds / fmax(kind->calls, 1);

    printf("  %s: %.4g ms in the mixed run", kind->name, mixed_s * 1e3);
    if (kind->alone_s > 0)
        printf(", %.4g ms alone", kind->alone_s * 1e3);
    putchar('\n');
    print_ratio("beyond idle", kind->beyond_idle, mixed_s,
                sum_of(bench, kind, watts, false) * kind->alone_s);
    print_ratio("in all", kind->in_all, mixed_s,
                sum_of(bench, kind, watts, true) * kind->alone_s);
}

/* ---- recording ----------------------------------------------------------- */

/* The attribution begins with the first sample; from then on it is recorded. */
static FILE *begin_recording(struct bench *bench, const char *path)
{
    FILE *file = path == NULL ? NULL : fopen(path, "wxe");
    bool has_begun = false;

    if (path != NULL && file == NULL) {
        perror(path);
        exit(1);
    }
    for (int i = 0; i < 200 && !has_begun; i++) {
        run_until(bench, &bench->kind[bench->kinds - 1], 0);
        takt__learner_enter(bench->ctx->learner);
        struct takt_energy *energy = takt__learner_energy(bench->ctx->learner);
        has_begun = energy != NULL;
        if (has_begun && file != NULL) {
            fputs("takt-energy 1\n", file);
            takt__energy_set_log(energy, file);
        }
        takt__learner_leave(bench->ctx->learner);
        pause_until(bench_now_ns() + 10e6);
    }
    return file;
}

static void end_recording(struct bench *bench, FILE *file)
{
    takt__learner_enter(bench->ctx->learner);
    struct takt_energy *energy = takt__learner_energy(bench->ctx->learner);
    if (energy != NULL)
        takt__energy_set_log(energy, NULL);
    takt__learner_leave(bench->ctx->learner);
    if (file != NULL && fclose(file) != 0)
        perror("the recording");
}

/* ---- the parts ----------------------------------------------------------- */

static void attribute(struct bench *bench, const char *recording)
{
    FILE *file = begin_recording(bench, recording);

    run_mixed(bench);
    end_recording(bench, file);
    puts("mixed run, watts beyond idle:");
    const struct takt_model *model = takt__learner_enter(bench->ctx->learner);
    if (takt__learner_energy(bench->ctx->learner) != NULL)
        keep_attribution(bench, model);
    takt__learner_leave(bench->ctx->learner);
}

/* What has no counter is not run. */
static void compare(struct bench *bench)
{
    double watts[TAKT_ENERGY_COUNTERS] = {0};

    run_alone(bench, NULL, bench->idle_w);
    puts("joules per call:");
    for (unsigned i = 0; i < takt__meter_count(bench->meter); i++)
        printf("  %s: idle, directly: %.1f W\n",
               takt__meter_counters(bench->meter)[i].name, bench->idle_w[i]);
    for (unsigned i = 0; i < bench->kinds; i++) {
        struct kind *kind = &bench->kind[i];
        if (!isnan(sum_of(bench, kind, bench->idle_w, true)))
            run_alone(bench, kind, watts);
        print_kind(bench, kind, watts);
    }
}

static void open_bench(struct bench *bench, size_t order)
{
    const struct takt_hw_source host = takt__host_source();
    takt_gpu_device gpu = {.size = sizeof gpu};
    const char *problem;

    setenv("TAKT_ENERGY", "1", 1);
    takt_ctx_options options = {.policy = TAKT_POLICY_FIXED,
                                .expert = "cuda.0",
                                .store = "",
                                .telemetry = "",
                                .gpu = "all"};
    if (takt_ctx_create(&options, &bench->ctx) != TAKT_OK) {
        options.policy = TAKT_POLICY_ADAPTIVE; /* there is no such GPU */
        MUST(takt_ctx_create(&options, &bench->ctx));
    }
    takt_ctx_library(bench->ctx, 0);
    takt_ctx_open_gpus(bench->ctx);
    for (size_t i = 0; takt_ctx_gpu(bench->ctx, i, &gpu) == TAKT_OK; i++)
        if (strcmp(gpu.expert, "cuda.0") == 0)
            snprintf(bench->address, sizeof bench->address, "%s", gpu.address);
    bench->meter = takt__meter_open(&host, true);
    if (bench->meter == NULL)
        exit(1);
    for (unsigned i = 0; i < takt__meter_count(bench->meter); i++)
        printf("  counter: %s %s %s\n",
               takt__meter_counters(bench->meter)[i].source,
               takt__meter_counters(bench->meter)[i].name,
               takt__meter_counters(bench->meter)[i].address);
    for (unsigned i = 0;
         (problem = takt__meter_problem(bench->meter, i)) != NULL; i++)
        printf("  %s\n", problem);
    printf("  cuda.0 is at '%s'\n", bench->address);
    choose_counters(bench);
    add_kinds(bench, order);
}

int main(int argc, char **argv)
{
    struct bench bench = {.seconds = argc > 1 ? atof(argv[1]) : 60,
                          .random = 1};
    const long order = argc > 2 ? atol(argv[2]) : 8192;

    if (!(bench.seconds >= 1) || order < 64 || argc > 4) {
        fprintf(stderr, "usage: bench_energy [SECONDS] [ORDER] [RECORDING]\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    bench_print_load();
    open_bench(&bench, (size_t)order);
    if (takt__meter_count(bench.meter) == 0) {
        puts("no counter of energy: nothing to compare");
        return 0;
    }
    attribute(&bench, argc > 3 ? argv[3] : NULL);
    compare(&bench);
    takt__meter_close(bench.meter);
    takt_ctx_destroy(bench.ctx);
    return 0;
}
