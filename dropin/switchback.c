/* SPDX-License-Identifier: MIT */
/* switchback.c - slices, and which side is faster. */
#include "switchback.h"

#include <sched.h>
#include <stddef.h>
#include <stdlib.h>

#include "clock.h"
#include "fork.h"

/* ---- settings --------------------------------------------------------------
 */

enum { ms = 1000000 };

/* Calls have to take this long in all before routing is tried: a probe costs
 * some 20 ms if routing is no better. */
static const double first_after_ns = 400 * ms;

/* How long idle threads spin: those of Takt for 0.1 ms, those of OpenBLAS for
 * so many cycles as a power of two, with which the cycles of 2 GHz are meant
 * here. `takt run` sets it, unless the user did. */
static const uint64_t own_settles_ns = 2 * ms;
enum { spin_default = 28 };

static uint64_t library_settles_ns(void)
{
    const char *text = secure_getenv("OPENBLAS_THREAD_TIMEOUT");
    const int given = text != NULL ? atoi(text) : spin_default;
    const int power = given >= 4 && given <= 30 ? given : spin_default;

    return own_settles_ns + (UINT64_C(1) << power) / 2;
}

/* A probe: so long, and so many calls or so much longer. */
static const uint64_t probe_ns = 30 * ms, longest_probe_ns = 120 * ms;
enum { probe_calls = 8 };

/* The first calls on a GPU load its code. */
enum { first_gpu_calls = 2 };

/* How long to stay on a side before the other one is probed again; doubled
 * each time that the answer is the same. */
static const uint64_t first_stay_ns = 500 * ms,
                      known_stay_ns = UINT64_C(8000) * ms,
                      longest_stay_ns = UINT64_C(30000) * ms;

/* What probes may cost: a share of the time since the first call. A single one
 * ends early when it has lost that much. */
static const double lost_share = 0.01, lost_ns = 10 * ms;

/* How much slices of the same work differ on a machine that is not alone, as a
 * share of their time; and the least gain that is worth a change. */
static const double between_slices = 0.025, least_gain = 0.01;

/* ---- state ------------------------------------------------------------------
 */

_Atomic unsigned takt__side_now = TAKT_SIDE_BASELINE;
static _Atomic uint64_t settled_ns; /* calls from then on are measured */

/* Held by a thread that changes what follows. Others do not wait for it: their
 * calls are not counted. */
static atomic_flag is_busy = ATOMIC_FLAG_INIT;

static struct {
    bool is_open;  /* routing is possible */
    bool is_probe; /* this slice is on the side that is not preferred */
    enum takt_side preferred;
    uint64_t first_ns, begin_ns; /* of all slices, and of this one */
    uint64_t settles_ns;         /* after a change to the routed side */
    uint64_t stay_ns;            /* on the preferred side */
    uint64_t looked_ns;          /* when the GPU was last asked about */
    bool is_gpu_ready;
    uint64_t gpu_ready_ns;        /* when that was seen */
    unsigned skipped, skips;      /* calls at the start of this slice that are
                                   * not measured */
    double routed_ns, gpu_ns;     /* in routed calls; in those on a GPU */
    unsigned calls;               /* measured in this slice */
    double spent_ns;              /* in all calls */
    double longest_ns;            /* of a call lately */
    double recent_ns, control_ns; /* in routed calls lately, and what the
                                   * library took for such calls */
    double slice_lost_ns; /* in this slice, against the preferred side */
    double lost_ns, last_lost_ns; /* in all probes, and in the last one */
    struct takt_switchback_options options;
    struct takt_switchback_result result;
} state = {.stay_ns = UINT64_MAX};

static _Thread_local struct {
    uint64_t end_ns, begin_ns; /* of the last call, and of its slice */
} last;

/* Only the forking thread is left: it does not hold the flag. */
static void in_child(void)
{
    atomic_flag_clear(&is_busy);
}

bool takt__side_is_settling(uint64_t now_ns)
{
    return now_ns < atomic_load_explicit(&settled_ns, memory_order_relaxed);
}

