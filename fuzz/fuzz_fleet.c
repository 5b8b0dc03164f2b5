/* SPDX-License-Identifier: MIT */
/*
 * fuzz_fleet.c - what others wrote for the fleet: files of priors, cells, lines
 * and facts; and the text beside a store. The first byte says which.
 */
#include <stdlib.h>
#include <string.h>

#include "fleet/choose.h"
#include "fleet/rollup.h"
#include "fleet/speed.h"
#include "fleet/state.h"
#include "fuzz.h"

static const takt_machine machine = {
    .logical_cpus = 4,
    .isas = 7,
    .gpu_count = 1,
    .gpu = {{.fingerprint = "0123456789abcdef"}},
    .hw_fingerprint = "0123456789abcdef0123456789abcdef",
};
static const struct takt_fleet_facts here = {.machine = "0123456789abcdef",
                                             .vendor = "Vendor",
                                             .isa = "avx2",
                                             .family = 6,
                                             .cores = 4};

/* As pages of a machine: what is made of them is sound. */
static void try_share(struct takt_fleet_priors *rows)
{
    struct takt_fleet_share share = {.generation = 0};
    struct takt_fleet_rollup rollup = {.least = 1};
    struct takt_fleet_priors made;
    struct takt_fleet_choice choice = {0};
    takt_diag diag;

    if (takt__fleet_share_take(rows, &share)) {
        takt__fleet_speed(&share.pages, &share.facts);
        if (takt__fleet_roll_up_shares(&share, 1, &rollup, &made, &diag) ==
            TAKT_OK) {
            if (takt__fleet_choose(&made, &machine, &here, &choice) == TAKT_OK)
                for (size_t i = 0; i < choice.count; i++)
                    if (!takt__record_is_sound(&choice.record[i]))
                        abort();
            free(choice.record);
            takt__fleet_priors_free(&made);
        }
    }
    takt__fleet_share_free(&share);
}

/* What is read is written as it was, and what is chosen is sound. */
static void try_priors(const uint8_t *data, size_t size)
{
    struct takt_fleet_priors priors;
    struct takt_fleet_choice choice;
    size_t length;

    if (takt__fleet_priors_parse(data, size, &priors) != TAKT_OK)
        return;
    unsigned char *again = takt__fleet_priors_print(&priors, &length);
    if (again == NULL || length != size || memcmp(again, data, size) != 0)
        abort();
    if (takt__fleet_choose(&priors, &machine, &here, &choice) == TAKT_OK)
        for (size_t i = 0; i < choice.count; i++)
            if (!takt__record_is_sound(&choice.record[i]))
                abort();
    free(choice.record);
    free(again);
    try_share(&priors);
    takt__fleet_priors_free(&priors);
}

static void try_cells(const uint8_t *data, size_t size)
{
    static struct takt_fleet_cell cell[TAKT_FLEET_MOST_CELLS];
    unsigned char again[TAKT_FLEET_MOST_BYTES];
    size_t count;

    if (takt__fleet_decode(data, size, cell, &count) &&
        (takt__fleet_encode(cell, count, again) != size ||
         memcmp(again, data, size) != 0))
        abort();
}

static void try_text(char *text, size_t size)
{
    struct takt_fleet_line line;
    struct takt_fleet_facts facts;
    struct takt_fleet_state state = {.lock = -1};
    char printed[TAKT_FLEET_FACTS];

    takt__fleet_line_parse(text, &line);
    if (takt__fleet_state_parse(text, size, &state) == TAKT_OK)
        takt__fleet_state_close(&state);
    if (takt__fleet_facts_parse(text, size, &facts) &&
        takt__fleet_facts_print(&facts, printed) >= sizeof printed)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    if (data[0] == 'p') {
        try_priors(data + 1, size - 1);
    } else if (data[0] == 'c') {
        try_cells(data + 1, size - 1);
    } else {
        char *text = calloc(1, size);
        if (text == NULL)
            return 0;
        memcpy(text, data + 1, size - 1);
        try_text(text, size - 1);
        free(text);
    }
    return 0;
}
