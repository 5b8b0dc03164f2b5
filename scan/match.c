/* SPDX-License-Identifier: MIT */
/*
 * match.c - whether what a query found is what its predicates require.
 *
 * A capture that is not there (it was optional) is nothing against a match; one
 * that is there several times must fit each time.
 */
#include "patterns.h"

#include <string.h>

TSNode takt__match_node(const struct takt_match *match, const char *name)
{
    for (unsigned i = 0; i < match->count; i++)
        if (strcmp(match->capture[i].name, name) == 0)
            return match->capture[i].node;
    return (TSNode){0};
}

const char *takt__match_setting(const struct takt_match *match, const char *key)
{
    for (unsigned i = 0; i < match->of->settings; i++)
        if (strcmp(match->of->setting[i].key, key) == 0)
            return match->of->setting[i].value;
    return NULL;
}

/* Of a text that is longer, its beginning: expressions are for names. */
static bool fits_expression(struct takt_text text, const regex_t *regex)
{
    char name[512];
    const size_t size = text.size < sizeof name ? text.size : sizeof name - 1;

    memcpy(name, text.at, size);
    name[size] = 0;
    return regexec(regex, name, 0, NULL, 0) == 0;
}

static bool fits(const struct takt_match *match,
                 const struct takt_clause *clause, struct takt_text text)
{
    if (clause->kind == TAKT_CLAUSE_MATCH)
        return fits_expression(text, clause->regex);
    for (unsigned i = 1; i < clause->count; i++) {
        const struct takt_argument *other = &clause->argument[i];
        if (!other->is_capture) {
            if (takt__text_is(text, other->word))
                return true;
            continue;
        }
        const struct takt_text meant = takt__node_text(
            match->source, takt__match_node(match, other->word));
        if (meant.size == text.size &&
            memcmp(meant.at, text.at, text.size) == 0)
            return true;
    }
    return false;
}

static bool builtin_holds(const struct takt_match *match,
                          const struct takt_clause *clause)
{
    const char *name = clause->argument[0].word;

    for (unsigned i = 0; i < match->count; i++) {
        if (strcmp(match->capture[i].name, name) != 0)
            continue;
        const struct takt_text text =
            takt__node_text(match->source, match->capture[i].node);
        if (fits(match, clause, text) == clause->is_negated)
            return false;
    }
    return true;
}

static bool own_holds(const struct takt_match *match,
                      const struct takt_clause *clause)
{
    struct takt_scan_operand operand[TAKT_OPERANDS];

    for (unsigned i = 0; i < clause->count; i++) {
        const struct takt_argument *argument = &clause->argument[i];
        operand[i] = (struct takt_scan_operand){.is_node = argument->is_capture,
                                                .word = argument->word};
        if (argument->is_capture)
            operand[i].node = takt__match_node(match, argument->word);
    }
    return clause->holds(match, operand, clause->count) != clause->is_negated;
}

bool takt__match_holds(const struct takt_match *match)
{
    const struct takt_pattern *pattern = match->of;

    for (unsigned i = 0; i < pattern->clauses; i++)
        if (pattern->clause[i].kind != TAKT_CLAUSE_OWN &&
            !builtin_holds(match, &pattern->clause[i]))
            return false;
    for (unsigned i = 0; i < pattern->clauses; i++) /* which take longer */
        if (pattern->clause[i].kind == TAKT_CLAUSE_OWN &&
            !own_holds(match, &pattern->clause[i]))
            return false;
    return true;
}
