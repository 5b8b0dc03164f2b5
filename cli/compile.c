/* SPDX-License-Identifier: MIT */
/* compile.c - which flags are passed on, and running a compiler. */
#include "compile.h"

#include <string.h>

enum { most_seconds = 60 };

/* ---- words ---- */

/* Behind the last slash. */
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

bool read_compiler(const char *word, struct compile_command *out)
{
    static const char *const names[] = {"gcc", "g++",   "cc",
                                        "c++", "clang", "clang++"};
    const char *name = last_part(word);
    size_t length = strlen(name);
    const char *dash = strrchr(name, '-');

    if (dash != NULL && dash[1] != '\0' &&
        dash[1 + strspn(dash + 1, "0123456789.")] == '\0')
        length = (size_t)(dash - name);
    if (strlen(name) >= sizeof out->compiler)
        return false;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t part = strlen(names[i]);
        if (length < part || memcmp(name + length - part, names[i], part) != 0)
            continue;
        if (length == part || name[length - part - 1] == '-') {
            strcpy(out->compiler, name);
            out->is_clang = strstr(name, "clang") != NULL;
            return true;
        }
    }
    return false;
}

bool is_safe_flag(const char *word, bool *takes_next)
{
    static const char *const with_value[] = {"-I", "-isystem", "-iquote", "-D",
                                             "-U", "-include", "-x"};
    static const char *const begins[] = {"-I",
                                         "-isystem",
                                         "-iquote",
                                         "-D",
                                         "-U",
                                         "-std=",
                                         "-O",
                                         "-march=",
                                         "-mtune=",
                                         "-mcpu=",
                                         "-mavx",
                                         "-msse",
                                         "-mfma",
                                         "-mf16c",
                                         "-mbmi",
                                         "-mprefer-vector-width=",
                                         "-mno-",
                                         "-ffast-math",
                                         "-fno-",
                                         "-funsafe-",
                                         "-fassociative",
                                         "-ffinite",
                                         "-freciprocal",
                                         "-fopenmp",
                                         "-funroll",
                                         "-ftree-",
                                         "-fPIC",
                                         "-fpic",
                                         "-fPIE",
                                         "-fpie",
                                         "-fstrict-",
                                         "-fvisibility",
                                         "-fexceptions",
                                         "-frtti",
                                         "-fsigned-",
                                         "-funsigned-",
                                         "-fwrapv",
                                         "-fcommon",
                                         "-fomit-",
                                         "-finline",
                                         "-fvect",
                                         "-fslp-",
                                         "-fveclib=",
                                         "-fmath-errno",
                                         "-ffp-contract=",
                                         "-ansi",
                                         "-pthread"};

    *takes_next = false;
    for (size_t i = 0; i < sizeof with_value / sizeof with_value[0]; i++)
        if (strcmp(word, with_value[i]) == 0)
            return *takes_next = true;
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (strncmp(word, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

size_t split_words(char *text, char *word[], size_t most)
{
    size_t count = 0;
    char *from = text, *to = text;

    while (count < most) {
        char quote = '\0';
        from += strspn(from, " \t\r\n");
        if (*from == '\0')
            break;
        word[count++] = to;
        for (; *from != '\0' &&
               (quote != '\0' || strchr(" \t\r\n", *from) == NULL);
             from++) {
            if (quote == '\0' && (*from == '"' || *from == '\''))
                quote = *from;
            else if (quote != '\0' && *from == quote)
                quote = '\0';
            else if (*from == '\\' && quote != '\'' && from[1] != '\0')
                *to++ = *++from;
            else
                *to++ = *from;
        }
        const bool is_last = *from == '\0';
        from += !is_last;
        *to++ = '\0';
        if (is_last)
            break;
    }
    return count;
}

bool parse_compiler(char *text, const char *flag[64],
                    struct compile_command *out)
{
    char *word[63];
    const size_t words = split_words(text, word, 63);
    size_t count = 0;

    *out = (struct compile_command){.flag = flag};
    for (size_t i = 1; i < words; i++)
        flag[count++] = word[i]; /* the user's own: all of them */
    flag[count] = NULL;
    return words > 0 && read_compiler(word[0], out);
}

/* ---- running it ---- */

bool run_compiler(const struct compile_command *command,
                  const char *const *more, const char *file, line_visit *visit,
                  void *self)
{
    const char *word[most_words + 64];
    size_t count = 0;

    word[count++] = command->compiler;
    for (size_t i = 0; command->flag[i] != NULL && count < most_words; i++)
        word[count++] = command->flag[i];
    for (; *more != NULL && count < most_words + 32; more++)
        word[count++] = *more;
    word[count++] = "-S";
    word[count++] = "-o";
    word[count++] = "/dev/null";
    word[count++] = file;
    word[count] = NULL;
    return read_child(&(struct child_lines){.name = command->compiler,
                                            .word = word,
                                            .folder = command->folder,
                                            .reads_errors = true,
                                            .most_seconds = most_seconds,
                                            .visit = visit,
                                            .self = self});
}
