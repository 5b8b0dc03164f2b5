/* SPDX-License-Identifier: MIT */
/*
 * c_family_expr_call.c - calls within loops: functions of mathematics, casts,
 * elements that are called for, and measures of containers. Any other call may
 * have effects, and makes no expression.
 */
#include "c_family_expr.h"

#include <string.h>

static const char *const functions[] = {
    "exp",  "log",   "sqrt", "fabs",  "tanh",  "erf",   "fma",   "fmax",
    "fmin", "pow",   "sin",  "cos",   "tan",   "floor", "ceil",  "round",
    "exp2", "log2",  "cosh", "log10", "atan2", "rsqrt", "clamp", "sinh",
    "cbrt", "hypot", "asin", "acos",  "atan",  "log1p", "expm1", NULL};

/* The name of a function of mathematics, as it is called for doubles. */
static const char *mathematics(struct takt_text text)
{
    static const char *const other[][2] = {
        {"abs", "fabs"}, {"max", "fmax"}, {"min", "fmin"}, {"MAX", "fmax"},
        {"MIN", "fmin"}, {"Max", "fmax"}, {"Min", "fmin"}, {"ABS", "fabs"}};

    const char *angle = memchr(text.at, '<', text.size); /* max<float> */
    if (angle != NULL)
        text.size = (size_t)(angle - text.at);
    for (size_t i = text.size; i > 1; i--) /* std::, or another namespace */
        if (text.at[i - 1] == ':') {
            text = (struct takt_text){text.at + i, text.size - i};
            break;
        }
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (takt__text_is(text, other[i][0]))
            return other[i][1];
    for (const char *const *f = functions; *f != NULL; f++) {
        const size_t size = strlen(*f);
        if (text.size >= size && memcmp(text.at, *f, size) == 0 &&
            (text.size == size ||
             (text.size == size + 1 && text.at[size] == 'f')))
            return *f;
    }
    return NULL;
}

/* float(x), Real(x), T(x); of an index also int(x) and size_t(x). */
static bool is_cast(const struct takt_c_nest *nest, TSNode callee,
                    bool is_index)
{
    const struct takt_text text = takt__node_text(nest->source, callee);
    struct takt_c_declaration found;

    if (takt__node_is(callee, "parenthesized_expression"))
        return is_cast(nest, takt__c_bare(callee), is_index); /* (T)(x) */
    if ((text.size > 12 && memcmp(text.at, "static_cast<", 12) == 0) ||
        takt__text_in(text, "float double"))
        return true;
    if (!takt__node_in(callee, "identifier primitive_type") ||
        takt__c_declared(nest->place, text, &found))
        return false;
    const struct takt_c_type type = takt__c_named_type(nest->place, callee, 0);
    return type.kind == TAKT_IR_PLAIN && type.rank == 0 && !type.is_own &&
           (takt__c_is_float(type) || type.element == TAKT_IR_GENERIC ||
            (is_index && type.element == TAKT_IR_INTEGER));
}

/* The class whose method it is in. */
static struct takt_c_type own_type(const struct takt_c_nest *nest)
{
    const struct takt_c_name *found = takt__c_class_around(nest->place);

    return found != NULL
               ? takt__c_class_type(nest->place, found->node, found->text, 0)
               : (struct takt_c_type){.element = TAKT_IR_UNKNOWN};
}

/* Whether a member that is called holds elements: p->m(i, j). */
static bool is_called_field(const struct takt_c_nest *nest, TSNode callee,
                            struct takt_c_type *type)
{
    const struct takt_text name =
        takt__node_text(nest->source, takt__node_field(callee, "field"));

    if (takt__c_find(nest->source, name, TAKT_C_FUNCTION) != NULL ||
        takt__c_find(nest->source, name, TAKT_C_FIELD) == NULL)
        return false;
    *type = takt__c_expression_type(nest->place, callee, 0);
    return type->is_own || type->is_open || type->is_container ||
           type->kind != TAKT_IR_PLAIN;
}

/* Whether a method returns an element that its arguments choose: by reference,
 * or as one of an array, also behind a check. */
static bool is_accessor(const struct takt_c_nest *nest, TSNode name,
                        struct takt_c_type *type)
{
    const struct takt_c_name *found = takt__c_find(
        nest->source, takt__node_text(nest->source, name), TAKT_C_FUNCTION);

