/* SPDX-License-Identifier: MIT */
/*
 * finding_baseline.c - findings that are known, in a file (docs/formats/
 * baseline.md): a digest of each, which stays the same when lines are added
 * above it, and for people what it is and where.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/new_file.h"
#include "findings.h"
#include "project/read_file.h"
#include "text/memory_file.h"

enum { most_baseline = 64 << 20 };

static const char first_line[] = "# takt baseline 1";

void fingerprint(const struct takt_finding *finding, char hex[TAKT_SHA256_HEX])
{
    const char *const parts[] = {finding->path, finding->pattern,
                                 finding->function, finding->snippet};
    struct takt_sha256 hash;

    takt__sha256_init(&hash);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i] != NULL)
            takt__sha256_add(&hash, parts[i], strlen(parts[i]) + 1);
    takt__sha256_finish_hex(&hash, hex);
}

/* ---- reading ---- */

struct known_digests {
    char (*digest)[TAKT_SHA256_HEX];
    bool *is_used;
    size_t count;
};

static int compare(const void *left, const void *right)
{
    return strcmp(left, right);
}

static bool is_digest(const char *line)
{
    return strspn(line, "0123456789abcdef") == TAKT_SHA256_HEX - 1 &&
           (line[TAKT_SHA256_HEX - 1] == ' ' ||
            line[TAKT_SHA256_HEX - 1] == '\0');
}

/* Takes the lines of a file; 0, or the number of the line that is wrong. */
static size_t read_digests(char *text, struct known_digests *known)
{
    size_t number = 1;
    char *line = strchr(text, '\n');

    if (strncmp(text, first_line, sizeof first_line - 1) != 0 ||
        strchr("\r\n", text[sizeof first_line - 1]) == NULL)
        return 1;
    while (line != NULL && line[1] != '\0') {
        char *end = strchr(++line, '\n');
        number++;
        if (end != NULL)
            *end = '\0';
        if (line[0] != '\0' && line[0] != '#') {
            if (!is_digest(line))
                return number;
            memcpy(known->digest[known->count], line, TAKT_SHA256_HEX - 1);
            known->digest[known->count++][TAKT_SHA256_HEX - 1] = '\0';
        }
        line = end;
    }
    return 0;
}

static bool load(const char *path, struct known_digests *known, char *error,
                 size_t size)
{
    takt_diag diag = {""};
    char *text = NULL;
    size_t length, lines = 1;
    const takt_status status =
        takt__read_file(path, most_baseline, &text, &length, &diag);

    if (status != TAKT_OK) {
        snprintf(error, size, "%.300s: %.200s", path,
                 status == TAKT_ENOENT
                     ? "does not exist; --write-baseline makes it"
                 : diag.text[0] != '\0' ? diag.text
                                        : takt_status_text(status));
        return false;
    }
    for (size_t i = 0; i < length; i++)
        lines += text[i] == '\n';
    known->digest = malloc(lines * sizeof *known->digest);
    known->is_used = calloc(lines, sizeof *known->is_used);
    const size_t wrong = known->digest == NULL || known->is_used == NULL
                             ? SIZE_MAX
                             : read_digests(text, known);
    free(text);
    if (wrong == SIZE_MAX)
        snprintf(error, size, "no memory");
    else if (wrong == 1)
        snprintf(error, size,
                 "%.300s: is no baseline of takt's, or one of a "
                 "later version",
                 path);
    else if (wrong > 0)
        snprintf(error, size, "%.300s:%zu: is no digest", path, wrong);
    return wrong == 0;
}

/* Each line stands for one finding: a second one like it is new. */
static void mark(const struct known_digests *known, struct kept_finding *kept)
{
    char digest[TAKT_SHA256_HEX];
    size_t low = 0, high = known->count;

    fingerprint(&kept->finding, digest);
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (strcmp(known->digest[middle], digest) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < known->count && strcmp(known->digest[low], digest) == 0 &&
           known->is_used[low])
        low++;
    if (low == known->count || strcmp(known->digest[low], digest) != 0)
        return;
    known->is_used[low] = true;
    if (kept->standing != STANDING_IGNORED)
        kept->standing = STANDING_KNOWN;
}

bool mark_by_baseline(struct findings *findings, const char *path, char *error,
                      size_t size)
{
    struct known_digests known = {0};
    const bool is_read = load(path, &known, error, size);

    if (is_read && known.count > 0)
        qsort(known.digest, known.count, sizeof *known.digest, compare);
    for (size_t i = 0; is_read && i < findings->count; i++)
        mark(&known, &findings->at[i]);
    free(known.digest);
    free(known.is_used);
    return is_read;
}

/* ---- writing ---- */

static void print_known(FILE *out, const struct takt_finding *finding)
{
    char digest[TAKT_SHA256_HEX], path[longest_path], function[256];

    fingerprint(finding, digest);
    fprintf(out, "%s %s %s %s\n", digest, finding->name,
            clean_text(finding->path, path, sizeof path),
            clean_text(finding->function, function, sizeof function));
}

bool write_baseline(const struct findings *findings, const char *path,
                    char *error, size_t size)
{
    struct takt_new_file file;
    takt_diag diag = {""};
    struct takt_memory_file out;
    bool is_whole = takt__memory_file_open(&out);

    if (is_whole) {
        fprintf(out.stream,
                "%s\n# findings that are known: 'takt optimize "
                "--baseline FILE' tells of others\n",
                first_line);
        for (size_t i = 0; i < findings->count; i++)
            if (findings->at[i].standing != STANDING_IGNORED)
                print_known(out.stream, &findings->at[i].finding);
        is_whole = takt__memory_file_close(&out);
    }
    if (!is_whole) {
        snprintf(error, size, "no memory");
        return false;
    }
    /* It is kept in the repository, which may be somebody else's. */
    takt_status status =
        takt__new_file_open(path, TAKT_NEW_FILE_NO_LINKS, &file, &diag);
    if (status == TAKT_OK) {
        status = takt__new_file_write(&file, out.text, out.length, &diag);
        if (status == TAKT_OK)
            status = takt__new_file_commit(&file, &diag);
        takt__new_file_drop(&file);
    }
    free(out.text);
    if (status != TAKT_OK)
        snprintf(error, size, "%s",
                 diag.text[0] != '\0' ? diag.text : takt_status_text(status));
    return status == TAKT_OK;
}
