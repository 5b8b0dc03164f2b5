/* SPDX-License-Identifier: MIT */
/*
 * sync_fleet.h - has the store of a context synced with its fleet, by a process
 * of its own, if TAKT_FLEET says so.
 */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct takt_fleet_sync {
    char *store; /* owned; NULL: it is not shared */
    uint64_t next_look_ns;
};

/* Whether the store at that path, which this process may write, is shared. */
void takt__fleet_sync_start(struct takt_fleet_sync *sync, const char *store);
void takt__fleet_sync_end(struct takt_fleet_sync *sync);

/* For the learner's thread: looks whether it is time, and if so starts
 * `takt fleet sync`. */
void takt__fleet_sync_look(struct takt_fleet_sync *sync);

/* The tool that is started: TAKT_FLEET_TOOL, or takt as it is installed beside
 * this library. False: there is none. */
bool takt__fleet_sync_tool(char out[PATH_MAX]);
