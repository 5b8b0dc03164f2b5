/* SPDX-License-Identifier: MIT */
/* pooling.c - the maximum or the mean of windows of images of floats. */
#include "kernels/layers.h"

#include <stdint.h>
#include <string.h>

#include "kernels/vector/pooling_max.h"
#include "kernels/vector/pooling_mean.h"

static size_t room_of(const struct pooling *is)
{
    return is->call->is_mean ? mean_room(is) : max_room(is);
}

size_t TAKT_K(pooling_room_f32)(const struct takt_pooling_call *call)
{
    const struct pooling is = pooling_of(call);

    return takt__pooling_units(call) == 0 ? 0
                                          : takt__size_add(room_of(&is), 63);
}

void TAKT_K(pooling_f32)(const struct takt_pooling_call *call, size_t first,
                         size_t count, void *scratch)
{
    const struct pooling is = pooling_of(call);
    void *const room = v_line(scratch);

    if (count == 0)
        return;
    memset(room, 0, room_of(&is)); /* vectors reach beyond what is written */
    const struct sums sums =
        call->is_mean ? sums_in(&is, room) : (struct sums){0};
    for (size_t u = first; u < first + count; u++) {
        const struct takt_layer_rows rows = takt__pooling_rows(call, u);
        if (call->is_mean && is_global(call))
            pool_globally(call, rows);
        else if (call->is_mean)
            pool_mean(&is, rows, sums);
        else
            pool_max(&is, rows, room);
    }
}
