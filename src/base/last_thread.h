/* SPDX-License-Identifier: MIT */
/*
 * last_thread.h - the end of a program whose main thread ended by
 * pthread_exit().
 *
 * Such a program ends with its last thread, and Takt's threads do not end: it
 * would stay for ever, and only SIGKILL would end it. So a thread of Takt's
 * that has nothing to do checks now and then.
 */
#pragma once

#include <stdbool.h>

/* If the main thread has ended and all others are Takt's: calls exit(0), as the
 * last thread of the program would have, on a thread of its own. True: that
 * was started. */
bool takt__exit_if_last(void);
