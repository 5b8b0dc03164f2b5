/* SPDX-License-Identifier: MIT */
/*
 * finder.c - parse, match, judge, describe: one text at a time.
 *
 * Nothing here relies on the text. Parsing and matching end at a deadline; what
 * is nested deeper than people write is not looked into, because a node finds
 * its parents from the root, step by step; and there are not more findings than
 * somebody could want.
 */
#include "finder.h"

#include "base/clock.h"
#include "candidate.h"
#include "memory.h"
#include "place.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum {
    SECONDS = 5,         /* for a file, and ... */
    SECONDS_PER_MIB = 2, /* ... for its size */
    DEEPEST = 1000,      /* nodes within nodes */
    MOST_FINDINGS = 10000,
    MOST_OPEN_MATCHES = 16384,
    MOST_RANGES = 1024
};

takt_status takt__finder_open(struct takt_scan_finder *finder)
{
    *finder = (struct takt_scan_finder){.parser = ts_parser_new(),
                                        .cursor = ts_query_cursor_new()};
    if (finder->parser == NULL || finder->cursor == NULL) {
        takt__finder_close(finder);
        return TAKT_ENOMEM;
    }
    ts_query_cursor_set_match_limit(finder->cursor, MOST_OPEN_MATCHES);
    ts_query_cursor_set_max_start_depth(finder->cursor, DEEPEST);
    return TAKT_OK;
}

void takt__finder_close(struct takt_scan_finder *finder)
{
    if (finder->parser != NULL)
        ts_parser_delete(finder->parser);
    if (finder->cursor != NULL)
        ts_query_cursor_delete(finder->cursor);
    free(finder->candidate);
    *finder = (struct takt_scan_finder){0};
}

static bool is_late(const struct takt_scan_finder *finder)
{
    return takt__now_ns() > finder->deadline;
}

static bool parsing_is_late(TSParseState *state)
{
    return is_late(state->payload);
}

static bool matching_is_late(TSQueryCursorState *state)
{
    return is_late(state->payload);
}

static const char *read_text(void *payload, uint32_t at, TSPoint position,
                             uint32_t *size)
{
    const struct takt_source *source = payload;
    const char *end = source->text + source->size;
    const char *from = at < source->size ? source->text + at : end;
    const char *lambda =
        source->language->lambda == NULL
            ? NULL
            : source->language->lambda(source->text, from, end);

    (void)position;
    *size = (uint32_t)((lambda != NULL ? lambda : end) - from);
    if (lambda != from)
        return from;
    *size = 2;
    return "[]";
}

static TSTree *parse(struct takt_scan_finder *finder,
                     struct takt_source *source, size_t from, size_t to)
{
    TSInput input = {source, read_text, TSInputEncodingUTF8, NULL};
    TSParseOptions options = {finder, parsing_is_late};
    const TSRange part = {.end_point = {UINT32_MAX, UINT32_MAX},
                          .start_byte = (uint32_t)from,
                          .end_byte = (uint32_t)to};
    const struct takt_language *language = source->language;
    TSRange range[MOST_RANGES];
    size_t count = language->ranges != NULL
                       ? language->ranges(source->text + from, to - from, range,
                                          MOST_RANGES)
                       : 0;
    for (size_t i = 0; i < count; i++) {
        range[i].start_byte += (uint32_t)from;
        range[i].end_byte += (uint32_t)from;
    }

    if (count == 0 && (from != 0 || to != source->size)) {
        range[0] = part;
        count = 1;
    }
    ts_parser_reset(finder->parser);
    if (!ts_parser_set_language(finder->parser, language->grammar()) ||
        !ts_parser_set_included_ranges(
            finder->parser, count == 0 ? NULL : range, (uint32_t)count))
        return NULL;
    return ts_parser_parse_with_options(finder->parser, NULL, input, options);
}

/* Of whichever of the patterns that are alike. */
static bool make_match(const struct takt_patterns *patterns,
                       const struct takt_source *source,
                       const TSQueryMatch *from,
                       struct takt_scan_candidate *candidate)
{
    struct takt_match *match = &candidate->match;
    bool has_place = false;
    uint32_t size;

    match->source = source;
    match->count = 0;
    for (unsigned i = 0; i < from->capture_count; i++) {
        const TSQueryCapture *capture = &from->captures[i];
        const bool is_place = capture->index == patterns->finding && !has_place;
        if (is_place) {
            candidate->start = ts_node_start_byte(capture->node);
            candidate->end = ts_node_end_byte(capture->node);
            has_place = true;
        }
        if (match->count == TAKT_MATCH_CAPTURES) {
            if (!is_place)
                continue;
            match->count--; /* that one is needed */
        }
        match->capture[match->count].name = ts_query_capture_name_for_id(
            patterns->query, capture->index, &size);
        match->capture[match->count++].node = capture->node;
    }
    return has_place;
}

