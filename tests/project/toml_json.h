/* SPDX-License-Identifier: MIT */
/* toml_json.h - a tree as JSON, for scripts and tests. */
#pragma once

#include <stdio.h>

#include "project/toml.h"

static inline void print_toml_string(FILE *out, const char *string,
                                     size_t length)
{
    fputc('"', out);
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)string[i];
        if (c < ' ' || c == '"' || c == '\\' || c == 0x7F)
            fprintf(out, "\\u%04x", c);
        else
            fputc(c, out);
    }
    fputc('"', out);
}

/* Floats and dates as {"raw": "1e3"}. */
static inline void print_toml_value(FILE *out,
                                    const struct takt_toml_value *value,
                                    const char *text)
{
    const char *const brackets = value->kind == TAKT_TOML_TABLE ? "{}" : "[]";

    switch (value->kind) {
    case TAKT_TOML_STRING:
        print_toml_string(out, value->string, value->string_length);
        return;
    case TAKT_TOML_INTEGER:
        fprintf(out, "%lld", (long long)value->integer);
        return;
    case TAKT_TOML_BOOLEAN:
        fputs(value->truth ? "true" : "false", out);
        return;
    case TAKT_TOML_FLOAT:
    case TAKT_TOML_TIME:
        fputs("{\"raw\":", out);
        print_toml_string(out, text + value->text.from,
                          value->text.to - value->text.from);
        fputc('}', out);
        return;
    default:
        break;
    }
    fputc(brackets[0], out);
    for (const struct takt_toml_value *one = value->first; one != NULL;
         one = one->next) {
        if (one != value->first)
            fputc(',', out);
        if (one->key != NULL) {
            print_toml_string(out, one->key, one->key_length);
            fputc(':', out);
        }
        print_toml_value(out, one, text);
    }
    fputc(brackets[1], out);
}
