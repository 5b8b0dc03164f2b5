/* SPDX-License-Identifier: MIT */
/*
 * queue.h - files that wait to be examined. One thread puts them in and takes
 * them out in the same order; in between, any thread examines one.
 *
 * The queue is bounded, so that memory and open files are, however many files
 * there are.
 */
#pragma once

#include "examine.h"
#include "walk.h"

enum { TAKT_QUEUE_SIZE = 256 };

struct takt_scan_job {
    bool is_examined;
    struct takt_walk_file file;
    struct takt_examined examined;
};

struct takt_scan_queue {
    pthread_mutex_t lock;
    pthread_cond_t is_more, is_done;
    size_t size, out, next, in; /* counted from the first file */
    bool is_closed;
    struct takt_scan_job job[TAKT_QUEUE_SIZE];
};

void takt__queue_open(struct takt_scan_queue *queue);
void takt__queue_close(struct takt_scan_queue *queue);

bool takt__queue_is_full(const struct takt_scan_queue *queue);
bool takt__queue_is_empty(const struct takt_scan_queue *queue);

/* For the one thread that puts files in and takes them out. */
void takt__queue_put(struct takt_scan_queue *queue,
                     const struct takt_walk_file *file);
/* The first file, if it is examined; `wait`: until it is. NULL: it is not. */
struct takt_scan_job *takt__queue_first(struct takt_scan_queue *queue,
                                        bool wait);
void takt__queue_drop_first(struct takt_scan_queue *queue);

/* For all threads: a file to examine. NULL: there is none now or, after a wait,
 * there will be no more. */
struct takt_scan_job *takt__queue_take(struct takt_scan_queue *queue,
                                       bool wait);
void takt__queue_return(struct takt_scan_queue *queue,
                        struct takt_scan_job *job);

/* No more files will come: wakes all threads that wait for one. */
void takt__queue_end(struct takt_scan_queue *queue);
