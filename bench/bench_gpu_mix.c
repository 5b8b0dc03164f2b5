/* SPDX-License-Identifier: MIT */
/*
 * bench_gpu_mix.c - calls on the host's and on a GPU's memory, all ops, routed
 * by what was learned, against the best expert per call.
 *
 *     bench_gpu_mix [STORE]    with a store that `takt tune` filled: tuned too
 *
 * Sizes are log-uniform, f32 and f64, in random order; half of the calls have
 * their operands in buffers that only the GPU has a valid copy of. A call ends
 * when its result is there (takt_sync()), and every call finds the threads of
 * the pool asleep. The oracle takes the median of every
 * expert for every kind of call, in this very run, and the shortest of them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "tune/operands.h"
#include "workload.h"

enum { cells = 160, rounds = 9, operands = 5, contenders = 3 };

/* Nobody waits longer than this for one call. */
static const double too_long_s = 0.3;

struct copies {
    takt_buffer *of[operands]; /* in[0..3], out */
    takt_call call;
};

struct kind {
    takt_call call; /* on the host's memory */
    bool is_resident;
    struct takt_lengths lengths;
    struct copies own;                /* for the experts */
    struct copies routed[contenders]; /* a buffer belongs to one context */
    double seconds[max_experts][rounds];
    int count[max_experts];
    bool is_out[max_experts]; /* too slow, or cannot */
    double routed_s[contenders][rounds];
    double best_s;
    size_t best;
};

struct contender {
    const char *name;
    takt_ctx *ctx;
};

struct mix {
    takt_ctx *ctx;
    size_t gpu; /* its arm */
    size_t experts;
    struct kind *kind;
    struct contender who[contenders];
    size_t contenders;
    int order[cells];
    uint64_t random;
};

static void stop(const char *what)
{
    fprintf(stderr, "bench_gpu_mix: %s\n", what);
    exit(1);
}

