/* SPDX-License-Identifier: MIT */
/*
 * fleet_life.c - what a large fleet does to its database, and what it knows.
 *
 * By the hour, for 90 days, from seeds. Machines are of 400 kinds, of which the
 * first are common (Zipf) and the last rare. A machine works on 7 of 10 days;
 * in an hour of work some of its lines change. It syncs once in an interval,
 * with the random part that programs add. 5% are cut off for up to ten days; on
 * day 30 a tenth of all, a region, is cut off for two days. 1% a month are
 * installed anew, and their old pages stay. 2% lie about all they measure, by
 * any factor. The clocks of 3% are wrong, and one in a hundred jumps by up to
 * ten days. On day 40 a new driver comes, which reaches 5% of the machines a
 * day and makes one line slower or faster.
 *
 * Every sync sends what waits and pulls the priors of the last roll-up, which
 * runs once an interval.
 */
#include "fleet_life.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "fleet/pool.h"
#include "model/simulate.h"

enum {
    life_days = 90,
    hours = 24 * life_days,
    kinds = 400,
    regions = 10,
    lines = 462, /* of a store that was tuned for 5 s: 6 cells each */
    line_cells = 6,
    page_bytes = 162,
    row_bytes = 110,
    cut_hour = 24 * 30,
    cut_hours = 48,
    driver_hour = 24 * 40,
    drivers = 2,
    least_origins = 5
};

struct life_machine {
    unsigned kind, region, origin;
    bool is_liar, works;
    unsigned cut_from, cut_to; /* hours; 0: never */
    unsigned jump_at;          /* its clock, by so many hours */
    double jump_h;
    double next_h;   /* its next sync */
    double update_h; /* when it has the new driver */
    double heard_h;  /* when it has the prior of that; 0: not yet */
    double waiting;  /* lines */
    double own;      /* how far it is off its kind */
    uint64_t random;
};

/* What the database has of one origin. */
struct life_origin {
    unsigned kind, driver;
    bool is_sent, is_gone; /* its machine was installed anew */
    double value;          /* ln(ns) of the line that the driver changes */
};

struct life {
    unsigned count, every_h;
    struct life_machine *machine;
    struct life_origin *origin;
    unsigned origins, room;
    unsigned sent[kinds][drivers]; /* origins, by what they sent last */
    bool is_published[kinds][drivers];
    double published_h[kinds]; /* of the new driver; 0: not yet */
    double pages[hours];
    double late_h; /* the longest time between two syncs of a wrong clock */
};

static double truth_of(unsigned kind, unsigned driver)
{
    uint64_t seed = 4000 + kind;

    random_next(&seed);
    const double base = 9 + sim_normal(&seed), shift = sim_normal(&seed);
    return base + (driver > 0 ? 0.3 * shift : 0);
}

/* Of kinds with weights 1, 1/2, 1/3 ... */
static unsigned draw_kind(uint64_t *random)
{
    const double at = random_unit(random);
    double all = 0, seen = 0;

    for (unsigned i = 0; i < kinds; i++)
        all += 1.0 / (i + 1);
    for (unsigned i = 0; i < kinds; i++) {
        seen += 1.0 / (i + 1) / all;
        if (at < seen)
            return i;
    }
    return kinds - 1;
}

static unsigned draw(uint64_t *random, unsigned below)
{
    return (unsigned)(random_next(random) % below);
}

static unsigned add_origin(struct life *life, unsigned kind)
{
    if (life->origins == life->room) {
        life->room *= 2;
        life->origin = realloc(life->origin, life->room * sizeof *life->origin);
        REQUIRE(life->origin != NULL);
    }
    life->origin[life->origins] = (struct life_origin){.kind = kind};
    return life->origins++;
}

static void make_machine(struct life *life, unsigned number)
{
    struct life_machine *machine = &life->machine[number];
    uint64_t random = 7 + number;

    random_next(&random);
    *machine = (struct life_machine){.kind = draw_kind(&random),
                                     .region = draw(&random, regions),
                                     .is_liar = draw(&random, 50) == 0,
                                     .waiting = lines};
    if (draw(&random, 20) == 0) {
        machine->cut_from = 24 + draw(&random, hours - 24);
        machine->cut_to = machine->cut_from + 24 + draw(&random, 24 * 9);
    }
    if (draw(&random, 100) < 3) {
        machine->jump_at = 24 + draw(&random, hours - 24);
        machine->jump_h = 480 * (random_unit(&random) - 0.5);
    }
    machine->next_h = life->every_h * random_unit(&random);
    machine->update_h = driver_hour - 24 * log(1 - random_unit(&random)) / 0.05;
    machine->own = 0.05 * sim_normal(&random);
    machine->origin = add_origin(life, machine->kind);
    machine->random = random;
}

