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

#include "cache.h"
#include "expectation.h"
#include "forecast.h"
#include "fork.h"
#include "guard.h"
#include "mode.h"
#include "program_history.h"
#include "stats_write.h"

enum { most_operands = 2, least_bytes = 1 << 20 };

/* What opening a GPU takes: as libtakt takes it to be until it is measured. */
static const double opening_s = 0.4;

/* To copy a byte into new memory; and to write a page again afterwards, as
 * measured (1 to 9 microseconds in virtual machines with Linux 6.18). */
static const double copy_s_per_byte = 0.25e-9;
static double fault_s = 1e-6;

/* Tracking is not worth it by itself where writing costs more than that. */
static const double most_fault_s = 10e-6;

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
_Thread_local uint64_t takt__reuse_copy_ns;
static bool is_asked_for; /* by the user */
static struct takt_expectation expectation;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The thread that forked is the only one left, and does not hold the lock. */
static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    takt__cache_abandon();
}

/* ---- the setting --------------------------------------------------------- */

/* Whether memory can be tracked, and costs little. `why` is for users who asked
 * for it. */
static bool can_track(const char **why)
{
    *why = takt__tracking_problem();
    if (*why != NULL)
        return false;
    const double measured_s = takt__tracking_fault_s();
    if (measured_s > 0)
        fault_s = measured_s;
    return is_asked_for || (measured_s > 0 && measured_s <= most_fault_s);
}

static void read_setting(void)
{
    const char *problem = NULL;

    is_asked_for = takt__mode_switch("TAKT_RUN_REUSE", false);
    const bool is_wanted =
        takt__mode_switch("TAKT_RUN_REUSE", !takt__mode_has(TAKT_MODE_STEADY));
    const bool is_on = is_wanted && can_track(&problem);
    if (is_asked_for && problem != NULL)
        takt__stats_trouble(problem);
    if (is_on)
        takt__at_fork(TAKT_FORK_REUSE, NULL, NULL, in_child);
    atomic_store(&takt__reuse_setting, is_on ? TAKT_REUSE_YES : TAKT_REUSE_NO);
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

/* What a call is expected to take. */
struct gpu_estimate {
    bool has_gpu, is_ready;
    double best_s;          /* by the best way, moving everything */
    double gpu_s;           /* on a GPU, moving everything */
    double move_s_per_byte; /* to there */
};

/* What a copy of so many elements takes on a GPU, most of it to move them there
 * and back. */
static double copy_s(const struct takt_route *route, size_t elements)
{
    const takt_request request = {.op = route->takt->find_op("copy"),
                                  .shape = {.rank = 1, .dim = {elements}}};
    struct takt_forecast forecast;

    takt__forecast(route, &request, &forecast);
    return forecast.has_gpu ? forecast.gpu_s : 0;
}

/* Of a GPU that is not open: nothing can be asked as if operands were there. */
static double link_s_per_byte(const struct takt_route *route)
{
    enum { few = 1 << 20, many = 1 << 23 };
    const double more_s = copy_s(route, many) - copy_s(route, few);

    return more_s > 0 ? more_s / (2.0 * sizeof(float) * (many - few)) : 0;
}

static struct gpu_estimate estimate_of(const struct substitution *self)
{
    takt_request request = takt__request_of(&self->call);
    const double moved = bytes_of(self) + (double)out_bytes(self);
    struct takt_forecast here, there;

    takt__forecast(self->route, &request, &here);
    struct gpu_estimate out = {.has_gpu = here.has_gpu && !here.is_suspect,
                               .is_ready = !here.is_asleep,
                               .best_s = here.best_s,
                               .gpu_s = here.gpu_s};
    if (!out.has_gpu)
        return out;
    if (out.is_ready) {
        request.situation = TAKT_SITUATION_ON_GPU;
        takt__forecast(self->route, &request, &there);
        out.move_s_per_byte = (here.gpu_s - there.gpu_s) / moved;
    } else {
        out.move_s_per_byte = link_s_per_byte(self->route);
    }
    out.has_gpu = out.move_s_per_byte > 0;
    return out;
}

/* What a call gains if its large operands are on a GPU already, and the time to
 * move a byte there; both 0 without a GPU. */
static double gain_of(const struct substitution *self, double *move_s_per_byte)
{
    const struct gpu_estimate estimate = estimate_of(self);

    *move_s_per_byte = estimate.move_s_per_byte;
    if (!estimate.has_gpu || !estimate.is_ready)
        return 0;
    return estimate.best_s -
           (estimate.gpu_s - estimate.move_s_per_byte * bytes_of(self));
}

/* What it takes to copy so much, and to write it again some time. */
static double price_of(double bytes, double move_s_per_byte)
{
    return bytes * (move_s_per_byte + copy_s_per_byte + fault_s / 4096);
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
        cached->price_s = price_of(bytes, move_s_per_byte);
        if (takt__mode_has(
                TAKT_MODE_EAGER)) { /* tests: copy at the second use */
            cached->gain_s = is_ready ? 1 : 0;
            cached->price_s = 1;
        }
    }
}

