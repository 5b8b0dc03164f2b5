/* SPDX-License-Identifier: MIT */
/* json.c - reads a tree of JSON; its nodes and texts are in one region. */
#include "text/json.h"

#include <string.h>

#include "text/digit.h"
#include "text/utf8.h"

enum { deepest = 64 };

struct reader {
    struct takt_json_document *document;
    const char *start, *at, *end;
    const char *what; /* is wrong; NULL: nothing, or there is no memory */
    int depth;
};

void takt__json_free(struct takt_json_document *document)
{
    takt__region_free(&document->region);
    document->root = NULL;
}

static bool fail(struct reader *reader, const char *what)
{
    if (reader->what == NULL)
        reader->what = what;
    return false;
}

static void skip_blanks(struct reader *reader)
{
    while (reader->at < reader->end && *reader->at != '\0' &&
           strchr(" \t\r\n", *reader->at) != NULL)
        reader->at++;
}

static bool accept(struct reader *reader, char c)
{
    skip_blanks(reader);
    if (reader->at >= reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

static bool accept_word(struct reader *reader, const char *word)
{
    const size_t length = strlen(word);

    if ((size_t)(reader->end - reader->at) < length ||
        memcmp(reader->at, word, length) != 0)
        return false;
    reader->at += length;
    return true;
}

static bool is_digit(const struct reader *reader)
{
    return reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9';
}

static bool skip_digits(struct reader *reader)
{
    if (!is_digit(reader))
        return fail(reader, "a digit is missing");
    while (is_digit(reader))
        reader->at++;
    return true;
}

static bool skip_number(struct reader *reader)
{
    accept_word(reader, "-");
    if (!accept_word(reader, "0") && !skip_digits(reader))
        return false;
    if (accept_word(reader, ".") && !skip_digits(reader))
        return false;
    if (accept_word(reader, "e") || accept_word(reader, "E")) {
        if (!accept_word(reader, "+"))
            accept_word(reader, "-");
        return skip_digits(reader);
    }
    return true;
}

static bool read_hex(struct reader *reader, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++, reader->at++) {
        const unsigned digit =
            reader->at < reader->end ? takt__digit(*reader->at) : 16;
        if (digit > 15)
            return fail(reader, "\\u needs four hexadecimal digits");
        *out = *out * 16 + digit;
    }
    return true;
}

static bool read_code(struct reader *reader, uint32_t *code)
{
    uint32_t low;

    if (!read_hex(reader, code))
        return false;
    if (*code == 0)
        return fail(reader, "\\u0000 has no place here");
    if (*code < 0xd800 || *code > 0xdfff)
        return true;
    if (*code > 0xdbff || !accept_word(reader, "\\u") ||
        !read_hex(reader, &low) || low < 0xdc00 || low > 0xdfff)
        return fail(reader, "half a surrogate pair");
    *code = 0x10000 + ((*code - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

/* The escape after a backslash, decoded into `out`; 0: it is none. */
static size_t read_escape(struct reader *reader, char *out)
{
    static const char escapes[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    uint32_t code;

    if (accept_word(reader, "u"))
        return read_code(reader, &code) ? takt__utf8_put(code, out) : 0;
    const char *found = reader->at < reader->end && *reader->at != '\0'
                            ? strchr(escapes, *reader->at)
                            : NULL;
    if (found == NULL) {
        fail(reader, "an escape that JSON does not have");
        return 0;
    }
    reader->at++;
    out[0] = meant[found - escapes];
    return 1;
}

/* A string whose quote stands at `at`, raw and decoded. */
static bool read_string(struct reader *reader, const char **raw,
                        const char **decoded)
{
    const char *start = reader->at++;
    const char *close = start + 1;

    while (close < reader->end && *close != '"')
        close += *close == '\\' ? 2 : 1;
    if (close >= reader->end)
        return fail(reader, "a string that does not end");
    char *out = takt__region_take(&reader->document->region,
                                  (size_t)(close - start) + 1);
    if (out == NULL)
        return false;
    *decoded = out;
    while (*reader->at != '"') {
        size_t length;
        if (accept_word(reader, "\\")) {
            length = read_escape(reader, out);
        } else if ((unsigned char)*reader->at < 0x20) {
            return fail(reader, "a control character in a string");
        } else {
            length = takt__utf8_length(reader->at,
                                       (size_t)(reader->end - reader->at));
            memcpy(out, reader->at, length);
            reader->at += length;
        }
        if (length == 0)
            return fail(reader, "not UTF-8");
        out += length;
    }
    *out = '\0';
    reader->at++;
    *raw = takt__region_copy(&reader->document->region, start,
                             (size_t)(reader->at - start));
    return *raw != NULL;
}

struct takt_json_node *takt__json_add(struct takt_json_document *document,
                                      struct takt_json_node *parent)
{
    struct takt_json_node *node =
        takt__region_take(&document->region, sizeof *node);

    if (node == NULL)
        return NULL;
    *node = (struct takt_json_node){.kind = TAKT_JSON_NULL};
    if (parent == NULL)
        document->root = node;
    else if (parent->last == NULL)
        parent->first = node;
    else
        parent->last->next = node;
    if (parent != NULL)
        parent->last = node;
    return node;
}

static bool read_value(struct reader *reader, struct takt_json_node *node);

static bool read_member(struct reader *reader, struct takt_json_node *node)
{
    skip_blanks(reader);
    if (reader->at >= reader->end || *reader->at != '"')
        return fail(reader, "the name of a member is missing");
    if (!read_string(reader, &node->raw_name, &node->name))
        return false;
    if (!accept(reader, ':'))
        return fail(reader, "a colon is missing");
    return read_value(reader, node);
}

static bool read_children(struct reader *reader, struct takt_json_node *parent,
                          char close)
{
    if (++reader->depth > deepest)
        return fail(reader, "more than 64 levels");
    if (accept(reader, close)) {
        reader->depth--;
        return true;
    }
    do {
        struct takt_json_node *child = takt__json_add(reader->document, parent);
        if (child == NULL)
            return false;
        if (close == '}' ? !read_member(reader, child)
                         : !read_value(reader, child))
            return false;
    } while (accept(reader, ','));
    reader->depth--;
    return accept(reader, close) ||
           fail(reader, "a comma or the end of a list is missing");
}

static bool read_plain(struct reader *reader, struct takt_json_node *node)
{
    const char *start = reader->at;

    if (accept_word(reader, "null")) {
        node->kind = TAKT_JSON_NULL;
    } else if (accept_word(reader, "true") || accept_word(reader, "false")) {
        node->kind = TAKT_JSON_BOOL;
    } else if (*start == '-' || is_digit(reader)) {
        node->kind = TAKT_JSON_NUMBER;
        if (!skip_number(reader))
            return false;
    } else {
        return fail(reader, "not a value");
    }
    node->raw = takt__region_copy(&reader->document->region, start,
                                  (size_t)(reader->at - start));
    node->text = node->raw;
    return node->raw != NULL;
}

static bool read_value(struct reader *reader, struct takt_json_node *node)
{
    skip_blanks(reader);
    if (reader->at >= reader->end)
        return fail(reader, "a value is missing");
    if (*reader->at == '"') {
        node->kind = TAKT_JSON_STRING;
        return read_string(reader, &node->raw, &node->text);
    }
    if (accept(reader, '{')) {
        node->kind = TAKT_JSON_OBJECT;
        return read_children(reader, node, '}');
    }
    if (accept(reader, '[')) {
        node->kind = TAKT_JSON_ARRAY;
        return read_children(reader, node, ']');
    }
    return read_plain(reader, node);
}

static struct takt_json_trouble locate(const struct reader *reader)
{
    struct takt_json_trouble trouble = {1, 1, reader->what};

    for (const char *at = reader->start; at < reader->at; at++) {
        trouble.column = *at == '\n' ? 1 : trouble.column + 1;
        trouble.line += *at == '\n';
    }
    return trouble;
}

bool takt__json_read(const char *text, size_t size,
                     struct takt_json_document *out,
                     struct takt_json_trouble *trouble)
{
    struct reader reader = {
        .document = out, .start = text, .at = text, .end = text + size};

    *out = (struct takt_json_document){0};
    struct takt_json_node *root = takt__json_add(out, NULL);
    bool is_read = root != NULL && read_value(&reader, root);
    if (is_read) {
        skip_blanks(&reader);
        is_read = reader.at == reader.end ||
                  fail(&reader, "something after the value");
    }
    if (is_read)
        return true;
    *trouble = locate(&reader);
    takt__json_free(out);
    return false;
}
