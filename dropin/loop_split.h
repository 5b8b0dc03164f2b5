/* SPDX-License-Identifier: MIT */
/*
 * loop_split.h - one inner loop of NumPy's, cut into stretches for the threads
 * of a context.
 *
 * Each stretch is run by NumPy's own function, so every element gets the bits
 * that it would have got. Exception flags that other threads raise are raised
 * in the caller. Workers never touch Python.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "route.h"

/* PyUFuncGenericFunction. */
typedef void takt_inner_loop(char **args, const ptrdiff_t *dimensions,
                             const ptrdiff_t *steps, void *data);

enum { TAKT_LOOP_OPERANDS = 5 };

/* The operands of a ufunc for some types. */
struct takt_loop_form {
    unsigned char inputs, operands;
    unsigned char size[TAKT_LOOP_OPERANDS]; /* bytes of an element */
};

/* Arguments of an inner loop. */
struct takt_loop_call {
    takt_inner_loop *run;
    char **args;
    const ptrdiff_t *steps;
    void *data;
    ptrdiff_t n;
};

/* Whether stretches of it can run in any order: each output has a place of its
 * own for each element, and overlaps no other operand but one that is the same
 * array (in place). Reductions and running sums have not. */
bool takt__loop_is_divisible(const struct takt_loop_form *form,
                             const struct takt_loop_call *call);

/* NumPy raises some exceptions through the x87 unit (feraiseexcept() does),
 * which the threads of a context do not carry over: they are moved to where
 * those of SSE are. For the end of a part. */
void takt__loop_move_flags(void);

/* Runs it on at most so many threads. */
void takt__loop_split(const struct takt_route *route,
                      const struct takt_loop_form *form,
                      const struct takt_loop_call *call, unsigned threads);
