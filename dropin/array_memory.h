/* SPDX-License-Identifier: MIT */
/*
 * array_memory.h - keeps large blocks of memory that NumPy's arrays gave back,
 * for the next ones.
 *
 * An expression of large arrays makes and drops some for each operation. The C
 * library returns their memory to the system, which has to clear it again when
 * it is first written: that can take as long as the operation. NumPy's memory
 * handler (NEP 49) calls this instead.
 *
 * The blocks of arrays and those that are kept take no more together than
 * arrays took at some time before, and those that are kept 128 MiB at most. A
 * block that is not used again for a while goes back. Blocks are those of
 * malloc(): code that frees or resizes one without this may do so.
 *
 * Threads: any; of two at once, one is served by malloc().
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* PyDataMem_Handler of NumPy 1.22 and later. */
struct takt_array_handler {
    char name[127];
    uint8_t version;
    void *context;
    void *(*allocate)(void *context, size_t bytes);
    void *(*allocate_zeroed)(void *context, size_t count, size_t bytes);
    void *(*resize)(void *context, void *at, size_t bytes);
    void (*release)(void *context, void *at, size_t bytes);
};

/* Puts functions of this into NumPy's default handler, whose own ones do the
 * rest. Does nothing with a handler that it does not know, or that has them. */
void takt__array_memory_install(struct takt_array_handler *handler);
