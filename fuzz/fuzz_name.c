/* SPDX-License-Identifier: MIT */
/* fuzz_name.c - any text can be asked for as an op or a framework's. */
#include "fuzz.h"

#include <string.h>

#include <takt/takt.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char text[256], near[64];
    const takt_framework_op *row;

    if (length >= sizeof text)
        return 0;
    memcpy(text, bytes, length);
    text[length] = '\0';
    takt_op_find(text);
    takt_op_nearest(text);
    takt_heuristic_select(text, length * 1000);
    takt_framework_find(text, &row);
    takt_framework_nearest(text, near, sizeof near);
    return 0;
}
