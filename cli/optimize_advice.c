/* SPDX-License-Identifier: MIT */
/*
 * optimize_advice.c - where a finding should run.
 *
 * The flags decide about GPUs: a product of matrices belongs there from
 * --gpu-threshold on, other ops from the sizes of the moe rule on. Between SIMD
 * and Scalar the router decides, by what was measured on this machine or by its
 * prior; with use_moe_routing the moe rule does. Where the size is not known
 * the advice says from which size on what is right.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "context.h"
#include "optimize.h"
#include "route.h"
#include "tune/family.h"

/* ---- sizes ---- */

static bool is_matrix_product(const takt_op *op)
{
    return strcmp(op->shape, "MxNxK") == 0 || strcmp(op->shape, "BxMxNxK") == 0;
}

/* Padding may be 0; any other size of 0 is one that is not known. */
static bool is_unknown(const takt_op *op, const takt_shape *shape, unsigned i)
{
    const unsigned pad = strcmp(op->name, "conv2d") == 0    ? 8
                         : strcmp(op->name, "pooling") == 0 ? 6
                                                            : 99;
    return shape->dim[i] == 0 && i != pad;
}

/* Of matrices, the sizes that are known stand for those that are not. */
static void fill_gaps(const takt_op *op, takt_shape *shape)
{
    double product = 1;
    unsigned known = 0;
    const unsigned first = shape->rank == 4 ? 1 : 0;

    if (!is_matrix_product(op) && strcmp(op->shape, "MxN") != 0)
        return;
    for (unsigned i = first; i < shape->rank; i++)
        if (shape->dim[i] != 0) {
            product *= (double)shape->dim[i];
            known++;
        }
    if (known == 0)
        return;
    const size_t usual = (size_t)llround(pow(product, 1.0 / known));
    for (unsigned i = first; i < shape->rank; i++)
        if (shape->dim[i] == 0)
            shape->dim[i] = usual;
    if (first == 1 && shape->dim[0] == 0)
        shape->dim[0] = 1;
}

/* The shape to judge by; rank 0: not enough is known. */
static takt_shape judged_shape(const struct takt_finding *finding)
{
    takt_shape shape = finding->size.shape;

    if (shape.rank == 0 || shape.rank > TAKT_SHAPE_MAX_RANK)
        return (takt_shape){.rank = 0};
    if (shape.rank > 1)
        fill_gaps(finding->op, &shape);
    for (unsigned i = 0; i < shape.rank; i++)
        if (is_unknown(finding->op, &shape, i))
            return (takt_shape){.rank = 0};
    if (takt_op_check_shape(finding->op, &shape) != TAKT_OK)
        return (takt_shape){.rank = 0};
    return shape;
}

/* The side of the square product that is as much work. */
static double dimension_of(const takt_shape *shape)
{
    double product = 1;

    if (shape->rank == 1) /* elements alone */
        return sqrt((double)shape->dim[0]);
    for (unsigned i = 0; i < shape->rank; i++)
        product *= (double)shape->dim[i];
    return cbrt(product) * (1 + 1e-12); /* 500 is 500 */
}

/* ---- the router ---- */

struct estimates {
    takt_estimate of[most_estimates];
    size_t count;
    bool is_measured;
};

static void ask(const struct rules *rules, const takt_op *op, takt_dtype dtype,
                const takt_shape *shape, struct estimates *out)
{
    const takt_request request = {.policy = TAKT_POLICY_ADAPTIVE,
                                  .op = op,
                                  .dtype = dtype,
                                  .shape = *shape};
    takt_decision decision = {.size = sizeof decision};

    out->of[0].size = sizeof out->of[0];
    out->count = 0;
    out->is_measured = false;
    if (rules->ctx == NULL)
        return;
    takt_status status = takt_explain(rules->ctx, &request, out->of,
                                      most_estimates, &out->count);
    if (status != TAKT_OK)
        out->count = 0;
    else if (out->count > 0 && rules->is_tuned)
        status = takt_select(rules->ctx, &request, &decision);
    out->is_measured = status == TAKT_OK && out->count > 0 && rules->is_tuned &&
                       decision.reason == TAKT_REASON_MODEL;
    rules->crossovers->lacks_memory |= status == TAKT_ENOMEM;
}

/* The fastest expert that is awake and on one of these backends (bits), whose
 * name begins so, on at most so many threads; NULL: there is none. */
