/* SPDX-License-Identifier: MIT */
/*
 * rust_items.c - what loops, and closures that are called for each element, are
 * handed: for the types of their names.
 */
#include "rust.h"

static const char passing[] = TAKT_RUST_PASSING " rev skip step_by";
static const char stretching[] = TAKT_RUST_CHUNKS " " TAKT_RUST_LINES;
static const char closed[] = TAKT_RUST_UNSTORED;

TSNode takt__rust_range(const struct takt_rust *rust, TSNode source)
{
    static const char kept[] = "rev step_by into_iter into_par_iter";
    source = takt__rust_bare(rust, source);
    while (takt__rust_is_any(rust, takt__rust_method(source), kept))
        source = takt__rust_bare(rust, takt__rust_receiver(source));
    return rust_is(source, "range_expression") ? source : takt__rust_null();
}

static bool is_within(TSNode outer, TSNode inner)
{
    return !ts_node_is_null(outer) && !ts_node_is_null(inner) &&
           ts_node_start_byte(inner) >= ts_node_start_byte(outer) &&
           ts_node_end_byte(inner) <= ts_node_end_byte(outer);
}

unsigned takt__rust_side(TSNode pattern, TSNode name, unsigned count)
{
    if (!rust_is(pattern, "tuple_pattern") ||
        takt__node_children(pattern) != count)
        return count;
    for (unsigned i = 0; i + 1 < count; i++)
        if (is_within(takt__node_child(pattern, i), name))
            return i;
    return count - 1;
}

static unsigned side(TSNode pattern, TSNode name)
{
    return takt__rust_side(pattern, name, 2);
}

/* A name for an iterator: let rows = a.iter(); */
static TSNode named_iterator(struct takt_rust *rust, TSNode source)
{
    if (!rust_is(source, "identifier"))
        return source;
    const struct takt_rust_binding binding = takt__rust_binding(rust, source);
    if (binding.kind != TAKT_RUST_LET)
        return source;
    static const char iterators[] = "iter zip enumerate iter_mut into_iter";
    const TSNode value = takt__node_field(binding.node, "value");
    return takt__rust_is_any(rust, takt__rust_method(value), iterators)
               ? value
               : source;
}

static struct takt_rust_item mapped_item(struct takt_rust *rust, TSNode call,
                                         TSNode pattern, TSNode name)
{
    const TSNode closure = takt__rust_argument(call, 0);
    if (!rust_is(closure, "closure_expression"))
        return (struct takt_rust_item){.drawn = TAKT_RUST_NOWHERE,
                                       .node = call};
    TSNode tail = takt__rust_tail(takt__node_field(closure, "body"));
    const unsigned place = side(pattern, name);
    tail = takt__rust_bare(rust, tail);
    if (place < 2 && rust_is(tail, "tuple_expression"))
        tail = ts_node_named_child(tail, place);
    else if (place < 2)
        return (struct takt_rust_item){.drawn = TAKT_RUST_NOWHERE,
                                       .node = call};
    return (struct takt_rust_item){.drawn = TAKT_RUST_COMPUTED, .node = tail};
}

struct takt_rust_item takt__rust_item(struct takt_rust *rust, TSNode source,
                                      TSNode pattern, TSNode name,
                                      unsigned depth)
{
    struct takt_rust_item none = {.drawn = TAKT_RUST_NOWHERE, .node = source};
    for (; depth > 0 && takt__rust_step(rust); depth--) {
        source = named_iterator(rust, takt__rust_bare(rust, source));
        pattern = takt__rust_bare_pattern(pattern);
        if (ts_node_is_null(source))
            return none;
        if (rust_is(source, "range_expression"))
            return (struct takt_rust_item){.drawn = TAKT_RUST_COUNTER,
                                           .node = source};
        const TSNode method = takt__rust_method(source);
        TSNode part[2];
        if (takt__rust_zip(rust, source, part)) {
            const unsigned place = side(pattern, name);
            if (place == 2)
                return (struct takt_rust_item){.drawn = TAKT_RUST_PAIR,
                                               .node = source};
            pattern = ts_node_named_child(pattern, place);
            source = part[place];
            continue;
        }
        if (rust_is(source, "tuple_expression")) { /* izip!(a, b) */
            const unsigned all = takt__node_children(source);
            const unsigned at = takt__rust_side(pattern, name, all);
            if (at == all)
                return (struct takt_rust_item){.drawn = TAKT_RUST_PAIR,
                                               .node = source};
            pattern = takt__node_child(pattern, at);
            source = takt__node_child(source, at);
            continue;
        }
        if (ts_node_is_null(method))
            return takt__rust_type_of(rust, source, depth).shell ==
                           TAKT_RUST_CLOSED
                       ? none
                       : (struct takt_rust_item){TAKT_RUST_ELEMENT, source,
                                                 pattern};
        const struct takt_text word = rust_text(rust, method);
        const unsigned place = side(pattern, name);
        if (takt__text_is(word, "zip")) {
            if (place == 2)
                return (struct takt_rust_item){.drawn = TAKT_RUST_PAIR,
                                               .node = source};
            pattern = ts_node_named_child(pattern, place);
            source = place == 0 ? takt__rust_receiver(source)
                                : takt__rust_argument(source, 0);
        } else if (takt__text_is(word, "enumerate")) {
            if (place == 0)
                return (struct takt_rust_item){.drawn = TAKT_RUST_COUNTER,
                                               .node = source};
            if (place == 1)
                pattern = ts_node_named_child(pattern, 1);
            source = takt__rust_receiver(source);
        } else if (takt__text_in(word, passing)) {
            source = takt__rust_receiver(source);
        } else if (takt__text_in(word, stretching)) {
            return (struct takt_rust_item){.drawn = TAKT_RUST_STRETCH,
                                           .node = takt__rust_receiver(source)};
        } else if (takt__text_is(word, "windows")) {
            return (struct takt_rust_item){.drawn = TAKT_RUST_WINDOW,
                                           .node = takt__rust_receiver(source)};
        } else if (takt__text_is(word, "map")) {
            return mapped_item(rust, source, pattern, name);
        } else if (takt__text_in(word, closed)) {
            return none;
        } else {
            return (struct takt_rust_item){TAKT_RUST_ELEMENT, source, pattern};
        }
    }
    return none;
}

