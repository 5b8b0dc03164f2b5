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
static const unsigned most_loops = 4, most_calls = 3;

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
    {"pooling", 1 << 16, -4},
    {"softmax", 1 << 10, 0},
    {"layernorm", 1 << 10, 0},
    {"exp", 0, 2},
    {"log", 0, 2},
    {"tanh", 0, 2},
    {"sigmoid", 0, 2},
    {"gelu", 0, 2},
    {"sin", 0, 2},
    {"cos", 0, 2},
    {"sum", 0, -8}, /* one pass, as fast as memory: only loops make it hot */
    {"variance", 0, -8},
    {"norm2", 0, -4},
    {"mean", 0, -8},
    {"max", 0, -8},
    {"min", 0, -8},
    {"argmax", 0, -8},
    {"argmin", 0, -8},
    {"copy", 0, -8}, /* moves, and computes nothing */
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
        "example",       "examples",   "bench",    "benches",
        "benchmark",     "benchmarks", "test",     "tests",
        "testing",       "demo",       "demos",    "doc",
        "docs",          "vendor",     "vendored", "third",
        "thirdparty",    "libs",       "external", "extern",
        "contrib",       "deps",       "tutorial", "tutorials",
        "sample",        "samples",    "unittest", "unittests",
        "deprecated",    "archive",    "legacy",   "attic",
        "visualization", "plotting",   "figures",  "ext",
        "egs",           NULL};
    static const char *const files[] = {"example",   "examples", "bench",
                                        "benchmark", "test",     "tests",
                                        "demo",      "unittest", NULL};
    char folder[longest_symbol];

    for (const char *at = path, *slash; (slash = strchr(at, '/')) != NULL;
         at = slash + 1) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - at), at);
        const size_t length = strlen(folder);
        if (has_word(folder, folders) ||
            (length > 4 && strcmp(folder + length - 4, "libs") == 0))
            return true;
    }
    return has_word(base_of(path), files) || is_single_file_library(path);
}

/* What others are compared with, and what is chosen by trying. */
static bool is_reference(const struct takt_finding *finding)
{
    static const char *const words[] = {"ref",      "reference", "naive",
                                        "fallback", "golden",    "expected",
                                        "tune",     "tuner",     NULL};

    return has_word(finding->function, words) ||
           has_word(base_of(finding->path), words);
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
    static const char *const checks[] = {"error",  "mse",      "rms",
                                         "recall", "accuracy", NULL};

    return has_word(finding->function, words) ||
           has_word(finding->path, words) ||
           (finding->language != TAKT_SCAN_PYTHON &&
            has_word(finding->function, checks));
}

/* Loops over two or three coordinates. */
static bool is_short(const struct takt_finding *finding)
{
    static const char *const bounds[] = {"ndim", "num_dim", "n_dim", "NDIM",
                                         NULL};

    for (const char *const *bound = bounds; *bound != NULL; bound++)
        if (strstr(finding->snippet, *bound) != NULL)
            return true;
    return false;
}

/* [-1 * g for g in gradients]: as often arrays as numbers. */
static bool is_of_anything(const struct takt_finding *finding)
{
    return !finding->is_dtype_known &&
           strcmp(finding->pattern, "python/comprehension") == 0;
}

/* ---- the score, in powers of two ---- */

/* What calls show. Loops around them are worth less than those around the
 * finding, since functions are known by their names alone; and nothing to one
 * pass among other statements, which takes a small part of what the function
 * does. What nothing calls by its name is called by others, or by a pointer. */
static double score_of_calls(const struct kept_finding *kept,
                             const struct fan_in *fan_in)
{
    const struct takt_finding *finding = &kept->finding;
    const uint32_t places = calls_of(fan_in, finding->function);
    const bool is_entry =
        places == 0 && kept->is_kernel && finding->language != TAKT_SCAN_PYTHON;
    const uint32_t calls = is_entry ? 1 : places;
    const unsigned loops =
        is_entry ? 1 : loops_of_calls(fan_in, finding->function);
    const bool is_most = kept->is_kernel || finding->loops_around > 0 ||
                         strchr(finding->op->shape, 'x') != NULL;
    const bool is_interpreted = finding->language == TAKT_SCAN_PYTHON &&
                                kept->standing != STANDING_LIBRARY &&
                                loops + finding->loops_around > 0;

    return log2(1 + (double)(calls < most_calls ? calls : most_calls)) +
           (is_most ? 3 * loops : 0) + (is_interpreted ? 4 : 0);
}

/* A loop is taken to run 16 times, and what is cold to run as often as if it
 * stood in two loops less. */
static double score_of(const struct kept_finding *kept,
                       const struct fan_in *fan_in)
{
    const struct takt_finding *finding = &kept->finding;
    const unsigned loops = finding->loops_around;
    const size_t kind = kind_of(finding->op);
    bool is_known;

    return log2(visits_of(finding, &is_known) + 1) +
           4 * (loops < most_loops ? loops : most_loops) +
           (kind < sizeof kinds / sizeof kinds[0] ? kinds[kind].bonus : 0) +
           score_of_calls(kept, fan_in) - (is_cold(finding) ? 8 : 0) -
           (is_short(finding) ? 6 : 0) - (is_of_anything(finding) ? 6 : 0) -
           (kept->is_aside || finding->is_test ? rank_aside : 0);
}

/* ---- all of them ---- */

void rank_findings(struct findings *findings, struct fan_in *fan_in)
{
    follow_calls(fan_in);
    for (size_t i = 0; i < findings->count; i++) {
        struct kept_finding *kept = &findings->at[i];
        kept->is_aside = is_aside(kept->finding.path) ||
                         is_reference(&kept->finding) || kept->is_beside_simd;
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
