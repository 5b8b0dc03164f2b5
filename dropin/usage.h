/* SPDX-License-Identifier: MIT */
/* usage.h - what held up this thread, as the kernel counts it: a system call.
 */
#pragma once

struct takt_usage {
    long switches; /* to another thread while this one could have gone on */
    long faults;   /* of pages that were in no file: memory that is new */
};

struct takt_usage takt__usage(void);
