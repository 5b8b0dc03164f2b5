/* SPDX-License-Identifier: MIT */
/* cell.c - cells as bytes. */
#include "fleet/cell.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "store/record.h"

enum { version = 1, reals = 6 };

static void put_real(unsigned char *to, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(bits >> 8 * i);
}

static float get_real(const unsigned char *from)
{
    uint32_t bits = 0;
    float value;

    for (int i = 0; i < 4; i++)
        bits |= (uint32_t)from[i] << 8 * i;
    memcpy(&value, &bits, sizeof value);
    return value;
}

size_t takt__fleet_encode(const struct takt_fleet_cell *cell, size_t count,
                          unsigned char out[TAKT_FLEET_MOST_BYTES])
{
    unsigned char *to = out;

    *to++ = version;
    for (size_t i = 0; i < count; i++, to += TAKT_FLEET_CELL_BYTES) {
        const float value[reals] = {cell[i].n,     cell[i].mean,
                                    cell[i].m2,    cell[i].first_s,
                                    cell[i].bytes, cell[i].flops};
        to[0] = (unsigned char)cell[i].bin;
        to[1] = (unsigned char)(cell[i].bin >> 8);
        for (int j = 0; j < reals; j++)
            put_real(to + 2 + 4 * j, value[j]);
    }
    return (size_t)(to - out);
}

/* The limits are those of records, and a little for the rounding to floats.
 * No comparison with a NaN holds. */
static bool is_within(double value, double most)
{
    return value >= 0 && value <= most * 1.0001;
}

static bool is_sound(const struct takt_fleet_cell *cell)
{
    return cell->bin < TAKT_RECORD_BINS &&
           is_within((double)cell->n, TAKT_RECORD_MOST_N) &&
           is_within(fabs((double)cell->mean), TAKT_RECORD_FARTHEST) &&
           is_within((double)cell->m2,
                     TAKT_RECORD_MOST_SPREAD * ((double)cell->n + 1)) &&
           is_within((double)cell->first_s, TAKT_RECORD_MOST_S) &&
           is_within((double)cell->bytes, TAKT_RECORD_MOST_WORK) &&
           is_within((double)cell->flops, TAKT_RECORD_MOST_WORK);
}

bool takt__fleet_decode(const unsigned char *bytes, size_t length,
                        struct takt_fleet_cell out[TAKT_FLEET_MOST_CELLS],
                        size_t *count)
{
    *count = 0;
    if (length < 1 || length > TAKT_FLEET_MOST_BYTES || bytes[0] != version ||
        (length - 1) % TAKT_FLEET_CELL_BYTES != 0)
        return false;
    const size_t cells = (length - 1) / TAKT_FLEET_CELL_BYTES;
    for (size_t i = 0; i < cells; i++) {
        const unsigned char *from = bytes + 1 + i * TAKT_FLEET_CELL_BYTES;
        out[i] = (struct takt_fleet_cell){
            .bin = from[0] | (unsigned)from[1] << 8,
            .n = get_real(from + 2),
            .mean = get_real(from + 6),
            .m2 = get_real(from + 10),
            .first_s = get_real(from + 14),
            .bytes = get_real(from + 18),
            .flops = get_real(from + 22),
        };
        if (!is_sound(&out[i]) || (i > 0 && out[i].bin <= out[i - 1].bin))
            return false;
    }
    *count = cells;
    return true;
}
