/* SPDX-License-Identifier: MIT */
/* memory.h - memory for tree-sitter. */
#ifndef TAKT_SCAN_MEMORY_H
#define TAKT_SCAN_MEMORY_H

/* From here on tree-sitter ends the process with status 1 and a line on
 * standard error when there is no memory, instead of aborting. Before any
 * parser is made; as often as you like. */
void takt__scan_use_memory(void);

#endif
