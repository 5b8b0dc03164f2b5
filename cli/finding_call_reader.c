/* SPDX-License-Identifier: MIT */
/*
 * finding_call_reader.c - calls in a text, and the loops around them.
 *
 * Without a parser, since all files are read: where functions begin and end,
 * where loops do, and which names are followed by a parenthesis.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"

enum {
    most_open = 256,
    kept_loops = 2 /* around calls by a pointer that was kept */
};

/* What a bracket or an indented block is. */
struct open_block {
    uint32_t function; /* slot; 0: outside of all */
    unsigned loops, single;
    unsigned indent; /* Python */
};

struct call_reader {
    const char *at, *end;
    enum takt_scan_language language;
    struct open_block open[most_open];
    bool is_loop_paren[most_open];
    unsigned depth, parens, paren_loops;
    struct open_block now;
    bool has_colon, has_loop_word, is_item; /* since the last statement */
    uint32_t named;                         /* may be a function's head */
    char before;                            /* sign before the last word */
    const char *line_end;                   /* of what `last_for` is about */
    const char *last_for;                   /* NULL: there is none */
    call_visit *visit;
    void *self;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool is_one_of(const char *word, size_t length, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strlen(*list) == length && memcmp(*list, word, length) == 0)
            return true;
    return false;
}

static void note_call(struct call_reader *in, const char *word, size_t length,
                      unsigned more)
{
    in->visit(in->self, in->now.function, call_slot(word, length),
              in->now.loops + in->now.single + in->paren_loops + more);
}

/* ---- what is no code ---- */

static const char *behind_text(const char *at, const char *end, char quote)
{
    for (at++; at < end && *at != quote && *at != '\n'; at++)
        at += *at == '\\' && at + 1 < end;
    return at < end ? at + 1 : end;
}

static const char *behind_line(const char *at, const char *end)
{
    while (at < end && (*at != '\n' || at[-1] == '\\'))
        at++;
    return at;
}

static const char *behind_mark(const char *at, const char *end,
                               const char *mark)
{
    const size_t length = strlen(mark);

    for (; (size_t)(end - at) >= length; at++)
        if (memcmp(at, mark, length) == 0)
            return at + length;
    return end;
}

static const char *behind_python_literal(const char *at, const char *end)
{
    if (*at == '#')
        return behind_line(at + 1, end);
    if (*at != '"' && *at != '\'')
        return at;
    if (end - at >= 3 && at[1] == *at && at[2] == *at)
        return behind_mark(at + 3, end, *at == '"' ? "\"\"\"" : "'''");
    return behind_text(at, end, *at);
}

/* A character; a lifetime of Rust is none. */
static const char *behind_character(const char *at, const char *end)
{
    if (end - at >= 4 && at[1] == '\\')
        return behind_text(at, end, '\'');
    return end - at >= 3 && at[2] == '\'' ? at + 3 : at + 1;
}

/* Behind a comment or a literal; `at` itself: it is none. */
static const char *behind_literal(const struct call_reader *in)
{
    const char *at = in->at, *end = in->end;

    if (*at == '#' && in->language != TAKT_SCAN_RUST)
        return behind_line(at + 1, end);
    if (*at == '"')
        return behind_text(at, end, '"');
    if (*at == '\'')
        return behind_character(at, end);
    if (*at != '/' || end - at < 2)
        return at;
    if (at[1] == '/')
        return behind_line(at + 1, end);
    return at[1] == '*' ? behind_mark(at + 2, end, "*/") : at;
}

/* ---- languages with braces ---- */

static void open_brace(struct call_reader *in)
{
    const bool is_function = in->named != 0 && (in->now.function == 0 ||
                                                in->language == TAKT_SCAN_RUST);

    if (in->depth < most_open)
        in->open[in->depth] = in->now;
    in->depth++;
    if (is_function)
        in->now = (struct open_block){.function = in->named};
    in->now.loops += in->now.single + (in->has_loop_word && !in->is_item);
    in->now.single = 0;
    in->named = 0;
    in->has_colon = in->has_loop_word = in->is_item = false;
}

