/* SPDX-License-Identifier: MIT */
/*
 * optimize_analysis.h - what a project consists of: languages, dependencies and
 * the frameworks that its sources import.
 */
#ifndef TAKT_CLI_OPTIMIZE_ANALYSIS_H
#define TAKT_CLI_OPTIMIZE_ANALYSIS_H

#include <pthread.h>

#include "optimize.h"

enum { most_dependencies = 2048, most_frameworks = 64 };

struct dependency {
    char *file; /* that names it, from the folder on: "core/Cargo.toml" */
    char name[80];
    char version[64]; /* as it is written; empty: none */
};

struct analysis {
    struct search search;
    struct dependency dependency[most_dependencies];
    size_t dependency_count;
    uint64_t left_out;                         /* dependencies beyond these */
    uint64_t framework_files[most_frameworks]; /* that import it */
    /* Folders that sources are in, and those above them, sorted; "" is the
     * project's own. */
    pthread_mutex_t folders_lock;
    char **folder;
    size_t folder_count, folder_room;
    bool is_folder_lost; /* there was no memory for it */
};

/* The phase Analysis, from its begin to its end. EXIT_DONE: `out`, which is to
 * be freed in any case. */
int analyze(const struct invocation *invocation, struct workflow *workflow,
            struct analysis *out);
void free_analysis(struct analysis *analysis); /* and what it is in */

/* ---- optimize_depends.c ---- */

/* Notes the folder of a source file; any number of threads may. */
void note_folder(struct analysis *analysis, const char *path);

/* Reads the manifests of the project's own folder, `root`. False: one of them
 * is broken: `error`. */
bool find_dependencies(const char *root, struct analysis *out, char *error,
                       size_t size);

/* Those of the other folders that were noted. One that is broken is warned of:
 * it may be there to be broken. False: `error`. */
bool find_inner_dependencies(const char *root, struct analysis *out,
                             char *error, size_t size);

/* ---- optimize_imports.c ---- */

/* Counts the frameworks that a file imports; any number of threads may. */
void count_imports(struct analysis *analysis, enum takt_scan_language language,
                   const char *text, size_t size);

/* "NumPy", ...; NULL beyond the last. */
const char *framework_at(size_t index);

#endif
