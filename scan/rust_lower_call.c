/* SPDX-License-Identifier: MIT */
/*
 * rust_lower_call.c - calls in expressions: functions of mathematics, methods
 * that hand out elements, and functions of the file itself in their place.
 */
#include "rust_lower.h"

TSNode takt__rust_function_of(struct takt_rust_nest *nest, TSNode name)
{
    if (rust_is(name, "closure_expression"))
        return name;
    if (rust_is(name, "identifier")) { /* let f = |x| ..; */
        const struct takt_rust_binding binding =
            takt__rust_binding(nest->rust, name);
        const TSNode value = binding.kind == TAKT_RUST_LET
                                 ? takt__node_field(binding.node, "value")
                                 : takt__rust_null();
        if (rust_is(value, "closure_expression"))
            return value;
        if (binding.kind != TAKT_RUST_UNBOUND)
            return takt__rust_null();
    }
    if (rust_is(name, "scoped_identifier"))
        name = takt__node_field(name, "name");
    const struct takt_rust_name *found = takt__rust_find(
        nest->rust, TAKT_RUST_FUNCTION, (struct takt_text){NULL, 0},
        rust_text(nest->rust, name));
    return found == NULL ? takt__rust_null() : found->node;
}

struct takt_rust_part *takt__rust_applied(struct takt_rust_nest *nest,
                                          TSNode function,
                                          struct takt_rust_part **part,
                                          unsigned count, unsigned depth)
{
    const unsigned hidden = nest->hidden, locals = nest->locals;
    const TSNode body = takt__node_field(function, "body");
    const TSNode list = takt__node_field(function, "parameters");
    const uint32_t parameters = takt__node_children(list);
    struct takt_rust_part *value = NULL;
    unsigned bound = 0;

    if (ts_node_is_null(body) || ts_node_is_null(list) || nest->inlined > 2)
        return NULL;
    if (!rust_is(function, "closure_expression"))
        nest->hidden = locals; /* what is around a closure, it sees */
    nest->inlined++;
    for (uint32_t i = 0; i < parameters && bound <= count; i++) {
        const TSNode one = takt__node_child(list, i);
        if (rust_is(one, "self_parameter"))
            continue;
        bound = bound < count && takt__rust_bind(nest, one, part[bound])
                    ? bound + 1
                    : count + 1;
    }
    if (bound == count)
        value = takt__rust_block(nest, body, depth + 1);
    nest->inlined--;
    nest->hidden = hidden;
    nest->locals = locals;
    return value;
}

/* A function of this file or a closure that only computes something. */
static struct takt_ir_expr *inlined(struct takt_rust_nest *nest, TSNode call,
                                    TSNode name, bool is_method, unsigned depth)
{
    enum { MOST = 6 };
    struct takt_rust *rust = nest->rust;
    const TSNode function = takt__rust_function_of(nest, name);
    const TSNode first =
        takt__node_child(takt__node_field(function, "parameters"), 0);
    const unsigned count = takt__rust_argument_count(call);
    struct takt_rust_part *part[MOST];

    if (ts_node_is_null(function) || count > MOST ||
        (rust_is(first, "self_parameter") &&
         (!is_method ||
          !rust_is(takt__rust_bare(rust, takt__rust_receiver(call)), "self"))))
        return NULL;
    for (unsigned i = 0; i < count; i++) {
        part[i] = takt__rust_one(
            nest, takt__rust_expr(nest, takt__rust_argument(call, i), false,
                                  depth + 1));
        if (part[i] == NULL)
            return NULL;
    }
    const struct takt_rust_part *value =
        takt__rust_applied(nest, function, part, count, depth);
    return value == NULL ? NULL : value->value;
}

static const char same[] =
    "clone to_owned into unwrap expect as_slice as_mut_slice as_ref as_mut "
    "borrow borrow_mut to_vec view view_mut iter iter_mut as_view cloned "
    "copied unwrap_or lock deref to_f32 to_f64 as_ptr as_mut_ptr as_ copy";
static const char getters[] = "get at get_unchecked get_unchecked_mut get_mut "
                              "at_mut get_value get_element value_at uget "
                              "uget_mut elem elem_mut";
static const char converting[] =
    "from from_usize from_f32 from_f64 from_real from_i32 from_u32 from_i64 "
    "from_u64 cast";
