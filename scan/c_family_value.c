/* SPDX-License-Identifier: MIT */
/*
 * c_family_value.c - the types of whole expressions, and the values of those
 * that are constant: literals, #define, const, constexpr and enumerators.
 */
#include "c_family.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 12 };

static const struct takt_c_type unknown = {.element = TAKT_IR_UNKNOWN};

/* ---- types of expressions ------------------------------------------------ */

static struct takt_c_type literal_type(struct takt_text text)
{
    const bool is_hex =
        text.size > 1 && (text.at[1] == 'x' || text.at[1] == 'X');
    const bool is_real = !is_hex && (memchr(text.at, '.', text.size) != NULL ||
                                     memchr(text.at, 'e', text.size) != NULL);
    const char last = text.size > 0 ? text.at[text.size - 1] : '0';

    return (struct takt_c_type){.element = !is_real ? TAKT_IR_INTEGER
                                           : last == 'f' || last == 'F'
                                               ? TAKT_IR_F32
                                               : TAKT_IR_F64};
}

static struct takt_c_type type_of(const struct takt_c_place *place,
                                  const struct takt_c_name *name,
                                  unsigned depth)
{
    if (name == NULL)
        return unknown;
    const struct takt_c_declaration held = {.holder = name->holder,
                                            .declarator = name->node};
    return takt__c_declared_type(place, &held, depth);
}

struct takt_c_type takt__c_field_type(const struct takt_c_place *place,
                                      const void *class, struct takt_text field)
{
    const struct takt_c_name *found =
        takt__c_find_field(place->source, class, field);

    return type_of(place, found, 1);
}

static struct takt_c_type field_type(const struct takt_c_place *place,
                                     TSNode node, unsigned depth)
{
    const TSNode field = takt__node_field(node, "field");

    if (ts_node_is_null(field))
        return unknown;
    return takt__c_field_type(
        place,
        takt__c_expression_type(place, takt__node_field(node, "argument"),
                                depth + 1)
            .fields,
        takt__node_text(place->source, field));
}

static struct takt_c_type below(struct takt_c_type type)
{
    if (type.rank == 0)
        return type.kind == TAKT_IR_PLAIN
                   ? unknown
                   : (struct takt_c_type){.element = type.element};
    type.rank--;
    memmove(type.dim, type.dim + 1, 2 * sizeof *type.dim);
    return type;
}

/* What a function or method of that name returns. */
static struct takt_c_type function_type(const struct takt_c_place *place,
                                        struct takt_text name, unsigned depth)
{
    const struct takt_c_name *found =
        takt__c_find(place->source, name, TAKT_C_FUNCTION);

    return type_of(place, found, depth + 1);
}

/* What a function of the project returns: rows(t), rows<2>(t). */
static struct takt_c_type returned_type(const struct takt_c_place *place,
                                        TSNode callee, unsigned depth)
{
    if (takt__node_is(callee, "template_function"))
        callee = takt__node_field(callee, "name");
    if (!takt__node_is(callee, "identifier"))
        return unknown;
    return function_type(place, takt__node_text(place->source, callee), depth);
}

/* a.transpose() is of the type of a; v.begin() runs over v; f(x) may be a
 * constructor or an element. */
