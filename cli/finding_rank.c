/* SPDX-License-Identifier: MIT */
/*
 * finding_rank.c - which findings come first.
 *
 * With profiles: those that take most time. Without: those that visit most
 * elements (sizes that are not known are taken to be 256), in the most loops,
 * and whose function is called in the most places. Products come before
 * functions of mathematics, and these before the rest. Examples, tests,
 * benchmarks and vendored code come last.
 */
#include <ctype.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"

static const double usual_side = 256;

/* ---- calls ---- */

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static uint32_t slot_of(const char *name, size_t length)
{
    uint32_t hash = 2166136261u; /* FNV-1a */

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)name[i]) * 16777619u;
    return (hash ^ hash >> 20) % fan_in_slots;
}

void count_calls(struct fan_in *fan_in, const char *text, size_t size)
{
    const char *end = text + size;

    if (fan_in->count == NULL)
        return;
    for (const char *at = text;
         at < end && (at = memchr(at, '(', (size_t)(end - at))) != NULL; at++) {
        const char *last = at;
        while (last > text && last[-1] == ' ')
            last--;
        const char *first = last;
        while (first > text && is_name_byte(first[-1]))
            first--;
        if (first < last)
            atomic_fetch_add_explicit(
                &fan_in->count[slot_of(first, (size_t)(last - first))], 1,
                memory_order_relaxed);
    }
}

uint32_t calls_of(const struct fan_in *fan_in, const char *function)
{
    char name[longest_symbol];

    if (fan_in->count == NULL || function[0] == '\0')
        return 0;
    plain_symbol(function, name);
    const uint32_t count = atomic_load_explicit(
        &fan_in->count[slot_of(name, strlen(name))], memory_order_relaxed);
    return count > 0 ? count - 1 : 0; /* the definition is one, too */
}

/* ---- work ---- */

static const struct {
    const char *op;
    double visits; /* where no size is known */
    double bonus;  /* powers of two */
} kinds[] = {
    {"matmul", 0, 4},        {"batched_matmul", 0, 4},
    {"gemv", 0, 4},          {"dot", 0, 4},
    {"conv2d", 1 << 28, 4},  {"attention", 1 << 25, 4},
    {"pooling", 1 << 20, 1}, {"softmax", 0, 2},
    {"layernorm", 0, 2},     {"exp", 0, 2},
    {"log", 0, 2},           {"tanh", 0, 2},
    {"sigmoid", 0, 2},       {"gelu", 0, 2},
    {"sin", 0, 2},           {"cos", 0, 2},
};

static size_t kind_of(const takt_op *op)
{
    size_t i = 0;

    while (i < sizeof kinds / sizeof kinds[0] &&
           strcmp(kinds[i].op, op->name) != 0)
        i++;
    return i;
}

static double product_of(const takt_shape *shape, unsigned rank, bool *is_known)
{
    double visits = 1;

    for (unsigned i = 0; i < rank; i++) {
        const bool has_size = i < shape->rank && shape->dim[i] != 0;
        visits *= has_size ? (double)shape->dim[i] : usual_side;
        *is_known = *is_known && has_size;
    }
    return visits;
}

double visits_of(const struct takt_finding *finding, bool *is_known)
{
    const takt_op *op = finding->op;
    const takt_shape *shape = &finding->size.shape;
    const size_t kind = kind_of(op);
    const bool is_special =
        kind < sizeof kinds / sizeof kinds[0] && kinds[kind].visits > 0;
    unsigned rank = 1;

    *is_known = shape->rank > 0;
    if (is_special) {
        takt_work work;
        *is_known = *is_known && takt_op_check_shape(op, shape) == TAKT_OK &&
                    takt_op_work(op, TAKT_F32, shape, &work) == TAKT_OK;
        return *is_known ? work.flops / 2 : kinds[kind].visits;
    }
    for (const char *at = op->shape; *at != '\0'; at++)
        rank += *at == 'x';
    if (shape->rank == 1 && rank > 1) /* elements alone */
        return product_of(shape, 1, is_known);
    return product_of(shape, rank, is_known);
}

static double score_of(const struct kept_finding *kept,
                       const struct fan_in *fan_in)
{
    const struct takt_finding *finding = &kept->finding;
    const unsigned around =
        finding->loops_around < 3 ? finding->loops_around : 3;
    const size_t kind = kind_of(finding->op);
    bool is_known;

    return log2(visits_of(finding, &is_known) + 1) + 4 * around +
           (kind < sizeof kinds / sizeof kinds[0] ? kinds[kind].bonus : 0) +
           log2(1 + (double)calls_of(fan_in, finding->function)) -
           (kept->is_aside || finding->is_test ? 1000 : 0);
}

