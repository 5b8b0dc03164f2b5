/* SPDX-License-Identifier: MIT */
/* futex.h - sleeping on a word of memory. */
#ifndef TAKT_BASE_FUTEX_H
#define TAKT_BASE_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>

/* Sleeps while *word is `value`, until woken; may return early. */
void takt__futex_wait(_Atomic uint32_t *word, uint32_t value);

/* Wakes everyone who sleeps on the word. */
void takt__futex_wake(_Atomic uint32_t *word);

#endif
