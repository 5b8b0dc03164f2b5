/* SPDX-License-Identifier: MIT */
/*
 * cpus.h - how many threads are worth having.
 */
#ifndef TAKT_SCAN_CPUS_H
#define TAKT_SCAN_CPUS_H

/* The CPUs that this process may use; at least 1. */
unsigned takt__allowed_cpus(void);

#endif
