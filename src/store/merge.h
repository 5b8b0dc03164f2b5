/* SPDX-License-Identifier: MIT */
/* merge.h - the records of one database into another. */
#ifndef TAKT_STORE_MERGE_H
#define TAKT_STORE_MERGE_H

#include "store/database.h"

/* Opens a store to be written by merging; `diag` says why not. */
takt_status takt__merge_open(const char *path, takt_diag *diag,
                             struct takt_database *out);

/* All or nothing. TAKT_ECORRUPT: `from` is damaged. */
takt_status takt__merge(struct takt_database *into, struct takt_database *from,
                        takt_store_report *report);

#endif
