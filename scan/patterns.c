/* SPDX-License-Identifier: MIT */
/*
 * patterns.c - compiles a query, and what tree-sitter leaves to its host: the
 * predicates and settings, which it hands over as lists of words.
 */
#include "patterns.h"

#include "languages.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Regular expressions have memory of their own. */
struct takt_regex_link {
    regex_t regex;
    struct takt_regex_link *next;
};

struct builder {
    struct takt_patterns *out;
    takt_diag *diag;
};

__attribute__((format(printf, 3, 4))) static takt_status
refuse(const struct builder *builder, uint32_t at, const char *format, ...)
{
    const char *text = builder->out->language->query;
    unsigned line = 1;
    char why[256];
    va_list arguments;

    for (uint32_t i = 0; i < at && text[i] != 0; i++)
        line += text[i] == '\n';
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    if (builder->diag != NULL)
        snprintf(builder->diag->text, sizeof builder->diag->text,
                 "patterns/%s.scm:%u: %s",
                 takt__language_key(builder->out->language->id), line, why);
    return TAKT_EINVAL;
}

static const char *query_error_text(TSQueryError error)
{
    switch (error) {
    case TSQueryErrorSyntax:
        return "wrong syntax";
    case TSQueryErrorNodeType:
        return "the grammar has no such node";
    case TSQueryErrorField:
        return "the grammar has no such field";
    case TSQueryErrorCapture:
        return "no such capture";
    case TSQueryErrorStructure:
        return "the grammar never has nodes like that";
    case TSQueryErrorLanguage:
        return "the grammar is of another version";
    case TSQueryErrorNone:
        break;
    }
    return "unknown error";
}

static takt_status compile_query(struct builder *builder)
{
    const struct takt_language *language = builder->out->language;
    TSQueryError error = TSQueryErrorNone;
    uint32_t at = 0, size;

    builder->out->query =
        ts_query_new(language->grammar(), language->query,
                     (uint32_t)strlen(language->query), &at, &error);
    if (builder->out->query == NULL)
        return refuse(builder, at, "%s: %.40s", query_error_text(error),
                      language->query + at);
    const uint32_t captures = ts_query_capture_count(builder->out->query);
    for (uint32_t i = 0; i < captures; i++) {
        const char *name =
            ts_query_capture_name_for_id(builder->out->query, i, &size);
        if (strcmp(name, "finding") == 0) {
            builder->out->finding = i;
            return TAKT_OK;
        }
    }
    return refuse(builder, 0, "nothing is captured as @finding");
}

static const char *step_text(const TSQuery *query,
                             const TSQueryPredicateStep *step)
{
    uint32_t size;

    return step->type == TSQueryPredicateStepTypeCapture
               ? ts_query_capture_name_for_id(query, step->value_id, &size)
               : ts_query_string_value_for_id(query, step->value_id, &size);
}

static takt_status add_setting(struct takt_pattern *pattern,
                               const struct takt_clause *clause)
{
    struct takt_setting *setting = &pattern->setting[pattern->settings++];

    setting->key = clause->argument[0].word;
    setting->value = clause->count > 1 ? clause->argument[1].word : "";
    if (strcmp(setting->key, "pattern") == 0)
        pattern->name = setting->value;
    if (strcmp(setting->key, "op") == 0)
        pattern->op_name = setting->value;
    return TAKT_OK;
}

static bool is_builtin(const char *name, struct takt_clause *clause)
{
    clause->is_negated = strncmp(name, "not-", 4) == 0;
    if (clause->is_negated)
        name += 4;
    if (strcmp(name, "eq?") == 0)
        clause->kind = TAKT_CLAUSE_EQ;
    else if (strcmp(name, "match?") == 0)
        clause->kind = TAKT_CLAUSE_MATCH;
    else if (strcmp(name, "any-of?") == 0)
        clause->kind = TAKT_CLAUSE_ANY;
    else
        return false;
    return true;
}

