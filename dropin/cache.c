/* SPDX-License-Identifier: MIT */
/* cache.c - makes copies, finds them, and evicts them. */
#include "cache.h"

#include <stdio.h>
#include <string.h>

enum { most_cached = 64 };

static struct takt_cached all[most_cached];
static uint64_t now; /* counts calls */

void takt__cache_next_call(void)
{
    now++;
}

void takt__cache_abandon(void)
{
    memset(all, 0, sizeof all);
}

static bool overlap(const struct takt_cached *cached, const char *at,
                    size_t bytes)
{
    const uintptr_t a = (uintptr_t)cached->at, b = (uintptr_t)at;

    return a < b + bytes && b < a + cached->bytes;
}

static bool is_within(const char *at, size_t bytes, const char *of,
                      size_t of_bytes)
{
    const uintptr_t a = (uintptr_t)at, b = (uintptr_t)of;

    return a >= b && a + bytes <= b + of_bytes;
}

/* ---- invalidating -------------------------------------------------------- */

static void free_buffer(const struct takt_route *route,
                        struct takt_cached *cached)
{
    if (cached->readers > 0)
        return; /* the last reader frees it */
    route->takt->buffer_destroy(cached->buffer);
    cached->buffer = NULL;
}

static void drop_tracking(struct takt_cached *cached)
{
    takt__tracking_end(&cached->tracked);
    cached->is_valid = false;
    cached->missed_s = 0;
}

bool takt__cached_invalidate(const struct takt_route *route,
                             struct takt_cached *cached)
{
    const bool has_paid = cached->earned_s >= cached->price_s;

    drop_tracking(cached);
    cached->earned_s = 0;
    if (has_paid) {
        cached->penalty = cached->penalty > 2 ? cached->penalty / 2 : 1;
    } else {
        cached->penalty *= cached->penalty < 1e6 ? 2 : 1;
        free_buffer(route, cached);
    }
    return has_paid;
}

void takt__cache_invalidate_range(const struct takt_route *route,
                                  const char *at, size_t bytes)
{
    for (unsigned i = 0; i < most_cached; i++)
        if (all[i].is_valid && overlap(&all[i], at, bytes))
            takt__cached_invalidate(route, &all[i]);
}

void takt__cached_release(const struct takt_route *route,
                          struct takt_cached *cached)
{
    if (cached->readers == 0)
        return; /* the cache was abandoned meanwhile */
    cached->readers--;
    if (!cached->is_valid)
        free_buffer(route, cached);
}

/* ---- capacity ------------------------------------------------------------ */

static uint64_t available_bytes(void)
{
    FILE *file = fopen("/proc/meminfo", "re");
    char line[256];
    unsigned long long kb = 0;

    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL &&
           sscanf(line, "MemAvailable: %llu", &kb) != 1)
        continue;
    fclose(file);
    return kb * 1024;
}

uint64_t takt__ready_gpu_bytes(const struct takt_route *route)
{
    takt_gpu_device gpu = {.size = sizeof gpu};
    uint64_t least = 0;

    for (size_t i = 0; route->takt->gpu(route->ctx, i, &gpu) == TAKT_OK; i++)
        if (gpu.state == TAKT_GPU_READY &&
            (least == 0 || gpu.memory_bytes < least))
            least = gpu.memory_bytes;
    return least;
}

static uint64_t held_bytes(void)
{
    uint64_t held = 0;

    for (unsigned i = 0; i < most_cached; i++)
        held += all[i].buffer != NULL ? all[i].bytes : 0;
    return held;
}

/* The least recently used one with a buffer, or of those without; never one of
 * this call's. NULL: all are in use. */
static struct takt_cached *least_recent(bool has_buffer)
{
    struct takt_cached *found = NULL;

    for (unsigned i = 0; i < most_cached; i++)
        if ((all[i].buffer != NULL) == has_buffer && all[i].readers == 0 &&
            all[i].last_use < now &&
            (found == NULL || all[i].last_use < found->last_use))
            found = &all[i];
    return found;
}

/* Capacity for one more: the least recently used ones are evicted. */
static bool make_capacity(const struct takt_route *route,
                          const struct takt_cached *cached)
{
    const uint64_t on_gpu = takt__ready_gpu_bytes(route) / 4;
    const uint64_t held = held_bytes();
    const uint64_t on_host = (available_bytes() + held) / 8;
    const uint64_t most = on_gpu < on_host ? on_gpu : on_host;
    const uint64_t more = cached->buffer != NULL ? 0 : cached->bytes;

    if (cached->bytes > most)
        return false;
    while (held_bytes() + more > most) {
        struct takt_cached *idle = least_recent(true);
        if (idle == NULL || idle == cached)
            return false;
        if (idle->is_valid)
            takt__cached_invalidate(route, idle);
        free_buffer(route, idle);
    }
    return true;
}

/* ---- copying ------------------------------------------------------------- */

/* No memory is tracked twice: new marks would hide what was written before.
 * Copies in the way may be of memory that is gone, so they go, unless they are
 * in use: then false. */
