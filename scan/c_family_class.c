/* SPDX-License-Identifier: MIT */
/*
 * c_family_class.c - what elements a class of the project holds: those of its
 * arrays, of what its operators () and [] return, or of its base class; and
 * what the name of a type alone says.
 */
#include "c_family.h"

#include <string.h>

enum { DEEPEST = 24 };

/* What a member says: a field is an array, or an operator returns one of the
 * elements. */
static void read_member(const struct takt_c_place *place, TSNode member,
                        struct takt_c_type *type, bool *is_other,
                        unsigned depth)
{
    const TSNode declarator = takt__node_field(member, "declarator");
    bool is_function = false;

    if (!takt__node_in(member, "field_declaration function_definition") ||
        ts_node_is_null(declarator))
        return;
    const TSNode name = takt__c_declared_name(declarator, &is_function);
    const bool is_operator = takt__node_is(name, "operator_name");
    const bool is_subscript =
        is_operator && takt__c_has(takt__node_text(place->source, name), "[]");
    const bool is_call =
        is_operator && takt__c_has(takt__node_text(place->source, name), "()");
    if (is_function && !is_subscript && !is_call)
        return;
    const struct takt_c_declaration held = {.holder = member,
                                            .declarator = declarator};
    const struct takt_c_type of =
        takt__c_declared_type(place, &held, depth + 1);
    const bool is_generic = is_function && of.fields == NULL &&
                            (of.element == TAKT_IR_UNKNOWN || /* its own T */
                             of.element == TAKT_IR_GENERIC);
    *is_other |= is_function && !is_generic && !takt__c_is_float(of);
    if (is_generic && type->element == TAKT_IR_OTHER)
        type->element = TAKT_IR_GENERIC;
    if (is_subscript && type->rank == 0 && (is_generic || takt__c_is_float(of)))
        type->rank = of.rank + 1;
    if (takt__c_is_float(of) && (is_function || of.rank > 0))
        type->element = of.element;
}

/* Members, also between #if and #endif. */
static void read_members(const struct takt_c_place *place, TSNode list,
                         struct takt_c_type *type, bool *is_other,
                         unsigned depth)
{
    const uint32_t count = ts_node_named_child_count(list);

    for (uint32_t i = 0; i < count && i < 256 && depth < DEEPEST; i++) {
        const TSNode member = ts_node_named_child(list, i);
        if (strncmp(ts_node_type(member), "preproc_", 8) == 0)
            read_members(place, member, type, is_other, depth + 1);
        else
            read_member(place, member, type, is_other, depth);
    }
}

/* What it inherits: vector<float>, vector<T> of its own T. */
static bool read_base(const struct takt_c_place *place, TSNode base,
                      bool is_template, struct takt_c_type *type,
                      unsigned depth)
{
    if (!takt__node_in(base,
                       "type_identifier template_type qualified_identifier"))
        return false;
    const struct takt_c_type of = takt__c_named_type(place, base, depth + 1);
    const bool is_generic = is_template && (of.element == TAKT_IR_UNKNOWN ||
                                            of.element == TAKT_IR_GENERIC);
    if ((!of.is_own && of.rank == 0 && of.kind == TAKT_IR_PLAIN) ||
        (!is_generic && !takt__c_is_float(of)))
        return false;
    type->element = is_generic ? TAKT_IR_GENERIC : of.element;
    type->rank = of.rank;
    type->kind = of.kind;
    return true;
}

static void read_bases(const struct takt_c_place *place, TSNode class,
                       struct takt_c_type *type, unsigned depth)
{
    const uint32_t count = ts_node_named_child_count(class);
    const bool is_template =
        takt__node_is(ts_node_parent(class), "template_declaration");

    for (uint32_t i = 0; i < count && i < 8; i++) {
        const TSNode clause = ts_node_named_child(class, i);
        if (!takt__node_is(clause, "base_class_clause"))
            continue;
        for (uint32_t k = 0; k < ts_node_named_child_count(clause); k++)
            if (read_base(place, ts_node_named_child(clause, k), is_template,
                          type, depth))
                return;
    }
}

struct takt_c_type takt__c_class_type(const struct takt_c_place *place,
                                      TSNode class, struct takt_text name,
                                      unsigned depth)
{
    struct takt_c_type type = {.element = TAKT_IR_OTHER,
                               .of = name,
                               .is_own = true,
                               .fields = class.id};
    struct takt_c_notes *notes = place->source->notes;
    bool is_other = false; /* its operators return what is no such number */

    if (notes->is_in_class) /* classes in classes say nothing more */
        return type;
    notes->is_in_class = true;
    read_members(place, takt__node_field(class, "body"), &type, &is_other,
                 depth);
    notes->is_in_class = false;
    if (type.element == TAKT_IR_OTHER && !is_other)
        read_bases(place, class, &type, depth);
    if (takt__c_is_float(type) && takt__c_has(name, "mat"))
        type.kind = TAKT_IR_MATRIX;
    else if (takt__c_is_float(type) && takt__c_has(name, "vec"))
        type.kind = TAKT_IR_VECTOR;
    if (type.kind != TAKT_IR_PLAIN)
        type.rank = 0;
    return type;
}

bool takt__c_ends_like_float(struct takt_text name)
{
    static const char *const words[] = {"real", "float", "double", "scalar",
                                        NULL};

    if (name.size > 4 &&
        takt__c_has((struct takt_text){name.at + name.size - 4, 4}, "type"))
        name.size -= 4;
    else if (name.size > 2 && name.at[name.size - 1] == 't' &&
             name.at[name.size - 2] == '_')
        name.size -= 2;
    while (name.size > 0 && name.at[name.size - 1] == '_')
        name.size--;
    for (const char *const *word = words; *word != NULL; word++) {
        const size_t size = strlen(*word);
        if (name.size >= size &&
            takt__c_has((struct takt_text){name.at + name.size - size, size},
                        *word))
            return true;
    }
    return false;
}