static const takt_estimate *find_best(const struct estimates *estimates,
                                      unsigned backends, const char *prefix,
                                      unsigned threads)
{
    const takt_estimate *best = NULL;

    for (size_t i = 0; i < estimates->count; i++) {
        const takt_estimate *at = &estimates->of[i];
        if ((backends >> at->backend & 1) != 0 && !at->is_asleep &&
            strncmp(at->expert, prefix, strlen(prefix)) == 0 &&
            expert_threads(at->expert) <= threads &&
            (best == NULL || total_s(at) < total_s(best)))
            best = at;
    }
    return best;
}

static const takt_estimate *best_of(const struct estimates *estimates,
                                    unsigned backends)
{
    return find_best(estimates, backends, "", UINT_MAX);
}

enum {
    on_scalar = 1 << TAKT_BACKEND_SCALAR,
    on_simd = 1 << TAKT_BACKEND_SIMD,
    on_gpu = 1 << TAKT_BACKEND_GPU
};

static takt_backend best_processor(const struct rules *rules,
                                   const struct estimates *estimates)
{
    const takt_estimate *best = best_of(estimates, on_scalar | on_simd);

    if (!rules->enable_simd)
        return TAKT_BACKEND_SCALAR;
    return best == NULL ? TAKT_BACKEND_SIMD : best->backend;
}

/* ---- known sizes ---- */

static bool is_for_gpu(const struct rules *rules, const takt_op *op,
                       const takt_shape *shape)
{
    if (!rules->enable_gpu)
        return false;
    if (is_matrix_product(op))
        return dimension_of(shape) >= (double)rules->gpu_threshold;
    return takt_op_elements(op, shape) >
           takt_moe_threshold(op->complexity, TAKT_BACKEND_GPU);
}

/* A GPU that was measured here and is slower is no good advice, unless the
 * threshold, which is about products, says so. */
static bool is_gpu_slower(const takt_op *op, const struct estimates *estimates)
{
    const takt_estimate *gpu = best_of(estimates, on_gpu);
    const takt_estimate *other = best_of(estimates, on_scalar | on_simd);

    return !is_matrix_product(op) && estimates->is_measured && gpu != NULL &&
           other != NULL && gpu->samples > 0 && total_s(other) < total_s(gpu);
}

static takt_backend choose(const struct rules *rules, const takt_op *op,
                           const takt_shape *shape,
                           const struct estimates *estimates)
{
    if (is_for_gpu(rules, op, shape) &&
        (rules->use_moe || !is_gpu_slower(op, estimates)))
        return TAKT_BACKEND_GPU;
    if (!rules->use_moe)
        return best_processor(rules, estimates);
    const takt_backend rule =
        takt_moe_select(op->complexity, takt_op_elements(op, shape));
    return rule == TAKT_BACKEND_SCALAR || !rules->enable_simd
               ? TAKT_BACKEND_SCALAR
               : TAKT_BACKEND_SIMD;
}

/* What runs it now, and is to be compared with. */
static const takt_estimate *find_baseline(const takt_op *op,
                                          const struct estimates *estimates,
                                          enum runs_now runs, const char **name)
{
    const bool is_product =
        is_matrix_product(op) || strcmp(op->name, "gemv") == 0;
    const takt_estimate *blas =
        runs == RUNS_LIBRARY && is_product
            ? find_best(estimates, on_simd, "blas.", UINT_MAX)
            : NULL;
    const takt_estimate *now =
        blas != NULL ? blas : find_best(estimates, on_simd, "simd.", 1);

    *name = runs == RUNS_LIBRARY ? "library" : "vectorised";
    if (runs != RUNS_SCALAR && now != NULL)
        return now;
    *name = "scalar";
    return best_of(estimates, on_scalar);
}

static void predict(const struct rules *rules, const takt_op *op,
                    struct advice *advice, const struct estimates *estimates,
                    enum runs_now runs)
{
    const char *name;
    const takt_estimate *now = find_baseline(op, estimates, runs, &name);
    const takt_estimate *best = best_of(estimates, 1u << advice->backend);

    if (best == NULL) /* no GPU here: what there is instead */
        best =
            best_of(estimates, on_scalar | (rules->enable_simd ? on_simd : 0));
    if (!estimates->is_measured || now == NULL || best == NULL)
        return;
    memcpy(advice->expert, best->expert, sizeof advice->expert);
    advice->baseline = name;
    advice->baseline_s = total_s(now);
    advice->best_s = total_s(best);
}

