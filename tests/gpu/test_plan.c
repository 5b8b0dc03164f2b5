/* SPDX-License-Identifier: MIT */
/*
 * test_plan.c - a plan moves every byte of every operand once, needs nothing
 * that has not come yet, puts nothing over anything else, and computes what
 * the call does: carried out here step by step, without a device.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS in guard.h */
#include "gpu/scalar_run.h"
#include "gpu/subject.h"
#include "gpu/transfer.h"
#include "op/admit.h"
#include "op/part.h"

static takt_ctx *ctx;
static struct takt_transfer transfer;
static const struct takt_location nowhere[TAKT_OPERANDS];

static takt_call admitted(const takt_call *call)
{
    takt_call copy = *call;
    bool is_empty;

    REQUIRE(takt__admit(&copy, &is_empty) == TAKT_OK && !is_empty);
    return copy;
}

/* ---- the order of things -------------------------------------------------
 */

/* Locations begin where no other one is, and end within `used`. */
static bool is_apart(const struct takt_chunk *a, const struct takt_chunk *b)
{
    const size_t a_end = a->at.offset + a->rows * a->row_bytes;
    const size_t b_end = b->at.offset + b->rows * b->row_bytes;

    return a_end <= b->at.offset || b_end <= a->at.offset;
}

static void check_places(size_t used)
{
    for (unsigned i = 0; i < transfer.chunks; i++) {
        const struct takt_chunk *chunk = &transfer.chunk[i];
        TAP_CHECK(chunk->at.offset + chunk->rows * chunk->row_bytes <= used,
                  "%s: chunk %u ends beyond what is used", guard_doing, i);
        for (unsigned j = 0; j < i && !chunk->is_out; j++)
            TAP_CHECK(
                transfer.chunk[j].is_out || is_apart(chunk, &transfer.chunk[j]),
                "%s: chunks %u and %u are in one location", guard_doing, j, i);
    }
}

/* What comes out waits for its step, and that for chunks with smaller numbers:
 * else all threads could wait for each other. */
static void check_order(void)
{
    for (unsigned i = 0; i < transfer.chunks; i++)
        for (unsigned j = i + 1;
             transfer.chunk[i].is_out && j < transfer.chunks; j++)
            TAP_CHECK(transfer.chunk[j].is_out ||
                          transfer.chunk[j].step > transfer.chunk[i].step,
                      "%s: chunk %u comes out before what it is made of",
                      guard_doing, i);
}

/* ---- what is covered -----------------------------------------------------
 */

/* One byte per element of an operand: how often it is moved. */
struct cover {
    const char *base;
    size_t elements, size;
    unsigned char *times;
};

static void cover_lot(struct cover *cover, const struct takt_chunk *chunk)
{
    for (size_t row = 0; row < chunk->rows; row++) {
        const size_t first = (size_t)(chunk->host - cover->base +
                                      (ptrdiff_t)(row * chunk->pitch)) /
                             cover->size;
        REQUIRE(first + chunk->row_bytes / cover->size <= cover->elements);
        for (size_t i = 0; i < chunk->row_bytes / cover->size; i++)
            cover->times[first + i]++;
    }
}

static bool is_within(const struct cover *cover, const char *at)
{
    return at >= cover->base &&
           at < cover->base + cover->elements * cover->size;
}

/* A matrix with gaps: `cols` of each `ld` elements are moved, the rest never.
 */
static bool is_covered(const struct cover *cover, size_t ld, size_t cols,
                       unsigned times)
{
    for (size_t i = 0; i < cover->elements; i++)
        if (cover->times[i] != (i % ld < cols ? times : 0))
            return false;
    return true;
}

static void check_cover(const takt_call *call, unsigned operand, size_t cols,
                        bool is_out, unsigned times)
{
    const unsigned at = operand == TAKT_OUT ? 2 : operand;
    struct takt_lengths lengths;

    takt__lengths_of(call, &lengths);
    struct cover cover = {
        .base = operand == TAKT_OUT ? call->out : call->in[operand],
        .elements = lengths.of[operand],
        .size = takt_dtype_size(call->dtype),
        .times = calloc(lengths.of[operand], 1),
    };
    REQUIRE(cover.times != NULL);
    for (unsigned i = 0; i < transfer.chunks; i++)
        if (transfer.chunk[i].is_out == is_out &&
            is_within(&cover, transfer.chunk[i].host))
            cover_lot(&cover, &transfer.chunk[i]);
    TAP_CHECK(is_covered(&cover, call->ld[at], cols, times),
              "%s: operand %u is not moved as it should be", guard_doing,
              operand);
    free(cover.times);
}

/* ---- carrying it out -----------------------------------------------------
 */

static void move_lot(const struct takt_chunk *chunk, char *memory)
{
    char *there = memory + chunk->at.offset;

    for (size_t i = 0; i < chunk->rows; i++, there += chunk->row_bytes) {
        char *here = chunk->host + i * chunk->pitch;
        memcpy(chunk->is_out ? here : there, chunk->is_out ? there : here,
               chunk->row_bytes);
    }
}

