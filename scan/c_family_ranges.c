/* SPDX-License-Identifier: MIT */
/*
 * c_family_ranges.c - which parts of a text are parsed: all but macros that say
 * how something is linked or compiled. To a parser, `class API_EXPORT Grid :
 * ..` is a function, and with it everything in it.
 */
#include "c_family.h"

#include "cut.h"
#include "outline.h"

#include <ctype.h>
#include <string.h>

enum { FARTHEST = 4096 }; /* that is looked ahead: comments may never end */

static bool is_blank(char sign)
{
    return sign == ' ' || sign == '\t' || sign == '\r';
}

static const char *behind_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

static struct takt_text word_at(const char *at, const char *end)
{
    const char *start = at;

    while (at < end && takt__outline_is_word(*at))
        at++;
    return (struct takt_text){start, (size_t)(at - start)};
}

/* LIB_API, but not T and N. */
static bool is_macro(struct takt_text word)
{
    for (size_t i = 0; i < word.size; i++)
        if (islower((unsigned char)word.at[i]))
            return false;
    return word.size > 3 && !isdigit((unsigned char)*word.at);
}

/* class API Grid :, struct API OLD Grid {. */
static void cut_in_head(struct takt_cutter *in, struct takt_text word,
                        const char *stop)
{
    const char *start = behind_blanks(word.at + word.size, stop);
    struct takt_text macro = {start, 0};
    struct takt_text name = word_at(start, stop);
    const char *at = behind_blanks(start + name.size, stop);
    bool is_cut = takt__text_is(word, "class");

    for (struct takt_text next;
         (next = word_at(at, stop)).size > 0 &&
         !isdigit((unsigned char)*next.at) && !takt__text_is(next, "final");
         at = behind_blanks(at + next.size, stop)) {
        is_cut |= is_macro(name);
        macro.size = (size_t)(name.at + name.size - start);
        name = next;
    }
    const bool is_base =
        at < stop && (*at == ':' ? at + 1 == stop || at[1] != ':'
                                 : takt__text_is(word_at(at, stop), "final"));
    const bool is_body = at == stop || *at == '{' || *at == '<';
    if (macro.size > 0 && (is_base || is_body) && is_cut)
        takt__cut(in, macro.at, macro.at + macro.size);
}

/* Whether nothing is open before a line: what stands there is a beginning. */
static bool is_beginning(const char *text, const char *line)
{
    while (line > text) {
        const char *last = line - 1, *start;
        while (last > text && last[-1] != '\n' && isspace((unsigned char)*last))
            last--;
        for (start = last; start > text && start[-1] != '\n';)
            start--;
        line = start;
        while (start < last && is_blank(*start))
            start++;
        if (isspace((unsigned char)*start) || *start == '*' ||
            (*start == '/' && start < last && strchr("/*", start[1]) != NULL))
            continue; /* nothing, or a comment */
        return *start == '#' || strchr(";{}>:/", *last) != NULL;
    }
    return true;
}

/* LIB_API float *rows(..), LIB_INLINE static ..: two words and more before the
 * parameters. */
static bool is_declared_behind(struct takt_text macro, const char *stop)
{
    static const char words[] = "static inline void float double int bool "
                                "template class struct virtual constexpr "
                                "extern explicit";
    const char *at = behind_blanks(macro.at + macro.size, stop);
    struct takt_text word = word_at(at, stop);

    if (word.size == 0 || takt__text_in(word, words))
        return word.size > 0;
    for (at += word.size; at < stop && strchr(" &*", *at) != NULL;)
        at++;
    word = word_at(at, stop);
    return word.size > 0 && at + word.size < stop && at[word.size] == '(';
}

/* Behind a line of one word alone, which may be what a function returns: then
 * its name comes next. */
static bool is_begun_behind(const char *at, const char *end)
{
    static const char words[] = "public private protected";

    if (end - at > FARTHEST)
        end = at + FARTHEST;
    for (const char *next = at; at < end; at = next) {
        next = takt__outline_behind_literal(at, end);
        if (next == at && !isspace((unsigned char)*at))
            break;
        next += next == at;
    }
    const struct takt_text word = word_at(at, end);
    at = behind_blanks(at + word.size, end);
    return word.size > 0 && (takt__text_in(word, words) ||
                             (at < end && at > word.at + word.size &&
                              (takt__outline_is_word(*at) || *at == '<')));
}

