/* SPDX-License-Identifier: MIT */
/* table.c - the memory of the table. */
#include "decide/table.h"

#include <stdlib.h>

takt_status takt__table_create(struct takt_table *out)
{
    *out = (struct takt_table){0};
    return takt__table_add(out, 0);
}

takt_status takt__table_add(struct takt_table *table, unsigned objective)
{
    if (table->cell[objective] == NULL)
        table->cell[objective] =
            calloc(TAKT_SERIES_COUNT, sizeof *table->cell[objective]);
    return table->cell[objective] == NULL ? TAKT_ENOMEM : TAKT_OK;
}

void takt__table_destroy(struct takt_table *table)
{
    for (unsigned i = 0; i < TAKT_OBJECTIVES; i++) {
        free(table->cell[i]);
        table->cell[i] = NULL;
    }
}

static void clear(_Atomic uint64_t cell[TAKT_COLUMNS][TAKT_BUCKETS])
{
    for (unsigned column = 0; column < TAKT_COLUMNS; column++)
        for (unsigned bucket = 0; bucket < TAKT_BUCKETS; bucket++) {
            _Atomic uint64_t *at = &cell[column][bucket];
            if (atomic_load_explicit(at, memory_order_relaxed) != 0)
                atomic_store_explicit(at, 0, memory_order_relaxed);
        }
}

/* Pages that were never written stay so. */
void takt__table_clear(struct takt_table *table, unsigned series)
{
    for (unsigned i = 0; i < TAKT_OBJECTIVES; i++)
        if (table->cell[i] != NULL)
            clear(table->cell[i][series]);
}