/* ---- unknown sizes ---- */

/* The size from which on SIMD wins here, for ops whose families have one
 * size; 0: always. */
static size_t walk_sizes(const struct rules *rules, const takt_op *op,
                         takt_dtype dtype)
{
    const struct takt_family *family = takt__family_at(op, 0);
    const bool is_simple =
        strcmp(op->shape, "N") == 0 || strcmp(op->shape, "MxNxK") == 0;
    size_t from = 0;

    if (!is_simple || family == NULL)
        return 0;
    for (unsigned step = 2; step <= family->high; step++) {
        const takt_shape shape = takt__family_shape(family, step);
        struct estimates estimates;
        ask(rules, op, dtype, &shape, &estimates);
        const takt_estimate *best = best_of(&estimates, on_scalar | on_simd);
        if (best != NULL && best->backend == TAKT_BACKEND_SCALAR)
            from = takt__step_side(step + 1);
    }
    return from;
}

/* It is the same for all findings of an op, so it is looked for once. */
static size_t measured_crossover(const struct rules *rules, const takt_op *op,
                                 takt_dtype dtype)
{
    size_t index = 0;

    if (!rules->is_tuned)
        return 0;
    while (takt_op_at(index) != NULL && takt_op_at(index) != op)
        index++;
    if (index >= most_ops)
        return walk_sizes(rules, op, dtype);
    struct crossover *known = &rules->crossovers->of[index][dtype];
    if (!known->is_known)
        *known = (struct crossover){true, walk_sizes(rules, op, dtype)};
    return known->from;
}

static void find_crossovers(const struct rules *rules, const takt_op *op,
                            struct advice *advice)
{
    const size_t simd = takt_moe_threshold(op->complexity, TAKT_BACKEND_SIMD);
    const size_t gpu = takt_moe_threshold(op->complexity, TAKT_BACKEND_GPU);

    advice->is_dimension = is_matrix_product(op);
    advice->simd_from = advice->gpu_from = SIZE_MAX;
    if (rules->enable_simd && !rules->use_moe)
        advice->simd_from = measured_crossover(rules, op, advice->dtype);
    else if (rules->enable_simd && advice->is_dimension)
        advice->simd_from = (size_t)sqrt((double)simd) + 1;
    else if (rules->enable_simd)
        advice->simd_from = simd + 1;
    if (rules->enable_gpu && advice->is_dimension)
        advice->gpu_from = (size_t)rules->gpu_threshold;
    else if (rules->enable_gpu && gpu != SIZE_MAX)
        advice->gpu_from = gpu + 1;
    if (advice->simd_from > advice->gpu_from)
        advice->simd_from = SIZE_MAX; /* the GPU has it all from there on */
}

static void say_crossovers(struct advice *advice)
{
    const struct number_text gpu = count_text(advice->gpu_from);
    const struct number_text simd = count_text(advice->simd_from);
    const bool has_gpu = advice->gpu_from != SIZE_MAX;
    const bool has_simd = advice->simd_from != SIZE_MAX;
    const bool is_simd_first = advice->simd_from == 0;

    advice->is_conditional = has_gpu || (has_simd && !is_simd_first);
    advice->backend = is_simd_first ? TAKT_BACKEND_SIMD : TAKT_BACKEND_SCALAR;
    if (!advice->is_conditional)
        snprintf(advice->text, sizeof advice->text, "%s",
                 takt_backend_name(advice->backend));
    else if (has_gpu && has_simd && !is_simd_first)
        snprintf(advice->text, sizeof advice->text,
                 "GPU from n >= %s, SIMD from n >= %s, Scalar below", gpu.at,
                 simd.at);
    else
        snprintf(advice->text, sizeof advice->text, "%s from n >= %s, %s below",
                 has_gpu ? "GPU" : "SIMD", has_gpu ? gpu.at : simd.at,
                 has_gpu && is_simd_first ? "SIMD" : "Scalar");
}

/* ---- the call that replaces it, with the sizes that are known ---- */

/* Arguments of the calls in takt/ops.h; $0, $1, ... are the sizes, by their
 * position in the shape, and stand for the name behind them. */
