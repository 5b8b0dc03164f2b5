/* SPDX-License-Identifier: MIT */
/* stats_write.c - maps the shared statistics and writes to them. */
#include "stats_write.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fork.h"

static _Atomic(struct takt_stats *) mapped;

/* A process is counted at its first call. The child of a fork is another
 * process. */
static _Atomic bool is_counted;

/* The end of the last timed call of this thread; 0: there was none. */
static _Thread_local uint64_t seen_ns;

static void in_child(void)
{
    atomic_store_explicit(&is_counted, false, memory_order_relaxed);
    seen_ns = 0;
}

static void count_process(struct takt_stats *stats)
{
    if (!atomic_load_explicit(&is_counted, memory_order_relaxed) &&
        !atomic_exchange(&is_counted, true))
        takt__stats_add(&stats->processes, 1);
}

/* ---- opening ------------------------------------------------------------- */

static struct takt_stats *map_file(const char *path)
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
    return stats == MAP_FAILED ? NULL : stats;
}

bool takt__stats_open(const char *path)
{
    struct takt_stats *stats = map_file(path);

    if (stats == NULL)
        return false;
    if (memcmp(stats->title, TAKT_STATS_TITLE, sizeof TAKT_STATS_TITLE) != 0 ||
        stats->size != sizeof *stats) {
        munmap(stats, sizeof *stats);
        return false;
    }
    takt__at_fork(TAKT_FORK_STATS, NULL, NULL, in_child);
    atomic_store(&mapped, stats);
    return true;
}

/* ---- facts of the process ------------------------------------------------ */

/* False: another thread or process has written there. */
static bool write_text(struct takt_stats_text *at, const char *text)
{
    uint32_t empty = 0;

    if (!atomic_compare_exchange_strong(&at->state, &empty, 1))
        return false;
    memcpy(at->text, text, strnlen(text, sizeof at->text - 1));
    atomic_store_explicit(&at->state, 2, memory_order_release);
    return true;
}

static bool is_text(const struct takt_stats_text *at, const char *text)
{
    return atomic_load_explicit(&at->state, memory_order_acquire) == 2 &&
           strncmp(at->text, text, sizeof at->text - 1) == 0;
}

void takt__stats_library(const char *path)
{
    struct takt_stats *stats = atomic_load(&mapped);

    for (unsigned i = 0; stats != NULL && i < TAKT_STATS_LIBRARIES; i++)
        if (is_text(&stats->library[i], path) ||
            write_text(&stats->library[i], path))
            return;
}

void takt__stats_router(void)
{
    struct takt_stats *stats = atomic_load(&mapped);

    if (stats != NULL)
        takt__stats_add(&stats->routers, 1);
}

void takt__stats_trouble(const char *text)
{
    struct takt_stats *stats = atomic_load(&mapped);

    if (stats != NULL)
        write_text(&stats->trouble, text);
}

void takt__stats_gpu(const char *name)
{
    struct takt_stats *stats = atomic_load(&mapped);

    if (stats != NULL)
        write_text(&stats->gpu, name);
}

/* In millionths; at most a million times. */
static uint64_t millionths(double value)
{
    return value > 0 && value < 1e6 ? (uint64_t)(value * 1e6 + 0.5) : 0;
}

void takt__stats_result(const struct takt_switchback_result *result)
{
    struct takt_stats *stats = atomic_load(&mapped);

    if (stats == NULL)
        return;
    atomic_store(&stats->result.probes, result->probes);
    atomic_store(&stats->result.ratio, millionths(result->ratio));
    atomic_store(&stats->result.error, millionths(result->error));
    atomic_store(&stats->result.is_routed, result->is_routed);
    atomic_store(&stats->result.is_clear, result->is_clear);
}

void takt__stats_history(unsigned history)
{
    struct takt_stats *stats = atomic_load(&mapped);

    if (stats != NULL)
        atomic_store(&stats->result.history, history);
}

void takt__stats_opened(uint64_t ns)
{
    struct takt_stats *stats = atomic_load(&mapped);

    if (stats != NULL)
        takt__stats_add(&stats->result.own_ns, ns);
}

struct takt_stats_effect *takt__stats_effect(void)
{
    struct takt_stats *stats = atomic_load(&mapped);

    return stats != NULL ? &stats->effect : NULL;
}

/* ---- calls --------------------------------------------------------------- */

