/* SPDX-License-Identifier: MIT */
/*
 * situation.h - what a thread keeps of its previous call.
 *
 * The same call takes longer or shorter depending on what came before it: where
 * its operands were left, and whether other threads are still awake.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct takt_thread {
    const void *in, *out;  /* of its last call */
    uint64_t threads_used; /* ticks: when it last had a use for threads */
    uint64_t random;
    uint32_t left; /* direct calls until one is timed */
    uint32_t team; /* threads of the last call */
};

/* The space of a thread is set aside when the program starts, so that reaching
 * it takes one instruction in a shared library too. */
extern _Thread_local struct takt_thread takt__thread
    __attribute__((tls_model("initial-exec")));

/* True once in `1 << shift`, at random: a loop of calls must not fall into
 * step with it. */
static inline bool takt__thread_draw(struct takt_thread *thread, unsigned shift)
{
    thread->random =
        thread->random * 6364136223846793005u + 1442695040888963407u;
    return (thread->random >> 33 & ((1u << shift) - 1)) == 0;
}
