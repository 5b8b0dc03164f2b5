/* SPDX-License-Identifier: MIT */
/*
 * toml_scalar.c - booleans, numbers, dates and times. Floats and
 * dates are checked, but their values are not needed.
 */
#include "project/toml_lex.h"

#include <string.h>

#include "text/digit.h"

/* A word that is no string, and what is left of it. */
struct word {
    const char *at, *end;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool take(struct word *word, char c)
{
    if (word->at == word->end || *word->at != c)
        return false;
    word->at++;
    return true;
}

static bool take_text(struct word *word, const char *text)
{
    const size_t length = strlen(text);

    if ((size_t)(word->end - word->at) < length ||
        memcmp(word->at, text, length) != 0)
        return false;
    word->at += length;
    return true;
}

/* Digits, with single '_' between them; at least one. */
static bool take_digits(struct word *word)
{
    if (word->at == word->end || !is_digit(*word->at))
        return false;
    while (word->at != word->end && is_digit(*word->at)) {
        word->at++;
        if (word->end - word->at >= 2 && *word->at == '_' &&
            is_digit(word->at[1]))
            word->at++;
    }
    return true;
}

/* All that is left, as digits of that base; `most` is the largest value. */
static bool read_magnitude(struct word word, unsigned base, uint64_t most,
                           uint64_t *value)
{
    *value = 0;
    for (; word.at != word.end; word.at++) {
        if (*word.at == '_')
            continue;
        const uint64_t digit = takt__digit(*word.at);
        if (*value > (most - digit) / base)
            return false;
        *value = *value * base + digit;
    }
    return true;
}

/* Whether all that is left are digits of that base, with '_' between them. */
static bool are_digits(struct word word, unsigned base)
{
    bool was_digit = false;

    for (; word.at != word.end; word.at++) {
        const bool is_one = takt__digit(*word.at) < base;
        if (!is_one && (*word.at != '_' || !was_digit))
            return false;
        was_digit = is_one;
    }
    return was_digit;
}

/* 0xff, 0o755, 0b1010; `word` stands behind the prefix. */
static bool read_based(struct takt_toml_lexer *lexer, struct word word,
                       unsigned base, struct takt_toml_value *value)
{
    uint64_t magnitude;

    if (!are_digits(word, base))
        return takt__toml_fail(lexer, lexer->at, "this is no number");
    if (!read_magnitude(word, base, INT64_MAX, &magnitude))
        return takt__toml_fail(lexer, lexer->at, "this number is too large");
    value->integer = (int64_t)magnitude;
    return true;
}

/* The rest of a float, behind its integer. */
static bool is_fraction(struct word word)
{
    if (take(&word, '.') && !take_digits(&word))
        return false;
    if (take(&word, 'e') || take(&word, 'E')) {
        if (!take(&word, '-'))
            take(&word, '+');
        if (!take_digits(&word))
            return false;
    }
    return word.at == word.end;
}

/* The base that a prefix says, which is passed over; 0: there is none. */
static unsigned take_base(struct word *word)
{
    if (take_text(word, "0x"))
        return 16;
    if (take_text(word, "0o"))
        return 8;
    return take_text(word, "0b") ? 2 : 0;
}

static bool read_number(struct takt_toml_lexer *lexer, struct word word,
                        struct takt_toml_value *value)
{
    const bool is_negative = take(&word, '-');
    const bool has_sign = is_negative || take(&word, '+');
    const struct word digits = word;
    const uint64_t most = (uint64_t)INT64_MAX + is_negative;
    const unsigned base = has_sign ? 0 : take_base(&word);
    uint64_t magnitude;

