/* SPDX-License-Identifier: MIT */
/*
 * c_family_macro.c - the text of a macro as an expression. To the parser of the
 * file it is only text, so it is read here: arithmetic, comparisons, choices,
 * elements, fields and functions of mathematics.
 */
#include "c_family_expr.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 24 };

struct macro_reading {
    struct takt_c_nest *nest;
    struct takt_text left;
    unsigned depth;
};

static struct takt_ir_expr *read_choice(struct macro_reading *in);

static void pass(struct macro_reading *in, size_t count)
{
    in->left.at += count;
    in->left.size -= count;
}

static char next(struct macro_reading *in)
{
    while (in->left.size > 0 && strchr(" \t\r\n\\", *in->left.at) != NULL)
        pass(in, 1);
    return in->left.size > 0 ? *in->left.at : '\0';
}

static bool accept(struct macro_reading *in, char sign)
{
    if (next(in) != sign)
        return false;
    pass(in, 1);
    return true;
}

static struct takt_text read_word(struct macro_reading *in)
{
    struct takt_text word = {in->left.at, 0};

    next(in);
    word.at = in->left.at;
    while (in->left.size > 0 &&
           (isalnum((unsigned char)*in->left.at) || *in->left.at == '_')) {
        pass(in, 1);
        word.size++;
    }
    return word;
}

static struct takt_ir_expr *read_number(struct macro_reading *in)
{
    char copy[48];
    size_t size = 0;
    struct takt_ir_expr *e = takt__ir_new(&in->nest->ir, TAKT_IR_NUMBER);

    while (in->left.size > 0 && size + 1 < sizeof copy &&
           (isalnum((unsigned char)*in->left.at) || *in->left.at == '.')) {
        copy[size++] = *in->left.at;
        pass(in, 1);
    }
    copy[size] = '\0';
    if (e != NULL)
        e->number = strtod(copy, NULL);
    return e;
}

/* f(x, y), after its name. */
static struct takt_ir_expr *read_call(struct macro_reading *in,
                                      struct takt_text name)
{
    struct takt_ir_expr *argument[TAKT_C_ARGUMENTS];
    unsigned count = 0;

    do
        argument[count] = read_choice(in);
    while (argument[count] != NULL && ++count < TAKT_C_ARGUMENTS &&
           accept(in, ','));
    if (!accept(in, ')'))
        return NULL;
    struct takt_ir_expr *e =
        takt__c_expr_expanded(in->nest, name, argument, count);
    if (e != NULL)
        return e;
    e = takt__c_expr_function(in->nest, name);
    for (unsigned i = 0; i < count; i++)
        e = takt__ir_part(e, argument[i]);
    return e;
}

/* (float)x and (size_t)i: what is between the parentheses is a type. */
static bool skip_cast(struct macro_reading *in)
{
    static const char types[] = "float double int size_t long unsigned";
    struct macro_reading ahead = *in;
    bool is_type = false;

    for (;;) {
        const struct takt_text word = read_word(&ahead);
        if (word.size == 0)
            break;
        if (!takt__text_in(word, types) &&
            takt__c_find(in->nest->source, word, TAKT_C_TYPE) == NULL)
            return false;
        is_type = true;
    }
    if (!is_type || !accept(&ahead, ')'))
        return false;
    *in = ahead;
    return true;
}

static struct takt_ir_expr *read_prefixed(struct macro_reading *in);

static struct takt_ir_expr *read_first(struct macro_reading *in)
{
    const char sign = next(in);

    if (accept(in, '(')) {
        if (skip_cast(in))
            return read_prefixed(in);
        struct takt_ir_expr *e = read_choice(in);
        return accept(in, ')') ? e : NULL;
    }
    if (isdigit((unsigned char)sign) || sign == '.')
        return read_number(in);
    const struct takt_text word = read_word(in);
    if (word.size == 0)
        return NULL;
    return accept(in, '(') ? read_call(in, word)
                           : takt__c_expr_named(in->nest, word);
}

/* a->b and a.b: the whole is a name, as it would be if it stood there. */
static struct takt_ir_expr *read_field(struct macro_reading *in,
                                       const struct takt_ir_expr *of,
                                       const char *sign)
{
    const struct takt_text name = read_word(in);

    return of == NULL || of->sort != TAKT_IR_NAME || name.size == 0
               ? NULL
               : takt__c_expr_field(in->nest, of, sign, name);
}

static struct takt_ir_expr *read_element(struct macro_reading *in)
{
    struct takt_ir_expr *e = read_first(in);

