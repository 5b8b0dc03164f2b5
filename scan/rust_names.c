/* SPDX-License-Identifier: MIT */
/*
 * rust_names.c - what the names of a Rust file mean: constants, fields and
 * functions are gathered once; what a local name is bound to is looked up from
 * where it stands, outwards.
 */
#include "memory.h"
#include "rust.h"

#include <stdlib.h>
#include <string.h>

static void add_name(struct takt_rust *rust, struct takt_rust_name name)
{
    takt__scan_grow(&rust->name, &rust->name_room, rust->name_count + 1,
                    sizeof name);
    rust->name[rust->name_count++] = name;
}

struct takt_text takt__rust_owner(const struct takt_rust *rust, TSNode node)
{
    const TSNode impl = takt__rust_above(rust, node, "impl_item");
    struct takt_text none = {"", 0};
    if (ts_node_is_null(impl))
        return none;
    TSNode type = takt__node_field(impl, "type");
    while (takt__node_in(type, "reference_type generic_type"))
        type = takt__node_field(type, "type");
    return ts_node_is_null(type) ? none : rust_text(rust, type);
}

static void add_fields(struct takt_rust *rust, TSNode item)
{
    const struct takt_text owner =
        rust_text(rust, takt__node_field(item, "name"));
    const TSNode body = takt__node_field(item, "body");
    add_name(rust,
             (struct takt_rust_name){TAKT_RUST_STRUCT, owner, owner, item});
    if (ts_node_is_null(body))
        return;
    const bool is_tuple = rust_is(body, "ordered_field_declaration_list");
    const uint32_t count = ts_node_named_child_count(body);
    for (uint32_t i = 0; i < count; i++) {
        const TSNode field = ts_node_named_child(body, i);
        if (is_tuple && count == 1) {
            /* struct Vector(Vec<f64>): its one field is called 0. */
            add_name(rust, (struct takt_rust_name){
                               TAKT_RUST_FIELD, {"0", 1}, owner, field});
        } else if (rust_is(field, "field_declaration")) {
            const struct takt_text name =
                rust_text(rust, takt__node_field(field, "name"));
            add_name(rust, (struct takt_rust_name){TAKT_RUST_FIELD, name, owner,
                                                   field});
        }
    }
}

bool takt__rust_contains(struct takt_text text, const char *word)
{
    const size_t size = strlen(word);
    const char *at = text.at, *end = text.at + text.size;
    while (size <= (size_t)(end - at) &&
           (at = memchr(at, word[0], (size_t)(end - at))) != NULL) {
        if (size <= (size_t)(end - at) && memcmp(at, word, size) == 0)
            return true;
        at++;
    }
    return false;
}

/* A constant of another file, where this one has its own of that name, or a
 * parameter: struct Jet<const N: usize>. */
static bool is_shadowed(const struct takt_rust *rust,
                        struct takt_rust_name name)
{
    const struct takt_source *source = rust->source;
    char own[64] = "const ";

    if (source->borrowed == NULL || name.node.tree != source->borrowed ||
        name.name.size + 8 > sizeof own)
        return false;
    memcpy(own + 6, name.name.at, name.name.size);
    memcpy(own + 6 + name.name.size, ":", 2);
    const TSNode root = ts_tree_root_node(source->borrowed);
    return takt__rust_contains(
        (struct takt_text){source->text, ts_node_start_byte(root)}, own);
}

static void add_item(struct takt_rust *rust, TSNode node)
{
    struct takt_rust_name name = {.node = node};
    /* Most nodes are none of these, and there are many of them. */
    if (strchr("sftcu", ts_node_type(node)[0]) == NULL)
        return;
    if (rust_is(node, "struct_item")) {
        add_fields(rust, node);
        return;
    }
    if (takt__node_in(node, "const_item static_item"))
        name.kind = TAKT_RUST_CONST;
    else if (takt__node_in(node, "function_item function_signature_item"))
        name.kind = TAKT_RUST_FUNCTION;
    else if (rust_is(node, "type_item"))
        name.kind = TAKT_RUST_ALIAS;
    else if (rust_is(node, "trait_item"))
        name.kind = TAKT_RUST_TRAIT;
    else if (rust_is(node, "use_declaration"))
        name.kind = TAKT_RUST_USE;
    else
        return;
    if (name.kind == TAKT_RUST_USE)
        name.name = rust_text(rust, node);
    else
        name.name = rust_text(rust, takt__node_field(node, "name"));
    if (name.kind == TAKT_RUST_CONST && is_shadowed(rust, name))
        return;
    if (name.kind == TAKT_RUST_FUNCTION)
        name.owner = takt__rust_owner(rust, node);
    add_name(rust, name);
}

