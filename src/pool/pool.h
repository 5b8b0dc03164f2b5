/* SPDX-License-Identifier: MIT */
/*
 * pool.h - threads that wait for work, awake for a while, then asleep.
 *
 * A job is cut into parts, which run on the caller's thread and on workers, one
 * each if there are enough of them. How many there are changes nothing but the
 * time: every part is run, with the same arguments. Workers are started by the
 * first job that needs them. After a job a worker spins for a short time,
 * because waking a sleeping thread costs a hundred times what a spinning one
 * does; then it sleeps in the kernel and costs nothing.
 *
 * A pool serves one job at a time. A caller that finds it busy (another thread
 * is in it, or the caller is itself one of its workers) runs all parts itself:
 * it never waits for another job.
 *
 * Every part runs in the floating-point environment of the caller (rounding,
 * flushing of denormal numbers), and the exception flags that workers raise are
 * raised in the caller. Traps are off while a job runs on several threads;
 * those of the caller fire when it is done.
 *
 * Threads: takt__pool_run() and the questions may be called from any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <takt/status.h>

struct takt_pool;

/* One part of a job: 0 <= part < parts. `scratch` has the bytes asked for, at
 * an alignment of 64, and is this part's alone while it runs; NULL when none
 * were asked. */
typedef void takt_pool_task(void *job, unsigned part, unsigned parts,
                            void *scratch);

/* A pool of up to `threads` threads, the caller's included; starts none. */
takt_status takt__pool_create(unsigned threads, struct takt_pool **out);

/* Ends the workers; no job may be running. NULL is allowed. */
void takt__pool_destroy(struct takt_pool *pool);

/* From now on jobs run on so many threads at most, the caller's included. Parts
 * and results stay the same. */
void takt__pool_limit(struct takt_pool *pool, unsigned threads);

/* How many of the workers for `parts` parts would have to be woken up now:
 * the price of a job depends on it. */
unsigned takt__pool_asleep(const struct takt_pool *pool, unsigned parts);

/* Between these two, workers that have had a job stay awake for the next one,
 * 2 ms at most: for calls that work alone between their jobs, for longer than
 * workers stay awake otherwise. Calls may overlap. */
void takt__pool_keep_awake(struct takt_pool *pool);
void takt__pool_let_sleep(struct takt_pool *pool);

/* Runs task(job, part, parts) for every part, at once where threads are free,
 * and returns when all are done.
 * TAKT_ENOMEM: the scratch could not be had; nothing was run. */
takt_status takt__pool_run(struct takt_pool *pool, unsigned parts,
                           size_t scratch_bytes, takt_pool_task *task,
                           void *job);