#define MUST(call)             \
    do                         \
        if ((call) != TAKT_OK) \
            stop(#call);       \
    while (0)

/* ---- kinds of calls --------------------------------------------------------
 */

static size_t between(uint64_t *random, double low, double high)
{
    return (size_t)exp2(low + (high - low) * workload_random(random));
}

static takt_shape shape_of(const takt_op *op, uint64_t *r)
{
    if (strcmp(op->shape, "N") == 0)
        return (takt_shape){.rank = 1, .dim = {between(r, 4, 24)}};
    if (strcmp(op->shape, "MxNxK") == 0)
        return (takt_shape){
            .rank = 3,
            .dim = {between(r, 3, 12), between(r, 3, 12), between(r, 3, 12)}};
    if (strcmp(op->shape, "BxMxNxK") == 0)
        return (takt_shape){.rank = 4,
                            .dim = {between(r, 0, 7), between(r, 3, 8),
                                    between(r, 3, 8), between(r, 3, 8)}};
    if (strcmp(op->shape, "BxHxQxKxD") == 0)
        return (takt_shape){.rank = 5,
                            .dim = {between(r, 0, 3), between(r, 0, 4),
                                    between(r, 0, 10), between(r, 4, 11), 64}};
    if (strcmp(op->name, "conv2d") == 0) {
        const size_t side = between(r, 3, 7);
        return (takt_shape){.rank = 10,
                            .dim = {between(r, 0, 4), between(r, 2, 7), side,
                                    side, between(r, 2, 7), 3, 3, 1, 1, 1}};
    }
    if (strcmp(op->name, "pooling") == 0) {
        const size_t side = between(r, 3, 8);
        return (takt_shape){
            .rank = 7,
            .dim = {between(r, 0, 4), between(r, 2, 7), side, side, 3, 2, 1}};
    }
    return (takt_shape){.rank = 2,
                        .dim = {between(r, 2, 12), between(r, 2, 12)}};
}

static void make_kind(struct mix *mix, struct kind *kind, bool is_resident)
{
    const takt_op *op;
    takt_dtype dtype;
    takt_shape shape;

    do {
        op = takt_op_at(
            (size_t)(workload_random(&mix->random) * (double)takt_op_count()));
        dtype = workload_random(&mix->random) < 0.7 ? TAKT_F32 : TAKT_F64;
        shape = shape_of(op, &mix->random);
    } while (strcmp(op->name, "reshape") == 0 ||
             (op->dtypes >> dtype & 1) == 0);
    kind->is_resident = is_resident;
    if (takt__operands_make(op, dtype, &shape, &kind->call, &kind->lengths) !=
        TAKT_OK)
        stop("no memory");
}

/* The same operands in buffers of a context. A reduction still writes to the
 * host. */
static void make_copies(takt_ctx *ctx, const struct kind *kind,
                        struct copies *out)
{
    const size_t size = takt_dtype_size(kind->call.dtype);
    const size_t *length = kind->lengths.of;

    out->call = kind->call;
    for (int i = 0; i < operands; i++) {
        const void *from = i == 4 ? kind->call.out : kind->call.in[i];
        if (length[i] <= 1 || from == NULL)
            continue;
        if (i < 4 && from == kind->call.out)
            continue; /* axpy: the output below */
        MUST(takt_buffer_create(ctx, length[i] * size, from, &out->of[i]));
        if (i == 4)
            out->call.out = takt_buffer_address(out->of[i]);
        else
            out->call.in[i] = takt_buffer_address(out->of[i]);
    }
    if (kind->call.in[1] == kind->call.out)
        out->call.in[1] = out->call.out;
}

/* Leaves the only valid copy of every operand on the GPU. */
static void send_home(takt_ctx *ctx, size_t gpu, const struct copies *copies)
{
    const takt_dtype dtype = copies->call.dtype;

    for (int i = 0; i < operands; i++) {
        if (copies->of[i] == NULL)
            continue;
        void *at = takt_buffer_address(copies->of[i]);
        const takt_call touch = {
            .op = takt_op_find("scale"),
            .dtype = dtype,
            .shape = {.rank = 1,
                      .dim = {takt_buffer_bytes(copies->of[i]) /
                              takt_dtype_size(dtype)}},
            .in = {at},
            .out = at,
            .alpha = 1,
        };
        MUST(takt_run_on(ctx, &touch, gpu));
    }
    MUST(takt_sync(ctx));
}

/* ---- timing ----------------------------------------------------------------
 */

/* Whoever ran before has left threads awake, or not; nobody is to gain from
 * that. */
static void rest(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 300000}, NULL);
}

/* One call, to its result; expert max_experts: as the context decides. */
static double time_once(struct mix *mix, takt_ctx *ctx, const struct kind *kind,
                        const struct copies *copies, size_t expert,
                        takt_status *status)
{
    const takt_call *call = kind->is_resident ? &copies->call : &kind->call;

    if (kind->is_resident)
        send_home(ctx, mix->gpu, copies);
    rest();
    const double start = bench_now_ns();
    *status = expert == max_experts ? takt_run(ctx, call, NULL)
                                    : takt_run_on(ctx, call, expert);
    if (*status == TAKT_OK && kind->is_resident)
        *status = takt_sync(ctx);
    return (bench_now_ns() - start) * 1e-9;
}

/* The same as a program sees it that makes such calls: a short one has been
 * made before. */
static double time_call(struct mix *mix, takt_ctx *ctx, const struct kind *kind,
                        const struct copies *copies, size_t expert,
                        takt_status *status)
{
    const double first = time_once(mix, ctx, kind, copies, expert, status);

    return first > 100e-6 || *status != TAKT_OK
               ? first
               : time_once(mix, ctx, kind, copies, expert, status);
}

