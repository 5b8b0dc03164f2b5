/* SPDX-License-Identifier: MIT */
/*
 * c_family_place.c - where something stands: what is around it, which function
 * it is in, whether that is test code, and which declarations it sees.
 *
 * The way from the root is walked once for a place: a node's parent is looked
 * for from the root each time it is asked for.
 */
#include "c_family.h"

#include <stdio.h>
#include <string.h>

bool takt__c_place(const struct takt_source *source, TSNode node,
                   struct takt_c_place *place)
{
    TSNode at = ts_tree_root_node(node.tree);

    place->source = source;
    place->depth = 0;
    while (!ts_node_is_null(at)) {
        if (place->depth == TAKT_C_DEPTH)
            return false;
        place->at[place->depth++] = at;
        if (ts_node_eq(at, node))
            return true;
        at = ts_node_child_with_descendant(at, node);
    }
    return false;
}

/* Whether the condition of a preprocessor's #if is 0. */
static bool is_never(const struct takt_source *source, TSNode condition)
{
    return !ts_node_is_null(condition) &&
           (takt__text_in(takt__node_text(source, condition), "0 false"));
}

bool takt__c_is_dead(const struct takt_c_place *place)
{
    for (unsigned i = 0; i + 1 < place->depth; i++) {
        const TSNode at = place->at[i], next = place->at[i + 1];
        const char *type = ts_node_type(at);
        if (!takt__word_in(type, "preproc_if preproc_elif"))
            continue;
        const TSNode other = takt__node_field(at, "alternative");
        if (is_never(place->source, takt__node_field(at, "condition")) &&
            (ts_node_is_null(other) || !ts_node_eq(other, next)))
            return true;
    }
    return false;
}

TSNode takt__c_function(const struct takt_c_place *place)
{
    for (unsigned i = place->depth; i > 0; i--)
        if (takt__node_is(place->at[i - 1], "function_definition"))
            return place->at[i - 1];
    return (TSNode){0};
}

/* ---- names of functions -------------------------------------------------- */

static TSNode name_of(TSNode function)
{
    bool is_function = false;
    return takt__c_declared_name(takt__node_field(function, "declarator"),
                                 &is_function);
}

static struct takt_text class_around(const struct takt_c_place *place,
                                     TSNode function)
{
    struct takt_text text = {"", 0};

    for (unsigned i = 0; i < place->depth; i++) {
        if (ts_node_eq(place->at[i], function))
            break;
        if (!takt__node_in(place->at[i], "class_specifier struct_specifier"))
            continue;
        const TSNode name = takt__node_field(place->at[i], "name");
        if (!ts_node_is_null(name))
            text = takt__node_text(place->source, name);
    }
    return text;
}

void takt__c_function_name(const struct takt_c_place *place, char *out,
                           size_t size)
{
    const TSNode function = takt__c_function(place);

    out[0] = '\0';
    if (ts_node_is_null(function))
        return;
    const TSNode name = name_of(function);
    if (ts_node_is_null(name))
        return;
    const struct takt_text own = takt__node_text(place->source, name);
    const struct takt_text of = class_around(place, function);
    snprintf(out, size, "%.*s%s%.*s", (int)of.size, of.at,
             of.size > 0 ? "::" : "", (int)own.size, own.at);
}

/* ---- tests --------------------------------------------------------------- */

static bool is_test_word(struct takt_text name)
{
    static const char words[] =
        "TEST TEST_F TEST_P TYPED_TEST TYPED_TEST_P TEST_CASE TEST_METHOD "
        "SCENARIO SECTION BOOST_AUTO_TEST_CASE BOOST_FIXTURE_TEST_CASE "
        "START_TEST";
    return takt__text_in(name, words) ||
           (name.size > 5 && memcmp(name.at, "test_", 5) == 0);
}

/* TEST_CASE("name") { ... } is no function to the parser: a call, and then a
 * block. */
