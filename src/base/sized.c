/* SPDX-License-Identifier: MIT */
/* sized.c - structs of callers that were compiled with another version. */
#include "base/sized.h"

bool takt__sized_read_other(const void *given, size_t first, size_t own,
                            void *copy)
{
    const size_t size = takt__sized_size(given, first);
    const size_t known = size < own ? size : own;
    const char *bytes = given;

    if (size == 0)
        return false;
    for (size_t i = own; i < size; i++)
        if (bytes[i] != 0)
            return false;
    memset(copy, 0, own);
    memcpy(copy, given, known);
    *(size_t *)copy = own;
    return true;
}
