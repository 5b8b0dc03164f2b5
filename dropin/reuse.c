/* SPDX-License-Identifier: MIT */
/*
 * reuse.c - which operands are cached, from when on, and for how long.
 *
 * Whether a copy pays depends on calls to come. It is made when the calls so
 * far would have gained what it costs: then at most twice is paid of what was
 * best in hindsight.
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

/* What a call reads: a part of the memory. */
struct operand {
    const char *at;
    size_t bytes;
    unsigned number; /* in takt_call.in */
    struct takt_cached *cached;
};

struct loan {
    const struct takt_route *route;
    takt_call call;
    struct operand operand[most_operands];
    unsigned count;
};

_Atomic int takt__reuse_wish = TAKT_WISH_UNREAD;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The thread that forked is the only one left, and holds nothing. */
static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    takt__cache_forget_all();
}

static void begin_all(void)
{
    const char *value = secure_getenv("TAKT_RUN_REUSE");
    const bool is_set = value != NULL && value[0] != '\0';
    const char *problem = is_set ? takt__tracking_problem() : NULL;

    if (problem != NULL)
        takt__stats_trouble(problem);
    if (is_set && problem == NULL)
        takt__at_fork(TAKT_FORK_REUSE, NULL, NULL, in_child);
    atomic_store(&takt__reuse_wish,
                 is_set && problem == NULL ? TAKT_WISH_YES : TAKT_WISH_NO);
}

bool takt__reuse_read_wish(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, begin_all);
    return atomic_load(&takt__reuse_wish) == TAKT_WISH_YES;
}

/* ---- operands --------------------------------------------------------------
 */

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

static void add_operand(struct loan *loan, unsigned number, size_t rows,
                        size_t columns)
{
    const takt_call *call = &loan->call;
    const size_t bytes = span(call, rows, columns, call->ld[number]);

    /* What is mostly gaps would be moved and tracked for nothing. */
    if (bytes >= least_bytes && columns * 2 >= call->ld[number])
        loan->operand[loan->count++] = (struct operand){
            .at = call->in[number], .bytes = bytes, .number = number};
}

static bool is_product(const struct loan *loan)
{
    return loan->call.op == loan->route->op[TAKT_GEMM];
}

/* The matrices that a call reads and that are large enough. */
static void find_operands(struct loan *loan)
{
    const takt_call *call = &loan->call;
    const size_t *dim = call->shape.dim;

    if (is_product(loan)) {
        const bool ta = (call->flags & TAKT_TRANS_A) != 0;
        const bool tb = (call->flags & TAKT_TRANS_B) != 0;
        add_operand(loan, 0, dim[ta ? 2 : 0], dim[ta ? 0 : 2]);
        add_operand(loan, 1, dim[tb ? 1 : 2], dim[tb ? 2 : 1]);
    } else if (call->op == loan->route->op[TAKT_GEMV]) {
        add_operand(loan, 0, dim[0], dim[1]);
    }
}

/* What it writes. */
static size_t out_bytes(const struct loan *loan)
{
    const takt_call *call = &loan->call;
    const size_t *dim = call->shape.dim;
    const bool is_turned = (call->flags & TAKT_TRANS_A) != 0;

    return is_product(loan) ? span(call, dim[0], dim[1], call->ld[2])
                            : span(call, 1, dim[is_turned ? 1 : 0], 0);
}

/* ---- what it is worth ------------------------------------------------------
 */

static double bytes_of(const struct loan *loan)
{
    double bytes = 0;

    for (unsigned i = 0; i < loan->count; i++)
        bytes += (double)loan->operand[i].bytes;
    return bytes;
}

/* What a call gains if its large operands are on a GPU already, and what it
 * takes to move one byte; both 0 if there is none. */
static double gain_of(const struct loan *loan, double *move_s_per_byte)
{
    const takt_call *call = &loan->call;
    takt_request request = {.op = call->op,
                            .dtype = call->dtype,
                            .shape = call->shape,
                            .flags = call->flags};
    const double cached = bytes_of(loan),
                 moved = cached + (double)out_bytes(loan);
    struct takt_forecast here, there;

    takt__forecast(loan->route, &request, &here);
    request.situation = TAKT_SITUATION_ON_GPU;
    takt__forecast(loan->route, &request, &there);
    *move_s_per_byte = 0;
    if (!here.has_gpu || here.is_asleep || here.is_suspect ||
        !(here.gpu_s > there.gpu_s))
        return 0;
    *move_s_per_byte = (here.gpu_s - there.gpu_s) / moved;
    return here.best_s - (here.gpu_s - *move_s_per_byte * cached);
}

