/* SPDX-License-Identifier: MIT */
/* fuzz_objective.c - any text is an objective or gets a reason why not; what is
 * printed of one is one, and prints as itself. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "takt/objective.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char text[256], once[TAKT_OBJECTIVE_MAX], twice[TAKT_OBJECTIVE_MAX];
    takt_diag diag;

    if (length >= sizeof text)
        return 0;
    memcpy(text, bytes, length);
    text[length] = '\0';
    if (takt_objective_check(text, once, &diag) != TAKT_OK) {
        if (diag.text[0] == '\0')
            abort();
        return 0;
    }
    if (diag.text[0] != '\0' ||
        takt_objective_check(once, twice, &diag) != TAKT_OK ||
        strcmp(once, twice) != 0)
        abort();
    return 0;
}
