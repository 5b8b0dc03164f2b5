/* SPDX-License-Identifier: MIT */
/*
 * reuse.c - which operands are copied, and when.
 *
 * Whether a copy pays depends on later calls. It is made when the calls so far
 * would have gained its price: the total is then at most twice the best in
 * hindsight (as in the ski rental problem).
 */
#include "reuse.h"

#include <pthread.h>
#include <stdlib.h>

#include "cache.h"
#include "forecast.h"
#include "fork.h"
#include "mode.h"
#include "stats_write.h"

enum { most_operands = 2, least_bytes = 1 << 20 };

/* Copying into new memory, and one fault per page when it is written again,
 * each taken to be a quarter of a nanosecond per byte: a fault took 1 to 9
 * microseconds in a virtual machine with Linux 6.18. */
static const double copy_s_per_byte = 0.5e-9;

/* A matrix that a call reads. */
struct operand {
    const char *at;
    size_t bytes;
    unsigned number; /* in takt_call.in */
    struct takt_cached *cached;
};

/* A call, and those of its operands that a buffer may replace. */
struct substitution {
    const struct takt_route *route;
    takt_call call;
    struct operand operand[most_operands];
    unsigned count;
};

_Atomic int takt__reuse_setting = TAKT_REUSE_UNREAD;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The thread that forked is the only one left, and does not hold the lock. */
static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    takt__cache_abandon();
}

static void read_setting(void)
{
    const char *value = secure_getenv("TAKT_RUN_REUSE");
    const bool is_set = value != NULL && value[0] != '\0';
    const char *problem = is_set ? takt__tracking_problem() : NULL;

    if (problem != NULL)
        takt__stats_trouble(problem);
    if (is_set && problem == NULL)
        takt__at_fork(TAKT_FORK_REUSE, NULL, NULL, in_child);
    atomic_store(&takt__reuse_setting,
                 is_set && problem == NULL ? TAKT_REUSE_YES : TAKT_REUSE_NO);
}

bool takt__reuse_read_setting(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_setting);
    return atomic_load(&takt__reuse_setting) == TAKT_REUSE_YES;
}

/* ---- operands ------------------------------------------------------------ */

static size_t element_bytes(const takt_call *call)
{
    return call->dtype == TAKT_F64 ? sizeof(double) : sizeof(float);
}

/* From the first to the last element of some rows. */
static size_t span(const takt_call *call, size_t rows, size_t columns,
                   size_t ld)
{
    return ((rows - 1) * ld + columns) * element_bytes(call);
}

static void add_operand(struct substitution *self, unsigned number, size_t rows,
                        size_t columns)
{
    const takt_call *call = &self->call;
    const size_t bytes = span(call, rows, columns, call->ld[number]);

    /* Of a matrix that is mostly gaps, too much would be moved and tracked. */
    if (bytes >= least_bytes && columns * 2 >= call->ld[number])
        self->operand[self->count++] = (struct operand){
            .at = call->in[number], .bytes = bytes, .number = number};
}

static bool is_product(const struct substitution *self)
{
    return self->call.op == self->route->op[TAKT_GEMM];
}

/* The matrices that a call reads and that are large enough. */
static void find_operands(struct substitution *self)
{
    const takt_call *call = &self->call;
    const size_t *dim = call->shape.dim;

    if (is_product(self)) {
        const bool ta = (call->flags & TAKT_TRANS_A) != 0;
        const bool tb = (call->flags & TAKT_TRANS_B) != 0;
        add_operand(self, 0, dim[ta ? 2 : 0], dim[ta ? 0 : 2]);
        add_operand(self, 1, dim[tb ? 1 : 2], dim[tb ? 2 : 1]);
    } else if (call->op == self->route->op[TAKT_GEMV]) {
        add_operand(self, 0, dim[0], dim[1]);
    }
}

/* The size of what it writes. */
static size_t out_bytes(const struct substitution *self)
{
    const takt_call *call = &self->call;
    const size_t *dim = call->shape.dim;
    const bool is_turned = (call->flags & TAKT_TRANS_A) != 0;

    return is_product(self) ? span(call, dim[0], dim[1], call->ld[2])
                            : span(call, 1, dim[is_turned ? 1 : 0], 0);
}

/* ---- gains and prices ---------------------------------------------------- */

static double bytes_of(const struct substitution *self)
{
    double bytes = 0;

    for (unsigned i = 0; i < self->count; i++)
        bytes += (double)self->operand[i].bytes;
    return bytes;
}

/* What a call gains if its large operands are on a GPU already, and the time to
 * move a byte there; both 0 without a GPU. */
static double gain_of(const struct substitution *self, double *move_s_per_byte)
{
    takt_request request = takt__request_of(&self->call);
    const double cached = bytes_of(self);
    const double moved = cached + (double)out_bytes(self);
    struct takt_forecast here, there;

    takt__forecast(self->route, &request, &here);
    request.situation = TAKT_SITUATION_ON_GPU;
    takt__forecast(self->route, &request, &there);
    *move_s_per_byte = 0;
    if (!here.has_gpu || here.is_asleep || here.is_suspect ||
        !(here.gpu_s > there.gpu_s))
        return 0;
    *move_s_per_byte = (here.gpu_s - there.gpu_s) / moved;
    return here.best_s - (here.gpu_s - *move_s_per_byte * cached);
}

