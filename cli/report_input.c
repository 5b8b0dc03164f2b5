/* SPDX-License-Identifier: MIT */
/* report_input.c - files that `takt report` makes pages of: JSON of other
 * commands, recognised by its members. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "text/json.h"

static const struct {
    const char *kind, *first, *second; /* members that only this one has */
} kinds[] = {{"run", "wall_s", "left_alone"},
             {"compare", "pairs", "verdict"},
             {"optimize", "findings", "summary"}};

static const char *kind_of(const struct takt_json_node *root)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (takt__json_member(root, kinds[i].first) != NULL &&
            takt__json_member(root, kinds[i].second) != NULL)
            return kinds[i].kind;
    return NULL;
}

/* Members that hold names and paths of the user's. */
static bool is_personal(const char *name)
{
    static const char *const names[] = {
        "command", "libraries", "store",   "left_alone", "trouble", "failure",
        "file",    "path",      "snippet", "function",   "project"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (name != NULL && strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* They become null, or empty where a list is expected. At most 64 levels, which
 * the reader of JSON has seen to. */
static void hide_names(struct takt_json_node *parent)
{
    for (struct takt_json_node *at = parent->first; at != NULL; at = at->next) {
        if (!is_personal(at->name)) {
            hide_names(at);
            continue;
        }
        at->first = at->last = NULL;
        if (at->kind != TAKT_JSON_ARRAY)
            at->kind = TAKT_JSON_NULL;
        at->text = at->raw = at->kind == TAKT_JSON_ARRAY ? "[]" : "null";
    }
}

/* All of a file, at most 64 MiB. NULL: *wrong says why. */
static char *read_all(const char *path, size_t *length, const char **wrong)
{
    enum { most = 64 << 20 };
    FILE *file = fopen(path, "re");
    size_t room = 1 << 16, used = 0;
    char *text = file != NULL ? malloc(room) : NULL;

    *wrong = file == NULL ? strerror(errno) : "out of memory";
    while (text != NULL) {
        const size_t got = fread(text + used, 1, room - used, file);
        used += got;
        if (got == 0)
            break;
        if (used < room)
            continue;
        char *more = room < most ? realloc(text, 2 * room) : NULL;
        *wrong = room < most ? "out of memory" : "is larger than 64 MiB";
        if (more == NULL) {
            free(text);
            fclose(file);
            return NULL;
        }
        text = more;
        room *= 2;
    }
    if (file != NULL && ferror(file) != 0) {
        *wrong = strerror(errno);
        free(text);
        text = NULL;
    }
    if (file != NULL)
        fclose(file);
    *length = used;
    return text;
}

/* The document as text again, without names. */
static bool rewrite(struct takt_json_node *root, struct report_input *out)
{
    struct takt_memory_file made;

    if (!takt__memory_file_open(&made))
        return false;
    hide_names(root);
    takt__json_write(made.stream, root);
    if (!takt__memory_file_close(&made))
        return false;
    free(out->text);
    out->text = made.text;
    out->length = made.length;
    return true;
}

bool read_input(const struct command *command, const char *path,
                bool is_anonymous, struct report_input *out)
{
    struct takt_json_document document = {0};
    struct takt_json_trouble trouble = {0};
    const char *wrong;
    bool is_read = false;

    *out = (struct report_input){.path = path};
    out->text = read_all(path, &out->length, &wrong);
    if (out->text == NULL)
        return reject(command, "'%s': %s", path, wrong);
    if (!takt__json_read(out->text, out->length, &document, &trouble))
        reject(command, "'%s', line %zu: %s", path, trouble.line,
               trouble.what != NULL ? trouble.what : "out of memory");
    else if ((out->kind = kind_of(document.root)) == NULL)
        reject(command,
               "'%s' is no report: give JSON of 'takt run --report', 'takt "
               "run --compare' or 'takt optimize'",
               path);
    else if (is_anonymous && !rewrite(document.root, out))
        reject(command, "'%s': out of memory", path);
    else
        is_read = true;
    takt__json_free(&document);
    if (!is_read)
        free_input(out);
    return is_read;
}

void free_input(struct report_input *input)
{
    free(input->text);
    input->text = NULL;
}