/* ---- an hour -------------------------------------------------------------
 */

static bool is_cut(const struct life_machine *machine, unsigned hour)
{
    return (hour >= machine->cut_from && hour < machine->cut_to) ||
           (machine->region == 0 && hour >= cut_hour &&
            hour < cut_hour + cut_hours);
}

/* As store/turn.c has it: a time that is too far off has come. */
static void jump(const struct life *life, struct life_machine *machine,
                 unsigned hour)
{
    const double left_h = machine->next_h - hour - machine->jump_h;

    machine->next_h =
        hour + (left_h > 2.25 * life->every_h ? 0 : fmax(0, left_h));
}

static void install_anew(struct life *life, struct life_machine *machine)
{
    life->origin[machine->origin].is_gone = true;
    machine->origin = add_origin(life, machine->kind);
    machine->waiting = lines;
}

static void send(struct life *life, struct life_machine *machine, unsigned hour)
{
    struct life_origin *origin = &life->origin[machine->origin];
    const unsigned driver = hour >= machine->update_h;

    life->pages[hour] += machine->waiting;
    machine->waiting = 0;
    if (origin->is_sent)
        life->sent[origin->kind][origin->driver]--;
    origin->is_sent = true;
    origin->driver = driver;
    origin->value = truth_of(machine->kind, driver) + machine->own +
                    (machine->is_liar ? 3 * sim_normal(&machine->random)
                                      : 0.02 * sim_normal(&machine->random));
    life->sent[origin->kind][driver]++;
    if (driver > 0 && machine->heard_h <= 0 &&
        life->is_published[machine->kind][driver])
        machine->heard_h = hour;
}

static void live(struct life *life, struct life_machine *machine, unsigned hour)
{
    if (hour % 24 == 0) {
        machine->works = random_unit(&machine->random) < 0.7;
        if (random_unit(&machine->random) < 0.01 / 30)
            install_anew(life, machine);
    }
    /* A line that waits and changes again waits once. */
    if (machine->works)
        machine->waiting +=
            (lines - machine->waiting) * 0.07 * random_unit(&machine->random);
    if (machine->jump_at > 0 && hour == machine->jump_at) {
        jump(life, machine, hour);
        life->late_h = fmax(life->late_h, machine->next_h - hour);
    }
    if (hour < machine->next_h)
        return;
    machine->next_h =
        hour + life->every_h * (1 + 0.25 * random_unit(&machine->random));
    if (!is_cut(machine, hour))
        send(life, machine, hour);
}

static void roll_up(struct life *life, unsigned hour)
{
    for (unsigned i = 0; i < kinds; i++)
        for (unsigned d = 0; d < drivers; d++) {
            life->is_published[i][d] = life->sent[i][d] >= least_origins;
            if (d > 0 && life->is_published[i][d] && life->published_h[i] <= 0)
                life->published_h[i] = hour;
        }
}

/* ---- what came of it -----------------------------------------------------
 */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double quantile(const double *value, size_t count, double share)
{
    return count == 0 ? 0 : value[(size_t)(share * (double)(count - 1))];
}

/* Priors of all kinds against the truth, with a driver that most have. */
static void report_priors(const struct life *life)
{
    struct takt_fleet_cell *cell = calloc(life->origins, sizeof *cell), out;
    double *error = calloc(2 * kinds, sizeof *error);
    size_t found = 0, covered = 0, gone = 0;

    REQUIRE(cell != NULL && error != NULL);
    for (unsigned k = 0; k < kinds * drivers; k++) {
        size_t count = 0;
        for (unsigned i = 0; i < life->origins; i++) {
            const struct life_origin *origin = &life->origin[i];
            if (origin->is_sent && origin->kind == k / drivers &&
                origin->driver == k % drivers)
                cell[count++].mean = (float)origin->value;
        }
        if (count < least_origins)
            continue;
        covered += count;
        takt__fleet_pool(cell, count, &out);
        error[found++] =
            fabs((double)out.mean - truth_of(k / drivers, k % drivers));
    }
    for (unsigned i = 0; i < life->origins; i++)
        gone += life->origin[i].is_gone && life->origin[i].is_sent;
    qsort(error, found, sizeof *error, by_value);
    printf("priors: %zu of kinds and drivers; %.2f%% of the origins are of one "
           "that has a prior; %.2f%% were installed anew since and still "
           "count\n  2%% lie: priors are off by %.1f%% (median), %.1f%% (95%% "
           "of them), %.1f%% (the worst)\n",
           found, 100.0 * (double)covered / life->origins,
           100.0 * (double)gone / life->origins,
           100 * expm1(quantile(error, found, 0.5)),
           100 * expm1(quantile(error, found, 0.95)),
           100 * expm1(quantile(error, found, 1)));
    free(cell);
    free(error);
}

