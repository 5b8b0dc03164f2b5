/* SPDX-License-Identifier: MIT */
/*
 * scan.c - walks, examines, reports.
 *
 * The thread that asked walks and reports, and examines files itself while it
 * would have to wait; the others only examine. All that is told is told by the
 * one thread, in the order of paths, however many there are.
 */
#include "scan.h"

#include "base/clock.h"
#include "cpus.h"
#include "memory.h"
#include "queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_THREADS = 64, PROGRESS_NS = 100000000 };

struct scan {
    const struct takt_scan_options *options;
    struct takt_scan_report *report;
    struct takt_walk walk;
    struct takt_shared shared;
    struct takt_scan_queue queue;
    struct takt_examiner examiner; /* of the thread that asked */
    pthread_t thread[MOST_THREADS];
    unsigned threads;
    uint64_t files, bytes, next_progress;
    bool is_walked, is_stopped;
    takt_status status;
};

static bool examine_one(struct scan *scan, struct takt_examiner *examiner,
                        bool wait)
{
    struct takt_scan_job *job = takt__queue_take(&scan->queue, wait);

    if (job == NULL)
        return false;
    takt__examine(examiner, &scan->shared, &job->file, &job->examined);
    takt__queue_return(&scan->queue, job);
    return true;
}

static void *examine_all(void *self)
{
    struct scan *scan = self;
    struct takt_examiner examiner;

    if (takt__examiner_open(&examiner) != TAKT_OK)
        return NULL; /* others go on */
    while (examine_one(scan, &examiner, true))
        ;
    takt__examiner_close(&examiner);
    return NULL;
}

static void warn(const struct scan *scan, const char *path, const char *why)
{
    if (scan->options->warn != NULL)
        scan->options->warn(scan->options->self, path, why);
}

static void warn_of_file(struct scan *scan, const struct takt_scan_job *job)
{
    const struct takt_examined *examined = &job->examined;
    const char *path = job->file.path;
    char why[96], reason[64] = "";

    switch (examined->kind) {
    case TAKT_FILE_UNREADABLE:
        scan->report->unreadable++;
        strerror_r(examined->error, reason, sizeof reason);
        snprintf(why, sizeof why, "cannot be read: %s", reason);
        warn(scan, path, why);
        break;
    case TAKT_FILE_BINARY:
        scan->report->binary++;
        warn(scan, path, "is binary, passed over");
        break;
    case TAKT_FILE_TOO_LARGE:
        scan->report->too_large++;
        warn(scan, path, "is too large, passed over");
        break;
    case TAKT_FILE_OTHER:
        scan->report->others++;
        break;
    case TAKT_FILE_TEXT:
        if (!examined->is_utf8) {
            scan->report->not_utf8++;
            warn(scan, path, "is not valid UTF-8");
        }
        if (examined->found.is_given_up) {
            scan->report->gave_up++;
            warn(scan, path, "takes too long, or has too much: given up");
        }
        break;
    }
}

static void count_file(struct scan *scan, const struct takt_scan_job *job)
{
    const struct takt_examined *examined = &job->examined;
    struct takt_scan_counts *counts = &scan->report->of[examined->language->id];

    counts->files++;
    counts->bytes += examined->bytes;
    counts->lines += examined->lines;
    counts->parsed += examined->is_parsed;
    counts->partly += examined->found.is_partly;
    counts->findings += examined->found.count;
    counts->test_findings += examined->found.test_count;
}

static void show_progress(struct scan *scan)
{
    const uint64_t now = takt__now_ns();

    if (scan->options->progress == NULL || now < scan->next_progress)
        return;
    scan->next_progress = now + PROGRESS_NS;
    scan->options->progress(scan->options->self, scan->files, scan->bytes);
}

static void tell(struct scan *scan, const struct takt_scan_job *job)
{
    const struct takt_examined *examined = &job->examined;
    const struct takt_scan_options *options = scan->options;

    if (job->file.why[0] != 0) {
        scan->report->unreadable += job->file.is_unreadable;
        warn(scan, job->file.path, job->file.why);
        return;
    }
    if (examined->status != TAKT_OK) {
        scan->status = examined->status;
        return;
    }
    scan->files++;
    scan->bytes += examined->bytes;
    warn_of_file(scan, job);
    if (examined->kind == TAKT_FILE_TEXT)
        count_file(scan, job);
    for (size_t i = 0; i < examined->found.count && !scan->is_stopped; i++) {
        struct takt_finding *finding = &examined->found.finding[i];
        finding->path = job->file.path;
        scan->is_stopped = options->visit != NULL &&
                           options->visit(options->self, finding) != 0;
    }
    show_progress(scan);
}

