/* SPDX-License-Identifier: MIT */
/*
 * python_results.h - the shapes of arrays, and what calls make of them.
 */
#pragma once

#include "python_notes.h"

/* An array of which no more is known. */
struct takt_python_value takt__python_some_array(bool is_torch);
struct takt_python_value takt__python_turned(struct takt_python_value value);
struct takt_python_value takt__python_broadcast(struct takt_python_value a,
                                                struct takt_python_value b);

/* What left @ right is: x.T in it shows that it is about matrices. */
struct takt_python_value
takt__python_product_of(const struct takt_source *source, TSNode left,
                        TSNode right);

/* What an annotation says of a value. */
struct takt_python_value
takt__python_annotated(const struct takt_source *source, TSNode type);

/* What a function of this file returns; unknown: it is none. */
struct takt_python_value takt__python_returned(const struct takt_source *source,
                                               TSNode function);

/* The object of a method call: what is called as only arrays can be is an
 * array. */
struct takt_python_value takt__python_receiver(const struct takt_source *source,
                                               TSNode call);

/* What a call returns. */
struct takt_python_value takt__python_result(const struct takt_source *source,
                                             TSNode call);