static void compute_step(const struct takt_step *step, char *memory)
{
    takt_call call = step->packed;

    for (unsigned i = 0; i < TAKT_OUT; i++)
        if (step->call.in[i].block != NULL)
            call.in[i] = memory + step->call.in[i].offset;
    call.out = memory + step->call.out.offset;
    REQUIRE(scalar_run(&call) == TAKT_OK);
}

static bool has_arrived(unsigned step, unsigned chunks_moved)
{
    for (unsigned i = chunks_moved; i < transfer.chunks; i++)
        if (!transfer.chunk[i].is_out && transfer.chunk[i].step <= (int)step)
            return false;
    return true;
}

static void carry_out(char *memory)
{
    unsigned launched = 0;

    for (unsigned i = 0; i <= transfer.chunks; i++) {
        while (launched < transfer.steps && has_arrived(launched, i))
            compute_step(&transfer.step[launched++], memory);
        if (i == transfer.chunks)
            break;
        TAP_CHECK(!transfer.chunk[i].is_out ||
                      transfer.chunk[i].step < (int)launched,
                  "%s: chunk %u comes out before it is made", guard_doing, i);
        move_lot(&transfer.chunk[i], memory);
    }
    EXPECT_INT(launched, transfer.steps);
}

static void plan_and_carry_out(const struct subject *s)
{
    const struct takt_block block = {.address = 1};
    const takt_call call = admitted(&s->call);
    size_t used;

    REQUIRE(takt__plan(&call, nowhere, &block, &transfer, &used) == TAKT_OK);
    check_places(used);
    check_order();
    char *memory = malloc(used);
    REQUIRE(memory != NULL);
    memset(memory, 0xA5, used);
    carry_out(memory);
    TAP_CHECK(subject_is_right(s), "%s: another result", guard_doing);
    free(memory);
}

static void check(const char *op, takt_dtype dtype, size_t n, unsigned how)
{
    struct subject s = subject_make(ctx, op, dtype, n, how);

    plan_and_carry_out(&s);
    subject_free(&s);
}

/* ---- tests ---------------------------------------------------------------
 */

static void every_plan_computes_what_its_call_does(void)
{
    for (size_t i = 0; i < takt_op_count(); i++) {
        const takt_op *op = takt_op_at(i);
        const enum takt_form form = takt__op_entry(op)->form;
        /* A position is no element: it comes back by a small transfer. */
        if (form == TAKT_FORM_view || takt__op_id(op) == TAKT_OP_argmax ||
            takt__op_id(op) == TAKT_OP_argmin)
            continue;
        check(op->name, TAKT_F32, 30011, USUAL);
        check(op->name, TAKT_F32, 30011, ADDING | GAPS | BARE);
        if (form == TAKT_FORM_map || form == TAKT_FORM_rows)
            check(op->name, TAKT_F32, 30011, IN_PLACE);
    }
}

static void long_calls_are_cut_into_stretches(void)
{
    check("add", TAKT_F64, 2000003, USUAL);
    EXPECT(transfer.steps > 1);
    check("axpy", TAKT_F64, 2000003, USUAL);
    EXPECT(transfer.steps > 1);
    check("softmax", TAKT_F32, 4000001, IN_PLACE);
    EXPECT(transfer.steps > 1);
    check("batched_matmul", TAKT_F32, 3100001, ADDING);
    EXPECT(transfer.steps > 1);
    check("attention", TAKT_F32, 2000001, USUAL);
    EXPECT(transfer.steps > 1);
}

static void products_are_cut_into_tiles(void)
{
    for (unsigned how = 0; how < BARE; how += 2)
        check("matmul", TAKT_F64, 300001, how);
    for (unsigned how = 0; how < BARE; how += 6)
        check("matmul", TAKT_F32, 2100, how | LARGE);
    EXPECT(transfer.steps > 1);
}

/* Operands of which the plan knows nothing but where they would be. */
static takt_call large_product(size_t m, size_t n, size_t k, unsigned how)
{
    const bool turned_a = (how & TURNED_A) != 0;
    const bool turned_b = (how & TURNED_B) != 0;
    const size_t gap = (how & GAPS) != 0 ? 5 : 0;

    DOING("a product of %zux%zux%zu, kind %u", m, n, k, how);
    return (takt_call){
        .op = takt_op_find("matmul"),
        .shape = {.rank = 3, .dim = {m, n, k}},
        .in = {(void *)((uintptr_t)1 << 40), (void *)((uintptr_t)2 << 40)},
        .out = (void *)((uintptr_t)3 << 40),
        .ld = {(turned_a ? m : k) + gap, (turned_b ? k : n) + gap, n + gap},
        .alpha = 1,
        .beta = (how & ADDING) != 0 ? 1 : 0,
        .flags = (turned_a ? TAKT_TRANS_A : 0) | (turned_b ? TAKT_TRANS_B : 0),
    };
}