/* Also in the negative: #not-imported? is what #imported? is not. */
static bool is_own(const struct takt_named_predicate *own, const char *name,
                   struct takt_clause *clause)
{
    for (int negated = 0; negated < 2; negated++) {
        if (negated && strncmp(name, "not-", 4) != 0)
            return false;
        const char *plain = name + 4 * negated;
        for (size_t i = 0; own != NULL && own[i].name != NULL; i++) {
            const size_t size = strlen(own[i].name);
            if (strncmp(plain, own[i].name, size) == 0 &&
                strcmp(plain + size, "?") == 0) {
                clause->kind = TAKT_CLAUSE_OWN;
                clause->holds = own[i].holds;
                clause->is_negated = negated != 0;
                return true;
            }
        }
    }
    return false;
}

static takt_status compile_regex(struct builder *builder, uint32_t at,
                                 struct takt_clause *clause)
{
    struct takt_regex_link *link;

    if (clause->count != 2 || clause->argument[1].is_capture)
        return refuse(builder, at, "#match? takes a capture and an expression");
    link = takt__region_take(&builder->out->region, sizeof *link);
    if (link == NULL)
        return TAKT_ENOMEM;
    if (regcomp(&link->regex, clause->argument[1].word,
                REG_EXTENDED | REG_NOSUB) != 0)
        return refuse(builder, at, "wrong regular expression: %s",
                      clause->argument[1].word);
    link->next = builder->out->regexes;
    builder->out->regexes = link;
    clause->regex = &link->regex;
    return TAKT_OK;
}

static takt_status check_clause(struct builder *builder, uint32_t at,
                                const char *name, struct takt_clause *clause)
{
    const struct takt_language *language = builder->out->language;

    if (is_own(language->predicates, name, clause))
        return clause->count <= TAKT_OPERANDS
                   ? TAKT_OK
                   : refuse(builder, at, "#%s has too many arguments", name);
    if (!is_builtin(name, clause))
        return refuse(builder, at, "there is no predicate #%s", name);
    if (clause->count < 2 || !clause->argument[0].is_capture)
        return refuse(builder, at, "#%s takes a capture and more", name);
    if (clause->kind == TAKT_CLAUSE_MATCH)
        return compile_regex(builder, at, clause);
    return TAKT_OK;
}

/* One predicate: its name, its arguments. */
static takt_status add_clause(struct builder *builder, uint32_t at,
                              struct takt_pattern *pattern,
                              const TSQueryPredicateStep *step, unsigned count)
{
    const TSQuery *query = builder->out->query;
    const char *name = step_text(query, step);
    struct takt_clause clause = {.count = count - 1};

    clause.argument = takt__region_take(&builder->out->region,
                                        (count + 1) * sizeof *clause.argument);
    if (clause.argument == NULL)
        return TAKT_ENOMEM;
    for (unsigned i = 1; i < count; i++)
        clause.argument[i - 1] = (struct takt_argument){
            .is_capture = step[i].type == TSQueryPredicateStepTypeCapture,
            .capture = step[i].value_id,
            .word = step_text(query, &step[i])};
    if (strcmp(name, "set!") == 0) {
        if (clause.count == 0)
            return refuse(builder, at, "#set! sets nothing");
        return add_setting(pattern, &clause);
    }
    const takt_status status = check_clause(builder, at, name, &clause);
    if (status == TAKT_OK)
        pattern->clause[pattern->clauses++] = clause;
    return status;
}

static takt_status name_pattern(struct builder *builder, uint32_t at,
                                struct takt_pattern *pattern)
{
    const char *key = takt__language_key(builder->out->language->id);

    if (pattern->name[0] == 0)
        return refuse(builder, at, "a pattern has no (#set! pattern ..)");
    pattern->op = takt_op_find(pattern->op_name);
    if (pattern->op_name[0] != 0 && pattern->op == NULL)
        return refuse(builder, at, "the catalogue has no op %s",
                      pattern->op_name);
    const size_t size = strlen(key) + strlen(pattern->name) + 2;
    char *full = takt__region_take(&builder->out->region, size);
    if (full == NULL)
        return TAKT_ENOMEM;
    snprintf(full, size, "%s/%s", key, pattern->name);
    pattern->full_name = full;
    return TAKT_OK;
}

