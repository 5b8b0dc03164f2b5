/* SPDX-License-Identifier: MIT */
/*
 * finding_notes.c - comments that ignore findings, what hand-written SIMD code
 * leaves over, kernels of GPUs, and what Numba compiles.
 *
 *     for (...) // takt: ignore three elements
 *     // takt: ignore three elements
 *     // takt: ignore-begin generated code
 *     // takt: ignore-end
 *
 * A reason is part of it: without one it is warned of, and does nothing.
 */
#define _GNU_SOURCE /* memmem() */
#include <ctype.h>
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "findings.h"
#include "project/read_file.h"

enum { most_source = 8 << 20, lines_above = 80, lines_of_decorators = 10 };

/* ---- comments ---- */

static void warn_at(const struct source_notes *notes, unsigned line,
                    const char *what)
{
    char text[longest_path];

    snprintf(text, sizeof text, "%.3000s:%u: %s", notes->path, line, what);
    search_warn(notes->search, text);
}

static struct ignored_lines *add_ignored(struct source_notes *notes,
                                         unsigned from, unsigned to,
                                         const char *reason, size_t length)
{
    if (!takt__grow(&notes->ignored, &notes->ignored_room,
                    notes->ignored_count + 1, sizeof *notes->ignored))
        return NULL;
    struct ignored_lines *one = &notes->ignored[notes->ignored_count++];
    *one = (struct ignored_lines){from, to, ""};
    snprintf(one->reason, sizeof one->reason, "%.*s",
             (int)(length < 159 ? length : 159), reason);
    return one;
}

/* The region that is open; NULL: none. */
static struct ignored_lines *open_region(struct source_notes *notes)
{
    for (size_t i = notes->ignored_count; i > 0; i--)
        if (notes->ignored[i - 1].to == UINT32_MAX)
            return &notes->ignored[i - 1];
    return NULL;
}

static bool take_word(const char **at, const char *end, const char *word)
{
    const size_t length = strlen(word);

    if ((size_t)(end - *at) < length || memcmp(*at, word, length) != 0)
        return false;
    *at += length;
    return true;
}

static void skip_any(const char **at, const char *end, const char *letters)
{
    while (*at < end && strchr(letters, **at) != NULL)
        ++*at;
}

static void end_region(struct source_notes *notes, unsigned line)
{
    struct ignored_lines *open = open_region(notes);

    if (open == NULL)
        warn_at(notes, line, "'takt: ignore-end' without a begin");
    else
        open->to = line;
}

static void visit_comment(void *self, const char *text, size_t length,
                          unsigned line, bool is_alone)
{
    struct source_notes *notes = self;
    const char *at = text, *end = text + length;

    skip_any(&at, end, " \t/*!#");
    if (!take_word(&at, end, "takt:"))
        return;
    skip_any(&at, end, " ");
    if (take_word(&at, end, "ignore-end")) {
        end_region(notes, line);
        return;
    }
    const bool is_begin = take_word(&at, end, "ignore-begin");
    if (!is_begin && !take_word(&at, end, "ignore"))
        return;
    if (at < end && strchr(" \t:(\r", *at) == NULL)
        return; /* another word */
    skip_any(&at, end, " \t:");
    while (end > at && strchr(" \t\r", end[-1]) != NULL)
        end--;
    if (at == end)
        warn_at(notes, line, "'takt: ignore' does nothing without a reason");
    else if (is_begin && open_region(notes) != NULL)
        warn_at(notes, line, "'takt: ignore-begin' within another");
    else
        add_ignored(notes, line, is_begin ? UINT32_MAX : line + is_alone, at,
                    (size_t)(end - at));
}

/* ---- the file ---- */

static void close_file(struct source_notes *notes)
{
    free(notes->path);
    free(notes->text);
    free(notes->line);
    notes->path = notes->text = NULL;
    notes->line = NULL;
    notes->size = notes->lines = 0;
    notes->ignored_count = 0;
}

