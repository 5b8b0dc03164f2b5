/* SPDX-License-Identifier: MIT */
/*
 * profile_value.c - the values that Cargo and rustc have for four keys.
 *
 * `lto = false` is not `lto = "off"`: it still optimizes across the units of a
 * crate ("thin-local").
 */
#include "project/profile_value.h"

#include <string.h>

static const char *const names[TAKT_PROFILE_KEYS] = {"opt-level", "lto",
                                                     "codegen-units", "strip"};

static const struct value_word {
    enum takt_profile_key key;
    const char *text;
    int rank;
} words[] = {
    {TAKT_KEY_LTO, "off", 0},       {TAKT_KEY_LTO, "n", 0},
    {TAKT_KEY_LTO, "no", 0},        {TAKT_KEY_LTO, "none", 0},
    {TAKT_KEY_LTO, "thin", 2},      {TAKT_KEY_LTO, "fat", 3},
    {TAKT_KEY_LTO, "y", 3},         {TAKT_KEY_LTO, "yes", 3},
    {TAKT_KEY_LTO, "on", 3},        {TAKT_KEY_LTO, "true", 3},
    {TAKT_KEY_STRIP, "none", 0},    {TAKT_KEY_STRIP, "debuginfo", 1},
    {TAKT_KEY_STRIP, "symbols", 2},
};

const char *takt__profile_key_name(enum takt_profile_key key)
{
    return names[key];
}

static bool is_word(const struct takt_toml_value *value, const char *text)
{
    return value->kind == TAKT_TOML_STRING &&
           value->string_length == strlen(text) &&
           memcmp(value->string, text, value->string_length) == 0;
}

static int rank_of_integer(enum takt_profile_key key, int64_t value)
{
    if (key == TAKT_KEY_OPT_LEVEL && value >= 0 && value <= 3)
        return (int)value;
    if (key == TAKT_KEY_CODEGEN_UNITS && value >= 1)
        return value > 999999 ? -999999 : -(int)value;
    return TAKT_RANK_UNKNOWN;
}

static int rank_of_boolean(enum takt_profile_key key, bool truth)
{
    if (key == TAKT_KEY_LTO)
        return truth ? 3 : 1;
    if (key == TAKT_KEY_STRIP)
        return truth ? 2 : 0;
    return TAKT_RANK_UNKNOWN;
}

int takt__profile_rank(enum takt_profile_key key,
                       const struct takt_toml_value *value)
{
    static const int defaults[TAKT_PROFILE_KEYS] = {3, 1, -16, 0};

    if (value == NULL)
        return defaults[key];
    if (value->kind == TAKT_TOML_INTEGER)
        return rank_of_integer(key, value->integer);
    if (value->kind == TAKT_TOML_BOOLEAN)
        return rank_of_boolean(key, value->truth);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (words[i].key == key && is_word(value, words[i].text))
            return words[i].rank;
    return TAKT_RANK_UNKNOWN;
}

bool takt__profile_has_debug(const struct takt_toml_value *debug)
{
    if (debug == NULL)
        return false;
    if (debug->kind == TAKT_TOML_INTEGER)
        return debug->integer != 0;
    if (debug->kind == TAKT_TOML_BOOLEAN)
        return debug->truth;
    return !is_word(debug, "none");
}
