/* SPDX-License-Identifier: MIT */
/* switchback.c - when each side runs: slices of time, and when to probe the
 * other side. sides.c compares what both took. */
#include "switchback.h"

#include <stddef.h>

#include "clock.h"
#include "fork.h"
#include "sides.h"
#include "spinning.h"

/* ---- settings --------------------------------------------------------------
 */

enum { ms = 1000000 };

/* Calls have to take this long in all before routing is tried. */
static const double first_after_ns = 400 * ms;

/* How long idle threads spin: those of Takt for 0.1 ms, those of OpenBLAS for
 * so many cycles as a power of two, taken to be cycles of 2 GHz. */
static const uint64_t own_settles_ns = 2 * ms;

static uint64_t library_settles_ns(unsigned spin_power)
{
    return own_settles_ns + (UINT64_C(1) << spin_power) / 2;
}

/* A probe lasts for 30 ms and 8 calls at least; after 120 ms it ends with
 * fewer. The first one has as many as a comparison takes. */
static const uint64_t probe_ns = 30 * ms, longest_probe_ns = 120 * ms;
enum { probe_calls = 8, compared_calls = 2 };

/* A call may be lost: a probe begins when so many have been made. The first
 * one of a program that is not known, whose answer is for all calls that
 * follow, as soon as it is to cost less (options.price_factor), but not before
 * there is something to compare with. */
static const double calls_before_probe = 20, calls_before_first = 5;

/* The first calls on a GPU load its code. */
enum { first_gpu_calls = 2 };

/* How long to stay on a side before the other one is probed again; doubled
 * each time that the answer is the same. */
static const uint64_t first_stay_ns = 500 * ms,
                      known_stay_ns = UINT64_C(8000) * ms,
                      longest_stay_ns = UINT64_C(30000) * ms;

/* What probes may cost: a share of the time since the first call, and half of
 * that again in the first seconds, so that the first probe need not wait long.
 * A single one ends early when it has lost that much. */
static const double lost_share = 0.01, lost_ns = 10 * ms;

/* ---- state ------------------------------------------------------------------
 */

_Atomic unsigned takt__side_now = TAKT_SIDE_BASELINE;
static _Atomic bool wants_off;
static _Atomic uint64_t settled_ns; /* calls from then on are measured */

/* Held by a thread that changes what follows. Others do not wait for it: their
 * calls are not counted. */
static atomic_flag is_busy = ATOMIC_FLAG_INIT;

/* Options wait here until a call ends: a thread that was interrupted inside may
 * hold the flag, so there is no waiting for it. */
static struct takt_switchback_options pending;
static _Atomic bool is_pending;

static struct {
    bool is_open;       /* routing is possible */
    bool is_remembered; /* earlier runs gained by it: it is to begin */
    bool is_probe;      /* this slice is on the side that is not preferred */
    enum takt_side preferred;
    uint64_t first_ns, begin_ns; /* of all slices, and of this one */
    uint64_t settles_ns;         /* after a change to the routed side */
    uint64_t stay_ns;            /* on the preferred side */
    uint64_t gpu_checked_ns;     /* when the GPU was last asked about */
    struct takt_spinning spinning;
    bool is_gpu_ready;
    unsigned skipped, skips;      /* calls at the start of this slice that are
                                   * not measured */
    double routed_ns, gpu_ns;     /* in routed calls; in those on a GPU */
    unsigned calls;               /* measured in this slice */
    double spent_ns;              /* in all calls */
    double longest_ns;            /* of a call lately */
    double recent_ns, control_ns; /* in routed calls lately, and what the
                                   * library took for such calls */
    double pace_ns, pace_work;    /* of all routed calls that were measured */
    double slice_lost_ns; /* in this slice, against the preferred side */
    double lost_ns;       /* in all slices that lost */
    double last_lost_ns;  /* in the last probe */
    struct takt_switchback_options options;
    struct takt_switchback_result result;
} state = {.stay_ns = UINT64_MAX, .spinning.share = -1};

static _Thread_local struct {
    uint64_t end_ns, begin_ns; /* of the last call, and of its slice */
} last;

/* Only the forking thread is left: it does not hold the flag. */
static void in_child(void)
{
    atomic_flag_clear(&is_busy);
}

bool takt__side_wants_off(void)
{
    return atomic_load_explicit(&wants_off, memory_order_relaxed);
}

bool takt__side_is_settling(uint64_t now_ns)
{
    return now_ns < atomic_load_explicit(&settled_ns, memory_order_relaxed);
}

static enum takt_side other(enum takt_side side)
{
    return side == TAKT_SIDE_ROUTED ? TAKT_SIDE_BASELINE : TAKT_SIDE_ROUTED;
}

/* ---- slices ----------------------------------------------------------------
 */