static enum takt_side other(enum takt_side side)
{
    return side == TAKT_SIDE_ROUTED ? TAKT_SIDE_BASELINE : TAKT_SIDE_ROUTED;
}

/* ---- the comparison --------------------------------------------------------
 */

/* The square root, without libm. */
static double root(double square)
{
    double x = square > 1 ? square : 1;

    for (int i = 0; i < 64 && x * x > square * 1.0001; i++)
        x = (x + square / x) / 2;
    return square > 0 ? x : 0;
}

/* Sums over kinds, each weighed by what was called of it lately: what routing
 * changes in the calls and between them, and the variance of both. */
struct side_sums {
    double baseline_ns;
    double call_ns, call_v, gap_ns, gap_v;
};

/* Enough calls on both sides to compare. */
static bool has_both(const struct takt_moments of[TAKT_SIDES])
{
    enum { least_baseline = 3, least_routed = 2 };

    return of[TAKT_SIDE_BASELINE].n >= least_baseline &&
           of[TAKT_SIDE_ROUTED].n >= least_routed;
}

static double change_of(const struct takt_moments of[TAKT_SIDES])
{
    return of[TAKT_SIDE_ROUTED].mean - of[TAKT_SIDE_BASELINE].mean;
}

/* Of the mean. A few calls that happen to be alike are no certainty: single
 * calls vary by a fifth at least. */
static double error2_of(const struct takt_moments *moments)
{
    const double least = moments->mean / 5;
    const double seen = takt__moments_error2(moments);
    const double floor = least * least / moments->n;

    return seen > floor ? seen : floor;
}

static double variance_of(const struct takt_moments of[TAKT_SIDES])
{
    return error2_of(&of[TAKT_SIDE_ROUTED]) +
           error2_of(&of[TAKT_SIDE_BASELINE]);
}

static void compare_kind(void *self, struct takt_kind *kind)
{
    struct side_sums *sums = self;
    const double work = kind->work, calls = kind->calls;

    kind->work /= 2;
    kind->calls /= 2;
    if (!has_both(kind->call))
        return;
    sums->baseline_ns += work * kind->call[TAKT_SIDE_BASELINE].mean;
    if (kind->is_kept)
        return;
    sums->call_ns += work * change_of(kind->call);
    sums->call_v += work * work * variance_of(kind->call);
    if (!has_both(kind->gap))
        return;
    sums->gap_ns += calls * change_of(kind->gap);
    sums->gap_v += calls * calls * variance_of(kind->gap);
}

/* Gaps hold whatever the program does: they count if they clearly differ. */
static void compare(struct takt_switchback_result *result)
{
    struct side_sums sums = {0};

    takt__kinds_each(compare_kind, &sums);
    if (sums.baseline_ns <= 0)
        return;
    result->probes++;
    const double slices = between_slices / root(result->probes);
    double change_ns = sums.call_ns, variance = sums.call_v;
    if (sums.gap_ns * sums.gap_ns > 6 * sums.gap_v) {
        change_ns += sums.gap_ns;
        variance += sums.gap_v;
    }
    result->ratio = 1 + change_ns / sums.baseline_ns;
    result->error =
        root(variance / sums.baseline_ns / sums.baseline_ns + slices * slices);
}

/* Routing has to be better with confidence; once it is preferred, it has to be
 * better. */
static bool is_routing_better(const struct takt_switchback_result *result)
{
    const double doubt = result->is_routed ? 0.5 : 2;

    return result->probes > 0 && result->ratio + doubt * result->error < 1 &&
           result->ratio < 1 - least_gain;
}

static bool is_clear(const struct takt_switchback_result *result)
{
    return result->probes > 0 && (result->ratio - 2 * result->error > 1 ||
                                  result->ratio + 2 * result->error < 1);
}

