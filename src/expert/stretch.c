/* SPDX-License-Identifier: MIT */
/* stretch.c - nearly equal parts, in whole grains. */
#include "expert/stretch.h"

struct takt_stretch takt__stretch(size_t total, size_t grain, unsigned part,
                                  unsigned parts)
{
    if (parts == 1)
        return (struct takt_stretch){.first = 0, .count = total};

    const size_t grains = (total + grain - 1) / grain;
    const size_t each = (grains + parts - 1) / parts * grain;
    const size_t first = part * each;

    if (first >= total)
        return (struct takt_stretch){.first = total};
    return (struct takt_stretch){
        .first = first, .count = total - first < each ? total - first : each};
}
