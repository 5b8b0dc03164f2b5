/* SPDX-License-Identifier: MIT */
/*
 * toml_edit.c - finds the position with the parser, then replaces a few bytes.
 *
 * Every change begins with the text alone: positions are those of the tree that
 * was just read, and never have to be kept up to date.
 */
#include "project/toml_edit.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* What is to be written, bit by bit; once there is no memory, nothing is. */
struct draft {
    char *bytes;
    size_t length, size;
    bool is_broken;
};

static void put_n(struct draft *draft, const char *bytes, size_t length)
{
    draft->is_broken |=
        !takt__grow(&draft->bytes, &draft->size, draft->length + length, 1);
    if (draft->is_broken || length == 0)
        return;
    memcpy(draft->bytes + draft->length, bytes, length);
    draft->length += length;
}

static void put(struct draft *draft, const char *string)
{
    put_n(draft, string, strlen(string));
}

/* Replaces `span` by the draft, which is freed. */
static takt_status splice(struct takt_toml_text *text,
                          struct takt_toml_span span, struct draft *draft)
{
    struct draft whole = {0};

    put_n(&whole, text->bytes, span.from);
    put_n(&whole, draft->bytes, draft->length);
    put_n(&whole, text->bytes + span.to, text->length - span.to);
    put_n(&whole, "", 1); /* the NUL */
    const bool is_broken = draft->is_broken || whole.is_broken;
    free(draft->bytes);
    if (is_broken) {
        free(whole.bytes);
        return TAKT_ENOMEM;
    }
    free(text->bytes);
    *text = (struct takt_toml_text){whole.bytes, whole.length - 1};
    return TAKT_OK;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* The mark that begins some texts is not part of their first line. */
static size_t line_start(const struct takt_toml_text *text, size_t at)
{
    static const char mark[] = "\xEF\xBB\xBF";
    const bool has_mark = text->length >= 3 && !memcmp(text->bytes, mark, 3);
    const size_t first = has_mark ? 3 : 0;

    while (at > first && text->bytes[at - 1] != '\n')
        at--;
    return at;
}

/* Where the line of `at` ends: before its "\n" or "\r\n", or with the text. */
static size_t line_end(const struct takt_toml_text *text, size_t at)
{
    while (at < text->length && text->bytes[at] != '\n')
        at++;
    return at > 0 && at < text->length && text->bytes[at - 1] == '\r' ? at - 1
                                                                      : at;
}

/* How the line ends that `end` is the end of; if it does not, the first one. */
static const char *newline(const struct takt_toml_text *text, size_t end)
{
    if (end == text->length)
        end = line_end(text, 0);
    return end < text->length && text->bytes[end] == '\r' ? "\r\n" : "\n";
}

/* Whether it is written between braces. */
static bool is_inline(const struct takt_toml_value *table)
{
    for (; table != NULL; table = table->parent)
        if (table->form == TAKT_TOML_VALUE)
            return true;
    return false;
}

/* key = literal, or table = { key = literal } for the tables from `missing`. */
static void put_pair(struct draft *draft,
                     const struct takt_toml_setting *setting, size_t missing)
{
    for (size_t i = missing; i < setting->tables; i++) {
        put(draft, setting->table[i]);
        put(draft, " = { ");
    }
    put(draft, setting->key);
    put(draft, " = ");
    put(draft, setting->literal);
    for (size_t i = missing; i < setting->tables; i++)
        put(draft, " }");
}

/* What is written before the keys of a table that dotted keys make. */
static void put_prefix(struct draft *draft, const struct takt_toml_text *text,
                       const struct takt_toml_value *table)
{
    if (table->form == TAKT_TOML_DOTTED)
        put_n(draft, text->bytes + table->text.from,
              table->text.to - table->text.from);
}

static takt_status insert_inline(struct takt_toml_text *text,
                                 const struct takt_toml_value *table,
                                 const struct takt_toml_setting *setting,
                                 size_t missing)
{
    const struct takt_toml_span here = {table->end, table->end};
    struct draft draft = {0};

    put(&draft, table->first != NULL ? ", " : " ");
    put_prefix(&draft, text, table);
    put_pair(&draft, setting, missing);
    if (table->first == NULL && text->bytes[here.to] == '}')
        put(&draft, " ");
    return splice(text, here, &draft);
}

/* The blanks that the lines of a table begin with. */
static void put_indent(struct draft *draft, const struct takt_toml_text *text,
                       const struct takt_toml_value *table)
{
    size_t statement = table->text.from;

    for (const struct takt_toml_value *value = table->first; value != NULL;
         value = value->next)
        if (value->form == TAKT_TOML_VALUE || value->form == TAKT_TOML_DOTTED)
            statement = value->statement_from;
    const size_t from = line_start(text, statement);
    size_t to = from;
    while (to < statement && is_blank(text->bytes[to]))
        to++;
    put_n(draft, text->bytes + from, to - from);
}

/* Behind the last line of a table that has a header or dotted keys. */
static takt_status insert_line(struct takt_toml_text *text,
                               const struct takt_toml_value *table,
                               const struct takt_toml_setting *setting)
{
    const size_t end = line_end(text, table->end);
    struct draft draft = {0};

    put(&draft, newline(text, end));
    put_indent(&draft, text, table);
    put_prefix(&draft, text, table);
    put_pair(&draft, setting, setting->tables);
    if (end == text->length)
        put(&draft, newline(text, end));
    return splice(text, (struct takt_toml_span){end, end}, &draft);
}

/* Whether the text has a line, and the last one is empty. */
static bool ends_blank(const struct takt_toml_text *text)
{
    size_t at = text->length;

    while (at > 0 &&
           (is_blank(text->bytes[at - 1]) || text->bytes[at - 1] == '\r'))
        at--;
    if (at == 0 || text->bytes[at - 1] != '\n')
        return at == 0;
    for (at--; at > 0 &&
               (is_blank(text->bytes[at - 1]) || text->bytes[at - 1] == '\r');)
        at--;
    return at == 0 || text->bytes[at - 1] == '\n';
}

static takt_status append_section(struct takt_toml_text *text,
                                  const struct takt_toml_setting *setting)
{
    const char *const line = newline(text, text->length);
    const struct takt_toml_span end = {text->length, text->length};
    struct draft draft = {0};

    if (text->length > 0 && text->bytes[text->length - 1] != '\n')
        put(&draft, line);
    if (!ends_blank(text))
        put(&draft, line);
    for (size_t i = 0; i < setting->tables; i++) {
        put(&draft, i == 0 ? "[" : ".");
        put(&draft, setting->table[i]);
    }
    put(&draft, "]");
    put(&draft, line);
    put_pair(&draft, setting, setting->tables);
    put(&draft, line);
    return splice(text, end, &draft);
}

static takt_status refuse(const struct takt_toml_text *text,
                          const struct takt_toml_value *value, const char *key,
                          const char *why, struct takt_toml_error *error)
{
    takt__toml_locate(text->bytes, value->name.from, error);
    snprintf(error->why, sizeof error->why, "'%.80s' %s", key, why);
    return TAKT_EINVAL;
}

/* A table is there: sets the key in it. */
static takt_status set_in(struct takt_toml_text *text,
                          const struct takt_toml_value *table,
                          const struct takt_toml_setting *setting,
                          struct takt_toml_error *error)
{
    const struct takt_toml_value *value = takt__toml_get(table, setting->key);
    struct draft draft = {0};