/* The call that a closure is an argument of. */
static TSNode call_around(const struct takt_rust *rust, TSNode closure)
{
    TSNode path[TAKT_RUST_PATH];
    const unsigned count = takt__rust_path(rust, closure, path);
    if (count < 2 || !rust_is(path[count - 1], "arguments"))
        return takt__rust_null();
    return path[count - 2];
}

unsigned takt__rust_zipped(struct takt_rust *rust, TSNode call,
                           TSNode part[TAKT_RUST_ZIPPED])
{
    static const char two[] = "zip_mut_with zip_map zip_apply";
    TSNode at = takt__rust_receiver(call), found[TAKT_RUST_ZIPPED];
    unsigned count = 0;

    if (takt__rust_is_any(rust, takt__rust_method(call), two)) {
        part[0] = at; /* a(&b, |x, y| ..) */
        part[1] = takt__rust_argument(call, 0);
        return 2;
    }
    if (rust_is(at, "identifier")) { /* let zip = Zip::from(..) */
        const struct takt_rust_binding binding = takt__rust_binding(rust, at);
        if (binding.kind == TAKT_RUST_LET)
            at = takt__node_field(binding.node, "value");
    }
    for (; count < TAKT_RUST_ZIPPED; at = takt__rust_receiver(at)) {
        const bool is_first =
            rust_is(at, "call_expression") &&
            takt__rust_is_any(rust, takt__node_field(at, "function"),
                              "Zip::from ndarray::Zip::from");
        if (!is_first && !takt__rust_is_any(rust, takt__rust_method(at),
                                            "and and_broadcast"))
            return 0;
        found[count++] = takt__rust_argument(at, 0);
        if (is_first)
            break;
    }
    for (unsigned i = 0; i < count; i++)
        part[i] = found[count - 1 - i];
    return count;
}

static struct takt_rust_item closure_item(struct takt_rust *rust,
                                          struct takt_rust_binding binding,
                                          unsigned depth)
{
    const TSNode call = call_around(rust, binding.node);
    const TSNode receiver = takt__rust_receiver(call);
    const struct takt_rust_item none = {.drawn = TAKT_RUST_NOWHERE,
                                        .node = call};
    if (ts_node_is_null(receiver))
        return none;
    if (takt__rust_calls(rust, call, "fold") && binding.place == 0)
        return (struct takt_rust_item){.drawn = TAKT_RUST_COMPUTED,
                                       .node = takt__rust_argument(call, 0)};
    TSNode array[TAKT_RUST_ZIPPED];
    const unsigned first = takt__rust_calls(rust, call, "fold");
    const unsigned count = takt__rust_zipped(rust, call, array);
    if (binding.place >= first && binding.place - first < count)
        return (struct takt_rust_item){.drawn = TAKT_RUST_ELEMENT,
                                       .node = array[binding.place - first]};
    if (takt__rust_is_any(rust, takt__rust_method(call),
                          "map_axis map_axis_mut"))
        return (struct takt_rust_item){.drawn = TAKT_RUST_STRETCH,
                                       .node = receiver};
    return takt__rust_item(rust, receiver, binding.pattern, binding.name,
                           depth);
}

struct takt_rust_item takt__rust_bound_item(struct takt_rust *rust,
                                            struct takt_rust_binding binding,
                                            unsigned depth)
{
    if (binding.kind == TAKT_RUST_CLOSURE)
        return closure_item(rust, binding, depth);
    return takt__rust_item(rust, takt__node_field(binding.node, "value"),
                           binding.pattern, binding.name, depth);
}