/* A line of one word alone, or a macro before a declaration. */
static void cut_first(struct takt_cutter *in, struct takt_text word,
                      const char *stop)
{
    const bool is_alone = behind_blanks(word.at + word.size, stop) == stop;

    if (is_alone ? !is_begun_behind(stop, in->end)
                 : !is_declared_behind(word, stop))
        return;
    if (is_beginning(in->text, word.at))
        takt__cut(in, word.at, word.at + word.size);
}

/* Behind template <...>, on one line. */
static const char *behind_template(const char *at, const char *stop)
{
    unsigned depth = 0;

    for (at = behind_blanks(at, stop); at < stop; at++) {
        depth += *at == '<';
        depth -= *at == '>' && depth > 0;
        if (depth == 0)
            return behind_blanks(at + 1, stop);
    }
    return stop;
}

/* The next word of a macro with this in it, before a parenthesis. */
static struct takt_text next_macro(const char *text, const char *at,
                                   const char *end, const char *part)
{
    const size_t size = strlen(part);

    for (; (size_t)(end - at) > size &&
           (at = memchr(at, *part, (size_t)(end - at) - size)) != NULL;
         at++) {
        if (memcmp(at, part, size) != 0)
            continue;
        struct takt_text word = {at, 0};
        while (word.at > text && takt__outline_is_word(word.at[-1]))
            word.at--;
        word.size = word_at(word.at, end).size;
        const char *behind = behind_blanks(word.at + word.size, end);
        if (is_macro(word) && behind < end && *behind == '(')
            return word;
    }
    return (struct takt_text){NULL, 0};
}

/* What stands before a place, spaces and line ends aside. */
static char sign_before(const char *text, const char *at)
{
    while (at > text && isspace((unsigned char)at[-1]))
        at--;
    return at > text ? at[-1] : ';';
}

const char *takt__c_lambda(const char *text, const char *at, const char *end)
{
    struct takt_text word;

    while ((word = next_macro(text, at, end, "LAMBDA")).at != NULL) {
        if (word.at >= at && strchr(",(=", sign_before(text, word.at)) != NULL)
            return word.at;
        at = word.at + word.size;
    }
    return NULL;
}

/* KOKKOS_LAMBDA(int i) {: the first two letters are read as [].
 * [=] ON_DEVICE (int i) {: the macro is left out. */
static void cut_lambda(struct takt_cutter *in, struct takt_text word)
{
    const char sign = sign_before(in->text, word.at);

    if (word.at + 2 < in->kept)
        return;
    if (sign == ']')
        takt__cut(in, word.at, word.at + word.size);
    else if (strchr(",(=", sign) != NULL)
        takt__cut(in, word.at + 2, word.at + word.size);
}

/* What stands at the beginning of a line. */
static void cut_begin(struct takt_cutter *in, const char *at, const char *stop)
{
    at = behind_blanks(at, stop);
    if (at == stop || (!isupper((unsigned char)*at) && *at != '_' &&
                       strchr("cst", *at) == NULL))
        return;
    struct takt_text word = word_at(at, stop);
    if (takt__text_is(word, "template"))
        word = word_at(behind_template(at + word.size, stop), stop);
    if (takt__text_in(word, "class struct"))
        cut_in_head(in, word, stop);
    else if (is_macro(word))
        cut_first(in, word, stop);
}

size_t takt__c_ranges(const char *text, size_t size, TSRange *range,
                      size_t most)
{
    static const char *const parts[] = {"LAMBDA", "DEVICE"};
    struct takt_cutter in = takt__cutter(text, size, range, most);
    struct takt_text next[] = {next_macro(text, text, in.end, parts[0]),
                               next_macro(text, text, in.end, parts[1])};

    for (const char *at = text, *stop; at < in.end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(in.end - at));
        stop = stop != NULL ? stop : in.end;
        cut_begin(&in, at, stop);
        for (unsigned i = 0; i < 2; i++)
            for (; next[i].at != NULL && next[i].at < stop;
                 next[i] = next_macro(text, next[i].at + next[i].size, in.end,
                                      parts[i]))
                cut_lambda(&in, next[i]);
    }
    return takt__cutter_end(&in);
}
