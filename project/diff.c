/* SPDX-License-Identifier: MIT */
/*
 * diff.c - Myers' greedy search for the shortest way from one text to the
 * other, then hunks with three lines around each change.
 */
#include "project/diff.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/memory_file.h"

enum { MOST_CHANGES = 400, AROUND = 3 };

struct diff_line {
    const char *text;
    size_t length; /* with its end; only the last line may have none */
};

struct diff_lines {
    struct diff_line *line;
    size_t count;
};

/* A line of both texts, or of one. */
struct diff_step {
    char mark; /* ' ', '-' or '+' */
    struct diff_line line;
};

struct diff_path {
    struct diff_step *step;
    size_t count;
};

static bool split(struct takt_diff_side side, struct diff_lines *out)
{
    size_t count = 0;

    for (size_t i = 0; i < side.length; i++)
        count += side.text[i] == '\n' || i + 1 == side.length;
    out->count = 0;
    out->line = calloc(count + 1, sizeof *out->line);
    if (out->line == NULL)
        return false;
    for (size_t from = 0, to; from < side.length; from = to) {
        const char *end = memchr(side.text + from, '\n', side.length - from);
        to = end != NULL ? (size_t)(end - side.text) + 1 : side.length;
        out->line[out->count++] =
            (struct diff_line){side.text + from, to - from};
    }
    return true;
}

