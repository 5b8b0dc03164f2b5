/* SPDX-License-Identifier: MIT */
/*
 * finding_rank.c - which findings come first.
 *
 * With profiles: those that take most time. Without: those that visit most
 * elements (sizes that are not known are taken to be 256), in the most loops,
 * those around the calls of their function included, and whose function is
 * called in the most places. Products come before functions of mathematics, and
 * these before the rest. What sets up, reads or prints comes later; examples,
 * tests, benchmarks and vendored code come last.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "findings.h"

static const double usual_side = 256;
static const unsigned most_loops = 4;

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* ---- work ---- */

static const struct {
    const char *op;
    double visits; /* where no size is known */
    double bonus;  /* powers of two */
} kinds[] = {
    {"matmul", 0, 4},
    {"batched_matmul", 0, 4},
    {"gemv", 0, 4},
    {"dot", 0, 4},
    {"conv2d", 1 << 22, 4},
    {"attention", 1 << 25, 4},
    {"pooling", 1 << 20, 1},
    {"softmax", 1 << 10, 2},
    {"layernorm", 1 << 10, 2},
    {"exp", 0, 4},
    {"log", 0, 4},
    {"tanh", 0, 4},
    {"sigmoid", 0, 4},
    {"gelu", 0, 4},
    {"sin", 0, 4},
    {"cos", 0, 4},
    {"sum", 0, -4}, /* one pass, as fast as memory: only loops make it hot */
    {"mean", 0, -4},
    {"max", 0, -4},
    {"min", 0, -4},
    {"argmax", 0, -4},
    {"argmin", 0, -4},
    {"copy", 0, -4}, /* moves, and computes nothing */
    {"transpose", 0, -12},
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

/* ---- words of names ---- */

/* The next word of a name: "get", "HTTP", "page" of "getHTTP_page2" are its
 * words as people read them. Its length; 0: there is none. */
static size_t next_word(const char **at)
{
    while (**at != '\0' && !isalpha((unsigned char)**at))
        ++*at;
    const char *start = *at, *end = start;
    while (isupper((unsigned char)*end))
        end++;
    if (end - start < 2)
        while (islower((unsigned char)*end))
            end++;
    return (size_t)(end - start);
}

static bool has_word(const char *name, const char *const *words)
{
    size_t length;

    for (const char *at = name; (length = next_word(&at)) > 0; at += length)
        for (const char *const *word = words; *word != NULL; word++)
            if (strlen(*word) == length && strncasecmp(*word, at, length) == 0)
                return true;
    return false;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Libraries that are one header, which projects carry along. */
static bool is_single_file_library(const char *path)
{
    static const char *const begins[] = {
        "stb_",    "CImg",  "nuklear", "imgui",    "lodepng",
        "doctest", "catch", "miniz",   "json.hpp", NULL};

    for (const char *const *begin = begins; *begin != NULL; begin++)
        if (strncasecmp(base_of(path), *begin, strlen(*begin)) == 0)
            return true;
    return false;
}

bool is_aside(const char *path)
{
    static const char *const folders[] = {
        "example",    "examples",   "bench",         "benches",    "benchmark",
        "benchmarks", "test",       "tests",         "testing",    "demo",
        "demos",      "doc",        "docs",          "vendor",     "vendored",
        "third",      "thirdparty", "libs",          "external",   "extern",
        "contrib",    "deps",       "tutorial",      "tutorials",  "sample",
        "samples",    "unittest",   "unittests",     "deprecated", "archive",
        "legacy",     "attic",      "visualization", "plotting",   "figures",
        NULL};
    static const char *const files[] = {"example",   "examples", "bench",
                                        "benchmark", "test",     "tests",
                                        "demo",      "unittest", NULL};
    char folder[longest_symbol];

    for (const char *at = path, *slash; (slash = strchr(at, '/')) != NULL;
         at = slash + 1) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - at), at);
        if (has_word(folder, folders))
            return true;
    }
    return has_word(base_of(path), files) || is_single_file_library(path);
}

/* What runs once, or waits for files and people. */
static bool is_cold(const struct takt_finding *finding)
{
    static const char *const words[] = {
        "init",      "initialize", "load",    "save",   "print",    "free",
        "setup",     "parse",      "read",    "write",  "dump",     "debug",
        "plot",      "plots",      "draw",    "show",   "display",  "export",
        "import",    "create",     "destroy", "config", "validate", "report",
        "summary",   "log",        "repr",    "str",    "format",   "verify",
        "check",     "usage",      "make",    "build",  "new",      "default",
        "visualize", "script",     "scripts", "tool",   "tools",    "binding",
        "bindings",  "matlab",     "convert", NULL};

    return has_word(finding->function, words) || has_word(finding->path, words);
}

/* [-1 * g for g in gradients]: as often arrays as numbers. */
static bool is_of_anything(const struct takt_finding *finding)
{
    return !finding->is_dtype_known &&
           strcmp(finding->pattern, "python/comprehension") == 0;
}

/* ---- the score ---- */

/* Powers of two: a loop is taken to run 16 times, and what is cold to run as
 * often as if it stood in two loops less. */
static double score_of(const struct kept_finding *kept,
                       const struct fan_in *fan_in)
{
    const struct takt_finding *finding = &kept->finding;
    const unsigned loops =
        finding->loops_around + loops_of_calls(fan_in, finding->function);
    const size_t kind = kind_of(finding->op);
    bool is_known;

    return log2(visits_of(finding, &is_known) + 1) +
           4 * (loops < most_loops ? loops : most_loops) +
           (kind < sizeof kinds / sizeof kinds[0] ? kinds[kind].bonus : 0) +
           log2(1 + (double)calls_of(fan_in, finding->function)) -
           (is_cold(finding) ? 8 : 0) - (is_of_anything(finding) ? 6 : 0) -
           (kept->is_aside || finding->is_test ? rank_aside : 0);
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
        finding->language == TAKT_SCAN_PYTHON || strlen(kind) < 5 ||
        strcmp(kind + strlen(kind) - 5, "-call") != 0)
        return;
    const char *first = open;
    while (first > finding->snippet && is_name_byte(first[-1]))
        first--;
    if (finding->language == TAKT_SCAN_RUST && first > finding->snippet &&
        first[-1] == '.')
        return; /* a method, of a library as like as not */
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

void rank_findings(struct findings *findings, struct fan_in *fan_in)
{
    fold_calls(findings);
    follow_calls(fan_in);
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
