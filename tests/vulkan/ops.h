/* SPDX-License-Identifier: MIT */
/*
 * ops.h - calls on a Vulkan device and on the scalar kernels, compared within
 * the tolerance of the catalogue.
 */
#pragma once

#include "parity/trial.h"
#include "vulkan/rig.h"
#include "vulkan/vulkan.h"

enum { specials = 24 };

static takt_ctx *scalar_ctx;
static char *want, *sizes, *start;
static float *operands[4];
static uint64_t seed = 1;

static inline float special(size_t at)
{
    static const float rows[specials] = {0,
                                         -0.0F,
                                         1,
                                         -1,
                                         INFINITY,
                                         -INFINITY,
                                         NAN,
                                         0x1p-149F,
                                         -0x1p-149F,
                                         FLT_MIN,
                                         -FLT_MIN,
                                         FLT_MAX,
                                         -FLT_MAX,
                                         0.5F,
                                         -3.25F,
                                         2.0F / 3,
                                         1e4F,
                                         -1e-4F,
                                         0x1.fffffcp-127F,
                                         -0x1.fffffcp-127F,
                                         88.7F,
                                         -87.4F,
                                         -103.9F,
                                         9.5F};
    return rows[at % specials];
}

static inline float float_of(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---- one call on both -----------------------------------------------------
 */

static inline void run_scalar(takt_call call, void *out)
{
    for (int i = 0; i < 4; i++)
        if (call.in[i] == call.out && call.out != NULL)
            call.in[i] = out;
    call.out = out;
    REQUIRE(takt_run(scalar_ctx, &call, NULL) == TAKT_OK);
}

/* What scalar makes of the magnitudes is the sum of the magnitudes. */
static inline void define_sizes(const takt_call *of, size_t out_bytes)
{
    static char *copy[4];
    struct takt_lengths lengths;
    takt_call call = *of;
    bool is_empty;

    REQUIRE(takt__admit(&call, &is_empty) == TAKT_OK);
    takt__lengths_of(&call, &lengths);
    for (int i = 0; i < 4; i++) {
        if (copy[i] == NULL)
            copy[i] = malloc(rig_room);
        REQUIRE(copy[i] != NULL);
        for (size_t k = 0; k < lengths.of[i] && call.in[i] != call.out; k++)
            ((float *)copy[i])[k] = fabsf(((const float *)call.in[i])[k]);
        if (lengths.of[i] > 0)
            call.in[i] = call.in[i] == call.out ? sizes : copy[i];
    }
    for (size_t k = 0; k < out_bytes / sizeof(float); k++)
        ((float *)sizes)[k] = fabsf(((const float *)call.out)[k]);
    call.out = sizes;
    call.alpha = fabs(call.alpha);
    call.beta = fabs(call.beta);
    REQUIRE(takt_run(scalar_ctx, &call, NULL) == TAKT_OK);
}

static inline size_t out_bytes_of(takt_call call)
{
    struct takt_extents extents;
    bool is_empty;

    REQUIRE(takt__admit(&call, &is_empty) == TAKT_OK);
    takt__extents_of(&call, &extents);
    return extents.bytes[TAKT_OUT];
}

static inline double formula(const takt_call *call, double result)
{
    const enum takt_op_id op = takt__op_id(call->op);

    if (op == TAKT_OP_softmax) /* operands are at most 2 apart */
        return tolerance_softmax(result, 2);
    if (op == TAKT_OP_layernorm)
        return tolerance_layernorm(fabs(result) + 1, 1, 1);
    return tolerance_attention(sqrt((double)call->shape.dim[4]) + 1, 1);
}

/* Half a last place more: scalar rounds too. */
static inline double allowed(const takt_call *call, size_t terms, size_t i)
{
    const struct takt_tolerance *t = tolerance_find(call->op->name);
    const double result = (double)((const float *)want)[i];

    switch (t->of) {
    case TAKT_ACCURACY_EXACT:
    case TAKT_ACCURACY_VALUE:
        return 0;
    case TAKT_ACCURACY_ULP:
        return (t->units + 0.5) * ulp_of_f32(result);
    case TAKT_ACCURACY_RESULT:
        return t->units * (double)FLT_EPSILON * fabs(result) + 2 * 0x1p-149;
    case TAKT_ACCURACY_BACKWARD: /* none of these has code */
    case TAKT_ACCURACY_FORMULA:
        return formula(call, result);
    case TAKT_ACCURACY_MAGNITUDE:
    case TAKT_ACCURACY_ROOT:
        break;
    }
    return tolerance_sum(t, false, (double)((const float *)sizes)[i], terms);
}

static inline bool is_right(const takt_call *call, size_t terms, size_t i)
{
    const struct takt_tolerance *t = tolerance_find(call->op->name);
    const float got = ((const float *)call->out)[i];
    const float right = ((const float *)want)[i];

    if (t->of == TAKT_ACCURACY_EXACT)
        return memcmp(&got, &right, sizeof got) == 0;
    if (t->of == TAKT_ACCURACY_VALUE)
        return same_value((double)got, (double)right);
    tolerance_note(call->op->name, "vulkan", false,
                   fabs((double)got - (double)right), allowed(call, terms, i));
    return is_near((double)got, (double)right, allowed(call, terms, i), false);
}

static inline void compare(const takt_call *call, size_t terms, size_t bytes)
{
    if (takt__is_position(call)) {
        size_t got, right;
        memcpy(&got, call->out, sizeof got);
        memcpy(&right, want, sizeof right);
        TAP_CHECK(got == right, "%s: position %zu, not %zu", guard_doing, got,
                  right);
        return;
    }
    for (size_t i = 0; i < bytes / sizeof(float); i++)
        if (!is_right(call, terms, i)) {
            TAP_CHECK(false, "%s: [%zu] is %.9g, not %.9g, allowed %g",
                      guard_doing, i, (double)((const float *)call->out)[i],
                      (double)((const float *)want)[i],
                      allowed(call, terms, i));
            return;
        }
}

static inline void check(const takt_call *call, size_t terms)
{
    const enum takt_accuracy of = tolerance_find(call->op->name)->of;
    const size_t bytes = out_bytes_of(*call);
    takt_status status = TAKT_OK;

    memcpy(start, call->out, bytes);
    if (of == TAKT_ACCURACY_MAGNITUDE || of == TAKT_ACCURACY_ROOT)
        define_sizes(call, bytes);
    memcpy(want, start, bytes);
    run_scalar(*call, want);
    TAP_CHECK(rig_run(*call, &seed, &status), "%s: wrote outside", guard_doing);
    TAP_CHECK(status == TAKT_OK, "%s: status %d", guard_doing, status);
    compare(call, terms, bytes);
}

/* ---- start and end ---------------------------------------------------------
 */

static inline void ops_open(void)
{
    want = malloc(rig_room);
    sizes = malloc(rig_room);
    start = malloc(rig_room);
    for (int i = 0; i < 4; i++) {
        operands[i] = calloc(1, rig_room);
        REQUIRE(operands[i] != NULL);
    }
    REQUIRE(want != NULL && sizes != NULL && start != NULL);
    rig_open();
    rig_start();
    guard_watch();
    trial_init();
    REQUIRE(takt_ctx_create(&(takt_ctx_options){.policy = TAKT_POLICY_FIXED,
                                                .expert = "scalar",
                                                .threads = 1,
                                                .blas = ""},
                            &scalar_ctx) == TAKT_OK);
    printf("# %s, %s%s\n", gpu.facts.model, gpu.facts.version,
           rig_inside()->is_ieee ? "" : ": bad arithmetic");
}

static inline int ops_close(void)
{
    rig_stop();
    RUN(validation_has_nothing_to_say);
    takt_ctx_destroy(scalar_ctx);
    for (int i = 0; i < 4; i++)
        free(operands[i]);
    free(want);
    free(sizes);
    free(start);
    tolerance_print();
    return tap_done();
}
