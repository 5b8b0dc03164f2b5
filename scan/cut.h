/* SPDX-License-Identifier: MIT */
/*
 * cut.h - parts of a text that are left out of what is parsed, at no cost for
 * places and lines.
 */
#ifndef TAKT_SCAN_CUT_H
#define TAKT_SCAN_CUT_H

#include <tree_sitter/api.h>

/* The parts that are kept, while a text is gone through. */
struct takt_cutter {
    const char *text, *end;
    TSRange *range;
    size_t count, most;
    const char *kept;    /* where the part begins that is not ended yet */
    const char *counted; /* up to here, `point` was counted */
    TSPoint point;
};

struct takt_cutter takt__cutter(const char *text, size_t size, TSRange *range,
                                size_t most);
/* Leaves out what is between two places, in the order of the text. */
void takt__cut(struct takt_cutter *in, const char *from, const char *to);
/* How many parts are kept; 0: all of the text is one. */
size_t takt__cutter_end(struct takt_cutter *in);

#endif