    if (found == NULL)
        return false;
    const struct takt_c_declaration held = {.holder = found->holder,
                                            .declarator = found->node};
    const TSNode body = takt__node_field(found->holder, "body");
    const uint32_t count = takt__node_children(body);
    const TSNode last =
        count == 0 ? body : ts_node_named_child(body, count - 1);
    *type = takt__c_declared_type(nest->place, &held, 0);
    return takt__c_is_float(*type) && type->rank == 0 &&
           type->kind == TAKT_IR_PLAIN &&
           (takt__node_is(found->node, "reference_declarator") ||
            (takt__node_is(last, "return_statement") &&
             takt__node_is(takt__c_first(last), "subscript_expression")));
}

/* v.at(i), m.get(i, j), m.at<float>(i, j), p->m(i, j): what it is of, and of
 * which type. */
static bool read_method(struct takt_c_nest *nest, TSNode *of,
                        struct takt_c_type *type, unsigned depth)
{
    TSNode name = takt__node_field(*of, "field"), typed = {0};
    const TSNode held = takt__node_field(*of, "argument");

    if (ts_node_is_null(name))
        return false;
    if (is_called_field(nest, *of, type)) {
        const struct takt_ir_expr *e = takt__c_expr(nest, held, true, depth);
        return e != NULL && e->loops == 0 && !e->is_varying;
    }
    if (takt__node_is(name, "template_method")) {
        typed = takt__c_first(takt__node_field(name, "arguments"));
        name = takt__node_field(name, "name");
    }
    *of = held;
    *type = ts_node_is_null(typed)
                ? takt__c_expression_type(nest->place, *of, 0)
                : takt__c_named_type(nest->place, typed, 0);
    if (takt__text_in(takt__node_text(nest->source, name), "at get"))
        return true;
    const struct takt_ir_expr *e = takt__c_expr(nest, held, true, depth);
    return e != NULL && e->loops == 0 && !e->is_varying &&
           is_accessor(nest, name, type);
}

/* Functor, Op, kernel: what is called like this computes something. */
static bool sounds_like_function(struct takt_text name)
{
    static const char *const words[] = {"fun",    "op",   "kern", "call",
                                        "pred",   "comp", "rand", "generator",
                                        "lambda", NULL};

    for (const char *const *word = words; *word != NULL; word++)
        if (takt__c_has(name, *word))
            return true;
    return takt__text_in(name, "F G H Fn f g h fn");
}

/* Whether x of x(i) may be an array: of the parameter of a template, or of a
 * class that is declared nowhere. */
static bool may_hold(const struct takt_c_nest *nest, struct takt_text name,
                     struct takt_c_type type)
{
    struct takt_c_declaration found;

    if (type.rank > 0 || sounds_like_function(type.of))
        return false;
    return type.is_open ||
           (type.element == TAKT_IR_UNKNOWN && !sounds_like_function(name) &&
            takt__c_declared(nest->place, name, &found) &&
            !takt__node_is(found.value, "lambda_expression"));
}

/* m(i, j), (*this)(i, j), v.at(i): elements of what has floating-point ones. */
static struct takt_ir_expr *called_element(struct takt_c_nest *nest,
                                           TSNode callee, TSNode list,
                                           unsigned depth)
{
    TSNode of = takt__c_bare(callee);
    struct takt_c_type type = {.element = TAKT_IR_UNKNOWN};

    if (takt__node_is(of, "field_expression")) {
        if (!read_method(nest, &of, &type, depth + 1))
            return NULL;
    } else if (takt__node_is(of, "pointer_expression")) {
        const TSNode held = takt__node_field(of, "argument");
        type = takt__text_is(takt__node_text(nest->source, held), "this")
                   ? own_type(nest)
                   : takt__c_expression_type(nest->place, of, 0);
    } else if (takt__node_is(of, "identifier")) {
        type = takt__c_type_of(nest->place, takt__node_text(nest->source, of));
        if (type.rank > 0 && type.kind == TAKT_IR_PLAIN && !type.is_own &&
            !type.is_container)
            return NULL;
    }
    const struct takt_text name = takt__node_text(nest->source, of);
    const bool is_own = type.element == TAKT_IR_GENERIC &&
                        (type.kind != TAKT_IR_PLAIN || type.is_own);
    if (!takt__c_is_float(type) && !is_own && !may_hold(nest, name, type))
        return NULL;
    const uint32_t count = ts_node_named_child_count(list);
    type.rank = type.kind == TAKT_IR_PLAIN ? count : 0;
    struct takt_ir_expr *e = takt__c_expr_name(nest, name, type);
    for (uint32_t i = 0; i < count && i < TAKT_IR_PARTS; i++) {
        struct takt_ir_expr *at =
            takt__c_expr(nest, ts_node_named_child(list, i), true, depth + 1);
        e = takt__ir_is_plain_index(at) ? takt__ir_part(e, at) : NULL;
    }
    if (e != NULL)
        e->sort = TAKT_IR_ACCESS;
    return count > 0 ? e : NULL;
}

