/* SPDX-License-Identifier: MIT */
#include "findings.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static const struct {
    const char *key, *text;
} standings[STANDINGS] = {
    [STANDING_OPEN] = {"open", ""},
    [STANDING_LIBRARY] = {"library",
                          "run by NumPy, BLAS or another library already"},
    [STANDING_VECTORISED] = {"vectorised",
                             "vectorised by the compiler already"},
    [STANDING_SMALL] = {"small", "too small to matter"},
    [STANDING_REMAINDER] = {"remainder",
                            "what hand-written SIMD code leaves over"},
    [STANDING_FALLBACK] = {"fallback",
                           "of builds without a library or SIMD code that the "
                           "same lines have"},
    [STANDING_DEVICE] = {"device", "code of a GPU already"},
    [STANDING_CALL] =
        {"call", "calls of functions: what these do is told where they are"},
    [STANDING_IGNORED] = {"ignored", "ignored by a comment"},
    [STANDING_KNOWN] = {"known", "in the baseline file"},
};

const char *standing_text(enum standing standing)
{
    return standings[standing].text;
}

const char *standing_key(enum standing standing)
{
    return standings[standing].key;
}

bool is_listed(const struct kept_finding *kept)
{
    const bool is_silenced =
        kept->standing == STANDING_IGNORED || kept->standing == STANDING_KNOWN;

    return kept->standing == STANDING_OPEN ||
           (!is_silenced && kept->share >= 0.01);
}

static const char *keep_text(struct findings *findings, const char *text)
{
    if (text == NULL || text[0] == '\0')
        return "";
    const char *copy = takt__region_copy(&findings->region, text, strlen(text));
    findings->is_memory_short |= copy == NULL;
    return copy != NULL ? copy : "";
}

/* Most have the path, and many the function, of the one before. */
static const char *keep_again(struct findings *findings, const char *before,
                              const char *text)
{
    if (before != NULL && text != NULL && strcmp(before, text) == 0)
        return before;
    return keep_text(findings, text);
}

struct kept_finding *keep_finding(struct findings *findings,
                                  const struct takt_finding *finding)
{
    if (!takt__grow(&findings->at, &findings->room, findings->count + 1,
                    sizeof *findings->at)) {
        findings->is_memory_short = true;
        return NULL;
    }
    const struct takt_finding *last =
        findings->count > 0 ? &findings->at[findings->count - 1].finding : NULL;
    struct kept_finding *kept = &findings->at[findings->count];
    *kept = (struct kept_finding){.finding = *finding, .sharers = 1};
    kept->finding.path =
        keep_again(findings, last != NULL ? last->path : NULL, finding->path);
    kept->finding.function = keep_again(
        findings, last != NULL ? last->function : NULL, finding->function);
    kept->finding.pattern = keep_again(
        findings, last != NULL ? last->pattern : NULL, finding->pattern);
    kept->finding.name =
        finding->name == finding->op->name
            ? finding->name
            : keep_again(findings, last != NULL ? last->name : NULL,
                         finding->name);
    if (finding->rewrite != NULL)
        kept->finding.rewrite = keep_text(findings, finding->rewrite);
    findings->count++;
    return kept;
}

void free_findings(struct findings *findings)
{
    free(findings->at);
    takt__region_free(&findings->region);
    *findings = (struct findings){0};
}

/* ---- the sources of the project ---- */

void note_path(struct source_paths *paths, const char *path)
{
    char *copy = strdup(path);

    pthread_mutex_lock(&paths->lock);
    if (copy != NULL &&
        takt__grow(&paths->at, &paths->room, paths->count + 1, sizeof copy)) {
        paths->at[paths->count++] = copy;
    } else {
        paths->is_memory_short = true;
        free(copy);
    }
    pthread_mutex_unlock(&paths->lock);
}

void free_paths(struct source_paths *paths)
{
    for (size_t i = 0; i < paths->count; i++)
        free(paths->at[i]);
    free(paths->at);
    paths->at = NULL;
    paths->count = paths->room = 0;
}
