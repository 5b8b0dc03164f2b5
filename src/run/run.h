/* SPDX-License-Identifier: MIT */
/*
 * run.h - the third step of a call: do it.
 */
#ifndef TAKT_RUN_RUN_H
#define TAKT_RUN_RUN_H

#include "expert/expert.h"

/* Runs an admitted call on an expert that can run it.
 * TAKT_ENODEV: the expert is not to be had just now; nothing was touched.
 * TAKT_ENOMEM: its working memory is not; nothing was touched. */
takt_status takt__run(struct takt_fleet *fleet, unsigned expert,
                      const takt_call *call);

/* Runs an admitted call on a GPU; `count` operands of it are in buffers. Marks
 * that are not NULL are set around it, timed.
 * TAKT_ENODEV, TAKT_ENOMEM, TAKT_ELOST: not so, and nothing was touched. */
struct takt_operand_list;
takt_status takt__run_gpu(struct takt_fleet *fleet, struct takt_device *device,
                          const takt_call *call,
                          struct takt_operand_list *operands, unsigned count,
                          struct takt_mark *from, struct takt_mark *to);

/* The parts of it that a processor runs by itself. */
takt_status takt__run_map(struct takt_fleet *fleet,
                          const struct takt_expert *expert,
                          const takt_call *call);
takt_status takt__run_reduce(struct takt_fleet *fleet,
                             const struct takt_expert *expert,
                             const takt_call *call);
takt_status takt__run_rows(struct takt_fleet *fleet,
                           const struct takt_expert *expert,
                           const takt_call *call);
takt_status takt__run_transpose(struct takt_fleet *fleet,
                                const struct takt_expert *expert,
                                const takt_call *call);
takt_status takt__run_gemv(struct takt_fleet *fleet,
                           const struct takt_expert *expert,
                           const takt_call *call);
takt_status takt__run_gemm(struct takt_fleet *fleet,
                           const struct takt_expert *expert,
                           const takt_call *call);
takt_status takt__run_batched(struct takt_fleet *fleet,
                              const struct takt_expert *expert,
                              const takt_call *call);
takt_status takt__run_layer(struct takt_fleet *fleet,
                            const struct takt_expert *expert,
                            const takt_call *call);

/* A stretch of `count` things for one part of a job. */
struct takt_stretch {
    size_t first, count;
};

/* The stretch of `part`: nearly equal ones, each but the last a multiple of
 * `grain`; count is 0 for parts that are left over. */
struct takt_stretch takt__stretch(size_t total, size_t grain, unsigned part,
                                  unsigned parts);

#endif