static void report_driver(const struct life *life)
{
    double *wait = calloc(life->count, sizeof *wait), first[kinds];
    size_t heard = 0, have = 0, known = 0;

    REQUIRE(wait != NULL);
    for (unsigned i = 0; i < kinds; i++)
        if (life->published_h[i] > 0)
            first[known++] = life->published_h[i] - driver_hour;
    for (unsigned i = 0; i < life->count; i++) {
        const struct life_machine *machine = &life->machine[i];
        have += machine->update_h < hours;
        if (machine->heard_h > 0)
            wait[heard++] = machine->heard_h - machine->update_h;
    }
    qsort(first, known, sizeof *first, by_value);
    qsort(wait, heard, sizeof *wait, by_value);
    printf("  a new driver: its prior is there after %.0f h (median of %zu "
           "kinds), %.0f h (95%% of them); a machine that gets it has the "
           "prior after %.0f h (median), %.0f h (95%%), %.0f h (99%%); %.2f%% "
           "of those with the driver have it\n",
           quantile(first, known, 0.5), known, quantile(first, known, 0.95),
           quantile(wait, heard, 0.5), quantile(wait, heard, 0.95),
           quantile(wait, heard, 0.99), 100.0 * (double)heard / (double)have);
    free(wait);
}

static void report_load(const struct life *life)
{
    double all = 0, busiest = 0, after = 0;
    const double bytes = page_bytes + row_bytes;

    for (unsigned hour = 24; hour < hours; hour++) {
        const bool is_after =
            hour >= cut_hour + cut_hours && hour < cut_hour + cut_hours + 24;
        all += life->pages[hour];
        if (is_after)
            after = fmax(after, life->pages[hour]);
        else
            busiest = fmax(busiest, life->pages[hour]);
    }
    printf("\nsync every %u h: %.0f pages/s, %.0f in the busiest hour (%.0f "
           "cells/s), %.0f after a region was cut off; %.2f GB a day, %.1f GB "
           "pruned; %u installed anew; after a clock jumped a sync came %.1f h "
           "later at most\n",
           life->every_h, all / (life_days - 1) / 86400, busiest / 3600,
           busiest / 3600 * line_cells, after / 3600,
           all / (life_days - 1) * bytes / 1e9,
           (double)life->origins * lines * bytes / 1e9,
           life->origins - life->count, life->late_h);
}

static void run_life(unsigned machines, unsigned every_h)
{
    struct life *life = calloc(1, sizeof *life);

    REQUIRE(life != NULL);
    life->count = machines;
    life->every_h = every_h;
    life->room = machines;
    life->machine = calloc(machines, sizeof *life->machine);
    life->origin = calloc(machines, sizeof *life->origin);
    REQUIRE(life->machine != NULL && life->origin != NULL);
    for (unsigned i = 0; i < machines; i++)
        make_machine(life, i);
    for (unsigned hour = 0; hour < hours; hour++) {
        if (hour % every_h == 0)
            roll_up(life, hour);
        for (unsigned i = 0; i < machines; i++)
            live(life, &life->machine[i], hour);
    }
    report_load(life);
    report_priors(life);
    report_driver(life);
    free(life->machine);
    free(life->origin);
    free(life);
}

void fleet_life(unsigned machines)
{
    static const unsigned every_h[] = {1, 6, 24};

    printf("\n%u machines of %d kinds for %d days, %d lines each\n", machines,
           kinds, life_days, lines);
    for (unsigned i = 0; i < 3; i++)
        run_life(machines, every_h[i]);
}
