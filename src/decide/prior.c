/* SPDX-License-Identifier: MIT */
/*
 * prior.c - what to expect of an expert that was never measured.
 *
 * A roofline: the longer of moving the bytes and doing the arithmetic, plus
 * what it takes to get k threads going. The rates are those of common machines
 * of the last ten years, per core; they only have to be right within a factor
 * of two or so to find the number of threads.
 */
#include "decide/decide.h"

/* Bytes per second of one core, by where the operands fit. */
static const double l2_rate = 80e9, l3_rate = 30e9, memory_rate = 12e9;

/* What a core is taken to do per second: two multiply-adds of a vector. */
static const double clock_hz = 2.5e9;

/* Starting a job with workers awake, and with workers asleep: measured on a
 * two-core virtual machine, 0.3 to 0.5 and 25 to 50 microseconds. */
static const double awake_s = 0.5e-6, asleep_s = 30e-6;

/* Bytes per second out of another core's cache. */
static const double fetch_rate = 20e9;

static double lanes_of(takt_isa isa)
{
    switch (isa) {
    case TAKT_ISA_SCALAR:
        return 1;
    case TAKT_ISA_SSE2:
    case TAKT_ISA_NEON:
        return 4;
    case TAKT_ISA_AVX2:
        return 8;
    case TAKT_ISA_AVX512:
        return 16;
    }
    return 1;
}

static void init_team(struct takt_team *team, unsigned expert,
                      const struct takt_expert *who,
                      const takt_machine *machine)
{
    const double threads = who->threads;
    /* Four cores or so saturate a memory controller. */
    const double busy = threads < 4 ? threads : 4;

    team->expert = expert;
    team->threads = who->threads;
    team->s_per_flop = 1 / (lanes_of(who->isa) * 2 * clock_hz * threads);
    team->s_per_byte[0] = 1 / (l2_rate * threads);
    team->s_per_byte[1] = 1 / (l3_rate * threads);
    team->s_per_byte[2] = 1 / (memory_rate * busy);
    team->l2_bytes = (double)machine->l2_bytes * threads;
}

static void add_teams(struct takt_decider *decider, const takt_machine *machine)
{
    for (unsigned i = 0; i < decider->fleet->count; i++) {
        const struct takt_expert *who = &decider->fleet->expert[i];
        if (who->kind == TAKT_EXPERT_CPU && who->isa == decider->best_isa &&
            decider->team_count < TAKT_MAX_TEAMS)
            init_team(&decider->team[decider->team_count++], i, who, machine);
    }
}

void takt__decider_init(struct takt_decider *decider,
                        const struct takt_fleet *fleet,
                        const takt_machine *machine)
{
    decider->fleet = fleet;
    decider->best_isa = takt_machine_best_isa(machine);
    decider->l3_bytes = (double)machine->l3_bytes;
    decider->team_count = 0;
    add_teams(decider, machine);
}

double takt__prior_seconds(const struct takt_decider *decider,
                           const struct takt_team *team, const takt_work *work)
{
    const int level = work->bytes <= team->l2_bytes      ? 0
                      : work->bytes <= decider->l3_bytes ? 1
                                                         : 2;
    const double computing = work->flops * team->s_per_flop;
    const double moving = work->bytes * team->s_per_byte[level];

    return computing > moving ? computing : moving;
}

/* The caller has often just written the operands, so the other threads fetch
 * their share out of its cache: two threads then need 128K elements of `add`
 * to break even, not the 8K that a benchmark loop shows. */
static double fetching(const struct takt_decider *decider,
                       const struct takt_team *team, const takt_work *work)
{
    const double own_cache = decider->team[0].l2_bytes;
    const double cached = work->bytes < own_cache ? work->bytes : own_cache;
    const double others = (double)(team->threads - 1) / (double)team->threads;

    return cached * others / fetch_rate;
}

double takt__prior_start(const struct takt_decider *decider,
                         const struct takt_team *team, const takt_work *work,
                         bool is_awake)
{
    if (team->threads == 1)
        return 0;
    if (!is_awake)
        is_awake = takt__pool_asleep(decider->fleet->pool, team->threads) == 0;
    return (is_awake ? awake_s : asleep_s) + fetching(decider, team, work);
}
