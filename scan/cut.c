/* SPDX-License-Identifier: MIT */
/*
 * cut.c - the parts of a text that are parsed.
 */
#include "cut.h"

struct takt_cutter takt__cutter(const char *text, size_t size, TSRange *range,
                                size_t most)
{
    return (struct takt_cutter){.text = text,
                                .end = text + size,
                                .range = range,
                                .most = most,
                                .kept = text,
                                .counted = text};
}

static TSPoint point_of(struct takt_cutter *in, const char *at)
{
    for (; in->counted < at; in->counted++) {
        in->point.column++;
        if (*in->counted == '\n')
            in->point = (TSPoint){in->point.row + 1, 0};
    }
    return in->point;
}

void takt__cut(struct takt_cutter *in, const char *from, const char *to)
{
    if (in->count < in->most && from > in->kept) {
        TSRange *range = &in->range[in->count];
        range->start_byte = (uint32_t)(in->kept - in->text);
        range->end_byte = (uint32_t)(from - in->text);
        range->start_point = point_of(in, in->kept);
        range->end_point = point_of(in, from);
    }
    in->count += from > in->kept;
    in->kept = to;
}

size_t takt__cutter_end(struct takt_cutter *in)
{
    if (in->kept == in->text || in->count >= in->most)
        return 0;
    takt__cut(in, in->end, in->end);
    return in->count;
}
