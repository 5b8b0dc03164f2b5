/* SPDX-License-Identifier: MIT */
/*
 * times.h - what calls on devices spend on other things than computing.
 *
 * Each thread adds up its own. A caller that reads them clears them before a
 * call.
 */
#pragma once

#include <pthread.h>
#include <stdint.h>

/* In ticks. */
struct takt_device_times {
    uint64_t waited; /* for other calls, and for a device to be opened */
    uint64_t moved;  /* copying operands; what was computed meanwhile is in it
                      */
};
extern _Thread_local struct takt_device_times takt__device_times;

/* Takes a lock. The clock is read only if another thread has it. */
void takt__device_lock(pthread_mutex_t *lock);
