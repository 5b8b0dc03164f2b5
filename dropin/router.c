/* SPDX-License-Identifier: MIT */
/* router.c - opens libtakt and makes contexts. */
#include "router.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "baseline_call.h"
#include "clock.h"
#include "effect.h"
#include "fork.h"
#include "lapack_history.h"
#include "lapack_opening.h"
#include "loader.h"
#include "mode.h"
#include "opener.h"
#include "program_history.h"
#include "stats_write.h"
#include "switchback.h"

/* The router is opened when calls have taken this long: making a context takes
 * milliseconds of a processor. Later where nothing can come of it before the
 * first probe (switchback.c). */
static const uint64_t soon_ns = 20000000, later_ns = 200000000;

enum { most_routes = 16 };

enum state { CLOSED, OPEN, FAILED };

static _Atomic int state = CLOSED;
static _Atomic uint64_t spent_ns, opens_after_ns = soon_ns;
static struct takt_libtakt libtakt;

static struct takt_route routes[most_routes];
static _Atomic unsigned route_count;

/* ---- libtakt ------------------------------------------------------------- */

static bool find(void *handle, const char *name, void *function, size_t size)
{
    void *found = dlsym(handle, name);

    memcpy(function, &found, size);
    return found != NULL;
}

/* A file by its path from the folder of this library. A library that was
 * preloaded by a relative path has no folder: the program may have changed its
 * own since. */
static void *open_beside(const char *file)
{
    char path[4096];
    Dl_info self;

    if (dladdr((const void *)&state, &self) == 0 || self.dli_fname == NULL ||
        self.dli_fname[0] != '/')
        return NULL;
    const int folder = (int)(strrchr(self.dli_fname, '/') - self.dli_fname) + 1;
    const int length =
        snprintf(path, sizeof path, "%.*s%s", folder, self.dli_fname, file);
    return length < (int)sizeof path
               ? takt__loader_open(path, RTLD_NOW | RTLD_LOCAL)
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
    return handle != NULL ? handle
                          : takt__loader_open(name, RTLD_NOW | RTLD_LOCAL);
}

/* Under a limit (`ulimit -v`). Each thread of ours reserves about as much, and
 * so does the library for each that calls it: it waits for ever for what it
 * cannot have. */
