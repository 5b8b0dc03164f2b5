/* SPDX-License-Identifier: MIT */
/* keep.c - copies: where they come from, and who gives room. */
#include "keep.h"

#include <stdio.h>
#include <string.h>

enum { most_kept = 64 };

static struct takt_kept all[most_kept];
static uint64_t now; /* counts calls */

void takt__keep_next_call(void)
{
    now++;
}

void takt__keep_forget_all(void)
{
    memset(all, 0, sizeof all);
}

static bool overlap(const struct takt_kept *kept, const char *at, size_t bytes)
{
    const uintptr_t a = (uintptr_t)kept->at, b = (uintptr_t)at;

    return a < b + bytes && b < a + kept->bytes;
}

static bool is_within(const char *at, size_t bytes, const char *of,
                      size_t of_bytes)
{
    const uintptr_t a = (uintptr_t)at, b = (uintptr_t)of;

    return a >= b && a + bytes <= b + of_bytes;
}

/* ---- giving up -------------------------------------------------------------
 */

static void free_buffer(const struct takt_route *route, struct takt_kept *kept)
{
    if (kept->holders > 0)
        return; /* the last of them does */
    route->takt->buffer_destroy(kept->buffer);
    kept->buffer = NULL;
}

static void invalidate(struct takt_kept *kept)
{
    takt__watch_end(&kept->watched);
    kept->is_valid = false;
    kept->missed_s = 0;
}

bool takt__kept_outdate(const struct takt_route *route, struct takt_kept *kept)
{
    const bool has_paid = kept->earned_s >= kept->price_s;

    invalidate(kept);
    kept->earned_s = 0;
    if (has_paid) {
        kept->caution = kept->caution > 2 ? kept->caution / 2 : 1;
    } else {
        kept->caution *= kept->caution < 1e6 ? 2 : 1;
        free_buffer(route, kept);
    }
    return has_paid;
}

void takt__kept_outdate_all(const struct takt_route *route, const char *at,
                            size_t bytes)
{
    for (unsigned i = 0; i < most_kept; i++)
        if (all[i].is_valid && overlap(&all[i], at, bytes))
            takt__kept_outdate(route, &all[i]);
}

void takt__kept_release(const struct takt_route *route, struct takt_kept *kept)
{
    if (kept->holders == 0)
        return; /* it was forgotten meanwhile */
    kept->holders--;
    if (!kept->is_valid)
        free_buffer(route, kept);
}

/* ---- room ------------------------------------------------------------------
 */

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
    takt_gpu_device gpu;
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

    for (unsigned i = 0; i < most_kept; i++)
        held += all[i].buffer != NULL ? all[i].bytes : 0;
    return held;
}

/* The one that nobody used for longest, with a buffer or without; never one of
 * this call's. NULL: all are in use. */
static struct takt_kept *idlest(bool has_buffer)
{
    struct takt_kept *found = NULL;

    for (unsigned i = 0; i < most_kept; i++)
        if ((all[i].buffer != NULL) == has_buffer && all[i].holders == 0 &&
            all[i].last_use < now &&
            (found == NULL || all[i].last_use < found->last_use))
            found = &all[i];
    return found;
}

/* Room for one more, at the cost of those that were not used for longest. */
static bool make_room(const struct takt_route *route,
                      const struct takt_kept *kept)
{
    const uint64_t on_gpu = takt__ready_gpu_bytes(route) / 4;
    const uint64_t held = held_bytes();
    const uint64_t on_host = (available_bytes() + held) / 8;
    const uint64_t most = on_gpu < on_host ? on_gpu : on_host;
    const uint64_t more = kept->buffer != NULL ? 0 : kept->bytes;

    if (kept->bytes > most)
        return false;
    while (held_bytes() + more > most) {
        struct takt_kept *idle = idlest(true);
        if (idle == NULL || idle == kept)
            return false;
        if (idle->is_valid)
            takt__kept_outdate(route, idle);
        free_buffer(route, idle);
    }
    return true;
}