static bool same(struct diff_line a, struct diff_line b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

/* The search. Diagonal k is where x - y == k, x being lines of the old text
 * that are behind us and y of the new one. reached[k] of a round is how far x
 * gets on it with as many changes as there were rounds. Ways that leave the
 * texts are not cut off: none of them comes back to the end any sooner. */
struct diff_search {
    const struct diff_line *old, *new_;
    int32_t old_count, new_count;
    int32_t *reached; /* a row of `width` for each round */
    int32_t width, rounds;
};

static int32_t *row(const struct diff_search *search, int32_t round)
{
    /* The middle of it, so that diagonals below zero have an index. */
    return search->reached + (size_t)round * (size_t)search->width +
           search->width / 2;
}

/* Whether the way to diagonal k of a round came from k + 1: a line is new. */
static bool came_down(const struct diff_search *search, int32_t round,
                      int32_t k)
{
    const int32_t *before = row(search, round - 1);

    return k == -round || (k != round && before[k - 1] < before[k + 1]);
}

static int32_t slide(const struct diff_search *search, int32_t x, int32_t k)
{
    while (x < search->old_count && x - k < search->new_count &&
           same(search->old[x], search->new_[x - k]))
        x++;
    return x;
}

/* Whether the end was reached: search->rounds says with how many changes. */
static bool find_way(struct diff_search *search)
{
    const int32_t goal = search->old_count - search->new_count;

    for (int32_t round = 0; round <= MOST_CHANGES; round++) {
        int32_t *now = row(search, round);
        for (int32_t k = -round; k <= round; k += 2) {
            int32_t x = 0;
            if (round > 0 && came_down(search, round, k))
                x = row(search, round - 1)[k + 1];
            else if (round > 0)
                x = row(search, round - 1)[k - 1] + 1;
            now[k] = slide(search, x, k);
            if (k == goal && now[k] >= search->old_count) {
                search->rounds = round;
                return true;
            }
        }
    }
    return false;
}

/* Writes the way down, from its end: steps before `at`. Returns where they
 * begin. */
static struct diff_step *write_way(const struct diff_search *search,
                                   struct diff_step *at)
{
    int32_t x = search->old_count, k = x - search->new_count;

    for (int32_t round = search->rounds;; round--) {
        const bool is_down = round > 0 && came_down(search, round, k);
        const int32_t *before = round > 0 ? row(search, round - 1) : NULL;
        const int32_t start = round == 0 ? 0
                              : is_down  ? before[k + 1]
                                         : before[k - 1] + 1;
        for (; x > start; x--)
            *--at = (struct diff_step){' ', search->old[x - 1]};
        if (round == 0)
            return at;
        if (is_down) {
            *--at = (struct diff_step){'+', search->new_[x - k - 1]};
            k++;
        } else {
            *--at = (struct diff_step){'-', search->old[x - 1]};
            x--;
            k--;
        }
    }
}

/* All steps from one to the other; *path has space for the lines of both. */
static bool compare(struct diff_lines old, struct diff_lines new_,
                    struct diff_path *path)
{
    struct diff_search search = {.old = old.line,
                                 .new_ = new_.line,
                                 .old_count = (int32_t)old.count,
                                 .new_count = (int32_t)new_.count,
                                 .width = 2 * MOST_CHANGES + 5};
    struct diff_step *end = path->step + old.count + new_.count;

    search.reached = calloc((size_t)search.width * (MOST_CHANGES + 1),
                            sizeof *search.reached);
    if (search.reached == NULL)
        return false;
    if (find_way(&search)) {
        struct diff_step *from = write_way(&search, end);
        path->count = (size_t)(end - from);
        memmove(path->step, from, path->count * sizeof *from);
    } else { /* too different: all old lines, then all new ones */
        for (size_t i = 0; i < old.count; i++)
            path->step[path->count++] = (struct diff_step){'-', old.line[i]};
        for (size_t i = 0; i < new_.count; i++)
            path->step[path->count++] = (struct diff_step){'+', new_.line[i]};
    }
    free(search.reached);
    return true;
}

static void print_range(FILE *out, char mark, size_t before, size_t count)
{
    /* Of no lines, the one before them is named. */
    fprintf(out, "%c%zu", mark, before + (count > 0));
    if (count != 1)
        fprintf(out, ",%zu", count);
}

static void print_step(FILE *out, struct diff_step step)
{
    fputc(step.mark, out);
    fwrite(step.line.text, 1, step.line.length, out);
    if (step.line.text[step.line.length - 1] != '\n')
        fputs("\n\\ No newline at end of file\n", out);
}

/* Where the hunk ends whose first change is step `at`. */
static size_t hunk_end(const struct diff_path *path, size_t at)
{
    size_t last = at;

    for (; at < path->count && at - last <= 2 * AROUND + 1; at++)
        if (path->step[at].mark != ' ')
            last = at;
    return last + 1 + AROUND < path->count ? last + 1 + AROUND : path->count;
}

static void print_hunks(FILE *out, const struct diff_path *path)
{
    size_t old_line = 0, new_line = 0, printed = 0;

    for (size_t i = 0; i < path->count;) {
        while (i < path->count && path->step[i].mark == ' ')
            i++;
        if (i == path->count)
            return;
        const size_t from = i - printed > AROUND ? i - AROUND : printed;
        const size_t to = hunk_end(path, i);
        size_t old_count = 0, new_count = 0;
        old_line += from - printed; /* what was passed over is in both */
        new_line += from - printed;
        for (size_t j = from; j < to; j++) {
            old_count += path->step[j].mark != '+';
            new_count += path->step[j].mark != '-';
        }
        fputs("@@ ", out);
        print_range(out, '-', old_line, old_count);
        fputc(' ', out);
        print_range(out, '+', new_line, new_count);
        fputs(" @@\n", out);
        for (size_t j = from; j < to; j++)
            print_step(out, path->step[j]);
        old_line += old_count;
        new_line += new_count;
        printed = i = to;
    }
}

/* As `git` and `patch` read them: a name that could pass for other lines of the
 * diff is quoted, and one with blanks ends with a tab. */
static void print_name(FILE *out, const char *mark, const char *name)
{
    bool is_plain = true;

    for (const char *at = name; *at != '\0'; at++)
        is_plain = is_plain && (unsigned char)*at >= ' ' && *at != 0x7f &&
                   *at != '"' && *at != '\\';
    if (is_plain) {
        fprintf(out, "%s %s%s\n", mark, name,
                strchr(name, ' ') != NULL ? "\t" : "");
        return;
    }
    fprintf(out, "%s \"", mark);
    for (const char *at = name; *at != '\0'; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            fprintf(out, "\\%03o", (unsigned char)*at);
        else
            fprintf(out, "%s%c", *at == '"' || *at == '\\' ? "\\" : "", *at);
    fputs("\"\n", out);
}

/* Prints both names and all hunks; the texts differ. */
static bool print_diff(FILE *out, struct takt_diff_side old,
                       struct takt_diff_side new_)
{
    struct diff_lines a = {0}, b = {0};
    struct diff_path path = {0};
    bool is_done = split(old, &a) && split(new_, &b);

    if (is_done)
        path.step = calloc(a.count + b.count, sizeof *path.step);
    is_done = is_done && path.step != NULL && compare(a, b, &path);
    if (is_done) {
        print_name(out, "---", old.name);
        print_name(out, "+++", new_.name);
        print_hunks(out, &path);
    }
    free(path.step);
    free(a.line);
    free(b.line);
    return is_done;
}

char *takt__diff(struct takt_diff_side old, struct takt_diff_side new_)
{
    struct takt_memory_file out;

    if (!takt__memory_file_open(&out))
        return NULL;
    const bool is_done =
        (old.length == new_.length &&
         (old.length == 0 || memcmp(old.text, new_.text, old.length) == 0)) ||
        print_diff(out.stream, old, new_);
    if (takt__memory_file_close(&out) && is_done)
        return out.text;
    free(out.text);
    return NULL;
}
