/* SPDX-License-Identifier: MIT */
/*
 * python_uses.c - uses that show what a name is: an array, a table or a number.
 */
#include "python_notes.h"

#include <string.h>

enum { NONE = -1 };

/* x.shape and x[:, None] show that x is an array. */
static void note_shown(struct takt_source *source, TSNode name,
                       enum takt_python_binds binds)
{
    struct takt_python_notes *notes = source->notes;
    struct takt_python_binding shown = {
        .binds = binds, .part = NONE, .scope = notes->current};

    shown.name = takt__node_text(source, name);
    while (notes->scope[shown.scope].kind == TAKT_PYTHON_SCOPE_COMPREHENSION)
        shown.scope = notes->scope[shown.scope].parent;
    if (takt__node_is(name, "attribute")) {
        shown.scope = takt__python_class_around(notes, notes->current);
        if (shown.scope == 0 || shown.name.size < 6 ||
            memcmp(shown.name.at, "self.", 5) != 0)
            return;
    } else if (!takt__node_is(name, "identifier") ||
               takt__text_is(shown.name, "self"))
        return;
    takt__python_bind(notes, shown);
}

void takt__python_note_attribute(struct takt_source *source, TSNode node)
{
    const struct takt_text name =
        takt__node_text(source, takt__node_field(node, "attribute"));
    TSNode object = takt__node_field(node, "object");

    if (takt__text_in(name, "shape ndim dtype T reshape ravel astype"))
        note_shown(source, object, TAKT_PYTHON_SHOWN);
    else if (takt__text_in(name, "groupby iloc loc columns query iterrows"))
        note_shown(source, object, TAKT_PYTHON_TABLE);
}

void takt__python_note_subscript(struct takt_source *source, TSNode node)
{
    if (takt__python_is_sliced(node))
        note_shown(source, takt__node_field(node, "value"), TAKT_PYTHON_SHOWN);
}

/* What is handed to linear algebra is an array. */
void takt__python_note_operands(struct takt_source *source, TSNode call,
                                struct takt_text name)
{
    TSNode function = takt__node_field(call, "function");

    if (!takt__text_in(name, "dot matmul outer inner vdot norm inv det solve "
                             "cholesky eigh svd"))
        return;
    for (unsigned i = 0; i < 2; i++) {
        TSNode operand = takt__python_argument(source, call, i, NULL);
        if (!ts_node_is_null(operand))
            note_shown(source, operand, TAKT_PYTHON_SHOWN);
    }
    if (takt__text_is(name, "dot") && takt__python_argument_count(call) == 1)
        note_shown(source, takt__node_field(function, "object"),
                   TAKT_PYTHON_SHOWN);
}

/* if x > 0: that is a number. */
void takt__python_note_condition(struct takt_source *source, TSNode node)
{
    TSNode condition = takt__python_bare(takt__node_field(node, "condition"));

    if (!takt__node_is(condition, "comparison_operator") ||
        takt__node_children(condition) != 2 ||
        (!takt__node_in(takt__node_child(condition, 1), "integer float")))
        return;
    TSNode compared = takt__node_child(condition, 0);
    if (takt__node_is(compared, "call") &&
        takt__text_is(
            takt__node_text(source, takt__node_field(compared, "function")),
            "abs"))
        compared = takt__python_argument(source, compared, 0, NULL);
    if (!ts_node_is_null(compared))
        note_shown(source, compared, TAKT_PYTHON_COMPARED);
}