static struct takt_c_type call_type(const struct takt_c_place *place,
                                    TSNode node, unsigned depth)
{
    static const char same[] =
        "transpose t array matrix eval noalias cwiseAbs adjoint block topRows "
        "rightCols middleCols middleRows bottomRows submat "
        "square sqrt exp log abs tanh broadcast reshape slice device "
        "leftCols rows cols unchecked unchecked<1> unchecked<2> unchecked<3> "
        "mutable_unchecked mutable_unchecked<1> mutable_unchecked<2> "
        "mutable_unchecked<3>";
    static const char lines[] = "col row head tail segment subvec";
    static const char start[] =
        "begin cbegin rbegin end cend rend data subspan first last";
    const TSNode callee = takt__node_field(node, "function");

    if (ts_node_is_null(callee))
        return unknown;
    if (takt__node_is(callee, "field_expression")) {
        const TSNode field = takt__node_field(callee, "field");
        const TSNode of = takt__node_field(callee, "argument");
        if (ts_node_is_null(field) || ts_node_is_null(of))
            return unknown;
        const struct takt_text name = takt__node_text(place->source, field);
        struct takt_c_type type = takt__c_expression_type(place, of, depth + 1);
        if (takt__text_in(name, start) && takt__c_is_float(type))
            return type;
        struct takt_c_type made = function_type(place, name, depth);
        if (made.element == TAKT_IR_UNKNOWN && type.is_own)
            made.element = type.element; /* T *row(int i) */
        if (made.rank > 0 || takt__text_in(name, start))
            return made.rank > 0 ? made : type;
        const bool is_line = takt__text_in(name, lines);
        if (type.kind == TAKT_IR_PLAIN ||
            (!is_line && !takt__text_in(name, same)) ||
            (takt__text_in(name, "rows cols") &&
             ts_node_named_child_count(takt__node_field(node, "arguments")) ==
                 0))
            return unknown;
        if (is_line) {
            memset(type.dim, 0, sizeof type.dim);
            type.kind =
                type.kind == TAKT_IR_ARRAY ? TAKT_IR_ARRAY : TAKT_IR_VECTOR;
        }
        if (takt__text_is(name, "array"))
            type.kind = TAKT_IR_ARRAY;
        const uint64_t rows = type.dim[0];
        if (takt__text_in(name, "transpose t")) {
            type.dim[0] = type.dim[1];
            type.dim[1] = rows;
        }
        return type;
    }
    const struct takt_c_type made = returned_type(place, callee, depth);
    if (made.kind != TAKT_IR_PLAIN)
        return made;
    if (takt__text_in(takt__node_text(place->source, takt__c_last_part(callee)),
                      "trans exp log sqrt abs square")) {
        const struct takt_c_type of = takt__c_expression_type(
            place, takt__c_first(takt__node_field(node, "arguments")),
            depth + 1);
        if (of.kind != TAKT_IR_PLAIN) /* of each element */
            return of;
    }
    if (takt__node_is(callee, "identifier")) {
        const struct takt_c_type type =
            takt__c_type_of(place, takt__node_text(place->source, callee));
        if (type.kind != TAKT_IR_PLAIN)
            return (struct takt_c_type){.element = type.element};
        struct takt_c_declaration found;
        if (takt__c_declared(place, takt__node_text(place->source, callee),
                             &found))
            return unknown;
    }
    return takt__c_named_type(place, callee, depth + 1);
}

/* What an operator makes of two types: a matrix and a scalar is a matrix. */
static struct takt_c_type pair_type(const struct takt_c_place *place,
                                    TSNode node, unsigned depth)
{
    const TSNode a = takt__node_field(node, "left");
    const TSNode b = takt__node_field(node, "right");

    if (ts_node_is_null(a) || ts_node_is_null(b))
        return unknown;
    const struct takt_c_type left =
        takt__c_expression_type(place, a, depth + 1);
    const struct takt_c_type right =
        takt__c_expression_type(place, b, depth + 1);
    if (left.kind == TAKT_IR_MATRIX && right.kind == TAKT_IR_VECTOR)
        return right;
    if (left.kind != TAKT_IR_PLAIN)
        return left;
    if (right.kind != TAKT_IR_PLAIN || right.rank > left.rank)
        return right;
    if (left.rank > 0)
        return left;
    return left.element == TAKT_IR_F64 || right.element == TAKT_IR_INTEGER
               ? left
               : right;
}

struct takt_c_type takt__c_expression_type(const struct takt_c_place *place,
                                           TSNode node, unsigned depth)
{
    node = takt__c_bare(node);
    if (ts_node_is_null(node) || depth > DEEPEST)
        return unknown;
    const char *type = ts_node_type(node);
    if (!strcmp(type, "identifier"))
        return takt__c_type_of(place, takt__node_text(place->source, node));
    if (!strcmp(type, "number_literal"))
        return literal_type(takt__node_text(place->source, node));
    if (!strcmp(type, "field_expression"))
        return field_type(place, node, depth);
    if (!strcmp(type, "subscript_expression"))
        return below(takt__c_expression_type(
            place, takt__node_field(node, "argument"), depth + 1));
    if (!strcmp(type, "pointer_expression")) {
        struct takt_c_type of = takt__c_expression_type(
            place, takt__node_field(node, "argument"), depth + 1);
        if (takt__text_is(
                takt__node_text(place->source, ts_node_child(node, 0)), "*"))
            return takt__text_in(of.of, "unique_ptr shared_ptr") ? of
                                                                 : below(of);
        of.rank++;
        return of;
    }
    if (!strcmp(type, "call_expression"))
        return call_type(place, node, depth);
    if (!strcmp(type, "cast_expression"))
        return takt__c_named_type(place, takt__node_field(node, "type"),
                                  depth + 1);
    if (!strcmp(type, "binary_expression"))
        return pair_type(place, node, depth);
    if (!strcmp(type, "unary_expression"))
        return takt__c_expression_type(
            place, takt__node_field(node, "argument"), depth + 1);
    if (takt__word_in(type, "compound_literal_expression new_expression"))
        return takt__c_named_type(place, takt__node_field(node, "type"),
                                  depth + 1);
    return unknown;
}