/* v.size() and the like: changes with nothing. */
static struct takt_ir_expr *measure(struct takt_c_nest *nest, TSNode node,
                                    TSNode callee, bool is_index,
                                    unsigned depth)
{
    static const char words[] =
        "size rows cols length begin end cbegin cend rbegin rend ssize width "
        "height n_rows n_cols data";
    const TSNode name = takt__node_field(callee, "field");
    const struct takt_text text =
        takt__node_text(nest->source, ts_node_is_null(name) ? callee : name);

    const struct takt_c_type type =
        takt__c_expression_type(nest->place, node, 0);
    const bool is_array =
        takt__c_is_float(type) && type.rank > 0 &&
        ts_node_named_child_count(takt__node_field(node, "arguments")) == 0;
    const bool is_got = /* get_min_index(), of what does not change */
        text.size > 3 && memcmp(text.at, "get", 3) == 0 &&
        ts_node_named_child_count(takt__node_field(node, "arguments")) == 0;
    if (!takt__text_in(text, words) && !is_array && !(is_got && is_index))
        return NULL;
    if (ts_node_is_null(name) /* of the object itself; else of a row, too: */
            ? ts_node_named_child_count(takt__node_field(node, "arguments")) > 0
            : takt__c_expr(nest, takt__node_field(callee, "argument"), true,
                           depth + 1) == NULL) /* all are of one length */
        return NULL;
    return takt__c_expr_name(nest, takt__node_text(nest->source, node), type);
}

struct takt_ir_expr *takt__c_expr_function(struct takt_c_nest *nest,
                                           struct takt_text text)
{
    const struct takt_c_name *macro =
        takt__c_find(nest->source, text, TAKT_C_MACRO);

    if (macro != NULL) { /* #define SQRTF sqrt */
        const TSNode value = takt__node_field(macro->node, "value");
        bool is_all = false;
        if (!ts_node_is_null(value))
            text = takt__c_first_word(takt__node_text(nest->source, value),
                                      &is_all);
        if (!is_all)
            return NULL;
    }
    const char *name = mathematics(text);
    struct takt_ir_expr *e =
        name == NULL ? NULL : takt__ir_new(&nest->ir, TAKT_IR_CALL);

    if (e != NULL)
        e->text = (struct takt_text){name, strlen(name)};
    return e;
}

struct takt_ir_expr *takt__c_expr_call(struct takt_c_nest *nest, TSNode node,
                                       bool is_index, unsigned depth)
{
    const TSNode callee = takt__node_field(node, "function");
    const TSNode list = takt__node_field(node, "arguments");

    if (ts_node_is_null(callee) || ts_node_is_null(list))
        return NULL;
    const struct takt_text text = takt__node_text(nest->source, callee);
    const uint32_t count = ts_node_named_child_count(list);
    if (is_cast(nest, callee, is_index)) /* T() is 0 */
        return count == 0   ? takt__ir_number(&nest->ir, 0)
               : count == 1 ? takt__c_expr(nest, takt__c_first(list), is_index,
                                           depth + 1)
                            : NULL;
    struct takt_ir_expr *e = called_element(nest, callee, list, depth);
    if (e == NULL)
        e = measure(nest, node, callee, is_index, depth);
    if (e == NULL)
        e = takt__c_expr_inlined(nest, callee, list, depth);
    if (e != NULL || count == 0 || count > 3)
        return e;
    e = takt__c_expr_function(nest, text);
    for (uint32_t i = 0; i < count; i++)
        e = takt__ir_part(e, takt__c_expr(nest, ts_node_named_child(list, i),
                                          is_index, depth + 1));
    return e;
}
