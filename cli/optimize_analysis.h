/* SPDX-License-Identifier: MIT */
/*
 * optimize_analysis.h - what a project consists of: languages, dependencies and
 * the frameworks that its sources import.
 */
#ifndef TAKT_CLI_OPTIMIZE_ANALYSIS_H
#define TAKT_CLI_OPTIMIZE_ANALYSIS_H

#include "optimize.h"

enum { most_dependencies = 512, most_frameworks = 64 };

struct dependency {
    const char *file; /* that names it: "Cargo.toml" */
    char name[80];
    char version[64]; /* as it is written; empty: none */
};

struct analysis {
    struct search search;
    struct dependency dependency[most_dependencies];
    size_t dependency_count;
    uint64_t left_out;                         /* dependencies beyond these */
    uint64_t framework_files[most_frameworks]; /* that import it */
};

/* The phase Analysis, from its begin to its end. EXIT_DONE: `out`. */
int analyze(const struct invocation *invocation, struct workflow *workflow,
            struct analysis *out);

/* ---- optimize_depends.c ---- */

/* Reads the manifests in a folder. False: one of them is broken: `error`. */
bool find_dependencies(const char *folder, struct analysis *out, char *error,
                       size_t size);

/* ---- optimize_imports.c ---- */

/* Counts the frameworks that a file imports; any number of threads may. */
void count_imports(struct analysis *analysis, enum takt_scan_language language,
                   const char *text, size_t size);

/* "NumPy", ...; NULL beyond the last. */
const char *framework_at(size_t index);

#endif