static bool is_after_test_macro(const struct takt_source *source, TSNode block)
{
    TSNode before = ts_node_prev_named_sibling(block);

    while (takt__node_is(before, "comment"))
        before = ts_node_prev_named_sibling(before);
    if (ts_node_is_null(before))
        return false;
    if (takt__node_is(before, "expression_statement"))
        before = takt__c_first(before);
    if (!takt__node_is(before, "call_expression"))
        return false;
    return is_test_word(
        takt__node_text(source, takt__node_field(before, "function")));
}

bool takt__c_is_test(const struct takt_c_place *place)
{
    const struct takt_c_notes *notes = place->source->notes;
    const TSNode function = takt__c_function(place);

    if (notes->is_test_path)
        return true;
    if (!ts_node_is_null(function)) {
        const TSNode name = name_of(function);
        return !ts_node_is_null(name) &&
               is_test_word(takt__node_text(place->source, name));
    }
    for (unsigned i = 0; i < place->depth && i < 4; i++)
        if (takt__node_is(place->at[i], "compound_statement"))
            return is_after_test_macro(place->source, place->at[i]);
    return false;
}

/* ---- declarations that are seen ------------------------------------------ */

/* Whether this declaration (or parameter) declares the name. */
static bool declares(const struct takt_source *source, TSNode node,
                     struct takt_text name, struct takt_c_declaration *out)
{
    struct takt_c_declared one;

    for (uint32_t at = 0; takt__c_next_declared(node, &at, &one);) {
        if (ts_node_is_null(one.name) ||
            !takt__ir_same_text(takt__node_text(source, one.name), name))
            continue;
        *out = (struct takt_c_declaration){.holder = node,
                                           .declarator = one.declarator};
        if (takt__node_is(one.declarator, "init_declarator"))
            out->value = takt__node_field(one.declarator, "value");
        return true;
    }
    return false;
}

static bool declared_in_block(const struct takt_source *source, TSNode block,
                              TSNode before, struct takt_text name,
                              struct takt_c_declaration *out)
{
    const struct takt_c_name *found = takt__c_find_local(source, block, name);

    if (found == NULL ||
        ts_node_start_byte(found->holder) > ts_node_start_byte(before))
        return false;
    *out = (struct takt_c_declaration){.holder = found->holder,
                                       .declarator = found->node};
    if (takt__node_is(found->node, "init_declarator"))
        out->value = takt__node_field(found->node, "value");
    return true;
}

/* float *RESTRICT x: to the parser, the macro is the name and x an error. */
static bool declares_behind_macro(const struct takt_source *source, TSNode list,
                                  uint32_t k, struct takt_text name,
                                  struct takt_c_declaration *out)
{
    const TSNode error = ts_node_named_child(list, k);

    if (k == 0 || !takt__node_is(error, "ERROR") ||
        !takt__ir_same_text(takt__node_text(source, error), name))
        return false;
    out->holder = ts_node_named_child(list, k - 1);
    out->declarator = takt__node_field(out->holder, "declarator");
    return takt__node_is(out->declarator, "pointer_declarator");
}

static bool declared_by_parameters(const struct takt_source *source,
                                   TSNode declarator, struct takt_text name,
                                   struct takt_c_declaration *out)
{
    for (unsigned i = 0; i < 16 && !ts_node_is_null(declarator); i++) {
        const TSNode list = takt__node_field(declarator, "parameters");
        if (!ts_node_is_null(list)) {
            const uint32_t count = ts_node_named_child_count(list);
            for (uint32_t k = 0; k < count && k < 64; k++)
                if (declares(source, ts_node_named_child(list, k), name, out) ||
                    declares_behind_macro(source, list, k, name, out)) {
                    out->is_parameter = true;
                    return true;
                }
        }
        const TSNode inner = takt__node_field(declarator, "declarator");
        declarator = ts_node_is_null(inner) ? takt__c_first(declarator) : inner;
        if (takt__node_is(declarator, "parameter_list"))
            break;
    }
    return false;
}

/* Where the parser lost its way, a function may be no function to it: then the
 * parameters are those that end right before its block. */
