/* SPDX-License-Identifier: MIT */
/*
 * outline.c - words, brackets and comments of languages with braces.
 */
#include "outline.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST_BODY = 200 }; /* of a function that is told by what it does */

bool takt__outline_is_word(char sign)
{
    return isalnum((unsigned char)sign) || sign == '_';
}

const char *takt__outline_line_end(const char *at, const char *end)
{
    for (;;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (newline == NULL)
            return end;
        const char *last = newline;
        while (last > at && (last[-1] == '\r' || last[-1] == ' '))
            last--;
        if (last == at || last[-1] != '\\')
            return newline;
        at = newline + 1;
    }
}

/* 'a' and '\n', but not 1'000 and &'a str. */
static bool is_character(const char *at, const char *end)
{
    return end - at > 2 && (at[1] == '\\' || at[2] == '\'');
}

const char *takt__outline_behind_literal(const char *at, const char *end)
{
    const char *start = at;

    if (end - at > 1 && at[0] == '/' && at[1] == '/')
        return takt__outline_line_end(at, end);
    if (end - at > 1 && at[0] == '/' && at[1] == '*') {
        for (at += 2; at < end; at++)
            if (*at == '/' && at[-1] == '*' && at - start > 2)
                return at + 1;
        return end;
    }
    if (*at != '"' && (*at != '\'' || !is_character(at, end)))
        return at;
    const char quote = *at++;
    while (at < end && *at != quote && *at != '\n')
        at += *at == '\\' && end - at > 1 ? 2 : 1;
    return at < end ? at + 1 : end;
}

const char *takt__outline_behind_bracket(const char *at, const char *end)
{
    unsigned depth = 0;

    while (at < end) {
        const char *next = takt__outline_behind_literal(at, end);
        if (next != at) {
            at = next;
            continue;
        }
        depth += *at == '(' || *at == '[' || *at == '{';
        depth -= *at == ')' || *at == ']' || *at == '}';
        at++;
        if (depth == 0)
            break;
    }
    return at;
}

bool takt__outline_has_word(struct takt_text text, const char *word)
{
    const size_t size = strlen(word);

    for (const char *at = text.at; at + size <= text.at + text.size; at++)
        if (memcmp(at, word, size) == 0 &&
            (at == text.at || !takt__outline_is_word(at[-1])) &&
            (at + size == text.at + text.size ||
             !takt__outline_is_word(at[size])))
            return true;
    return false;
}

struct takt_text takt__outline_word_before(const char *start, const char *at)
{
    while (at > start && !takt__outline_is_word(at[-1]))
        at--;
    const char *end = at;
    while (at > start && takt__outline_is_word(at[-1]))
        at--;
    return (struct takt_text){at, (size_t)(end - at)};
}

struct takt_text takt__outline_word_after(const char *at, const char *end)
{
    while (at < end && !takt__outline_is_word(*at))
        at++;
    const char *start = at;
    while (at < end && takt__outline_is_word(*at))
        at++;
    return (struct takt_text){start, (size_t)(at - start)};
}

static bool is_blank(char sign)
{
    return sign == ' ' || sign == '\t' || sign == '\n';
}

static const char *behind_blanks(const char *at, const char *end)
{
    while (at + 1 < end && is_blank(*at))
        at++;
    return at;
}

/* A declaration while it is copied. */
struct copy {
    char text[TAKT_OUTLINE_LONGEST];
    size_t size;
    size_t member;   /* where the member at hand begins, in a class */
    unsigned depth;  /* of braces */
    unsigned inner;  /* of parentheses */
    bool is_a_call;  /* the member at hand has parameters */
    bool has_bodies; /* methods are kept, whatever they do */
};

/* Whether a method shows what a class holds: float *row(int i), operator(),
 * operator[]. */
