/* SPDX-License-Identifier: MIT */
/*
 * queries.c - the query files, which lie in the program as text.
 * TAKT_PATTERNS_DIR is the folder they are in.
 */
#include "language.h"

#define QUERY(language)                                             \
    __asm__(".pushsection .rodata\n"                                \
            ".hidden takt__query_" #language "\n"                   \
            ".globl takt__query_" #language "\n"                    \
            "takt__query_" #language ":\n"                          \
            ".incbin \"" TAKT_PATTERNS_DIR "/" #language ".scm\"\n" \
            ".byte 0\n"                                             \
            ".popsection\n")

#ifndef TAKT_WITHOUT_C
QUERY(c);
#endif
#ifndef TAKT_WITHOUT_CPP
QUERY(cpp);
#endif
#ifndef TAKT_WITHOUT_PYTHON
QUERY(python);
#endif
#ifndef TAKT_WITHOUT_RUST
QUERY(rust);
#endif
