/* SPDX-License-Identifier: MIT */
/*
 * prior.c - the rates of the experts of this machine before any measurement.
 *
 * The rates are those of common machines of the last ten years, per core; they
 * only have to be right within a factor of two or so to find the number of
 * threads. What is measured later is kept as a ratio to them.
 */
#include "decide/decide.h"

#include <math.h>

#include "base/clock.h"

/* Bytes per second of one core: in L2 by lanes, then in L3 and memory. */
static const double lane_rate = 10e9, l2_rate = 80e9;
static const double l3_rate = 30e9, memory_rate = 12e9;

/* What a core is taken to do per second: two multiply-adds of a vector. */
static const double clock_hz = 2.5e9;

/* A call of a kernel of Takt's, and one into a library. */
static const double own_call_s = 15e-9, library_call_s = 150e-9;

/* Starting a job, for each doubling of a team that is awake, and for each
 * thread of one that sleeps: measured on virtual machines with 2 and 16 cores,
 * 0.3 to 0.8 and 1.6 to 5 microseconds. */
static const double awake_s = 0.5e-6, asleep_s = 4e-6;

/* Bytes per second that a thread gets out of another core's cache; all get
 * theirs at once. */
static const double fetch_rate = 20e9;

/* A GPU whose data sheet is not known, and the share of a data sheet's rates
 * that calls reach. */
static const double gpu_flops = 10e12, gpu_memory_rate = 400e9;
static const double gpu_flops_share = 0.7, gpu_memory_share = 0.8;

/* To launch a kernel and wait for it, to get a copy going, and PCIe 3. */
static const double launch_s = 12e-6, copy_s = 10e-6, gpu_link_rate = 12e9;

/* Floats of a vector. */
static const double lanes_of[] = {
    [TAKT_ISA_SCALAR] = 1, [TAKT_ISA_SSE2] = 4,    [TAKT_ISA_NEON] = 4,
    [TAKT_ISA_AVX2] = 8,   [TAKT_ISA_AVX512] = 16,
};

static double least(double a, double b)
{
    return a < b ? a : b;
}

struct takt_rates takt__prior_rates(const struct takt_expert *expert,
                                    const takt_machine *machine)
{
    const bool is_library = expert->class == &takt__library_class;
    const double lanes =
        lanes_of[is_library ? takt_machine_best_isa(machine) : expert->isa];
    const double threads = expert->threads;
    /* Four cores or so saturate a memory controller. */
    const double busy = least(threads, 4);
    const double own = least(lanes * lane_rate, l2_rate);

    return (struct takt_rates){
        .threads = expert->threads,
        .call_s = is_library ? library_call_s : own_call_s,
        .s_per_flop = 1 / (lanes * 2 * clock_hz * threads),
        .s_per_byte = {1 / (own * threads), 1 / (least(own, l3_rate) * threads),
                       1 / (least(own, memory_rate) * busy)},
        .l2_bytes = (double)machine->l2_bytes * threads,
        .l3_bytes = (double)machine->l3_bytes,
        .awake_s = (is_library ? 4 : 1) * awake_s * log2(threads),
        .asleep_s = asleep_s * threads,
        .s_per_fetched_byte = 1 / (threads * fetch_rate),
        .fetched_bytes = (double)machine->l2_bytes,
    };
}

struct takt_rates takt__prior_gpu(double flops, double sheet_rate,
                                  double link_rate)
{
    const double computing = gpu_flops_share * (flops > 0 ? flops : gpu_flops);
    const double moving =
        gpu_memory_share * (sheet_rate > 0 ? sheet_rate : gpu_memory_rate);

    return (struct takt_rates){
        .threads = 1,
        .call_s = launch_s,
        .s_per_flop = 1 / computing,
        .s_per_byte = {1 / moving, 1 / moving, 1 / moving},
        .link_s = copy_s,
        .s_per_link_byte = 1 / (link_rate > 0 ? link_rate : gpu_link_rate),
    };
}

static void add_teams(struct takt_decider *decider, const takt_machine *machine)
{
    for (unsigned i = 0; i < decider->experts->count; i++) {
        const struct takt_expert *expert = &decider->experts->expert[i];
        if (expert->kernel_set != NULL && expert->isa == decider->best_isa &&
            decider->team_count < TAKT_MAX_TEAMS)
            decider->team[decider->team_count++] = (struct takt_team){
                .expert = i, .rates = takt__prior_rates(expert, machine)};
    }
}

takt_status takt__decider_init(struct takt_decider *decider,
                               const struct takt_experts *experts,
                               const takt_machine *machine)
{
    static const double awake_for_s = 100e-6; /* see pool.c */

    decider->experts = experts;
    decider->best_isa = takt_machine_best_isa(machine);
    decider->team_count = 0;
    add_teams(decider, machine);
    takt__clock_start();
    decider->moment = (uint64_t)(awake_for_s / takt__seconds_per_tick());
    return takt__table_create(&decider->table);
}

void takt__decider_fini(struct takt_decider *decider)
{
    takt__table_destroy(&decider->table);
}
