/* SPDX-License-Identifier: MIT */
/*
 * test_find.c - queries, predicates and places, with a language that exists
 * for this test only: Python's grammar and a few patterns.
 */
#include "support/tap.h"

#include "finder.h"

const TSLanguage *tree_sitter_python(void);

static const char *const extensions[] = {".py", NULL};
static int begun, ended;

static void begin(struct takt_source *source)
{
    begun++;
    source->notes = malloc(1);
    REQUIRE(source->notes != NULL);
}

static void end(struct takt_source *source)
{
    ended++;
    free(source->notes);
}

/* #lasts? @capture "word": the text ends with it. */
static bool lasts(const struct takt_match *match,
                  const struct takt_scan_operand *operand, unsigned count)
{
    REQUIRE(count == 2 && operand[0].is_node && !operand[1].is_node);
    const struct takt_text text =
        takt__node_text(match->source, operand[0].node);
    const size_t size = strlen(operand[1].word);
    return text.size >= size &&
           memcmp(text.at + text.size - size, operand[1].word, size) == 0;
}

static const struct takt_named_predicate predicates[] = {{"lasts", lasts},
                                                         {NULL, NULL}};

static void describe(const struct takt_match *match, struct takt_finding *out)
{
    TSNode definition = takt__match_node(match, "finding");
    while (!ts_node_is_null(definition) &&
           !takt__node_is(definition, "function_definition"))
        definition = ts_node_parent(definition);
    const struct takt_text part[] = {
        {"module.", 7},
        takt__node_text(match->source, takt__node_field(definition, "name"))};

    out->function = takt__source_keep(match->source, part, 2);
    if (takt__match_setting(match, "test") != NULL)
        out->is_test = true;
    if (match->op[0] == 0) /* the pattern leaves it open */
        out->op = takt_op_find("max");
    if (takt__match_setting(match, "never") != NULL)
        out->op = NULL;
}

/* An outer sum is meant instead of what is in it. */
static int prefer(const struct takt_match *first,
                  const struct takt_match *second)
{
    (void)second;
    return strcmp(first->op, "sum") == 0;
}

#define CALL "((call function: (identifier) @name) @finding "
#define SETS(pattern, op) \
    "(#set! pattern \"" pattern "\") (#set! op \"" op "\")"

/* The findings in a text, as "pattern line:column-line:column; ". */
static const char *found_by(struct takt_language language, const char *text)
{
    static char out[2048];
    struct takt_patterns patterns;
    struct takt_scan_finder finder;
    struct takt_found found;
    takt_diag diag = {""};

    language.id = TAKT_SCAN_PYTHON;
    language.extensions = extensions;
    language.grammar = tree_sitter_python;
    language.predicates = predicates;
    language.describe = describe;
    language.begin = begin;
    language.end = end;
    if (takt__patterns_open(&language, &patterns, &diag) != TAKT_OK) {
        snprintf(out, sizeof out, "%s", diag.text);
        return out;
    }
    REQUIRE(takt__finder_open(&finder) == TAKT_OK);
    REQUIRE(takt__find(&finder, &patterns, "a.py", text, strlen(text),
                       &found) == TAKT_OK);
    out[0] = 0;
    for (size_t i = 0; i < found.count && i < 20; i++) {
        const struct takt_finding *finding = &found.finding[i];
        snprintf(out + strlen(out), sizeof out - strlen(out),
                 "%s %s %u:%u-%u:%u%s%s; ", finding->pattern + 7, finding->name,
                 finding->line, finding->column, finding->end_line,
                 finding->end_column, finding->is_test ? " test " : " ",
                 finding->function);
    }
    if (found.is_given_up)
        strcat(out, "given up");
    takt__found_clear(&found);
    takt__finder_close(&finder);
    takt__patterns_close(&patterns);
    return out;
}

static const char *found_with(const char *query, const char *text)
{
    return found_by((struct takt_language){.query = query}, text);
}

