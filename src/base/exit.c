/* SPDX-License-Identifier: MIT */
/* exit.c - two flags, and how long to wait. */
#include "base/exit.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/lock.h"

static _Atomic bool has_begun, gave_up;

bool takt__exit_begin(void)
{
    atomic_store(&has_begun, true);
    return takt__section_is_open();
}

bool takt__exit_has_begun(void)
{
    return atomic_load_explicit(&has_begun, memory_order_relaxed);
}

uint64_t takt__exit_deadline(bool is_interrupted, uint64_t usual_ns)
{
    static const uint64_t short_ns = 100000000;

    return takt__now_ns() + (is_interrupted ? short_ns : usual_ns);
}

void takt__exit_give_up(void)
{
    atomic_store(&gave_up, true);
}

bool takt__exit_gave_up(void)
{
    return atomic_load(&gave_up);
}
