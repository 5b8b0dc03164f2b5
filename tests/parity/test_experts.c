/* SPDX-License-Identifier: MIT */
/*
 * test_experts.c - every expert of this machine, on 1, 2 and 4 threads, runs
 * every op through the front door and gives what "scalar" gives.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include "parity/trial.h"

/* Threads that outnumber the cores wait for each other, so they try less. */
enum {
    trials = is_sanitized ? 8 : 24,
    team_trials = is_sanitized ? 3 : 6,
    most_experts = 64,
    most_threads = 4
};

/* Sanitizers cannot see into other people's libraries. */
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
static const char *const libraries = "";
#else
static const char *const libraries = NULL;
#endif

static char names[most_experts][TAKT_EXPERT_NAME_MAX];
static size_t name_count;
static char best_simd[TAKT_EXPERT_NAME_MAX]; /* on one thread */
static takt_ctx *scalar_ctx;
static char *want, *start, *sizes, *first;

static takt_ctx *ctx_of(const char *expert)
{
    takt_ctx *ctx;

    REQUIRE(takt_ctx_create(&(takt_ctx_options){.policy = TAKT_POLICY_FIXED,
                                                .expert = expert,
                                                .threads = most_threads,
                                                .blas = libraries},
                            &ctx) == TAKT_OK);
    return ctx;
}

static void list_experts(void)
{
    takt_ctx *ctx = ctx_of("scalar");
    const char *name;

    for (size_t i = 0; (name = takt_ctx_expert(ctx, i, NULL)) != NULL; i++) {
        REQUIRE(name_count < most_experts);
        snprintf(names[name_count++], sizeof names[0], "%s", name);
    }
    const takt_isa best = takt_machine_best_isa(takt_ctx_machine(ctx));
    snprintf(best_simd, sizeof best_simd, "simd.%s", takt_isa_name(best));
    takt_ctx_destroy(ctx);
}

/* ---- comparing -------------------------------------------------------------
 */

static double at(const void *array, takt_dtype dtype, size_t i)
{
    return dtype == TAKT_F64 ? ((const double *)array)[i]
                             : (double)((const float *)array)[i];
}

static double formula(const struct trial *t, size_t i)
{
    const double result = at(want, t->call.dtype, i);
    const enum takt_op_id op = takt__op_id(t->call.op);

    if (op == TAKT_OP_softmax)
        return 2 * tolerance_softmax(result, 2);
    if (op == TAKT_OP_layernorm) /* operands are in [-1, 1] */
        return tolerance_layernorm(fabs(result) + 1, 1, 1);
    return tolerance_attention(sqrt((double)t->call.shape.dim[4]) + 1, 1);
}

/* Both results may be off, by rounding at least. */
static double allowed(const struct trial *t, size_t i)
{
    const struct takt_tolerance *tolerance = t->tolerance;
    const bool is_double = t->call.dtype == TAKT_F64;
    const double result = at(want, t->call.dtype, i);

    switch (tolerance->of) {
    case TAKT_ACCURACY_EXACT:
    case TAKT_ACCURACY_VALUE:
        return 0;
    case TAKT_ACCURACY_ULP:
        return (takt__units(tolerance, t->call.dtype) + 0.5) *
               (double)ulp_of((long double)result, is_double);
    case TAKT_ACCURACY_RESULT:
        return (tolerance->units + 1) * eps_of(is_double) * fabs(result);
    case TAKT_ACCURACY_BACKWARD: /* operands are far from singular */
        return 4 * tolerance->units * eps_of(is_double) *
               (double)t->call.shape.dim[0] * (fabs(result) + 1);
    case TAKT_ACCURACY_FORMULA:
        return formula(t, i);
    case TAKT_ACCURACY_MAGNITUDE:
    case TAKT_ACCURACY_ROOT:
        break;
    }
    return 2 * tolerance_sum(tolerance, is_double, at(sizes, t->call.dtype, i),
                             t->terms);
}

static bool is_position(const struct trial *t)
{
    const enum takt_op_id op = takt__op_id(t->call.op);
    return op == TAKT_OP_argmax || op == TAKT_OP_argmin;
}

