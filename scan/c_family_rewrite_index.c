/* SPDX-License-Identifier: MIT */
/* c_family_rewrite_index.c - indices that are linear in the loops. */
#include <string.h>

#include "c_family_rewrite.h"

enum { DEEPEST = 24 };

static void put_term(struct takt_rw_text *out, const char *term, bool is_minus)
{
    const char *sign = is_minus ? " - " : " + ";

    if (out->used == 0)
        sign = is_minus ? "-" : "";
    takt__rw_put(out, "%s%s", sign, term);
}

/* A part of a product needs parentheses where it is a sum. */
static void put_part(struct takt_rw_text *out, const char *factor,
                     const struct takt_source *source, TSNode node)
{
    const struct takt_text text = takt__node_text(source, node);
    const bool is_sum = takt__node_is(node, "binary_expression");

    takt__rw_put(out, "%s%s%s%.*s%s", factor, factor[0] != '\0' ? " * " : "",
                 is_sum ? "(" : "", (int)text.size, text.at, is_sum ? ")" : "");
}

static int loop_of(const struct takt_rw_nest *nest, struct takt_text name)
{
    for (unsigned i = 0; i < nest->loops; i++)
        if (nest->loop[i].var.size == name.size &&
            memcmp(nest->loop[i].var.at, name.at, name.size) == 0)
            return (int)i;
    return -1;
}

/* Casts between the types of sizes change nothing. */
static TSNode without_cast(const struct takt_source *source, TSNode node)
{
    static const char types[] = "size_t ptrdiff_t int long ssize_t unsigned "
                                "int64_t uint64_t";

    if (!takt__node_is(node, "cast_expression"))
        return node;
    const struct takt_text type =
        takt__node_text(source, takt__node_field(node, "type"));
    return takt__text_in(type, types) || takt__text_is(type, "long long") ||
                   takt__text_is(type, "unsigned long")
               ? takt__node_field(node, "value")
               : node;
}

static bool add_linear(const struct takt_rw_nest *nest, TSNode node,
                       const char *factor, bool is_minus,
                       struct takt_rw_access *out, unsigned depth);

/* A product of something that does not change and the rest. */
static bool add_product(const struct takt_rw_nest *nest, TSNode left,
                        TSNode right, const char *factor, bool is_minus,
                        struct takt_rw_access *out, unsigned depth)
{
    struct takt_rw_text more = {.used = 0};
    const bool is_left = takt__rw_is_count(nest, left);

    if (!is_left && !takt__rw_is_count(nest, right))
        return false;
    put_part(&more, factor, nest->source, is_left ? left : right);
    return !more.is_cut && add_linear(nest, is_left ? right : left, more.at,
                                      is_minus, out, depth - 1);
}

static bool add_linear(const struct takt_rw_nest *nest, TSNode node,
                       const char *factor, bool is_minus,
                       struct takt_rw_access *out, unsigned depth)
{
    if (depth == 0 || ts_node_is_null(node))
        return false;
    node = without_cast(nest->source, takt__rw_resolve(nest, node));
    node = takt__rw_resolve(nest, node);
    const struct takt_text text = takt__node_text(nest->source, node);
    if (takt__node_is(node, "identifier") && loop_of(nest, text) >= 0) {
        struct takt_rw_text *own = &out->coefficient[loop_of(nest, text)];
        if (is_minus)
            return false;
        takt__rw_put(own, "%s%s", own->used > 0 ? " + " : "",
                     factor[0] != '\0' ? factor : "1");
        return !own->is_cut;
    }
    if (takt__rw_is_count(nest, node)) {
        if (takt__text_is(text, "0"))
            return true;
        struct takt_rw_text part = {.used = 0};
        put_part(&part, factor, nest->source, node);
        put_term(&out->rest, part.at, is_minus);
        return !part.is_cut && !out->rest.is_cut;
    }
    if (!takt__node_is(node, "binary_expression"))
        return false;
    const TSNode left = takt__node_field(node, "left");
    const TSNode right = takt__node_field(node, "right");
    const struct takt_text sign =
        takt__node_text(nest->source, takt__node_field(node, "operator"));
    if (takt__text_is(sign, "*"))
        return add_product(nest, left, right, factor, is_minus, out, depth);
    const bool is_difference = takt__text_is(sign, "-");
    return (is_difference || takt__text_is(sign, "+")) &&
           add_linear(nest, left, factor, is_minus, out, depth - 1) &&
           add_linear(nest, right, factor, is_minus != is_difference, out,
                      depth - 1);
}

