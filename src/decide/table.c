/* SPDX-License-Identifier: MIT */
/* table.c - the memory of the table. */
#include "decide/table.h"

#include <stdlib.h>

takt_status takt__table_create(struct takt_table *out)
{
    out->cell = calloc(TAKT_LINES, sizeof *out->cell);
    return out->cell == NULL ? TAKT_ENOMEM : TAKT_OK;
}

void takt__table_destroy(struct takt_table *table)
{
    free(table->cell);
    table->cell = NULL;
}

void takt__table_clear(struct takt_table *table, unsigned line)
{
    for (unsigned s = 0; s < TAKT_SITUATIONS; s++)
        for (unsigned b = 0; b < TAKT_BINS; b++)
            atomic_store_explicit(&table->cell[line][s][b], 0,
                                  memory_order_relaxed);
}