/* A kind that is clearly slower routed stays in the baseline library. */
static void keep_kind(void *self, struct takt_kind *kind)
{
    const double baseline = kind->call[TAKT_SIDE_BASELINE].mean;
    const double change = change_of(kind->call);
    const double doubt = between_slices * baseline;

    (void)self;
    if (has_both(kind->call))
        kind->is_kept =
            change > baseline / 10 &&
            change * change > 9 * (variance_of(kind->call) + doubt * doubt);
}

static void release_kind(void *self, struct takt_kind *kind)
{
    (void)self;
    kind->is_kept = false;
}

static void set_control(void *self, struct takt_kind *kind)
{
    const struct takt_moments *baseline = &kind->call[TAKT_SIDE_BASELINE];

    (void)self;
    if (baseline->n < 2)
        return;
    atomic_store_explicit(&kind->control, (float)baseline->mean,
                          memory_order_relaxed);
    atomic_store_explicit(&kind->control_error,
                          (float)root(error2_of(baseline)),
                          memory_order_relaxed);
}

/* ---- slices ----------------------------------------------------------------
 */

static void age_kind(void *self, struct takt_kind *kind)
{
    const enum takt_side side = *(enum takt_side *)self;

    takt__moments_age(&kind->call[side]);
    takt__moments_age(&kind->gap[side]);
}