    while (e != NULL) {
        const char sign = next(in);
        if (accept(in, '[')) {
            struct takt_ir_expr *index = read_choice(in);
            e = accept(in, ']') && takt__ir_is_plain_index(index)
                    ? takt__ir_element(&in->nest->ir, e, index)
                    : NULL;
        } else if (sign == '-' && in->left.size > 1 && in->left.at[1] == '>') {
            pass(in, 2);
            e = read_field(in, e, "->");
        } else if (accept(in, '.'))
            e = read_field(in, e, ".");
        else
            break;
    }
    return e;
}

static struct takt_ir_expr *read_prefixed(struct macro_reading *in)
{
    if (in->depth++ > DEEPEST)
        return NULL;
    if (!accept(in, '-'))
        return read_element(in);
    return takt__ir_part(takt__ir_new(&in->nest->ir, TAKT_IR_NEG),
                         read_prefixed(in));
}

static struct takt_ir_expr *read_product(struct macro_reading *in)
{
    struct takt_ir_expr *e = read_prefixed(in);

    for (char sign; (sign = next(in)) == '*' || sign == '/';) {
        pass(in, 1);
        e = takt__ir_pair(&in->nest->ir,
                          sign == '*' ? TAKT_IR_MUL : TAKT_IR_DIV, e,
                          read_prefixed(in));
    }
    return e;
}

static struct takt_ir_expr *read_sum(struct macro_reading *in)
{
    struct takt_ir_expr *e = read_product(in);

    for (char sign; (sign = next(in)) == '+' || sign == '-';) {
        pass(in, 1);
        e = takt__ir_offset(&in->nest->ir,
                            sign == '+' ? TAKT_IR_ADD : TAKT_IR_SUB, e,
                            read_product(in));
    }
    return e;
}

static struct takt_ir_expr *read_comparison(struct macro_reading *in)
{
    struct takt_ir_expr *e = read_sum(in);
    const char sign = next(in);

    if (sign != '<' && sign != '>')
        return e;
    pass(in, 1);
    if (in->left.size > 0 && *in->left.at == '=')
        pass(in, 1);
    return takt__ir_pair(&in->nest->ir,
                         sign == '<' ? TAKT_IR_LESS : TAKT_IR_GREATER, e,
                         read_sum(in));
}

static struct takt_ir_expr *read_choice(struct macro_reading *in)
{
    struct takt_ir_expr *e = read_comparison(in);

    if (!accept(in, '?'))
        return e;
    struct takt_ir_expr *yes = read_choice(in);
    return accept(in, ':')
               ? takt__ir_pick(&in->nest->ir, e, yes, read_choice(in))
               : NULL;
}

struct takt_ir_expr *takt__c_expr_macro(struct takt_c_nest *nest,
                                        struct takt_text body)
{
    struct macro_reading in = {nest, body, 0};
    struct takt_ir_expr *e = read_choice(&in);

    return next(&in) == '\0' ? e : NULL;
}

/* ---- statements ---------------------------------------------------------- */

static bool accept_word(struct macro_reading *in, const char *word)
{
    struct macro_reading ahead = *in;

    if (!takt__text_is(read_word(&ahead), word))
        return false;
    *in = ahead;
    return true;
}

static bool read_assignment(struct macro_reading *in, uint32_t around)
{
    struct takt_ir_stmt stmt = {.around = around};
    struct takt_text sign = {NULL, 1};

    stmt.target = read_element(in);
    const char first = next(in);
    sign.at = in->left.at;
    sign.size += first != '=' && in->left.size > 1;
    if (stmt.target == NULL || first == '\0' ||
        !takt__ir_effect(sign, &stmt.effect))
        return false;
    pass(in, sign.size);
    stmt.value = read_choice(in);
    if (stmt.value == NULL || (stmt.target->sort != TAKT_IR_NAME &&
                               stmt.target->sort != TAKT_IR_ACCESS))
        return false;
    stmt.target->is_varying |= stmt.target->sort == TAKT_IR_NAME;
    takt__ir_simplify(&in->nest->ir, &stmt);
    return takt__c_add(in->nest, stmt);
}

bool takt__c_macro_statements(struct takt_c_nest *nest, struct takt_text body,
                              uint32_t around)
{
    struct macro_reading in = {nest, body, 0};
    const bool is_do = accept_word(&in, "do");
    const bool is_block = accept(&in, '{');

    do {
        while (accept(&in, ';'))
            continue;
        if ((is_block && next(&in) == '}') || next(&in) == '\0')
            break;
        if (!read_assignment(&in, around))
            return false;
    } while (accept(&in, ';'));
    if (is_block != accept(&in, '}'))
        return false;
    if (is_do && (!accept_word(&in, "while") || !accept(&in, '(') ||
                  !accept(&in, '0') || !accept(&in, ')')))
        return false;
    return next(&in) == '\0';
}