/* ---- what comes last ---- */

static bool is_aside_word(const char *word, size_t length)
{
    static const char *const words[] = {
        "example",     "examples",   "bench",     "benches", "benchmark",
        "benchmarks",  "test",       "tests",     "testing", "demo",
        "demos",       "doc",        "docs",      "vendor",  "vendored",
        "third_party", "thirdparty", "external",  "extern",  "contrib",
        "deps",        "tutorial",   "tutorials", "sample",  "samples"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == length && memcmp(words[i], word, length) == 0)
            return true;
    return false;
}

static bool is_aside(const char *path)
{
    for (const char *at = path, *slash; (slash = strchr(at, '/')) != NULL;
         at = slash + 1)
        if (is_aside_word(at, (size_t)(slash - at)))
            return true;
    return false;
}

/* ---- calls of what is a finding itself ---- */

/* The name before the parenthesis; "": it is no call by its name. */
static void callee_of(const struct takt_finding *finding,
                      char out[longest_symbol])
{
    const char *kind = strchr(finding->pattern, '/');
    const char *open = strchr(finding->snippet, '(');

    out[0] = '\0';
    if (kind == NULL || open == NULL || strcmp(kind, "/blas") == 0 ||
        (finding->language != TAKT_SCAN_C &&
         finding->language != TAKT_SCAN_CPP) ||
        strlen(kind) < 5 || strcmp(kind + strlen(kind) - 5, "-call") != 0)
        return;
    const char *first = open;
    while (first > finding->snippet && is_name_byte(first[-1]))
        first--;
    if (open - first < longest_symbol) {
        memcpy(out, first, (size_t)(open - first));
        out[open - first] = '\0';
    }
}

struct named_finding {
    char name[longest_symbol];
    struct kept_finding *kept;
    bool is_call;
};

/* By name, definitions before calls, else in their order. */
static int compare_names(const void *left, const void *right)
{
    const struct named_finding *a = left, *b = right;
    const int by_name = strcmp(a->name, b->name);

    if (by_name != 0)
        return by_name;
    if (a->is_call != b->is_call)
        return a->is_call ? 1 : -1;
    return a->kept < b->kept ? -1 : a->kept > b->kept;
}

/* Of a function that is found itself all calls are folded into it; of one that
 * is not, all but the first. */
static void fold_calls(struct findings *findings)
{
    struct named_finding *named = calloc(findings->count + 1, sizeof *named);
    size_t count = 0;

    if (named == NULL)
        return;
    for (size_t i = 0; i < findings->count; i++) {
        struct kept_finding *kept = &findings->at[i];
        struct named_finding *one = &named[count];
        *one = (struct named_finding){.kept = kept};
        callee_of(&kept->finding, one->name);
        one->is_call = one->name[0] != '\0';
        if (!one->is_call)
            plain_symbol(kept->finding.function, one->name);
        count += one->name[0] != '\0';
    }
    qsort(named, count, sizeof *named, compare_names);
    for (size_t i = 1; i < count; i++)
        if (named[i].is_call && strcmp(named[i].name, named[i - 1].name) == 0 &&
            named[i].kept->standing == STANDING_OPEN)
            named[i].kept->standing = STANDING_CALL;
    free(named);
}

void rank_findings(struct findings *findings, const struct fan_in *fan_in)
{
    fold_calls(findings);
    for (size_t i = 0; i < findings->count; i++) {
        struct kept_finding *kept = &findings->at[i];
        kept->is_aside = is_aside(kept->finding.path);
        kept->score = score_of(kept, fan_in);
    }
}

/* ---- the order ---- */

struct ordered {
    double share, score;
    size_t index;
};

static int compare_order(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;

    if (a->share != b->share)
        return a->share > b->share ? -1 : 1;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

size_t *order_findings(const struct findings *findings)
{
    struct ordered *ordered = malloc((findings->count + 1) * sizeof *ordered);
    size_t *out = malloc((findings->count + 1) * sizeof *out);

    if (ordered == NULL || out == NULL) {
        free(ordered);
        free(out);
        return NULL;
    }
    for (size_t i = 0; i < findings->count; i++)
        ordered[i] =
            (struct ordered){findings->at[i].share, findings->at[i].score, i};
    if (findings->count > 0)
        qsort(ordered, findings->count, sizeof *ordered, compare_order);
    for (size_t i = 0; i < findings->count; i++)
        out[i] = ordered[i].index;
    free(ordered);
    return out;
}
