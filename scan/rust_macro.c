/* SPDX-License-Identifier: MIT */
/*
 * rust_macro.c - ndarray's azip.
 */
#include "rust.h"

#include <string.h>

static const struct takt_rust_verdict NOTHING = {.op = NULL};

static const char *op_of_sign(struct takt_text text)
{
    static const struct {
        const char *sign, *op;
    } signs[] = {{"+=", "add"}, {"-=", "sub"}, {"*=", "mul"}, {"/=", "div"},
                 {"+", "add"},  {"-", "sub"},  {"/", "div"}};

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (takt__text_is(text, signs[i].sign))
            return signs[i].op;
    return NULL;
}

/* azip!((a in a, &b in b) *a += b): the operator after the list says it. */
static struct takt_rust_verdict azip(struct takt_rust *rust, TSNode tokens,
                                     TSNode node)
{
    const TSNode list = ts_node_named_child(tokens, 0);
    struct takt_rust_verdict out = {.anchor = node, .op = NULL};
    if (!rust_is(list, "token_tree"))
        return NOTHING;
    for (uint32_t i = 0; i < ts_node_named_child_count(list); i++) {
        const TSNode name = ts_node_named_child(list, i);
        if (!rust_is(name, "identifier"))
            continue;
        const struct takt_rust_type type =
            takt__rust_type_of(rust, name, TAKT_RUST_DEPTH);
        if (takt__rust_is_array(type))
            out.type = type;
    }
    const uint32_t count = ts_node_child_count(tokens);
    for (uint32_t i = 2; i < count && out.op == NULL; i++)
        out.op = op_of_sign(rust_text(rust, ts_node_child(tokens, i)));
    return takt__rust_is_array(out.type) ? out : NOTHING;
}

struct takt_rust_verdict takt__rust_macro(struct takt_rust *rust, TSNode node)
{
    const TSNode name = takt__node_field(node, "macro");
    static const char words[] = "azip par_azip ndarray::azip";
    const TSNode tokens =
        ts_node_named_child(node, ts_node_named_child_count(node) - 1);
    if (!takt__rust_is_any(rust, name, words) || !rust_is(tokens, "token_tree"))
        return NOTHING;
    return azip(rust, tokens, node);
}
