/* SPDX-License-Identifier: MIT */
/*
 * python_notes.h - what is kept about a Python file while it is looked at.
 */
#pragma once

#include "python.h"

enum takt_python_scope_kind {
    TAKT_PYTHON_SCOPE_MODULE,
    TAKT_PYTHON_SCOPE_FUNCTION, /* and lambda */
    TAKT_PYTHON_SCOPE_CLASS,
    TAKT_PYTHON_SCOPE_COMPREHENSION
};

struct takt_python_scope {
    uint32_t from, to; /* bytes */
    unsigned parent;
    enum takt_python_scope_kind kind;
};

struct takt_python_claim {
    uint32_t from, to;
};

/* Values that were asked for lately. */
enum { TAKT_PYTHON_KNOWN = 1024 };
struct takt_python_known {
    const void *id;
    uint32_t at;
    struct takt_python_value value;
};

enum { TAKT_PYTHON_SYMBOLS = 512 }; /* types of nodes; the grammar has 275 */

struct takt_python_notes {
    struct takt_python_scope *scope; /* in the order of their places */
    struct takt_python_binding *binding;
    size_t *bucket; /* the last binding of each hash, from 1 */
    TSNode *candidate;
    struct takt_python_claim *claim;
    struct takt_python_known known[TAKT_PYTHON_KNOWN];
    unsigned char noted[TAKT_PYTHON_SYMBOLS]; /* what is done with a type */
    size_t scopes, bindings, candidates, claims;
    size_t scope_room, binding_room, candidate_room, claim_room;
    unsigned current;                  /* scope, during the walk */
    TSNode next_in_chain, chain_value; /* of a = b = value, found once */
    unsigned depth, steps; /* of the search for a value: it ends somewhere */
    enum takt_certainty certainty; /* of the op that was asked for last */
    bool has_symbols; /* what computes with something else than numbers */
    bool has_arrays, has_torch, is_claiming;
};

size_t takt__python_hash(struct takt_text name);

/* python_names.c */
void takt__python_bind(struct takt_python_notes *notes,
                       struct takt_python_binding binding);
unsigned takt__python_class_around(const struct takt_python_notes *notes,
                                   unsigned scope);

/* python_uses.c: during the walk. `name`: of the function that is called. */
void takt__python_note_attribute(struct takt_source *source, TSNode node);
void takt__python_note_subscript(struct takt_source *source, TSNode node);
void takt__python_note_operands(struct takt_source *source, TSNode call,
                                struct takt_text name);
void takt__python_note_condition(struct takt_source *source, TSNode node);
