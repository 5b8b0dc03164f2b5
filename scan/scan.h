/* SPDX-License-Identifier: MIT */
/*
 * scan.h - finds compute patterns in source code, by what it means and not by
 * what it looks like: tree-sitter parses, queries find, and what only a look at
 * the surroundings show is found out by the language (language.h).
 *
 * A scan walks folders, passes over what is ignored, built or somebody else's,
 * lets a quick filter decide which files are worth parsing, and parses these on
 * all cores. What cannot be read or parsed is counted, and never ends it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <takt/op.h>
#include <takt/status.h>
#include <takt/store.h>

enum takt_scan_language {
    TAKT_SCAN_C,
    TAKT_SCAN_CPP,
    TAKT_SCAN_PYTHON,
    TAKT_SCAN_RUST,
    TAKT_SCAN_LANGUAGES
};

/* "C", "C++", "Python" or "Rust". */
const char *takt__scan_language_name(enum takt_scan_language language);

/* How a size came to be known. */
enum takt_size_source {
    TAKT_SIZE_UNKNOWN,
    TAKT_SIZE_LITERAL,   /* it is written there: np.zeros((512, 512)) */
    TAKT_SIZE_CONST,     /* by a constant: const N: usize = 512 */
    TAKT_SIZE_TYPE,      /* by the type of an array: [f32; 512], float a[512] */
    TAKT_SIZE_LOOP_BOUND /* by the bound of a loop: for i in 0..512 */
};

/* "", "literal", "constant", "array type" or "loop bound". */
const char *takt__size_source_name(enum takt_size_source source);

/* Sizes in the order of op->shape, as far as they are known: 0 is not. */
struct takt_found_size {
    enum takt_size_source source;
    takt_shape shape; /* rank 0: nothing is known */
};

/* How well the name of a finding fits. */
enum takt_certainty {
    TAKT_EXACT,       /* it does this and nothing else */
    TAKT_CONTAINS,    /* and something more, in the same loop */
    TAKT_UNKNOWN_TYPE /* if its elements are floating-point numbers */
};

/* "exact", "contains" or "unknown type". */
const char *takt__certainty_name(enum takt_certainty certainty);

enum { TAKT_SNIPPET = 160 };

/* Strings are borrowed until the visit returns. */
struct takt_finding {
    const char *path; /* as it was reached from the folder that was given */
    enum takt_scan_language language;
    unsigned line, column;         /* from 1; columns count UTF-16 units, as */
    unsigned end_line, end_column; /* SARIF does; the end is exclusive */
    const char *pattern;           /* its name: "rust/iterator-sum" */
    const takt_op *op;             /* of the catalogue */
    const char *name; /* op->name; or what it is where op only stands in for
                       * as much work: "product" */
    enum takt_certainty certainty;
    takt_dtype dtype;
    bool is_dtype_known; /* else it is f32 */
    struct takt_found_size size;
    const char *function;  /* that it is in; "" */
    bool is_test;          /* in test code */
    unsigned loops_around; /* of its function, without its own */
    const char *rewrite;   /* C, C++: what may stand before it so that a call of
                            * ours is made in its place, and the loop only runs
                            * where that is refused: "if (takt_...)", or a block
                            * that it ends with "else" and is to be closed;
                            * NULL: none that is known to be right */
    char snippet[TAKT_SNIPPET]; /* the first line of it, UTF-8, trimmed */
};

/* Not 0: enough. */
typedef int takt_finding_visit(void *self, const struct takt_finding *finding);

struct takt_scan_counts {
    uint64_t files, bytes, lines; /* of that language, all that were seen */
    uint64_t parsed;              /* files that were worth it */
    uint64_t partly;              /* of these, not parsed completely */
    uint64_t findings, test_findings;
};

struct takt_scan_report {
    struct takt_scan_counts of[TAKT_SCAN_LANGUAGES];
    uint64_t others;  /* files of no language that we know */
    uint64_t ignored; /* files and folders: .gitignore, vendored, built */
    uint64_t unreadable, binary, too_large, not_utf8, gave_up; /* files */
    uint64_t linked; /* symbolic links that were not followed */
    double seconds;
};

struct takt_scan_options {
    const char *const *path; /* files and folders */
    size_t path_count;
    unsigned languages;  /* bits 1 << language; 0: all */
    unsigned threads;    /* 0: as many as the process may use */
    bool with_ignored;   /* what .gitignore names, too */
    bool with_vendored;  /* vendor, third_party, node_modules, target ... */
    uint64_t most_bytes; /* of a file; 0: 8 MiB */
    /* Something could not be read, or not understood: a line for people. As
     * progress and visit, by the thread that scans. May be NULL. */
    void (*warn)(void *self, const char *path, const char *why);
    /* Now and then. May be NULL. */
    void (*progress)(void *self, uint64_t files, uint64_t bytes);
    /* Every source file that was read, parsed or not: its whole text. Called by
     * several threads at once. May be NULL. */
    void (*file)(void *self, const char *path, enum takt_scan_language language,
                 const char *text, size_t size);
    takt_finding_visit *visit; /* in the order of paths and places, always */
    void *self;
};

/* TAKT_ENOENT: none of the paths is there.
 * TAKT_ENOTSUP: this build has no parser.
 * TAKT_ENOMEM. */
takt_status takt__scan(const struct takt_scan_options *options,
                       struct takt_scan_report *report, takt_diag *diag);
