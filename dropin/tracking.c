/* SPDX-License-Identifier: MIT */
/*
 * tracking.c - write tracking by userfaultfd(2) in its asynchronous mode, and
 * the ioctl of /proc/self/pagemap that reads the marks of pages.
 *
 * Neither descriptor may be used after a fork: they are about the memory of the
 * parent. They are in a page that the kernel clears in a child, however that
 * was made; children that share our memory share the page.
 */
#include "tracking.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- the kernel's interface, newer than many headers --------------------- */

enum {
    only_user_faults = 1,            /* of userfaultfd(): needs no privileges */
    feature_unpopulated = 1 << 13,   /* pages without memory have marks */
    feature_asynchronous = 1 << 15,  /* writes are not reported, only marked */
    page_is_trackable = 1 << 0,      /* categories */
    page_is_written = 1 << 1,        /* it has no mark */
    page_is_present = 1 << 3,        /* in memory */
    page_is_swapped = 1 << 4,        /* swapped out; or nothing but a mark */
    only_if_all_are_tracked = 1 << 1 /* of the scan */
};

struct page_run {
    uint64_t start, end, categories;
};

/* Finds runs of pages whose categories, with those in `inverted` negated, have
 * all of `all` and one of `any`. */
struct page_scan {
    uint64_t size, flags, start, end, walked_to;
    uint64_t run, runs, most_pages;
    uint64_t inverted, all, any, reported;
};

#define SCAN_PAGES _IOWR('f', 16, struct page_scan)

/* ---- pages --------------------------------------------------------------- */

static struct tracker {
    uint64_t generation; /* 0: not open */
    int faults, pages;
} * tracker;

static bool protect(uintptr_t first, uintptr_t end)
{
    struct uffdio_writeprotect request = {
        .range = {.start = first, .len = end - first},
        .mode = UFFDIO_WRITEPROTECT_MODE_WP};

    return ioctl(tracker->faults, UFFDIO_WRITEPROTECT, &request) == 0;
}

static bool register_pages(uintptr_t first, uintptr_t end)
{
    struct uffdio_register request = {
        .range = {.start = first, .len = end - first},
        .mode = UFFDIO_REGISTER_MODE_WP};

    return ioctl(tracker->faults, UFFDIO_REGISTER, &request) == 0;
}

static void unregister_pages(uintptr_t first, uintptr_t end)
{
    struct uffdio_range range = {.start = first, .len = end - first};

    (void)ioctl(tracker->faults, UFFDIO_UNREGISTER, &range);
}

/* Whether all pages are there with their marks. Memory that was returned to the
 * kernel has neither page nor mark: it is not enough that no page was written.
 */
static bool are_marked(uintptr_t first, uintptr_t end)
{
    struct page_run run = {0, 0, 0};
    struct page_scan scan = {.size = sizeof scan,
                             .flags = only_if_all_are_tracked,
                             .start = first,
                             .end = end,
                             .run = (uintptr_t)&run,
                             .runs = 1,
                             .inverted = page_is_written,
                             .all = page_is_written,
                             .any = page_is_present | page_is_swapped,
                             .reported = page_is_trackable};

    return ioctl(tracker->pages, SCAN_PAGES, &scan) == 1 &&
           run.start == first && run.end == end;
}

/* ---- opening ------------------------------------------------------------- */

