/* SPDX-License-Identifier: MIT */
/*
 * cache.h - the matrices that calls have read, and copies of some of them.
 *
 * A copy is a buffer of libtakt's, of memory that is tracked (tracking.h). It
 * is invalid once that memory was written, and evicted when others need its
 * memory: all copies together have at most a quarter of the GPU's memory, and
 * an eighth of what is available on the host.
 *
 * Threads: one at a time; reuse.c has the lock.
 */
#pragma once

#include "route.h"
#include "tracking.h"

struct takt_cached {
    const char *at;
    size_t bytes; /* 0: this one is free */
    takt_ctx *ctx;
    uint64_t last_use;
    uint64_t print;   /* of what was there when it was last read: see below */
    unsigned uses;    /* since it was last seen to have changed */
    unsigned unpaid;  /* of them, uses that missed_s does not have yet */
    unsigned readers; /* calls that use the buffer now */
    bool is_valid;    /* the buffer has what was there, if it is unchanged */
    takt_buffer *buffer; /* NULL: none */
    struct takt_tracked tracked;
    double gain_s, price_s;    /* of a use of a copy; of making one */
    double missed_s, earned_s; /* before and since it was copied */
    double penalty; /* it is copied when it missed its price so many times */
};

/* A call begins: uses are counted by calls. */
void takt__cache_next_call(void);

/* The matrix that has these bytes, in a context; a valid copy, if there is one.
 * NULL: the cache is full of matrices in use. */
struct takt_cached *takt__cached_find(const struct takt_route *route,
                                      const char *at, size_t bytes);

/* This call reads these bytes of it. Counted once per call. What has no valid
 * copy is compared with what it was the last time, at a few places: a program
 * that writes it between calls is mostly found out before anything is copied.
 */
void takt__cached_count_use(struct takt_cached *cached, const char *at,
                            size_t bytes);

/* Makes a copy, which is on a GPU afterwards if that can be; or none. */
void takt__cache_fill(const struct takt_route *route,
                      struct takt_cached *cached);

/* It was written. True: the copy has gained its price until then. Otherwise the
 * penalty doubles, and the next copy is made later. */
bool takt__cached_invalidate(const struct takt_route *route,
                             struct takt_cached *cached);

/* These bytes will be written: copies of any of them become invalid. */
void takt__cache_invalidate_range(const struct takt_route *route,
                                  const char *at, size_t bytes);

/* A reader of it has ended. */
void takt__cached_release(const struct takt_route *route,
                          struct takt_cached *cached);

/* For the child of a fork, where another thread may have been at work on any of
 * it: all entries are dropped, and nothing is freed. */
void takt__cache_abandon(void);

/* The memory of the smallest GPU that is ready; 0: none is. */
uint64_t takt__ready_gpu_bytes(const struct takt_route *route);
