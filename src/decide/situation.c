/* SPDX-License-Identifier: MIT */
/* situation.c - the memory of each thread. */
#include "decide/situation.h"

_Thread_local struct takt_thread takt__thread = {.left = 1};
