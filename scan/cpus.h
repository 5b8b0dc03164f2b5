/* SPDX-License-Identifier: MIT */
/*
 * cpus.h - how many threads are worth having.
 */
#pragma once

/* The CPUs that this process may use; at least 1. */
unsigned takt__allowed_cpus(void);
