/* SPDX-License-Identifier: MIT */
/* toml_edit.h - changes one value in a TOML text, and no other byte of it. */
#pragma once

#include "project/toml.h"

/* A text that is changed: owned, with a NUL behind it that does not count. */
struct takt_toml_text {
    char *bytes;
    size_t length;
};

/* A key, by the tables on its way, all of which can be written without quotes,
 * and a value as it is to be written: a number, or a string in '"' that has no
 * escapes. There is at least one table. */
struct takt_toml_setting {
    const char *const *table;
    size_t tables;
    const char *key;
    const char *literal;
};

/* Whether a value is the same, however it is written; NULL is not. */
bool takt__toml_is(const struct takt_toml_value *value, const char *literal);

/* The table of a setting. NULL: it is not there. */
const struct takt_toml_value *
takt__toml_table(const struct takt_toml_value *root,
                 const struct takt_toml_setting *setting);

/* Sets the value where its table is, in the form that this has: a line under
 * its header, a line of dotted keys, or a pair between braces. If there is no
 * such table, a header for it is added at the end, or braces inside braces. A
 * value that is the same stays as it is written. New lines end like those
 * around them.
 * TAKT_ECORRUPT: the text is not TOML.
 * TAKT_EINVAL: something on the way is no table, or the value is one.
 * TAKT_ENOMEM. Whatever fails, the text is as it was. */
takt_status takt__toml_set(struct takt_toml_text *text,
                           const struct takt_toml_setting *setting,
                           struct takt_toml_error *error);

/* Removes the key and its value, if they are there and have their line for
 * themselves, or are between braces; what has a comment of its own stays. The
 * failures are the same. */
takt_status takt__toml_remove(struct takt_toml_text *text,
                              const struct takt_toml_setting *setting,
                              struct takt_toml_error *error);
