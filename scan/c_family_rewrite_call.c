/* SPDX-License-Identifier: MIT */
/* c_family_rewrite_call.c - the pieces that calls are made of. */
#include "c_family_rewrite.h"

#include <string.h>

/* ---- pieces of a call ---- */

/* How often a loop runs. A loop that does not run may have a bound that is less
 * than its start: that is 0, or a size that the call refuses. */
bool takt__rw_put_extent(struct takt_rw_text *out,
                         const struct takt_rw_nest *nest,
                         const struct takt_rw_loop *loop)
{
    const struct takt_text to = takt__node_text(nest->source, loop->to);
    const char *one = loop->is_inclusive ? " + 1" : "";

    if (!takt__rw_is_count(nest, loop->to))
        return false;
    if (ts_node_is_null(loop->from)) {
        if (takt__node_is(loop->to, "number_literal") && !loop->is_inclusive)
            takt__rw_put(out, "%.*s", (int)to.size, to.at);
        else
            takt__rw_put(out, "(size_t)(%.*s%s)", (int)to.size, to.at, one);
        return !out->is_cut;
    }
    const struct takt_text from = takt__node_text(nest->source, loop->from);
    if (!takt__rw_is_count(nest, loop->from) || loop->is_inclusive)
        return false;
    takt__rw_put(out, "(%.*s) > (%.*s) ? (size_t)((%.*s) - (%.*s)) : 0",
                 (int)to.size, to.at, (int)from.size, from.at, (int)to.size,
                 to.at, (int)from.size, from.at);
    return !out->is_cut;
}

/* The address of the first element: &a[0], &a[offset], &a[0][0] + offset. */
void takt__rw_put_address(struct takt_rw_text *out,
                          const struct takt_rw_nest *nest,
                          const struct takt_rw_access *access)
{
    const TSNode start = nest->loop[0].from;
    struct takt_rw_text at = access->rest;

    if (nest->loops == 1 && !ts_node_is_null(start)) {
        const struct takt_text from = takt__node_text(nest->source, start);
        takt__rw_put(&at, "%s(%.*s)", at.used > 0 ? " + " : "", (int)from.size,
                     from.at);
    }
    out->is_cut |= at.is_cut;
    if (access->rank == 1)
        takt__rw_put(out, "&%.*s[%s]", (int)access->base.size, access->base.at,
                     at.used > 0 ? at.at : "0");
    else
        takt__rw_put(out, "&%.*s[0][0]%s%s", (int)access->base.size,
                     access->base.at, at.used > 0 ? " + " : "", at.at);
}

bool takt__rw_is_same(const struct takt_rw_access *a,
                      const struct takt_rw_access *b)
{
    bool is_same = a->base.size == b->base.size && a->rank == b->rank &&
                   memcmp(a->base.at, b->base.at, a->base.size) == 0 &&
                   strcmp(a->rest.at, b->rest.at) == 0;

    for (unsigned i = 0; i < TAKT_RW_LOOPS; i++)
        is_same =
            is_same && strcmp(a->coefficient[i].at, b->coefficient[i].at) == 0;
    return is_same;
}

bool takt__rw_is_same_base(const struct takt_rw_access *a,
                           const struct takt_rw_access *b)
{
    return a->base.size == b->base.size &&
           memcmp(a->base.at, b->base.at, a->base.size) == 0;
}

bool takt__rw_is_one(const struct takt_rw_text *coefficient)
{
    return strcmp(coefficient->at, "1") == 0;
}

/* ---- terms ---- */

/* A factor that does not change: a literal, or a name of the same type. */
static bool is_scalar(const struct takt_rw_nest *nest, TSNode node,
                      enum takt_ir_element element)
{
    if (takt__node_is(node, "number_literal"))
        return true;
    if (!takt__node_is(node, "identifier") ||
        !takt__rw_is_invariant(nest, node))
        return false;
    const struct takt_c_type type =
        takt__c_type_of(nest->place, takt__node_text(nest->source, node));
    return type.rank == 0 && type.element == element && !type.is_volatile;
}

bool takt__rw_product(const struct takt_rw_nest *nest, TSNode node,
                      enum takt_ir_element element, unsigned depth,
                      struct takt_rw_product *out)
{
    node = takt__rw_resolve(nest, node);
    if (depth > 6)
        return false;
    if (takt__node_is(node, "binary_expression") &&
        takt__text_is(
            takt__node_text(nest->source, takt__node_field(node, "operator")),
            "*"))
        return takt__rw_product(nest, takt__node_field(node, "left"), element,
                                depth + 1, out) &&
               takt__rw_product(nest, takt__node_field(node, "right"), element,
                                depth + 1, out);
    if (is_scalar(nest, node, element)) {
        const struct takt_text text = takt__node_text(nest->source, node);
        takt__rw_put(&out->alpha, "%s%.*s", out->alpha.used > 0 ? " * " : "",
                     (int)text.size, text.at);
        return !out->alpha.is_cut;
    }
    if (out->factors == TAKT_RW_FACTORS ||
        !takt__rw_access(nest, node, &out->factor[out->factors]))
        return false;
    return out->factor[out->factors++].element == element;
}
