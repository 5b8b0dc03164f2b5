/* SPDX-License-Identifier: MIT */
/*
 * c_family.c - the languages C and C++: what their queries test, and what is
 * told about what they find.
 */
#include "c_family.h"
#include "c_family_rewrite.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

const TSLanguage *tree_sitter_c(void);
const TSLanguage *tree_sitter_cpp(void);

/* ---- verdicts, each worked out once -------------------------------------- */

enum { LEAST = 64 };

static struct takt_ir_verdict *slot(const struct takt_c_notes *notes,
                                    const void *id)
{
    size_t i =
        ((uintptr_t)id * 0x9e3779b97f4a7c15u >> 32) % notes->verdict_room;

    while (notes->verdict[i].id != NULL && notes->verdict[i].id != id)
        i = (i + 1) % notes->verdict_room;
    return &notes->verdict[i];
}

static void make_room(struct takt_c_notes *notes)
{
    const struct takt_c_notes old = *notes;

    if (notes->verdict_count * 4 < notes->verdict_room * 3)
        return;
    notes->verdict_room = old.verdict_room == 0 ? LEAST : old.verdict_room * 2;
    notes->verdict =
        takt__scan_zeros(notes->verdict_room, sizeof *notes->verdict);
    for (size_t i = 0; i < old.verdict_room; i++)
        if (old.verdict[i].id != NULL)
            *slot(notes, old.verdict[i].id) = old.verdict[i];
    free(old.verdict);
}

static bool recall(const struct takt_source *source, const void *id,
                   struct takt_ir_verdict *out)
{
    const struct takt_c_notes *notes = source->notes;

    *out = (struct takt_ir_verdict){.id = id};
    if (notes->verdict_room == 0 || slot(notes, id)->id == NULL)
        return false;
    *out = *slot(notes, id);
    return true;
}

static void keep(const struct takt_source *source,
                 const struct takt_ir_verdict *verdict)
{
    struct takt_c_notes *notes = source->notes;

    make_room(notes);
    struct takt_ir_verdict *place = slot(notes, verdict->id);
    notes->verdict_count += place->id == NULL;
    *place = *verdict;
}

static void judge(const struct takt_c_place *place, TSNode node,
                  struct takt_ir_verdict *out)
{
    if (takt__c_is_dead(place))
        return;
    if (takt__c_is_loop(node)) {
        takt__c_judge_loop(place, node, out);
        if (out->op == NULL && out->role == TAKT_ROLE_NONE)
            takt__c_judge_within(place, node, out);
        return;
    }
    if (takt__node_is(node, "call_expression"))
        takt__c_judge_algorithm(place, node, out);
    if (out->op == NULL)
        takt__c_judge_matrix(place, node, out);
}

struct takt_ir_verdict takt__c_own_verdict(const struct takt_source *source,
                                           TSNode node)
{
    struct takt_ir_verdict out;
    struct takt_c_place place;

    if (recall(source, node.id, &out))
        return out;
    if (takt__c_place(source, node, &place))
        judge(&place, node, &out);
    if (out.op == NULL && out.role != TAKT_ROLE_EXP_SUM)
        memset(&out.size, 0, sizeof out.size);
    keep(source, &out);
    return out;
}

/* Whether the loop around it is a part of something: then this is, too. */
static bool is_in_swallowed(const struct takt_c_place *place)
{
    for (unsigned i = place->depth - 1; i > 0; i--)
        if (takt__c_is_loop(place->at[i - 1]))
            return takt__c_verdict(place->source, place->at[i - 1])
                .is_swallowed;
    return false;
}

struct takt_ir_verdict takt__c_verdict(const struct takt_source *source,
                                       TSNode node)
{
    const char *settled = (const char *)node.id + 1; /* no node's own */
    struct takt_ir_verdict out;
    struct takt_c_place place;

    if (!takt__c_is_loop(node))
        return takt__c_own_verdict(source, node);
    if (recall(source, settled, &out))
        return out;
    out = takt__c_own_verdict(source, node);
    if (takt__c_place(source, node, &place) && !takt__c_is_dead(&place)) {
        takt__c_judge_row(&place, node, &out);
        if (out.op != NULL && is_in_swallowed(&place))
            out.op = NULL;
    }
    out.id = settled;
    keep(source, &out);
    return out;
}