static void compare(const struct trial *t)
{
    const takt_dtype dtype = t->call.dtype;

    if (is_position(t)) {
        TAP_CHECK(memcmp(t->call.out, want, sizeof(size_t)) == 0,
                  "%s: another position", guard_doing);
        return;
    }
    for (size_t i = 0; i < t->out; i++) {
        const double got = at(t->call.out, dtype, i);
        const double right = at(want, dtype, i);
        if (!is_near(got, right, allowed(t, i), dtype == TAKT_F64)) {
            TAP_CHECK(false, "%s: [%zu] is %.9g, not %.9g", guard_doing, i, got,
                      right);
            return;
        }
    }
    TAP_CHECK(guard_is_whole(&trial_out, t->call.out, t->out_bytes),
              "%s: wrote outside", guard_doing);
}

/* ---- the definition --------------------------------------------------------
 */

static void absolute(void *array, takt_dtype dtype, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (dtype == TAKT_F64)
            ((double *)array)[i] = fabs(((double *)array)[i]);
        else
            ((float *)array)[i] = fabsf(((float *)array)[i]);
}

/* What scalar makes of the magnitudes is the sum of the magnitudes. */
static void define_sizes(const struct trial *t)
{
    static char *copy[trial_inputs];
    const size_t size = takt_dtype_size(t->call.dtype);
    takt_call call = t->call;

    for (int i = 0; i < trial_inputs; i++) {
        if (copy[i] == NULL)
            copy[i] = malloc(trial_room);
        REQUIRE(copy[i] != NULL);
        if (t->in[i] == 0)
            continue;
        memcpy(copy[i], t->call.in[i], t->in[i] * size);
        absolute(copy[i], t->call.dtype, t->in[i]);
        call.in[i] = copy[i];
    }
    memcpy(sizes, start, t->out_bytes);
    absolute(sizes, t->call.dtype, t->out);
    call.out = sizes;
    if (takt__op_id(call.op) == TAKT_OP_axpy)
        call.in[1] = sizes;
    call.alpha = fabs(call.alpha);
    call.beta = fabs(call.beta);
    REQUIRE(takt_run(scalar_ctx, &call, NULL) == TAKT_OK);
}

static void define(const struct trial *t)
{
    const enum takt_accuracy of = t->tolerance->of;
    takt_decision decision = {.size = sizeof decision};

    memcpy(start, t->call.out, t->out_bytes);
    if (of == TAKT_ACCURACY_MAGNITUDE || of == TAKT_ACCURACY_ROOT)
        define_sizes(t);
    DOING("%s on scalar", t->call.op->name);
    REQUIRE(takt_run(scalar_ctx, &t->call, &decision) == TAKT_OK);
    EXPECT_STR(decision.expert, "scalar");
    memcpy(want, t->call.out, t->out_bytes);
}

/* ---- one op on one expert ---------------------------------------------------
 */

static bool is_library(const char *expert)
{
    return strncmp(expert, "blas.", 5) == 0;
}

static bool is_product(const struct trial *t)
{
    const enum takt_op_id op = takt__op_id(t->call.op);
    return op == TAKT_OP_matmul || op == TAKT_OP_gemv || op == TAKT_OP_axpy ||
           is_factored(t->call.op);
}

static bool is_gpu(const char *expert)
{
    return strncmp(expert, "vulkan.", 7) == 0 ||
           strncmp(expert, "cuda.", 5) == 0;
}

/* GPUs have no code for these. Vulkan computes in f32 alone. Who steps in is
 * the best processor, on however many threads. */
