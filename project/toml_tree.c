/* SPDX-License-Identifier: MIT */
/* toml_tree.c - an open-addressed index of keys. */
#include "project/toml_tree.h"

#include <stdlib.h>
#include <string.h>

static size_t hash(const struct takt_toml_value *table, const char *key,
                   size_t key_length)
{
    uint64_t mixed = 14695981039346656037u ^ (uintptr_t)table;

    for (size_t i = 0; i < key_length; i++)
        mixed = (mixed ^ (unsigned char)key[i]) * 1099511628211u;
    return (size_t)(mixed ^ mixed >> 32);
}

/* The slot where it is, or where it would be. */
static struct takt_toml_value **slot(const struct takt_toml *toml,
                                     const struct takt_toml_value *table,
                                     const char *key, size_t key_length)
{
    size_t i = hash(table, key, key_length);

    for (;; i++) {
        struct takt_toml_value **at = &toml->index[i & (toml->index_size - 1)];
        if (*at == NULL ||
            ((*at)->parent == table && (*at)->key_length == key_length &&
             memcmp((*at)->key, key, key_length) == 0))
            return at;
    }
}

struct takt_toml_value *takt__toml_find(const struct takt_toml *toml,
                                        const struct takt_toml_value *table,
                                        const char *key, size_t key_length)
{
    return toml->index_size > 0 ? *slot(toml, table, key, key_length) : NULL;
}

/* Keeps half of the slots free. */
static bool grow(struct takt_toml *toml)
{
    struct takt_toml_value **old = toml->index;
    const size_t old_size = toml->index_size;

    if (toml->keyed < old_size / 2)
        return true;
    const size_t size = old_size > 0 ? old_size * 2 : 64;
    struct takt_toml_value **index = calloc(size, sizeof *index);
    if (index == NULL)
        return false;
    toml->index = index;
    toml->index_size = size;
    for (size_t i = 0; i < old_size; i++) {
        if (old[i] != NULL)
            *slot(toml, old[i]->parent, old[i]->key, old[i]->key_length) =
                old[i];
    }
    free(old);
    return true;
}

bool takt__toml_add(struct takt_toml *toml, struct takt_toml_value *value)
{
    struct takt_toml_value *parent = value->parent;

    if (value->key != NULL) {
        if (!grow(toml))
            return false;
        *slot(toml, parent, value->key, value->key_length) = value;
        toml->keyed++;
    }
    if (parent->last != NULL)
        parent->last->next = value;
    else
        parent->first = value;
    parent->last = value;
    return true;
}

void takt__toml_destroy(struct takt_toml *toml)
{
    if (toml == NULL)
        return;
    takt__region_free(&toml->region);
    free(toml->index);
    free(toml);
}

const struct takt_toml_value *takt__toml_root(const struct takt_toml *toml)
{
    return &toml->root;
}

const struct takt_toml_value *
takt__toml_get(const struct takt_toml_value *table, const char *key)
{
    const size_t length = strlen(key);

    if (table == NULL || table->kind != TAKT_TOML_TABLE)
        return NULL;
    for (const struct takt_toml_value *value = table->first; value != NULL;
         value = value->next) {
        if (value->key_length == length && memcmp(value->key, key, length) == 0)
            return value;
    }
    return NULL;
}

const char *takt__toml_kind_name(enum takt_toml_kind kind)
{
    static const char *const names[] = {"string",  "integer",      "float",
                                        "boolean", "date or time", "array",
                                        "table"};

    return names[kind];
}

void takt__toml_locate(const char *text, size_t offset,
                       struct takt_toml_error *error)
{
    error->line = error->column = 1;
    for (size_t i = 0; i < offset; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte == '\n') {
            error->line++;
            error->column = 1;
        } else if (byte < 0x80 || byte >= 0xC0) { /* begins a character */
            error->column++;
        }
    }
    /* The mark that begins some files is none. */
    if (error->line == 1 && offset >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
        error->column--;
}