static bool declared_by_what_is_before(const struct takt_source *source,
                                       TSNode block, struct takt_text name,
                                       struct takt_c_declaration *out)
{
    TSNode before = ts_node_prev_named_sibling(block);

    if (ts_node_is_null(before) || !ts_node_has_error(before))
        return false;
    for (unsigned i = 0; i < 8 && !ts_node_is_null(before); i++) {
        if (!ts_node_is_null(takt__node_field(before, "parameters")))
            return declared_by_parameters(source, before, name, out);
        const uint32_t count = ts_node_named_child_count(before);
        if (count == 0)
            break;
        before = ts_node_named_child(before, count - 1);
    }
    return false;
}

static bool declared_at(const struct takt_c_place *place, unsigned level,
                        struct takt_text name, struct takt_c_declaration *out)
{
    const struct takt_source *source = place->source;
    const TSNode at = place->at[level];
    const char *type = ts_node_type(at);

    if (takt__word_in(type, "compound_statement case_statement") ||
        !strncmp(type, "preproc_", 8))
        return level + 1 < place->depth &&
               (declared_in_block(source, at, place->at[level + 1], name,
                                  out) ||
                declared_by_what_is_before(source, at, name, out));
    if (!strcmp(type, "for_statement")) {
        const TSNode start = takt__node_field(at, "initializer");
        return takt__node_is(start, "declaration") &&
               declares(source, start, name, out);
    }
    if (!strcmp(type, "for_range_loop") && declares(source, at, name, out)) {
        out->range = takt__node_field(at, "right");
        return true;
    }
    if (!strcmp(type, "function_definition") && level + 1 < place->depth &&
        declared_in_block(source, at, place->at[level + 1], name, out))
        return true; /* f(x) double *x; { ... } */
    if (takt__word_in(type, "function_definition lambda_expression"))
        return declared_by_parameters(
            source, takt__node_field(at, "declarator"), name, out);
    return false;
}

const struct takt_c_name *takt__c_class_around(const struct takt_c_place *place)
{
    char function[256];

    if (place->source->language->id != TAKT_SCAN_CPP)
        return NULL;
    takt__c_function_name(place, function, sizeof function);
    char *end = strstr(function, "::"), *class = function;
    for (char *next; end != NULL && (next = strstr(end + 2, "::")) != NULL;
         end = next)
        class = end + 2;
    if (end == NULL)
        return NULL;
    *end = '\0';
    const struct takt_text name = {class, strcspn(class, "<")};
    return takt__c_find(place->source, name, TAKT_C_CLASS);
}

bool takt__c_declared(const struct takt_c_place *place, struct takt_text name,
                      struct takt_c_declaration *out)
{
    for (unsigned i = place->depth; i > 0; i--)
        if (declared_at(place, i - 1, name, out))
            return true;
    const struct takt_c_name *class = takt__c_class_around(place);
    const struct takt_c_name *found = takt__c_find_field(
        place->source, class == NULL ? NULL : class->node.id, name);
    const bool is_method = found != NULL && found->text.size > 0;
    const struct takt_c_name *global =
        takt__c_find(place->source, name, TAKT_C_VALUE);
    if (global != NULL)
        found = global;
    else if (!is_method)
        return false;
    *out = (struct takt_c_declaration){.holder = found->holder,
                                       .declarator = found->node};
    if (takt__node_is(found->node, "init_declarator"))
        out->value = takt__node_field(found->node, "value");
    return true;
}

bool takt__c_is_type_parameter(const struct takt_c_place *place,
                               struct takt_text name)
{
    for (unsigned i = 0; i < place->depth; i++) {
        if (!takt__node_is(place->at[i], "template_declaration"))
            continue;
        const TSNode list = takt__node_field(place->at[i], "parameters");
        const uint32_t count = ts_node_named_child_count(list);
        for (uint32_t k = 0; k < count && k < 16; k++) {
            const TSNode one = ts_node_named_child(list, k);
            if (takt__node_is(one, "type_parameter_declaration") &&
                takt__ir_same_text(
                    takt__node_text(place->source, takt__c_first(one)), name))
                return true;
        }
    }
    return false;
}