    value->kind = TAKT_TOML_INTEGER;
    if (base != 0)
        return read_based(lexer, word, base, value);
    value->kind = TAKT_TOML_FLOAT;
    if ((take_text(&word, "inf") || take_text(&word, "nan")) &&
        word.at == word.end)
        return true;
    if (word.at != digits.at || !take_digits(&word) ||
        (word.at - digits.at > 1 && *digits.at == '0'))
        return takt__toml_fail(lexer, lexer->at, "this is no value");
    if (word.at != word.end)
        return is_fraction(word) ||
               takt__toml_fail(lexer, lexer->at, "this is no value");
    value->kind = TAKT_TOML_INTEGER;
    if (!read_magnitude(digits, 10, most, &magnitude))
        return takt__toml_fail(lexer, lexer->at, "this number is too large");
    value->integer =
        is_negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

/* Exactly `count` digits, of a number from `least` to `most`. */
static bool take_field(struct word *word, int count, int least, int most,
                       int *field)
{
    *field = 0;
    for (; count > 0; count--, word->at++) {
        if (word->at == word->end || !is_digit(*word->at))
            return false;
        *field = *field * 10 + (*word->at - '0');
    }
    return *field >= least && *field <= most;
}

static bool take_date(struct word *word)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day;

    if (!take_field(word, 4, 0, 9999, &year) || !take(word, '-') ||
        !take_field(word, 2, 1, 12, &month) || !take(word, '-') ||
        !take_field(word, 2, 1, 31, &day))
        return false;
    const bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day <= days[month - 1] + (month == 2 && is_leap);
}

static bool take_time(struct word *word)
{
    int field;

    if (!take_field(word, 2, 0, 23, &field) || !take(word, ':') ||
        !take_field(word, 2, 0, 59, &field))
        return false;
    if (!take(word, ':'))
        return true;
    if (!take_field(word, 2, 0, 60, &field)) /* 60: a leap second */
        return false;
    if (!take(word, '.'))
        return true;
    const char *from = word->at;
    while (word->at != word->end && is_digit(*word->at))
        word->at++;
    return word->at != from;
}

static bool take_offset(struct word *word)
{
    int field;

    if (take(word, 'Z') || take(word, 'z'))
        return true;
    if (!take(word, '+') && !take(word, '-'))
        return false;
    return take_field(word, 2, 0, 23, &field) && take(word, ':') &&
           take_field(word, 2, 0, 59, &field);
}

static bool is_time(struct word word)
{
    if (word.end - word.at > 2 && word.at[2] == ':')
        return take_time(&word) && word.at == word.end;
    if (!take_date(&word))
        return false;
    if (word.at == word.end)
        return true;
    if (!take(&word, 'T') && !take(&word, 't') && !take(&word, ' '))
        return false;
    if (!take_time(&word))
        return false;
    return word.at == word.end || (take_offset(&word) && word.at == word.end);
}

/* Whether it begins like a date, 1979-, or a time, 07: */
static bool looks_like_time(struct word word)
{
    const struct word whole = word;

    while (word.at != word.end && is_digit(*word.at))
        word.at++;
    const ptrdiff_t digits = word.at - whole.at;
    return word.at != word.end && ((digits == 4 && *word.at == '-') ||
                                   (digits == 2 && *word.at == ':'));
}

static struct word find_word(const struct takt_toml_lexer *lexer)
{
    const char *end = lexer->text + lexer->length;
    struct word word = {lexer->text + lexer->at, lexer->text + lexer->at};

    while (word.end != end && strchr(" \t\r\n,]}#=\"'[{", *word.end) == NULL)
        word.end++;
    /* A date and a time may be parted by a space: 1979-05-27 07:32:00. */
    if (word.end - word.at == 10 && looks_like_time(word) &&
        end - word.end >= 2 && *word.end == ' ' && is_digit(word.end[1])) {
        word.end++;
        while (word.end != end && strchr(" \t\r\n,]}#", *word.end) == NULL)
            word.end++;
    }
    return word;
}

bool takt__toml_read_scalar(struct takt_toml_lexer *lexer,
                            struct takt_toml_value *value)
{
    const struct word word = find_word(lexer);
    struct word rest = word;

    if (word.at == word.end)
        return takt__toml_fail(lexer, lexer->at, "a value should be here");
    if (looks_like_time(word)) {
        value->kind = TAKT_TOML_TIME;
        if (!is_time(word))
            return takt__toml_fail(lexer, lexer->at,
                                   "there is no such date or time");
    } else if ((take_text(&rest, "true") || take_text(&rest, "false")) &&
               rest.at == rest.end) {
        value->kind = TAKT_TOML_BOOLEAN;
        value->truth = *word.at == 't';
    } else if (!read_number(lexer, word, value)) {
        return false;
    }
    lexer->at += (size_t)(word.end - word.at);
    return true;
}