static bool has_address_space(void)
{
    enum { ours = 2 }; /* threads, beside those that compute */
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t bytes = ((size_t)(processors > 0 ? processors : 1) + ours) *
                         ((size_t)128 << 20);
    void *at = mmap(NULL, bytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return at != MAP_FAILED && munmap(at, bytes) == 0;
}

static bool load(void)
{
    void *handle;
    char text[TAKT_STATS_TEXT];

    if (!has_address_space()) {
        takt__stats_trouble(
            "Takt was not opened: too little address space (ulimit -v)");
        return false;
    }
    handle = open_libtakt();
    if (handle == NULL) {
        const char *why = dlerror();
        snprintf(text, sizeof text, "libtakt cannot be opened: %s",
                 why != NULL ? why : "the program has rights of its own");
        takt__stats_trouble(text);
        return false;
    }
#define FIND(member_, function_) \
    &&find(handle, #function_, &libtakt.member_, sizeof libtakt.member_)
    if (true TAKT_LIBTAKT_FUNCTIONS(FIND)) {
        takt__opener_tell_at_exit(libtakt.leave_gpus);
        return true;
    }
#undef FIND
    takt__stats_trouble("libtakt is of another version");
    return false;
}

static void load_once(void)
{
    if (atomic_load(&state) != CLOSED)
        return;
    const bool is_open = load();
    if (is_open)
        takt__stats_router();
    atomic_store_explicit(&state, is_open ? OPEN : FAILED,
                          memory_order_release);
}

void takt__router_spent(uint64_t ns)
{
    atomic_fetch_add_explicit(&spent_ns, ns, memory_order_relaxed);
}

static bool is_time(void)
{
    return takt__mode_has(TAKT_MODE_EAGER) ||
           atomic_load_explicit(&spent_ns, memory_order_relaxed) >=
               atomic_load_explicit(&opens_after_ns, memory_order_relaxed);
}

/* ---- contexts ------------------------------------------------------------ */

static void find_gpu(struct takt_route *route)
{
    takt_gpu_device gpu = {.size = sizeof gpu};

    route->has_gpu = libtakt.gpu(route->ctx, 0, &gpu) == TAKT_OK;
    if (takt__mode_has(TAKT_MODE_STATS) && route->has_gpu)
        takt__stats_gpu(gpu.model[0] != '\0' ? gpu.model : gpu.expert);
}

/* As many as affinity and cgroups leave to the process. Libraries start one for
 * each processor, whatever the quota is. */
static unsigned threads_of_process(void)
{
    takt_machine *machine;
    unsigned threads = 0;

    if (libtakt.machine(NULL, &machine) == TAKT_OK) {
        threads = machine->threads;
        libtakt.machine_drop(machine);
    }
    return threads;
}

/* The smaller one, where 0 means no limit. */
static unsigned fewer(unsigned a, unsigned b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

/* Whether a library has a thread for each processor that the process may use:
 * no more are left to the process. */
static bool uses_all(unsigned threads)
{
    cpu_set_t allowed;

    return threads == 0 ||
           (sched_getaffinity(0, sizeof allowed, &allowed) == 0 &&
            threads >= (unsigned)CPU_COUNT(&allowed));
}

/* Takt uses no more threads than the program allows its library. 0: as many as
 * are left to the process, which a context finds out by itself. */
static unsigned threads_of_ctx(unsigned asked, unsigned of_library)
{
    if (asked == 0 && uses_all(of_library))
        return 0;
    return fewer(asked > 0 ? asked : threads_of_process(), of_library);
}

static bool make_ctx(struct takt_route *route)
{
    takt_ctx_options options = {.size = sizeof options};
    takt_status status = libtakt.environment(&options);

    if (status != TAKT_OK)
        return false;
    options.threads = threads_of_ctx(options.threads, route->threads);
    options.blas = ""; /* the program may be calling those at this moment */
    route->is_adaptive = options.policy == TAKT_POLICY_ADAPTIVE;
    if (route->is_adaptive && takt__mode_has(TAKT_MODE_ALIKE))
        options.policy = TAKT_POLICY_HEURISTIC; /* times do not count */
    status = libtakt.create(&options, &route->ctx);
    if (status != TAKT_OK && options.policy != TAKT_POLICY_ADAPTIVE) {
        takt__stats_trouble("the policy, the expert or the pin file cannot be "
                            "used here: adaptive is used instead");
        options.policy = TAKT_POLICY_ADAPTIVE;
        route->is_adaptive = true;
        status = libtakt.create(&options, &route->ctx);
    }
    if (status == TAKT_OK)
        route->team = options.threads > 0
                          ? options.threads
                          : libtakt.ctx_machine(route->ctx)->threads;
    route->policy = options.policy;
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

static uint64_t gpu_begun_ns; /* when it was asked to open; 0: not here */

/* The model needs a moment to publish what it has of a GPU. */
static bool is_gpu_ready(uint64_t now_ns)
{
    static const uint64_t published_ns = 50000000;
    static uint64_t ready_ns;
    takt_gpu_device gpu = {.size = sizeof gpu};

    if (libtakt.gpu(routes[0].ctx, 0, &gpu) != TAKT_OK ||
        gpu.state != TAKT_GPU_READY)
        return false;
    if (ready_ns == 0)
        ready_ns = gpu_begun_ns == 0
                       ? now_ns
                       : gpu_begun_ns + (uint64_t)(gpu.open_s * 1e9);
    return now_ns >= ready_ns + published_ns;
}

static void keep_result(const struct takt_switchback_result *result)
{
    takt__stats_result(result);
    if (result->is_clear || result->is_even)
        takt__history_keep(result);
}

/* Between 0 and 1, at random. Of a program that is not known and will be, the
 * first probe helps the runs that follow: it may cost four times as much. */
static double price_factor(enum takt_history history)
{
    const double random = (double)(takt__now_ns() / 1000 % 1000) / 1000;

    return history == TAKT_HISTORY_NONE && takt__history_is_kept() ? random / 4
                                                                   : random;
}

/* The first context stands for the process. */
static void open_switchback(const struct takt_route *route)
{
    if (route != &routes[0])
        return;
    const enum takt_history history = takt__history_open(route);
    const struct takt_switchback_options options = {
        .threads = route->threads,
        .spin_power = takt__spin_power(),
        .price_factor = price_factor(history),
        .history = history,
        .pace = takt__history_pace(),
        .cpu_ns = takt__process_ns,
        .is_gpu_ready = route->has_gpu ? is_gpu_ready : NULL,
        .keep = keep_result};
    takt__stats_history(options.history);
    if (options.history == TAKT_HISTORY_GPU ||
        (options.history == TAKT_HISTORY_NONE && route->has_gpu &&
         takt__history_expects_gpu(route))) {
        gpu_begun_ns = takt__now_ns();
        libtakt.open_gpus(route->ctx);
    }
    takt__switchback_open(&options);
    takt__effect_open();
    if (takt__mode_has(TAKT_MODE_LAPACK) && takt__lapack_history_open(route) &&
        route->has_gpu)
        takt__lapack_begin_opening(route);
}

/* A route that could not be made stays in the table without a context. */
static void add_route(const struct takt_baseline *baseline, unsigned threads,
                      bool is_possible)
{
    const unsigned count = atomic_load(&route_count);

    if (count == most_routes || find_route(baseline, threads) != NULL)
        return;
    struct takt_route *route = &routes[count];
    *route = (struct takt_route){
        .baseline = baseline, .threads = threads, .takt = &libtakt};
    if (is_possible && make_ctx(route)) {
        takt__add_baseline_experts(route);
        find_gpu(route);
        if (route->is_adaptive && !takt__mode_has(TAKT_MODE_STEADY))
            open_switchback(route);
    } else {
        takt__stats_trouble("a context could not be made");
    }
    atomic_store_explicit(&route_count, count + 1, memory_order_release);
}

/* ---- the thread that opens ----------------------------------------------- */

static void make_wanted(void);

static struct takt_opener opener = {.run = make_wanted};

/* The route that is being made, by the one that made the opener busy. */
static struct {
    const struct takt_baseline *baseline;
    unsigned threads;
} wanted;

/* Whether a program that is left to the measured sides could do without a
 * router for now: no earlier run is remembered. */
static bool is_too_soon(void)
{
    if (takt__mode_has(TAKT_MODE_EAGER) ||
        atomic_load(&opens_after_ns) == later_ns || !takt__is_patient() ||
        takt__history_may_exist())
        return false;
    atomic_store(&opens_after_ns, later_ns);
    return true;
}

static void open_wanted(void)
{
    const uint64_t start_ns = takt__thread_ns();

    load_once();
    if (atomic_load(&state) == OPEN)
        add_route(wanted.baseline, wanted.threads, true);
    takt__stats_opened(takt__thread_ns() - start_ns);
}

/* fork() waits until it has left the loader. */
static void make_wanted(void)
{
    takt__loader_enter();
    if (!is_too_soon())
        open_wanted();
    atomic_store(&opener.is_busy, false);
    takt__loader_leave();
}

/* The thread is not in the child. What it had half done stays so. */
static void in_child(void)
{
    if (!takt__loader_was_torn())
        atomic_store(&opener.is_busy, false);
}

static struct takt_route *make_route(const struct takt_baseline *baseline,
                                     unsigned threads)
{
    if (atomic_load_explicit(&opener.is_busy, memory_order_relaxed) ||
        takt__opener_is_bad_moment() || atomic_exchange(&opener.is_busy, true))
        return NULL; /* another thread is making one */
    takt__at_fork(TAKT_FORK_ROUTER, NULL, NULL, in_child);
    wanted.baseline = baseline;
    wanted.threads = threads;
    if (!takt__opener_run(&opener)) {
        takt__stats_trouble("no thread could be started");
        add_route(baseline, threads, false);
        atomic_store(&opener.is_busy, false);
    }
    return find_route(baseline, threads);
}

/* A route, which is made if it is time for that; NULL: there is none yet. */
static struct takt_route *find_or_make(const struct takt_baseline *baseline)
{
    const unsigned threads = takt__baseline_threads(baseline);
    struct takt_route *route = find_route(baseline, threads);

    return route != NULL || atomic_load(&route_count) == most_routes
               ? route
               : make_route(baseline, threads);
}

static bool has_failed(void)
{
    return atomic_load_explicit(&state, memory_order_acquire) == FAILED ||
           atomic_load_explicit(&route_count, memory_order_relaxed) ==
               most_routes;
}

struct takt_route *takt__route(const struct takt_baseline *baseline,
                               enum takt_why *why)
{
    const int now = atomic_load_explicit(&state, memory_order_acquire);

    *why = now == FAILED ? TAKT_WHY_NO_ROUTER : TAKT_WHY_STARTING;
    if (now == FAILED || baseline == NULL || (now == CLOSED && !is_time()))
        return NULL;
    struct takt_route *route = find_or_make(baseline);
    if (takt__loader_is_forking())
        return NULL;
    if (route != NULL && route->ctx != NULL)
        return route;
    if (route != NULL || has_failed())
        *why = TAKT_WHY_NO_ROUTER;
    return NULL;
}

void takt__route_early(const struct takt_baseline *baseline)
{
    enum takt_why why;

    if (!takt__mode_take_early())
        return;
    atomic_store(&opens_after_ns, 0);
    (void)takt__route(baseline, &why);
}

/* ---- calls --------------------------------------------------------------- */

takt_call takt__product_call(const struct takt_route *route,
                             const struct takt_product *p)
{
    return (takt_call){
        .op = route->op[TAKT_GEMM],
        .dtype = p->is_double ? TAKT_F64 : TAKT_F32,
        .shape = {.rank = 3, .dim = {p->m, p->n, p->k}},
        .in = {p->a, p->b},
        .out = p->c,
        .ld = {p->lda, p->ldb, p->ldc},
        .alpha = p->alpha,
        .beta = p->beta,
        .flags = (takt__mode_has(TAKT_MODE_STEADY) ? TAKT_CALL_STEADY : 0) |
                 (p->is_a_transposed ? TAKT_TRANS_A : 0) |
                 (p->is_b_transposed ? TAKT_TRANS_B : 0)};
}
