/* SPDX-License-Identifier: MIT */
/*
 * c_family_outline.c - what a header of C or C++ declares, told from its text
 * alone: types, macros, constants, and functions with what they return. It is
 * no parser: what it does not understand, it passes over up to the next ; or }.
 */
#include "c_family.h"

#include "outline.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST_MACRO = 400, LONGEST = TAKT_OUTLINE_LONGEST / 4 };

/* Whether a { there begins the body of a function: f() {, f() const {. */
static bool is_body(const char *start, const char *brace)
{
    static const char words[] = "const noexcept override final";

    while (brace > start && isspace((unsigned char)brace[-1]))
        brace--;
    return brace > start &&
           (brace[-1] == ')' ||
            takt__text_in(takt__outline_word_before(start, brace), words));
}

static void name(const struct takt_outline *in, struct takt_text word)
{
    takt__project_name(in->project, word);
}

static void outline_directive(struct takt_outline *in)
{
    const char *end = takt__outline_line_end(in->at, in->end);
    const char *at = in->at + 1;
    struct takt_text word;

    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    if (end - at > 7 && memcmp(at, "define", 6) == 0 &&
        !takt__outline_is_word(at[6]) && end - in->at < LONGEST_MACRO) {
        for (at += 6; at < end && !takt__outline_is_word(*at);)
            at++;
        for (word = (struct takt_text){at, 0};
             at < end && takt__outline_is_word(*at); at++)
            word.size++;
        for (; at < end && isspace((unsigned char)*at);)
            at++;
        if (at < end) {             /* those without a text guard headers */
            const char *last = end; /* the last line may end with \ */
            while (isspace((unsigned char)last[-1]) || last[-1] == '\\')
                last--;
            takt__outline_declare(in, in->at, last);
            name(in, word);
        }
    }
    in->at = end;
}

/* enum { A, B = 2 }: each of them. */
static void name_enumerators(const struct takt_outline *in, const char *brace,
                             const char *end)
{
    bool is_next = true;

    for (const char *at = brace + 1; at + 1 < end;) {
        const char *next = takt__outline_behind_literal(at, end);
        if (next != at) {
            at = next;
            continue;
        }
        if (is_next && takt__outline_is_word(*at)) {
            const char *start = at;
            while (at < end && takt__outline_is_word(*at))
                at++;
            name(in, (struct takt_text){start, (size_t)(at - start)});
            is_next = false;
            continue;
        }
        if (*at == '(' || *at == '{')
            at = takt__outline_behind_bracket(at, end);
        else
            is_next |= *at++ == ',';
    }
}

/* struct NAME : BASE { ... } A, *B; from its start to behind its ;. */
static void outline_type(struct takt_outline *in, const char *start,
                         const char *brace, bool is_enum)
{
    const char *behind = takt__outline_behind_bracket(brace, in->end);
    const char *end = behind;
    const char *colon = NULL;

    while (end < in->end && *end != ';' && *end != '{' && *end != '#')
        end++;
    if (end == in->end || *end != ';') {
        in->at = behind; /* no type after all, or a macro is around it */
        return;
    }
    for (const char *at = start; at + 1 < brace; at++)
        if (at[0] == ':' && at[1] != ':' && (at == start || at[-1] != ':')) {
            colon = at;
            break;
        }
    takt__outline_declare(in, start, end + 1);
    struct takt_text tag =
        takt__outline_word_before(start, colon != NULL ? colon : brace);
    if (takt__text_is(tag, "final"))
        tag = takt__outline_word_before(start, tag.at);
    name(in, tag);
    if (is_enum)
        name_enumerators(in, brace, behind);
    if (takt__outline_has_word(
            (struct takt_text){start, (size_t)(brace - start)}, "typedef"))
        for (const char *at = end; at > behind;) {
            const struct takt_text word = takt__outline_word_before(behind, at);
            name(in, word);
            at = word.at;
        }
    in->at = end + 1;
}

/* What else it returns is declared where it is used. */
static bool returns_arrays(struct takt_text result)
{
    return (memchr(result.at, '*', result.size) != NULL ||
            memchr(result.at, '<', result.size) != NULL) &&
           !takt__outline_has_word(result, "void") &&
           !takt__outline_has_word(result, "char");
}

