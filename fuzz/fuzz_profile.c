/* SPDX-License-Identifier: MIT */
/*
 * fuzz_profile.c - any bytes, read as a profile: refused in one line, or its
 * times are finite, positive, and add up to the total.
 */
#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

static double added;

static void require(bool is_so)
{
    if (!is_so)
        abort();
}

/* Every third name is foreign; all bytes of the strings are read. */
static int place(void *self, const struct takt_frame *frame)
{
    const size_t length = strlen(frame->function) + strlen(frame->file) +
                          strlen(frame->module) + frame->line;

    (void)self;
    return length % 3 == 0 ? TAKT_FRAME_FOREIGN : (int)(length % 100);
}

static void add(void *self, int at, double weight)
{
    (void)self;
    require(at >= TAKT_FRAME_FOREIGN && at < 100);
    require(weight > 0 && isfinite(weight));
    added += weight;
}

static void count(void *self, const struct takt_counted_call *call)
{
    (void)self;
    require(call->routine[0] != '\0' && call->seconds > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const struct takt_profile_sink sink = {
        .place = place, .add = add, .call = count};
    struct takt_profile_facts facts;
    takt_diag diag;

    if (length == 0)
        return 0;
    FILE *file = fmemopen((void *)(uintptr_t)bytes, length, "rb");
    require(file != NULL);
    added = 0;
    const takt_status status =
        takt__profile_read_file(file, "profile", &sink, &facts, &diag);
    if (status != TAKT_OK)
        require(strncmp(diag.text, "profile: ", 9) == 0);
    else
        require(facts.stacks > 0 && facts.total > 0 &&
                (added == 0 || added == facts.total || isinf(added)));
    fclose(file);
    return 0;
}
