/* SPDX-License-Identifier: MIT */
/*
 * rust_source.c - what a chain of iterators goes over: arrays in memory, or
 * something else.
 */
#include "rust.h"

/* The chain goes over something that can be an array: no map, no string. */
bool takt__rust_is_array_chain(struct takt_rust *rust, TSNode receiver)
{
    static const char closed[] = TAKT_RUST_UNSTORED " rows";
    TSNode at = takt__rust_bare(rust, receiver);
    for (unsigned i = 0; i < TAKT_RUST_DEPTH; i++) {
        const TSNode method = takt__rust_method(at);
        if (ts_node_is_null(method))
            break;
        if (takt__rust_is_any(rust, method, closed))
            return false;
        at = takt__rust_bare(rust, takt__rust_receiver(at));
    }
    TSNode part[2];
    if (takt__rust_step(rust) && takt__rust_zip(rust, at, part))
        return takt__rust_is_array_chain(rust, part[0]) &&
               takt__rust_is_array_chain(rust, part[1]);
    return takt__rust_type_of(rust, at, TAKT_RUST_DEPTH).shell !=
           TAKT_RUST_CLOSED;
}

/* Goes over something that is known to lie in memory, not a generator. */
bool takt__rust_is_in_memory(struct takt_rust *rust, TSNode source)
{
    static const char iterating[] =
        "iter iter_mut into_iter par_iter par_iter_mut chunks windows drain "
        "into_par_iter par_chunks chunks_exact " TAKT_RUST_LINES;
    TSNode at = takt__rust_bare(rust, source);
    for (unsigned i = 0; i < TAKT_RUST_DEPTH; i++) {
        const TSNode method = takt__rust_method(at);
        if (ts_node_is_null(method))
            break;
        if (takt__rust_is_any(rust, method, iterating))
            return true;
        at = takt__rust_bare(rust, takt__rust_receiver(at));
    }
    TSNode part[2];
    if (rust_is(at, "tuple_expression"))
        return true; /* izip!() */
    if (takt__rust_step(rust) && takt__rust_zip(rust, at, part))
        return takt__rust_is_in_memory(rust, part[0]) &&
               takt__rust_is_in_memory(rust, part[1]);
    if (rust_is(at, "identifier")) { /* let it = v.iter(); */
        const struct takt_rust_binding binding = takt__rust_binding(rust, at);
        if (binding.kind == TAKT_RUST_LET &&
            takt__rust_is_any(
                rust,
                takt__rust_method(takt__node_field(binding.node, "value")),
                iterating))
            return true;
    }
    return rust_is(at, "range_expression") ||
           takt__rust_type_of(rust, at, TAKT_RUST_DEPTH).depth > 0;
}
