/* SPDX-License-Identifier: MIT */
/*
 * rust_outline.c - what a file of Rust declares for the others of its crate:
 * structs, their methods, aliases, constants, and functions with what they
 * return. Told from the text alone.
 */
#include "rust.h"

#include "outline.h"

#include <string.h>

/* fn f(..) -> T { */
static bool is_body(const char *start, const char *brace)
{
    const char *at = brace;

    while (at > start && strchr(";{}", at[-1]) == NULL)
        at--;
    return takt__outline_has_word((struct takt_text){at, (size_t)(brace - at)},
                                  "fn");
}

/* Where a keyword ends; the end of the head if there is none. */
static const char *behind(struct takt_text head, const char *keyword)
{
    const char *at = head.at, *end = head.at + head.size;

    while (at < end) {
        const struct takt_text word = takt__outline_word_after(at, end);
        at = word.at + word.size;
        if (word.size == 0 || takt__text_is(word, keyword))
            break;
    }
    return at;
}

/* The name that a keyword gives: fn NAME, struct NAME. */
static struct takt_text named(struct takt_text head, const char *keyword)
{
    return takt__outline_word_after(behind(head, keyword), head.at + head.size);
}

/* impl<T> Trait<T> for Name<T>: the name. */
static struct takt_text implemented(struct takt_text head)
{
    const char *at = behind(head, "impl"), *end = head.at + head.size;

    if (takt__outline_has_word(head, "for"))
        return named(head, "for");
    if (at < end && *at == '<') {
        unsigned depth = 0;
        do {
            depth += *at == '<';
            depth -= *at == '>';
            at++;
        } while (at < end && depth > 0);
    }
    return takt__outline_word_after(at, end);
}

/* trait Sample: Float {}: what it is bound to; its methods are of others. */
static void outline_trait(const struct takt_outline *in, struct takt_text head)
{
    char text[512];

    if (head.size + 3 > sizeof text || memchr(head.at, ':', head.size) == NULL)
        return;
    memcpy(text, head.at, head.size);
    memcpy(text + head.size, "{}", 2);
    takt__project_declare(in->project, (struct takt_text){text, head.size + 2});
    takt__project_name(in->project, named(head, "trait"));
}

static void outline_item(struct takt_outline *in, const char *start,
                         const char *end, struct takt_text head)
{
    static const char *const keyword[] = {"struct", "type", "const", "static",
                                          "fn"};
    static const char common[] = "Vec Option Box String f32 f64";

    if (takt__outline_has_word(head, "trait")) {
        outline_trait(in, head);
        return;
    }
    if (takt__outline_has_word(head, "impl")) {
        const struct takt_text name = implemented(head);
        if (!takt__text_in(name, common)) {
            takt__outline_declare(in, start, end);
            takt__project_name(in->project, name);
        }
        return;
    }
    for (size_t i = 0; i < sizeof keyword / sizeof *keyword; i++)
        if (takt__outline_has_word(head, keyword[i])) {
            const bool is_function =
                takt__outline_has_word(head, "fn") && i != 4;
            if (is_function) /* const fn f() */
                continue;
            takt__outline_declare(in, start, end);
            takt__project_name(in->project, named(head, keyword[i]));
            return;
        }
}

/* One item, from its first word on. */
static void outline_one(struct takt_outline *in)
{
    const char *start = in->at;

    while (in->at < in->end) {
        const char *next = takt__outline_behind_literal(in->at, in->end);
        const struct takt_text head = {start, (size_t)(in->at - start)};
        if (next != in->at)
            in->at = next;
        else if (*in->at == '(' || *in->at == '[')
            in->at = takt__outline_behind_bracket(in->at, in->end);
        else if (*in->at == ';') {
            in->at++;
            outline_item(in, start, in->at, head);
            return;
        } else if (*in->at == '{') {
            const struct takt_text module = named(head, "mod");
            if (takt__outline_has_word(head, "mod") &&
                !takt__text_is(module, "tests")) {
                in->at++; /* what is in it counts */
                return;
            }
            in->at = takt__outline_behind_bracket(in->at, in->end);
            outline_item(in, start, in->at, head);
            return;
        } else if (*in->at == '}')
            return;
        else
            in->at++;
    }
}

void takt__rust_outline(struct takt_project *project, const char *text,
                        size_t size)
{
    struct takt_outline in = {project, text, text + size, is_body, true};

    while (in.at < in.end) {
        const char *next = takt__outline_behind_literal(in.at, in.end);
        if (next != in.at)
            in.at = next;
        else if (*in.at == '[') /* of an attribute */
            in.at = takt__outline_behind_bracket(in.at, in.end);
        else if (takt__outline_is_word(*in.at))
            outline_one(&in);
        else
            in.at++;
    }
}
