/* SPDX-License-Identifier: MIT */
/*
 * scan_tool.c - for those who write patterns: what is found in a file, how well
 * a labelled folder is understood, and what the parser makes of a text.
 *
 * usage: scan_tool FILE...                 what is found
 *        scan_tool --corpus FOLDER...      how well that is understood
 *        scan_tool --examples              whether those of the queries hold
 *        scan_tool --scan PATH...          the whole scan, with its report
 *        scan_tool --tree FILE...          the syntax tree
 *        scan_tool --language KEY ...      whatever the file's name says
 */
#include "corpus.h"
#include "examples.h"
#include "languages.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct tool {
    struct takt_scan_finder finder;
    struct takt_patterns patterns[TAKT_SCAN_LANGUAGES];
    const struct takt_language *language; /* NULL: by name */
    unsigned threads; /* of a scan; 0: as many as there are */
    bool has_failed;
};

static const struct takt_patterns *patterns_of(struct tool *tool,
                                               enum takt_scan_language id)
{
    struct takt_patterns *patterns = &tool->patterns[id];
    takt_diag diag = {""};

    if (takt__language(id) == NULL)
        return NULL;
    if (patterns->query == NULL &&
        takt__patterns_open(takt__language(id), patterns, &diag) != TAKT_OK) {
        fprintf(stderr, "%s\n", diag.text);
        tool->has_failed = true;
        return NULL;
    }
    return patterns;
}

static void show_finding(const struct takt_finding *finding)
{
    const takt_shape *shape = &finding->size.shape;

    printf("%s:%u:%u: %s %s", finding->path, finding->line, finding->column,
           finding->name, finding->pattern);
    for (unsigned i = 0; i < shape->rank; i++)
        printf("%s%zu", i == 0 ? " " : "x", shape->dim[i]);
    if (shape->rank > 0)
        printf(" (%s)", takt__size_source_name(finding->size.source));
    if (finding->is_dtype_known)
        printf(" %s", takt_dtype_name(finding->dtype));
    if (finding->certainty != TAKT_EXACT)
        printf(" [%s]", takt__certainty_name(finding->certainty));
    if (finding->is_test)
        printf(" test");
    if (finding->function[0] != 0)
        printf(" in %s", finding->function);
    printf(": %s\n", finding->snippet);
}

static void show_findings(struct tool *tool, const char *path)
{
    const struct takt_language *language =
        tool->language != NULL ? tool->language : takt__language_of(path);
    const struct takt_patterns *patterns =
        language != NULL ? patterns_of(tool, language->id) : NULL;
    struct takt_found found;
    size_t size = 0;
    char *text = corpus_read(path, &size);

    if (text == NULL || patterns == NULL) {
        fprintf(stderr, "%s: cannot be read, or is of no language\n", path);
        tool->has_failed = true;
    } else if (takt__find(&tool->finder, patterns, path, text, size, &found) ==
               TAKT_OK) {
        for (size_t i = 0; i < found.count; i++)
            show_finding(&found.finding[i]);
        if (found.is_partly || found.is_given_up)
            fprintf(stderr, "%s: %s\n", path,
                    found.is_given_up ? "given up" : "partly understood");
        takt__found_clear(&found);
    }
    free(text);
}

static void show_corpus(struct tool *tool, const char *folder)
{
    for (int id = 0; id < TAKT_SCAN_LANGUAGES; id++) {
        const struct takt_patterns *patterns =
            patterns_of(tool, (enum takt_scan_language)id);
        struct corpus_score score = {0};

        if (patterns == NULL)
            continue;
        if (!corpus_score_folder(&tool->finder, patterns, folder, &score,
                                 stdout))
            tool->has_failed = true;
        if (score.files == 0)
            continue;
        printf("%s: precision %.3f, recall %.3f (%u positives, %u found, %u "
               "wrong, %u negatives, %u with other details, %u files, %u of "
               "them parsed partly)\n",
               takt__scan_language_name((enum takt_scan_language)id),
               corpus_precision(&score), corpus_recall(&score), score.positives,
               score.found, score.wrong, score.negatives, score.differ,
               score.files, score.partly);
    }
}

static void show_examples(struct tool *tool)
{
    for (int id = 0; id < TAKT_SCAN_LANGUAGES; id++) {
        const struct takt_patterns *patterns =
            patterns_of(tool, (enum takt_scan_language)id);

        if (patterns == NULL)
            continue;
        const struct examples_score score =
            examples_check(&tool->finder, patterns, stdout);
        printf("%s: %u examples to be found and %u not to be, %u of them "
               "wrong; %u patterns, %u without an example\n",
               takt__scan_language_name((enum takt_scan_language)id),
               score.positives, score.negatives, score.wrong, score.patterns,
               score.without);
        tool->has_failed |= score.wrong > 0;
    }
}

static int visit_finding(void *self, const struct takt_finding *finding)
{
    (void)self;
    show_finding(finding);
    return 0;
}