static void find_lines(struct source_notes *notes)
{
    unsigned count = 1;

    for (size_t i = 0; i < notes->size; i++)
        count += notes->text[i] == '\n';
    notes->line = malloc((count + 1) * sizeof *notes->line);
    if (notes->line == NULL)
        return;
    notes->line[0] = 0;
    notes->lines = 1;
    for (size_t i = 0; i < notes->size; i++)
        if (notes->text[i] == '\n')
            notes->line[notes->lines++] = i + 1;
    notes->line[notes->lines] = notes->size;
}

/* "avx" of "dot_avx2.rs" */
static bool has_part(const char *name, const char *part)
{
    const char *at = strcasestr(name, part);

    return at != NULL && (at == name || !isalpha((unsigned char)at[-1])) &&
           !isalpha((unsigned char)at[strlen(part)]);
}

/* Whether a file beside it is named for SIMD code: "dot_avx.rs" beside
 * "dot.rs". */
static bool finds_simd(const struct source_notes *notes)
{
    static const char *const parts[] = {"avx", "sse", "neon", "simd", NULL};
    char folder[2 * longest_path];
    bool is_found = false;

    snprintf(folder, sizeof folder, "%s/%s", notes->search->folder,
             notes->path);
    *strrchr(folder, '/') = '\0';
    DIR *open = opendir(folder);
    if (open == NULL)
        return false;
    for (struct dirent *entry; !is_found && (entry = readdir(open)) != NULL;)
        for (const char *const *part = parts; *part != NULL; part++)
            is_found |= has_part(entry->d_name, *part);
    closedir(open);
    return is_found;
}

/* A file that cannot be read again has nothing to say. */
static void open_file(struct source_notes *notes,
                      const struct takt_finding *finding)
{
    char path[2 * longest_path];

    close_file(notes);
    notes->path = strdup(finding->path);
    snprintf(path, sizeof path, "%s/%s", notes->search->folder, finding->path);
    if (notes->path == NULL || takt__read_file(path, most_source, &notes->text,
                                               &notes->size, NULL) != TAKT_OK)
        return;
    find_lines(notes);
    notes->has_simd = finds_simd(notes);
    if (memmem(notes->text, notes->size, "takt:", 5) == NULL)
        return;
    find_comments(finding->language, notes->text, notes->size, visit_comment,
                  notes);
    if (open_region(notes) != NULL)
        warn_at(notes, open_region(notes)->from,
                "'takt: ignore-begin' without an end: it is that of the file");
}

/* ---- what stands above ---- */

static bool line_has(const struct source_notes *notes, unsigned line,
                     const char *word)
{
    const size_t from = notes->line[line - 1], to = notes->line[line];

    return memmem(notes->text + from, to - from, word, strlen(word)) != NULL;
}

/* Whether one of the words stands above it in the same function, as far as
 * lines tell: a brace in the first column ends one. */
static bool stands_above(const struct source_notes *notes, unsigned line,
                         const char *const *words)
{
    for (unsigned i = 0; i < lines_above && line > 1; i++) {
        line--;
        for (const char *const *word = words; *word != NULL; word++)
            if (line_has(notes, line, *word))
                return true;
        if (notes->text[notes->line[line - 1]] == '}')
            return false;
    }
    return false;
}

/* Headers of CUDA have no file name of their own: what is for the device says
 * so somewhere. */
static bool is_device_code(const struct source_notes *notes,
                           const struct takt_finding *finding)
{
    static const char *const words[] = {"__global__", "__device__", NULL};
    static const char *const macros[] = {"CUTLASS_DEVICE", "__device__", NULL};
    static const char *const host[] = {"__host__", NULL};
    const char *dot = strrchr(finding->path, '.');
    const bool is_cuda =
        dot != NULL && (strcmp(dot, ".cu") == 0 || strcmp(dot, ".cuh") == 0);

    if (is_cuda)
        return stands_above(notes, finding->line + 1, words);
    if (!is_c(finding))
        return false;
    if (memmem(notes->text, notes->size, "__host__", 8) != NULL &&
        strstr(finding->path, "cuda") == NULL)
        return stands_above(notes, finding->line + 1, words) &&
               !stands_above(notes, finding->line + 1, host);
    for (const char *const *word = macros; *word != NULL; word++)
        if (memmem(notes->text, notes->size, *word, strlen(*word)) != NULL)
            return true;
    return false;
}