static void fill_queue(struct scan *scan)
{
    while (!scan->is_walked && !takt__queue_is_full(&scan->queue)) {
        struct takt_walk_file file;
        const takt_status status = takt__walk_next(&scan->walk, &file);

        if (status == TAKT_OK) {
            takt__queue_put(&scan->queue, &file);
            continue;
        }
        scan->is_walked = true;
        if (status != TAKT_ENOENT)
            scan->status = status;
    }
}

static void run(struct scan *scan)
{
    while (scan->status == TAKT_OK && !scan->is_stopped) {
        fill_queue(scan);
        if (takt__queue_is_empty(&scan->queue))
            break;
        struct takt_scan_job *job = takt__queue_first(&scan->queue, false);
        if (job == NULL && examine_one(scan, &scan->examiner, false))
            continue;
        if (job == NULL)
            job = takt__queue_first(&scan->queue, true);
        tell(scan, job);
        takt__queue_drop_first(&scan->queue);
    }
}

/* What files declare for each other. What there is to tell about a path is told
 * when it is walked again. */
static void outline(struct scan *scan)
{
    struct takt_walk_file file;

    while (scan->status == TAKT_OK) {
        const takt_status status = takt__walk_next(&scan->walk, &file);
        if (status != TAKT_OK) {
            scan->status = status == TAKT_ENOENT ? TAKT_OK : status;
            break;
        }
        scan->status =
            takt__examine_outline(&scan->examiner, &scan->shared, &file);
        if (file.fd >= 0)
            close(file.fd);
        free(file.path);
    }
    takt__project_finish(scan->shared.project);
}

static void start_threads(struct scan *scan)
{
    unsigned wanted = scan->options->threads;

    if (wanted == 0)
        wanted = takt__allowed_cpus();
    if (wanted > MOST_THREADS)
        wanted = MOST_THREADS;
    while (scan->threads + 1 < wanted &&
           pthread_create(&scan->thread[scan->threads], NULL, examine_all,
                          scan) == 0)
        scan->threads++;
}

static void finish(struct scan *scan)
{
    takt__queue_end(&scan->queue);
    for (unsigned i = 0; i < scan->threads; i++)
        pthread_join(scan->thread[i], NULL);
    scan->report->others += scan->walk.others;
    scan->report->ignored = scan->walk.ignored;
    scan->report->linked = scan->walk.linked;
}

static takt_status answer(const struct scan *scan, takt_diag *diag)
{
    if (scan->status != TAKT_OK) {
        if (diag != NULL)
            *diag = scan->shared.diag;
        return scan->status;
    }
    if (scan->walk.is_any_path_there || scan->is_stopped)
        return TAKT_OK;
    if (diag != NULL && scan->options->path_count > 0)
        snprintf(diag->text, sizeof diag->text, "%.400s is not there",
                 scan->options->path[0]);
    return TAKT_ENOENT;
}

takt_status takt__scan(const struct takt_scan_options *options,
                       struct takt_scan_report *report, takt_diag *diag)
{
    const uint64_t start = takt__now_ns();
    struct scan *scan = calloc(1, sizeof *scan); /* too much for a stack */
    takt_status status = TAKT_ENOMEM;

    *report = (struct takt_scan_report){0};
    if (diag != NULL)
        diag->text[0] = 0;
    if (scan == NULL)
        return TAKT_ENOMEM;
    takt__scan_use_memory();
    scan->options = options;
    scan->report = report;
    if (takt__examiner_open(&scan->examiner) == TAKT_OK) {
        takt__shared_open(&scan->shared, options);
        takt__walk_open(&scan->walk, options);
        outline(scan);
        takt__walk_close(&scan->walk);
        takt__walk_open(&scan->walk, options);
        takt__queue_open(&scan->queue);
        start_threads(scan);
        run(scan);
        finish(scan);
        status = answer(scan, diag);
        takt__queue_close(&scan->queue);
        takt__shared_close(&scan->shared);
        takt__walk_close(&scan->walk);
        takt__examiner_close(&scan->examiner);
    }
    free(scan);
    report->seconds = (double)(takt__now_ns() - start) * 1e-9;
    return status;
}