static void show_warning(void *self, const char *path, const char *why)
{
    (void)self;
    fprintf(stderr, "%s %s\n", path, why);
}

static void show_counts(const struct takt_scan_report *report)
{
    for (int id = 0; id < TAKT_SCAN_LANGUAGES; id++) {
        const struct takt_scan_counts *counts = &report->of[id];
        if (counts->files > 0)
            fprintf(stderr,
                    "%s: %" PRIu64 " files, %" PRIu64 " bytes, %" PRIu64
                    " lines, %" PRIu64 " parsed, %" PRIu64 " of these partly, "
                    "%" PRIu64 " findings, %" PRIu64 " of these in tests\n",
                    takt__scan_language_name((enum takt_scan_language)id),
                    counts->files, counts->bytes, counts->lines, counts->parsed,
                    counts->partly, counts->findings, counts->test_findings);
    }
    fprintf(stderr,
            "others %" PRIu64 ", ignored %" PRIu64 ", unreadable %" PRIu64
            ", binary %" PRIu64 ", too large %" PRIu64 ", not UTF-8 %" PRIu64
            ", given up %" PRIu64 ", links %" PRIu64 "; %.3f s\n",
            report->others, report->ignored, report->unreadable, report->binary,
            report->too_large, report->not_utf8, report->gave_up,
            report->linked, report->seconds);
}

static void show_scan(struct tool *tool, const char *path)
{
    const struct takt_scan_options options = {
        .path = &path,
        .path_count = 1,
        .threads = tool->threads,
        .warn = show_warning,
        .visit = visit_finding,
        .languages = tool->language != NULL ? 1u << tool->language->id : 0,
    };
    struct takt_scan_report report;
    takt_diag diag;

    if (takt__scan(&options, &report, &diag) != TAKT_OK) {
        fprintf(stderr, "%s\n", diag.text);
        tool->has_failed = true;
    }
    show_counts(&report);
}

static void show_tree(struct tool *tool, const char *path)
{
    const struct takt_language *language =
        tool->language != NULL ? tool->language : takt__language_of(path);
    size_t size = 0;
    char *text = corpus_read(path, &size);

    if (text == NULL || language == NULL)
        exit(1);
    ts_parser_set_language(tool->finder.parser, language->grammar());
    TSTree *tree =
        ts_parser_parse_string(tool->finder.parser, NULL, text, (uint32_t)size);
    TSTreeCursor at = ts_tree_cursor_new(ts_tree_root_node(tree));
    for (bool more = true; more;) {
        const TSNode node = ts_tree_cursor_current_node(&at);
        const char *field = ts_tree_cursor_current_field_name(&at);
        const uint32_t start = ts_node_start_byte(node);
        const uint32_t length = ts_node_end_byte(node) - start;
        printf("%*s%s%s%s  %.*s\n",
               (int)(2 * ts_tree_cursor_current_depth(&at)), "",
               field != NULL ? field : "", field != NULL ? ": " : "",
               ts_node_type(node),
               (int)strcspn(text + start, "\n") < 50 &&
                       strcspn(text + start, "\n") < length
                   ? (int)strcspn(text + start, "\n")
                   : (int)(length < 50 ? length : 50),
               text + start);
        more = ts_tree_cursor_goto_first_child(&at);
        while (!more && !(more = ts_tree_cursor_goto_next_sibling(&at)))
            if (!ts_tree_cursor_goto_parent(&at))
                break;
    }
    ts_tree_cursor_delete(&at);
    ts_tree_delete(tree);
    free(text);
}

static const struct takt_language *language_called(const char *key)
{
    for (int id = 0; id < TAKT_SCAN_LANGUAGES; id++)
        if (strcmp(takt__language_key((enum takt_scan_language)id), key) == 0)
            return takt__language((enum takt_scan_language)id);
    return NULL;
}

int main(int count, char **argument)
{
    void (*show)(struct tool *, const char *) = show_findings;
    struct tool tool = {0};

    if (takt__finder_open(&tool.finder) != TAKT_OK)
        return 1;
    for (int i = 1; i < count; i++) {
        const char *word = argument[i];
        if (strcmp(word, "--corpus") == 0)
            show = show_corpus;
        else if (strcmp(word, "--examples") == 0)
            show_examples(&tool);
        else if (strcmp(word, "--scan") == 0)
            show = show_scan;
        else if (strcmp(word, "--tree") == 0)
            show = show_tree;
        else if (strcmp(word, "--language") == 0 && i + 1 < count)
            tool.language = language_called(argument[++i]);
        else if (strcmp(word, "--threads") == 0 && i + 1 < count)
            tool.threads = (unsigned)strtoul(argument[++i], NULL, 10);
        else
            show(&tool, word);
    }
    for (int id = 0; id < TAKT_SCAN_LANGUAGES; id++)
        if (tool.patterns[id].query != NULL)
            takt__patterns_close(&tool.patterns[id]);
    takt__finder_close(&tool.finder);
    return tool.has_failed;
}
