/* SPDX-License-Identifier: MIT */
/* effect.c - steps of the program with Takt on and off, and when it is off. */
#include "effect.h"

#include <stddef.h>

#include "effect_sum.h"
#include "fork.h"
#include "stats_write.h"
#include "switchback.h"
#include "usage.h"

enum { ms = 1000000 };

/* What follows a change is not measured: threads fall asleep or wake up. */
static const uint64_t settles_ns = 2 * ms;

/* An off slice lasts that long, and longer for so many steps of kinds of which
 * there are enough to compare. The first one, which short programs have too,
 * is shorter: what it costs is a larger share of these. */
static const uint64_t slice_ns = 20 * ms, longest_slice_ns = 60 * ms;
enum { first_is_shorter = 4 };

/* A probe ends with a call. A program that makes none any more is not left off.
 */
static const uint64_t longest_probe_ns = 400 * ms;
enum { least_steps = 8 };

/* When an off slice may begin, and how long after it the next one, which is
 * doubled each time. */
static const uint64_t first_after_ns = 100 * ms, first_wait_ns = 400 * ms,
                      longest_wait_ns = UINT64_C(8000) * ms;

/* Longer gaps are something else that the program does, such as reading, if
 * they are no page faults. */
static const double longest_gap_ns = 50 * ms;
enum { far_gap = 8 };

/* How often the sums go to the statistics. */
static const uint64_t publish_every_ns = 10 * ms;

_Atomic bool takt__is_off, takt__is_active;
static _Atomic bool may_be_off;

/* ---- state ------------------------------------------------------------------
 *
 * Held by the thread that adds a step; others do not wait for it.
 */

static atomic_flag is_busy = ATOMIC_FLAG_INIT;

enum { kinds = 256, most_tries = 8 };

/* What the statistics hold of this process. */
struct effect_published {
    uint64_t gain_ns, baseline_ns, covered_ns, variance_us2;
};

/* Time without off slices is cut as if there were some: what its steps took
 * against what such steps take. */
struct effect_window {
    uint64_t begin_ns;
    double took_ns, expected_ns;
};

static struct {
    struct takt_kind_steps kind[kinds];
    struct effect_window window;
    struct takt_moments noise; /* took / expected of such slices */
    uint64_t begin_ns;         /* of this slice, or of what follows one */
    uint64_t due_ns, wait_ns;  /* the next off slice, and the time to it */
    uint64_t published_ns;
    unsigned steps; /* in this slice, of kinds that can be compared */
    double slices;  /* short ones are parts of one */
    bool is_own;    /* this off slice was begun here */
    bool is_probe;  /* at the last step */
    struct effect_published published;
} state;

static _Thread_local struct {
    uint64_t end_ns, begin_ns; /* of the last step, and of its slice */
    struct takt_usage usage;   /* at the last delay */
} last;

static void in_child(void)
{
    atomic_flag_clear(&is_busy);
    atomic_store(&takt__is_off, false);
}

