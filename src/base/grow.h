/* SPDX-License-Identifier: MIT */
/* grow.h - lists that grow. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* `list` is the address of a pointer to elements of so many bytes each (NULL:
 * there are none yet), which have room for *room. Gives them room for `count`,
 * and for twice as many as before at least, since one more may follow. False:
 * there is no memory, and nothing has changed. */
bool takt__grow(void *list, size_t *room, size_t count, size_t size);
