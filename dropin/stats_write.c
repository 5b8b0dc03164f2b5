/* SPDX-License-Identifier: MIT */
/* stats_write.c - finding the stats and writing on it. */
#include "stats_write.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "backoff.h"
#include "baseline.h"

_Atomic(struct takt_stats *) takt__stats;
_Atomic unsigned takt__mode;

static struct takt_stats *map_board(const char *path)
{
    const int fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
    struct takt_stats *stats = MAP_FAILED;
    struct stat facts;

    if (fd < 0)
        return NULL;
    if (fstat(fd, &facts) == 0 && facts.st_size == (off_t)sizeof *stats)
        stats = mmap(NULL, sizeof *stats, PROT_READ | PROT_WRITE, MAP_SHARED,
                     fd, 0);
    close(fd);
    if (stats == MAP_FAILED)
        return NULL;
    if (memcmp(stats->title, TAKT_STATS_TITLE, sizeof TAKT_STATS_TITLE) == 0 &&
        stats->size == sizeof *stats)
        return stats;
    munmap(stats, sizeof *stats);
    return NULL;
}

static bool is_set(const char *value)
{
    return value != NULL && value[0] != '\0';
}

/* A process is counted when it makes its first call; after a fork(), the child
 * is another one. */
static _Atomic bool is_counted;

static void begin_anew(void)
{
    atomic_store_explicit(&is_counted, false, memory_order_relaxed);
}

static void count_process(struct takt_stats *stats)
{
    if (!atomic_load_explicit(&is_counted, memory_order_relaxed) &&
        !atomic_exchange(&is_counted, true))
        takt__stats_add(&stats->processes, 1);
}

static void read_mode(void)
{
    const char *path = secure_getenv(TAKT_STATS_VARIABLE);
    struct takt_stats *stats = is_set(path) ? map_board(path) : NULL;

    if (stats != NULL) {
        pthread_atfork(NULL, NULL, begin_anew);
        atomic_store(&takt__stats, stats);
    }
    atomic_store_explicit(
        &takt__mode,
        (stats != NULL ? TAKT_MODE_STATS : 0u) |
            (is_set(secure_getenv("TAKT_RUN_EAGER")) ? TAKT_MODE_EAGER : 0u),
        memory_order_release);
}

void takt__mode_read(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_mode);
}

/* ---- what was met ----------------------------------------------------------
 */

/* False: somebody else has written there. */
static bool write_text(struct takt_stats_text *at, const char *text)
{
    uint32_t empty = 0;

    if (!atomic_compare_exchange_strong(&at->state, &empty, 1))
        return false;
    const size_t length = strnlen(text, sizeof at->text - 1);
    memcpy(at->text, text, length);
    atomic_store_explicit(&at->state, 2, memory_order_release);
    return true;
}

static bool says(const struct takt_stats_text *at, const char *text)
{
    return atomic_load_explicit(&at->state, memory_order_acquire) == 2 &&
           strncmp(at->text, text, sizeof at->text - 1) == 0;
}

void takt__stats_library(const struct takt_baseline *baseline)
{
    struct takt_stats *stats = atomic_load(&takt__stats);

    if (stats == NULL)
        return;
    for (unsigned i = 0; i < TAKT_STATS_LIBRARIES; i++)
        if (says(&stats->library[i], baseline->path) ||
            write_text(&stats->library[i], baseline->path))
            return;
}

void takt__stats_router(void)
{
    struct takt_stats *stats = atomic_load(&takt__stats);

    if (stats != NULL)
        takt__stats_add(&stats->routers, 1);
}

void takt__stats_trouble(const char *text)
{
    struct takt_stats *stats = atomic_load(&takt__stats);

    if (stats != NULL)
        write_text(&stats->trouble, text);
}

void takt__stats_gpu(const char *name)
{
    struct takt_stats *stats = atomic_load(&takt__stats);

    if (stats != NULL)
        write_text(&stats->gpu, name);
}

/* ---- calls -----------------------------------------------------------------
 */

struct takt_stats_cell *takt__stats_cell(enum takt_routine routine,
                                         enum takt_blas_type type, double work)
{
    struct takt_stats *stats = atomic_load(&takt__stats);
    const unsigned exponent = takt__exponent(work);
    const unsigned class = routine <= TAKT_TRSM  ? exponent / 3
                           : routine <= TAKT_GER ? exponent / 2
                                                 : exponent;

    count_process(stats);
    return &stats->cell
                [routine][type]
                [class < TAKT_STATS_CLASSES ? class : TAKT_STATS_CLASSES - 1];
}

void takt__stats_run(struct takt_stats_cell *cell, enum takt_path way,
                     uint64_t ns)
{
    takt__stats_add(&cell->calls[way], 1);
    if (ns > 0) {
        takt__stats_add(&cell->timed[way], 1);
        takt__stats_add(&cell->ns[way], ns);
    }
}

uint64_t takt__now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