static takt_status read_pattern(struct builder *builder, uint32_t index)
{
    struct takt_pattern *pattern = &builder->out->pattern[index];
    const TSQuery *query = builder->out->query;
    const uint32_t at = ts_query_start_byte_for_pattern(query, index);
    uint32_t count = 0;
    const TSQueryPredicateStep *step =
        ts_query_predicates_for_pattern(query, index, &count);

    pattern->name = pattern->op_name = "";
    pattern->clause = takt__region_take(&builder->out->region,
                                        (count + 1) * sizeof *pattern->clause);
    pattern->setting = takt__region_take(
        &builder->out->region, (count + 1) * sizeof *pattern->setting);
    if (pattern->clause == NULL || pattern->setting == NULL)
        return TAKT_ENOMEM;
    for (uint32_t i = 0, first = 0; i < count; i++) {
        if (step[i].type != TSQueryPredicateStepTypeDone)
            continue;
        if (i > first) {
            const takt_status status =
                add_clause(builder, at, pattern, step + first, i - first);
            if (status != TAKT_OK)
                return status;
        }
        first = i + 1;
    }
    return name_pattern(builder, at, pattern);
}

/* Copies a pattern without predicates, comments and all space but one. */
static void copy_shape(const char *from, const char *end, char *out)
{
    bool is_quoted = false;
    unsigned depth = 0; /* of what is left out */
    char before = 0;

    for (; from < end; from++) {
        const bool is_escape = is_quoted && *from == '\\' && from + 1 < end;
        if (*from == '"')
            is_quoted = !is_quoted;
        if (!is_quoted && *from == ';')
            from += strcspn(from, "\n");
        const bool is_space = !is_quoted && strchr(" \t\r\n", *from) != NULL;
        const bool is_open = !is_quoted && *from == '(';
        if (is_open && (depth > 0 || from[1] == '#'))
            depth++;
        else if (depth == 0 && !(is_space && before == ' '))
            *out++ = before = is_space ? ' ' : *from;
        else if (!is_quoted && *from == ')')
            depth--;
        if (is_escape) {
            from++;
            if (depth == 0)
                *out++ = before = *from;
        }
    }
    *out = 0;
}

static takt_status read_shape(struct builder *builder, uint32_t index)
{
    struct takt_patterns *out = builder->out;
    const uint32_t start = ts_query_start_byte_for_pattern(out->query, index);
    const uint32_t end = ts_query_end_byte_for_pattern(out->query, index);
    const char *text = out->language->query;
    char *shape = takt__region_take(&out->region, end - start + 1);

    if (shape == NULL)
        return TAKT_ENOMEM;
    copy_shape(text + start, text + end, shape);
    out->pattern[index].shape = shape;
    for (uint32_t i = 0; i < index; i++) {
        struct takt_pattern *other = &out->pattern[i];
        if (other->next_alike == NULL && strcmp(other->shape, shape) == 0) {
            other->next_alike = &out->pattern[index];
            ts_query_disable_pattern(out->query, index);
            break;
        }
    }
    return TAKT_OK;
}

takt_status takt__patterns_open(const struct takt_language *language,
                                struct takt_patterns *out, takt_diag *diag)
{
    struct builder builder = {out, diag};

    *out = (struct takt_patterns){.language = language};
    takt_status status = compile_query(&builder);
    if (status == TAKT_OK) {
        out->count = ts_query_pattern_count(out->query);
        out->pattern = takt__region_take(
            &out->region, (out->count + 1) * sizeof *out->pattern);
        if (out->pattern == NULL)
            status = TAKT_ENOMEM;
    }
    for (uint32_t i = 0; i < out->count && status == TAKT_OK; i++)
        status = read_pattern(&builder, i);
    for (uint32_t i = 0; i < out->count && status == TAKT_OK; i++)
        status = read_shape(&builder, i);
    if (status != TAKT_OK)
        takt__patterns_close(out);
    return status;
}

void takt__patterns_close(struct takt_patterns *patterns)
{
    for (struct takt_regex_link *link = patterns->regexes; link != NULL;
         link = link->next)
        regfree(&link->regex);
    if (patterns->query != NULL)
        ts_query_delete(patterns->query);
    takt__region_free(&patterns->region);
    *patterns = (struct takt_patterns){0};
}
