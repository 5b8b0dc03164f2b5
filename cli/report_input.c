/* SPDX-License-Identifier: MIT */
/* report_input.c - files that `takt report` makes pages of: JSON of other
 * commands, recognised by its members. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/read_stream.h"
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
        "command", "libraries",    "store",   "left_alone",
        "trouble", "failure",      "file",    "path",
        "snippet", "function",     "project", "rewrite",
        "diff",    "backup",       "error",   "problem",
        "reason",  "gpu_problems", "device",  "energy_problems"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (name != NULL && strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* In a trace, programs name their own ops and experts. */
static bool is_of_program(const struct takt_json_node *node)
{
    static const char *const ours[] = {"simd.", "blas.", "cuda.", "vulkan."};
    const char *text = node->text;

    if (node->kind != TAKT_JSON_STRING || node->name == NULL)
        return false;
    if (strcmp(node->name, "op") == 0)
        return takt_op_find(text) == NULL;
    if (strcmp(node->name, "expert") != 0 &&
        strcmp(node->name, "runner_up") != 0 &&
        strcmp(node->name, "refused") != 0)
        return false;
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
        if (strncmp(text, ours[i], strlen(ours[i])) == 0)
            return false;
    return strcmp(text, "scalar") != 0;
}

static void hide(struct takt_json_node *node)
{
    node->first = node->last = NULL;
    if (node->kind != TAKT_JSON_ARRAY)
        node->kind = TAKT_JSON_NULL;
    node->text = node->raw = node->kind == TAKT_JSON_ARRAY ? "[]" : "null";
}

/* They become null, or empty where a list is expected. At most 64 levels, which
 * the reader of JSON has seen to. */
static void hide_names(struct takt_json_node *parent, bool is_trace)
{
    for (struct takt_json_node *at = parent->first; at != NULL; at = at->next)
        if (is_trace && is_of_program(at)) {
            at->text = "of the program";
            at->raw = "\"of the program\"";
        } else if (!is_personal(at->name)) {
            hide_names(at, is_trace);
        } else if (!is_trace || strcmp(at->name, "reason") != 0) {
            hide(at);
        }
}

bool begins_with(const char *path, const void *head, size_t length)
{
    unsigned char bytes[16];
    struct stat facts;
    FILE *file = stat(path, &facts) == 0 && S_ISREG(facts.st_mode)
                     ? fopen(path, "re")
                     : NULL;

    if (file == NULL)
        return false;
    const size_t got = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return got >= length && memcmp(bytes, head, length) == 0;
}

/* All of a file, at most 64 MiB. NULL: *wrong says why. */
static char *read_all(const char *path, size_t *length, const char **wrong)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    const int error =
        file == NULL ? errno : takt__read_stream(file, 64 << 20, &text, length);

    if (file != NULL)
        fclose(file);
    *wrong = error == EFBIG ? "is larger than 64 MiB" : strerror(error);
    return text;
}

/* The document as text again, without names. */
static bool rewrite(struct takt_json_node *root, struct report_input *out)
{
    struct takt_memory_file made;

    if (!takt__memory_file_open(&made))
        return false;
    hide_names(root, strcmp(out->kind, "trace") == 0);
    takt__json_write(made.stream, root);
    if (!takt__memory_file_close(&made))
        return false;
    free(out->text);
    out->text = made.text;
    out->length = made.length;
    return true;
}

/* Of a trace, what is made of it; else the file as it is. */
static bool read_text(const struct command *command, const char *path,
                      struct report_input *out)
{
    const char *wrong;

    if (is_trace(path))
        return read_trace(command, path, out);
    *out = (struct report_input){.path = path};
    out->text = read_all(path, &out->length, &wrong);
    return out->text != NULL || reject(command, "'%s': %s", path, wrong);
}

bool read_input(const struct command *command, const char *path,
                bool is_anonymous, struct report_input *out)
{
    struct takt_json_document document = {0};
    struct takt_json_trouble trouble = {0};
    bool is_read = false;

    if (!read_text(command, path, out))
        return false;
    if (!takt__json_read(out->text, out->length, &document, &trouble))
        reject(command, "'%s', line %zu: %s", path, trouble.line,
               trouble.what != NULL ? trouble.what : "out of memory");
    else if (out->kind == NULL && (out->kind = kind_of(document.root)) == NULL)
        reject(command,
               "'%s' is no report: give a store, a trace, or JSON of 'takt run "
               "--report', 'takt run --compare' or 'takt optimize'",
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

bool hide_in(const char *kind, struct takt_memory_file *text)
{
    struct takt_json_document document = {0};
    struct takt_json_trouble trouble = {0};
    struct report_input input = {
        .kind = kind, .text = text->text, .length = text->length};
    const bool is_done =
        takt__json_read(text->text, text->length, &document, &trouble) &&
        rewrite(document.root, &input);

    takt__json_free(&document);
    text->text = input.text;
    text->length = input.length;
    return is_done;
}

void free_input(struct report_input *input)
{
    free(input->text);
    input->text = NULL;
}