/* A loop of Python in a function that Numba compiles:
 *
 *     @njit(parallel=True)
 *     def f(x):
 */
static bool is_jitted(const struct source_notes *notes,
                      const struct takt_finding *finding)
{
    const char *dot = strrchr(finding->function, '.');
    char head[longest_symbol + 8];
    unsigned line = finding->line;

    if (finding->language != TAKT_SCAN_PYTHON || finding->function[0] == '\0')
        return false;
    snprintf(head, sizeof head, "def %.*s(", (int)longest_symbol - 1,
             dot != NULL ? dot + 1 : finding->function);
    while (line > 1 && !line_has(notes, line, head))
        line--;
    for (unsigned i = 1; i < lines_of_decorators && i < line; i++) {
        if (line_has(notes, line - i, "def ") ||
            line_has(notes, line - i, "return "))
            return false;
        if (line_has(notes, line - i, "@") &&
            (line_has(notes, line - i, "jit") ||
             line_has(notes, line - i, "numba")))
            return true;
    }
    return false;
}

/* ---- what other builds have instead ---- */

/* Whether a condition of the preprocessor is about a library or SIMD. */
static bool asks_for_faster(const char *text, const char *end)
{
    static const char *const words[] = {
        "BLAS",   "OPENBLAS", "CBLAS", "LAPACK",  "MKL",    "ACCELERATE",
        "VDSP",   "IPP",      "CUDA",  "METAL",   "OPENCL", "XNNPACK",
        "SSE",    "SSE2",     "AVX",   "AVX2",    "NEON",   "SIMD",
        "VECTOR", "INTRIN",   "FFTW",  "ALTIVEC", NULL};

    for (const char *const *word = words; *word != NULL; word++) {
        const size_t length = strlen(*word);
        for (const char *at = text; (size_t)(end - at) > length; at++)
            if (memcmp(at, *word, length) == 0 &&
                !isalpha((unsigned char)at[-1]) &&
                !isalpha((unsigned char)at[length]))
                return true;
    }
    return false;
}

/* "#ifndef A_H", "#define A_H" */
static bool is_include_guard(const struct source_notes *notes, unsigned line)
{
    return line < notes->lines && line_has(notes, line + 1, "#define");
}

/* Whether it is compiled where such a condition does not hold:
 *
 *     #ifdef USE_BLAS           #ifndef USE_BLAS
 *         cblas_sgemm(...);         for (...)
 *     #else                     #endif
 *         for (...)
 */
static bool is_fallback(const struct source_notes *notes, unsigned line)
{
    unsigned inner = 0;   /* conditions that end above it */
    bool is_else = false; /* the conditions further up do not hold */

    while (--line > 0) {
        const char *at = notes->text + notes->line[line - 1];
        const char *end = notes->text + notes->line[line];
        skip_any(&at, end, " \t");
        if (!take_word(&at, end, "#"))
            continue;
        skip_any(&at, end, " \t");
        if (take_word(&at, end, "endif")) {
            inner++;
        } else if (take_word(&at, end, "if")) {
            const bool is_not =
                *at == 'n' || memchr(at, '!', (size_t)(end - at)) != NULL;
            if (inner == 0 && is_not != is_else && asks_for_faster(at, end) &&
                !(is_not && is_include_guard(notes, line)))
                return true;
            is_else = inner == 0 ? false : is_else;
            inner -= inner > 0;
        } else if (inner == 0 && take_word(&at, end, "el")) {
            if (is_else && asks_for_faster(at, end))
                return true;
            is_else = true;
        }
    }
    return false;
}

/* "A fallback: ..." in one of the two lines above. */
static bool is_called_fallback(const struct source_notes *notes, unsigned line)
{
    for (unsigned i = 1; i <= 2 && i < line; i++)
        if (line_has(notes, line - i, "allback"))
            return true;
    return false;
}

/* "while i < m" below "while i + 4 <= m" */
static bool follows_steps(const struct source_notes *notes,
                          const struct takt_finding *finding)
{
    const size_t length = strcspn(finding->snippet, "<");
    char head[TAKT_SNIPPET + 2];

    if (strncmp(finding->snippet, "while ", 6) != 0)
        return false;
    snprintf(head, sizeof head, "%.*s+ ", (int)length, finding->snippet);
    const char *const words[] = {head, NULL};
    return stands_above(notes, finding->line, words);
}