    if (value == NULL && is_inline(table))
        return insert_inline(text, table, setting, setting->tables);
    if (value == NULL && table->form == TAKT_TOML_IMPLIED)
        return append_section(text, setting);
    if (value == NULL)
        return insert_line(text, table, setting);
    if (value->form != TAKT_TOML_VALUE)
        return refuse(text, value, setting->key,
                      "is a table, and should be a value", error);
    if (takt__toml_is(value, setting->literal))
        return TAKT_OK;
    put(&draft, setting->literal);
    return splice(text, value->text, &draft);
}

static takt_status set(struct takt_toml_text *text,
                       const struct takt_toml_value *root,
                       const struct takt_toml_setting *setting,
                       struct takt_toml_error *error)
{
    const struct takt_toml_value *table = root;

    for (size_t i = 0; i < setting->tables; i++) {
        const struct takt_toml_value *next =
            takt__toml_get(table, setting->table[i]);
        if (next == NULL && is_inline(table))
            return insert_inline(text, table, setting, i);
        if (next == NULL)
            return append_section(text, setting);
        if (next->kind != TAKT_TOML_TABLE)
            return refuse(text, next, setting->table[i], "should be a table",
                          error);
        table = next;
    }
    return set_in(text, table, setting, error);
}

takt_status takt__toml_set(struct takt_toml_text *text,
                           const struct takt_toml_setting *setting,
                           struct takt_toml_error *error)
{
    struct takt_toml *toml;
    takt_status status =
        takt__toml_parse(text->bytes, text->length, &toml, error);

