/* SPDX-License-Identifier: MIT */
/*
 * test_named.c - an expert that is named runs the call: every op, dtype and
 * layout, of many sizes, before and after libraries were said to be fast.
 */
#include <stdlib.h>

#include "support/tap.h"
#include "support/tolerance.h"
#include "takt/takt.h"
#include "tune/family.h"
#include "tune/operands.h"

enum { most_experts = 64 };

static takt_ctx *adaptive;

/* A context for each expert, in which it runs everything. */
static takt_ctx *fixed[most_experts];

static takt_ctx *new_ctx(const char *expert)
{
    const takt_ctx_options options = {
        .policy = expert == NULL ? TAKT_POLICY_ADAPTIVE : TAKT_POLICY_FIXED,
        .expert = expert,
        .store = "",
        .gpu = "",
        .threads = 2,
    };
    takt_ctx *ctx = NULL;

    EXPECT(takt_ctx_create(&options, &ctx) == TAKT_OK);
    return ctx;
}

static takt_ctx *ctx_of(const char *expert)
{
    size_t i = 0;
    const char *name;

    while ((name = takt_ctx_expert(adaptive, i, NULL)) != NULL &&
           strcmp(name, expert) != 0)
        i++;
    REQUIRE(name != NULL && i < most_experts);
    if (fixed[i] == NULL)
        fixed[i] = new_ctx(expert);
    return fixed[i];
}

static void check_expert(const char *expert, const takt_call *call,
                         const takt_request *request)
{
    takt_decision decision = {.size = sizeof decision};
    const takt_status status = takt_run(ctx_of(expert), call, &decision);

    TAP_CHECK(status == TAKT_OK && strcmp(decision.expert, expert) == 0,
              "%s was named for %s %s %zux%zux%zu, and %s ran it: %s", expert,
              request->op->name, takt_dtype_name(request->dtype),
              request->shape.dim[0], request->shape.dim[1],
              request->shape.dim[2], decision.expert,
              takt_reason_name(decision.reason));
}

/* What is listed runs it, and what is selected is listed first. */
static void check_request(const takt_request *request)
{
    takt_estimate all[most_experts] = {{.size = sizeof all[0]}};
    takt_decision decision = {.size = sizeof decision};
    struct takt_fill_pattern pattern;
    struct takt_lengths lengths;
    takt_call call;
    size_t count = 0;

    REQUIRE(takt__timed_call(request->op, request->dtype, &request->shape,
                             request->flags, &call, &lengths) == TAKT_OK);
    void *memory =
        aligned_alloc(64, takt__operands_bytes(&lengths, request->dtype));
    REQUIRE(memory != NULL);
    takt__pattern_make(request->op, request->dtype, &pattern);
    takt__operands_place(&call, &lengths, &pattern, memory);
    REQUIRE(takt_explain(adaptive, request, all, most_experts, &count) ==
            TAKT_OK);
    REQUIRE(takt_select(adaptive, request, &decision) == TAKT_OK);
    EXPECT(count > 0 && all[0].is_chosen);
    check_expert(decision.expert, &call, request);
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].expert, "scalar") != 0 || i == 0)
            check_expert(all[i].expert, &call, request);
    free(memory);
}

/* It lies: the test is about what can be run, not about what is fast. */
static void praise_libraries(const takt_request *request)
{
    takt_measurement told = {.request = request, .seconds = 1e-9, .calls = 50};

    for (size_t i = 0; takt_ctx_expert(adaptive, i, NULL) != NULL; i++) {
        told.expert = takt_ctx_expert(adaptive, i, NULL);
        if (strncmp(told.expert, "blas.", 5) == 0)
            takt_record(adaptive, &told);
    }
}

/* Of large sizes, which take longest, some. */
static bool is_left_out(const takt_work *work, unsigned step)
{
    return (work->bytes > 1 << 18 || work->flops > 1e6) && step % 3 != 0;
}

static void for_family(const takt_op *op, const struct takt_family *family,
                       void (*act)(const takt_request *request))
{
    for (int dtype = TAKT_F32; dtype <= TAKT_F64; dtype++)
        for (unsigned step = 0; step < TAKT_FAMILY_STEPS; step++) {
            const takt_request request =
                takt__family_request(family, op, (takt_dtype)dtype, step);
            takt_work work;
            if (!takt__can_be_timed(op, &request.shape) ||
                takt_op_work(op, request.dtype, &request.shape, &work) !=
                    TAKT_OK)
                continue;
            if (work.bytes > (is_sanitized ? 1 : 8) << 20 ||
                work.flops > (is_sanitized ? 3e7 : 3e8))
                return;
            if (!is_left_out(&work, step))
                act(&request);
        }
}

static void for_all(void (*act)(const takt_request *request))
{
    const takt_op *op;
    const struct takt_family *family;

    for (size_t i = 0; (op = takt_op_at(i)) != NULL; i++)
        for (size_t j = 0; (family = takt__family_at(op, j)) != NULL; j++)
            for_family(op, family, act);
}

static void named_before_anything_is_known(void)
{
    for_all(check_request);
}

static void named_after_libraries_were_praised(void)
{
    for_all(praise_libraries);
    takt_ctx_flush(adaptive);
    for_all(check_request);
}

int main(void)
{
    adaptive = new_ctx(NULL);
    RUN(named_before_anything_is_known);
    RUN(named_after_libraries_were_praised);
    for (size_t i = 0; i < most_experts; i++)
        takt_ctx_destroy(fixed[i]);
    takt_ctx_destroy(adaptive);
    return tap_done();
}