/* Both are shared out by size. */
static void judge(const struct loan *loan)
{
    double move_s_per_byte;
    const double gain_s = gain_of(loan, &move_s_per_byte);
    const bool is_ready = takt__ready_gpu_bytes(loan->route) > 0;

    for (unsigned i = 0; i < loan->count; i++) {
        struct takt_cached *cached = loan->operand[i].cached;
        const double bytes = (double)loan->operand[i].bytes;
        if (cached == NULL || cached->is_valid)
            continue;
        cached->gain_s =
            gain_s > 0 && is_ready ? gain_s * bytes / bytes_of(loan) : 0;
        cached->price_s = bytes * (move_s_per_byte + copy_s_per_byte);
        if (takt__is_eager()) { /* tests want it from the second use on */
            cached->gain_s = is_ready ? 1 : 0;
            cached->price_s = 1;
        }
    }
}

/* Asking takes longer than a look at the marks: not every time. */
static bool is_to_be_judged(const struct takt_cached *cached)
{
    return cached != NULL && !cached->is_valid && cached->uses > 1 &&
           (cached->uses < 8 || cached->uses % 8 == 0);
}

static void consider(const struct loan *loan)
{
    bool is_asked = false;

    for (unsigned i = 0; i < loan->count; i++)
        is_asked |= is_to_be_judged(loan->operand[i].cached);
    if (is_asked)
        judge(loan);
    for (unsigned i = 0; i < loan->count; i++) {
        struct takt_cached *cached = loan->operand[i].cached;
        if (cached == NULL || cached->is_valid || cached->uses < 2)
            continue;
        cached->missed_s += cached->gain_s;
        if (cached->gain_s > 0 &&
            cached->missed_s >= cached->price_s * cached->caution)
            takt__cache_fill(loan->route, cached);
    }
}

/* ---- calls -----------------------------------------------------------------
 */

/* After this, who is valid is so now. */
static void meet(const struct loan *loan, struct operand *operand)
{
    struct takt_cached *cached =
        takt__cached_find(loan->route, operand->at, operand->bytes);

    operand->cached = cached;
    if (cached == NULL)
        return;
    const bool is_outdated =
        cached->is_valid && !takt__tracking_is_unchanged(
                                &cached->tracked, operand->at, operand->bytes);
    const bool is_wanted =
        is_outdated && takt__cached_outdate(loan->route, cached);
    takt__cached_count_use(cached);
    if (is_wanted)
        takt__cache_fill(loan->route, cached);
}

static void borrow(struct loan *loan, struct operand *operand)
{
    const struct takt_libtakt *takt = loan->route->takt;
    struct takt_cached *cached = operand->cached;

    if (cached == NULL || !cached->is_valid) {
        operand->cached = NULL;
        return;
    }
    cached->holders++;
    loan->call.in[operand->number] =
        (const char *)takt->buffer_address(cached->buffer) +
        (operand->at - cached->at);
}

/* A thread that is cancelled would keep the lock. */
static int lock_up(void)
{
    int before;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    pthread_mutex_lock(&lock);
    return before;
}

static void unlock(int before)
{
    pthread_mutex_unlock(&lock);
    pthread_setcancelstate(before, NULL);
}

static void lend(struct loan *loan)
{
    const int before = lock_up();
    takt__cache_next_call();
    /* Taking the marks off at once is cheaper than a fault for every page. */
    takt__cached_outdate_all(loan->route, loan->call.out, out_bytes(loan));
    for (unsigned i = 0; i < loan->count; i++)
        meet(loan, &loan->operand[i]);
    consider(loan);
    for (unsigned i = 0; i < loan->count; i++)
        borrow(loan, &loan->operand[i]);
    unlock(before);
}

static void give_back(const struct loan *loan)
{
    const int before = lock_up();
    for (unsigned i = 0; i < loan->count; i++)
        if (loan->operand[i].cached != NULL)
            takt__cached_release(loan->route, loan->operand[i].cached);
    unlock(before);
}

takt_status takt__run_reusing(const struct takt_route *route,
                              const takt_call *call, takt_decision *decision)
{
    struct loan loan = {.route = route, .call = *call};

    if (route->is_adaptive || takt__is_eager())
        find_operands(&loan);
    if (loan.count == 0)
        return route->takt->run(route->ctx, call, decision);
    lend(&loan);
    const takt_status status =
        route->takt->run(route->ctx, &loan.call, decision);
    give_back(&loan);
    /* Whatever it does not like about the buffers, it has touched nothing. */
    return status == TAKT_OK ? status
                             : route->takt->run(route->ctx, call, decision);
}