/* The whole tree once; a cursor needs no stack of ours. */
static void gather(struct takt_rust *rust, const TSTree *tree)
{
    if (tree == NULL)
        return;
    TSTreeCursor cursor = ts_tree_cursor_new(ts_tree_root_node(tree));
    do
        add_item(rust, ts_tree_cursor_current_node(&cursor));
    while (takt__cursor_next(&cursor, true));
    ts_tree_cursor_delete(&cursor);
}

void takt__rust_begin(struct takt_source *source)
{
    struct takt_rust *rust = takt__scan_zeros(1, sizeof *rust);
    rust->source = source;
    rust->all_steps = TAKT_RUST_FILE;
    const struct takt_text text = {source->text, source->size};
    rust->has_arrays = takt__rust_contains(text, "Array") ||
                       takt__rust_contains(text, "DMatrix") ||
                       takt__rust_contains(text, "DVector") ||
                       takt__rust_contains(text, "Matrix") ||
                       takt__rust_contains(text, "faer");
    source->notes = rust;
    rust->trail = takt__scan_zeros(1, sizeof *rust->trail);
    takt__rust_memo_open(rust);
    gather(rust, source->tree);
    gather(rust, source->borrowed);
}

void takt__rust_end(struct takt_source *source)
{
    struct takt_rust *rust = source->notes;
    takt__rust_memo_close(rust);
    free(rust->trail);
    free(rust->name);
    free(rust);
    source->notes = NULL;
}

bool takt__rust_step(struct takt_rust *rust)
{
    if (rust->steps == 0 || rust->all_steps == 0)
        return false;
    rust->steps--;
    rust->all_steps--;
    return true;
}

/* Whether `outer` is above `inner` beyond doubt: nodes nest, so the larger of
 * two that overlap is the outer one. */
static bool is_above(TSNode outer, TSNode inner)
{
    const uint32_t from = ts_node_start_byte(inner);
    const uint32_t to = ts_node_end_byte(inner);
    const uint32_t first = ts_node_start_byte(outer);
    const uint32_t last = ts_node_end_byte(outer);
    return from < to && first <= from && to <= last && last - first > to - from;
}

/* From the root down, because a node does not know its parent; or from where
 * the last path went the same way, because the root may have many children. */
unsigned takt__rust_path(const struct takt_rust *rust, TSNode node,
                         TSNode path[TAKT_RUST_PATH])
{
    struct takt_rust_trail *trail = rust->trail;
    TSNode at = ts_tree_root_node(node.tree);
    unsigned count = 0;
    while (count < trail->count && is_above(trail->node[count], node)) {
        at = path[count] = trail->node[count];
        count++;
    }
    if (count > 0)
        at = ts_node_child_with_descendant(at, node);
    while (!ts_node_is_null(at) && !ts_node_eq(at, node)) {
        if (count == TAKT_RUST_PATH) {
            trail->count = 0;
            return 0;
        }
        path[count++] = at;
        at = ts_node_child_with_descendant(at, node);
    }
    memcpy(trail->node, path, count * sizeof *path);
    trail->count = count;
    return count;
}

TSNode takt__rust_above(const struct takt_rust *rust, TSNode node,
                        const char *type)
{
    TSNode path[TAKT_RUST_PATH];
    for (unsigned i = takt__rust_path(rust, node, path); i > 0; i--)
        if (rust_is(path[i - 1], type))
            return path[i - 1];
    return takt__rust_null();
}

const struct takt_rust_name *takt__rust_find(const struct takt_rust *rust,
                                             enum takt_rust_kind kind,
                                             struct takt_text owner,
                                             struct takt_text name)
{
    for (size_t i = 0; i < rust->name_count; i++) {
        const struct takt_rust_name *known = &rust->name[i];
        if (known->kind == kind && takt__ir_same_text(known->name, name) &&
            (owner.at == NULL || takt__ir_same_text(known->owner, owner)))
            return known;
    }
    return NULL;
}

bool takt__rust_uses(const struct takt_rust *rust, const char *word)
{
    for (size_t i = 0; i < rust->name_count; i++)
        if (rust->name[i].kind == TAKT_RUST_USE &&
            takt__rust_contains(rust->name[i].name, word))
            return true;
    return false;
}

/* The identifier in a pattern that has that name. */
static TSNode bound_in(const struct takt_rust *rust, TSNode pattern,
                       struct takt_text name, unsigned depth)
{
    if (ts_node_is_null(pattern) || depth == 0)
        return takt__rust_null();
    if (takt__node_in(pattern, "identifier shorthand_field_identifier"))
        return takt__ir_same_text(rust_text(rust, pattern), name)
                   ? pattern
                   : takt__rust_null();
    const uint32_t count = ts_node_named_child_count(pattern);
    for (uint32_t i = 0; i < count && i < 32; i++) {
        const TSNode found =
            bound_in(rust, ts_node_named_child(pattern, i), name, depth - 1);
        if (!ts_node_is_null(found))
            return found;
    }
    return takt__rust_null();
}

