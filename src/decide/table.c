/* SPDX-License-Identifier: MIT */
/* table.c - the memory of the table. */
#include "decide/table.h"

#include <stdlib.h>

takt_status takt__table_create(struct takt_table *out)
{
    *out = (struct takt_table){
        .cell = calloc(TAKT_SERIES_COUNT, sizeof *out->cell)};
    return out->cell == NULL ? TAKT_ENOMEM : TAKT_OK;
}

void takt__table_destroy(struct takt_table *table)
{
    free(table->cell);
    table->cell = NULL;
}

/* Pages that were never written stay so. */
void takt__table_clear(struct takt_table *table, unsigned series)
{
    for (unsigned column = 0; column < TAKT_COLUMNS; column++)
        for (unsigned bucket = 0; bucket < TAKT_BUCKETS; bucket++) {
            _Atomic uint64_t *at = &table->cell[series][column][bucket];
            if (atomic_load_explicit(at, memory_order_relaxed) != 0)
                atomic_store_explicit(at, 0, memory_order_relaxed);
        }
}