/* Each step finds its operands where a chunk of the same rows brought them. */
static bool has_lot(const struct takt_step *step, unsigned operand)
{
    for (unsigned i = 0; i < transfer.chunks; i++)
        if (!transfer.chunk[i].is_out &&
            transfer.chunk[i].at.offset == step->call.in[operand].offset)
            return transfer.chunk[i].host == step->packed.in[operand];
    return false;
}

static void check_product(size_t m, size_t n, size_t k, unsigned how)
{
    const takt_call call = large_product(m, n, k, how);
    const struct takt_block block = {.address = 1};
    double flops = 0;
    size_t used;

    REQUIRE(takt__plan(&call, nowhere, &block, &transfer, &used) == TAKT_OK);
    check_places(used);
    check_order();
    check_cover(&call, 0, (how & TURNED_A) != 0 ? m : k, false, 1);
    check_cover(&call, 1, (how & TURNED_B) != 0 ? k : n, false, 1);
    check_cover(&call, TAKT_OUT, n, true, 1);
    check_cover(&call, TAKT_OUT, n, false, (how & ADDING) != 0 ? 1 : 0);
    for (unsigned i = 0; i < transfer.steps; i++) {
        const size_t *d = transfer.step[i].packed.shape.dim;
        EXPECT(has_lot(&transfer.step[i], 0) && has_lot(&transfer.step[i], 1));
        flops += (double)d[0] * (double)d[1] * (double)d[2];
    }
    EXPECT_NEAR(flops, (double)m * (double)n * (double)k, 0.5);
}

static void huge_products_are_moved_once(void)
{
    check_product(6144, 6144, 40, USUAL);
    EXPECT(transfer.steps > 1);
    check_product(6500, 7001, 33, ADDING | GAPS);
    check_product(9001, 6145, 33, TURNED_A | TURNED_B | GAPS);
    check_product(6144, 2000, 70, GAPS);
    check_product(3, 9001, 2000, TURNED_B | ADDING);
}

/* A part of a call is the call on a part of its operands. */
static void parts_make_up_the_whole(void)
{
    static const char *const ops[] = {"fma",           "softmax", "conv2d",
                                      "pooling",       "axpy",    "attention",
                                      "batched_matmul"};

    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        struct subject s = subject_make(ctx, ops[i], TAKT_F32, 3000, USUAL);
        const takt_call call = admitted(&s.call);
        const size_t all = call.shape.dim[0], half = all / 3;
        EXPECT(takt__call_cut(&call) != 0);
        const takt_call first = takt__call_slice(&call, 0, 0, half);
        const takt_call rest = takt__call_slice(&call, 0, half, all - half);
        EXPECT_INT(scalar_run(&rest), TAKT_OK);
        EXPECT(half == 0 || scalar_run(&first) == TAKT_OK);
        EXPECT(subject_is_right(&s));
        subject_free(&s);
    }
}

static takt_status run_part(void *self, const takt_call *part)
{
    (void)self;
    return scalar_run(part);
}

/* Whatever a lost device left of it can be finished row by row. */
static void rows_make_up_the_whole(void)
{
    static const struct {
        const char *op;
        unsigned how;
        size_t rows;
    } calls[] = {
        {"matmul", ADDING, 41},
        {"matmul", ADDING | GAPS | TURNED_A | TURNED_B, 41},
        {"gemv", ADDING, 60},
        {"gemv", ADDING | TURNED_A | GAPS, 1001},
        {"batched_matmul", ADDING, 118 * 17},
        {"axpy", USUAL, 60000},
        {"softmax", IN_PLACE, 234},
    };

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        struct subject s =
            subject_make(ctx, calls[i].op, TAKT_F32, 60000, calls[i].how);
        const takt_call call = admitted(&s.call);
        const size_t rows = calls[i].rows, cut = rows * 2 / 3 + 1;
        EXPECT(!takt__call_is_repeatable(&call));
        EXPECT_INT(takt__call_rows(&call, cut, rows - cut, run_part, NULL),
                   TAKT_OK);
        EXPECT_INT(takt__call_rows(&call, 0, cut, run_part, NULL), TAKT_OK);
        TAP_CHECK(subject_is_right(&s), "%s: not right", guard_doing);
        subject_free(&s);
    }
}

int main(void)
{
    guard_watch();
    subject_choose_fake();
    ctx = context_of(TAKT_POLICY_ADAPTIVE, 1);
    RUN(every_plan_computes_what_its_call_does);
    if (!is_thread_sanitized) { /* there are no threads in it */
        RUN(long_calls_are_cut_into_stretches);
        RUN(products_are_cut_into_tiles);
        RUN(huge_products_are_moved_once);
    }
    RUN(parts_make_up_the_whole);
    RUN(rows_make_up_the_whole);
    takt_ctx_destroy(ctx);
    return tap_done();
}