/* ---- constants ----------------------------------------------------------- */

static bool constant(const struct takt_c_place *place, TSNode node,
                     unsigned depth, int64_t *value,
                     enum takt_size_source *source);

static bool apply(char sign, int64_t a, int64_t b, int64_t *value)
{
    switch (sign) {
    case '+':
        return !__builtin_add_overflow(a, b, value);
    case '-':
        return !__builtin_sub_overflow(a, b, value);
    case '*':
        return !__builtin_mul_overflow(a, b, value);
    case '/':
        if (b <= 0)
            return false;
        *value = a / b;
        return true;
    default:
        return false;
    }
}

/* The text of a macro, while it is being read. */
struct value_reading {
    const struct takt_source *source;
    struct takt_text left;
    unsigned depth;
};

static bool read_sum(struct value_reading *in, int64_t *value);

static char next_sign(struct value_reading *in)
{
    while (in->left.size > 0 && strchr(" \t\r\n\\", *in->left.at) != NULL)
        in->left.at++, in->left.size--;
    return in->left.size > 0 ? *in->left.at : '\0';
}

static struct takt_text read_word(struct value_reading *in)
{
    struct takt_text word = {in->left.at, 0};

    while (in->left.size > 0 &&
           (isalnum((unsigned char)*in->left.at) || *in->left.at == '_'))
        in->left.at++, in->left.size--, word.size++;
    return word;
}

static bool read_operand(struct value_reading *in, int64_t *value)
{
    uint64_t number;

    if (in->depth++ > DEEPEST)
        return false;
    if (next_sign(in) == '(') {
        in->left.at++, in->left.size--;
        if (!read_sum(in, value) || next_sign(in) != ')')
            return false;
        in->left.at++, in->left.size--;
        return true;
    }
    const struct takt_text word = read_word(in);
    if (word.size > 0 && takt__text_integer(word, &number) &&
        number <= INT64_MAX) {
        *value = (int64_t)number;
        return true;
    }
    const struct takt_c_name *found =
        word.size == 0 ? NULL : takt__c_find(in->source, word, TAKT_C_MACRO);
    if (found == NULL)
        return false;
    const TSNode body = takt__node_field(found->node, "value");
    if (ts_node_is_null(body))
        return false;
    struct value_reading inner = {in->source, takt__node_text(in->source, body),
                                  in->depth};
    return read_sum(&inner, value) && next_sign(&inner) == '\0';
}

static bool read_product(struct value_reading *in, int64_t *value)
{
    if (!read_operand(in, value))
        return false;
    for (char sign; (sign = next_sign(in)) == '*' || sign == '/';) {
        int64_t other;
        in->left.at++, in->left.size--;
        if (!read_operand(in, &other) || !apply(sign, *value, other, value))
            return false;
    }
    return true;
}

static bool read_sum(struct value_reading *in, int64_t *value)
{
    if (!read_product(in, value))
        return false;
    for (char sign; (sign = next_sign(in)) == '+' || sign == '-';) {
        int64_t other;
        in->left.at++, in->left.size--;
        if (!read_product(in, &other) || !apply(sign, *value, other, value))
            return false;
    }
    return true;
}

static bool text_constant(const struct takt_source *source,
                          struct takt_text text, unsigned depth, int64_t *value)
{
    struct value_reading in = {source, text, depth};
    return read_sum(&in, value) && next_sign(&in) == '\0';
}

/* An enumerator has its own value, or that of the one before it and one. */
static bool enumerator(const struct takt_c_place *place,
                       struct takt_c_name name, unsigned depth, int64_t *value)
{
    enum takt_size_source source;
    const uint32_t count = ts_node_named_child_count(name.holder);
    int64_t next = 0;
    bool is_known = true;

