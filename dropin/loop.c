/* SPDX-License-Identifier: MIT */
/* loop.c - runs a loop whole or split, and counts it. */
#include "loop.h"

#include "base/fpenv.h"
#include "clock.h"
#include "effect.h"
#include "loop_count.h"
#include "mode.h"
#include "router.h"

struct takt_loop takt__loops[TAKT_LOOPS];
struct takt_loop takt__reductions[TAKT_REDUCTIONS];
static const struct takt_baseline *baseline;

void takt__loops_open(const struct takt_baseline *library)
{
    baseline = library;
}

const struct takt_route *takt__loop_route(enum takt_why *why)
{
    return takt__route(baseline, why);
}

/* ---- short loops ----------------------------------------------------------
 *
 * A loop is short if it takes less than 6 microseconds at the highest speed
 * that was seen of it: a split one would gain two at most, and to measure and
 * to choose takes some 0.1.
 */

static const float short_ns = 6000;

ptrdiff_t takt__loop_first_least(void)
{
    enum { usual = 4096 };

    return takt__mode_has(TAKT_MODE_EAGER) ? 2 : usual;
}

static void set_least(struct takt_loop *loop, ptrdiff_t n, uint64_t ns)
{
    enum { least = 1024, most = 1 << 20 };
    const float speed = (float)ns / (float)n;
    const float fastest =
        atomic_load_explicit(&loop->fastest, memory_order_relaxed);

    if (takt__mode_has(TAKT_MODE_EAGER) || ns == 0 ||
        (fastest > 0 && speed >= fastest))
        return;
    const float fit = short_ns / speed;
    atomic_store_explicit(&loop->fastest, speed, memory_order_relaxed);
    atomic_store_explicit(&loop->least,
                          fit < least  ? least
                          : fit < most ? (ptrdiff_t)fit
                                       : most,
                          memory_order_relaxed);
}

/* ---- running ---------------------------------------------------------------
 *
 * NumPy reads the floating-point flags after each loop, and warns: what is
 * computed beside the loop must leave none.
 */

static void run_whole(const struct takt_loop_call *call)
{
    call->run(call->args, &call->n, call->steps, call->data);
}

/* Before there is a context: the time counts towards opening one. */
static void run_early(struct takt_loop *loop, const struct takt_loop_call *call,
                      enum takt_why why)
{
    const uint64_t start_ns = takt__now_ns();

    run_whole(call);
    const uint64_t ns = takt__now_ns() - start_ns;
    const struct takt_fpenv callers = takt__fpenv_save();
    set_least(loop, call->n, ns);
    takt__loop_count(loop, TAKT_LOOP_WHOLE, call->n, ns);
    takt__effect_add(takt__loop_kind(loop, call->n), (double)call->n, start_ns,
                     start_ns + ns);
    if (why == TAKT_WHY_STARTING)
        takt__router_spent(ns);
    takt__fpenv_restore(callers);
}

struct takt_loop_kind *takt__loop_kind(struct takt_loop *loop, ptrdiff_t n)
{
    enum { first = 10 };
    const int class = 63 - __builtin_clzll((unsigned long long)n) - first;

    return &loop->kind[class < 0                   ? 0
                       : class < TAKT_LOOP_CLASSES ? class
                                                   : TAKT_LOOP_CLASSES - 1];
}

/* A thread has to be worth waking: so much work for each. */
static unsigned threads_for(const struct takt_route *route,
                            const struct takt_loop_kind *kind, ptrdiff_t n)
{
    static const double each_ns = 4000;
    const double fit =
        takt__loop_expect(kind, TAKT_LOOP_WHOLE, (size_t)n).ns / each_ns;

    return !(fit > 0) || fit > route->team ? route->team
           : fit > 2                       ? (unsigned)fit
                                           : 2;
}

static void learn(struct takt_loop *loop, struct takt_loop_kind *kind,
                  enum takt_loop_side side, ptrdiff_t n, uint64_t ns)
{
    if (side == TAKT_LOOP_WHOLE)
        set_least(loop, n, ns);
    else
        takt__loop_compare(loop, kind, n, ns);
    takt__loop_learn(kind, side, (size_t)n, ns);
}

static void run_split(const struct takt_loop *loop,
                      const struct takt_loop_call *call,
                      const struct takt_route *route, unsigned threads)
{
    if (loop->reduces.size != 0)
        takt__loop_reduce(route, &loop->reduces, call, threads);
    else
        takt__loop_split(route, &loop->form, call, threads);
}

static void run_chosen(struct takt_loop *loop,
                       const struct takt_loop_call *call,
                       const struct takt_route *route)
{
    struct takt_loop_kind *kind = takt__loop_kind(loop, call->n);
    struct takt_fpenv callers = takt__fpenv_save();
    struct takt_loop_choice choice = takt__loop_choose(kind);

    if (takt__mode_has(TAKT_MODE_EAGER))
        choice.side = TAKT_LOOP_SPLIT;
    else if (takt__effect_is_off())
        choice.side = TAKT_LOOP_WHOLE;
    const unsigned threads =
        choice.side == TAKT_LOOP_SPLIT ? threads_for(route, kind, call->n) : 1;
    takt__fpenv_restore(callers);
    const bool is_timed = choice.is_timed || takt__mode_has(TAKT_MODE_STATS);
    const uint64_t start_ns = is_timed ? takt__now_ns() : 0;
    if (choice.side == TAKT_LOOP_SPLIT) {
        run_split(loop, call, route, threads);
        takt__effect_note();
    } else {
        run_whole(call);
    }
    const uint64_t ns = is_timed ? takt__now_ns() - start_ns : 0;
    callers = takt__fpenv_save();
    if (choice.is_timed)
        learn(loop, kind, choice.side, call->n, ns);
    if (is_timed)
        takt__effect_add(kind, (double)call->n, start_ns, start_ns + ns);
    takt__loop_count(loop, choice.side, call->n, ns);
    takt__fpenv_restore(callers);
}

/* What a call is, if it can be cut: the loop itself, or its reduction. */
static struct takt_loop *divisible_of(struct takt_loop *loop,
                                      const struct takt_loop_call *call)
{
    struct takt_loop *reduction = loop->reduction;

    if (takt__loop_is_divisible(&loop->form, call))
        return loop;
    return reduction != NULL &&
                   call->n >= atomic_load_explicit(&reduction->least,
                                                   memory_order_relaxed) &&
                   takt__loop_is_reduction(&reduction->reduces, call)
               ? reduction
               : NULL;
}

void takt__loop_run(struct takt_loop *loop, char **args,
                    const ptrdiff_t *dimensions, const ptrdiff_t *steps,
                    void *data)
{
    const struct takt_loop_call call = {.run = loop->own,
                                        .args = args,
                                        .steps = steps,
                                        .data = data,
                                        .n = dimensions[0]};
    enum takt_why why;

    loop = divisible_of(loop, &call);
    if (loop == NULL) {
        run_whole(&call);
        return;
    }
    const struct takt_route *route = takt__loop_route(&why);
    if (route == NULL)
        run_early(loop, &call, why);
    else if (route->team >= 2)
        run_chosen(loop, &call, route);
    else {
        run_whole(&call);
        takt__loop_count(loop, TAKT_LOOP_WHOLE, call.n, 0);
    }
}
