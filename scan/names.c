/* SPDX-License-Identifier: MIT */
/*
 * names.c - the words that people read; also in a build that cannot scan.
 */
#include "scan.h"

const char *takt__scan_language_name(enum takt_scan_language language)
{
    static const char *const name[TAKT_SCAN_LANGUAGES] = {
        [TAKT_SCAN_C] = "C",
        [TAKT_SCAN_CPP] = "C++",
        [TAKT_SCAN_PYTHON] = "Python",
        [TAKT_SCAN_RUST] = "Rust",
    };
    return name[language];
}

const char *takt__size_source_name(enum takt_size_source source)
{
    static const char *const name[] = {
        [TAKT_SIZE_UNKNOWN] = "",
        [TAKT_SIZE_LITERAL] = "literal",
        [TAKT_SIZE_CONST] = "constant",
        [TAKT_SIZE_TYPE] = "array type",
        [TAKT_SIZE_LOOP_BOUND] = "loop bound",
    };
    return name[source];
}

const char *takt__certainty_name(enum takt_certainty certainty)
{
    static const char *const name[] = {
        [TAKT_EXACT] = "exact",
        [TAKT_CONTAINS] = "contains",
        [TAKT_UNKNOWN_TYPE] = "unknown type",
    };
    return name[certainty];
}
