/* SPDX-License-Identifier: MIT */
/* grow.c - lists that grow. */
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

#include "base/size.h"

bool takt__grow(void *list, size_t *room, size_t count, size_t size)
{
    const size_t least = takt__size_max(16, takt__size_mul(2, *room));
    const size_t more = takt__size_max(count, least);
    const size_t bytes = takt__size_mul(more, size);
    void *at;

    if (count <= *room)
        return true;
    memcpy(&at, list, sizeof at); /* whatever it points to */
    at = bytes == SIZE_MAX ? NULL : realloc(at, bytes);
    if (at == NULL)
        return false;
    memcpy(list, &at, sizeof at);
    *room = more;
    return true;
}
