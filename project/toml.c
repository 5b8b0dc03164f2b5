/* SPDX-License-Identifier: MIT */
/*
 * toml.c - the sentences of TOML: headers, keys with values, arrays and tables,
 * and which of them may be said twice.
 *
 * A table is opened once by a header; before that, headers of tables in it may
 * imply it, and dotted keys may make it, after which no header opens it. What
 * is written as a value is complete as it stands.
 *
 * The keys of all tables are in one open-addressed index, so that a file of
 * very many keys is read as fast as any other.
 */
#include "project/toml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "project/toml_lex.h"

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
    for (size_t i = 0; i < old_size; i++)
        if (old[i] != NULL)
            *slot(toml, old[i]->parent, old[i]->key, old[i]->key_length) =
                old[i];
    free(old);
    return true;
}

/* Adds `value`, of which parent, and key unless it is an element, are set, as
 * the last one to its parent. False: no memory. */
static bool append(struct takt_toml *toml, struct takt_toml_value *value)
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
         value = value->next)
        if (value->key_length == length && memcmp(value->key, key, length) == 0)
            return value;
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

struct parser {
    struct takt_toml_lexer lexer;
    struct takt_toml_value *section; /* that the last header opened */
    unsigned depth;                  /* of arrays and tables in values */
};

static bool read_value(struct parser *parser, struct takt_toml_value *value);

/* A new value; NULL: no memory. `part` is NULL for an element. */
static struct takt_toml_value *add(struct parser *parser,
                                   struct takt_toml_value *parent,
                                   const struct takt_toml_part *part,
                                   size_t statement_from)
{
    struct takt_toml *toml = parser->lexer.toml;
    struct takt_toml_value *value =
        takt__region_take(&toml->region, sizeof *value);

    if (value != NULL) {
        value->parent = parent;
        value->statement_from = statement_from;
        if (part != NULL) {
            value->key = part->key;
            value->key_length = part->key_length;
            value->name = part->name;
        }
    }
    if (value == NULL || !append(toml, value)) {
        takt__toml_no_memory(&parser->lexer);
        return NULL;
    }
    return value;
}

/* Always NULL, so that it can be returned. */
static struct takt_toml_value *refuse(struct parser *parser,
                                      const struct takt_toml_part *part,
                                      const char *why)
{
    char line[200];

    snprintf(line, sizeof line, "%s '%.80s'", why, part->key);
    takt__toml_fail(&parser->lexer, part->name.from, line);
    return NULL;
}

/* NULL: there is none. */
static struct takt_toml_value *find(const struct parser *parser,
                                    const struct takt_toml_value *table,
                                    const struct takt_toml_part *part)
{
    const struct takt_toml *toml = parser->lexer.toml;

    return toml->index_size > 0
               ? *slot(toml, table, part->key, part->key_length)
               : NULL;
}

/* The table that part `i` of a dotted key names, made if need be. */
static struct takt_toml_value *step_dotted(struct parser *parser,
                                           struct takt_toml_value *table,
                                           const struct takt_toml_part *part,
                                           size_t i)
{
    struct takt_toml_value *next = find(parser, table, &part[i]);
    const bool is_new = next == NULL;

    if (is_new) {
        next = add(parser, table, &part[i], part[0].name.from);
        if (next == NULL)
            return NULL;
        next->kind = TAKT_TOML_TABLE;
    }
    if (next->kind != TAKT_TOML_TABLE)
        return refuse(parser, &part[i], "this is no table, but a value:");
    if (is_new || next->form == TAKT_TOML_IMPLIED) {
        next->form = TAKT_TOML_DOTTED;
        next->name = part[i].name;
        next->statement_from = part[0].name.from;
        next->text =
            (struct takt_toml_span){part[0].name.from, part[i + 1].name.from};
    }
    if (next->form != TAKT_TOML_DOTTED)
        return refuse(parser, &part[i], "this table is complete already:");
    return next;
}