static void begin(enum takt_side side, uint64_t now_ns)
{
    if (state.slice_lost_ns > 0)
        state.lost_ns += state.slice_lost_ns;
    state.is_probe = side != state.preferred;
    state.begin_ns = now_ns;
    state.calls = state.skipped = state.skips = 0;
    state.slice_lost_ns = 0;
    state.recent_ns = state.control_ns = 0;
    state.longest_ns = 0;
    atomic_store(&wants_off, state.is_probe && side == TAKT_SIDE_BASELINE);
    if ((enum takt_side)atomic_load(&takt__side_now) == side)
        return;
    takt__sides_age(side);
    atomic_store(&settled_ns,
                 now_ns + (side == TAKT_SIDE_ROUTED &&
                                   !takt__spinning_is_none(&state.spinning)
                               ? state.settles_ns
                               : own_settles_ns));
    atomic_store(&takt__side_now, (unsigned)side);
}

/* As earlier runs have shown. The next probe checks it. */
static void begin_routed(uint64_t now_ns)
{
    state.result.is_routed = true;
    state.preferred = TAKT_SIDE_ROUTED;
    state.stay_ns = first_stay_ns;
    begin(TAKT_SIDE_ROUTED, now_ns);
}

static void end_probe(uint64_t now_ns)
{
    const bool was_routed = state.result.is_routed;

    state.last_lost_ns = state.slice_lost_ns;
    takt__sides_set_controls();
    takt__sides_compare(&state.result);
    state.result.is_gpu = state.gpu_ns > 0.5 * state.routed_ns;
    /* The library has been tried, if only by one call: from now on routed calls
     * are compared with that, and no longer with the pace of earlier runs. */
    state.options.pace = 0;
    if (state.pace_work > 0)
        state.result.pace = state.pace_ns / state.pace_work;
    if (state.options.keep != NULL)
        state.options.keep(&state.result);
    takt__sides_keep(state.result.is_routed && state.result.probes % 8 != 0);
    state.preferred =
        state.result.is_routed ? TAKT_SIDE_ROUTED : TAKT_SIDE_BASELINE;
    if (state.result.is_routed != was_routed || !state.result.is_clear ||
        state.stay_ns == UINT64_MAX)
        state.stay_ns = first_stay_ns;
    else if (state.stay_ns < longest_stay_ns)
        state.stay_ns *= 2;
    begin(state.preferred, now_ns);
}

/* What probes may have cost until now. */
static double affordable_ns(uint64_t now_ns)
{
    const double share_ns = lost_share * (double)(now_ns - state.first_ns);

    return share_ns + (share_ns / 2 < lost_ns ? share_ns / 2 : lost_ns);
}

/* What a change to the routed side costs: while the library's threads spin,
 * calls take much longer; on a GPU they do not. */
