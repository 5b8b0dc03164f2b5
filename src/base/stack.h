/* SPDX-License-Identifier: MIT */
/* stack.h - how much of its stack a thread has left. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Whether the calling thread has so many bytes left. On a stack that is not its
 * own (a coroutine's, a signal handler's) nothing is known: such have 64 KiB
 * left, and no more. */
bool takt__stack_has(size_t bytes);
