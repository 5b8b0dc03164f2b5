/* SPDX-License-Identifier: MIT */
/* json_edit.c - looks into a tree of JSON, changes it, writes it. */
#include "text/json.h"

#include <stdlib.h>
#include <string.h>

#include "text/memory_file.h"
#include "text/utf8.h"

/* ---- looking and changing ---- */

struct takt_json_node *takt__json_member(const struct takt_json_node *object,
                                         const char *name)
{
    if (object == NULL || object->kind != TAKT_JSON_OBJECT)
        return NULL;
    for (struct takt_json_node *at = object->first; at != NULL; at = at->next)
        if (strcmp(at->name, name) == 0)
            return at;
    return NULL;
}

bool takt__json_has_unique(const struct takt_json_node *object,
                           const char *name)
{
    const struct takt_json_node *found = takt__json_member(object, name);

    for (const struct takt_json_node *at = found ? found->next : NULL;
         at != NULL; at = at->next)
        if (strcmp(at->name, name) == 0)
            return false;
    return true;
}

static void escape(FILE *stream, uint32_t character)
{
    if (character < 0x10000) {
        fprintf(stream, "\\u%04x", (unsigned)character);
        return;
    }
    character -= 0x10000; /* a surrogate pair, as UTF-16 has it */
    fprintf(stream, "\\u%04x\\u%04x", 0xd800 + (unsigned)(character >> 10),
            0xdc00 + (unsigned)(character & 0x3ff));
}

/* How many bytes stand for themselves, from the first on. */
static size_t plain_length(const char *text)
{
    size_t length = 0;

    while (text[length] >= ' ' && text[length] < 0x7f && text[length] != '"' &&
           text[length] != '\\')
        length++;
    return length;
}

void takt__json_quote(FILE *stream, const char *text, const char *instead)
{
    uint32_t character;

    fputc('"', stream);
    for (;;) {
        const size_t plain = plain_length(text);
        fwrite(text, 1, plain, stream);
        text += plain;
        if (*text == '\0')
            break;
        const size_t length = takt__utf8_read(text, &character);
        if (length == 0)
            fputs(instead, stream);
        else if (character == '"' || character == '\\')
            fprintf(stream, "\\%c", (char)character);
        else if (takt__is_unsafe(character))
            escape(stream, character);
        else
            fwrite(text, 1, length, stream);
        text += length == 0 ? 1 : length;
    }
    fputc('"', stream);
}

/* The string as it is written in the document. A message that was cut may not
 * be UTF-8, and the file has to stay JSON. */
static const char *quote(struct takt_json_document *document, const char *text)
{
    struct takt_memory_file made;

    if (!takt__memory_file_open(&made))
        return NULL;
    takt__json_quote(made.stream, text, "?");
    if (!takt__memory_file_close(&made))
        return NULL;
    const char *kept =
        takt__region_copy(&document->region, made.text, made.length);
    free(made.text);
    return kept;
}

struct takt_json_node *takt__json_set_raw(struct takt_json_document *document,
                                          struct takt_json_node *object,
                                          const char *name,
                                          enum takt_json_kind kind,
                                          const char *raw)
{
    struct takt_json_node *node = takt__json_member(object, name);

    if (node == NULL) {
        const char *raw_name = quote(document, name);
        const char *copy =
            takt__region_copy(&document->region, name, strlen(name));
        node = raw_name != NULL && copy != NULL
                   ? takt__json_add(document, object)
                   : NULL;
        if (node == NULL)
            return NULL;
        node->name = copy;
        node->raw_name = raw_name;
    }
    node->kind = kind;
    node->raw = raw;
    node->text = raw;
    node->first = node->last = NULL;
    return node;
}

struct takt_json_node *takt__json_set(struct takt_json_document *document,
                                      struct takt_json_node *object,
                                      const char *name, const char *string)
{
    if (string == NULL)
        return takt__json_set_raw(document, object, name, TAKT_JSON_NULL,
                                  "null");
    const char *raw = quote(document, string);
    const char *text =
        takt__region_copy(&document->region, string, strlen(string));
    struct takt_json_node *node =
        raw != NULL && text != NULL
            ? takt__json_set_raw(document, object, name, TAKT_JSON_STRING, raw)
            : NULL;
    if (node != NULL)
        node->text = text;
    return node;
}

/* ---- writing ---- */

static void write_node(FILE *stream, const struct takt_json_node *node,
                       int depth)
{
    const bool is_object = node->kind == TAKT_JSON_OBJECT;

    if (node->name != NULL)
        fprintf(stream, "%s: ", node->raw_name);
    if (!is_object && node->kind != TAKT_JSON_ARRAY) {
        fputs(node->raw, stream);
        return;
    }
    fputc(is_object ? '{' : '[', stream);
    for (const struct takt_json_node *at = node->first; at; at = at->next) {
        fprintf(stream, "\n%*s", 2 * depth + 2, "");
        write_node(stream, at, depth + 1);
        if (at->next != NULL)
            fputc(',', stream);
    }
    if (node->first != NULL)
        fprintf(stream, "\n%*s", 2 * depth, "");
    fputc(is_object ? '}' : ']', stream);
}

void takt__json_write(FILE *stream, const struct takt_json_node *root)
{
    write_node(stream, root, 0);
    fputc('\n', stream);
}