/* A statement that ends with ; and has no body. */
static void outline_plain(struct takt_outline *in, const char *start,
                          const char *end)
{
    const struct takt_text text = {start, (size_t)(end - start)};
    const char *bracket = memchr(start, '(', text.size);
    const char *equals = memchr(start, '=', text.size);
    const char *stop = end;

    if (takt__outline_has_word(text, "typedef")) {
        const char *square = memchr(start, '[', text.size);
        stop = bracket != NULL ? start : square != NULL ? square : end;
    } else if (takt__outline_has_word(text, "using")) {
        stop = equals == NULL ? start : equals;
    } else if (bracket != NULL && (equals == NULL || equals > bracket)) {
        const struct takt_text result = {start, (size_t)(bracket - start)};
        stop = returns_arrays(result) ? bracket : start;
    } else if (takt__outline_has_word(text, "extern") ||
               takt__outline_has_word(text, "const") ||
               takt__outline_has_word(text, "constexpr")) {
        const char *square = memchr(start, '[', text.size);
        stop = square != NULL && (equals == NULL || square < equals) ? square
               : equals != NULL                                      ? equals
                                                                     : end;
    } else
        return;
    if (stop == start || end - start > LONGEST)
        return;
    takt__outline_declare(in, start, end + 1);
    name(in, takt__outline_word_before(start, stop));
}

/* A function with its body: kept if it only returns something. */
static void outline_function(struct takt_outline *in, const char *start,
                             const char *brace)
{
    const char *bracket = memchr(start, '(', (size_t)(brace - start));

    in->at = takt__outline_behind_bracket(brace, in->end);
    const struct takt_text first =
        takt__outline_word_after(brace, in->at); /* of the body */
    if (bracket == NULL || brace - start > LONGEST ||
        !takt__text_is(first, "return"))
        return;
    takt__outline_declare(in, start, in->at);
    name(in, takt__outline_word_before(start, bracket));
}

static void outline_braces(struct takt_outline *in, const char *start)
{
    const struct takt_text head = {start, (size_t)(in->at - start)};
    const bool has_bracket = memchr(start, '(', head.size) != NULL;

    if (takt__outline_has_word(head, "namespace") ||
        (takt__outline_has_word(head, "extern") &&
         memchr(start, '"', head.size) != NULL && !has_bracket))
        in->at++; /* what is in it counts */
    else if (memchr(start, '=', head.size) != NULL)
        in->at = takt__outline_behind_bracket(in->at, in->end);
    else if (!has_bracket || !is_body(start, in->at))
        outline_type(in, start, in->at, takt__outline_has_word(head, "enum"));
    else
        outline_function(in, start, in->at);
}

/* One statement, from a place that is no space and no comment. */
static void outline_statement(struct takt_outline *in)
{
    const char *start = in->at;

    while (in->at < in->end) {
        const char *next = takt__outline_behind_literal(in->at, in->end);
        if (next != in->at)
            in->at = next;
        else if (*in->at == '(' || *in->at == '[')
            in->at = takt__outline_behind_bracket(in->at, in->end);
        else if (*in->at == ';') {
            outline_plain(in, start, in->at++);
            return;
        } else if (*in->at == '{') {
            outline_braces(in, start);
            return;
        } else if (*in->at == '}' || *in->at == '#')
            return; /* cut short by what it does not know */
        else
            in->at++;
    }
}

void takt__c_outline(struct takt_project *project, const char *text,
                     size_t size)
{
    struct takt_outline in = {project, text, text + size, is_body, false};

    while (in.at < in.end) {
        const char *next = takt__outline_behind_literal(in.at, in.end);
        if (next != in.at)
            in.at = next;
        else if (*in.at == '#')
            outline_directive(&in);
        else if (takt__outline_is_word(*in.at) || *in.at == '_')
            outline_statement(&in);
        else
            in.at++;
    }
}

void takt__c_links(const char *text, size_t size, takt_link *link, void *self)
{
    const char *end = text + size;

    for (const char *at = text; at < end; at++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        while (at < stop && isspace((unsigned char)*at))
            at++;
        if (at < stop && *at == '#') {
            for (at++; at < stop && isspace((unsigned char)*at);)
                at++;
            if (stop - at > 8 && memcmp(at, "include", 7) == 0) {
                for (at += 7; at < stop && *at != '"' && *at != '<';)
                    at++;
                const char *close = at == stop
                                        ? NULL
                                        : memchr(at + 1, *at == '"' ? '"' : '>',
                                                 (size_t)(stop - at - 1));
                if (close != NULL)
                    link(self,
                         (struct takt_text){at + 1, (size_t)(close - at - 1)});
            }
        }
        at = stop;
    }
}