static double change_costs_ns(uint64_t now_ns)
{
    const double elapsed_ns = (double)(now_ns - state.first_ns);
    const double share = state.spent_ns / elapsed_ns;

    if (state.gpu_ns > 0.5 * state.routed_ns)
        return 0;
    return (double)state.settles_ns / 2 * (share < 1 ? share : 1) *
           takt__spinning_share(&state.spinning);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Whether routed calls of this slice are faster, but not by so much that a few
 * of them show it: to go on costs nothing. */
static bool is_gaining_little(void)
{
    static const double much = 0.8;

    return state.recent_ns < state.control_ns &&
           state.recent_ns > much * state.control_ns;
}

static bool is_first_probe(void)
{
    return state.stay_ns == UINT64_MAX;
}

static bool is_probe_over(uint64_t now_ns)
{
    const uint64_t from_ns = atomic_load(&settled_ns);
    const double share_ns = lost_share * (double)(now_ns - state.first_ns);
    const double most_ns =
        larger(larger(share_ns, lost_ns), 2 * change_costs_ns(now_ns));

    if (state.skipped < state.skips)
        return false;
    if (state.slice_lost_ns > most_ns && (state.skips == 0 || state.calls > 0))
        return true;
    return state.calls >= (is_first_probe() ? compared_calls : 1) &&
           now_ns > from_ns + probe_ns &&
           ((state.calls >= probe_calls && !is_gaining_little()) ||
            now_ns > from_ns + longest_probe_ns);
}

/* A short run cannot afford a probe. The price of the first one is multiplied
 * by a random number from 0 to 1, so that some runs make one, and over many
 * runs probes cost their share. */
static bool is_affordable(uint64_t now_ns)
{
    const double risk_ns = (double)probe_ns / 4; /* calls may be slower */
    const double price_ns =
        state.last_lost_ns > 0
            ? state.last_lost_ns
            : (change_costs_ns(now_ns) + risk_ns) * state.options.price_factor;

    return state.lost_ns + price_ns <= affordable_ns(now_ns);
}

static double least_calls(void)
{
    return is_first_probe() && state.options.history == TAKT_HISTORY_NONE
               ? larger(calls_before_first,
                        calls_before_probe * state.options.price_factor)
               : calls_before_probe;
}

/* The first probe waits for calls to add up, the others for time to pass. No
 * probe begins whose cost is not affordable, or in which one call would be too
 * much to lose. */
static bool is_probe_due(uint64_t now_ns)
{
    const double elapsed_ns = (double)(now_ns - state.first_ns);

    if (!state.is_open || elapsed_ns < least_calls() * state.longest_ns)
        return false;
    const bool is_time = is_first_probe()
                             ? state.spent_ns >= first_after_ns
                             : now_ns >= state.begin_ns + state.stay_ns;
    return is_time && is_affordable(now_ns);
}

/* Once a GPU is ready, earlier comparisons no longer hold. */
static bool has_new_gpu(uint64_t now_ns)
{
    static const uint64_t every_ns = 10 * ms;

    if (state.is_gpu_ready || !state.is_open ||
        state.options.is_gpu_ready == NULL ||
        now_ns - state.gpu_checked_ns < every_ns)
        return false;
    state.gpu_checked_ns = now_ns;
    state.is_gpu_ready = state.options.is_gpu_ready(now_ns);
    return state.is_gpu_ready;
}

/* Begins a slice on the routed side if a GPU has become ready. */
static bool begin_on_gpu(uint64_t now_ns)
{
    if (!has_new_gpu(now_ns) || state.preferred == TAKT_SIDE_ROUTED ||
        state.is_probe)
        return false;
    if (state.options.history == TAKT_HISTORY_GPU)
        begin_routed(now_ns);
    else
        begin(TAKT_SIDE_ROUTED, now_ns);
    state.skips = first_gpu_calls;
    return true;
}

/* Routed calls have become clearly slower than the library was. */
static bool is_suspicious(void)
{
    static const double enough_ns = 50 * ms;

    if (state.is_probe || state.recent_ns < enough_ns)
        return false;
    const bool is_slow = state.recent_ns > 1.1 * state.control_ns;
    state.recent_ns = state.control_ns = 0;
    return is_slow;
}

/* Begins on the routed side, where earlier runs gained. It shows soon if this
 * run does not: by the pace of those, or else by a few calls in the library
 * that come first. */
static bool begin_as_before(uint64_t now_ns)
{
    static const double control_ns = 20 * ms;

    if (!state.is_remembered ||
        (state.spent_ns < control_ns && !(state.options.pace > 0)))
        return false;
    state.is_remembered = false;
    begin_routed(now_ns);
    return true;
}

static void advance(uint64_t now_ns)
{
    if (begin_on_gpu(now_ns) || begin_as_before(now_ns))
        return;
    if (state.is_probe) {
        if (is_probe_over(now_ns))
            end_probe(now_ns);
    } else if (is_suspicious() || is_probe_due(now_ns)) {
        takt__sides_set_controls();
        begin(other(state.preferred), now_ns);
    }
}

/* ---- the start -------------------------------------------------------------
 */

/* Takes what was pending, once. */
static void open_if_pending(uint64_t now_ns)
{
    if (state.is_open ||
        !atomic_load_explicit(&is_pending, memory_order_acquire))
        return;
    state.options = pending;
    state.settles_ns = pending.threads == 1
                           ? own_settles_ns
                           : library_settles_ns(pending.spin_power);
    state.spinning.process_ns = pending.cpu_ns;
    state.spinning.threads = pending.threads;
    state.is_open = true;
    state.is_remembered = pending.history == TAKT_HISTORY_ROUTED;
    if (pending.history == TAKT_HISTORY_BASELINE) {
        state.stay_ns = known_stay_ns;
        state.begin_ns = now_ns;
    }
}

/* ---- calls -----------------------------------------------------------------
 */

/* What a call lost against the preferred side. One that took far longer was
 * disturbed by something else, or started threads. */
static double loss_of(const struct takt_switchback_call *call, double ns)
{
    static const double far = 5;
    const struct takt_moments *reference = &call->kind->call[state.preferred];

    const double usual_ns = reference->mean * call->work;

    if (reference->n < 2)
        return 0;
    return (ns < far * usual_ns ? ns : far * usual_ns) - usual_ns;
}

/* A trial is paid for by the budget of exploration, and says nothing about a
 * side. A call that was begun on the other side, or while calls are disturbed,
 * says nothing; but one that takes much longer than the disturbance does. */
static bool is_measured(const struct takt_switchback_call *call, double ns)
{
    return !call->is_trial &&
           (unsigned)call->side == atomic_load(&takt__side_now) &&
           call->start_ns >= state.begin_ns &&
           (!takt__side_is_settling(call->start_ns) ||
            ns > 4 * (double)state.settles_ns);
}

/* What routed calls of a kind should not take: what they take in the library,
 * or, before the first probe, somewhat more than in earlier runs. 0: not known.
 */
static double most_per_work(const struct takt_kind *kind)
{
    static const double somewhat = 1.2;
    const struct takt_moments *baseline = &kind->call[TAKT_SIDE_BASELINE];

    if (baseline->n >= 2)
        return baseline->mean;
    return somewhat * state.options.pace;
}

static void add_routed(const struct takt_switchback_call *call, double ns)
{
    const double most_ns = most_per_work(call->kind) * call->work;

    state.recent_ns += ns < 3 * most_ns ? ns : 3 * most_ns;
    state.control_ns += most_ns;
    state.pace_ns += ns;
    state.pace_work += call->work;
}

/* Opening a GPU takes processor time that calls of the library miss: of those
 * that run meanwhile the fastest is the control, and none counts any more when
 * there are others. */
static void note_opening(struct takt_kind *kind, double value)
{
    if (state.options.history == TAKT_HISTORY_GPU && !state.is_gpu_ready) {
        if (kind->least == 0 || value < kind->least)
            kind->least = value;
    } else if (kind->least > 0) {
        kind->call[TAKT_SIDE_BASELINE] = (struct takt_moments){0};
        kind->least = 0;
    }
}

static void add_measured(const struct takt_switchback_call *call, double ns)
{
    struct takt_kind *kind = call->kind;
    struct takt_moments *moments = &kind->call[call->side];

    if (call->side == TAKT_SIDE_BASELINE)
        note_opening(kind, ns / call->work);
    takt__moments_add(moments, ns / call->work);
    kind->work += call->work * call->weight;
    kind->calls += call->weight;
    state.calls++;
    if (!call->is_off && last.end_ns != 0 && last.begin_ns == state.begin_ns &&
        call->start_ns >= last.end_ns)
        takt__moments_add(&kind->gap[call->side],
                          (double)(call->start_ns - last.end_ns));
    if (call->side == TAKT_SIDE_ROUTED)
        add_routed(call, ns);
    else if (moments->n <= 8)
        takt__kind_set_control(kind);
}

static void add(const struct takt_switchback_call *call)
{
    const double ns = (double)(call->end_ns - call->start_ns);

    if (state.first_ns == 0)
        state.first_ns = state.begin_ns = call->start_ns;
    open_if_pending(call->end_ns);
    if (atomic_load(&takt__side_now) == TAKT_SIDE_BASELINE)
        takt__spinning_measure(&state.spinning, state.begin_ns, call->end_ns);
    state.spent_ns += ns * call->weight;
    if (call->side == TAKT_SIDE_ROUTED)
        state.routed_ns += ns;
    if (call->is_gpu)
        state.gpu_ns += ns;
    if (ns > state.longest_ns)
        state.longest_ns = ns;
    if (state.is_probe || takt__side_is_settling(call->end_ns))
        state.slice_lost_ns += loss_of(call, ns) * call->weight;
    if (is_measured(call, ns)) {
        if (state.skipped < state.skips)
            state.skipped++;
        else
            add_measured(call, ns);
    }
    advance(call->end_ns);
}

void takt__switchback_add(const struct takt_switchback_call *call)
{
    if (atomic_flag_test_and_set_explicit(&is_busy, memory_order_acquire))
        return;
    add(call);
    last.end_ns = call->end_ns;
    last.begin_ns = state.begin_ns;
    atomic_flag_clear_explicit(&is_busy, memory_order_release);
}

void takt__switchback_begin_call(uint64_t now_ns)
{
    if (atomic_flag_test_and_set_explicit(&is_busy, memory_order_acquire))
        return;
    if (state.first_ns == 0)
        state.first_ns = state.begin_ns = now_ns;
    open_if_pending(now_ns);
    if (state.options.history == TAKT_HISTORY_GPU)
        (void)begin_on_gpu(now_ns);
    else
        (void)begin_as_before(now_ns);
    atomic_flag_clear_explicit(&is_busy, memory_order_release);
}

void takt__switchback_skip(void)
{
    last.end_ns = 0;
}

void takt__switchback_open(const struct takt_switchback_options *options)
{
    static atomic_flag is_given = ATOMIC_FLAG_INIT;

    if (atomic_flag_test_and_set(&is_given))
        return;
    takt__at_fork(TAKT_FORK_SWITCHBACK, NULL, NULL, in_child);
    pending = *options;
    atomic_store_explicit(&is_pending, true, memory_order_release);
    if (options->pace > 0)
        takt__switchback_begin_call(takt__now_ns());
}