static const char pointed[] = "add offset wrapping_add";
static const char measures[] =
    "len count nrows ncols rows cols width height dim shape size is_empty";

/* What is called with what does not change: a number that we do not know. */
static struct takt_ir_expr *unknown_call(struct takt_rust_nest *nest,
                                         TSNode call,
                                         const struct takt_ir_expr *of,
                                         bool is_index, unsigned depth)
{
    const uint32_t count = takt__rust_argument_count(call);
    uint32_t loops = of == NULL ? 0 : of->loops;

    if (!is_index || (of != NULL && takt__ir_is_gathered(of)))
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        const struct takt_ir_expr *e = takt__rust_expr(
            nest, takt__rust_argument(call, i), true, depth + 1);
        if (e == NULL || takt__ir_is_gathered(e))
            return NULL;
        loops |= e->loops;
    }
    return takt__ir_opaque(&nest->ir, loops);
}

static bool is_pointer(const struct takt_ir_expr *e)
{
    return e->type.kind == TAKT_IR_PLAIN && e->type.rank == 1 &&
           (e->sort == TAKT_IR_NAME || e->sort == TAKT_IR_ADDRESS);
}

/* p.add(i) of a pointer: what *p.add(i) is, is an element. */
static struct takt_ir_expr *beyond(struct takt_rust_nest *nest, TSNode call,
                                   struct takt_ir_expr *of, unsigned depth)
{
    struct takt_ir_expr *at =
        takt__rust_expr(nest, takt__rust_argument(call, 0), true, depth + 1);

    return takt__ir_is_plain_index(at)
               ? takt__ir_moved(&nest->ir, takt__ir_address(&nest->ir, of), at)
               : NULL;
}

/* Whether all arguments of a call are the same in all rounds. */
static bool has_fixed_arguments(struct takt_rust_nest *nest, TSNode call,
                                unsigned depth)
{
    const unsigned count = takt__rust_argument_count(call);

    for (unsigned i = 0; i < count; i++) {
        const struct takt_ir_expr *e = takt__rust_expr(
            nest, takt__rust_argument(call, i), true, depth + 1);
        if (e == NULL || e->loops != 0 || e->is_varying)
            return false;
    }
    return true;
}

/* A method of the crate that only reads, p.weights(): like a field of p. */
static struct takt_ir_expr *own_getter(struct takt_rust_nest *nest, TSNode call,
                                       TSNode name, struct takt_ir_expr *of,
                                       unsigned depth)
{
    struct takt_rust *rust = nest->rust;
    const struct takt_rust_type type =
        takt__rust_type_of(rust, takt__rust_receiver(call), TAKT_RUST_DEPTH);
    const struct takt_rust_name *function =
        type.shell == TAKT_RUST_OWN
            ? takt__rust_find(rust, TAKT_RUST_FUNCTION, type.name,
                              rust_text(rust, name))
            : NULL;
    if (function == NULL)
        return NULL;
    const TSNode self =
        takt__node_child(takt__node_field(function->node, "parameters"), 0);
    if (!rust_is(self, "self_parameter") || of->is_varying ||
        !takt__text_is(rust_text(rust, self), "&self") ||
        ts_node_is_null(takt__node_field(function->node, "return_type")) ||
        !has_fixed_arguments(nest, call, depth))
        return NULL;
    if (of->sort == TAKT_IR_ACCESS && of->loops != 0)
        return takt__rust_argument_count(call) > 0
                   ? NULL
                   : takt__ir_field(&nest->ir, rust->source, of,
                                    rust_text(rust, name),
                                    takt__rust_ir_type(takt__rust_type_of(
                                        rust, call, TAKT_RUST_DEPTH)));
    return of->loops == 0 ? takt__rust_named(nest, call) : NULL;
}

