/* SPDX-License-Identifier: MIT */
/*
 * loop_product.h - the loops of NumPy's matmul for integers and halves.
 *
 * A product that is not small is computed by product.h, always: it is tens to
 * hundreds of times as fast as NumPy's loop, also on one thread. To tell the
 * gain, NumPy's loop computes some places of the result once more, in one call
 * of many.
 */
#pragma once

#include "loop.h"
#include "product_copy.h"

enum { TAKT_LOOP_PRODUCTS = 16 };

/* One for each type; `least` is in multiplications. */
struct takt_loop_product {
    struct takt_loop loop;
    enum takt_number number;
    _Atomic uint32_t calls;
};
extern struct takt_loop_product takt__loop_products[TAKT_LOOP_PRODUCTS];

/* Multiplications of the smallest product that is not left to NumPy. */
ptrdiff_t takt__loop_product_least(void);

/* A product, or a stack of them, that is not small. */
void takt__loop_product(struct takt_loop_product *self, char **args,
                        const ptrdiff_t *dimensions, const ptrdiff_t *steps,
                        void *data);