/* Where it is, and what the language has to say; false: it is no finding. */
static bool describe(struct takt_scan_candidate *candidate)
{
    const struct takt_match *match = &candidate->match;
    const struct takt_source *source = match->source;

    candidate->is_dropped = false;
    candidate->finding = (struct takt_finding){
        .path = source->path,
        .language = source->language->id,
        .pattern = match->of->full_name,
        .op = match->of->op,
        .function = "",
    };
    source->language->describe(match, &candidate->finding);
    if (candidate->finding.op == NULL)
        return false;
    const struct takt_text function = {candidate->finding.function,
                                       strlen(candidate->finding.function)};
    candidate->finding.function = takt__source_keep(source, &function, 1);
    candidate->match.op = candidate->finding.op->name;
    if (candidate->finding.name == NULL)
        candidate->finding.name = takt__match_setting(match, "name");
    if (candidate->finding.name == NULL)
        candidate->finding.name = candidate->finding.op->name;
    return true;
}

/* Adds those of the patterns that are alike whose predicates hold. */
static void judge(struct takt_scan_finder *finder,
                  const struct takt_patterns *patterns,
                  const struct takt_pattern *pattern,
                  struct takt_scan_candidate *candidate)
{
    struct takt_match *match = &candidate->match;

    for (; pattern != NULL; pattern = pattern->next_alike) {
        match->pattern = pattern->name;
        match->op = pattern->op_name;
        match->of = pattern;
        if (!takt__match_holds(match))
            continue;
        candidate->pattern = (uint32_t)(pattern - patterns->pattern);
        takt__scan_grow(&finder->candidate, &finder->room, finder->count + 1,
                        sizeof *candidate);
        finder->candidate[finder->count] = *candidate;
        finder->count += describe(&finder->candidate[finder->count]);
    }
}

static void gather(struct takt_scan_finder *finder,
                   const struct takt_patterns *patterns,
                   const struct takt_source *source, struct takt_found *out)
{
    const TSQueryCursorOptions options = {finder, matching_is_late};
    struct takt_scan_candidate candidate = {0};
    TSQueryMatch found;

    ts_query_cursor_exec_with_options(finder->cursor, patterns->query,
                                      ts_tree_root_node(source->tree),
                                      &options);
    finder->count = 0;
    while (ts_query_cursor_next_match(finder->cursor, &found)) {
        if (make_match(patterns, source, &found, &candidate))
            judge(finder, patterns, &patterns->pattern[found.pattern_index],
                  &candidate);
        if (finder->count > MOST_FINDINGS || is_late(finder)) {
            out->is_given_up = true;
            break;
        }
    }
    out->is_given_up |= is_late(finder); /* that ends the matches, too */
    out->is_partly |= ts_query_cursor_did_exceed_match_limit(finder->cursor);
}

/* ---- loops around ---- */

static size_t name_length(const char *at, const char *end)
{
    size_t length = 0;

    while (at + length < end &&
           (isalnum((unsigned char)at[length]) || at[length] == '_'))
        length++;
    return length;
}

static bool has_name(const char *at, const char *end, struct takt_text name)
{
    for (size_t length; at<end; at += length> 0 ? length : 1) {
        length = name_length(at, end);
        if (length == name.size && memcmp(at, name.at, length) == 0)
            return true;
    }
    return false;
}

/* Whether it goes over elements: one that only repeats, "for (;;)" or
 * "while (!done(x))", does not. The first name behind `while` has to stand in
 * its body, too. */
static bool is_over_elements(const char *head, const char *body,
                             const char *end)
{
    const struct takt_text word = {head, name_length(head, body)};
    const char *at = head + word.size;

    while (at < body && !isalpha((unsigned char)*at) && *at != ';')
        at++;
    const struct takt_text name = {at, name_length(at, body)};
    return name.size > 0 &&
           (takt__text_is(word, "for") || has_name(body, end, name));
}