/* a.b = 1, in a section or between braces. */
static bool read_pair(struct parser *parser, struct takt_toml_value *table)
{
    struct takt_toml_lexer *lexer = &parser->lexer;
    struct takt_toml_part part[TAKT_TOML_MOST_PARTS];
    struct takt_toml_value *into = table;
    size_t count;

    if (!takt__toml_read_key(lexer, part, &count))
        return false;
    for (size_t i = 0; i + 1 < count; i++) {
        into = step_dotted(parser, into, part, i);
        if (into == NULL)
            return false;
    }
    const struct takt_toml_part *last = &part[count - 1];
    if (find(parser, into, last) != NULL)
        return refuse(parser, last, "this key is there twice:") != NULL;
    if (!takt__toml_skip(lexer, '='))
        return takt__toml_fail(lexer, lexer->at, "a '=' should be here");
    struct takt_toml_value *value = add(parser, into, last, part[0].name.from);
    takt__toml_skip_blanks(lexer);
    if (value == NULL || !read_value(parser, value))
        return false;
    for (table->end = lexer->at; into != table; into = into->parent)
        into->end = lexer->at;
    return true;
}

static bool read_element(struct parser *parser, struct takt_toml_value *array)
{
    struct takt_toml_value *element =
        add(parser, array, NULL, parser->lexer.at);

    return element != NULL && read_value(parser, element);
}

/* An array or an inline table, up to its bracket. */
static bool read_list(struct parser *parser, struct takt_toml_value *list)
{
    struct takt_toml_lexer *lexer = &parser->lexer;
    const bool is_array = takt__toml_peek(lexer) == '[';
    const char close = is_array ? ']' : '}';
    const size_t from = lexer->at++;

    list->kind = is_array ? TAKT_TOML_ARRAY : TAKT_TOML_TABLE;
    list->end = lexer->at;
    do {
        takt__toml_skip_lines(lexer);
        if (takt__toml_skip(lexer, close))
            return true;
        if (is_array ? !read_element(parser, list) : !read_pair(parser, list))
            return false;
        takt__toml_skip_lines(lexer);
    } while (takt__toml_skip(lexer, ','));
    if (takt__toml_skip(lexer, close))
        return true;
    if (lexer->at == lexer->length)
        return takt__toml_fail(lexer, from,
                               is_array ? "this array does not end"
                                        : "this table does not end");
    return takt__toml_fail(lexer, lexer->at,
                           is_array ? "a ',' or ']' should be here"
                                    : "a ',' or '}' should be here");
}

static bool read_nested(struct parser *parser, struct takt_toml_value *value)
{
    if (parser->depth == TAKT_TOML_DEEPEST)
        return takt__toml_fail(&parser->lexer, parser->lexer.at,
                               "this is nested too deeply");
    parser->depth++;
    const bool is_read = read_list(parser, value);
    parser->depth--;
    return is_read;
}

static bool read_value(struct parser *parser, struct takt_toml_value *value)
{
    struct takt_toml_lexer *lexer = &parser->lexer;
    const size_t from = lexer->at;
    bool is_read;

    value->form = TAKT_TOML_VALUE;
    switch (takt__toml_peek(lexer)) {
    case '"':
    case '\'':
        value->kind = TAKT_TOML_STRING;
        is_read = takt__toml_read_string(lexer, false, &value->string,
                                         &value->string_length);
        break;
    case '[':
    case '{':
        is_read = read_nested(parser, value);
        break;
    default:
        is_read = takt__toml_read_scalar(lexer, value);
    }
    value->text = (struct takt_toml_span){from, lexer->at};
    return is_read;
}

/* The table that a part of a header names, if it is not the last one: of an
 * array of tables, its last. */
static struct takt_toml_value *step_header(struct parser *parser,
                                           struct takt_toml_value *table,
                                           const struct takt_toml_part *part,
                                           size_t from)
{
    struct takt_toml_value *next = find(parser, table, part);

    if (next == NULL) {
        next = add(parser, table, part, from);
        if (next == NULL)
            return NULL;
        next->kind = TAKT_TOML_TABLE;
        next->form = TAKT_TOML_IMPLIED;
    }
    if (next->form == TAKT_TOML_VALUE)
        return refuse(parser, part, "nothing can be added to this value:");
    return next->kind == TAKT_TOML_ARRAY ? next->last : next;
}

/* The table that a header opens, in `table`, which has been found. */
static struct takt_toml_value *open_table(struct parser *parser,
                                          struct takt_toml_value *table,
                                          const struct takt_toml_part *part,
                                          size_t from)
{
    struct takt_toml_value *opened = find(parser, table, part);

    if (opened == NULL)
        return add(parser, table, part, from);
    if (opened->kind != TAKT_TOML_TABLE || opened->form != TAKT_TOML_IMPLIED)
        return refuse(parser, part, "this is there already:");
    opened->name = part->name;
    opened->statement_from = from;
    return opened;
}

