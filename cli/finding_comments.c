/* SPDX-License-Identifier: MIT */
/*
 * finding_comments.c - the comments of a source file, told from strings that
 * look like comments. It need not understand more of a language: what follows
 * an error is read as if there were none.
 */
#include <string.h>

#include "findings.h"

struct comment_reader {
    const char *at, *end;
    unsigned line;
    bool is_alone; /* nothing but blanks so far on this line */
    comment_visit *visit;
    void *self;
};

static bool is_at(const struct comment_reader *reader, const char *word)
{
    const size_t length = strlen(word);

    return (size_t)(reader->end - reader->at) >= length &&
           memcmp(reader->at, word, length) == 0;
}

static void step(struct comment_reader *reader)
{
    if (*reader->at == '\n') {
        reader->line++;
        reader->is_alone = true;
    } else if (*reader->at != ' ' && *reader->at != '\t') {
        reader->is_alone = false;
    }
    reader->at++;
}

static void skip(struct comment_reader *reader, size_t count)
{
    while (count-- > 0 && reader->at < reader->end)
        step(reader);
}

/* Up to the end of the line. */
static void take_line(struct comment_reader *reader, size_t mark)
{
    const bool is_alone = reader->is_alone;
    const char *from = reader->at + mark;

    while (reader->at < reader->end && *reader->at != '\n')
        reader->at++;
    if (from <= reader->at)
        reader->visit(reader->self, from, (size_t)(reader->at - from),
                      reader->line, is_alone);
}

/* Up to the star and slash, line by line; Rust's lie in each other. */
static void take_block(struct comment_reader *reader, bool is_nested)
{
    bool is_alone = reader->is_alone;
    unsigned depth = 1;

    reader->at += 2;
    const char *from = reader->at;
    while (reader->at < reader->end && depth > 0) {
        const bool is_close = is_at(reader, "*/");
        if (*reader->at == '\n' || (is_close && depth == 1)) {
            reader->visit(reader->self, from, (size_t)(reader->at - from),
                          reader->line, is_alone);
            from = reader->at + 1;
            is_alone = true;
        }
        if (is_close || (is_nested && is_at(reader, "/*"))) {
            depth += is_close ? -1u : 1;
            reader->at += 2;
        } else {
            reader->line += *reader->at == '\n';
            reader->at++;
        }
    }
}

/* Up to the quote, over escapes; a newline ends it unless `is_long`. */
static void skip_string(struct comment_reader *reader, const char *quote,
                        bool has_escapes, bool is_long)
{
    skip(reader, strlen(quote));
    while (reader->at < reader->end && !is_at(reader, quote) &&
           (is_long || *reader->at != '\n'))
        skip(reader, has_escapes && *reader->at == '\\' ? 2 : 1);
    if (reader->at < reader->end && is_at(reader, quote))
        skip(reader, strlen(quote));
}

/* r"...", r#"..."#: behind the r. False: it is none. */
static bool skip_raw(struct comment_reader *reader)
{
    const char *at = reader->at;
    char quote[18] = "\"";
    size_t marks = 0;

    while (at + marks < reader->end && at[marks] == '#' && marks < 16)
        quote[++marks] = '#';
    quote[marks + 1] = '\0';
    if (at + marks >= reader->end || at[marks] != '"')
        return false;
    skip(reader, marks + 1);
    while (reader->at < reader->end && !is_at(reader, quote))
        step(reader);
    skip(reader, marks + 1);
    return true;
}

/* 'a' and '\n', and not 'a as in &'a. */
static void skip_character(struct comment_reader *reader)
{
    const bool is_escape =
        reader->end - reader->at > 2 && reader->at[1] == '\\';

    if (is_escape) {
        skip_string(reader, "'", true, false);
    } else if (reader->end - reader->at > 2 && reader->at[2] == '\'') {
        skip(reader, 3);
    } else {
        step(reader);
    }
}

static void read_python(struct comment_reader *reader)
{
    if (*reader->at == '#')
        take_line(reader, 1);
    else if (is_at(reader, "\"\"\""))
        skip_string(reader, "\"\"\"", true, true);
    else if (is_at(reader, "'''"))
        skip_string(reader, "'''", true, true);
    else if (*reader->at == '"')
        skip_string(reader, "\"", true, false);
    else if (*reader->at == '\'')
        skip_string(reader, "'", true, false);
    else
        step(reader);
}

static void read_braces(struct comment_reader *reader, bool is_rust)
{
    if (is_at(reader, "//")) {
        take_line(reader, 2);
    } else if (is_at(reader, "/*")) {
        take_block(reader, is_rust);
    } else if (*reader->at == '"') {
        skip_string(reader, "\"", true, is_rust);
    } else if (*reader->at == '\'' && is_rust) {
        skip_character(reader);
    } else if (*reader->at == '\'') {
        skip_string(reader, "'", true, false);
    } else if (*reader->at == 'r' && is_rust) {
        step(reader);
        if (reader->at < reader->end)
            skip_raw(reader);
    } else {
        step(reader);
    }
}

void find_comments(enum takt_scan_language language, const char *text,
                   size_t size, comment_visit *visit, void *self)
{
    struct comment_reader reader = {.at = text,
                                    .end = text + size,
                                    .line = 1,
                                    .is_alone = true,
                                    .visit = visit,
                                    .self = self};

    while (reader.at < reader.end)
        if (language == TAKT_SCAN_PYTHON)
            read_python(&reader);
        else
            read_braces(&reader, language == TAKT_SCAN_RUST);
}
