/* SPDX-License-Identifier: MIT */
/*
 * profile_value.h - how a value of a Cargo profile compares with another one,
 * however both are written: `lto = true` is `lto = "fat"`.
 */
#pragma once

#include "project/toml.h"

enum takt_profile_key {
    TAKT_KEY_OPT_LEVEL,
    TAKT_KEY_LTO,
    TAKT_KEY_CODEGEN_UNITS,
    TAKT_KEY_STRIP,
    TAKT_PROFILE_KEYS
};

/* "opt-level", "lto", "codegen-units" or "strip". */
const char *takt__profile_key_name(enum takt_profile_key key);

enum { TAKT_RANK_UNKNOWN = -1000000 };

/* How much work for the compiler it asks for: of two values of a key, the
 * higher rank makes the faster program (of `strip`: the smaller one). NULL:
 * that of Cargo's release profile, which has no such key.
 * TAKT_RANK_UNKNOWN: it is none of Cargo's values, or optimizes for size. */
int takt__profile_rank(enum takt_profile_key key,
                       const struct takt_toml_value *value);

/* Whether `debug` of a profile turns debug information on; NULL does not. */
bool takt__profile_has_debug(const struct takt_toml_value *debug);