/* A loop that begins where another one ended, below intrinsics. */
static bool is_remainder(const struct source_notes *notes,
                         const struct takt_finding *finding)
{
    static const char *const simd_words[] = {
        "_mm_",      "_mm256_", "_mm512_", "__m128", "__m256",    "__m512",
        "vld1",      "vst1",    "vfmaq",   "vmlaq",  "float32x4", "svld1",
        "wasm_v128", "vec_xl",  "_simd(",  "f32x4",  "f32x8",     NULL};
    const char *head = finding->snippet;
    const bool begins_at_zero =
        strstr(head, "= 0") != NULL || strstr(head, "=0") != NULL;
    const bool is_rest =
        is_c(finding)
            ? strncmp(head, "for", 3) == 0 && !begins_at_zero
            : strstr(head, "remainder") != NULL ||
                  strncmp(head, "while", 5) == 0 ||
                  (strstr(head, "..") != NULL && strstr(head, " 0..") == NULL);

    return is_rest && (stands_above(notes, finding->line, simd_words) ||
                       follows_steps(notes, finding));
}

/* ---- functions that do little else ---- */

/* The lines from one on, upwards or downwards, that its function has there: a
 * brace that does not end above, or begin below, is that of the function if the
 * loop stands in no other one. At most `most`. */
static unsigned lines_of_function(const struct source_notes *notes,
                                  unsigned line, int step, unsigned most)
{
    const char opens = step > 0 ? '{' : '}', closes = step > 0 ? '}' : '{';
    unsigned count = 0, depth = 0;

    for (; count < most && line > 0 && line <= notes->lines; count++) {
        const char *at = notes->text + notes->line[line - 1];
        for (; at < notes->text + notes->line[line]; at++) {
            if (*at == closes && depth == 0)
                return count;
            depth += *at == opens;
            depth -= *at == closes;
        }
        line = step > 0 ? line + 1 : line - 1;
    }
    return most;
}

static bool is_kernel(const struct source_notes *notes,
                      const struct takt_finding *finding)
{
    enum { above = 6, below = 9 };
    const unsigned line = finding->line;

    if (finding->language == TAKT_SCAN_PYTHON) {
        for (unsigned i = 1; i < above && i < line; i++)
            if (line_has(notes, line - i, "def "))
                return true;
        return false;
    }
    return lines_of_function(notes, line - 1, -1, above) < above &&
           lines_of_function(notes, line, 1, below) < below;
}

void mark_by_text(struct source_notes *notes, struct findings *findings,
                  struct kept_finding *kept)
{
    const struct takt_finding *finding = &kept->finding;

    if (notes->path == NULL || strcmp(notes->path, finding->path) != 0)
        open_file(notes, finding);
    if (notes->lines == 0 || finding->line > notes->lines)
        return;
    kept->is_kernel = is_kernel(notes, finding);
    kept->is_beside_simd = notes->has_simd;
    for (size_t i = 0; i < notes->ignored_count; i++) {
        const struct ignored_lines *one = &notes->ignored[i];
        if (finding->line < one->from || finding->line > one->to)
            continue;
        kept->standing = STANDING_IGNORED;
        kept->reason = takt__region_copy(&findings->region, one->reason,
                                         strlen(one->reason));
        return;
    }
    if (is_device_code(notes, finding))
        kept->standing = STANDING_DEVICE;
    else if (is_remainder(notes, finding))
        kept->standing = STANDING_REMAINDER;
    else if (is_c(finding) && (is_fallback(notes, finding->line) ||
                               is_called_fallback(notes, finding->line)))
        kept->standing = STANDING_FALLBACK;
    else if (is_jitted(notes, finding))
        kept->standing = STANDING_LIBRARY;
}

void free_notes(struct source_notes *notes)
{
    close_file(notes);
    free(notes->ignored);
    notes->ignored = NULL;
    notes->ignored_room = 0;
}
