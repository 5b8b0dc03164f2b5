/* SPDX-License-Identifier: MIT */
/*
 * optimize.h - what `takt optimize` is made of: the search through the sources,
 * the advice for each finding, and the three ways to report it.
 */
#pragma once

#include <pthread.h>

#include <takt/takt.h>

#include "json.h"
#include "number.h"
#include "project/manifest.h"
#include "scan/scan.h"
#include "workflow.h"

/* ---- optimize_search.c: walking through the sources ---- */

#define SEARCH_OPTIONS                                                 \
    {"languages", "LIST", NULL,                                        \
     "only these, separated by commas: rust, python, c, cpp"},         \
        {"with-vendored", NULL, NULL,                                  \
         "search vendored, build and environment folders too"},        \
    {                                                                  \
        "with-ignored", NULL, NULL, "search what .gitignore names too" \
    }

typedef void file_visit(void *self, const char *path,
                        enum takt_scan_language language, const char *text,
                        size_t size);

struct search {
    const struct invocation *invocation;
    const char *folder;
    takt_finding_visit *visit; /* paths are relative to the folder */
    file_visit *file;          /* by several threads at once; may be NULL */
    void *self;
    struct takt_scan_report report;
    uint64_t warnings;
    /* for the progress on a terminal */
    bool shows_progress;
    uint64_t next_ns;
};

/* Searches the folder. False: `error` says why it could not. */
bool search_sources(struct search *search, char *error, size_t size);

/* Says, of the first few, what could not be read or understood. */
void search_warn(struct search *search, const char *line);

/* Whether --languages can be understood; else says what is wrong. */
bool check_languages(const struct invocation *invocation);

/* "Rust 12 files, Python 3 files" */
struct phrase describe_languages(const struct takt_scan_report *report);

/* ---- optimize_advice.c: where a finding should run ---- */

enum { most_ops = 64 };

/* From which size on SIMD wins on this machine, as far as it was asked. */
struct crossovers {
    struct crossover {
        bool is_known;
        size_t from;
    } of[most_ops][2]; /* by op and dtype */
    bool lacks_memory; /* for some question: advice may be wrong */
};

/* What decides: flags over the project's file over the defaults. */
struct rules {
    bool enable_gpu, enable_simd, use_moe;
    uint64_t gpu_threshold;
    takt_ctx *ctx;
    bool is_tuned; /* this machine was measured */
    struct crossovers *crossovers;
};

struct advice {
    takt_backend backend; /* where it depends on the size: of the smallest */
    bool is_conditional;
    size_t simd_from, gpu_from; /* n, SIZE_MAX: never; if it is conditional */
    bool is_dimension;          /* n is that of a matrix; else elements */
    char text[112];             /* "SIMD", "GPU from n >= 500, SIMD below" */
    takt_shape shape;           /* that was judged; rank 0: none is known */
    takt_dtype dtype;           /* one that the op has */
    /* Where the machine was tuned and the size is known, else empty and 0: */
    char expert[TAKT_EXPERT_NAME_MAX]; /* the best for it here */
    const char *baseline; /* what it is compared with: "scalar", "vectorised"
                           * (on one thread) or "library" */
    double baseline_s, best_s;
    char call[200]; /* of libtakt; empty: there is none */
};

/* Those of the project's file; they have no context yet. */
struct rules rules_of(const struct takt_project_config *config,
                      struct crossovers *crossovers);

/* What runs a finding now: the baseline of what is predicted. */
enum runs_now { RUNS_SCALAR, RUNS_VECTORISED, RUNS_LIBRARY };

struct advice advise(const struct rules *rules,
                     const struct takt_finding *finding, enum runs_now runs);

/* Times as fast as the baseline; 0: not known. */
double predicted_speedup(const struct advice *advice);

/* ---- counting and reporting ---- */

enum { most_top = 5 };

struct kept_finding; /* findings.h */
struct findings;

enum { most_standings = 16 };

struct finding_tally {
    uint64_t gpu, simd, scalar, conditional; /* outside of tests */
    uint64_t in_tests;
    uint64_t of[most_standings]; /* by enum standing, outside of tests */
    uint64_t unchanged;          /* outside of the lines of --diff: in no other
                                  * count */
};

