/* SPDX-License-Identifier: MIT */
/* cpu_time.h - what all processors of the machine were busy with so far.
 *
 * The kernel counts in hundredths of a second: differences mean something over
 * a tenth of a second and more.
 */
#pragma once

/* Seconds that processors were not idle, for any reason, stolen ones included;
 * 0 where the kernel does not count. */
struct takt_cpu_time {
    double busy_s, stolen_s;
};

struct takt_cpu_time takt__cpu_time(void);
