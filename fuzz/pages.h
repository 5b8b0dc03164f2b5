/* SPDX-License-Identifier: MIT */
/*
 * pages.h - a sound store, and bytes laid over its pages.
 *
 * Opening a store takes a hundred times as long as reading its records, and
 * most of it does not depend on what the pages of records say. So there is a
 * connection that stays open, whose pages are replaced under it: SQLite drops
 * what it has of them when the counter of changes in the first page differs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/database.h"
#include "store/store.h"

enum { pages_first = 4096, pages_most = 65536 };

void demand(bool condition);

/* Before anything else calls SQLite: for one thread, with the locks of a
 * database that no other process opens. */
void pages_set_up(void);

/* Writes up to 40 records, all with that seq. */
takt_status pages_learn(struct takt_store *store, unsigned count, uint64_t seq);

/* Reads the store at `path`, and opens the connection that stays. */
struct takt_database *pages_keep(const char *path);

/* Where pages_lay() lays: as the second and third byte tell, on the first page
 * if bit 3 of the first one is set, otherwise on a later one. */
size_t pages_place(const uint8_t *bytes);

/* The sound store, with the input laid over it from its fourth byte on; it has
 * at least 3. */
const char *pages_lay(const uint8_t *bytes, size_t length, size_t *size);

/* Some inputs, whatever the fuzzer prefers; others for each `which`. */
bool pages_is_one_in_8(const uint8_t *bytes, size_t length, unsigned which);

/* The connection that stays, with those pages. What belongs on the first page
 * is laid over a later one, too: the first has the tables' definitions, which
 * are read only when opening. */
struct takt_database *pages_swap(const uint8_t *bytes, size_t length);

/* Visits a record that was read: it is sound. */
void pages_look(void *self, const struct takt_record *record);
