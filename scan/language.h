/* SPDX-License-Identifier: MIT */
/*
 * language.h - what a language brings with it: a grammar, queries, and the
 * questions that queries cannot answer.
 *
 * A query (patterns/LANGUAGE.scm) finds candidates. Each pattern sets its name
 * and its op, (#set! pattern "iterator-sum") (#set! op "sum"), and captures
 * what is reported as @finding. Where the catalogue has no such op, (#set! name
 * "product") says what it is and the op is one of as much work. Other settings
 * are the language's own: takt__match_setting(). Predicates are evaluated here,
 * because tree-sitter does not: #eq?, #not-eq?, #match?, #not-match?, #any-of?,
 * #not-any-of?, and those in the language's own table, which see the whole
 * match: scopes, imports, loops.
 */
#pragma once

#include <tree_sitter/api.h>

#include "scan.h"

/* A file that was parsed. */
struct takt_region;

struct takt_source {
    const char *path; /* as seen from the folder that was given */
    const char *text;
    size_t size;
    TSTree *tree;
    TSTree *borrowed; /* of declarations of other files, which stand behind the
                         text of the file; NULL: there are none */
    const struct takt_language *language;
    void *notes; /* the language's own, about this file: see `begin` */
    struct takt_region *region; /* lives as long as the file's findings */
};

enum { TAKT_MATCH_CAPTURES = 16 };

struct takt_match {
    const struct takt_source *source;
    const char *pattern, *op; /* as set; "" */
    const struct takt_pattern *of;
    unsigned count;
    struct {
        const char *name; /* without the @ */
        TSNode node;
    } capture[TAKT_MATCH_CAPTURES];
};

/* The first capture of that name; a null node: there is none. */
TSNode takt__match_node(const struct takt_match *match, const char *name);

/* What the pattern sets: (#set! key "value"); NULL: it does not. */
const char *takt__match_setting(const struct takt_match *match,
                                const char *key);

/* The text of a node: borrowed, not terminated. */
struct takt_text {
    const char *at;
    size_t size;
};
struct takt_text takt__node_text(const struct takt_source *source, TSNode node);
bool takt__text_is(struct takt_text text, const char *word);
/* Whether it is one of several words, which a blank stands between. */
bool takt__text_in(struct takt_text text, const char *words);
bool takt__word_in(const char *word, const char *words);

/* Texts, one after the other, as a string that lives as long as the findings
 * of the file: "Matrix", "::", "mul" for finding->function. "" if there is no
 * memory. */
const char *takt__source_keep(const struct takt_source *source,
                              const struct takt_text *part, size_t count);

bool takt__node_is(TSNode node, const char *type);
bool takt__node_in(TSNode node, const char *types); /* "comment block" */
TSNode takt__node_field(TSNode node, const char *field);
/* Named children; of a null node none. */
uint32_t takt__node_children(TSNode node);
TSNode takt__node_child(TSNode node, uint32_t place);
/* Goes to the next node of a tree, each before those in it, which are passed
 * over if not `enters`; needs no stack of ours. False: there is none. */
bool takt__cursor_next(TSTreeCursor *cursor, bool enters);

/* An integer literal, with _ and suffixes, also in hex; false: it is none. */
bool takt__text_integer(struct takt_text text, uint64_t *out);

/* An argument of a predicate: a capture's node, or a word. */
struct takt_scan_operand {
    bool is_node;
    TSNode node;
    const char *word;
};
typedef bool takt_predicate(const struct takt_match *match,
                            const struct takt_scan_operand *operand,
                            unsigned count);

struct takt_project;
typedef void takt_link(void *self, struct takt_text path);

struct takt_language {
    enum takt_scan_language id;
    enum takt_scan_language family; /* languages that declare for each other */
    const char *const *extensions;  /* ".rs"; NULL ends */
    const TSLanguage *(*grammar)(void);
    /* The parts of a text that are parsed, at most that many; 0: all of it. May
     * be NULL. */
    size_t (*ranges)(const char *text, size_t size, TSRange *range,
                     size_t most);
    /* The next place from `at` on where a macro stands for [], which begins a
     * lambda; NULL: none. May be NULL. */
    const char *(*lambda)(const char *text, const char *at, const char *end);
    const char *query; /* takt__query_LANGUAGE */
    /* A file that has none of these words is not worth parsing; NULL ends. */
    const char *const *words;
    /* The same for what it may borrow: a file that has none of these has no
     * loop; NULL: none is known. */
    const char *const *loops;
    const struct takt_named_predicate {
        const char *name; /* without # and ? : "imported" for #imported? */
        takt_predicate *holds;
    } * predicates; /* NULL name ends */

    /* Declares what other files may refer to: takt__project_declare(). Asked of
     * files with one of the extensions `outlined`. `links` tells the files that
     * a text refers to; NULL: all of a tree of sources refer to each other. May
     * be NULL. */
    const char *const *outlined;
    void (*outline)(struct takt_project *project, const char *text,
                    size_t size);
    void (*links)(const char *text, size_t size, takt_link *link, void *self);

    /* Before the matches of a file: may gather scopes, imports and constants
     * into source->notes. `end` frees it. May be NULL. */
    void (*begin)(struct takt_source *source);
    void (*end)(struct takt_source *source);

    /* Fills in size, dtype, function and is_test, as far as they are known,
     * and op where the pattern leaves that open (a table of names); may change
     * an op. An op that is NULL then: it is no finding after all. Strings are
     * copied. */
    void (*describe)(const struct takt_match *match, struct takt_finding *out);

    /* Of two patterns that match at the same place, or the second within the
     * first, which is meant: > 0 the first, < 0 the second, 0 both. Asked after
     * `describe`. May be NULL: of the same place the one that stands first in
     * the query; others both. A pattern never counts twice at one place. */
    int (*prefer)(const struct takt_match *first,
                  const struct takt_match *second);
};

/* The texts of patterns/LANGUAGE.scm. */
extern const char takt__query_c[], takt__query_cpp[], takt__query_python[],
    takt__query_rust[];

extern const struct takt_language takt__language_c, takt__language_cpp,
    takt__language_python, takt__language_rust;