void takt__effect_open(void)
{
    takt__at_fork(TAKT_FORK_EFFECT, NULL, NULL, in_child);
    atomic_store(&may_be_off, true);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* ---- publishing ------------------------------------------------------------
 */

/* Adds what changed since the last time. A gain may fall: unsigned numbers
 * wrap, and so does their sum. */
static void publish(_Atomic uint64_t *at, uint64_t *published, double now)
{
    static const double most = 9e18;
    const double bounded = now > most ? most : now < -most ? -most : now;
    const uint64_t value = (uint64_t)(int64_t)bounded;

    takt__stats_add(at, value - *published);
    *published = value;
}

static void publish_all(uint64_t now_ns)
{
    static const double least_slices = 1. / first_is_shorter;
    struct takt_stats_effect *at = takt__stats_effect();

    state.published_ns = now_ns;
    if (at == NULL)
        return;
    const struct takt_effect sum = takt__effect_sum(
        state.kind, kinds, larger(state.slices, least_slices), &state.noise);
    publish(&at->gain_ns, &state.published.gain_ns, sum.gain_ns);
    publish(&at->baseline_ns, &state.published.baseline_ns, sum.baseline_ns);
    publish(&at->covered_ns, &state.published.covered_ns, sum.covered_ns);
    publish(&at->variance_us2, &state.published.variance_us2,
            sum.variance / 1e6);
}

/* ---- off slices ------------------------------------------------------------
 */

static void begin(bool is_off, bool is_own, uint64_t now_ns)
{
    state.begin_ns = now_ns;
    state.steps = 0;
    state.is_own = is_own;
    state.window = (struct effect_window){.begin_ns = now_ns};
    atomic_store(&takt__is_off, is_off);
}

/* The next off slice is compared with what is before and after it: programs
 * become faster and slower by themselves. But that has to be longer than the
 * slices, or the noise of so short a time would be in the difference. */
static void age(struct takt_moments of[TAKT_SIDES])
{
    static const double least = 64, times = 8;

    takt__moments_limit(&of[TAKT_SIDE_ROUTED],
                        larger(least, times * of[TAKT_SIDE_BASELINE].n));
}

static double share_of_slice(uint64_t ns)
{
    return ns < settles_ns + slice_ns
               ? (double)ns / (double)(settles_ns + slice_ns)
               : 1;
}

static void end_off(uint64_t now_ns)
{
    struct takt_stats_effect *at = takt__stats_effect();

    if (at != NULL)
        takt__stats_add(&at->slices, 1);
    state.slices += share_of_slice(now_ns - state.begin_ns);
    begin(false, false, now_ns);
    state.due_ns = now_ns + state.wait_ns;
    if (state.wait_ns < longest_wait_ns)
        state.wait_ns *= 2;
    publish_all(now_ns);
    for (unsigned i = 0; i < kinds; i++) {
        age(state.kind[i].call);
        age(state.kind[i].gap);
    }
}

/* One that was begun here ends as soon as calls are routed. */
static bool is_slice_over(uint64_t now_ns)
{
    const uint64_t ns = now_ns - state.begin_ns;
    const unsigned shorter = state.slices > 0 ? 1 : first_is_shorter;

    if (!state.is_own)
        return !takt__side_wants_off() || ns > longest_probe_ns;
    return !takt__side_is_baseline() ||
           (ns > settles_ns + slice_ns / shorter &&
            (state.steps >= least_steps || ns > longest_slice_ns / shorter));
}

/* While calls are routed, a change of sides has its price: switchback.c knows
 * it. */
static bool is_slice_due(uint64_t now_ns)
{
    return now_ns >= state.due_ns && atomic_load(&may_be_off) &&
           takt__stats_effect() != NULL &&
           atomic_load_explicit(&takt__is_active, memory_order_relaxed) &&
           takt__side_is_baseline();
}

/* One slice for each probe. */
static bool is_probe_new(void)
{
    const bool was_probe = state.is_probe;

    state.is_probe = takt__side_wants_off();
    return state.is_probe && !was_probe;
}

static void advance(uint64_t now_ns)
{
    const bool is_new = is_probe_new();

    if (takt__effect_is_off()) {
        if (is_slice_over(now_ns))
            end_off(now_ns);
    } else if (is_new) {
        begin(true, false, now_ns);
    } else if (is_slice_due(now_ns)) {
        begin(true, true, now_ns);
    } else if (now_ns - state.published_ns > publish_every_ns) {
        publish_all(now_ns);
    }
}

/* ---- steps -----------------------------------------------------------------
 */

/* NULL: there are too many. */
static struct takt_kind_steps *steps_of(const void *kind)
{
    unsigned at = (unsigned)((uintptr_t)kind * UINT64_C(0x9e3779b97f4a7c15) >>
                             56); /* 8 bits: `kinds` */

    for (unsigned i = 0; i < most_tries; i++, at = (at + 1) % kinds) {
        struct takt_kind_steps *found = &state.kind[at];
        if (found->kind == NULL)
            found->kind = kind;
        if (found->kind == kind)
            return found;
    }
    return NULL;
}

/* Why a step took far longer than usual: another process had the processor, or
 * memory was fetched that had been given back. Either may have been in any of
 * the steps since the last such one. */
struct delay {
    bool is_held_up;
    double most_fault_ns;
};

static struct delay find_delay(void)
{
    static const double fault_ns = 3000; /* twice what is usual */
    const struct takt_usage now = takt__usage();
    const struct delay delay = {
        .is_held_up = now.switches != last.usage.switches,
        .most_fault_ns = (double)(now.faults - last.usage.faults) * fault_ns};

    last.usage = now;
    return delay;
}

static bool is_far(const struct takt_moments *moments, double value)
{
    enum { far = 3 };

    return value > far * moments->mean;
}

/* What is the program's own doing counts whole: few steps have to fetch memory,
 * for all others. */
static void add_value(struct takt_moments *moments, double value,
                      const struct delay *delay)
{
    if (delay->is_held_up)
        takt__moments_add(moments, value);
    else
        takt__moments_add_whole(moments, value);
}

/* Adds to a window what a call or a gap took, if it is known what it takes. */
static void expect(const struct takt_moments *moments, double amount, double ns)
{
    if (moments->n < 4)
        return;
    state.window.took_ns += ns;
    state.window.expected_ns += moments->mean * amount;
}

static void end_window(uint64_t now_ns)
{
    struct effect_window *window = &state.window;

    if (now_ns < window->begin_ns + slice_ns)
        return;
    if (window->expected_ns > 0)
        takt__moments_add(&state.noise, window->took_ns / window->expected_ns);
    *window = (struct effect_window){.begin_ns = now_ns};
}

/* Negative: not known. */
static double gap_before(uint64_t start_ns)
{
    return last.end_ns == 0 || last.begin_ns != state.begin_ns ||
                   start_ns < last.end_ns
               ? -1
               : (double)(start_ns - last.end_ns);
}

static bool is_typical_gap(const struct takt_kind_steps *steps, double ns,
                           const struct delay *delay)
{
    const struct takt_moments *off = &steps->gap[TAKT_SIDE_BASELINE];
    const struct takt_moments *on = &steps->gap[TAKT_SIDE_ROUTED];
    const bool is_known = off->n + on->n >= 4;

    return ns < longest_gap_ns && (!is_known || ns < delay->most_fault_ns ||
                                   ns < far_gap * larger(off->mean, on->mean));
}

static void add_gap(struct takt_kind_steps *steps, enum takt_side side,
                    double ns, const struct delay *delay)
{
    if (ns < 0 || !is_typical_gap(steps, ns, delay))
        return;
    expect(&steps->gap[side], 1, ns);
    add_value(&steps->gap[side], ns, delay);
    steps->gaps[side]++;
}

static void add_step(struct takt_kind_steps *steps, enum takt_side side,
                     double work, double ns, double gap_ns)
{
    struct takt_moments *call = &steps->call[side];
    struct delay delay = {0};

    if (is_far(call, ns / work) || is_far(&steps->gap[side], gap_ns))
        delay = find_delay();
    expect(call, work, ns);
    add_value(call, ns / work, &delay);
    if (takt__sides_are_measured(steps->call))
        state.steps++;
    steps->work[side] += work;
    add_gap(steps, side, gap_ns, &delay);
}

/* A call that was begun in another slice, or while threads of the slice before
 * are awake, belongs to none; nor does the first one of a kind, whose memory is
 * touched for the first time. */
static void add(struct takt_kind_steps *steps, double work, uint64_t start_ns,
                uint64_t end_ns)
{
    const bool is_off = takt__effect_is_off();

    if (start_ns < state.begin_ns + (is_off ? settles_ns : 0))
        return;
    if (!steps->is_begun) {
        steps->is_begun = true;
        return;
    }
    add_step(steps, is_off ? TAKT_SIDE_BASELINE : TAKT_SIDE_ROUTED, work,
             (double)(end_ns - start_ns), gap_before(start_ns));
    if (!is_off)
        end_window(end_ns);
}

static void start(uint64_t now_ns)
{
    state.begin_ns = now_ns;
    state.wait_ns = first_wait_ns;
    state.due_ns = now_ns + first_after_ns;
}

void takt__effect_add(const void *kind, double work, uint64_t start_ns,
                      uint64_t end_ns)
{
    if (atomic_flag_test_and_set_explicit(&is_busy, memory_order_acquire))
        return;
    struct takt_kind_steps *steps = steps_of(kind);
    if (state.begin_ns == 0)
        start(start_ns);
    if (steps != NULL)
        add(steps, work, start_ns, end_ns);
    last.end_ns = end_ns;
    last.begin_ns = state.begin_ns;
    advance(end_ns);
    atomic_flag_clear_explicit(&is_busy, memory_order_release);
}
