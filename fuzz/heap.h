/* SPDX-License-Identifier: MIT */
/*
 * heap.h - memory for SQLite in fuzz targets.
 *
 * SQLite is not instrumented, so most of what AddressSanitizer's allocator does
 * for each of its blocks is for nothing. This one keeps what matters to the
 * code that is: around the blocks, and in those that are free, memory is
 * poisoned, and a block is used again only after many others of its size.
 */
#pragma once

/* Before SQLite is initialized. */
void heap_give_to_sqlite(void);
