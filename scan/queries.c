/* SPDX-License-Identifier: MIT */
/*
 * queries.c - the query files, which lie in the program as text.
 * TAKT_PATTERNS_DIR is the folder they are in. What C++ shares with C stands
 * in c.scm alone.
 */

#define TEXT(name) ".incbin \"" TAKT_PATTERNS_DIR "/" name ".scm\"\n"

#define QUERY(language, text)                               \
    __asm__(".pushsection .rodata\n"                        \
            ".hidden takt__query_" #language "\n"           \
            ".globl takt__query_" #language "\n"            \
            "takt__query_" #language ":\n" text ".byte 0\n" \
            ".popsection\n")

#ifndef TAKT_WITHOUT_C
QUERY(c, TEXT("c"));
#endif
#ifndef TAKT_WITHOUT_CPP
QUERY(cpp, TEXT("c") TEXT("cpp"));
#endif
#ifndef TAKT_WITHOUT_PYTHON
QUERY(python, TEXT("python"));
#endif
#ifndef TAKT_WITHOUT_RUST
QUERY(rust, TEXT("rust"));
#endif
