/* SPDX-License-Identifier: MIT */
/*
 * cache.h - the matrices that were met, and the copies of some of them.
 *
 * A copy is a buffer of libtakt's, of memory that is tracked (tracking.h). It
 * is given up when that was written, and when others need the room: all
 * together have at most a quarter of the GPU's memory, and an eighth of what
 * the host has to spare.
 *
 * Threads: one at a time: reuse.c has a lock.
 */
#ifndef TAKT_DROPIN_CACHE_H
#define TAKT_DROPIN_CACHE_H

#include "route.h"
#include "tracking.h"

struct takt_cached {
    const char *at;
    size_t bytes; /* 0: nobody is here */
    takt_ctx *ctx;
    uint64_t last_use;
    unsigned uses;
    unsigned holders;    /* calls that are at work on the buffer */
    bool is_valid;       /* the buffer has what was there, if it is unchanged */
    takt_buffer *buffer; /* NULL: none */
    struct takt_tracked tracked;
    double gain_s, price_s;    /* of a use, if it is cached; of keeping it */
    double missed_s, earned_s; /* before and since it was cached */
    double caution; /* how many times its price it must have missed */
};

/* A call begins. */
void takt__cache_next_call(void);

/* The one that has these bytes, in a context; valid, if any of them is. NULL:
 * there is no room to remember it. */
struct takt_cached *takt__cached_find(const struct takt_route *route,
                                      const char *at, size_t bytes);

/* This call uses it; once, if it does so twice. */
void takt__cached_count_use(struct takt_cached *cached);

/* Makes a copy, which is on a GPU afterwards if that can be; or none. */
void takt__cache_fill(const struct takt_route *route,
                      struct takt_cached *cached);

/* It was written. True: while it was not, the copy has paid. Otherwise the next
 * one has to wait longer. */
bool takt__cached_outdate(const struct takt_route *route,
                          struct takt_cached *cached);

/* These bytes will be written: copies of any of them are outdated. */
void takt__cached_outdate_all(const struct takt_route *route, const char *at,
                              size_t bytes);

/* A call that held it has ended. */
void takt__cached_release(const struct takt_route *route,
                          struct takt_cached *cached);

/* In the child of a fork, where another thread may have been at work on it: all
 * is left as it is, and forgotten. */
void takt__cache_forget_all(void);

/* The memory of the smallest GPU that is ready; 0: none is. */
uint64_t takt__ready_gpu_bytes(const struct takt_route *route);

#endif
