/* SPDX-License-Identifier: MIT */
/*
 * pool.h - one opinion of many machines.
 *
 * The median of the machines' means, and as spread 1.48 times the median
 * distance from it: each machine counts once however many samples it has, and
 * less than half of them can move neither far, whatever they say.
 */
#pragma once

#include "fleet/cell.h"

/* Cells of one line and bin, one of each machine; they are put into another
 * order. The result has n machines, the median and n times the squared
 * spread. */
void takt__fleet_pool(struct takt_fleet_cell *cell, size_t count,
                      struct takt_fleet_cell *out);
