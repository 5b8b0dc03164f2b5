/* SPDX-License-Identifier: MIT */
/*
 * finding_evidence.c - what profiles say about findings.
 *
 * A frame that names a file and line of the project is the innermost finding
 * around that line. One that names a function alone is that function, whose
 * time is divided among its findings by the work that they do. Other code of
 * the project keeps its own time, by lines; the time of libraries is counted
 * for their callers. That of the kernel is not: it is what page faults and
 * files take, which no other code for a loop would change.
 */
#define _XOPEN_SOURCE 700 /* realpath() */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "profile/profile.h"

/* ---- places ---- */

/* The findings of one function, or of one file. */
struct function_place {
    char name[longest_symbol];
    size_t index; /* of the finding */
};

/* Place 0 is other code of the project; then come findings by their lines,
 * those that a function has, by the first of its row in `function`, lines of
 * other code, and the kernel. */
struct evidence_places {
    struct findings *findings;
    struct hot_code *hot;
    const char **path; /* of all sources, by their last part, then whole */
    size_t *first;     /* the first finding of each; SIZE_MAX: none */
    size_t path_count;
    struct function_place *function; /* by name */
    size_t function_count;
    char folder[PATH_MAX]; /* without links, with a slash at its end */
    double *weight;        /* by place */
    double foreign;
    double seconds; /* of calls that a run report counted */
};

enum { place_elsewhere = 0 };

static size_t first_hot(const struct evidence_places *places)
{
    return 1 + 2 * places->findings->count;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

static int compare_paths(const void *left, const void *right)
{
    const char *a = *(const char *const *)left;
    const char *b = *(const char *const *)right;
    const int by_name = strcmp(last_part(a), last_part(b));

    return by_name != 0 ? by_name : strcmp(a, b);
}

static int compare_functions(const void *left, const void *right)
{
    const struct function_place *a = left, *b = right;
    const int by_name = strcmp(a->name, b->name);

    if (by_name != 0)
        return by_name;
    return a->index < b->index ? -1 : a->index > b->index;
}

static void close_places(struct evidence_places *places)
{
    free(places->path);
    free(places->first);
    free(places->function);
    free(places->weight);
}

/* Findings of a file follow each other. */
static void index_paths(struct evidence_places *places,
                        const struct source_paths *paths)
{
    const struct findings *findings = places->findings;

    for (size_t i = 0; i < paths->count; i++)
        places->path[places->path_count++] = paths->at[i];
    qsort(places->path, places->path_count, sizeof *places->path,
          compare_paths);
    for (size_t i = 0; i < places->path_count; i++)
        places->first[i] = SIZE_MAX;
    for (size_t i = 0; i < findings->count; i++) {
        const char *path = findings->at[i].finding.path;
        const char **at = i > 0 && findings->at[i - 1].finding.path == path
                              ? NULL
                              : bsearch(&path, places->path, places->path_count,
                                        sizeof *places->path, compare_paths);
        if (at != NULL && places->first[at - places->path] == SIZE_MAX)
            places->first[at - places->path] = i;
    }
}

static void index_functions(struct evidence_places *places)
{
    const struct findings *findings = places->findings;

    for (size_t i = 0; i < findings->count; i++) {
        struct function_place *one = &places->function[places->function_count];
        one->index = i;
        plain_symbol(findings->at[i].finding.function, one->name);
        places->function_count += one->name[0] != '\0';
    }
    qsort(places->function, places->function_count, sizeof *places->function,
          compare_functions);
}

static bool open_places(struct evidence_places *places,
                        struct findings *findings,
                        const struct source_paths *paths, const char *folder)
{
    const size_t count = findings->count;

    *places = (struct evidence_places){.findings = findings};
    places->path = malloc((paths->count + 1) * sizeof *places->path);
    places->first = malloc((paths->count + 1) * sizeof *places->first);
    places->function = malloc((count + 1) * sizeof *places->function);
    places->weight = calloc(2 * count + 1 + hot_slots, sizeof *places->weight);
    if (places->path == NULL || places->first == NULL ||
        places->function == NULL || places->weight == NULL) {
        close_places(places);
        return false;
    }
    if (realpath(folder, places->folder) != NULL &&
        strlen(places->folder) + 1 < sizeof places->folder)
        strcat(places->folder, "/");
    else
        places->folder[0] = '\0';
    index_paths(places, paths);
    index_functions(places);
    return true;
}

/* ---- files ---- */

/* Whether a path ends with another one, at a slash. */
static bool ends_with_path(const char *path, const char *end)
{
    const size_t length = strlen(path), part = strlen(end);

    return length >= part && strcmp(path + length - part, end) == 0 &&
           (length == part || path[length - part - 1] == '/');
}

static bool is_installed(const char *path)
{
    static const char *const parts[] = {
        "/site-packages/", "/dist-packages/", "/rustc/", "/.cargo/",
        "/usr/",           "/lib/python",     "<frozen"};

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strstr(path, parts[i]) != NULL)
            return true;
    return false;
}

