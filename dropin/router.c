/* SPDX-License-Identifier: MIT */
/* router.c - opening libtakt, and contexts. */
#include "router.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loader.h"
#include "stats_write.h"

/* A context takes some milliseconds to make. */
static const uint64_t patience_ns = 20000000;

enum { most_routes = 16 };

enum state { CLOSED, OPENING, OPEN, FAILED };

_Thread_local const void *takt__baseline_wrote;

static _Atomic int state = CLOSED;
static _Atomic uint64_t spent_ns;
static struct takt_library library;

static struct takt_route routes[most_routes];
static _Atomic unsigned route_count;
static atomic_flag is_making = ATOMIC_FLAG_INIT;

/* ---- libtakt ---------------------------------------------------------------
 */

static bool find(void *handle, const char *name, void *function, size_t size)
{
    void *found = dlsym(handle, name);

    memcpy(function, &found, size);
    return found != NULL;
}

#define FIND(member, name) \
    find(handle, name, &library.member, sizeof library.member)

/* In the folder of this library, at `place` in it. A library that was preloaded
 * by a relative path has no folder: the program may be in another one by now.
 */
static void *open_beside(const char *place)
{
    char path[4096];
    Dl_info self;

    if (dladdr((const void *)&state, &self) == 0 || self.dli_fname == NULL ||
        self.dli_fname[0] != '/')
        return NULL;
    const int folder = (int)(strrchr(self.dli_fname, '/') - self.dli_fname) + 1;
    const int length =
        snprintf(path, sizeof path, "%.*s%s", folder, self.dli_fname, place);
    return length < (int)sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL)
                                     : NULL;
}

