/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"

/* A name of C++ or Rust as the linker sees it: _ZN2ns6matmulEPf has the names
 * "ns" and "matmul", each behind its length. The last one that is no hash. */
static bool last_of_mangled(const char *symbol, char *out, size_t size)
{
    const char *at = symbol + 2;
    bool is_found = false;

    at += *at == 'N';
    while (isdigit((unsigned char)*at)) {
        char *name;
        const unsigned long length = strtoul(at, &name, 10);
        if (length == 0 || length > strlen(name))
            break;
        if (!(length == 17 && name[0] == 'h') && name[0] != '{' &&
            strncmp(name, "_$u7b$", 6) != 0) {
            snprintf(out, size, "%.*s", (int)length, name);
            is_found = true;
        }
        at = name + length;
    }
    return is_found;
}

/* Cuts at the first bracket that is not the begin of all: arguments of a
 * function or of a template. */
static void cut_arguments(char *name)
{
    for (char *at = name + 1; name[0] != '\0' && *at != '\0'; at++)
        if (*at == '(' || *at == '<') {
            while (at > name && at[-1] == ':') /* Rust's ::<f32> */
                at--;
            *at = '\0';
            return;
        }
}

/* Parts that compilers add: matmul.constprop.0, matmul._omp_fn.2. */
static void cut_suffixes(char *name)
{
    static const char *const suffixes[] = {
        ".constprop",    ".isra",     ".part.", ".cold", "._omp_fn",
        ".omp_outlined", ".lto_priv", ".llvm.", ".avx",  ".default"};

    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++) {
        char *at = strstr(name, suffixes[i]);
        if (at != NULL && at > name)
            *at = '\0';
    }
}

/* Cuts what Rust puts at the end: "::h0123456789abcdef", "::{{closure}}". */
static void cut_rust(char *name)
{
    for (char *at = strrchr(name, ':'); at != NULL && at > name + 1;
         at = strrchr(name, ':')) {
        const bool is_hash = at[1] == 'h' && strlen(at + 2) == 16 &&
                             strspn(at + 2, "0123456789abcdef") == 16;
        if (!is_hash && at[1] != '{')
            return;
        at[-1] = '\0';
    }
}

void plain_symbol(const char *symbol, char out[longest_symbol])
{
    char name[1024];

    snprintf(name, sizeof name, "%s", symbol);
    if (strncmp(symbol, "_Z", 2) == 0 &&
        last_of_mangled(symbol, out, longest_symbol))
        return;
    cut_suffixes(name);
    cut_rust(name);
    if (name[0] == '<') { /* <T as Trait>::method */
        char *at = strstr(name, ">::");
        if (at != NULL)
            memmove(name, at + 3, strlen(at + 3) + 1);
    }
    cut_arguments(name);
    const char *begin = name;
    for (const char *at = name; *at != '\0'; at++)
        if ((at[0] == ':' || at[0] == '.' || at[0] == ' ') && at[1] != '\0')
            begin = at + 1;
    snprintf(out, longest_symbol, "%.127s", begin);
}

bool is_foreign_symbol(const char *symbol)
{
    static const char *const begins[] = {
        "__",      "_dl_",      "_int_",     "std::",     "core::",  "alloc::",
        "<core::", "<alloc::",  "<std::",    "_ZNSt",     "_ZSt",    "_ZN4core",
        "_ZN3std", "_ZN5alloc", "_ZNK3std",  "_ZNK4core", "cblas_",  "numpy",
        "Py",      "_Py",       "<built-in", "<method ",  "<frozen", "<string>",
        "[",       "omp_",      "GOMP_",     "libc_",     "syscall", "asm_",
        "entry_"};
    static const char *const names[] = {
        "exp",    "expf",   "exp2",    "exp2f",  "log",    "logf",   "log2",
        "log2f",  "log1p",  "pow",     "powf",   "sqrt",   "sqrtf",  "sin",
        "sinf",   "cos",    "cosf",    "tan",    "tanf",   "tanh",   "tanhf",
        "erf",    "erff",   "fmax",    "fmin",   "fmaxf",  "fminf",  "fabs",
        "floor",  "ceil",   "round",   "roundf", "memcpy", "memset", "memmove",
        "malloc", "calloc", "realloc", "free",   "qsort",  "rand",   "strlen",
        "strcmp", "printf"};
    char name[longest_symbol];
    char *at;

    if (symbol[0] == '\0')
        return true;
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (strncmp(symbol, begins[i], strlen(begins[i])) == 0)
            return true;
    snprintf(name, sizeof name, "%.127s", symbol);
    if ((at = strchr(name, '@')) != NULL) /* expf@plt, exp@@GLIBC_2.29 */
        *at = '\0';
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}
