/* SPDX-License-Identifier: MIT */
/*
 * tracking.c - pages of userfaultfd(2) in its asynchronous mode, and the ioctl
 * of /proc/self/pagemap that reads their marks.
 *
 * Neither descriptor may be used after a fork: they speak of the parent's
 * memory. They are cached in a page that the kernel empties in a child, however
 * that was made; children that share our memory share the page.
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
#include <unistd.h>

/* ---- the kernel's words, newer than many headers ---------------------------
 */

enum {
    only_user_faults = 1,            /* of userfaultfd(): needs no rights */
    feature_unpopulated = 1 << 13,   /* pages that are not there have marks */
    feature_asynchronous = 1 << 15,  /* nobody is asked about a write */
    page_is_watchable = 1 << 0,      /* categories */
    page_is_written = 1 << 1,        /* it has no mark */
    page_is_present = 1 << 3,        /* in memory */
    page_is_swapped = 1 << 4,        /* elsewhere; or nothing but a mark */
    only_if_all_are_watched = 1 << 1 /* of the scan */
};

struct page_run {
    uint64_t start, end, categories;
};

/* Finds runs of pages whose categories, with `inverted` turned round, have all
 * of `all` and one of `any`. */
struct page_scan {
    uint64_t size, flags, start, end, walked_to;
    uint64_t run, runs, most_pages;
    uint64_t inverted, all, any, told;
};

#define SCAN_PAGES _IOWR('f', 16, struct page_scan)

/* ---- pages -----------------------------------------------------------------
 */

static struct eye {
    uint64_t life; /* 0: not open */
    int faults, pages;
} * eye;

static bool protect(uintptr_t first, uintptr_t end)
{
    struct uffdio_writeprotect request = {
        .range = {.start = first, .len = end - first},
        .mode = UFFDIO_WRITEPROTECT_MODE_WP};

    return ioctl(eye->faults, UFFDIO_WRITEPROTECT, &request) == 0;
}

static bool enlist(uintptr_t first, uintptr_t end)
{
    struct uffdio_register request = {
        .range = {.start = first, .len = end - first},
        .mode = UFFDIO_REGISTER_MODE_WP};

    return ioctl(eye->faults, UFFDIO_REGISTER, &request) == 0;
}

static void delist(uintptr_t first, uintptr_t end)
{
    struct uffdio_range range = {.start = first, .len = end - first};

    (void)ioctl(eye->faults, UFFDIO_UNREGISTER, &range);
}

/* Whether all are there with their marks. What was given back has neither a
 * page nor a mark: it is not enough that no page was written. */
static bool are_marked(uintptr_t first, uintptr_t end)
{
    struct page_run run = {0, 0, 0};
    struct page_scan scan = {.size = sizeof scan,
                             .flags = only_if_all_are_watched,
                             .start = first,
                             .end = end,
                             .run = (uintptr_t)&run,
                             .runs = 1,
                             .inverted = page_is_written,
                             .all = page_is_written,
                             .any = page_is_present | page_is_swapped,
                             .told = page_is_watchable};

    return ioctl(eye->pages, SCAN_PAGES, &scan) == 1 && run.start == first &&
           run.end == end;
}

/* ---- opening ---------------------------------------------------------------
 */

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

/* The kernel says that it can; let us see it. */
static bool does_work(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const uintptr_t first = (uintptr_t)at, end = first + 2 * page;

    if (at == MAP_FAILED)
        return false;
    at[0] = 1;
    bool is_right =
        enlist(first, end) && protect(first, end) && are_marked(first, end);
    *(volatile char *)at = 2;
    is_right = is_right && !are_marked(first, end) &&
               are_marked(first + page, end) &&
               madvise(at, 2 * page, MADV_DONTNEED) == 0 &&
               !are_marked(first + page, end);
    munmap(at, 2 * page);
    return is_right;
}

/* The page that a child does not get. */
static bool make_eye(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    if (eye != NULL)
        return true;
    void *at = mmap(NULL, page, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return false;
    if (madvise(at, page, MADV_WIPEONFORK) != 0) {
        munmap(at, page);
        return false;
    }
    eye = at;
    return true;
}

static const char *open_eye(void)
{
    static char text[128];
    static uint64_t lives;

    eye->faults = open_faults();
    if (eye->faults < 0) {
        snprintf(text, sizeof text,
                 "--reuse needs userfaultfd of Linux 6.7 or later: %s",
                 strerror(errno));
        return text;
    }
    eye->pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (eye->pages >= 0 && does_work()) {
        eye->life = ++lives;
        return NULL;
    }
    close(eye->faults);
    if (eye->pages >= 0)
        close(eye->pages);
    return "--reuse: this kernel does not tell which memory was written";
}

const char *takt__tracking_problem(void)
{
    if (!make_eye())
        return "--reuse: no memory";
    return eye->life != 0 ? NULL : open_eye();
}

/* ---- which memory ----------------------------------------------------------
 */

/* A line of /proc/self/maps that is private and anonymous; the main stack,
 * which grows by itself, is left alone. */
static bool is_watchable(const char *mode, unsigned long inode,
                         const char *name)
{
    return strcmp(mode, "rw-p") == 0 && inode == 0 &&
           (name[0] == '\0' || strcmp(name, "[heap]") == 0 ||
            strncmp(name, "[anon:", 6) == 0);
}

static bool is_private_memory(uintptr_t first, uintptr_t end)
{
    FILE *file = fopen("/proc/self/maps", "re");
    char *line = NULL; /* whole: names of files may look like lines */
    size_t room = 0;

    if (file == NULL)
        return false;
    while (first < end && getline(&line, &room, file) > 0) {
        unsigned long start, stop, inode;
        char mode[5], name[8] = "";
        if (sscanf(line, "%lx-%lx %4s %*x %*s %lu %7s", &start, &stop, mode,
                   &inode, name) < 4 ||
            stop <= first)
            continue;
        if (start > first || !is_watchable(mode, inode, name))
            break;
        first = stop;
    }
    free(line);
    fclose(file);
    return first >= end;
}

/* Whether the kernel knows of memory that devices may write at any time. */
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

/* ---- watching --------------------------------------------------------------
 */

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

/* Of a copy of what was at `there`, the part that is in [from, to): more of it
 * may not be memory any longer. */
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

    *out = (struct takt_tracked){.life = 0};
    if (first >= end || takt__tracking_problem() != NULL || has_pins() ||
        !enlist(first, end))
        return false;
    *out = (struct takt_tracked){.life = eye->life,
                                 .first = first,
                                 .end = end,
                                 .head = at,
                                 .head_bytes = first - from,
                                 .tail = (const char *)at + (end - from),
                                 .tail_bytes = to - end};
    /* In this order: other memory that came in its place is not enlisted; and
     * what is saved is not newer than what the caller copies. */
    if (is_private_memory(from, to) && protect(first, end) && save_ends(out))
        return true;
    takt__tracking_end(out);
    return false;
}

void takt__tracking_end(struct takt_tracked *tracked)
{
    if (eye != NULL && tracked->life != 0 && tracked->life == eye->life)
        delist(tracked->first, tracked->end);
    free(tracked->ends);
    *tracked = (struct takt_tracked){.life = 0};
}

/* The whole pages that have some of the part. */
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

    return eye != NULL && tracked->life != 0 && tracked->life == eye->life &&
           are_pages_unchanged(tracked, from, to) &&
           is_same(tracked->ends, tracked->head, tracked->head_bytes, from,
                   to) &&
           is_same(tracked->ends + tracked->head_bytes, tracked->tail,
                   tracked->tail_bytes, from, to);
}
