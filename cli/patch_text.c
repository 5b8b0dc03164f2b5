/* SPDX-License-Identifier: MIT */
#include "patch_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "project/read_file.h"
#include "text/memory_file.h"

enum { most_source = 8 << 20, widest = 79 };

static const char include_line[] = "#include <takt/ops.h>\n";

/* ---- files and lines ---- */

bool open_source(const char *path, struct source_file *out)
{
    unsigned count = 1;

    *out = (struct source_file){0};
    if (takt__read_file(path, most_source, &out->text, &out->size, NULL) !=
        TAKT_OK)
        return false;
    if (memchr(out->text, '\0', out->size) != NULL) {
        close_source(out); /* no text: a diff could not show it */
        return false;
    }
    for (size_t i = 0; i < out->size; i++)
        count += out->text[i] == '\n';
    out->line = malloc((count + 1) * sizeof *out->line);
    if (out->line == NULL) {
        close_source(out);
        return false;
    }
    out->line[0] = 0;
    out->lines = 1;
    for (size_t i = 0; i < out->size; i++)
        if (out->text[i] == '\n')
            out->line[out->lines++] = i + 1;
    out->line[out->lines] = out->size;
    return true;
}

void close_source(struct source_file *file)
{
    free(file->text);
    free(file->line);
    *file = (struct source_file){0};
}

static const char *line_at(const struct source_file *file, unsigned line)
{
    return file->text + file->line[line - 1];
}

static size_t line_size(const struct source_file *file, unsigned line)
{
    return file->line[line] - file->line[line - 1];
}

static size_t indent_of(const char *line, size_t size)
{
    size_t count = 0;

    while (count < size && (line[count] == ' ' || line[count] == '\t'))
        count++;
    return count;
}

static bool is_directive(const struct source_file *file, unsigned line,
                         const char *word)
{
    const char *at = line_at(file, line);
    const size_t size = line_size(file, line);
    size_t i = indent_of(at, size);

    if (i >= size || at[i] != '#')
        return false;
    i++;
    i += indent_of(at + i, size - i);
    return size - i >= strlen(word) && memcmp(at + i, word, strlen(word)) == 0;
}

bool is_on_own_lines(const struct source_file *file,
                     const struct takt_finding *finding)
{
    if (finding->line < 1 || finding->end_line >= file->lines)
        return false;
    const char *first = line_at(file, finding->line);
    const char *last = line_at(file, finding->end_line);
    const size_t size = line_size(file, finding->end_line);
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)last[i] >= 0x80)
            return false; /* columns are not bytes */
    if (indent_of(first, line_size(file, finding->line)) + 1 !=
            finding->column ||
        finding->end_column < 1 || finding->end_column > size)
        return false;
    const char *rest = last + finding->end_column - 1;
    rest += indent_of(rest, (size_t)(last + size - rest));
    return *rest == '\n' || *rest == '\r' || strncmp(rest, "//", 2) == 0;
}

/* ---- the rewrite ---- */

/* A line of it, broken behind commas where it is too wide. */
static void put_line(FILE *out, const char *indent, size_t depth,
                     const char *line, size_t size)
{
    const size_t inner = indent_of(line, size);
    size_t column = depth + inner;

    fprintf(out, "%.*s%.*s", (int)depth, indent, (int)inner, line);
    line += inner;
    size -= inner;
    while (size > 0) {
        size_t length = 0;
        while (length < size && !(length > 0 && line[length - 1] == ' ' &&
                                  length > 1 && line[length - 2] == ','))
            length++;
        const bool has_blank = line[length - 1] == ' ';
        if (column + length > widest && column > depth + inner + 8) {
            fprintf(out, "\n%.*s%.*s        ", (int)depth, indent, (int)inner,
                    "            ");
            column = depth + inner + 8;
        } else if (column > depth + inner) {
            fputc(' ', out);
        }
        fwrite(line, 1, length - has_blank, out);
        column += length;
        line += length;
        size -= length;
    }
    fputc('\n', out);
}

/* Directives such as #pragma omp are the loop's: they stay before it. */
static unsigned first_line(const struct source_file *file,
                           const struct takt_finding *finding)
{
    unsigned line = finding->line;

    while (line > 1 && is_directive(file, line - 1, "pragma"))
        line--;
    return line;
}

/* The loop itself, further in. */
static void put_loop(FILE *out, const struct source_file *file,
                     const struct takt_finding *finding, const char *more)
{
    for (unsigned i = first_line(file, finding); i <= finding->end_line; i++) {
        const char *line = line_at(file, i);
        const bool is_plain =
            line[0] != '\n' && line[0] != '\r' && line[0] != '#';
        fprintf(out, "%s", is_plain ? more : "");
        fwrite(line, 1, line_size(file, i), out);
    }
}

static void put_rewrite(FILE *out, const struct source_file *file,
                        const struct takt_finding *finding)
{
    const char *indent = line_at(file, finding->line);
    const size_t depth = indent_of(indent, line_size(file, finding->line));
    const bool is_block = finding->rewrite[0] == '{';

    for (const char *at = finding->rewrite; *at != '\0';) {
        const size_t length = strcspn(at, "\n");
        put_line(out, indent, depth, at, length);
        at += length + (at[length] == '\n');
    }
    put_loop(out, file, finding, is_block ? "        " : "    ");
    if (is_block)
        fprintf(out, "%.*s}\n", (int)depth, indent);
}

/* ---- the #include ---- */

/* The line before which it goes: the first #include that is not in a condition,
 * but for the one that guards a whole header; 1: there is none. 0: it is there
 * already. */
static unsigned include_place(const struct source_file *file)
{
    unsigned depth = 0, deepest = 0, place = 0;

    for (unsigned i = 1; i <= file->lines && place == 0; i++) {
        if (is_directive(file, i, "ifndef") && deepest == 0)
            deepest = 1; /* it may be the guard */
        depth += is_directive(file, i, "if");
        depth -= depth > 0 && is_directive(file, i, "endif");
        if (is_directive(file, i, "include") && depth <= deepest)
            place = i;
    }
    if (strstr(file->text, "<takt/ops.h>") != NULL ||
        strstr(file->text, "<takt/takt.h>") != NULL)
        return 0;
    return place > 0 ? place : 1;
}

char *rewrite_source(const struct source_file *file,
                     const struct takt_finding *const *finding, size_t count,
                     size_t *size)
{
    const unsigned include = include_place(file);
    struct takt_memory_file made;
    size_t next = 0;

    if (!takt__memory_file_open(&made))
        return NULL;
    FILE *out = made.stream;
    for (unsigned i = 1; i <= file->lines; i++) {
        if (i == include)
            fputs(include_line, out);
        if (next < count && first_line(file, finding[next]) == i) {
            put_rewrite(out, file, finding[next]);
            i = finding[next++]->end_line;
            continue;
        }
        fwrite(line_at(file, i), 1, line_size(file, i), out);
    }
    takt__memory_file_close(&made);
    *size = made.length;
    return made.text;
}