/* Each operand gets a share of the gain by its size. */
static void estimate(const struct substitution *self)
{
    double move_s_per_byte;
    const double gain_s = gain_of(self, &move_s_per_byte);
    const bool is_ready = takt__ready_gpu_bytes(self->route) > 0;

    for (unsigned i = 0; i < self->count; i++) {
        struct takt_cached *cached = self->operand[i].cached;
        const double bytes = (double)self->operand[i].bytes;
        if (cached == NULL || cached->is_valid)
            continue;
        cached->gain_s =
            gain_s > 0 && is_ready ? gain_s * bytes / bytes_of(self) : 0;
        cached->price_s = bytes * (move_s_per_byte + copy_s_per_byte);
        if (takt__is_eager()) { /* tests: copy at the second use */
            cached->gain_s = is_ready ? 1 : 0;
            cached->price_s = 1;
        }
    }
}

/* A forecast takes longer than a look at the marks, so not every time. */
static bool is_due(const struct takt_cached *cached)
{
    return cached != NULL && !cached->is_valid && cached->uses > 1 &&
           (cached->uses < 8 || cached->uses % 8 == 0);
}

static void copy_if_it_pays(const struct substitution *self)
{
    bool is_asked = false;

    for (unsigned i = 0; i < self->count; i++)
        is_asked |= is_due(self->operand[i].cached);
    if (is_asked)
        estimate(self);
    for (unsigned i = 0; i < self->count; i++) {
        struct takt_cached *cached = self->operand[i].cached;
        if (cached == NULL || cached->is_valid || cached->uses < 2)
            continue;
        cached->missed_s += cached->gain_s;
        if (cached->gain_s > 0 &&
            cached->missed_s >= cached->price_s * cached->penalty)
            takt__cache_fill(self->route, cached);
    }
}

/* ---- calls --------------------------------------------------------------- */

/* Finds the operand in the cache, and checks whether its copy is valid now. */
static void find_cached(const struct substitution *self,
                        struct operand *operand)
{
    struct takt_cached *cached =
        takt__cached_find(self->route, operand->at, operand->bytes);

    operand->cached = cached;
    if (cached == NULL)
        return;
    const bool is_outdated =
        cached->is_valid && !takt__tracking_is_unchanged(
                                &cached->tracked, operand->at, operand->bytes);
    const bool is_wanted =
        is_outdated && takt__cached_invalidate(self->route, cached);
    takt__cached_count_use(cached);
    if (is_wanted)
        takt__cache_fill(self->route, cached);
}

static void substitute(struct substitution *self, struct operand *operand)
{
    const struct takt_libtakt *takt = self->route->takt;
    struct takt_cached *cached = operand->cached;

    if (cached == NULL || !cached->is_valid) {
        operand->cached = NULL;
        return;
    }
    cached->readers++;
    self->call.in[operand->number] =
        (const char *)takt->buffer_address(cached->buffer) +
        (operand->at - cached->at);
}

/* Without cancellation: a cancelled thread would keep the lock. */
static int lock_cache(void)
{
    int before;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_mutex_lock(&lock);
    return before;
}

static void unlock_cache(int before)
{
    pthread_mutex_unlock(&lock);
    pthread_setcancelstate(before, NULL);
}

static void acquire(struct substitution *self)
{
    const int before = lock_cache();
    takt__cache_next_call();
    /* Ending the tracking now is cheaper than a fault for every page. */
    takt__cache_invalidate_range(self->route, self->call.out, out_bytes(self));
    for (unsigned i = 0; i < self->count; i++)
        find_cached(self, &self->operand[i]);
    copy_if_it_pays(self);
    for (unsigned i = 0; i < self->count; i++)
        substitute(self, &self->operand[i]);
    unlock_cache(before);
}

static void release(const struct substitution *self)
{
    const int before = lock_cache();
    for (unsigned i = 0; i < self->count; i++)
        if (self->operand[i].cached != NULL)
            takt__cached_release(self->route, self->operand[i].cached);
    unlock_cache(before);
}

takt_status takt__run_reusing(const struct takt_route *route,
                              const takt_call *call, takt_decision *decision)
{
    struct substitution self = {.route = route, .call = *call};

    if (route->is_adaptive || takt__is_eager())
        find_operands(&self);
    if (self.count == 0)
        return route->takt->run(route->ctx, call, decision);
    const uint64_t start_ns = takt__now_ns();
    acquire(&self);
    const uint64_t acquired_ns = takt__now_ns();
    const takt_status status =
        route->takt->run(route->ctx, &self.call, decision);
    release(&self);
    if (status == TAKT_OK && decision != NULL)
        decision->transfer_s += (double)(acquired_ns - start_ns) * 1e-9;
    /* A refusal has touched nothing: again without the buffers. */
    return status == TAKT_OK ? status
                             : route->takt->run(route->ctx, call, decision);
}
