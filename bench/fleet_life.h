/* SPDX-License-Identifier: MIT */
/* fleet_life.h - a quarter of a year of a large fleet: see bench_fleet.c. */
#pragma once

/* Runs it with syncs every 1, 6 and 24 hours, and prints what it takes. */
void fleet_life(unsigned machines);