/* Where it is installed and built; else wherever the loader finds it. */
static void *open_libtakt(void)
{
    static const char name[] = "libtakt.so." TAKT_DROPIN_SOVERSION;
    static const char above[] = "../libtakt.so." TAKT_DROPIN_SOVERSION;
    void *handle = open_beside(name);

    if (handle == NULL)
        handle = open_beside(above);
    return handle != NULL ? handle : dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

static bool load(void)
{
    takt__loader_enter();
    void *handle = open_libtakt();
    takt__loader_leave();
    char text[TAKT_STATS_WORDS];

    if (handle == NULL) {
        snprintf(text, sizeof text, "libtakt cannot be opened: %s", dlerror());
        takt__stats_trouble(text);
        return false;
    }
    if (FIND(environment, "takt_ctx_environment") &&
        FIND(create, "takt_ctx_create") &&
        FIND(add_expert, "takt_ctx_add_expert") && FIND(run, "takt_run") &&
        FIND(explain, "takt_explain") && FIND(find_op, "takt_op_find") &&
        FIND(gpu, "takt_ctx_gpu") && FIND(expert, "takt_ctx_expert") &&
        FIND(run_on, "takt_run_on") &&
        FIND(buffer_create, "takt_buffer_create") &&
        FIND(buffer_destroy, "takt_buffer_destroy") &&
        FIND(buffer_address, "takt_buffer_address") &&
        FIND(buffer_map, "takt_buffer_map") &&
        FIND(buffer_unmap, "takt_buffer_unmap"))
        return true;
    takt__stats_trouble("libtakt is of another version");
    return false;
}

void takt__router_spent(uint64_t ns)
{
    int closed = CLOSED;

    if (atomic_fetch_add_explicit(&spent_ns, ns, memory_order_relaxed) + ns <
            patience_ns ||
        !atomic_compare_exchange_strong(&state, &closed, OPENING))
        return;
    const bool is_open = load();
    if (is_open)
        takt__stats_router();
    atomic_store_explicit(&state, is_open ? OPEN : FAILED,
                          memory_order_release);
}

/* ---- contexts --------------------------------------------------------------
 */

static void tell_gpu(takt_ctx *ctx)
{
    takt_gpu_device gpu;

    if (takt__has_stats() && library.gpu(ctx, 0, &gpu) == TAKT_OK)
        takt__stats_gpu(gpu.model[0] != '\0' ? gpu.model : gpu.expert);
}

/* More threads than the program allows its library are not ours to take. */
static bool make_ctx(struct takt_route *route)
{
    takt_ctx_options options = library.environment();
    takt_status status;

    if (route->threads > 0 &&
        (options.threads == 0 || options.threads > route->threads))
        options.threads = route->threads;
    options.blas = ""; /* the program may be inside those at this moment */
    status = library.create(&options, &route->ctx);
    if (status != TAKT_OK && options.policy != TAKT_POLICY_ADAPTIVE) {
        takt__stats_trouble("the policy, the expert or the pin file cannot be "
                            "used here: adaptive is used instead");
        options.policy = TAKT_POLICY_ADAPTIVE;
        status = library.create(&options, &route->ctx);
    }
    route->is_adaptive = options.policy == TAKT_POLICY_ADAPTIVE;
    return status == TAKT_OK;
}

static struct takt_route *find_route(const struct takt_baseline *baseline,
                                     unsigned threads)
{
    const unsigned count =
        atomic_load_explicit(&route_count, memory_order_acquire);

    for (unsigned i = 0; i < count; i++)
        if (routes[i].baseline == baseline && routes[i].threads == threads)
            return &routes[i];
    return NULL;
}

/* One that could not be made is remembered without a context. */
static void make_route(const struct takt_baseline *baseline, unsigned threads)
{
    const unsigned count = atomic_load(&route_count);

    if (count == most_routes || find_route(baseline, threads) != NULL)
        return;
    struct takt_route *route = &routes[count];
    *route = (struct takt_route){
        .baseline = baseline, .threads = threads, .takt = &library};
    if (make_ctx(route)) {
        takt__add_baseline_experts(route);
        tell_gpu(route->ctx);
    } else {
        takt__stats_trouble("a context could not be made");
    }
    atomic_store_explicit(&route_count, count + 1, memory_order_release);
}

struct takt_route *takt__route(const struct takt_baseline *baseline,
                               enum takt_why *why)
{
    if (takt__is_eager())
        takt__router_spent(patience_ns);
    const int now = atomic_load_explicit(&state, memory_order_acquire);

    *why = now == FAILED ? TAKT_WHY_NO_ROUTER : TAKT_WHY_STARTING;
    if (now != OPEN || baseline == NULL)
        return NULL;
    const unsigned threads = takt__baseline_threads(baseline);
    struct takt_route *route = find_route(baseline, threads);
    if (route == NULL && !atomic_flag_test_and_set(&is_making)) {
        takt__loader_enter();
        make_route(baseline, threads);
        takt__loader_leave();
        atomic_flag_clear(&is_making);
        route = find_route(baseline, threads);
    }
    if (takt__loader_is_forking())
        return NULL;
    if (route != NULL && route->ctx != NULL)
        return route;
    *why = TAKT_WHY_NO_ROUTER;
    return NULL;
}

/* ---- forecasts -------------------------------------------------------------
 */

static bool is_gpu(const takt_estimate *estimate)
{
    return estimate->backend == TAKT_BACKEND_GPU;
}

void takt__forecast(const struct takt_route *route, const takt_request *request,
                    struct takt_forecast *out)
{
    takt_estimate estimate[64];
    size_t count = 0;

    *out = (struct takt_forecast){0};
    if (route->takt->explain(route->ctx, request, estimate, 64, &count) !=
        TAKT_OK)
        return;
    for (size_t i = 0; i < count && i < 64; i++) {
        const takt_estimate *at = &estimate[i];
        const double all =
            at->predicted_s + at->transfer_s + at->queue_s + at->switch_s;
        if (!(at->predicted_s > 0))
            continue;
        if (strcmp(at->expert, route->expert) == 0)
            out->baseline_s = all;
        if (is_gpu(at) && (!out->has_gpu || all < out->gpu_s)) {
            out->has_gpu = true;
            out->gpu_s = all;
            out->is_asleep = at->is_asleep != 0;
            out->is_suspect = at->is_suspect != 0;
        }
        if (at->is_suspect == 0 && (out->best_s <= 0 || all < out->best_s))
            out->best_s = all;
    }
}