    for (uint32_t i = 0; i < count && i < 1024; i++) {
        const TSNode one = ts_node_named_child(name.holder, i);
        if (!takt__node_is(one, "enumerator"))
            continue;
        const TSNode own = takt__node_field(one, "value");
        if (!ts_node_is_null(own))
            is_known = constant(place, own, depth + 1, &next, &source);
        if (ts_node_eq(one, name.node)) {
            *value = next;
            return is_known;
        }
        next++;
    }
    return false;
}

static bool named_constant(const struct takt_c_place *place,
                           struct takt_text name, unsigned depth,
                           int64_t *value, enum takt_size_source *source)
{
    struct takt_c_declaration found;
    const struct takt_c_name *one;

    *source = TAKT_SIZE_CONST;
    if (takt__c_declared(place, name, &found)) {
        enum takt_size_source of;
        return !ts_node_is_null(found.value) &&
               takt__c_is_qualified(place->source, found.holder,
                                    "const constexpr constinit") &&
               constant(place, found.value, depth + 1, value, &of);
    }
    one = takt__c_find(place->source, name, TAKT_C_CONSTANT);
    if (one != NULL)
        return enumerator(place, *one, depth, value);
    return text_constant(place->source, name, depth, value);
}

static bool binary_constant(const struct takt_c_place *place, TSNode node,
                            unsigned depth, int64_t *value,
                            enum takt_size_source *source)
{
    int64_t a, b;
    enum takt_size_source of_a, of_b;
    const struct takt_text sign =
        takt__node_text(place->source, takt__node_field(node, "operator"));

    if (!constant(place, takt__node_field(node, "left"), depth + 1, &a,
                  &of_a) ||
        !constant(place, takt__node_field(node, "right"), depth + 1, &b, &of_b))
        return false;
    *source = of_a > of_b ? of_a : of_b;
    if (takt__text_is(sign, "<<") && b >= 0 && b < 62 && a >= 0 &&
        a <= (INT64_MAX >> b)) {
        *value = a << b;
        return true;
    }
    return sign.size == 1 && apply(*sign.at, a, b, value);
}

/* v.size() of a std::array. */
static bool size_call(const struct takt_c_place *place, TSNode node,
                      int64_t *value)
{
    const TSNode callee = takt__node_field(node, "function");
    const TSNode field = takt__node_field(callee, "field");

    if (ts_node_is_null(field) ||
        !takt__text_is(takt__node_text(place->source, field), "size"))
        return false;
    const struct takt_c_type type =
        takt__c_expression_type(place, takt__node_field(callee, "argument"), 1);
    *value = (int64_t)type.dim[0];
    return type.rank > 0 && type.dim[0] > 0;
}

static bool constant(const struct takt_c_place *place, TSNode node,
                     unsigned depth, int64_t *value,
                     enum takt_size_source *source)
{
    uint64_t number;

    node = takt__c_bare(node);
    if (ts_node_is_null(node) || depth > DEEPEST)
        return false;
    const struct takt_text text = takt__node_text(place->source, node);
    *source = TAKT_SIZE_LITERAL;
    if (takt__node_is(node, "number_literal")) {
        *value = takt__text_integer(text, &number) && number <= INT64_MAX
                     ? (int64_t)number
                     : -1;
        return *value >= 0;
    }
    if (takt__node_in(node, "identifier type_identifier"))
        return named_constant(place, text, depth, value, source);
    if (takt__node_is(node, "binary_expression"))
        return binary_constant(place, node, depth, value, source);
    if (takt__node_in(node, "cast_expression compound_literal_expression"))
        return constant(place, takt__node_field(node, "value"), depth + 1,
                        value, source);
    if (takt__node_in(node, "initializer_list argument_list") &&
        ts_node_named_child_count(node) == 1) /* size_t{0}, i(0) */
        return constant(place, takt__c_first(node), depth + 1, value, source);
    if (takt__node_is(node, "pointer_expression") && *text.at == '&')
        return constant(place, takt__node_field(node, "argument"), depth + 1,
                        value, source);
    *source = TAKT_SIZE_TYPE;
    return takt__node_is(node, "call_expression") &&
           size_call(place, node, value);
}

bool takt__c_constant(const struct takt_c_place *place, TSNode node,
                      int64_t *value, enum takt_size_source *source)
{
    return constant(place, node, 0, value, source);
}
