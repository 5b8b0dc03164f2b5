/* SPDX-License-Identifier: MIT */
/* loop_entries.h - functions that stand for NumPy's inner loops. */
#pragma once

#include "loop.h"

/* The function for takt__loops[number]. NumPy passes a loop no argument that
 * says which one it is: so each has a function of its own. */
takt_inner_loop *takt__loop_entry(unsigned number);

/* The function for takt__loop_products[number]. */
takt_inner_loop *takt__loop_product_entry(unsigned number);
