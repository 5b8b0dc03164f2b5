/* SPDX-License-Identifier: MIT */
/*
 * finding_standing.c - what runs a finding now.
 *
 * Without a build to ask, compilers are taken to vectorise loops over elements
 * that need nothing but arithmetic, as gcc 12 does with -O2 and rustc with
 * opt-level 3. Sums of floating-point numbers have an order, which compilers
 * keep, and functions of mathematics are calls.
 */
#include <string.h>

#include "findings.h"

static const double small_visits = 1024; /* a microsecond of scalar code */

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

/* What stands behind the language: "library-call" of "python/library-call". */
static const char *kind_of(const struct takt_finding *finding)
{
    const char *slash = strchr(finding->pattern, '/');

    return slash != NULL ? slash + 1 : finding->pattern;
}

/* Iterators are the project's own loops; a method on an array is its
 * library's. */
static bool is_rust_library(const struct takt_finding *finding,
                            const char *kind)
{
    static const char *const own[] = {
        ".iter()", ".iter_mut()", ".into_iter()", ".zip(",
        ".chunks", ".windows(",   ".fold(",       ".par_iter",
        ".map(",   ".par_chunks", ".for_each(",   NULL};

    if (strstr(kind, "-loop") != NULL || strstr(kind, "-macro") != NULL ||
        strstr(kind, "-token") != NULL)
        return false;
    for (const char *const *word = own; *word != NULL; word++)
        if (strstr(finding->snippet, *word) != NULL)
            return false;
    return true;
}

static bool is_library(const struct takt_finding *finding)
{
    static const char *const python_own[] = {"loop", "comprehension", "builtin",
                                             NULL};
    static const char *const c_library[] = {"blas", "matrix-method",
                                            "matrix-operator", NULL};
    const char *kind = kind_of(finding);

    switch (finding->language) {
    case TAKT_SCAN_PYTHON:
        return !is_one_of(kind, python_own);
    case TAKT_SCAN_RUST:
        return is_rust_library(finding, kind);
    case TAKT_SCAN_C:
    case TAKT_SCAN_CPP:
    case TAKT_SCAN_LANGUAGES:
        break;
    }
    return is_one_of(kind, c_library) ||
           strstr(finding->snippet, "(Cblas") != NULL; /* by another name */
}

/* A call of a function by its name: what it does is told where it is defined,
 * or is a library's. */
static bool is_call(const struct takt_finding *finding)
{
    const char *end = strrchr(finding->pattern, '-');

    return is_c(finding) && end != NULL && strcmp(end, "-call") == 0;
}

/* Whether the op is one that compilers vectorise in a loop of its own. */
static bool is_vectorisable(const struct takt_finding *finding)
{
    static const char *const ops[] = {
        "add", "sub",  "mul",  "div",   "scale", "axpy", "fma",  "relu", "abs",
        "neg", "sqrt", "copy", "clamp", "max",   "min",  "fill", "bias", NULL};
    const char *kind = kind_of(finding);

    return finding->language != TAKT_SCAN_PYTHON &&
           is_one_of(finding->op->name, ops) &&
           (strcmp(kind, "element-loop") == 0 ||
            strcmp(kind, "element-call") == 0 ||
            strcmp(kind, "element-macro") == 0 ||
            strcmp(kind, "algorithm-elements") == 0 ||
            strcmp(kind, "range-loop") == 0);
}

void mark_by_kind(struct kept_finding *kept)
{
    bool is_known;
    const double visits = visits_of(&kept->finding, &is_known);

    if (kept->standing != STANDING_OPEN)
        return;
    if (is_library(&kept->finding))
        kept->standing = STANDING_LIBRARY;
    else if (is_call(&kept->finding))
        kept->standing = STANDING_CALL;
    else if (is_known && visits < small_visits)
        kept->standing = STANDING_SMALL;
    else if (is_vectorisable(&kept->finding))
        kept->standing = STANDING_VECTORISED;
}

enum runs_now runs_now_of(const struct kept_finding *kept)
{
    if (kept->standing == STANDING_LIBRARY || is_library(&kept->finding))
        return RUNS_LIBRARY;
    return kept->standing == STANDING_VECTORISED ? RUNS_VECTORISED
                                                 : RUNS_SCALAR;
}