static bool binds(const struct takt_rust *rust, struct takt_rust_binding *out,
                  enum takt_rust_bound kind, TSNode node, TSNode pattern,
                  struct takt_text name)
{
    const TSNode found = bound_in(rust, pattern, name, 8);
    if (ts_node_is_null(found))
        return false;
    *out = (struct takt_rust_binding){kind, node, pattern, found, 0};
    return true;
}

/* The last `let` before `child`. */
static bool bound_in_block(const struct takt_rust *rust,
                           struct takt_rust_binding *out, TSNode block,
                           TSNode child, struct takt_text name)
{
    bool is_found = false;
    TSTreeCursor cursor = ts_tree_cursor_new(block);
    for (bool more = ts_tree_cursor_goto_first_child(&cursor); more;
         more = ts_tree_cursor_goto_next_sibling(&cursor)) {
        const TSNode node = ts_tree_cursor_current_node(&cursor);
        if (ts_node_start_byte(node) >= ts_node_start_byte(child))
            break;
        if (rust_is(node, "let_declaration"))
            is_found |= binds(rust, out, TAKT_RUST_LET, node,
                              takt__node_field(node, "pattern"), name);
    }
    ts_tree_cursor_delete(&cursor);
    return is_found;
}

static bool bound_in_list(const struct takt_rust *rust,
                          struct takt_rust_binding *out,
                          enum takt_rust_bound kind, TSNode node, TSNode list,
                          struct takt_text name)
{
    const uint32_t count = ts_node_named_child_count(list);
    for (uint32_t i = 0; i < count && i < 64; i++) {
        const TSNode item = ts_node_named_child(list, i);
        TSNode pattern = item;
        if (rust_is(item, "parameter"))
            pattern = takt__node_field(item, "pattern");
        else if (rust_is(item, "self_parameter"))
            continue;
        const TSNode about = kind == TAKT_RUST_PARAMETER ? item : node;
        if (binds(rust, out, kind, about, pattern, name)) {
            out->place = i;
            return true;
        }
    }
    return false;
}

/* Whether `node`, of which `child` is a part, binds the name for it. */
static bool bound_by(const struct takt_rust *rust,
                     struct takt_rust_binding *out, TSNode node, TSNode child,
                     struct takt_text name)
{
    if (rust_is(node, "block"))
        return bound_in_block(rust, out, node, child, name);
    if (rust_is(node, "for_expression"))
        return ts_node_eq(takt__node_field(node, "body"), child) &&
               binds(rust, out, TAKT_RUST_FOR, node,
                     takt__node_field(node, "pattern"), name);
    if (rust_is(node, "closure_expression"))
        return bound_in_list(rust, out, TAKT_RUST_CLOSURE, node,
                             takt__node_field(node, "parameters"), name);
    if (rust_is(node, "function_item"))
        return bound_in_list(rust, out, TAKT_RUST_PARAMETER, node,
                             takt__node_field(node, "parameters"), name);
    if (rust_is(node, "match_arm"))
        return binds(rust, out, TAKT_RUST_MATCHED, node,
                     takt__node_field(node, "pattern"), name);
    if (takt__node_in(node, "if_expression while_expression")) {
        const TSNode condition = takt__node_field(node, "condition");
        return rust_is(condition, "let_condition") &&
               binds(rust, out, TAKT_RUST_MATCHED, node,
                     takt__node_field(condition, "pattern"), name);
    }
    return false;
}

struct takt_rust_binding takt__rust_look_up(struct takt_rust *rust,
                                            TSNode identifier)
{
    struct takt_rust_binding binding = {.kind = TAKT_RUST_UNBOUND};
    const struct takt_text name = rust_text(rust, identifier);
    TSNode path[TAKT_RUST_PATH];
    TSNode child = identifier;
    for (unsigned i = takt__rust_path(rust, identifier, path); i > 0; i--) {
        if (bound_by(rust, &binding, path[i - 1], child, name))
            return binding;
        if (rust_is(path[i - 1], "function_item"))
            break;
        child = path[i - 1];
    }
    const struct takt_rust_name *constant = takt__rust_find(
        rust, TAKT_RUST_CONST, (struct takt_text){NULL, 0}, name);
    if (constant != NULL)
        binding = (struct takt_rust_binding){TAKT_RUST_CONSTANT, constant->node,
                                             constant->node, constant->node, 0};
    return binding;
}