static const struct {
    const char *op, *arguments;
} calls[] = {
    {"add", "$0n, a, b, out"},
    {"sub", "$0n, a, b, out"},
    {"mul", "$0n, a, b, out"},
    {"div", "$0n, a, b, out"},
    {"scale", "$0n, alpha, a, out"},
    {"axpy", "$0n, alpha, x, y"},
    {"fma", "$0n, a, b, c, out"},
    {"clamp", "$0n, low, high, a, out"},
    {"transpose", "$0rows, $1cols, a, $1cols, out, $0rows"},
    {"dot", "$0n, a, b, &out"},
    {"softmax", "$0rows, $1cols, a, out"},
    {"layernorm", "$0rows, $1cols, a, gain, bias, epsilon, out"},
    {"gemv", "0, $0m, $1n, 1, a, $1n, x, 0, y"},
    {"matmul", "$0m, $1n, $2k, a, b, c"},
    {"batched_matmul", "$0batch, $1m, $2n, $3k, a, b, c"},
    {"conv2d", "&sizes, in, filters, bias, out"},
    {"pooling", "&sizes, in, out"},
    {"attention", "&sizes, queries, keys, values, out"},
};

static const char *arguments_of(const takt_op *op)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strcmp(calls[i].op, op->name) == 0)
            return calls[i].arguments;
    return op->complexity == TAKT_COMPLEXITY_MEDIUM ? "$0n, a, &out"
                                                    : "$0n, a, out";
}

/* "takt_matmul_f32(512, 512, k, a, b, c)": sizes as far as they are known. */
static void format_call(const takt_op *op, takt_dtype dtype,
                        const takt_shape *shape, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    if (strcmp(op->name, "reshape") == 0)
        return; /* nothing moves: nothing is to be called */
    used += (size_t)snprintf(out, size, "takt_%s_%s(", op->name,
                             takt_dtype_name(dtype));
    for (const char *at = arguments_of(op); *at != '\0' && used < size;) {
        if (*at != '$') {
            used += (size_t)snprintf(out + used, size - used, "%c", *at++);
            continue;
        }
        const unsigned index = (unsigned)(at[1] - '0');
        const size_t length = strcspn(at, ",)");
        const bool is_known = shape->rank >= op->rank_min &&
                              index < shape->rank && shape->dim[index] != 0;
        if (is_known)
            used += (size_t)snprintf(out + used, size - used, "%zu",
                                     shape->dim[index]);
        else
            used += (size_t)snprintf(out + used, size - used, "%.*s",
                                     (int)length - 2, at + 2);
        at += length;
    }
    if (used < size)
        snprintf(out + used, size - used, ")");
}

/* ---- both ---- */

/* Numbers that are multiplied, not added: as much work as a sum, but no call of
 * ours does it. */
static bool is_stand_in(const struct takt_finding *finding)
{
    return strstr(finding->pattern, "/product-") != NULL;
}

struct rules rules_of(const struct takt_project_config *config,
                      struct crossovers *crossovers)
{
    return (struct rules){.enable_gpu = config->enable_gpu,
                          .enable_simd = config->enable_simd,
                          .use_moe = config->use_moe_routing,
                          .gpu_threshold = config->gpu_threshold,
                          .crossovers = crossovers};
}

struct advice advise(const struct rules *rules,
                     const struct takt_finding *finding, enum runs_now runs)
{
    const takt_op *op = finding->op;
    struct advice advice = {.shape = judged_shape(finding),
                            .dtype = finding->dtype,
                            .baseline = "scalar"};
    struct estimates estimates = {.count = 0};

    const bool has_dtype = (op->dtypes >> advice.dtype & 1) != 0;
    if (!has_dtype)
        advice.dtype = TAKT_F32; /* the nearest that can be asked about */
    if ((has_dtype || !finding->is_dtype_known) && !is_stand_in(finding) &&
        finding->certainty != TAKT_CONTAINS) /* it would not do the rest */
        format_call(op, advice.dtype, &finding->size.shape, advice.call,
                    sizeof advice.call);
    if (advice.shape.rank == 0) {
        find_crossovers(rules, op, &advice);
        say_crossovers(&advice);
        return advice;
    }
    if (advice.shape.rank >= op->rank_min)
        ask(rules, op, advice.dtype, &advice.shape, &estimates);
    advice.backend = choose(rules, op, &advice.shape, &estimates);
    snprintf(advice.text, sizeof advice.text, "%s",
             takt_backend_name(advice.backend));
    predict(rules, op, &advice, &estimates, runs);
    return advice;
}

double predicted_speedup(const struct advice *advice)
{
    return advice->best_s > 0 ? advice->baseline_s / advice->best_s : 0;
}