/* From the root down, because a node finds its parents so anyway. */
static unsigned count_loops(const struct takt_source *source, uint32_t start,
                            uint32_t end)
{
    static const char loops[] =
        "for_statement while_statement do_statement for_range_loop "
        "for_expression while_expression loop_expression";
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(source->tree));
    unsigned count = 0;

    while (ts_tree_cursor_goto_first_child_for_byte(&cursor, start) >= 0) {
        const TSNode node = ts_tree_cursor_current_node(&cursor);
        if (ts_node_start_byte(node) >= start || ts_node_end_byte(node) < end)
            break;
        if (takt__node_in(node, "function_definition function_item"))
            count = 0;
        if (!takt__node_in(node, loops))
            continue;
        const TSNode body = ts_node_child_by_field_name(node, "body", 4);
        count += !ts_node_is_null(body) &&
                 is_over_elements(source->text + ts_node_start_byte(node),
                                  source->text + ts_node_start_byte(body),
                                  source->text + end);
    }
    ts_tree_cursor_delete(&cursor);
    return count;
}

static void place(struct takt_scan_candidate *candidate, TSNode node,
                  struct takt_ruler *ruler)
{
    struct takt_finding *finding = &candidate->finding;
    const TSPoint start = ts_node_start_point(node);
    const TSPoint end = ts_node_end_point(node);

    finding->line = start.row + 1;
    finding->column = takt__ruler_column(ruler, candidate->start - start.column,
                                         candidate->start);
    finding->end_line = end.row + 1;
    struct takt_ruler ahead = *ruler; /* the next one starts before */
    finding->end_column =
        takt__ruler_column(&ahead, candidate->end - end.column, candidate->end);
    finding->loops_around =
        count_loops(candidate->match.source, candidate->start, candidate->end);
    takt__snippet(takt__node_text(candidate->match.source, node),
                  finding->snippet);
}

static takt_status keep(const struct takt_scan_finder *finder,
                        const struct takt_source *source,
                        struct takt_found *out)
{
    struct takt_ruler ruler = {.text = source->text, .size = source->size};

    out->finding =
        takt__region_take(&out->region, finder->count * sizeof *out->finding);
    if (out->finding == NULL)
        return TAKT_ENOMEM;
    for (size_t i = 0; i < finder->count; i++) {
        struct takt_scan_candidate *candidate = &finder->candidate[i];
        if (candidate->is_dropped)
            continue;
        place(candidate, takt__match_node(&candidate->match, "finding"),
              &ruler);
        out->finding[out->count++] = candidate->finding;
        out->test_count += candidate->finding.is_test;
        if (is_late(finder)) { /* very long lines */
            out->is_given_up = true;
            break;
        }
    }
    return TAKT_OK;
}

/* Of a text that was parsed. */
static takt_status find_in_tree(struct takt_scan_finder *finder,
                                const struct takt_patterns *patterns,
                                struct takt_source *source,
                                struct takt_found *out)
{
    const struct takt_language *language = source->language;
    takt_status status = TAKT_OK;

    if (language->begin != NULL)
        language->begin(source);
    gather(finder, patterns, source, out);
    if (!out->is_given_up) {
        takt__candidates_settle(language, finder->candidate, finder->count);
        status = keep(finder, source, out);
    }
    if (language->end != NULL)
        language->end(source);
    return status;
}

takt_status takt__find(struct takt_scan_finder *finder,
                       const struct takt_patterns *patterns, const char *path,
                       const char *text, size_t size, struct takt_found *out)
{
    return takt__find_among(finder, patterns, path, text, size, size, out);
}

takt_status takt__find_among(struct takt_scan_finder *finder,
                             const struct takt_patterns *patterns,
                             const char *path, const char *text,
                             size_t own_size, size_t size,
                             struct takt_found *out)
{
    struct takt_source source = {.path = path,
                                 .text = text,
                                 .size = size,
                                 .language = patterns->language};
    takt_status status = TAKT_OK;

    *out = (struct takt_found){0};
    source.region = &out->region;
    finder->deadline =
        takt__now_ns() +
        1000000000u * (SECONDS + SECONDS_PER_MIB * ((uint64_t)size >> 20));
    if (size < UINT32_MAX)
        source.tree = parse(finder, &source, 0, own_size);
    if (source.tree == NULL) {
        out->is_given_up = true;
        return TAKT_OK;
    }
    out->is_partly = ts_node_has_error(ts_tree_root_node(source.tree));
    if (own_size < size) /* apart: what is open in the file stays open */
        source.borrowed = parse(finder, &source, own_size, size);
    status = find_in_tree(finder, patterns, &source, out);
    ts_tree_delete(source.tree);
    if (source.borrowed != NULL)
        ts_tree_delete(source.borrowed);
    if (status != TAKT_OK || out->is_given_up) {
        const bool is_given_up = out->is_given_up;
        takt__found_clear(out);
        out->is_given_up = is_given_up;
    }
    return status;
}

void takt__found_clear(struct takt_found *found)
{
    takt__region_free(&found->region);
    *found = (struct takt_found){0};
}