/* ---- keeping ---------------------------------------------------------------
 */

/* No memory is watched twice: whoever marks it anew would hide what was written
 * before. The others may be gone long since, and nobody has noticed. */
static bool is_alone(const struct takt_route *route,
                     const struct takt_kept *kept)
{
    for (unsigned i = 0; i < most_kept; i++) {
        struct takt_kept *other = &all[i];
        if (!other->is_valid || !overlap(other, kept->at, kept->bytes))
            continue;
        if (other->holders > 0 || other->last_use == now)
            return false;
        takt__kept_outdate(route, other);
        free_buffer(route, other);
    }
    return true;
}

static bool fill_buffer(const struct takt_route *route, struct takt_kept *kept)
{
    const struct takt_library *takt = route->takt;
    void *to;

    if (kept->buffer == NULL &&
        takt->buffer_create(kept->ctx, kept->bytes, NULL, &kept->buffer) !=
            TAKT_OK)
        return false;
    if (takt->buffer_map(kept->buffer, TAKT_MAP_WRITE | TAKT_MAP_DISCARD,
                         &to) != TAKT_OK)
        return false;
    memcpy(to, kept->at, kept->bytes);
    return takt->buffer_unmap(kept->buffer) == TAKT_OK;
}

/* Has a GPU fetch it now: by itself, libtakt would wait for a single call that
 * pays for it. A sum of one element takes all of its buffer there. */
static void bring(const struct takt_route *route, const struct takt_kept *kept)
{
    const struct takt_library *takt = route->takt;
    float sum;
    const takt_call call = {.op = takt->find_op("sum"),
                            .dtype = TAKT_F32,
                            .shape = {.rank = 1, .dim = {1}},
                            .in = {takt->buffer_address(kept->buffer)},
                            .out = &sum};
    takt_backend backend;

    for (size_t i = 0; takt->expert(kept->ctx, i, &backend) != NULL; i++)
        if (backend == TAKT_BACKEND_GPU &&
            takt->run_on(kept->ctx, &call, i) == TAKT_OK)
            return;
}

/* The marks first, then the copy: what is written in between is seen. */
void takt__keep(const struct takt_route *route, struct takt_kept *kept)
{
    if (kept->holders > 0)
        return; /* they read the old copy */
    kept->is_valid = is_alone(route, kept) && make_room(route, kept) &&
                     takt__watch_begin(kept->at, kept->bytes, &kept->watched) &&
                     fill_buffer(route, kept);
    if (kept->is_valid)
        bring(route, kept);
    else
        takt__kept_outdate(route, kept);
}

/* ---- who it is -------------------------------------------------------------
 */

static struct takt_kept *find(const takt_ctx *ctx, const char *at, size_t bytes)
{
    struct takt_kept *same = NULL;

    for (unsigned i = 0; i < most_kept; i++) {
        struct takt_kept *kept = &all[i];
        if (kept->ctx != ctx || !is_within(at, bytes, kept->at, kept->bytes))
            continue;
        if (kept->is_valid)
            return kept;
        if (kept->bytes == bytes)
            same = kept;
    }
    return same;
}

static struct takt_kept *add(const struct takt_route *route, const char *at,
                             size_t bytes)
{
    struct takt_kept *kept = idlest(false);

    if (kept == NULL && (kept = idlest(true)) == NULL)
        return NULL;
    invalidate(kept);
    free_buffer(route, kept);
    *kept = (struct takt_kept){
        .at = at, .bytes = bytes, .ctx = route->ctx, .caution = 1};
    return kept;
}

void takt__kept_count_use(struct takt_kept *kept)
{
    if (kept->last_use == now)
        return; /* the same matrix twice */
    kept->last_use = now;
    kept->uses++;
    kept->earned_s += kept->is_valid ? kept->gain_s : 0;
}

struct takt_kept *takt__kept_find(const struct takt_route *route,
                                  const char *at, size_t bytes)
{
    struct takt_kept *kept = find(route->ctx, at, bytes);

    return kept != NULL ? kept : add(route, at, bytes);
}