/* Who is far behind, by the prior or by a first look, is not asked again. */
static void look(struct mix *mix, struct kind *kind)
{
    takt_estimate estimate[max_experts] = {{.size = sizeof estimate[0]}};
    const takt_request request = {.op = kind->call.op,
                                  .dtype = kind->call.dtype,
                                  .shape = kind->call.shape,
                                  .flags = kind->call.flags};
    double first[max_experts], best = INFINITY;
    size_t known = 0;
    takt_status status;

    takt_explain(mix->ctx, &request, estimate, max_experts, &known);
    for (size_t e = 0; e < mix->experts; e++) {
        const char *name = takt_ctx_expert(mix->ctx, e, NULL);
        for (size_t i = 0; i < known; i++)
            if (strcmp(estimate[i].expert, name) == 0)
                kind->is_out[e] = estimate[i].predicted_s > too_long_s;
        if (kind->is_out[e])
            continue;
        time_once(mix, mix->ctx, kind, &kind->own, e, &status);
        first[e] = time_once(mix, mix->ctx, kind, &kind->own, e, &status);
        kind->is_out[e] = status != TAKT_OK;
        if (!kind->is_out[e] && first[e] < best)
            best = first[e];
    }
    for (size_t e = 0; e < mix->experts; e++)
        kind->is_out[e] |= !kind->is_out[e] && first[e] > 4 * best;
}

static void shuffle(struct mix *mix)
{
    for (int i = cells; i-- > 1;) {
        const int j = (int)(workload_random(&mix->random) * (i + 1));
        const int kept = mix->order[i];
        mix->order[i] = mix->order[j];
        mix->order[j] = kept;
    }
}

