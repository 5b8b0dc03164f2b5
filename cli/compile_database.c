/* SPDX-License-Identifier: MIT */
/* compile_database.c - compile_commands.json: an array of a folder, a file, and
 * the command that compiles it, as a list of words or as one text. */
#define _XOPEN_SOURCE 700 /* realpath() */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "project/read_file.h"
#include "text/json.h"

enum { most_database = 64 << 20 };

struct compile_database {
    char *text;
    struct takt_json_document document;
    char *words; /* of the command that was asked for last */
    const char *flag[most_words + 1];
};

struct compile_database *open_compile_database(const char *path, char *error,
                                               size_t size)
{
    struct compile_database *database = calloc(1, sizeof *database);
    struct takt_json_trouble trouble;
    takt_diag diag = {""};
    size_t length;

    if (database == NULL) {
        snprintf(error, size, "no memory");
        return NULL;
    }
    const takt_status status =
        takt__read_file(path, most_database, &database->text, &length, &diag);
    if (status != TAKT_OK)
        snprintf(error, size, "%.300s: %.200s", path,
                 diag.text[0] != '\0' ? diag.text : takt_status_text(status));
    else if (!takt__json_read(database->text, length, &database->document,
                              &trouble))
        snprintf(error, size, "%.300s:%zu:%zu: %s", path, trouble.line,
                 trouble.column,
                 trouble.what != NULL ? trouble.what : "no memory");
    else if (database->document.root->kind != TAKT_JSON_ARRAY)
        snprintf(error, size, "%.300s: is no list of commands", path);
    else
        return database;
    close_compile_database(database);
    return NULL;
}

void close_compile_database(struct compile_database *database)
{
    if (database == NULL)
        return;
    takt__json_free(&database->document);
    free(database->text);
    free(database->words);
    free(database);
}

static const char *text_of(const struct takt_json_node *object,
                           const char *name)
{
    const struct takt_json_node *node = takt__json_member(object, name);

    return node != NULL && node->kind == TAKT_JSON_STRING ? node->text : NULL;
}

/* Whether both end with the same name. */
static bool has_last_part(const char *path, const char *file)
{
    const char *a = strrchr(path, '/'), *b = strrchr(file, '/');

    return strcmp(a != NULL ? a + 1 : path, b != NULL ? b + 1 : file) == 0;
}

static bool is_of_file(const struct takt_json_node *entry, const char *path)
{
    const char *file = text_of(entry, "file");
    const char *folder = text_of(entry, "directory");
    char joined[8192];

    if (file == NULL || !has_last_part(path, file))
        return false;
    snprintf(joined, sizeof joined, "%s%s%s",
             file[0] != '/' && folder != NULL ? folder : "",
             file[0] != '/' && folder != NULL ? "/" : "", file);
    char *real = realpath(joined, NULL);
    const bool is_same = real != NULL && strcmp(real, path) == 0;
    free(real);
    return is_same;
}

/* All words of an entry, the compiler first. */
static size_t words_of(struct compile_database *database,
                       const struct takt_json_node *entry, char *word[])
{
    const struct takt_json_node *list = takt__json_member(entry, "arguments");
    const char *command = text_of(entry, "command");
    size_t count = 0;

    if (list != NULL && list->kind == TAKT_JSON_ARRAY) {
        for (const struct takt_json_node *one = list->first;
             one != NULL && count < most_words; one = one->next)
            if (one->kind == TAKT_JSON_STRING)
                word[count++] = (char *)(size_t)one->text;
        return count;
    }
    free(database->words);
    database->words = command != NULL ? strdup(command) : NULL;
    return database->words != NULL
               ? split_words(database->words, word, most_words)
               : 0;
}

static bool take_command(struct compile_database *database,
                         const struct takt_json_node *entry,
                         struct compile_command *out)
{
    char *word[most_words];
    const size_t words = words_of(database, entry, word);
    size_t first = 0, count = 0;

    while (first < words && !read_compiler(word[first], out))
        first++; /* ccache, distcc */
    if (first == words || first > 1)
        return false;
    for (size_t i = first + 1; i < words; i++) {
        bool takes_next;
        if (!is_safe_flag(word[i], &takes_next) ||
            (takes_next && i + 1 == words))
            continue;
        database->flag[count++] = word[i];
        if (takes_next)
            database->flag[count++] = word[++i];
    }
    database->flag[count] = NULL;
    out->flag = database->flag;
    out->folder = text_of(entry, "directory");
    return true;
}

bool find_compile_command(struct compile_database *database, const char *path,
                          struct compile_command *out)
{
    *out = (struct compile_command){.compiler = ""};
    for (const struct takt_json_node *entry = database->document.root->first;
         entry != NULL; entry = entry->next)
        if (entry->kind == TAKT_JSON_OBJECT && is_of_file(entry, path))
            return take_command(database, entry, out);
    return false;
}
