/* SPDX-License-Identifier: MIT */
/*
 * text.c - what languages need of nodes and their text.
 */
#include "language.h"
#include "text/digit.h"
#include "text/region.h"

#include <string.h>

struct takt_text takt__node_text(const struct takt_source *source, TSNode node)
{
    struct takt_text text = {source->text, 0};

    if (ts_node_is_null(node))
        return text;
    const uint32_t start = ts_node_start_byte(node);
    const uint32_t end = ts_node_end_byte(node);
    if (start <= end && end <= source->size)
        text = (struct takt_text){source->text + start, end - start};
    return text;
}

bool takt__text_is(struct takt_text text, const char *word)
{
    return strlen(word) == text.size && memcmp(text.at, word, text.size) == 0;
}

bool takt__text_in(struct takt_text text, const char *words)
{
    for (const char *at = words;; at++) {
        size_t i = 0;
        while (i < text.size && at[i] == text.at[i])
            i++;
        if (i == text.size && (at[i] == ' ' || at[i] == '\0'))
            return i > 0;
        while (*at != ' ' && *at != '\0') /* words are short */
            at++;
        if (*at == '\0')
            return false;
    }
}

bool takt__word_in(const char *word, const char *words)
{
    return takt__text_in((struct takt_text){word, strlen(word)}, words);
}

const char *takt__source_keep(const struct takt_source *source,
                              const struct takt_text *part, size_t count)
{
    size_t size = 1;

    for (size_t i = 0; i < count; i++)
        size += part[i].size;
    char *kept = takt__region_take(source->region, size);
    if (kept == NULL)
        return "";
    char *end = kept;
    for (size_t i = 0; i < count; i++) {
        memcpy(end, part[i].at, part[i].size);
        end += part[i].size;
    }
    *end = 0;
    return kept;
}

bool takt__node_is(TSNode node, const char *type)
{
    if (ts_node_is_null(node))
        return false;
    const char *is = ts_node_type(node);
    return is[0] == type[0] && strcmp(is, type) == 0; /* most differ at once */
}

bool takt__node_in(TSNode node, const char *types)
{
    if (ts_node_is_null(node))
        return false;
    return takt__word_in(ts_node_type(node), types);
}

/* The number of a field; 0: the grammar has none of that name. Tree-sitter
 * looks through all names each time, so what was asked lately is kept. */
static TSFieldId field_number(const TSLanguage *language, const char *field)
{
    static _Thread_local struct {
        const TSLanguage *language;
        const char *field;
        TSFieldId number;
    } known[128];
    const size_t place =
        ((uintptr_t)field ^ (uintptr_t)field >> 7 ^ (uintptr_t)language >> 6) %
        128;

    if (known[place].language != language || known[place].field != field ||
        strcmp(ts_language_field_name_for_id(language, known[place].number),
               field) != 0) {
        const TSFieldId number = ts_language_field_id_for_name(
            language, field, (uint32_t)strlen(field));
        if (number == 0)
            return 0;
        known[place].language = language;
        known[place].field = field;
        known[place].number = number;
    }
    return known[place].number;
}

TSNode takt__node_field(TSNode node, const char *field)
{
    if (ts_node_is_null(node))
        return node;
    return ts_node_child_by_field_id(
        node, field_number(ts_node_language(node), field));
}

uint32_t takt__node_children(TSNode node)
{
    return ts_node_is_null(node) ? 0 : ts_node_named_child_count(node);
}

TSNode takt__node_child(TSNode node, uint32_t place)
{
    return ts_node_is_null(node) ? node : ts_node_named_child(node, place);
}

/* Takes a prefix such as 0x from the text and tells the base it stands for; a
 * plain 0 before digits is octal in C and an error elsewhere. */
static unsigned take_base(struct takt_text *text)
{
    if (text->size < 2 || text->at[0] != '0')
        return 10;
    unsigned base = 0;
    switch (text->at[1] | 0x20) {
    case 'x':
        base = 16;
        break;
    case 'o':
        base = 8;
        break;
    case 'b':
        base = 2;
        break;
    default:
        return takt__digit(text->at[1]) < 8 ? 8 : 10;
    }
    text->at += 2;
    text->size -= 2;
    return base;
}

/* What may follow the digits: u32 or usize in Rust, ul, LLU or z in C. */
static bool is_integer_suffix(struct takt_text text)
{
    static const char *const word[] = {
        "",      "u",  "l",   "ul",  "lu",  "ll",   "ull",  "llu",
        "z",     "uz", "zu",  "u8",  "u16", "u32",  "u64",  "u128",
        "usize", "i8", "i16", "i32", "i64", "i128", "isize"};
    char lower[8] = "";

    if (text.size >= sizeof lower)
        return false;
    for (size_t i = 0; i < text.size; i++)
        lower[i] = (char)(text.at[i] | 0x20);
    for (size_t i = 0; i < sizeof word / sizeof *word; i++)
        if (strcmp(lower, word[i]) == 0)
            return true;
    return false;
}

bool takt__text_integer(struct takt_text text, uint64_t *out)
{
    const unsigned base = take_base(&text);
    uint64_t value = 0;
    size_t i = 0, digits = 0;

    for (; i < text.size; i++) {
        if (text.at[i] == '_' || text.at[i] == '\'') /* between digits */
            continue;
        const unsigned digit = takt__digit(text.at[i]);
        if (digit >= base)
            break;
        if (value > (UINT64_MAX - digit) / base)
            return false;
        value = value * base + digit;
        digits++;
    }
    if (digits == 0 ||
        !is_integer_suffix((struct takt_text){text.at + i, text.size - i}))
        return false;
    *out = value;
    return true;
}

bool takt__cursor_next(TSTreeCursor *cursor, bool enters)
{
    bool is_there = enters && ts_tree_cursor_goto_first_child(cursor);

    while (!is_there) {
        is_there = ts_tree_cursor_goto_next_sibling(cursor);
        if (!is_there && !ts_tree_cursor_goto_parent(cursor))
            break;
    }
    return is_there;
}
