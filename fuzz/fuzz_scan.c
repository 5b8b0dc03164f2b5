/* SPDX-License-Identifier: MIT */
/*
 * fuzz_scan.c - any bytes, looked through as source code of each language, or
 * read as rules of a .gitignore file.
 *
 * The first byte chooses. What is found must be in the text, in its order, with
 * an op of the catalogue, and its strings must be fit to print.
 */
#include "fuzz.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "finder.h"
#include "ignore.h"
#include "languages.h"
#include "place.h"
#include "project.h"
#include "text/utf8.h"

static struct takt_patterns patterns[TAKT_SCAN_LANGUAGES];
static struct takt_scan_finder finder;

static void demand(bool condition)
{
    if (!condition)
        abort();
}

static void open_once(void)
{
    static bool is_open;

    if (is_open)
        return;
    demand(takt__finder_open(&finder) == TAKT_OK);
    for (int i = 0; i < TAKT_SCAN_LANGUAGES; i++)
        demand(takt__patterns_open(takt__language((enum takt_scan_language)i),
                                   &patterns[i], NULL) == TAKT_OK);
    is_open = true;
}

static void check(const struct takt_finding *finding,
                  const struct takt_finding *before, unsigned lines)
{
    demand(finding->op != NULL && takt_op_find(finding->op->name) != NULL);
    demand(finding->line >= 1 && finding->column >= 1);
    demand(finding->end_line >= finding->line && finding->end_line <= lines);
    demand(finding->end_line > finding->line ||
           finding->end_column >= finding->column);
    demand(finding->size.shape.rank <= TAKT_SHAPE_MAX_RANK);
    demand(finding->function != NULL && finding->pattern != NULL);
    demand(takt__is_utf8(finding->snippet, strlen(finding->snippet)));
    demand(
        before == NULL || before->line < finding->line ||
        (before->line == finding->line && before->column <= finding->column));
}

/* The text as what declares, and as what names what it declares. */
static void outline(enum takt_scan_language id, const char *text, size_t size)
{
    const struct takt_language *language = takt__language(id);
    static char out[4096];

    if (language->outline == NULL)
        return;
    struct takt_project *project = takt__project_open();
    demand(project != NULL);
    takt__project_add(project, language, "a/src/b.h", text, size);
    takt__project_finish(project);
    demand(takt__project_declarations(project, language, "a/src/c.c", text,
                                      size, out, sizeof out) <= sizeof out);
    takt__project_close(project);
}

static void find(enum takt_scan_language id, const char *text, size_t size)
{
    struct takt_found found;
    unsigned lines = 1;

    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    demand(takt__find(&finder, &patterns[id], "a/test_b", text, size, &found) ==
           TAKT_OK);
    for (size_t i = 0; i < found.count; i++)
        check(&found.finding[i], i > 0 ? &found.finding[i - 1] : NULL, lines);
    takt__found_clear(&found);
}

/* The rules up to a zero byte, then a path. */
static void ignore(const char *text, size_t size)
{
    const char *zero = memchr(text, 0, size);
    const size_t rules = zero != NULL ? (size_t)(zero - text) : size;
    const size_t skip = rules + (zero != NULL);
    struct takt_ignore read;

    if (!takt__ignore_read(&read, text, rules))
        return;
    takt__ignore_verdict(&read, (struct takt_span){text + skip, size - skip},
                         size % 2 == 0);
    takt__ignore_clear(&read);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    if (size < 2)
        return 0;
    open_once();
    const unsigned which = bytes[0] % (TAKT_SCAN_LANGUAGES + 1);
    char *text = malloc(--size); /* so that what is beyond its end is known */

    if (text == NULL)
        return 0;
    memcpy(text, bytes + 1, size);
    if (which < TAKT_SCAN_LANGUAGES) {
        find((enum takt_scan_language)which, text, size);
        outline((enum takt_scan_language)which, text, size);
    } else
        ignore(text, size);
    free(text);
    return 0;
}
