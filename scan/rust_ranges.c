/* SPDX-License-Identifier: MIT */
/*
 * rust_ranges.c - which parts of a text are parsed: all but the names of macros
 * like izip! and the heads of macros by example. The body of macro_rules! is
 * tokens to a parser; without its patterns, the $ of its names and the $( )* of
 * what is repeated, it is the code that it stands for, as a block of its own.
 */
#include "rust.h"

#include "cut.h"
#include "outline.h"

#include <string.h>

static const char *behind_blanks(const char *at, const char *end)
{
    while (at < end) {
        const char *next = takt__outline_behind_literal(at, end);
        if (next == at && strchr(" \t\r\n", *at) == NULL)
            break;
        at = next == at ? at + 1 : next;
    }
    return at;
}

/* The name of a macro of which only the arguments count: izip!(a, b) as the
 * tuple of what is gone over, paste! { .. } as a block; and what is only
 * evaluated, to be printed. What assert! is handed decides nothing. */
static void cut_name(struct takt_cutter *in, struct takt_text word)
{
    static const char tuples[] =
        "izip zip unzip z uz println print eprintln eprint format write "
        "writeln panic dbg debug info trace warn error";
    static const char blocks[] = "paste cfg_if";
    const char *at = word.at + word.size;

    if (at >= in->end || *at != '!')
        return;
    const char *next = behind_blanks(at + 1, in->end);
    if (next < in->end &&
        (*next == '(' ? takt__text_in(word, tuples)
                      : *next == '{' && takt__text_in(word, blocks)))
        takt__cut(in, word.at, at + 1);
}

/* $name is a name; $( .. ),* is what is in it. */
static void cut_body(struct takt_cutter *in, const char *at, const char *end,
                     unsigned depth)
{
    while (at < end && depth > 0) {
        const char *next = takt__outline_behind_literal(at, end);
        if (next == at && takt__outline_is_word(*at)) {
            const struct takt_text word = takt__outline_word_after(at, end);
            cut_name(in, word);
            at = word.at + word.size;
            continue;
        }
        if (next != at || *at != '$' || at + 1 >= end) {
            at = next == at ? at + 1 : next;
            continue;
        }
        if (at[1] != '(') {
            takt__cut(in, at, at + 1);
            at++;
            continue;
        }
        const char *close = takt__outline_behind_bracket(at + 1, end);
        takt__cut(in, at, at + 2);
        if (close < at + 3)
            return;
        cut_body(in, at + 2, close - 1, depth - 1);
        at = close;
        while (at < end && strchr("*+?", *at) == NULL && at < close + 2)
            at++;
        at += at < end;
        takt__cut(in, close - 1, at);
    }
}

/* { (pattern) => { body } ; .. }: the bodies are kept. */
static void cut_rules(struct takt_cutter *in, const char *start, const char *at,
                      const char *end)
{
    while ((at = behind_blanks(at, end)) < end) {
        at = behind_blanks(takt__outline_behind_bracket(at, end), end);
        if (end - at < 2 || memcmp(at, "=>", 2) != 0)
            break;
        at = behind_blanks(at + 2, end);
        if (at >= end)
            break;
        const char *close = takt__outline_behind_bracket(at, end);
        if (*at == '{') {
            takt__cut(in, start, at);
            cut_body(in, at, close, 8);
            start = close;
        }
        at = behind_blanks(close, end);
        at += at < end && *at == ';';
    }
    takt__cut(in, start, end + (end < in->end));
}

/* Whether there is anything to be found in a macro. */
static bool has_loop(struct takt_text text)
{
    static const char *const words[] = {"for",  "while", "iter", "map", "sum",
                                        "fold", "dot",   "zip",  "mapv"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (takt__outline_has_word(text, words[i]))
            return true;
    return false;
}

/* The brace of macro_rules! name {, at the first of these words. */
static const char *rules_of(struct takt_text word, const char *end)
{
    const char *at = word.at + word.size;

    if (!takt__text_is(word, "macro_rules") || at >= end || *at != '!')
        return NULL;
    const struct takt_text name = takt__outline_word_after(at, end);
    at = behind_blanks(name.at + name.size, end);
    return name.size > 0 && at < end && *at == '{' ? at : NULL;
}

size_t takt__rust_ranges(const char *text, size_t size, TSRange *range,
                         size_t most)
{
    struct takt_cutter in = takt__cutter(text, size, range, most);
    const char *at = text;

    while (at < in.end) {
        const char *next = takt__outline_behind_literal(at, in.end);
        if (next != at || !takt__outline_is_word(*at)) {
            at = next == at ? at + 1 : next;
            continue;
        }
        const struct takt_text word = takt__outline_word_after(at, in.end);
        at = word.at + word.size;
        cut_name(&in, word);
        const char *brace = rules_of(word, in.end);
        if (brace == NULL)
            continue;
        at = takt__outline_behind_bracket(brace, in.end);
        if (at > brace + 1 &&
            has_loop((struct takt_text){brace, (size_t)(at - brace)}))
            cut_rules(&in, word.at, brace + 1, at - 1);
    }
    return takt__cutter_end(&in);
}

/* The words of what a macro is called with, anywhere in the file. */
static enum takt_rust_leaf called_with(const struct takt_source *source,
                                       struct takt_text name)
{
    static const char *const words[] = {"f32", "f64"};
    static const char *const others[] = {"i32", "i64", "u8",    "u16",  "u32",
                                         "u64", "i8",  "usize", "isize"};
    const char *at = source->text, *end = at + source->size;
    bool has[3] = {false, false, false};

    while ((size_t)(end - at) > name.size + 1 &&
           (at = memchr(at, name.at[0], (size_t)(end - at) - name.size)) !=
               NULL) {
        const char *next = at + name.size;
        if (memcmp(at, name.at, name.size) != 0 || *next != '!' ||
            (at > source->text && takt__outline_is_word(at[-1]))) {
            at++;
            continue;
        }
        at = behind_blanks(next + 1, end);
        if (at >= end || strchr("({[", *at) == NULL)
            continue;
        next = takt__outline_behind_bracket(at, end);
        const struct takt_text with = {at, (size_t)(next - at)};
        for (size_t i = 0; i < 2; i++)
            has[i] |= takt__outline_has_word(with, words[i]);
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            has[2] |= takt__outline_has_word(with, others[i]);
        at = next;
    }
    if (!has[0] && !has[1])
        return TAKT_RUST_UNKNOWN;
    return has[2]             ? TAKT_RUST_GENERIC
           : has[0] && has[1] ? TAKT_RUST_FLOAT
           : has[0]           ? TAKT_RUST_F32
                              : TAKT_RUST_F64;
}

enum takt_rust_leaf takt__rust_macro_leaf(struct takt_rust *rust,
                                          struct takt_text type)
{
    static const char word[] = "macro_rules!";
    const char *start = rust->source->text, *at = type.at;
    const size_t size = sizeof word - 1;

    if (at == start || at[-1] != '$')
        return TAKT_RUST_UNKNOWN;
    while (at > start && ((size_t)(type.at - at) < size || *at != 'm' ||
                          memcmp(at, word, size) != 0))
        at--;
    if (memcmp(at, word, size) != 0)
        return TAKT_RUST_UNKNOWN;
    if (at != rust->macro) {
        rust->macro = at;
        rust->macro_leaf = called_with(
            rust->source, takt__outline_word_after(at + size, type.at));
    }
    return rust->macro_leaf;
}