static bool remove_overlaps(const struct takt_route *route,
                            const struct takt_cached *cached)
{
    for (unsigned i = 0; i < most_cached; i++) {
        struct takt_cached *other = &all[i];
        if (!other->is_valid || !overlap(other, cached->at, cached->bytes))
            continue;
        if (other->readers > 0 || other->last_use == now)
            return false;
        takt__cached_invalidate(route, other);
        free_buffer(route, other);
    }
    return true;
}

static bool fill_buffer(const struct takt_route *route,
                        struct takt_cached *cached)
{
    const struct takt_libtakt *takt = route->takt;
    void *to;

    if (cached->buffer == NULL &&
        takt->buffer_create(cached->ctx, cached->bytes, NULL,
                            &cached->buffer) != TAKT_OK)
        return false;
    if (takt->buffer_map(cached->buffer, TAKT_MAP_WRITE | TAKT_MAP_DISCARD,
                         &to) != TAKT_OK)
        return false;
    memcpy(to, cached->at, cached->bytes);
    return takt->buffer_unmap(cached->buffer) == TAKT_OK;
}

/* Has a GPU fetch it now: by itself, libtakt would wait for a single call that
 * pays for the transfer. A product of one element moves all of its buffer; for
 * another op the driver might have to translate code first, which takes
 * seconds. */
static void upload(const struct takt_route *route,
                   const struct takt_cached *cached)
{
    const struct takt_libtakt *takt = route->takt;
    const float one = 1;
    float product;
    const takt_call call = {.op = takt->find_op("matmul"),
                            .dtype = TAKT_F32,
                            .shape = {.rank = 3, .dim = {1, 1, 1}},
                            .in = {takt->buffer_address(cached->buffer), &one},
                            .out = &product,
                            .alpha = 1};
    takt_backend backend;

    for (size_t i = 0; takt->expert(cached->ctx, i, &backend) != NULL; i++)
        if (backend == TAKT_BACKEND_GPU &&
            takt->run_on(cached->ctx, &call, i) == TAKT_OK)
            return;
}

/* Tracking begins before the copy, so that a write in between is seen. */
void takt__cache_fill(const struct takt_route *route,
                      struct takt_cached *cached)
{
    if (cached->readers > 0)
        return; /* calls still read the old copy */
    cached->is_valid =
        remove_overlaps(route, cached) && make_capacity(route, cached) &&
        takt__tracking_begin(cached->at, cached->bytes, &cached->tracked) &&
        fill_buffer(route, cached);
    if (cached->is_valid)
        upload(route, cached);
    else
        takt__cached_invalidate(route, cached);
}

/* ---- finding ------------------------------------------------------------- */

static struct takt_cached *find(const takt_ctx *ctx, const char *at,
                                size_t bytes)
{
    struct takt_cached *same = NULL;

    for (unsigned i = 0; i < most_cached; i++) {
        struct takt_cached *cached = &all[i];
        if (cached->ctx != ctx ||
            !is_within(at, bytes, cached->at, cached->bytes))
            continue;
        if (cached->is_valid)
            return cached;
        if (cached->bytes == bytes)
            same = cached;
    }
    return same;
}

static struct takt_cached *add(const struct takt_route *route, const char *at,
                               size_t bytes)
{
    struct takt_cached *cached = least_recent(false);

    if (cached == NULL && (cached = least_recent(true)) == NULL)
        return NULL;
    drop_tracking(cached);
    free_buffer(route, cached);
    *cached = (struct takt_cached){
        .at = at, .bytes = bytes, .ctx = route->ctx, .penalty = 1};
    return cached;
}

/* Of words at regular distances, the first and the last included. */
static uint64_t print_of(const char *at, size_t bytes)
{
    enum { places = 16 };
    const size_t last = bytes - sizeof(uint64_t);
    uint64_t print = 0, word;

    for (size_t i = 0; i < places; i++) {
        memcpy(&word, at + last / (places - 1) * i, sizeof word);
        print = (print ^ word) * UINT64_C(0x9E3779B97F4A7C15);
        print ^= print >> 29;
    }
    memcpy(&word, at + last, sizeof word);
    return print ^ word;
}

/* A copy that has just become invalid may be of more than the call reads, and
 * the rest of it may be gone. */
static void compare_print(struct takt_cached *cached, const char *at,
                          size_t bytes)
{
    const bool is_same = at == cached->at && bytes == cached->bytes;
    const uint64_t print = is_same ? print_of(at, bytes) : 0;

    if (print != cached->print) {
        cached->uses = cached->unpaid = 0;
        cached->missed_s = 0;
    }
    cached->print = print;
}

void takt__cached_count_use(struct takt_cached *cached, const char *at,
                            size_t bytes)
{
    if (cached->last_use == now)
        return; /* the same matrix twice */
    cached->last_use = now;
    if (!cached->is_valid)
        compare_print(cached, at, bytes);
    cached->uses++;
    cached->unpaid++;
    cached->earned_s += cached->is_valid ? cached->gain_s : 0;
}

struct takt_cached *takt__cached_find(const struct takt_route *route,
                                      const char *at, size_t bytes)
{
    struct takt_cached *cached = find(route->ctx, at, bytes);

    return cached != NULL ? cached : add(route, at, bytes);
}
