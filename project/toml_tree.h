/* SPDX-License-Identifier: MIT */
/*
 * toml_tree.h - where the parts of a tree live, with one index for the keys of
 * all tables, so that a file of very many keys is read as fast as any other.
 */
#ifndef TAKT_PROJECT_TOML_TREE_H
#define TAKT_PROJECT_TOML_TREE_H

#include "project/toml.h"
#include "text/region.h"

struct takt_toml {
    struct takt_toml_value root;
    struct takt_region region;      /* for all values and strings */
    struct takt_toml_value **index; /* of keyed values; NULL: a free slot */
    size_t index_size, keyed;       /* size: 0 or a power of two */
};

/* NULL: there is none. */
struct takt_toml_value *takt__toml_find(const struct takt_toml *toml,
                                        const struct takt_toml_value *table,
                                        const char *key, size_t key_length);

/* Adds `value`, of which parent, and key unless it is an element, are set, as
 * the last one to its parent. False: no memory. */
bool takt__toml_add(struct takt_toml *toml, struct takt_toml_value *value);

#endif
