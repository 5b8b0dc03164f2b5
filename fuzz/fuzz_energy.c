/* SPDX-License-Identifier: MIT */
/*
 * fuzz_energy.c - recordings of energy counters that are damaged: refused, or
 * replayed to watts that are numbers.
 */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "energy/recording.h"

static void demand(bool condition)
{
    if (!condition)
        abort();
}

static void check(void *self, unsigned arm, unsigned bound)
{
    const struct takt_energy_watts watts = takt__energy_watts(self, arm, bound);

    demand(!watts.is_known ||
           (isfinite(watts.mean) && watts.mean >= 0 && isfinite(watts.error)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    char *text = malloc(length + 1);
    struct takt_energy *energy = NULL;
    takt_diag diag;

    if (text == NULL)
        return 0;
    memcpy(text, bytes, length);
    text[length] = '\0';
    const takt_status status = takt__energy_replay(text, &energy, &diag);
    demand((status == TAKT_OK) == (energy != NULL));
    if (energy != NULL)
        takt__energy_each(energy, check, energy);
    takt__energy_destroy(energy);
    free(text);
    return 0;
}