/* The next table of an array, in `table`. */
static struct takt_toml_value *append_table(struct parser *parser,
                                            struct takt_toml_value *table,
                                            const struct takt_toml_part *part,
                                            size_t from)
{
    struct takt_toml_value *array = find(parser, table, part);

    if (array == NULL) {
        array = add(parser, table, part, from);
        if (array == NULL)
            return NULL;
        array->kind = TAKT_TOML_ARRAY;
        array->form = TAKT_TOML_HEADER;
        array->text = (struct takt_toml_span){from, parser->lexer.at};
    }
    if (array->kind != TAKT_TOML_ARRAY || array->form != TAKT_TOML_HEADER)
        return refuse(parser, part,
                      "this is there already, and no array of tables:");
    return add(parser, array, NULL, from);
}

/* [a.b] or [[a.b]]. */
static bool read_header(struct parser *parser)
{
    struct takt_toml_lexer *lexer = &parser->lexer;
    struct takt_toml_part part[TAKT_TOML_MOST_PARTS];
    struct takt_toml_value *table = &lexer->toml->root;
    const size_t from = lexer->at++;
    const bool is_array = takt__toml_skip(lexer, '[');
    size_t count;

    if (!takt__toml_read_key(lexer, part, &count))
        return false;
    if (!takt__toml_skip(lexer, ']') ||
        (is_array && !takt__toml_skip(lexer, ']')))
        return takt__toml_fail(lexer, lexer->at, "a ']' should be here");
    for (size_t i = 0; i + 1 < count; i++) {
        table = step_header(parser, table, &part[i], from);
        if (table == NULL)
            return false;
    }
    table = is_array ? append_table(parser, table, &part[count - 1], from)
                     : open_table(parser, table, &part[count - 1], from);
    if (table == NULL)
        return false;
    table->kind = TAKT_TOML_TABLE;
    table->form = TAKT_TOML_HEADER;
    table->text = (struct takt_toml_span){from, lexer->at};
    table->end = lexer->at;
    parser->section = table;
    return true;
}

static bool read_text(struct parser *parser)
{
    struct takt_toml_lexer *lexer = &parser->lexer;

    if (!takt__toml_check_text(lexer))
        return false;
    if (lexer->length >= 3 && memcmp(lexer->text, "\xEF\xBB\xBF", 3) == 0)
        lexer->at = 3; /* a mark that some editors put there */
    for (;;) {
        takt__toml_skip_lines(lexer);
        if (lexer->at == lexer->length)
            return true;
        const bool is_read = takt__toml_peek(lexer) == '['
                                 ? read_header(parser)
                                 : read_pair(parser, parser->section);
        if (!is_read || !takt__toml_end_line(lexer))
            return false;
    }
}

takt_status takt__toml_parse(const char *text, size_t length,
                             struct takt_toml **out,
                             struct takt_toml_error *error)
{
    struct takt_toml *toml = calloc(1, sizeof *toml);

    *out = NULL;
    if (toml == NULL)
        return TAKT_ENOMEM;
    toml->root.kind = TAKT_TOML_TABLE;
    toml->root.form = TAKT_TOML_ROOT;
    struct parser parser = {
        .lexer = {.text = text, .length = length, .toml = toml},
        .section = &toml->root};
    if (read_text(&parser)) {
        *out = toml;
        return TAKT_OK;
    }
    takt__toml_destroy(toml);
    if (parser.lexer.status == TAKT_ECORRUPT) {
        takt__toml_locate(text, parser.lexer.failed_at, error);
        snprintf(error->why, sizeof error->why, "%s", parser.lexer.why);
    }
    return parser.lexer.status;
}

takt_status takt__toml_say(takt_diag *diag, takt_status status,
                           const char *file,
                           const struct takt_toml_error *error)
{
    if (status == TAKT_ENOMEM)
        return takt__say(diag, status, "no memory");
    return takt__say(diag, status, "%.200s:%zu:%zu: %s", file, error->line,
                     error->column, error->why);
}
