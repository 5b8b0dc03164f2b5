/* SPDX-License-Identifier: MIT */
/* memory.h - memory for tree-sitter, and for the scanner. */
#pragma once

#include <stddef.h>

/* From here on tree-sitter ends the process with status 1 and a line on
 * standard error when there is no memory, instead of aborting. Before any
 * parser is made; as often as you like. */
void takt__scan_use_memory(void);

/* Memory of zeros, and takt__grow(). They end the process likewise: a finding
 * that is missing for lack of memory would look like none. */
void *takt__scan_zeros(size_t count, size_t size);
void takt__scan_grow(void *list, size_t *room, size_t count, size_t size);