static void predicates_are_evaluated(void)
{
    const char *text = "sum(a)\nmax(a)\nabs(a)\n";

    EXPECT_STR(
        found_with(CALL "(#eq? @name \"sum\") " SETS("a", "sum") ")", text),
        "a sum 1:1-1:7 module.; ");
    EXPECT_STR(
        found_with(CALL "(#not-eq? @name \"sum\") " SETS("a", "sum") ")", text),
        "a sum 2:1-2:7 module.; a sum 3:1-3:7 module.; ");
    EXPECT_STR(found_with(CALL
                          "(#match? @name \"^m.x$\") " SETS("a", "sum") ")",
                          text),
               "a sum 2:1-2:7 module.; ");
    EXPECT_STR(found_with(CALL
                          "(#not-match? @name \"[mx]\") " SETS("a", "sum") ")",
                          text),
               "a sum 3:1-3:7 module.; ");
    EXPECT_STR(found_with(CALL "(#any-of? @name \"abs\" \"sum\") " SETS(
                              "a", "sum") ")",
                          text),
               "a sum 1:1-1:7 module.; a sum 3:1-3:7 module.; ");
    EXPECT_STR(found_with(CALL "(#not-any-of? @name \"abs\" \"sum\") " SETS(
                              "a", "sum") ")",
                          text),
               "a sum 2:1-2:7 module.; ");
    EXPECT_STR(
        found_with(CALL "(#lasts? @name \"s\") " SETS("a", "sum") ")", text),
        "a sum 3:1-3:7 module.; ");
    EXPECT_STR(found_with(CALL
                          "(#not-lasts? @name \"s\") " SETS("a", "sum") ")",
                          "abs(a)"),
               "");
    EXPECT_STR(found_with("((binary_operator left: (identifier) @l right: "
                          "(identifier) @r) @finding (#eq? @l @r) " SETS(
                              "a", "add") ")",
                          "a + b\na + a\n"),
               "a add 2:1-2:6 module.; ");
}

static void a_capture_that_is_absent_is_no_objection(void)
{
    const char *query =
        "((argument_list (string)? @s) @finding (#eq? @s \"'x'\") " SETS(
            "a", "add") ")";

    EXPECT_STR(found_with(query, "f(1)"), "a add 1:2-1:5 module.; ");
    EXPECT_STR(found_with(query, "f('y')"), "");
}

static void settings_reach_the_language(void)
{
    const char *text = "def f():\n    sum(a)\n";

    EXPECT_STR(found_with(CALL "(#set! test \"\") " SETS("a", "sum") ")", text),
               "a sum 2:5-2:11 test module.f; ");
    EXPECT_STR(found_with(CALL "(#set! pattern \"a\"))", text),
               "a max 2:5-2:11 module.f; ");
    EXPECT_STR(
        found_with(CALL "(#set! name \"odd\") " SETS("a", "sum") ")", text),
        "a odd 2:5-2:11 module.f; ");
    EXPECT_STR(found_with(CALL "(#set! never) " SETS("a", "sum") ")", text),
               "");
    EXPECT_INT(begun, ended);
    EXPECT(begun > 0);
}

static void wrong_queries_are_refused(void)
{
    static const char *const row[][2] = {
        {"(call", "patterns/python.scm:1: wrong syntax: "},
        {"\n\n(no_such_node) @finding",
         "patterns/python.scm:3: the grammar has no such node: "
         "no_such_node) @finding"},
        {"(call) @x", "patterns/python.scm:1: nothing is captured as @finding"},
        {"(call) @finding",
         "patterns/python.scm:1: a pattern has no (#set! pattern ..)"},
        {CALL SETS("a", "summ") ")",
         "patterns/python.scm:1: the catalogue has no op summ"},
        {CALL "(#matches? @name \"x\"))",
         "patterns/python.scm:1: there is no predicate #matches?"},
        {CALL "(#match? @name \"(\"))",
         "patterns/python.scm:1: wrong regular expression: ("},
        {CALL "(#eq? @name))",
         "patterns/python.scm:1: #eq? takes a capture and more"},
    };

    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        EXPECT_STR(found_with(row[i][0], "sum(a)"), row[i][1]);
}

