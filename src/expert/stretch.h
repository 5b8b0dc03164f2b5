/* SPDX-License-Identifier: MIT */
/* stretch.h - how a job is cut for the threads of a team. */
#ifndef TAKT_EXPERT_STRETCH_H
#define TAKT_EXPERT_STRETCH_H

#include <stddef.h>

/* A stretch of `count` things for one part of a job. */
struct takt_stretch {
    size_t first, count;
};

/* The stretch of `part`: nearly equal ones, each but the last a multiple of
 * `grain`; count is 0 for parts that are left over. */
struct takt_stretch takt__stretch(size_t total, size_t grain, unsigned part,
                                  unsigned parts);

#endif