static bool tells_element(const struct copy *copy)
{
    const char *at = copy->text + copy->member;
    const char *end = copy->text + copy->size;
    const char *bracket = memchr(at, '(', (size_t)(end - at));

    if (bracket == NULL)
        return false;
    const struct takt_text head = {at, (size_t)(bracket - at)};
    if (takt__outline_has_word(head, "operator"))
        return takt__text_is(takt__outline_word_before(at, bracket),
                             "operator") &&
               (memchr(at, '[', head.size) != NULL ||
                behind_blanks(bracket + 1, end)[0] == ')');
    static const char numbers[] = "float double T Real real Scalar scalar";
    const char *sign = memchr(at, '&', head.size);
    const bool is_reference = /* double &value(int i, int j) */
        sign != NULL && behind_blanks(bracket + 1, end)[0] != ')' &&
        takt__text_in(takt__outline_word_before(at, sign), numbers);
    return (memchr(at, '*', head.size) != NULL || is_reference) &&
           !takt__outline_has_word(head, "void") &&
           !takt__outline_has_word(head, "char");
}

/* The end of a member: methods that show no element are left out. */
static void end_member(struct copy *copy, bool is_kept)
{
    if (copy->depth == 0 || copy->has_bodies)
        return;
    const struct takt_text first = takt__outline_word_after(
        copy->text + copy->member, copy->text + copy->size);
    if (!is_kept || takt__text_is(first, "friend"))
        copy->size = copy->member;
    copy->member = copy->size;
    copy->is_a_call = false;
}

static void copy_body(struct copy *copy, struct takt_text body)
{
    const bool is_kept = body.size <= LONGEST_BODY &&
                         !takt__outline_has_word(body, "for") &&
                         !takt__outline_has_word(body, "while");

    memcpy(copy->text + copy->size, is_kept ? body.at : "{}",
           is_kept ? body.size : 2);
    copy->size += is_kept ? body.size : 2;
    end_member(copy, tells_element(copy) ||
                         (is_kept && memchr(body.at, '[', body.size) != NULL));
}

static void copy_sign(struct copy *copy, char sign)
{
    if (is_blank(sign) && copy->size > copy->member &&
        is_blank(copy->text[copy->size - 1])) { /* one of several will do */
        if (sign == '\n')
            copy->text[copy->size - 1] = sign;
        return;
    }
    copy->text[copy->size++] = sign;
    copy->inner += sign == '(';
    copy->inner -= sign == ')' && copy->inner > 0;
    copy->is_a_call |= sign == '(';
    copy->depth += sign == '{';
    copy->depth -= sign == '}' && copy->depth > 0;
    if ((sign == '{' || sign == '}') && copy->inner == 0) { /* of a class */
        copy->member = copy->size;
        copy->is_a_call = false;
    }
    if (sign == ';')
        end_member(copy, !copy->is_a_call || tells_element(copy));
}

/* Behind the last #undef of a class that defines macros for its members: what
 * they make is no code that could be read, and slow to find that out of. */
static const char *behind_macros(const char *at, const char *end)
{
    static const char define[] = "#define", undefine[] = "#undef";
    const size_t size = sizeof undefine - 1;
    const char *last = at;

    if ((size_t)(end - at) < sizeof define ||
        memcmp(at, define, sizeof define - 1) != 0)
        return at;
    if (end - at > TAKT_OUTLINE_LONGEST)
        end = at + TAKT_OUTLINE_LONGEST;
    for (const char *next = at;
         (next = memchr(next, '#', (size_t)(end - next))); next++)
        if ((size_t)(end - next) > size && memcmp(next, undefine, size) == 0)
            last = takt__outline_line_end(next, end);
    return last;
}

void takt__outline_declare(const struct takt_outline *in, const char *at,
                           const char *end)
{
    struct copy copy = {.has_bodies = in->has_methods};
    const char *start = at;

    while (at < end && copy.size + LONGEST_BODY + 4 < sizeof copy.text) {
        const char *next = takt__outline_behind_literal(at, end);
        if (next != at && *at == '/') {
            copy.text[copy.size++] = ' ';
            at = next;
        } else if (*at == '{' && in->is_body(start, at)) {
            next = takt__outline_behind_bracket(at, end);
            copy_body(&copy, (struct takt_text){at, (size_t)(next - at)});
            at = next;
        } else if (*at == '#' && copy.depth == 1) { /* #if */
            at = behind_macros(at, end);
            next = takt__outline_line_end(at, end);
            while (at < next && copy.size + 2 < sizeof copy.text)
                copy.text[copy.size++] = *at++;
            copy.member = copy.size;
        } else {
            copy_sign(&copy, *at++);
        }
    }
    takt__project_declare(
        in->project, (struct takt_text){copy.text, at < end ? 0 : copy.size});
}
