/* SPDX-License-Identifier: MIT */
/*
 * alone.h - the end of a program whose main thread ended by pthread_exit().
 *
 * Such a program ends with its last thread, and Takt's threads do not end: it
 * would stay for ever, deaf to all signals but SIGKILL. So a thread of Takt's
 * that has nothing to do looks now and then.
 */
#pragma once

#include <stdbool.h>

/* If the main thread has ended and all others are Takt's: calls exit(0), as the
 * last thread of the program would have, on a thread of its own. True: that
 * was started. */
bool takt__end_if_alone(void);