static void one_place_is_told_once(void)
{
    const char *twice =
        CALL SETS("first", "sum") ")" CALL SETS("second", "max") ")";
    const char *many =
        "((call arguments: (argument_list (_) @x)) @finding " SETS("a",
                                                                   "sum") ")";

    EXPECT_STR(found_with(twice, "f(a)"), "first sum 1:1-1:5 module.; ");
    EXPECT_STR(found_with(many, "f(a, b, c)"), "a sum 1:1-1:11 module.; ");
    EXPECT_STR(found_with(twice, "f(g(a))"),
               "first sum 1:1-1:8 module.; first sum 1:3-1:7 module.; ");
    EXPECT_STR(
        found_by((struct takt_language){.query = twice, .prefer = prefer},
                 "f(g(a)); h(b)"),
        "first sum 1:1-1:8 module.; first sum 1:10-1:14 module.; ");
}

static void patterns_that_are_alike_are_judged_one_by_one(void)
{
    static const char query[] =
        "((call function: (_) @name) @finding\n"
        " (#eq? @name \"f\") (#set! pattern \"a\") (#set! op \"sum\"))\n"
        "((call function: (_) @name) @finding ; as (#eq? @name \"f\")\n"
        "  (#eq? @name \"g\") (#set! pattern \"b\") (#set! op \"max\"))\n"
        "((call function: (_) @other) @finding\n"
        " (#eq? @other \"h\") (#set! pattern \"c\") (#set! op \"min\"))\n"
        "((call (#match? @name \"[)(;\\\"]|k\") function: (_) @name) @finding\n"
        " (#set! pattern \"d\") (#set! op \"dot\"))\n";

    EXPECT_STR(found_with(query, "f(a)\ng(a)\nh(a)\nk(a)\nm(a)\n"),
               "a sum 1:1-1:5 module.; b max 2:1-2:5 module.; "
               "c min 3:1-3:5 module.; d dot 4:1-4:5 module.; ");
}

static void columns_count_as_editors_do(void)
{
    const char *query = CALL SETS("a", "sum") ")";

    EXPECT_STR(found_with(query, "x = '\xC3\xA9'; f(a)"),
               "a sum 1:10-1:14 module.; ");
    EXPECT_STR(found_with(query, "x = '\xF0\x9F\x98\x80'; f(a)"),
               "a sum 1:11-1:15 module.; ");
    EXPECT_STR(found_with(query, "\xEF\xBB\xBF"
                                 "f(a)"),
               "a sum 1:1-1:5 module.; ");
    EXPECT_STR(found_with(query, "\t\tf(a,\r\n  '\xE2\x82\xAC')\r\n"),
               "a sum 1:3-2:7 module.; ");
}

static void too_many_findings_are_given_up(void)
{
    enum { COUNT = 20000 };
    char *text = malloc(COUNT * 5 + 1);

    REQUIRE(text != NULL);
    for (int i = 0; i < COUNT; i++)
        memcpy(text + (size_t)i * 5, "f(a)\n", 6);
    EXPECT_STR(found_with(CALL SETS("a", "sum") ")", text), "given up");
    free(text);
}

int main(void)
{
    RUN(predicates_are_evaluated);
    RUN(a_capture_that_is_absent_is_no_objection);
    RUN(settings_reach_the_language);
    RUN(wrong_queries_are_refused);
    RUN(one_place_is_told_once);
    RUN(patterns_that_are_alike_are_judged_one_by_one);
    RUN(columns_count_as_editors_do);
    RUN(too_many_findings_are_given_up);
    return tap_done();
}