static int open_faults(void)
{
    const int fd = (int)syscall(SYS_userfaultfd,
                                O_CLOEXEC | O_NONBLOCK | only_user_faults);
    struct uffdio_api api = {.api = UFFD_API,
                             .features =
                                 feature_unpopulated | feature_asynchronous};

    if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Checks that what the kernel offers works as expected. */
static bool does_work(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const uintptr_t first = (uintptr_t)at, end = first + 2 * page;

    if (at == MAP_FAILED)
        return false;
    at[0] = 1;
    bool is_right = register_pages(first, end) && protect(first, end) &&
                    are_marked(first, end);
    *(volatile char *)at = 2;
    is_right = is_right && !are_marked(first, end) &&
               are_marked(first + page, end) &&
               madvise(at, 2 * page, MADV_DONTNEED) == 0 &&
               !are_marked(first + page, end);
    munmap(at, 2 * page);
    return is_right;
}

/* Makes the page that is cleared in a child. */
static bool make_tracker(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (tracker != NULL)
        return true;
    void *at = mmap(NULL, page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return false;
    if (madvise(at, page, MADV_WIPEONFORK) != 0) {
        munmap(at, page);
        return false;
    }
    tracker = at;
    return true;
}

static const char *open_tracker(void)
{
    static char text[128];
    static uint64_t generations;

    tracker->faults = open_faults();
    if (tracker->faults < 0) {
        snprintf(text, sizeof text,
                 "--reuse needs userfaultfd of Linux 6.7 or later: %s",
                 strerror(errno));
        return text;
    }
    tracker->pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (tracker->pages >= 0 && does_work()) {
        tracker->generation = ++generations;
        return NULL;
    }
    close(tracker->faults);
    if (tracker->pages >= 0)
        close(tracker->pages);
    return "--reuse: this kernel does not tell which memory was written";
}

const char *takt__tracking_problem(void)
{
    if (!make_tracker())
        return "--reuse: no memory";
    return tracker->generation != 0 ? NULL : open_tracker();
}

/* ---- what it costs ------------------------------------------------------- */

static double now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static double time_writes(char *at, size_t page, size_t pages)
{
    const double start_s = now_s();

    for (size_t i = 0; i < pages; i++)
        *(volatile char *)(at + i * page) = 2;
    return now_s() - start_s;
}

/* The least of some, per page: a thread may lose its processor. */
static double time_faults(char *at, size_t page, size_t pages)
{
    const uintptr_t first = (uintptr_t)at, end = first + pages * page;
    double least_s = -1;

    memset(at, 1, pages * page);
    for (int round = 0; round < 3; round++) {
        if (!register_pages(first, end))
            return -1;
        const bool is_protected = protect(first, end);
        const double took_s = time_writes(at, page, pages);
        unregister_pages(first, end);
        if (!is_protected)
            return -1;
        if (least_s < 0 || took_s < least_s)
            least_s = took_s;
    }
    return least_s / (double)pages;
}

double takt__tracking_fault_s(void)
{
    enum { pages = 32 };
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (takt__tracking_problem() != NULL)
        return -1;
    char *at = mmap(NULL, pages * page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return -1;
    const double fault_s = time_faults(at, page, pages);
    munmap(at, pages * page);
    return fault_s;
}

/* ---- which memory can be tracked ----------------------------------------- */

/* Whether a line of /proc/self/maps is private anonymous memory. The main
 * stack, which grows by itself, is not tracked. */
static bool is_trackable(const char *mode, unsigned long inode,
                         const char *name)
{
    return strcmp(mode, "rw-p") == 0 && inode == 0 &&
           (name[0] == '\0' || strcmp(name, "[heap]") == 0 ||
            strncmp(name, "[anon:", 6) == 0);
}

static bool is_private_memory(uintptr_t first, uintptr_t end)
{
    FILE *file = fopen("/proc/self/maps", "re");
    char *line = NULL; /* a whole line: file names may look like lines */
    size_t capacity = 0;

    if (file == NULL)
        return false;
    while (first < end && getline(&line, &capacity, file) > 0) {
        unsigned long start, stop, inode;
        char mode[5], name[8] = "";
        if (sscanf(line, "%lx-%lx %4s %*x %*s %lu %7s", &start, &stop, mode,
                   &inode, name) < 4 ||
            stop <= first)
            continue;
        if (start > first || !is_trackable(mode, inode, name))
            break;
        first = stop;
    }
    free(line);
    fclose(file);
    return first >= end;
}

/* Whether the process has pinned memory, which devices may write at any time.
 */
static bool has_pins(void)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[512];
    unsigned long pinned_kb = 1;

    if (file == NULL)
        return true;
    while (fgets(line, sizeof line, file) != NULL &&
           sscanf(line, "VmPin: %lu", &pinned_kb) != 1)
        continue;
    fclose(file);
    return pinned_kb > 0;
}

/* ---- tracking ------------------------------------------------------------ */

static bool save_ends(struct takt_tracked *tracked)
{
    tracked->ends = malloc(tracked->head_bytes + tracked->tail_bytes + 1);
    if (tracked->ends == NULL)
        return false;
    memcpy(tracked->ends, tracked->head, tracked->head_bytes);
    memcpy(tracked->ends + tracked->head_bytes, tracked->tail,
           tracked->tail_bytes);
    return true;
}

/* Compares a copy with what is at `there`, only in [from, to): the rest may not
 * be mapped any longer. */
static bool is_same(const char *copy, const char *there, size_t bytes,
                    uintptr_t from, uintptr_t to)
{
    const uintptr_t first = (uintptr_t)there, end = first + bytes;
    const uintptr_t low = from > first ? from : first;
    const uintptr_t high = to < end ? to : end;

    return low >= high ||
           memcmp(copy + (low - first), there + (low - first), high - low) == 0;
}

bool takt__tracking_begin(const void *at, size_t bytes,
                          struct takt_tracked *out)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t from = (uintptr_t)at, to = from + bytes;
    const uintptr_t first = (from + page - 1) / page * page;
    const uintptr_t end = to / page * page;

    *out = (struct takt_tracked){.generation = 0};
    if (first >= end || takt__tracking_problem() != NULL || has_pins() ||
        !register_pages(first, end))
        return false;
    *out = (struct takt_tracked){.generation = tracker->generation,
                                 .first = first,
                                 .end = end,
                                 .head = at,
                                 .head_bytes = first - from,
                                 .tail = (const char *)at + (end - from),
                                 .tail_bytes = to - end};
    /* In this order: memory that was mapped in its place later is not
     * registered, and what is saved is not newer than what the caller copies.
     */
    if (is_private_memory(from, to) && protect(first, end) && save_ends(out))
        return true;
    takt__tracking_end(out);
    return false;
}

void takt__tracking_end(struct takt_tracked *tracked)
{
    if (tracker != NULL && tracked->generation != 0 &&
        tracked->generation == tracker->generation)
        unregister_pages(tracked->first, tracked->end);
    free(tracked->ends);
    *tracked = (struct takt_tracked){.generation = 0};
}

/* Whether the whole pages with some of [from, to) are unchanged. */
static bool are_pages_unchanged(const struct takt_tracked *tracked,
                                uintptr_t from, uintptr_t to)
{
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t low = from / page * page;
    const uintptr_t high = (to + page - 1) / page * page;
    const uintptr_t first = low > tracked->first ? low : tracked->first;
    const uintptr_t end = high < tracked->end ? high : tracked->end;

    return first >= end || are_marked(first, end);
}

bool takt__tracking_is_unchanged(const struct takt_tracked *tracked,
                                 const void *at, size_t bytes)
{
    const uintptr_t from = (uintptr_t)at, to = from + bytes;

    return tracker != NULL && tracked->generation != 0 &&
           tracked->generation == tracker->generation &&
           are_pages_unchanged(tracked, from, to) &&
           is_same(tracked->ends, tracked->head, tracked->head_bytes, from,
                   to) &&
           is_same(tracked->ends + tracked->head_bytes, tracked->tail,
                   tracked->tail_bytes, from, to);
}
