/* SPDX-License-Identifier: MIT */
/*
 * fuzz_state.c - any bytes, read as a state file: the first byte tells whose.
 *
 * What was understood must come out the same when it is written and read again,
 * and a second writing must not change a byte.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "project/state.h"

static void demand(bool condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct takt_state state = {.is_theirs = length > 0 && (bytes[0] & 1) != 0};
    struct takt_state again = {.is_theirs = state.is_theirs};
    takt_diag diag = {""};
    size_t size = 0, size_again = 0;

    if (length == 0)
        return 0;
    if (takt__state_parse(&state, (const char *)bytes + 1, length - 1, &diag) ==
        TAKT_OK) {
        char *text = takt__state_text(&state, &size);
        demand(text != NULL);
        demand(takt__state_parse(&again, text, size, &diag) == TAKT_OK);
        demand(memcmp(&state.pipeline, &again.pipeline,
                      sizeof again.pipeline) == 0);
        char *text_again = takt__state_text(&again, &size_again);
        demand(text_again != NULL && size == size_again &&
               memcmp(text, text_again, size) == 0);
        free(text_again);
        free(text);
    } else {
        demand(diag.text[0] != '\0');
    }
    takt__state_free(&again);
    takt__state_free(&state);
    return 0;
}