static void close_brace(struct call_reader *in)
{
    if (in->depth > 0 && --in->depth < most_open)
        in->now = in->open[in->depth];
    in->now.single = 0; /* what it was the body of has ended */
    in->named = 0;
    in->has_colon = in->has_loop_word = in->is_item = false;
}

static void open_paren(struct call_reader *in, const char *word, size_t length)
{
    static const char *const loops[] = {"for", "while", NULL};
    static const char *const others[] = {
        "if",      "switch",  "return",   "sizeof", "catch",
        "defined", "alignof", "decltype", "else",   NULL};
    static const char *const closures[] = {
        "map",           "for_each",     "fold", "filter_map", "flat_map",
        "par_for_each",  "map_with",     "mapv", "from_fn",    "map_collect",
        "from_shape_fn", "try_for_each", NULL};
    const bool is_rust = in->language == TAKT_SCAN_RUST;
    bool is_loop = false;

    if (!is_rust && is_one_of(word, length, loops))
        is_loop = true;
    else if (length > 0 && !is_one_of(word, length, others)) {
        if (in->now.function != 0)
            note_call(in, word, length, 0);
        else if (!is_rust && in->parens == 0 && !in->has_colon &&
                 strncmp(word, "__", 2) != 0)
            in->named = call_slot(word, length);
        is_loop = is_rust && is_one_of(word, length, closures);
    }
    if (in->parens < most_open)
        in->is_loop_paren[in->parens] = is_loop;
    in->parens++;
    in->paren_loops += is_rust && is_loop;
}

static void close_paren(struct call_reader *in)
{
    if (in->parens == 0 || --in->parens >= most_open ||
        !in->is_loop_paren[in->parens])
        return;
    if (in->language == TAKT_SCAN_RUST)
        in->paren_loops--;
    else
        in->now.single++;
}

/* Words that say what the next brace begins. */
static void read_word(struct call_reader *in, const char *word, size_t length)
{
    static const char *const loops[] = {"for", "while", "loop", NULL};
    const char *at = in->at;

    if (in->language != TAKT_SCAN_RUST) {
        in->now.single += length == 2 && memcmp(word, "do", 2) == 0;
        return;
    }
    if (is_one_of(word, length, loops))
        in->has_loop_word = true;
    if (length == 4 && memcmp(word, "impl", 4) == 0)
        in->is_item = in->now.function == 0;
    if (length != 2 || memcmp(word, "fn", 2) != 0)
        return;
    while (at < in->end && *at == ' ')
        at++;
    const char *name = at;
    while (at < in->end && is_word(*at))
        at++;
    if (at > name)
        in->named = call_slot(name, (size_t)(at - name));
}

static void read_sign(struct call_reader *in, char sign, const char *word,
                      size_t length)
{
    switch (sign) {
    case '{':
        open_brace(in);
        break;
    case '}':
        close_brace(in);
        break;
    case '(':
        open_paren(in, word, length);
        break;
    case ')':
        close_paren(in);
        break;
    case ';':
        if (in->before == '=' && length > 0 && !isdigit((unsigned char)*word))
            note_call(in, word, length, kept_loops); /* "f = distance;" */
        if (in->parens > 0)
            break;
        in->now.single = 0;
        in->named = 0;
        in->has_colon = in->has_loop_word = in->is_item = false;
        break;
    case ':':
        if (in->at + 1 < in->end && in->at[1] == ':')
            in->at++;
        else
            in->has_colon =
                in->has_colon || (in->parens == 0 && in->named != 0);
        break;
    default:
        break;
    }
}

static void read_braces(struct call_reader *in)
{
    const char *word = in->at;
    size_t length = 0;

    while (in->at < in->end) {
        const char *behind = behind_literal(in);
        if (behind > in->at) {
            in->at = behind;
        } else if (is_word(*in->at)) {
            word = in->at;
            while (in->at < in->end && is_word(*in->at))
                in->at++;
            length = (size_t)(in->at - word);
            read_word(in, word, length);
        } else {
            const char sign = *in->at;
            read_sign(in, sign, word, length);
            if (!isspace((unsigned char)sign)) {
                length = 0;
                in->before = sign;
            }
            in->at++;
        }
    }
}