    if (status == TAKT_OK)
        status = set(text, takt__toml_root(toml), setting, error);
    takt__toml_destroy(toml);
    return status;
}

/* The line of a value, if nothing else is on it. */
static bool own_line(const struct takt_toml_text *text,
                     const struct takt_toml_value *value,
                     struct takt_toml_span *line)
{
    size_t at = value->text.to;

    while (at < text->length &&
           (is_blank(text->bytes[at]) || text->bytes[at] == '\r'))
        at++;
    if (at < text->length && text->bytes[at] != '\n')
        return false;
    line->from = line_start(text, value->statement_from);
    line->to = at + (at < text->length);
    return true;
}

/* A pair between braces, with one of its commas. */
static bool own_pair(const struct takt_toml_text *text,
                     const struct takt_toml_value *value,
                     struct takt_toml_span *pair)
{
    const char *bytes = text->bytes;
    size_t at = value->statement_from;

    *pair = (struct takt_toml_span){at, value->text.to};
    while (at > 0 && is_blank(bytes[at - 1]))
        at--;
    if (at > 0 && bytes[at - 1] == ',') {
        pair->from = at - 1;
        return true;
    }
    for (at = pair->to; is_blank(bytes[at]);)
        at++;
    if (bytes[at] != ',')
        return false;
    for (at++; is_blank(bytes[at]);)
        at++;
    pair->to = at;
    return true;
}

takt_status takt__toml_remove(struct takt_toml_text *text,
                              const struct takt_toml_setting *setting,
                              struct takt_toml_error *error)
{
    struct takt_toml *toml;
    struct takt_toml_span span;
    struct draft nothing = {0};
    takt_status status =
        takt__toml_parse(text->bytes, text->length, &toml, error);

    if (status != TAKT_OK)
        return status;
    const struct takt_toml_value *table =
        takt__toml_table(takt__toml_root(toml), setting);
    const struct takt_toml_value *value = takt__toml_get(table, setting->key);
    if (value != NULL && value->form == TAKT_TOML_VALUE &&
        (is_inline(table) ? own_pair(text, value, &span)
                          : own_line(text, value, &span)))
        status = splice(text, span, &nothing);
    takt__toml_destroy(toml);
    return status;
}

const struct takt_toml_value *
takt__toml_table(const struct takt_toml_value *root,
                 const struct takt_toml_setting *setting)
{
    for (size_t i = 0; i < setting->tables; i++)
        root = takt__toml_get(root, setting->table[i]);
    return root;
}

bool takt__toml_is(const struct takt_toml_value *value, const char *literal)
{
    if (value == NULL)
        return false;
    if (literal[0] != '"')
        return value->kind == TAKT_TOML_INTEGER &&
               value->integer == strtoimax(literal, NULL, 10);
    const size_t length = strlen(literal) - 2; /* without its quotes */
    return value->kind == TAKT_TOML_STRING && value->string_length == length &&
           memcmp(value->string, literal + 1, length) == 0;
}