static bool lacks_code(const struct trial *t, const char *expert)
{
    const bool is_double = t->call.dtype == TAKT_F64;

    if (!is_gpu(expert) || (is_double && expert[0] == 'v'))
        return is_gpu(expert);
    switch (takt__op_id(t->call.op)) {
    case TAKT_OP_exp2:
    case TAKT_OP_expm1:
    case TAKT_OP_log2:
    case TAKT_OP_log1p:
    case TAKT_OP_sin:
    case TAKT_OP_cos:
    case TAKT_OP_bias_add:
    case TAKT_OP_bias_mul:
    case TAKT_OP_row_sum:
    case TAKT_OP_row_mean:
    case TAKT_OP_row_max:
    case TAKT_OP_col_sum:
    case TAKT_OP_col_mean:
    case TAKT_OP_col_max:
    case TAKT_OP_cholesky:
    case TAKT_OP_solve:
    case TAKT_OP_qr:
    case TAKT_OP_lstsq:
        return true;
    case TAKT_OP_exp:
    case TAKT_OP_log:
    case TAKT_OP_sigmoid:
    case TAKT_OP_tanh:
    case TAKT_OP_relu:
    case TAKT_OP_gelu:
        return is_double;
    default:
        return false;
    }
}

/* A library may refuse, and who has no code; nobody else may. */
static void check_decision(const struct trial *t, const char *expert,
                           const takt_decision *decision)
{
    const bool fell_back = decision->reason == TAKT_REASON_FALLBACK;

    TAP_CHECK(decision->actual_s >= 0, "%s: took no time", guard_doing);
    if (!fell_back) {
        EXPECT_INT(decision->reason, TAKT_REASON_FORCED);
        EXPECT_STR(decision->expert, expert);
        TAP_CHECK(!is_library(expert) || is_product(t) || t->out == 0,
                  "%s: no library can do that", guard_doing);
        return;
    }
    TAP_CHECK(is_library(expert) || lacks_code(t, expert), "%s: fell back",
              guard_doing);
    TAP_CHECK(strncmp(decision->expert, best_simd, strlen(best_simd)) == 0,
              "%s: then on %s", guard_doing, decision->expert);
}

static void run_one(takt_ctx *ctx, const struct trial *t, const char *expert)
{
    takt_decision decision = {.size = sizeof decision};

    const size_t *d = t->call.shape.dim;

    DOING("%s %s on %s, %zux%zux%zu..., ld %zu %zu %zu, flags %u, alpha %g, "
          "beta %g",
          t->call.op->name, takt_dtype_name(t->call.dtype), expert, d[0], d[1],
          d[2], t->call.ld[0], t->call.ld[1], t->call.ld[2], t->call.flags,
          t->call.alpha, t->call.beta);
    memcpy(t->call.out, start, t->out_bytes);
    EXPECT_INT(takt_run(ctx, &t->call, &decision), TAKT_OK);
    check_decision(t, expert, &decision);
    compare(t);
    memcpy(first, t->call.out, t->out_bytes);
    memcpy(t->call.out, start, t->out_bytes);
    EXPECT_INT(takt_run(ctx, &t->call, NULL), TAKT_OK);
    TAP_CHECK(memcmp(first, t->call.out, t->out_bytes) == 0,
              "%s: other bits the second time", guard_doing);
}

static bool can_be_run(const takt_op *op, takt_dtype dtype)
{
    return takt__op_entry(op)->form != TAKT_FORM_view &&
           (op->dtypes >> dtype & 1) != 0;
}

/* Teams are named after their threads: "simd.avx2x4". */
static bool is_team(const char *expert)
{
    const size_t length = strlen(expert);
    return length > 2 && expert[length - 2] == 'x';
}

static void every_op_on(const char *expert)
{
    const size_t count = is_team(expert) ? team_trials : trials;
    takt_ctx *ctx = ctx_of(expert);

    for (size_t i = 0; i < takt_op_count() * 2; i++) {
        const takt_op *op = takt_op_at(i / 2);
        const takt_dtype dtype = (takt_dtype)(i % 2);
        if (!can_be_run(op, dtype))
            continue;
        for (size_t k = 0; k < count; k++) {
            const struct trial t =
                trial_make(op, dtype, k * trials / count + k % 2);
            define(&t);
            run_one(ctx, &t, expert);
        }
    }
    takt_ctx_destroy(ctx);
}

static size_t current;

static void current_expert_gives_what_scalar_gives(void)
{
    every_op_on(names[current]);
}

/* ---- threads ----------------------------------------------------------------
 */

/* An element of these is computed by one thread, in an order that does not
 * depend on how many there are. Sums are merged, and products are cut into
 * rectangles whose edges are summed in another order; factors are made of
 * products. */
