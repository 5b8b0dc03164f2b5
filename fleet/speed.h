/* SPDX-License-Identifier: MIT */
/* speed.h - how fast a machine is, by what it measured: for likeness. */
#pragma once

#include "fleet/facts.h"
#include "fleet/gather.h"

/* Sets the peak and the bandwidth that the pages show, and leaves what they do
 * not. */
void takt__fleet_speed(const struct takt_fleet_pages *pages,
                       struct takt_fleet_facts *facts);

/* A speed as facts have it: millions a second, in quarters of an octave, so
 * that it stays the same from one sync to the next. */
unsigned takt__fleet_millions(double per_second);
