/* SPDX-License-Identifier: MIT */
/*
 * walk_rules.h - the .gitignore files that hold where the walk is.
 */
#pragma once

#include "walk.h"

/* Those of the repository that the folder at walk->full is in. */
takt_status takt__walk_rules_above(struct takt_walk *walk);

/* That of a folder, if it has one. */
takt_status takt__walk_rules_of(struct takt_walk *walk,
                                const struct takt_folder *folder);

/* Drops those beyond the first `count`. */
void takt__walk_rules_drop(struct takt_walk *walk, size_t count);

/* Whether what is at walk->full is to be passed over. */
bool takt__walk_rules_ignore(const struct takt_walk *walk, bool is_folder);
