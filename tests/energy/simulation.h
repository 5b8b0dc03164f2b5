/* SPDX-License-Identifier: MIT */
/*
 * simulation.h - a machine with counters of energy, on a clock of its own.
 *
 * A program runs calls of some kinds for a while each, or pauses. The counters
 * add up what that draws; a thread reads them as the learner does, every few
 * milliseconds when they are due. Nothing here looks at the time.
 */
#pragma once

#include <string.h>

#include "energy/energy.h"
#include "support/random.h"
#include "support/tap.h"

enum { most_kinds = 4 };

/* Calls of a kind: `arm` and `bound` as the attribution sees them. */
struct kind {
    unsigned arm, bound, threads;
    int where;
    double watts;    /* beyond idle, by the counter of that place */
    double call_ms;  /* how long one takes */
    unsigned one_in; /* is timed, and stands for all; 0: each is */
    unsigned twin;   /* another arm is at work at the same time; 0: none */
};

struct machine {
    struct takt_energy_counter counter[2];
    double idle_w[2];
    unsigned counters;
    struct kind kind[most_kinds];
    unsigned kinds;
    double others_w;     /* of a processor that others use */
    double others;       /* processors that others use, now and then */
    double surge_w;      /* for a second in twenty, by nobody that is known */
    double noise;        /* of what a counter counts, as a share */
    bool is_alternating; /* the kinds take turns call by call */
    uint64_t random;

    /* Where it stands. */
    uint64_t ms;
    double joules[2];  /* so far ... */
    uint64_t count[2]; /* ... as the counter shows it */
    double cpu_s;
    int now; /* kind; -1: none */
    uint64_t until_ms, call_begin_ms, call_end_ms, next_read_ms;
    unsigned calls;
    bool are_others_here, is_gone;
    struct takt_energy *energy;
};

static const uint64_t start_ns = UINT64_C(5000000000000);

static inline uint64_t ns_at(uint64_t ms)
{
    return start_ns + ms * UINT64_C(1000000);
}

static inline void choose(struct machine *m)
{
    const double drawn = random_unit(&m->random) * (m->kinds + 1);

    m->now = drawn < m->kinds ? (int)drawn : -1;
    m->until_ms = m->ms + 200 + (uint64_t)(2500 * random_unit(&m->random));
    m->call_begin_ms = m->call_end_ms = m->ms;
    m->are_others_here =
        m->others > 0 && random_unit(&m->random) < (m->now < 0 ? 0.3 : 0.5);
}

static inline void end_call(struct machine *m)
{
    const struct kind *kind = &m->kind[m->now];
    const bool is_timed = kind->one_in == 0 || m->calls++ % kind->one_in == 0;
    struct takt_energy_use use = {kind->arm,
                                  kind->bound,
                                  kind->threads,
                                  kind->where,
                                  ns_at(m->call_begin_ms),
                                  (m->call_end_ms - m->call_begin_ms) *
                                      UINT64_C(1000000),
                                  kind->one_in == 0 ? 1 : kind->one_in};

    if (is_timed && m->call_end_ms > m->call_begin_ms)
        takt__energy_use(m->energy, &use);
    use.arm = kind->twin;
    if (use.arm != 0)
        takt__energy_use(m->energy, &use);
    if (m->is_alternating)
        m->now = (m->now + 1) % (int)m->kinds;
}

/* A call ends, and another begins, or a pause. */
static inline void run_program(struct machine *m)
{
    if (m->now >= 0 && m->ms >= m->call_end_ms)
        end_call(m);
    if (m->ms >= m->until_ms && (m->now < 0 || m->ms >= m->call_end_ms))
        choose(m);
    if (m->now >= 0 && m->ms >= m->call_end_ms) {
        m->call_begin_ms = m->ms;
        m->call_end_ms =
            m->ms + (uint64_t)(m->kind[m->now].call_ms *
                                   (0.8 + 0.4 * random_unit(&m->random)) +
                               0.5);
    }
}

static inline void draw_power(struct machine *m)
{
    const struct kind *kind = m->now < 0 ? NULL : &m->kind[m->now];

    m->cpu_s += 1e-3 * ((kind == NULL ? 0 : kind->threads) +
                        (m->are_others_here ? m->others : 0));
    for (unsigned i = 0; i < m->counters; i++) {
        const bool is_gpu = m->counter[i].address[0] != '\0';
        double watts = m->idle_w[i];
        if (kind != NULL && (is_gpu ? kind->where == (int)i
                                    : kind->where == TAKT_ENERGY_PROCESSOR))
            watts += kind->watts;
        if (m->are_others_here && !is_gpu)
            watts += m->others * m->others_w;
        if (m->ms % 20000 < 1000)
            watts += m->surge_w;
        watts *= 1 + m->noise * (2 * random_unit(&m->random) - 1);
        m->joules[i] += watts * 1e-3;
        if (m->counter[i].step_ms == 0 || m->ms % m->counter[i].step_ms == 37) {
            const uint64_t count =
                (uint64_t)(m->joules[i] *
                           (1e18 / (double)m->counter[i].unit_aj));
            m->count[i] =
                m->counter[i].range > 0 ? count % m->counter[i].range : count;
        }
    }
}

static inline void read_counters(struct machine *m)
{
    const uint32_t due = takt__energy_due(m->energy, ns_at(m->ms));

    for (unsigned i = 0; i < m->counters; i++) {
        const struct takt_energy_reading reading = {
            .at_ns = ns_at(m->ms),
            .count = m->count[i],
            .cpu_ns = (uint64_t)(m->cpu_s * 1e9),
            .share_pml = 1001,
            .is_gone = m->is_gone};
        if ((due >> i & 1) != 0)
            takt__energy_read(m->energy, i, &reading);
    }
    m->next_read_ms = m->ms + (due != 0 ? 23 : 4);
}

static inline void simulate(struct machine *m, double seconds)
{
    const uint64_t end_ms = m->ms + (uint64_t)(seconds * 1e3);

    if (m->energy == NULL) {
        m->energy = takt__energy_create(m->counter, m->counters);
        REQUIRE(m->energy != NULL);
        m->now = -1;
    }
    for (; m->ms < end_ms; m->ms++) {
        run_program(m);
        draw_power(m);
        if (m->ms >= m->next_read_ms)
            read_counters(m);
    }
}

static inline struct takt_energy_watts watts_of(const struct machine *m,
                                                unsigned kind)
{
    return takt__energy_watts(m->energy, m->kind[kind].arm,
                              m->kind[kind].bound);
}

/* Whether it is known, within a tenth, and within what it says itself. */
static inline void expect_watts(struct takt_energy_watts found, double watts)
{
    TAP_CHECK(found.is_known, "unknown: %g +- %g, not %g", found.mean,
              found.error, watts);
    TAP_CHECK(fabs(found.mean - watts) <= 0.1 * watts, "%g +- %g, not %g",
              found.mean, found.error, watts);
    TAP_CHECK(fabs(found.mean - watts) <= 4.5 * found.error + 0.02 * watts,
              "%g +- %g is not honest: %g", found.mean, found.error, watts);
}
