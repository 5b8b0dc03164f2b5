/* SPDX-License-Identifier: MIT */
/*
 * finding_compiled.c - which loops the compiler vectorises, as it reports with
 * -fopt-info-vec (gcc) or -Rpass=loop-vectorize (clang).
 *
 * gcc also calls a sum vectorised whose terms it adds one by one, in their
 * order: without -ffast-math or the like, sums are not.
 *
 * A product of matrices that is vectorised is still far from what is possible;
 * anything else that is vectorised is as fast as SIMD code.
 */
#define _XOPEN_SOURCE 700 /* realpath() */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compile.h"
#include "findings.h"

struct vectorised_lines {
    const char *name; /* of the file, its last part */
    unsigned line[4096];
    size_t count;
    bool may_reorder; /* the compiler may change the order of a sum */
};

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* "model.c:12:5: optimized: loop vectorized using 32 byte vectors" */
static void take_line(void *self, const char *text)
{
    struct vectorised_lines *lines = self;
    const char *colon = strchr(text, ':');
    char path[PATH_MAX], *end;

    if (colon == NULL || (size_t)(colon - text) >= sizeof path ||
        (strstr(text, "loop vectorized") == NULL &&
         strstr(text, "vectorized loop") == NULL))
        return;
    memcpy(path, text, (size_t)(colon - text));
    path[colon - text] = '\0';
    const unsigned long line = strtoul(colon + 1, &end, 10);
    if (*end == ':' && strcmp(last_part(path), lines->name) == 0 &&
        lines->count < sizeof lines->line / sizeof lines->line[0])
        lines->line[lines->count++] = (unsigned)line;
}

static bool is_product(const takt_op *op)
{
    static const char *const ops[] = {"matmul", "batched_matmul", "gemv",
                                      "conv2d", "attention"};

    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++)
        if (strcmp(op->name, ops[i]) == 0)
            return true;
    return false;
}

static bool may_reorder(const struct compile_command *command)
{
    static const char *const flags[] = {"-ffast-math", "-Ofast",
                                        "-fassociative-math",
                                        "-funsafe-math-optimizations"};

    for (size_t i = 0; command->flag[i] != NULL; i++)
        for (size_t j = 0; j < sizeof flags / sizeof flags[0]; j++)
            if (strcmp(command->flag[i], flags[j]) == 0)
                return true;
    return false;
}

static bool is_within(const struct vectorised_lines *lines,
                      const struct takt_finding *finding)
{
    for (size_t i = 0; i < lines->count; i++)
        if (lines->line[i] >= finding->line &&
            lines->line[i] <= finding->end_line)
            return true;
    return false;
}

static void mark(struct kept_finding *kept,
                 const struct vectorised_lines *lines)
{
    if ((kept->standing != STANDING_OPEN &&
         kept->standing != STANDING_VECTORISED) ||
        is_product(kept->finding.op))
        return;
    const bool is_ordered =
        kept->finding.op->complexity == TAKT_COMPLEXITY_MEDIUM &&
        !lines->may_reorder;
    kept->standing = is_within(lines, &kept->finding) && !is_ordered
                         ? STANDING_VECTORISED
                         : STANDING_OPEN;
}

/* Of one file; false: it did not compile. */
static bool ask(const struct compile_command *command, const char *real,
                struct vectorised_lines *lines)
{
    static const char *const gcc[] = {"-fopt-info-vec-optimized", NULL};
    static const char *const clang[] = {"-Rpass=loop-vectorize", NULL};

    lines->count = 0;
    lines->name = last_part(real);
    lines->may_reorder = may_reorder(command);
    return run_compiler(command, command->is_clang ? clang : gcc, real,
                        take_line, lines) ||
           (!command->is_clang && /* cc may be clang */
            run_compiler(command, clang, real, take_line, lines));
}

void mark_by_compiler(struct findings *findings, const char *folder,
                      struct compile_database *database,
                      struct compiled_summary *summary)
{
    struct vectorised_lines *lines = malloc(sizeof *lines);
    struct compile_command command;
    size_t next;

    for (size_t i = 0; lines != NULL && i < findings->count; i = next) {
        const struct takt_finding *first = &findings->at[i].finding;
        char path[2 * PATH_MAX];
        for (next = i + 1; next < findings->count &&
                           findings->at[next].finding.path == first->path;)
            next++;
        if (first->language != TAKT_SCAN_C && first->language != TAKT_SCAN_CPP)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, first->path);
        char *real = realpath(path, NULL);
        if (real == NULL || !find_compile_command(database, real, &command)) {
            summary->unknown++;
        } else if (!ask(&command, real, lines)) {
            summary->failed++;
        } else {
            summary->asked++;
            for (size_t j = i; j < next; j++)
                mark(&findings->at[j], lines);
        }
        free(real);
    }
    free(lines);
}
