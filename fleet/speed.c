/* SPDX-License-Identifier: MIT */
/* speed.c - the fastest product, and the fastest walk through memory. */
#include "fleet/speed.h"

#include <math.h>
#include <string.h>

unsigned takt__fleet_millions(double per_second)
{
    const double millions = per_second * 1e-6;

    return millions < 1 || millions > 9e7
               ? 0
               : (unsigned)lround(exp2(round(4 * log2(millions)) / 4));
}

/* Ops that do next to nothing but move their operands. */
static bool is_moving(const char *op)
{
    return strcmp(op, "add") == 0 || strcmp(op, "sub") == 0 ||
           strcmp(op, "mul") == 0 || strcmp(op, "axpy") == 0;
}

/* Bytes that no cache holds. */
static double far_of(const struct takt_fleet_facts *facts)
{
    return fmax(4.0 * 1024 * facts->l3_kib, 64 << 20);
}

void takt__fleet_speed(const struct takt_fleet_pages *pages,
                       struct takt_fleet_facts *facts)
{
    static struct takt_fleet_cell cell[TAKT_FLEET_MOST_CELLS];
    struct takt_fleet_line line;
    double peak = 0, bandwidth = 0;
    size_t count;

    for (size_t i = 0; i < pages->count; i++) {
        const struct takt_fleet_page *page = &pages->page[i];
        if (!takt__fleet_line_parse(page->line, &line) || line.dtype != 0 ||
            strncmp(line.expert, "cuda.", 5) == 0 ||
            strncmp(line.expert, "vulkan.", 7) == 0 ||
            !takt__fleet_decode(page->bytes, page->length, cell, &count))
            continue;
        for (size_t j = 0; j < count; j++) {
            const double seconds = exp((double)cell[j].mean) * 1e-9;
            if (cell[j].n < 2)
                continue;
            if (strcmp(line.op, "matmul") == 0)
                peak = fmax(peak, (double)cell[j].flops / seconds);
            else if (is_moving(line.op) &&
                     (double)cell[j].bytes >= far_of(facts))
                bandwidth = fmax(bandwidth, (double)cell[j].bytes / seconds);
        }
    }
    if (peak > 0)
        facts->peak = takt__fleet_millions(peak);
    if (bandwidth > 0)
        facts->bandwidth = takt__fleet_millions(bandwidth);
}