/* ---- Python ---- */

static const char *skip_word(const char *at, const char *end, const char *word)
{
    const size_t length = strlen(word);

    if ((size_t)(end - at) <= length || memcmp(at, word, length) != 0 ||
        is_word(at[length]))
        return NULL;
    for (at += length; at < end && *at == ' ';)
        at++;
    return at;
}

/* Ends the blocks above a line; false: it is empty. */
static bool end_blocks(struct call_reader *in, unsigned *indent)
{
    const char *start = in->at;

    while (in->at < in->end && (*in->at == ' ' || *in->at == '\t'))
        in->at++;
    *indent = (unsigned)(in->at - start);
    if (in->at == in->end || strchr("\n\r#", *in->at) != NULL)
        return false;
    while (in->depth > 0 && in->open[in->depth - 1].indent >= *indent)
        in->now = in->open[--in->depth];
    return true;
}

/* The head of a line: a block that it begins. */
static void begin_line(struct call_reader *in)
{
    unsigned indent;

    if (!end_blocks(in, &indent))
        return;
    const char *rest = skip_word(in->at, in->end, "async");
    const char *at = rest != NULL ? rest : in->at;
    const char *name = skip_word(at, in->end, "def");
    const bool is_loop = skip_word(at, in->end, "for") != NULL ||
                         skip_word(at, in->end, "while") != NULL;
    if ((name == NULL && !is_loop) || in->depth == most_open)
        return;
    in->open[in->depth] = in->now;
    in->open[in->depth++].indent = indent;
    if (is_loop) {
        in->now.loops++;
        return;
    }
    for (at = name; at < in->end && is_word(*at);)
        at++;
    in->now =
        (struct open_block){.function = call_slot(name, (size_t)(at - name))};
    in->at = at;
}

/* Whether a comprehension's "for" follows in the line, which is looked through
 * once: a long one has many calls. */
static bool is_comprehension(struct call_reader *in)
{
    const char *at = in->at;

    if (at >= in->line_end) {
        in->last_for = NULL;
        for (; at < in->end && *at != '\n'; at++)
            if (in->end - at > 5 && memcmp(at, " for ", 5) == 0)
                in->last_for = at;
        in->line_end = at;
    }
    return in->last_for != NULL && in->last_for >= in->at;
}

static void read_indented(struct call_reader *in)
{
    const char *word = in->at;
    bool is_start = true;

    while (in->at < in->end) {
        if (is_start && in->parens == 0)
            begin_line(in);
        is_start = false;
        word = in->at;
        while (in->at < in->end && is_word(*in->at))
            in->at++;
        if (in->at == in->end)
            return;
        const char *behind = behind_python_literal(in->at, in->end);
        if (behind > in->at) {
            in->at = behind;
            continue;
        }
        const char sign = *in->at++;
        if (sign == '(' && in->at - 1 > word)
            note_call(in, word, (size_t)(in->at - 1 - word),
                      in->parens > 0 && is_comprehension(in));
        in->parens += strchr("([{", sign) != NULL && sign != '\0';
        in->parens -=
            in->parens > 0 && sign != '\0' && strchr(")]}", sign) != NULL;
        is_start = sign == '\n';
    }
}

void read_calls(enum takt_scan_language language, const char *text, size_t size,
                call_visit *visit, void *self)
{
    struct call_reader *in = calloc(1, sizeof *in);

    if (in == NULL)
        return;
    in->at = text;
    in->end = text + size;
    in->line_end = text;
    in->language = language;
    in->visit = visit;
    in->self = self;
    if (language == TAKT_SCAN_PYTHON)
        read_indented(in);
    else
        read_braces(in);
    free(in);
}