struct takt_stats_cell *takt__stats_cell(enum takt_routine routine,
                                         enum takt_blas_type type, double work)
{
    struct takt_stats *stats = atomic_load(&mapped);
    const unsigned exponent = takt__exponent(work);
    const unsigned class = routine <= TAKT_TRSM  ? exponent / 3
                           : routine <= TAKT_GER ? exponent / 2
                                                 : exponent;

    count_process(stats);
    return &stats->cell
                [routine][type]
                [class < TAKT_STATS_CLASSES ? class : TAKT_STATS_CLASSES - 1];
}

/* Moves a bound outwards. */
static void widen(_Atomic uint64_t *at, uint64_t to, bool is_lower)
{
    uint64_t old = atomic_load_explicit(at, memory_order_relaxed);

    while ((old == 0 || (is_lower ? to < old : to > old)) &&
           !atomic_compare_exchange_weak_explicit(
               at, &old, to, memory_order_relaxed, memory_order_relaxed))
        ;
}

void takt__stats_span(uint64_t start_ns, uint64_t end_ns)
{
    struct takt_stats_span *span = &atomic_load(&mapped)->span;
    const uint64_t from_ns = seen_ns != 0 ? seen_ns : start_ns;

    seen_ns = end_ns;
    if (end_ns > from_ns)
        takt__stats_add(&span->threads_ns, end_ns - from_ns);
    widen(&span->first_ns, start_ns, true);
    widen(&span->last_ns, end_ns, false);
}

void takt__stats_time(enum takt_track track, uint64_t start_ns, uint64_t end_ns,
                      double weight)
{
    enum { held_up_ns = 1000000 }; /* no call that stands for others */
    struct takt_stats_timeline *line = &atomic_load(&mapped)->timeline;
    const uint64_t begin_ns = line->start_ns;
    const uint64_t times =
        end_ns - start_ns < held_up_ns && weight > 1 ? (uint64_t)weight : 1;

    if (begin_ns == 0 || start_ns < begin_ns)
        return;
    for (uint64_t slot = (start_ns - begin_ns) / TAKT_STATS_SLOT_NS;
         slot < TAKT_STATS_SLOTS && start_ns < end_ns; slot++) {
        const uint64_t slot_end_ns = begin_ns + (slot + 1) * TAKT_STATS_SLOT_NS;
        const uint64_t until_ns = end_ns < slot_end_ns ? end_ns : slot_end_ns;
        takt__stats_add(&line->ns[slot][track], times * (until_ns - start_ns));
        start_ns = until_ns;
    }
}

void takt__stats_run(struct takt_stats_cell *cell,
                     enum takt_destination destination, uint64_t ns)
{
    takt__stats_add(&cell->calls[destination], 1);
    if (ns > 0) {
        takt__stats_add(&cell->timed[destination], 1);
        takt__stats_add(&cell->ns[destination], ns);
    }
}

/* ---- loops --------------------------------------------------------------- */

/* False: the row has another name. A row that is just being written has, too:
 * at worst a name gets two rows. */
static bool is_row_of(struct takt_stats_loop *row, const char *name)
{
    uint32_t state = 0;

    if (atomic_compare_exchange_strong(&row->state, &state, 1)) {
        memcpy(row->name, name, strnlen(name, sizeof row->name - 1));
        atomic_store_explicit(&row->state, 2, memory_order_release);
        return true;
    }
    return state == 2 && strncmp(row->name, name, sizeof row->name - 1) == 0;
}

struct takt_stats_loop *takt__stats_loop(const char *name)
{
    struct takt_stats *stats = atomic_load(&mapped);

    count_process(stats);
    for (unsigned i = 0; i + 1 < TAKT_STATS_LOOPS; i++)
        if (is_row_of(&stats->loop[i], name))
            return &stats->loop[i];
    (void)is_row_of(&stats->loop[TAKT_STATS_LOOPS - 1], "others");
    return &stats->loop[TAKT_STATS_LOOPS - 1];
}

struct takt_stats_loop_cell *takt__stats_loop_cell(struct takt_stats_loop *loop,
                                                   uint64_t length)
{
    const unsigned class = 63 - (unsigned)__builtin_clzll(length | 1);

    return &loop->cell
                [class < TAKT_STATS_CLASSES ? class : TAKT_STATS_CLASSES - 1];
}

struct takt_stats_loop_cell *takt__stats_lapack(enum takt_lapack routine,
                                                bool is_double, double work)
{
    struct takt_stats *stats = atomic_load(&mapped);
    const unsigned class = takt__exponent(work) / 3;

    count_process(stats);
    return &stats->lapack
                [routine][is_double]
                [class < TAKT_STATS_CLASSES ? class : TAKT_STATS_CLASSES - 1];
}
