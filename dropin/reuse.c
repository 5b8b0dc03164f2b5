/* SPDX-License-Identifier: MIT */
/*
 * reuse.c - which operands are kept, from when on, and for how long.
 *
 * Whether a copy pays depends on calls to come. It is made when the calls so
 * far would have gained what it costs: then at most twice is paid of what was
 * best in hindsight.
 */
#include "reuse.h"

#include <pthread.h>
#include <stdlib.h>

#include "keep.h"
#include "tally.h"

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
    struct takt_kept *kept;
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
    takt__keep_forget_all();
}

static void begin_all(void)
{
    const char *value = secure_getenv("TAKT_RUN_REUSE");
    const bool is_set = value != NULL && value[0] != '\0';
    const char *problem = is_set ? takt__watch_problem() : NULL;

    if (problem != NULL)
        takt__tally_trouble(problem);
    if (is_set && problem == NULL)
        pthread_atfork(NULL, NULL, in_child);
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

    /* What is mostly gaps would be moved and watched for nothing. */
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
    const double kept = bytes_of(loan), moved = kept + (double)out_bytes(loan);
    struct takt_forecast here, there;

    takt__forecast(loan->route, &request, &here);
    request.situation = TAKT_SITUATION_ON_GPU;
    takt__forecast(loan->route, &request, &there);
    *move_s_per_byte = 0;
    if (!here.has_gpu || here.is_asleep || here.is_suspect ||
        !(here.gpu_s > there.gpu_s))
        return 0;
    *move_s_per_byte = (here.gpu_s - there.gpu_s) / moved;
    return here.best_s - (here.gpu_s - *move_s_per_byte * kept);
}

/* Both are shared out by size. */
static void judge(const struct loan *loan)
{
    double move_s_per_byte;
    const double gain_s = gain_of(loan, &move_s_per_byte);
    const bool is_ready = takt__ready_gpu_bytes(loan->route) > 0;

    for (unsigned i = 0; i < loan->count; i++) {
        struct takt_kept *kept = loan->operand[i].kept;
        const double bytes = (double)loan->operand[i].bytes;
        if (kept == NULL || kept->is_valid)
            continue;
        kept->gain_s =
            gain_s > 0 && is_ready ? gain_s * bytes / bytes_of(loan) : 0;
        kept->price_s = bytes * (move_s_per_byte + copy_s_per_byte);
        if (takt__is_eager()) { /* tests want it from the second use on */
            kept->gain_s = is_ready ? 1 : 0;
            kept->price_s = 1;
        }
    }
}

/* Asking takes longer than a look at the marks: not every time. */
static bool is_to_be_judged(const struct takt_kept *kept)
{
    return kept != NULL && !kept->is_valid && kept->uses > 1 &&
           (kept->uses < 8 || kept->uses % 8 == 0);
}

static void consider(const struct loan *loan)
{
    bool is_asked = false;

    for (unsigned i = 0; i < loan->count; i++)
        is_asked |= is_to_be_judged(loan->operand[i].kept);
    if (is_asked)
        judge(loan);
    for (unsigned i = 0; i < loan->count; i++) {
        struct takt_kept *kept = loan->operand[i].kept;
        if (kept == NULL || kept->is_valid || kept->uses < 2)
            continue;
        kept->missed_s += kept->gain_s;
        if (kept->gain_s > 0 && kept->missed_s >= kept->price_s * kept->caution)
            takt__keep(loan->route, kept);
    }
}

/* ---- calls -----------------------------------------------------------------
 */

/* After this, who is valid is so now. */
static void meet(const struct loan *loan, struct operand *operand)
{
    struct takt_kept *kept =
        takt__kept_find(loan->route, operand->at, operand->bytes);

    operand->kept = kept;
    if (kept == NULL)
        return;
    const bool is_outdated =
        kept->is_valid &&
        !takt__watch_is_unchanged(&kept->watched, operand->at, operand->bytes);
    const bool is_wanted = is_outdated && takt__kept_outdate(loan->route, kept);
    takt__kept_count_use(kept);
    if (is_wanted)
        takt__keep(loan->route, kept);
}

static void borrow(struct loan *loan, struct operand *operand)
{
    const struct takt_library *takt = loan->route->takt;
    struct takt_kept *kept = operand->kept;

    if (kept == NULL || !kept->is_valid) {
        operand->kept = NULL;
        return;
    }
    kept->holders++;
    loan->call.in[operand->number] =
        (const char *)takt->buffer_address(kept->buffer) +
        (operand->at - kept->at);
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
    takt__keep_next_call();
    /* Taking the marks off at once is cheaper than a fault for every page. */
    takt__kept_outdate_all(loan->route, loan->call.out, out_bytes(loan));
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
        if (loan->operand[i].kept != NULL)
            takt__kept_release(loan->route, loan->operand[i].kept);
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
