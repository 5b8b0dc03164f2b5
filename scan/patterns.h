/* SPDX-License-Identifier: MIT */
/*
 * patterns.h - the query of a language, compiled, with its predicates.
 *
 * Patterns that differ in their predicates alone are alike: the query matches
 * the first of them, and its matches are those of the others, too.
 *
 * Read only once it is open: threads share it.
 */
#pragma once

#include <regex.h>

#include "language.h"
#include "text/region.h"

enum { TAKT_OPERANDS = 64 }; /* that a predicate of a language may have */

struct takt_setting {
    const char *key, *value;
};

/* A capture, or a word. */
struct takt_argument {
    bool is_capture;
    uint32_t capture;
    const char *word;
};

enum takt_clause_kind {
    TAKT_CLAUSE_EQ,    /* #eq? @a @b, #eq? @a "word" */
    TAKT_CLAUSE_MATCH, /* #match? @a "regular expression" */
    TAKT_CLAUSE_ANY,   /* #any-of? @a "one" "two" */
    TAKT_CLAUSE_OWN    /* of the language */
};

struct takt_clause {
    enum takt_clause_kind kind;
    bool is_negated;
    takt_predicate *holds;
    regex_t *regex;
    unsigned count;
    struct takt_argument *argument;
};

struct takt_pattern {
    const char *name, *full_name; /* "iterator-sum", "rust/iterator-sum" */
    const char *op_name;          /* "": the language tells */
    const takt_op *op;
    unsigned clauses, settings;
    struct takt_clause *clause;
    struct takt_setting *setting;
    const char *shape;               /* its text without the predicates */
    struct takt_pattern *next_alike; /* the next one of that shape, or NULL */
};

struct takt_patterns {
    const struct takt_language *language;
    TSQuery *query;
    uint32_t finding; /* the capture of that name */
    unsigned count;
    struct takt_pattern *pattern;
    struct takt_regex_link *regexes;
    struct takt_region region;
};

/* TAKT_EINVAL: the query is wrong; `diag` says where.  TAKT_ENOMEM. */
takt_status takt__patterns_open(const struct takt_language *language,
                                struct takt_patterns *out, takt_diag *diag);
void takt__patterns_close(struct takt_patterns *patterns);

/* Whether every predicate of the match's pattern holds. */
bool takt__match_holds(const struct takt_match *match);