/* A forecast takes longer than reading the marks, so not every time. */
static bool is_due(const struct takt_cached *cached)
{
    return cached != NULL && !cached->is_valid && cached->uses > 1 &&
           (cached->uses < 8 || cached->uses % 8 == 0 || cached->price_s <= 0);
}

static void fill(const struct takt_route *route, struct takt_cached *cached)
{
    const uint64_t start_ns = takt__now_ns();

    takt__cache_fill(route, cached);
    takt__reuse_copy_ns += takt__now_ns() - start_ns;
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
        if (cached->gain_s <= 0)
            continue;
        cached->missed_s += cached->gain_s * cached->unpaid;
        cached->unpaid = 0;
        if (cached->missed_s >= cached->price_s * cached->penalty)
            fill(self->route, cached);
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
    takt__cached_count_use(cached, operand->at, operand->bytes);
    if (is_wanted)
        fill(self->route, cached);
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
static struct takt_cancel lock_cache(void)
{
    const struct takt_cancel before = takt__cancel_off();

    pthread_mutex_lock(&lock);
    return before;
}

static void unlock_cache(struct takt_cancel before)
{
    pthread_mutex_unlock(&lock);
    takt__cancel_restore(before);
}

static void acquire(struct substitution *self)
{
    const struct takt_cancel before = lock_cache();
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
    const struct takt_cancel before = lock_cache();
    for (unsigned i = 0; i < self->count; i++)
        if (self->operand[i].cached != NULL)
            takt__cached_release(self->route, self->operand[i].cached);
    unlock_cache(before);
}

/* A program that uses a GPU itself may have it write matrices, which is not
 * seen: what was copied is of no use from then on. A user who asks for
 * reuse says that it does not. */
static bool is_foreign(const struct takt_route *route)
{
    static _Atomic bool was_foreign;
    takt_gpu_device gpu = {.size = sizeof gpu};

    if (is_asked_for || atomic_load(&was_foreign))
        return !is_asked_for;
    for (size_t i = 0; route->takt->gpu(route->ctx, i, &gpu) == TAKT_OK; i++)
        if (gpu.is_shared != 0)
            atomic_store(&was_foreign, true);
    return atomic_load(&was_foreign);
}

takt_status takt__run_reusing(const struct takt_route *route,
                              const takt_call *call, takt_decision *decision)
{
    struct substitution self = {.route = route, .call = *call};

    if (route->is_adaptive || takt__mode_has(TAKT_MODE_EAGER))
        find_operands(&self);
    if (self.count == 0 || is_foreign(route))
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

/* ---- before there is a GPU ----------------------------------------------- */

static void note_operands(const struct substitution *self)
{
    takt__cache_next_call();
    for (unsigned i = 0; i < self->count; i++) {
        const struct operand *operand = &self->operand[i];
        struct takt_cached *cached =
            takt__cached_find(self->route, operand->at, operand->bytes);
        if (cached != NULL)
            takt__cached_count_use(cached, operand->at, operand->bytes);
        takt__expectation_read(&expectation, (double)operand->bytes,
                               cached != NULL && cached->uses > 1);
    }
}

/* No call waits here: of several at once, one is noted. */
void takt__reuse_note(const struct takt_route *route, const takt_call *call)
{
    struct substitution self = {.route = route, .call = *call};

    find_operands(&self);
    if (self.count == 0)
        return;
    const struct takt_cancel before = takt__cancel_off();
    if (pthread_mutex_trylock(&lock) == 0) {
        note_operands(&self);
        pthread_mutex_unlock(&lock);
    }
    takt__cancel_restore(before);
}

void takt__reuse_expect(const struct takt_route *route, const takt_call *call,
                        double calls, double seconds)
{
    static bool is_opened;
    struct substitution self = {.route = route, .call = *call};

    find_operands(&self);
    const struct gpu_estimate estimate = estimate_of(&self);
    if (!estimate.has_gpu || estimate.is_ready)
        return;
    const double moving_s = estimate.move_s_per_byte * bytes_of(&self);
    const double price_s =
        opening_s + price_of(bytes_of(&self), estimate.move_s_per_byte);
    const struct takt_cancel before = lock_cache();
    const bool does_pay =
        takt__expectation_add(&expectation, calls, seconds, estimate.gpu_s,
                              moving_s, price_s) &&
        !is_opened;
    is_opened |= does_pay;
    unlock_cache(before);
    if (!does_pay)
        return;
    takt__history_keep_expected(takt__expectation_ratio(&expectation));
    route->takt->open_gpus(route->ctx);
}