/* ---- what queries test --------------------------------------------------- */

/* The first operand's node, if it is one. */
static TSNode subject(const struct takt_scan_operand *operand, unsigned count)
{
    return count > 0 && operand[0].is_node ? operand[0].node : (TSNode){0};
}

/* (#computes? @finding "op" ...) */
static bool computes(const struct takt_match *match,
                     const struct takt_scan_operand *operand, unsigned count)
{
    const TSNode node = subject(operand, count);

    if (ts_node_is_null(node) || !takt__c_is_worth_it(match->source, node))
        return false;
    const struct takt_ir_verdict verdict = takt__c_verdict(match->source, node);
    for (unsigned i = 1; i < count && verdict.op != NULL; i++)
        if (!operand[i].is_node && !strcmp(verdict.op, operand[i].word))
            return true;
    return false;
}

/* (#named? @callee "name" ...) */
static bool is_named(const struct takt_match *match,
                     const struct takt_scan_operand *operand, unsigned count)
{
    const TSNode callee = subject(operand, count);

    if (ts_node_is_null(callee))
        return false;
    const struct takt_text name =
        takt__node_text(match->source, takt__c_last_part(callee));
    for (unsigned i = 1; i < count; i++)
        if (!operand[i].is_node && takt__text_is(name, operand[i].word))
            return true;
    return false;
}

/* (#parallel? @callee) */
static bool is_parallel(const struct takt_match *match,
                        const struct takt_scan_operand *operand, unsigned count)
{
    const TSNode callee = subject(operand, count);

    return !ts_node_is_null(callee) &&
           takt__c_is_parallel(match->source, callee);
}

/* (#called? @finding "name" ...) */
static bool is_called(const struct takt_match *match,
                      const struct takt_scan_operand *operand, unsigned count)
{
    const TSNode call = subject(operand, count);
    struct takt_c_place place;

    if (ts_node_is_null(call))
        return false;
    const struct takt_text stem = takt__c_telling_name(match->source, call);
    for (unsigned i = 1; i < count && stem.size > 0; i++)
        if (!operand[i].is_node && takt__text_is(stem, operand[i].word))
            return takt__c_place(match->source, call, &place) &&
                   takt__c_is_telling_call(&place, call);
    return false;
}

/* (#blas? @finding) */
static bool is_blas(const struct takt_match *match,
                    const struct takt_scan_operand *operand, unsigned count)
{
    const TSNode call = subject(operand, count);
    struct takt_c_place place;

    return !ts_node_is_null(call) &&
           takt__c_blas_op(match->source, call) != NULL &&
           takt__c_place(match->source, call, &place) &&
           !takt__c_is_dead(&place);
}

static const struct takt_named_predicate predicates[] = {
    {"computes", computes}, {"named", is_named}, {"parallel", is_parallel},
    {"called", is_called},  {"blas", is_blas},   {NULL, NULL}};

/* ---- what is told -------------------------------------------------------- */

/* A call that is told by its name, or else what it computes. */
static const char *name_op(const struct takt_match *match, TSNode node)
{
    if (match->op != NULL && match->op[0] != '\0')
        return match->op;
    return takt__node_is(node, "call_expression")
               ? takt__c_blas_op(match->source, node)
               : NULL;
}

