/* SPDX-License-Identifier: MIT */
/* fuzz_number.c - any text is a number or gets a reason why not. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "number.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char text[256];
    takt_shape shape = {0}, again = {0};
    size_t count = 0;
    double rate = 0;

    if (length >= sizeof text)
        return 0;
    memcpy(text, bytes, length);
    text[length] = '\0';
    parse_count(text, &count);
    if (parse_rate(text, &rate) == NULL && !(rate >= 0))
        abort();
    if (parse_shape(text, &shape) != NULL)
        return 0;
    if (parse_shape(shape_text(&shape).at, &again) != NULL ||
        memcmp(&shape, &again, sizeof shape) != 0)
        abort();
    return 0;
}