/* The array that a pointer of the loops starts in: a + i * n, &a[i * n]. */
static bool add_pointer(const struct takt_rw_nest *nest, TSNode value,
                        struct takt_rw_access *out, TSNode *base)
{
    value = takt__c_bare(value);
    if (takt__node_is(value, "binary_expression") &&
        takt__text_is(
            takt__node_text(nest->source, takt__node_field(value, "operator")),
            "+")) {
        *base = takt__c_bare(takt__node_field(value, "left"));
        return takt__node_is(*base, "identifier") &&
               takt__rw_local(nest, *base) == NULL &&
               add_linear(nest, takt__node_field(value, "right"), "", false,
                          out, DEEPEST);
    }
    if (!takt__node_is(value, "pointer_expression") ||
        nest->source->text[ts_node_start_byte(value)] != '&')
        return false;
    const TSNode element = takt__c_bare(takt__node_field(value, "argument"));
    if (!takt__node_is(element, "subscript_expression"))
        return false;
    *base = takt__node_field(element, "argument");
    TSNode index = takt__node_field(element, "index");
    if (ts_node_is_null(index) && ts_node_named_child_count(element) == 2)
        index = takt__c_first(ts_node_named_child(element, 1));
    return takt__node_is(*base, "identifier") &&
           takt__rw_local(nest, *base) == NULL && !ts_node_is_null(index) &&
           add_linear(nest, index, "", false, out, DEEPEST);
}

/* The index between the brackets; C++ has a list of them. */
static TSNode index_of(TSNode element)
{
    const TSNode index = takt__node_field(element, "index");

    if (!ts_node_is_null(index))
        return index;
    const TSNode list = takt__node_field(element, "indices");
    return !ts_node_is_null(list) && ts_node_named_child_count(list) == 1
               ? takt__c_first(list)
               : (TSNode){0};
}

/* Arrays that lie in one piece: not what a pointer to pointers leads to, nor a
 * deque. */
static bool is_contiguous(const struct takt_c_type *type, unsigned subscripts)
{
    static const char *const pieces[] = {"deque",        "list",          "map",
                                         "forward_list", "unordered_map", NULL};

    if (type->kind != TAKT_IR_PLAIN || type->is_volatile || type->is_iterator ||
        type->is_own || type->rank != subscripts ||
        (type->element != TAKT_IR_F32 && type->element != TAKT_IR_F64))
        return false;
    for (const char *const *one = pieces; *one != NULL; one++)
        if (takt__c_has(type->of, *one))
            return false;
    return subscripts == 1 || (subscripts == 2 && type->dim[1] != 0);
}

bool takt__rw_access(const struct takt_rw_nest *nest, TSNode node,
                     struct takt_rw_access *out)
{
    TSNode index[2], base = takt__c_bare(node);
    unsigned count = 0;
    char row[32] = "";

    *out = (struct takt_rw_access){.rank = 0};
    for (; takt__node_is(base, "subscript_expression") && count < 2; count++) {
        index[count] = index_of(base);
        base = takt__c_bare(takt__node_field(base, "argument"));
        if (ts_node_is_null(index[count]) || ts_node_is_null(base))
            return false;
    }
    if (count == 0 || !takt__node_is(base, "identifier"))
        return false;
    const struct takt_rw_local *local = takt__rw_local(nest, base);
    if (local != NULL &&
        (count != 1 || !add_pointer(nest, local->value, out, &base)))
        return false;
    if (!takt__rw_is_invariant(nest, base))
        return false;
    out->base = takt__node_text(nest->source, base);
    const struct takt_c_type type = takt__c_type_of(nest->place, out->base);
    if (!is_contiguous(&type, count))
        return false;
    out->rank = count;
    out->element = type.element;
    if (count == 2) {
        struct takt_rw_text size = {.used = 0};
        takt__rw_put(&size, "%llu", (unsigned long long)type.dim[1]);
        memcpy(row, size.at, sizeof row - 1);
        row[sizeof row - 1] = '\0';
        if (!add_linear(nest, index[1], row, false, out, DEEPEST))
            return false;
    }
    return add_linear(nest, index[0], "", false, out, DEEPEST);
}
