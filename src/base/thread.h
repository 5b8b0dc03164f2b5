/* SPDX-License-Identifier: MIT */
/* thread.h - what every thread of Takt's own does first. */
#ifndef TAKT_BASE_THREAD_H
#define TAKT_BASE_THREAD_H

#include <fenv.h>
#include <pthread.h>

/* A thread inherits the floating-point environment of its creator, and anybody
 * who knows its number could cancel it. Neither is wanted. */
static inline void takt__thread_enter(void)
{
    fesetenv(FE_DFL_ENV);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
}

#endif
