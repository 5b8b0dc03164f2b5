/* SPDX-License-Identifier: MIT */
/*
 * ignore.c - reads .gitignore files as gitignore(5) says.
 */
#include "ignore.h"

#include <string.h>

/* Spaces at the end do not count, unless a backslash is before them. */
static struct takt_span trim(struct takt_span line)
{
    if (line.size > 0 && line.at[line.size - 1] == '\r')
        line.size--;
    while (line.size > 0 && line.at[line.size - 1] == ' ') {
        size_t escapes = 0;
        while (escapes + 1 < line.size &&
               line.at[line.size - 2 - escapes] == '\\')
            escapes++;
        if (escapes % 2 == 1)
            break;
        line.size--;
    }
    return line;
}

static void drop_first(struct takt_span *span)
{
    span->at++;
    span->size--;
}

/* False: the line is no rule. */
static bool read_rule(struct takt_span line, struct takt_ignore_rule *out)
{
    *out = (struct takt_ignore_rule){.pattern = trim(line)};
    struct takt_span *pattern = &out->pattern;

    if (pattern->size == 0 || pattern->at[0] == '#')
        return false;
    if (pattern->at[0] == '!') {
        out->is_negated = true;
        drop_first(pattern);
    }
    if (pattern->size > 0 && pattern->at[pattern->size - 1] == '/') {
        out->is_folder = true;
        pattern->size--;
    }
    out->is_anchored =
        pattern->size > 0 && memchr(pattern->at, '/', pattern->size) != NULL;
    if (pattern->size > 0 && pattern->at[0] == '/')
        drop_first(pattern);
    return pattern->size > 0;
}

static size_t count_lines(const char *text, size_t size)
{
    size_t count = 1;

    for (size_t i = 0; i < size; i++)
        count += text[i] == '\n';
    return count;
}

bool takt__ignore_read(struct takt_ignore *out, const char *text, size_t size)
{
    *out = (struct takt_ignore){0};
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        size -= 3;
    }
    char *copy = takt__region_take(&out->region, size + 1);
    out->rule = takt__region_take(&out->region,
                                  count_lines(text, size) * sizeof *out->rule);
    if (copy == NULL || out->rule == NULL) {
        takt__ignore_clear(out);
        return false;
    }
    memcpy(copy, text, size);
    for (const char *line = copy, *end = copy + size; line < end;) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *stop = newline != NULL ? newline : end;
        out->count += read_rule((struct takt_span){line, (size_t)(stop - line)},
                                &out->rule[out->count]);
        line = stop + 1;
    }
    return true;
}

void takt__ignore_clear(struct takt_ignore *ignore)
{
    takt__region_free(&ignore->region);
    *ignore = (struct takt_ignore){0};
}

int takt__ignore_verdict(const struct takt_ignore *ignore,
                         struct takt_span path, bool is_folder)
{
    size_t start = path.size;

    while (start > 0 && path.at[start - 1] != '/')
        start--;
    const struct takt_span name = {path.at + start, path.size - start};
    for (size_t i = ignore->count; i > 0; i--) { /* the last one counts */
        const struct takt_ignore_rule *rule = &ignore->rule[i - 1];
        if (rule->is_folder && !is_folder)
            continue;
        if (rule->is_anchored ? takt__glob_path(rule->pattern, path)
                              : takt__glob_name(rule->pattern, name))
            return rule->is_negated ? -1 : 1;
    }
    return 0;
}