static bool keeps_bits(const takt_op *op)
{
    const enum takt_form form = takt__op_entry(op)->form;

    return form != TAKT_FORM_reduce && form != TAKT_FORM_matmul &&
           form != TAKT_FORM_batched && !is_factored(op);
}

static void compare_teams(const struct trial *t, takt_ctx *alone,
                          takt_ctx *team)
{
    memcpy(start, t->call.out, t->out_bytes);
    EXPECT_INT(takt_run(alone, &t->call, NULL), TAKT_OK);
    memcpy(first, t->call.out, t->out_bytes);
    memcpy(t->call.out, start, t->out_bytes);
    EXPECT_INT(takt_run(team, &t->call, NULL), TAKT_OK);
    TAP_CHECK(memcmp(first, t->call.out, t->out_bytes) == 0,
              "%s: other bits on more threads", guard_doing);
}

static void threads_change_no_bits(void)
{
    takt_ctx *alone = ctx_of(best_simd);

    for (unsigned threads = 2; threads <= most_threads; threads *= 2) {
        char name[TAKT_EXPERT_NAME_MAX + 12];
        snprintf(name, sizeof name, "%sx%u", best_simd, threads);
        takt_ctx *team = ctx_of(name);
        for (size_t i = 0; i < takt_op_count() * 2; i++) {
            const takt_op *op = takt_op_at(i / 2);
            const takt_dtype dtype = (takt_dtype)(i % 2);
            for (size_t k = 0; k < team_trials; k++) {
                if (!can_be_run(op, dtype) || !keeps_bits(op))
                    break;
                const struct trial t =
                    trial_make(op, dtype, k * trials / team_trials + k % 2);
                DOING("%s %s on %s, trial %zu", op->name,
                      takt_dtype_name(dtype), name, k);
                compare_teams(&t, alone, team);
            }
        }
        takt_ctx_destroy(team);
    }
    takt_ctx_destroy(alone);
}

/* ---- accuracy of long sums
 * ---------------------------------------------------- */

/* Ten million times 0.1f: a plain float sum is off by 8 percent. */
static void long_sums_stay_accurate_on_every_expert(void)
{
    const size_t n = 10000000;
    float *tenths = malloc(n * sizeof *tenths);
    float sum;

    REQUIRE(tenths != NULL);
    for (size_t i = 0; i < n; i++)
        tenths[i] = 0.1F;
    for (size_t i = 0; i < name_count; i++) {
        takt_ctx *ctx = ctx_of(names[i]);
        const takt_call call = {.op = takt_op_find("sum"),
                                .shape = {.rank = 1, .dim = {n}},
                                .in = {tenths},
                                .out = &sum};
        const double exact = (double)n * (double)0.1F;
        EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
        TAP_CHECK(fabs((double)sum - exact) <= 1e-6 * exact,
                  "%s: the sum is %.9g, not %.9g", names[i], (double)sum,
                  exact);
        takt_ctx_destroy(ctx);
    }
    free(tenths);
}

static void every_op_has_a_tolerance(void)
{
    for (size_t i = 0; i < takt_op_count(); i++) {
        const takt_op *op = takt_op_at(i);
        TAP_CHECK(takt__op_entry(op)->form == TAKT_FORM_view ||
                      tolerance_find(op->name) != NULL,
                  "%s has none", op->name);
    }
}

int main(void)
{
    guard_watch();
    trial_init();
    want = malloc(trial_room);
    start = malloc(trial_room);
    sizes = malloc(trial_room);
    first = malloc(trial_room);
    REQUIRE(want != NULL && start != NULL && sizes != NULL && first != NULL);
    list_experts();
    scalar_ctx = ctx_of("scalar");
    RUN(every_op_has_a_tolerance);
    for (current = 0; current < name_count; current++) {
        char line[80];
        snprintf(line, sizeof line, "%s_gives_what_scalar_gives",
                 names[current]);
        tap_run(line, current_expert_gives_what_scalar_gives);
    }
    RUN(threads_change_no_bits);
    RUN(long_sums_stay_accurate_on_every_expert);
    takt_ctx_destroy(scalar_ctx);
    return tap_done();
}
