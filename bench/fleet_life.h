/* SPDX-License-Identifier: MIT */
/* fleet_life.h - a quarter of a year of a large fleet: see bench_fleet.c. */
#ifndef TAKT_BENCH_FLEET_LIFE_H
#define TAKT_BENCH_FLEET_LIFE_H

/* Runs it with syncs every 1, 6 and 24 hours, and prints what it takes. */
void fleet_life(unsigned machines);

#endif
