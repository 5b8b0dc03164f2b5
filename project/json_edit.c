/* SPDX-License-Identifier: MIT */
/* json_edit.c - looking into a tree of JSON, changing it, writing it. */
#include "json.h"

#include <stdint.h>
#include <string.h>

#include "utf8.h"

/* ---- looking and changing -------------------------------------------------
 */

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

/* The string in quotes, with what JSON wants escaped. What is no UTF-8, such as
 * a message that was cut, becomes a '?': the file must stay JSON. */
static const char *quote(struct takt_json_document *document, const char *text)
{
    char *out = takt__room_take(&document->room, 6 * strlen(text) + 3);
    char *at = out;

    if (out == NULL)
        return NULL;
    *at++ = '"';
    while (*text != '\0') {
        const unsigned char c = (unsigned char)*text;
        const size_t length = takt__utf8_length(text, SIZE_MAX);
        if (c == '"' || c == '\\')
            *at++ = '\\';
        if (c < 0x20)
            at += snprintf(at, 7, "\\u%04x", c);
        else if (length == 0)
            *at++ = '?';
        else
            at = (char *)memcpy(at, text, length) + length;
        text += length > 0 ? length : 1;
    }
    *at++ = '"';
    *at = '\0';
    return out;
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
        const char *copy = takt__json_keep(document, name, strlen(name));
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
    const char *text = takt__json_keep(document, string, strlen(string));
    struct takt_json_node *node =
        raw != NULL && text != NULL
            ? takt__json_set_raw(document, object, name, TAKT_JSON_STRING, raw)
            : NULL;
    if (node != NULL)
        node->text = text;
    return node;
}

/* ---- writing --------------------------------------------------------------
 */

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