static void begin(enum takt_side side, uint64_t now_ns)
{
    state.is_probe = side != state.preferred;
    state.begin_ns = now_ns;
    state.calls = state.skipped = state.skips = 0;
    state.slice_lost_ns = 0;
    state.recent_ns = state.control_ns = 0;
    state.longest_ns = 0;
    if ((enum takt_side)atomic_load(&takt__side_now) == side)
        return;
    takt__kinds_each(age_kind, &side);
    atomic_store(&settled_ns,
                 now_ns + (side == TAKT_SIDE_ROUTED ? state.settles_ns
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

    state.lost_ns += state.slice_lost_ns;
    state.last_lost_ns = state.slice_lost_ns;
    takt__kinds_each(set_control, NULL);
    compare(&state.result);
    state.result.is_routed = is_routing_better(&state.result);
    state.result.is_clear = is_clear(&state.result);
    state.result.is_gpu = state.gpu_ns > 0.5 * state.routed_ns;
    if (state.options.keep != NULL)
        state.options.keep(&state.result);
    takt__kinds_each(state.result.is_routed && state.result.probes % 8 != 0
                         ? keep_kind
                         : release_kind,
                     NULL);
    state.preferred =
        state.result.is_routed ? TAKT_SIDE_ROUTED : TAKT_SIDE_BASELINE;
    if (state.result.is_routed != was_routed || !state.result.is_clear)
        state.stay_ns = first_stay_ns;
    else if (state.stay_ns < longest_stay_ns)
        state.stay_ns *= 2;
    begin(state.preferred, now_ns);
}

static bool is_probe_over(uint64_t now_ns)
{
    const uint64_t from_ns = atomic_load(&settled_ns);
    const double elapsed_ns = (double)(now_ns - state.first_ns);
    const double most_ns =
        lost_share * elapsed_ns > lost_ns ? lost_share * elapsed_ns : lost_ns;

    if (state.skipped < state.skips)
        return false;
    if (state.slice_lost_ns > most_ns && (state.skips == 0 || state.calls > 0))
        return true;
    return state.calls > 0 && now_ns > from_ns + probe_ns &&
           (state.calls >= probe_calls || now_ns > from_ns + longest_probe_ns);
}

/* The first probe waits for calls to add up, the others for time to pass. No
 * probe begins whose cost is not affordable, or in which one call would be too
 * much to lose. */
static bool is_probe_due(uint64_t now_ns)
{
    const double elapsed_ns = (double)(now_ns - state.first_ns);

    if (!state.is_open)
        return false;
    if (elapsed_ns < 20 * state.longest_ns)
        return false;
    if (state.stay_ns == UINT64_MAX)
        return state.spent_ns >= first_after_ns;
    return now_ns >= state.begin_ns + state.stay_ns &&
           state.lost_ns + state.last_lost_ns <=
               lost_share * elapsed_ns + lost_ns;
}

/* A GPU that has become ready makes another comparison of it, when the model
 * has published that. */
static bool has_new_gpu(uint64_t now_ns)
{
    static const uint64_t every_ns = 10 * ms, published_ns = 50 * ms;

    if (state.is_gpu_ready || !state.is_open ||
        state.options.is_gpu_ready == NULL ||
        now_ns - state.looked_ns < every_ns)
        return false;
    state.looked_ns = now_ns;
    if (!state.options.is_gpu_ready())
        return false;
    if (state.gpu_ready_ns == 0)
        state.gpu_ready_ns = now_ns;
    state.is_gpu_ready = now_ns - state.gpu_ready_ns >= published_ns;
    return state.is_gpu_ready;
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

static void advance(uint64_t now_ns)
{
    if (has_new_gpu(now_ns) && state.preferred == TAKT_SIDE_BASELINE &&
        !state.is_probe) {
        if (state.options.memory == TAKT_MEMORY_GPU)
            begin_routed(now_ns);
        else
            begin(TAKT_SIDE_ROUTED, now_ns);
        state.skips = first_gpu_calls;
        return;
    }
    if (state.is_probe) {
        if (is_probe_over(now_ns))
            end_probe(now_ns);
    } else if (is_suspicious() || is_probe_due(now_ns)) {
        takt__kinds_each(set_control, NULL);
        begin(other(state.preferred), now_ns);
    }
}

/* ---- calls -----------------------------------------------------------------
 */

/* What a call lost against the preferred side. */
static double loss_of(const struct takt_switchback_call *call, double ns)
{
    const struct takt_moments *reference = &call->kind->call[state.preferred];

    return reference->n < 2 ? 0 : ns - reference->mean * call->work;
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

static void add_measured(const struct takt_switchback_call *call, double ns)
{
    struct takt_kind *kind = call->kind;
    struct takt_moments *moments = &kind->call[call->side];

    takt__moments_add(moments, ns / call->work);
    kind->work += call->work * call->weight;
    kind->calls += call->weight;
    state.calls++;
    if (last.end_ns != 0 && last.begin_ns == state.begin_ns &&
        call->start_ns >= last.end_ns)
        takt__moments_add(&kind->gap[call->side],
                          (double)(call->start_ns - last.end_ns));
    if (call->side == TAKT_SIDE_ROUTED &&
        kind->call[TAKT_SIDE_BASELINE].n >= 2) {
        const double control_ns =
            kind->call[TAKT_SIDE_BASELINE].mean * call->work;
        state.recent_ns += ns < 3 * control_ns ? ns : 3 * control_ns;
        state.control_ns += control_ns;
    }
    if (call->side == TAKT_SIDE_BASELINE && moments->n <= 8)
        set_control(NULL, kind);
}

static void add(const struct takt_switchback_call *call)
{
    const double ns = (double)(call->end_ns - call->start_ns);

    if (state.first_ns == 0)
        state.first_ns = state.begin_ns = call->start_ns;
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

void takt__switchback_skip(void)
{
    last.end_ns = 0;
}

/* ---- the start -------------------------------------------------------------
 */

/* Begins as the last run of the program ended. */
static void begin_as_before(enum takt_memory memory, uint64_t now_ns)
{
    if (memory == TAKT_MEMORY_BASELINE) {
        state.stay_ns = known_stay_ns;
        state.begin_ns = now_ns;
    }
    if (memory == TAKT_MEMORY_ROUTED)
        begin_routed(now_ns);
}

void takt__switchback_open(const struct takt_switchback_options *options)
{
    takt__at_fork(TAKT_FORK_SWITCHBACK, NULL, NULL, in_child);
    while (atomic_flag_test_and_set_explicit(&is_busy, memory_order_acquire))
        sched_yield();
    if (!state.is_open) {
        state.options = *options;
        state.settles_ns =
            options->threads == 1 ? own_settles_ns : library_settles_ns();
        state.is_open = true;
        begin_as_before(options->memory, takt__now_ns());
    }
    atomic_flag_clear_explicit(&is_busy, memory_order_release);
}
