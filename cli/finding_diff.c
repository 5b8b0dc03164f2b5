/* SPDX-License-Identifier: MIT */
/*
 * finding_diff.c - the lines that changed since a revision, as git lists them:
 * the hunks of a diff without context, and all lines of files that are new.
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "child_lines.h"
#include "findings.h"

struct changed_range {
    const char *path;
    unsigned from, to;
};

static bool add_range(struct changed_lines *changed, const char *path,
                      unsigned from, unsigned to)
{
    if (!takt__grow(&changed->at, &changed->room, changed->count + 1,
                    sizeof *changed->at))
        return false;
    changed->at[changed->count++] = (struct changed_range){path, from, to};
    return true;
}

/* ---- what git writes ---- */

/* A name in quotes, with escapes as in C; in place. */
static void unquote(char *name)
{
    static const char letters[] = "abtnvfr", codes[] = "\a\b\t\n\v\f\r";
    char *to = name;

    if (name[0] != '"')
        return;
    for (const char *at = name + 1; *at != '\0' && *at != '"'; at++) {
        if (*at != '\\' || at[1] == '\0') {
            *to++ = *at;
            continue;
        }
        at++;
        const char *letter = strchr(letters, *at);
        if (*at >= '0' && *at <= '3' && at[1] >= '0' && at[1] <= '7' &&
            at[2] >= '0' && at[2] <= '7') {
            *to++ =
                (char)((at[0] - '0') * 64 + (at[1] - '0') * 8 + at[2] - '0');
            at += 2;
        } else {
            *to++ = letter != NULL ? codes[letter - letters] : *at;
        }
    }
    *to = '\0';
}

static const char *keep_name(struct changed_lines *changed, const char *name)
{
    char *copy = takt__region_copy(&changed->region, name, strlen(name));

    if (copy != NULL)
        unquote(copy);
    changed->is_memory_short |= copy == NULL;
    return copy;
}

/* "+++ b/src/model.c", where "b/" stands before the quotes' content, too. */
static void take_file(struct changed_lines *changed, const char *name)
{
    const char *copy = keep_name(changed, name);

    changed->path = NULL;
    if (copy != NULL && strncmp(copy, "b/", 2) == 0)
        changed->path = copy + 2;
}

/* "4,5": five lines from 4 on; "4": one. */
static void take_stretch(const char *text, unsigned long *from,
                         unsigned long *count)
{
    char *end;

    *from = strtoul(text, &end, 10);
    *count = *end == ',' ? strtoul(end + 1, NULL, 10) : 1;
}

/* "@@ -3,2 +4,5 @@": five lines from 4 on. Where lines are gone, those around
 * the gap have changed. */
static void take_hunk(struct changed_lines *changed, const char *line)
{
    const char *minus = strstr(line, " -"), *plus = strstr(line, " +");
    unsigned long before, from, count;

    if (minus == NULL || plus == NULL)
        return;
    take_stretch(minus + 2, &before, &changed->old_left);
    take_stretch(plus + 2, &from, &count);
    changed->new_left = count;
    if (changed->path == NULL)
        return;
    const unsigned long to = count > 0 ? from + count - 1 : from + 1;
    if (from > 100000000 || to > 200000000)
        return;
    changed->is_memory_short |=
        !add_range(changed, changed->path, (unsigned)from, (unsigned)to);
}

/* Whether a line is one of the hunk's: whatever it looks like then, it is the
 * text of a file. */
static bool is_content(struct changed_lines *changed, const char *line)
{
    const bool is_inside = changed->old_left > 0 || changed->new_left > 0;

    if (line[0] != '+' && changed->old_left > 0 && line[0] != '\\')
        changed->old_left--;
    if (line[0] != '-' && changed->new_left > 0 && line[0] != '\\')
        changed->new_left--;
    return is_inside;
}

static void take_line(void *self, const char *line)
{
    if (is_content(self, line))
        return;
    if (strncmp(line, "+++ ", 4) == 0)
        take_file(self, line + 4);
    else if (strncmp(line, "@@ ", 3) == 0)
        take_hunk(self, line);
}

static void take_new_file(void *self, const char *line)
{
    struct changed_lines *changed = self;
    const char *path = keep_name(changed, line);

    if (path != NULL)
        changed->is_memory_short |= !add_range(changed, path, 1, 200000000);
}

static int compare(const void *left, const void *right)
{
    const struct changed_range *a = left, *b = right;
    const int by_path = strcmp(a->path, b->path);

    if (by_path != 0)
        return by_path;
    return a->from < b->from ? -1 : a->from > b->from;
}

bool find_changed(struct changed_lines *changed, const char *folder,
                  const char *base)
{
    const char *const diff[] = {"git",
                                "-c",
                                "core.fsmonitor=false",
                                "diff",
                                "--no-color",
                                "--no-ext-diff",
                                "--no-textconv",
                                "--text",
                                "--unified=0",
                                "--relative",
                                "--src-prefix=a/",
                                "--dst-prefix=b/",
                                base,
                                "--",
                                NULL};
    const char *const others[] = {
        "git",      "-c",       "core.fsmonitor=false",
        "ls-files", "--others", "--exclude-standard",
        NULL};
    /* (first: where there is no repository it says so in a line, and diff by a
     * hundred of them) */
    struct child_lines child = {.name = "git",
                                .word = others,
                                .folder = folder,
                                .visit = take_new_file,
                                .self = changed};

    *changed = (struct changed_lines){0};
    if (base[0] == '-' || !read_child(&child))
        return false;
    child.word = diff;
    child.visit = take_line;
    if (!read_child(&child) || changed->is_memory_short)
        return false;
    if (changed->count > 0)
        qsort(changed->at, changed->count, sizeof *changed->at, compare);
    return true;
}

bool is_changed(const struct changed_lines *changed,
                const struct takt_finding *finding)
{
    size_t low = 0, high = changed->count;

    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (strcmp(changed->at[middle].path, finding->path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < changed->count &&
           strcmp(changed->at[low].path, finding->path) == 0;
         low++)
        if (changed->at[low].from <= finding->end_line &&
            changed->at[low].to >= finding->line)
            return true;
    return false;
}

void free_changed(struct changed_lines *changed)
{
    free(changed->at);
    takt__region_free(&changed->region);
    *changed = (struct changed_lines){0};
}
