/* SPDX-License-Identifier: MIT */
/*
 * queue.c - one lock for all: examining a file takes far longer.
 */
#include "queue.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { WAKE_EACH = 8, FILES_OF_OTHERS = 192, LEAST_FILES = 4 };

/* Not more files at a time than the process may have open. */
static size_t open_files_allowed(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
        limit.rlim_cur >= TAKT_QUEUE_SIZE + FILES_OF_OTHERS)
        return TAKT_QUEUE_SIZE;
    return limit.rlim_cur > FILES_OF_OTHERS + LEAST_FILES
               ? (size_t)limit.rlim_cur - FILES_OF_OTHERS
               : LEAST_FILES;
}

void takt__queue_open(struct takt_scan_queue *queue)
{
    *queue = (struct takt_scan_queue){.size = open_files_allowed()};
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->is_more, NULL);
    pthread_cond_init(&queue->is_done, NULL);
}

void takt__queue_close(struct takt_scan_queue *queue)
{
    while (!takt__queue_is_empty(queue))
        takt__queue_drop_first(queue);
    pthread_mutex_destroy(&queue->lock);
    pthread_cond_destroy(&queue->is_more);
    pthread_cond_destroy(&queue->is_done);
}

static struct takt_scan_job *at(struct takt_scan_queue *queue, size_t which)
{
    return &queue->job[which % queue->size];
}

/* `in` and `out` change only by the thread that calls. */
bool takt__queue_is_full(const struct takt_scan_queue *queue)
{
    return queue->in - queue->out == queue->size;
}

bool takt__queue_is_empty(const struct takt_scan_queue *queue)
{
    return queue->in == queue->out;
}

void takt__queue_put(struct takt_scan_queue *queue,
                     const struct takt_walk_file *file)
{
    struct takt_scan_job *job = at(queue, queue->in);

    *job = (struct takt_scan_job){.file = *file, .is_examined = file->fd < 0};
    pthread_mutex_lock(&queue->lock);
    queue->in++;
    /* To wake a thread for each file would cost more than many files do. */
    if ((queue->in - queue->next) % WAKE_EACH == 0)
        pthread_cond_signal(&queue->is_more);
    pthread_mutex_unlock(&queue->lock);
}

struct takt_scan_job *takt__queue_first(struct takt_scan_queue *queue,
                                        bool wait)
{
    struct takt_scan_job *job = at(queue, queue->out);

    if (takt__queue_is_empty(queue))
        return NULL;
    pthread_mutex_lock(&queue->lock);
    while (wait && !job->is_examined)
        pthread_cond_wait(&queue->is_done, &queue->lock);
    const bool is_examined = job->is_examined;
    pthread_mutex_unlock(&queue->lock);
    return is_examined ? job : NULL;
}

void takt__queue_drop_first(struct takt_scan_queue *queue)
{
    struct takt_scan_job *job = at(queue, queue->out);

    free(job->file.path);
    if (job->file.fd >= 0)
        close(job->file.fd);
    takt__found_clear(&job->examined.found);
    pthread_mutex_lock(&queue->lock);
    queue->out++;
    if (queue->next < queue->out)
        queue->next = queue->out;
    pthread_mutex_unlock(&queue->lock);
}

struct takt_scan_job *takt__queue_take(struct takt_scan_queue *queue, bool wait)
{
    struct takt_scan_job *job = NULL;

    pthread_mutex_lock(&queue->lock);
    while (job == NULL && !queue->is_closed) {
        while (queue->next < queue->in && at(queue, queue->next)->is_examined)
            queue->next++; /* there is nothing to examine */
        if (queue->next < queue->in)
            job = at(queue, queue->next++);
        else if (wait)
            pthread_cond_wait(&queue->is_more, &queue->lock);
        else
            break;
    }
    pthread_mutex_unlock(&queue->lock);
    return job;
}

void takt__queue_return(struct takt_scan_queue *queue,
                        struct takt_scan_job *job)
{
    close(job->file.fd); /* not when it is dropped: others wait for it */
    job->file.fd = -1;
    pthread_mutex_lock(&queue->lock);
    job->is_examined = true;
    if (job == at(queue, queue->out))
        pthread_cond_signal(&queue->is_done);
    pthread_mutex_unlock(&queue->lock);
}

void takt__queue_end(struct takt_scan_queue *queue)
{
    pthread_mutex_lock(&queue->lock);
    queue->is_closed = true;
    pthread_cond_broadcast(&queue->is_more);
    pthread_mutex_unlock(&queue->lock);
}