static size_t first_path(const struct evidence_places *places, const char *name)
{
    size_t low = 0, high = places->path_count;

    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (strcmp(last_part(places->path[middle]), name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The source that a frame names; SIZE_MAX: it is none of the project. Profiles
 * of other machines and folders are matched by how their paths end; the longest
 * one that fits is meant. */
static size_t find_source_file(const struct evidence_places *places,
                               const char *file)
{
    const size_t length = strlen(places->folder);
    const bool is_inside =
        length > 0 && strncmp(file, places->folder, length) == 0;
    const char *name = last_part(file);
    size_t found = SIZE_MAX;

    if (is_inside)
        file += length;
    else if (file[0] == '/' && is_installed(file))
        return SIZE_MAX;
    while (strncmp(file, "./", 2) == 0 || strncmp(file, "../", 3) == 0)
        file = strchr(file, '/') + 1;
    for (size_t i = first_path(places, name);
         i < places->path_count &&
         strcmp(last_part(places->path[i]), name) == 0;
         i++) {
        const char *path = places->path[i];
        if (is_inside
                ? strcmp(path, file) == 0
                : ends_with_path(file, path) || ends_with_path(path, file)) {
            if (found == SIZE_MAX || strlen(path) > strlen(places->path[found]))
                found = i;
        }
    }
    return found;
}

/* The innermost finding around a line; SIZE_MAX: none. */
static size_t find_at_line(const struct evidence_places *places, size_t source,
                           unsigned line)
{
    const struct findings *findings = places->findings;
    const char *path = places->path[source];
    size_t found = SIZE_MAX;
    unsigned least = UINT_MAX;

    for (size_t i = places->first[source];
         i < findings->count && strcmp(findings->at[i].finding.path, path) == 0;
         i++) {
        const struct takt_finding *one = &findings->at[i].finding;
        if (line >= one->line && line <= one->end_line &&
            one->end_line - one->line < least) {
            least = one->end_line - one->line;
            found = i;
        }
    }
    return found;
}

/* ---- functions ---- */

/* The first of a function's findings, in `path` if that is not NULL; SIZE_MAX:
 * it has none. Profilers of Python name the file, so without it the function is
 * one of a compiled language. */
static size_t find_function(const struct evidence_places *places,
                            const char *function, const char *path)
{
    char name[longest_symbol];
    size_t low = 0, high = places->function_count;

    plain_symbol(function, name);
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (strcmp(places->function[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < places->function_count &&
           strcmp(places->function[low].name, name) == 0;
         low++) {
        const struct takt_finding *one =
            &places->findings->at[places->function[low].index].finding;
        if (path == NULL ? one->language != TAKT_SCAN_PYTHON
                         : strcmp(one->path, path) == 0)
            return low;
    }
    return SIZE_MAX;
}

static bool is_foreign_module(const char *module)
{
    return module[0] == '[' || strstr(module, ".so") != NULL;
}

static int place_own(const struct evidence_places *places, const char *path,
                     const struct takt_frame *frame)
{
    const size_t line = hot_line_at(places->hot, path, frame->function,
                                    path != NULL ? frame->line : 0);

    return line != SIZE_MAX ? (int)(first_hot(places) + line) : place_elsewhere;
}

static int place_frame(void *self, const struct takt_frame *frame)
{
    const struct evidence_places *places = self;
    const size_t count = places->findings->count;
    size_t source = SIZE_MAX;

    if (strncmp(frame->module, "[kernel", 7) == 0)
        return (int)(first_hot(places) + hot_slots);
    if (frame->file[0] != '\0' && frame->file[0] != '?') {
        source = find_source_file(places, frame->file);
        if (source == SIZE_MAX)
            return TAKT_FRAME_FOREIGN;
        const size_t found = frame->line > 0
                                 ? find_at_line(places, source, frame->line)
                                 : SIZE_MAX;
        if (found != SIZE_MAX)
            return (int)(1 + found);
    }
    const size_t function =
        frame->function[0] != '\0'
            ? find_function(places, frame->function,
                            source != SIZE_MAX ? places->path[source] : NULL)
            : SIZE_MAX;
    /* A line that is in none of the findings is known not to be theirs, unless
     * it is that of the function, as some tools have it: then it is smaller. */
    if (function != SIZE_MAX &&
        (source == SIZE_MAX || frame->line == 0 ||
         frame->line < places->findings->at[places->function[function].index]
                           .finding.line))
        return (int)(1 + count + function);
    if (source != SIZE_MAX)
        return place_own(places, places->path[source], frame);
    return is_foreign_module(frame->module) ||
                   is_foreign_symbol(frame->function)
               ? TAKT_FRAME_FOREIGN
               : place_own(places, NULL, frame);
}

static void add_weight(void *self, int place, double weight)
{
    struct evidence_places *places = self;

    if (place == TAKT_FRAME_FOREIGN ||
        (size_t)place == first_hot(places) + hot_slots)
        places->foreign += weight;
    else
        places->weight[place] += weight;
}

/* ---- routines of BLAS and loops of NumPy ---- */

static bool may_be_of_library(const struct kept_finding *kept, const char *op)
{
    return kept->standing == STANDING_LIBRARY && !kept->finding.is_test &&
           strcmp(kept->finding.op->name, op) == 0;
}

/* Which of the findings called a routine is not known: they share its time. */
static void add_call(void *self, const struct takt_counted_call *call)
{
    struct evidence_places *places = self;
    struct findings *findings = places->findings;
    const char *op = op_of_routine(call->routine, call->is_loop);
    unsigned sharers = 0;

    places->seconds += call->seconds;
    for (size_t i = 0; op != NULL && i < findings->count; i++)
        sharers += may_be_of_library(&findings->at[i], op);
    if (sharers == 0) {
        places->foreign += call->seconds;
        return;
    }
    for (size_t i = 0; i < findings->count; i++) {
        struct kept_finding *kept = &findings->at[i];
        if (!may_be_of_library(kept, op))
            continue;
        places->weight[1 + i] += call->seconds / sharers;
        kept->evidence = EVIDENCE_OP;
        kept->sharers = sharers;
        kept->calls += call->calls / sharers;
        if (kept->least == 0 || call->least < kept->least)
            kept->least = call->least;
        if (call->most > kept->most)
            kept->most = call->most;
    }
}

/* ---- what comes of it ---- */

static void add_share(struct kept_finding *kept, enum evidence evidence,
                      double share, unsigned sharers)
{
    kept->share += share;
    if (kept->evidence == EVIDENCE_NONE || evidence < kept->evidence) {
        kept->evidence = evidence;
        kept->sharers = sharers;
    }
}

/* The time of a function goes to its findings by the work that they do; those
 * that only call another one have none. */
static void divide_function(const struct evidence_places *places, size_t first,
                            double share)
{
    struct findings *findings = places->findings;
    const char *name = places->function[first].name;
    const bool is_python =
        findings->at[places->function[first].index].finding.language ==
        TAKT_SCAN_PYTHON;
    double all = 0;
    unsigned sharers = 0;

    for (int is_second = 0; is_second < 2; is_second++)
        for (size_t i = first; i < places->function_count &&
                               strcmp(places->function[i].name, name) == 0;
             i++) {
            struct kept_finding *kept =
                &findings->at[places->function[i].index];
            bool is_known;
            const double work = visits_of(&kept->finding, &is_known) *
                                pow(16, kept->finding.loops_around < 3
                                            ? kept->finding.loops_around
                                            : 3);
            if (kept->standing == STANDING_CALL ||
                (kept->finding.language == TAKT_SCAN_PYTHON) != is_python)
                continue;
            if (is_second != 0)
                add_share(kept, EVIDENCE_FUNCTION, share * work / all, sharers);
            all += is_second != 0 ? 0 : work;
            sharers += is_second == 0;
        }
}

static void settle(struct evidence_places *places, double total,
                   struct evidence_summary *summary)
{
    struct findings *findings = places->findings;
    const size_t count = findings->count;
    const double own =
        places->weight[place_elsewhere] +
        add_hot_weights(places->hot, places->weight + first_hot(places), total);
    double found = 0;

    for (size_t i = 0; i < count; i++) {
        found += places->weight[1 + i];
        if (places->weight[1 + i] > 0)
            add_share(&findings->at[i],
                      findings->at[i].evidence == EVIDENCE_OP ? EVIDENCE_OP
                                                              : EVIDENCE_LINE,
                      places->weight[1 + i] / total, 1);
    }
    for (size_t i = 0; i < places->function_count; i++) {
        const double weight = places->weight[1 + count + i];
        found += weight;
        if (weight > 0)
            divide_function(places, i, weight / total);
    }
    summary->found += found / total;
    summary->own += own / total;
    summary->elsewhere += fmax(0, total - found - own) / total;
}

static void note_format(struct evidence_summary *summary, const char *format)
{
    const size_t used = strlen(summary->formats);

    summary->files++;
    if (strstr(summary->formats, format) == NULL)
        snprintf(summary->formats + used, sizeof summary->formats - used,
                 "%s%s", used > 0 ? ", " : "", format);
}

bool read_evidence(struct findings *findings, const struct source_paths *paths,
                   const char *folder, const char *path,
                   struct evidence_summary *summary, char *error, size_t size)
{
    struct takt_profile_facts facts;
    struct evidence_places places;
    takt_diag diag = {""};

    if (!open_places(&places, findings, paths, folder)) {
        snprintf(error, size, "no memory");
        return false;
    }
    places.hot = &summary->hot;
    const struct takt_profile_sink sink = {&places, place_frame, add_weight,
                                           add_call};
    const takt_status status = takt__profile_read(path, &sink, &facts, &diag);
    if (status == TAKT_OK) {
        settle(&places, fmax(facts.total, places.seconds), summary);
        note_format(summary, facts.format);
    } else {
        snprintf(error, size, "%s",
                 diag.text[0] != '\0' ? diag.text : takt_status_text(status));
    }
    close_places(&places);
    return status == TAKT_OK;
}

void finish_evidence(struct findings *findings,
                     struct evidence_summary *summary)
{
    settle_hot(&summary->hot, summary->files);
    if (summary->files < 2)
        return;
    for (size_t i = 0; i < findings->count; i++)
        findings->at[i].share /= (double)summary->files;
    summary->found /= (double)summary->files;
    summary->own /= (double)summary->files;
    summary->elsewhere /= (double)summary->files;
}