void count_finding(struct finding_tally *tally, const struct kept_finding *kept,
                   const struct advice *advice);
uint64_t tally_total(const struct finding_tally *tally);

/* What became of Cargo.toml. */
struct profile_outcome {
    bool is_cargo; /* there is a manifest */
    char path[longest_path];
    const char *profile;
    bool is_changed;              /* or would be */
    struct takt_kept_values kept; /* what stays although it is not that */
    char backup[longest_path];    /* empty: none was made */
    char *diff;                   /* what changes; owned; NULL: nothing */
};

/* ---- optimize_cargo.c ---- */

/* Sets the profile, or says what would change; `is_named`: by an option. False:
 * `error`. */
bool set_cargo_profile(const struct workflow *workflow, bool is_named,
                       struct profile_outcome *outcome, char *error,
                       size_t size);

/* ---- optimize_flags.c ---- */

struct report_form;

/* False: what makes no sense together was said. */
bool check_optimize_flags(const struct invocation *invocation);
void apply_optimize_flags(const struct invocation *invocation,
                          struct takt_project_config *config);
const struct report_form *optimize_form(const struct invocation *invocation);

/* ---- reporting ---- */

struct optimize_report;

/* A way to report: the finding is borrowed for the call. */
struct report_form {
    void (*begin)(struct optimize_report *report); /* may be NULL */
    void (*finding)(struct optimize_report *report,
                    const struct kept_finding *kept,
                    const struct advice *advice);
    void (*end)(struct optimize_report *report);
};

extern const struct report_form report_text, report_json, report_sarif,
    report_patch;

/* Everything there is to report. */
struct optimize_report {
    const struct workflow *workflow;
    const struct rules *rules;
    bool lists_all; /* text: every finding, not the best alone */
    struct finding_tally tally;
    const struct findings *findings;
    const size_t *order; /* of the findings; NULL: no memory */
    const struct evidence_summary *evidence;
    const struct compiled_summary *compiled;
    struct compile_database *database;      /* NULL: none */
    const struct compile_command *compiler; /* of --cc; NULL: none */
    const struct search *search;
    const struct profile_outcome *profile;
    FILE *out;         /* JSON goes there */
    const char *error; /* at its end: why it is not whole; NULL: it is */
    struct json json;
    struct sarif_rule {
        char pattern[64];
        const takt_op *op;
    } * rule; /* SARIF: owned, in the order of their first findings */
    size_t rule_count, rule_room;
};

/* "matmul f32 512x512x512 (constant)" */
struct phrase describe_found(const struct takt_finding *finding,
                             const struct advice *advice);

/* ", 75.2% of the time"; empty where no profile has it. */
struct phrase describe_evidence(const struct kept_finding *kept);

/* "12.3 times as fast as scalar ..."; empty where nothing is known. */
struct phrase describe_speedup(const struct advice *advice);

/* ---- optimize_top.c ---- */

/* Prints the findings to begin with; how many. */
size_t print_top(const struct optimize_report *report);

/* ---- cmd_analyze.c: what a project consists of: languages, dependencies and
 * the frameworks that its sources import ---- */

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

/* ---- optimize_check.c: whether experts compute on this machine what scalar
 * code does, within the tolerances of docs/numerics.md ---- */

enum { most_checks = 256 };

/* One op at one size. */
struct check {
    const takt_op *op;
    takt_dtype dtype;
    takt_shape shape;
    bool is_found;     /* the size is one of the sources'; else a typical one */
    unsigned backends; /* that were recommended: bits 1 << backend */
    /* What came of it: */
    unsigned experts;                  /* that were compared */
    double worst;                      /* share of what is allowed */
    char failed[TAKT_EXPERT_NAME_MAX]; /* empty: none */
    char why[160];
};

struct checks {
    struct check check[most_checks];
    size_t count;
    uint64_t left_out; /* sizes beyond these */
};

/* Adds the op, the size and the backends of a finding. */
void add_check(struct checks *checks, const struct takt_finding *finding,
               const struct advice *advice);

/* Compares all experts that the check names. False: one of them is wrong, or
 * there is no memory for the operands: see `failed` and `why`. */
bool run_check(takt_ctx *ctx, struct check *check);