static struct takt_ir_expr *method(struct takt_rust_nest *nest, TSNode call,
                                   TSNode name, bool is_index, unsigned depth)
{
    struct takt_rust *rust = nest->rust;
    const struct takt_text word = rust_text(rust, name);
    const TSNode of = takt__rust_receiver(call);
    const unsigned count = takt__rust_argument_count(call);
    struct takt_ir_expr *argument[4];

    if (takt__text_in(word, measures) && count <= 1)
        return takt__rust_named(nest, call);
    struct takt_ir_expr *e = inlined(nest, call, name, true, depth);
    if (e != NULL)
        return e;
    argument[0] = takt__rust_expr(nest, of, is_index, depth + 1);
    if (argument[0] == NULL || takt__text_in(word, same))
        return argument[0];
    if (takt__text_in(word, getters) && count > 0)
        return takt__rust_told(
            nest, call,
            takt__rust_at(nest, argument[0],
                          takt__node_field(call, "arguments"), depth));
    e = own_getter(nest, call, name, argument[0], depth);
    if (e != NULL)
        return e;
    if (count == 1 && takt__text_in(word, pointed) && is_pointer(argument[0]))
        return beyond(nest, call, argument[0], depth);
    for (unsigned i = 0; i < count && i < 3; i++) {
        argument[i + 1] = takt__rust_expr(nest, takt__rust_argument(call, i),
                                          is_index, depth + 1);
        if (argument[i + 1] == NULL)
            return NULL;
    }
    e = count < 3 ? takt__rust_function(nest, word, argument, count + 1) : NULL;
    return e != NULL ? e
                     : unknown_call(nest, call, argument[0], is_index, depth);
}

/* T::epsilon(), E::half(): of a type parameter. */
static bool is_constant(struct takt_rust_nest *nest, TSNode call)
{
    const TSNode path =
        takt__node_field(takt__node_field(call, "function"), "path");
    if (!rust_is(path, "identifier"))
        return false;
    const struct takt_rust_type of =
        takt__rust_type_named(nest->rust, path, TAKT_RUST_DEPTH);
    return of.shell == TAKT_RUST_PLAIN && of.depth == 0 &&
           (rust_is_float(of) || of.leaf == TAKT_RUST_GENERIC);
}

/* A function of the crate of what is the same in all rounds. */
static bool is_fixed_call(struct takt_rust_nest *nest, TSNode call,
                          TSNode callee, unsigned depth)
{
    const TSNode function = takt__rust_function_of(nest, callee);
    const TSNode list = takt__node_field(function, "parameters");

    return rust_is(function, "function_item") &&
           !takt__rust_contains(rust_text(nest->rust, list), "mut ") &&
           !ts_node_is_null(takt__node_field(function, "return_type")) &&
           has_fixed_arguments(nest, call, depth);
}

struct takt_ir_expr *takt__rust_called(struct takt_rust_nest *nest, TSNode call,
                                       bool is_index, unsigned depth)
{
    struct takt_rust *rust = nest->rust;
    const TSNode name = takt__rust_method(call);
    const TSNode callee = takt__rust_callee(call);
    const unsigned count = takt__rust_argument_count(call);
    struct takt_ir_expr *argument[3];

    if (takt__rust_ends_chain(nest, call))
        return takt__rust_chain_value(nest, call, depth);
    if (!ts_node_is_null(name))
        return method(nest, call, name, is_index, depth);
    if (ts_node_is_null(callee) || count > 3)
        return NULL;
    const struct takt_text word = rust_text(rust, callee);
    if (count == 0)
        return takt__text_is(word, "zero")  ? takt__ir_number(&nest->ir, 0)
               : takt__text_is(word, "one") ? takt__ir_number(&nest->ir, 1)
               : is_constant(nest, call)    ? takt__rust_named(nest, call)
                                            : NULL;
    struct takt_ir_expr *e = inlined(nest, call, callee, false, depth);
    if (e == NULL && is_fixed_call(nest, call, callee, depth))
        return takt__rust_named(nest, call);
    for (unsigned i = 0; i < count && e == NULL; i++) {
        argument[i] = takt__rust_expr(nest, takt__rust_argument(call, i),
                                      is_index, depth + 1);
        if (argument[i] == NULL)
            return NULL;
    }
    if (e == NULL && count == 1 && takt__text_in(word, converting))
        return argument[0];
    static const char floats[] = "f32 f64";
    const TSNode path =
        takt__node_field(takt__node_field(call, "function"), "path");
    for (unsigned i = 0; i < count && e == NULL; i++)
        if (takt__rust_is_any(rust, path, floats)) /* f64::max(a, b) */
            takt__rust_set_float(argument[i], TAKT_IR_FLOAT);
    if (e == NULL)
        e = takt__rust_function(nest, word, argument, count);
    return e != NULL ? e : unknown_call(nest, call, NULL, is_index, depth);
}