static void describe(const struct takt_match *match, struct takt_finding *out)
{
    const TSNode node = takt__match_node(match, "finding");
    struct takt_c_place place;
    char function[256];

    if (!takt__c_place(match->source, node, &place))
        return;
    out->is_test = takt__c_is_test(&place);
    takt__c_function_name(&place, function, sizeof function);
    const struct takt_text part = {function, strlen(function)};
    out->function = takt__source_keep(match->source, &part, 1);
    const char *op = name_op(match, node);
    if (op != NULL) {
        out->op = takt_op_find(op);
        takt__c_describe_call(&place, node, op, out);
        return;
    }
    const struct takt_ir_verdict verdict = takt__c_verdict(match->source, node);
    out->op = verdict.op == NULL ? NULL : takt_op_find(verdict.op);
    out->name = verdict.is_fused ? "fused" : NULL;
    out->certainty = verdict.certainty;
    out->size = verdict.size;
    out->is_dtype_known = verdict.is_typed && !verdict.is_either;
    out->dtype = verdict.is_f64 ? TAKT_F64 : TAKT_F32;
    if (takt__c_is_loop(node))
        takt__c_rewrite(&place, node, out);
}

/* How much an op is worth of the attention: products, then reductions. */
static int weight(const struct takt_match *match)
{
    const takt_op *op = match->op == NULL ? NULL : takt_op_find(match->op);
    return op == NULL ? 0 : (int)op->complexity;
}

/* A loop stands for what is in it. Of operators in one another, what is more
 * work is meant; of equals, the outer. */
static int prefer(const struct takt_match *first,
                  const struct takt_match *second)
{
    const TSNode outer = takt__match_node(first, "finding");
    const TSNode inner = takt__match_node(second, "finding");

    if (takt__c_is_loop(outer) || ts_node_eq(outer, inner) ||
        !strcmp(first->pattern, "parallel-loop"))
        return 1;
    if (takt__node_is(outer, "call_expression") &&
        (takt__node_is(inner, "call_expression") || weight(second) > 0))
        return 0; /* (a * b).norm() is both */
    const int difference = weight(first) - weight(second);
    return difference != 0 ? difference : 1;
}

/* ---- the languages ------------------------------------------------------- */

static const char *const c_extensions[] = {".c", ".h", NULL};
static const char *const cpp_extensions[] = {
    ".cc",  ".cpp", ".cxx", ".c++", ".C",   ".cu",  ".hpp", ".hh",  ".hxx",
    ".h++", ".H",   ".cuh", ".inl", ".ipp", ".tpp", ".tcc", ".txx", NULL};

/* The numbers must be declared in sight; calls tell it by their names. */
static const char *const c_words[] = {
    "float", "double",  "gemm",   "gemv",      "matmul", "mat_mul", "matrix_m",
    "conv",  "softmax", "cblas_", "attention", "dot_",   NULL};
static const char *const cpp_words[] = {
    "float",  "Float",   "double", "template", "Real",    "gemm",      "gemv",
    "matmul", "mat_mul", "Matrix", "conv",     "softmax", "attention", "cblas_",
    "arma::", "xt::",    "Tensor", "Vector",   "torch::", NULL};

static const char *const loops[] = {"for (",    "for(",       "while (",
                                    "while(",   "accumulate", "transform",
                                    "parallel", "product",    NULL};
static const char *const outlined[] = {".h",   ".hpp", ".hh",  ".hxx", ".h++",
                                       ".H",   ".cuh", ".inl", ".ipp", ".tpp",
                                       ".tcc", ".txx", NULL};

#define LANGUAGE(id_, name_)                              \
    const struct takt_language takt__language_##name_ = { \
        .id = id_,                                        \
        .family = TAKT_SCAN_C,                            \
        .outlined = outlined,                             \
        .outline = takt__c_outline,                       \
        .links = takt__c_links,                           \
        .loops = loops,                                   \
        .extensions = name_##_extensions,                 \
        .grammar = tree_sitter_##name_,                   \
        .ranges = takt__c_ranges,                         \
        .lambda = takt__c_lambda,                         \
        .query = takt__query_##name_,                     \
        .words = name_##_words,                           \
        .predicates = predicates,                         \
        .begin = takt__c_begin,                           \
        .end = takt__c_end,                               \
        .describe = describe,                             \
        .prefer = prefer};

LANGUAGE(TAKT_SCAN_C, c)
LANGUAGE(TAKT_SCAN_CPP, cpp)