static void run_round(struct mix *mix, int round)
{
    takt_status status;

    shuffle(mix);
    for (int i = 0; i < cells; i++) {
        struct kind *kind = &mix->kind[mix->order[i]];
        for (size_t e = 0; e < mix->experts; e++)
            if (!kind->is_out[e])
                kind->seconds[e][round] =
                    time_once(mix, mix->ctx, kind, &kind->own, e, &status);
        for (size_t c = 0; c < mix->contenders; c++) {
            kind->routed_s[c][round] =
                time_call(mix, mix->who[c].ctx, kind, &kind->routed[c],
                          max_experts, &status);
            if (status != TAKT_OK)
                stop("a routed call failed");
        }
    }
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(const double *from)
{
    double sorted[rounds];

    memcpy(sorted, from, sizeof sorted);
    qsort(sorted, rounds, sizeof sorted[0], by_value);
    return sorted[rounds / 2];
}

static void find_best(struct mix *mix)
{
    for (int i = 0; i < cells; i++) {
        struct kind *kind = &mix->kind[i];
        kind->best_s = INFINITY;
        for (size_t e = 0; e < mix->experts; e++) {
            const double s =
                kind->is_out[e] ? INFINITY : median(kind->seconds[e]);
            if (s < kind->best_s) {
                kind->best_s = s;
                kind->best = e;
            }
        }
    }
}

/* ---- report ----------------------------------------------------------------
 */

static void describe(const struct mix *mix, const struct kind *kind,
                     double ratio)
{
    printf("    %6.2fx  %s %s", ratio, kind->call.op->name,
           takt_dtype_name(kind->call.dtype));
    for (unsigned i = 0; i < kind->call.shape.rank; i++)
        printf("%c%zu", i == 0 ? ' ' : 'x', kind->call.shape.dim[i]);
    printf(", operands on the %s: %.1f us on %s\n",
           kind->is_resident ? "GPU" : "host", kind->best_s * 1e6,
           takt_ctx_expert(mix->ctx, kind->best, NULL));
}

static void report(const struct mix *mix, size_t contender)
{
    double total = 0, best = 0, logs = 0, ratio[cells];

    for (int i = 0; i < cells; i++) {
        const struct kind *kind = &mix->kind[i];
        const double s = median(kind->routed_s[contender]);
        ratio[i] = s / kind->best_s;
        total += s;
        best += kind->best_s;
        logs += log(ratio[i]);
    }
    printf("%-8s %8.3f %10.3f   (%.1f ms, oracle %.1f ms)\n",
           mix->who[contender].name, total / best, exp(logs / cells),
           total * 1e3, best * 1e3);
    for (int shown = 0; shown < 10; shown++) {
        int worst = 0;
        for (int i = 1; i < cells; i++)
            if (ratio[i] > ratio[worst])
                worst = i;
        describe(mix, &mix->kind[worst], ratio[worst]);
        ratio[worst] = 0;
    }
}

static void report_oracle(const struct mix *mix)
{
    int gpu[2] = {0, 0}, all[2] = {0, 0};

    for (int i = 0; i < cells; i++) {
        all[mix->kind[i].is_resident]++;
        gpu[mix->kind[i].is_resident] += mix->kind[i].best == mix->gpu;
    }
    printf("the oracle takes the GPU for %d of %d calls on the host's memory "
           "and %d of %d on the GPU's\n",
           gpu[0], all[0], gpu[1], all[1]);
}

/* ---- all of it -------------------------------------------------------------
 */

static takt_ctx *open_ctx(takt_policy policy, const char *store)
{
    takt_ctx *ctx;

    MUST(takt_ctx_create(
        &(takt_ctx_options){.policy = policy, .store = store, .gpu = "all"},
        &ctx));
    return ctx;
}

static bool find_gpu(struct mix *mix)
{
    takt_gpu_device gpu = {.size = sizeof gpu};

    if (takt_ctx_gpu(mix->ctx, 0, &gpu) != TAKT_OK ||
        gpu.state != TAKT_GPU_READY)
        return false;
    for (const char *name;
         (name = takt_ctx_expert(mix->ctx, mix->experts, NULL)) != NULL;
         mix->experts++)
        if (strcmp(name, gpu.expert) == 0)
            mix->gpu = mix->experts;
    printf("%s, %s\n", gpu.model, gpu.version);
    return true;
}

int main(int argc, char **argv)
{
    bench_refuse_options(argc, argv, "[STORE]");
    const char *store = argc > 1 ? argv[1] : "";
    struct mix mix = {.ctx = open_ctx(TAKT_POLICY_ADAPTIVE, ""),
                      .random = 20261115,
                      .contenders = store[0] != '\0' ? 3 : 2};

    if (!find_gpu(&mix)) {
        printf("no GPU is ready\n");
        takt_ctx_destroy(mix.ctx);
        return 0;
    }
    mix.who[0] = (struct contender){"cold", open_ctx(TAKT_POLICY_ADAPTIVE, "")};
    mix.who[1] = (struct contender){"moe", open_ctx(TAKT_POLICY_MOE, "")};
    if (mix.contenders == 3)
        mix.who[2] =
            (struct contender){"tuned", open_ctx(TAKT_POLICY_ADAPTIVE, store)};
    mix.kind = calloc(cells, sizeof *mix.kind);
    if (mix.kind == NULL)
        stop("no memory");
    for (int i = 0; i < cells; i++) {
        struct kind *kind = &mix.kind[i];
        mix.order[i] = i;
        make_kind(&mix, kind, i % 2 == 1);
        if (kind->is_resident) {
            make_copies(mix.ctx, kind, &kind->own);
            for (size_t c = 0; c < mix.contenders; c++)
                make_copies(mix.who[c].ctx, kind, &kind->routed[c]);
        }
        look(&mix, kind);
    }
    for (int round = 0; round < rounds; round++)
        run_round(&mix, round);
    find_best(&mix);
    report_oracle(&mix);
    printf("time / best expert per call\n%-8s %8s %10s\n", "", "total",
           "geometric");
    for (size_t c = 0; c < mix.contenders; c++)
        report(&mix, c);
    return 0;
}
