/* SPDX-License-Identifier: MIT */
/*
 * window.c - cuts the time of a counter into windows.
 *
 * A counter that steps every 100 ms says when a window ends only at a step: a
 * second that begins and ends anywhere is off by a tenth. So from a second on
 * it is read every few milliseconds until it has stepped; the window ends
 * halfway between the last two readings.
 */
#include <string.h>

#include "energy/inside.h"

static const uint64_t shortest_ns = 1000000000, longest_ns = 10000000000;

/* Two readings between which a step is known well enough. */
static const uint64_t narrow_ns = 60000000;

/* A counter that does not step for so long does not count. */
static const uint64_t stuck_ns = 3000000000;

/* An integral of power is read so often, and has a hole beyond that. */
static const uint64_t power_every_ns = 50000000, power_hole_ns = 500000000;

/* No machine draws more: what seems to is a counter that was reset. */
static const double most_watts = 100e3;

bool takt__account_is_due(const struct takt_energy_account *account,
                          const struct takt_energy_counter *counter,
                          uint64_t now_ns)
{
    if (account->windows.is_gone)
        return false;
    if (!account->has_last || !account->is_open)
        return true;
    if (counter->is_power && now_ns - account->last.at_ns >= power_every_ns)
        return true;
    return !counter->is_power && now_ns >= account->open.begin_ns + shortest_ns;
}

/* ---- one reading --------------------------------------------------------- */

/* Joules since the last one; negative: the counter was reset. */
static double joules_since(const struct takt_energy_counter *counter,
                           const struct takt_energy_reading *last,
                           const struct takt_energy_reading *reading)
{
    uint64_t counts = reading->count - last->count;

    if (reading->count < last->count && counter->range > last->count)
        counts = reading->count + (counter->range - last->count);
    else if (reading->count < last->count)
        return -1;
    const double joules = (double)counts * (double)counter->unit_aj * 1e-18;
    const double seconds = (double)(reading->at_ns - last->at_ns) * 1e-9;
    return joules <= most_watts * (seconds + 1) ? joules : -1;
}

static void begin(struct takt_energy_account *account, uint64_t at_ns,
                  uint64_t cpu_ns)
{
    memset(&account->open, 0, sizeof account->open);
    account->open.begin_ns = at_ns;
    account->cpu_at_begin_ns = cpu_ns;
    account->waiting_ns = 0;
    account->is_open = true;
}

/* What is open, and what was closed, has a hole in it. */
static void abandon(struct takt_energy_account *account)
{
    account->windows.broken += account->is_open;
    account->is_open = account->has_closed = false;
    account->waiting_ns = 0;
}

/* The moment at which the counter had what was read; 0: not known. */
static uint64_t moment_of(const struct takt_energy_account *account,
                          const struct takt_energy_counter *counter,
                          const struct takt_energy_reading *reading)
{
    const struct takt_energy_reading *last = &account->last;

    if (counter->step_ms == 0 || counter->is_power)
        return reading->at_ns;
    if (reading->count == last->count ||
        reading->at_ns - last->at_ns > narrow_ns)
        return 0;
    return last->at_ns + (reading->at_ns - last->at_ns) / 2;
}

/* True: the counter does not count. */
static bool is_stuck(struct takt_energy_account *account,
                     const struct takt_energy_reading *reading)
{
    if (reading->count != account->last.count || account->waiting_ns == 0)
        account->waiting_ns = reading->at_ns;
    return reading->at_ns - account->waiting_ns > stuck_ns;
}

/* ---- windows ------------------------------------------------------------- */

static bool close_window(struct takt_energy_account *account, uint64_t at_ns,
                         const struct takt_energy_reading *reading,
                         struct takt_energy_window *settled)
{
    const bool has_settled = account->has_closed;
    const uint64_t cpu_ns = reading->cpu_ns > account->cpu_at_begin_ns
                                ? reading->cpu_ns - account->cpu_at_begin_ns
                                : 0;

    *settled = account->closed;
    account->open.end_ns = at_ns;
    account->open.cpu_s = (double)cpu_ns * 1e-9;
    account->open.share_pml = reading->share_pml;
    account->closed = account->open;
    account->has_closed = true;
    begin(account, at_ns, reading->cpu_ns);
    return has_settled;
}

static bool advance(struct takt_energy_account *account,
                    const struct takt_energy_counter *counter,
                    const struct takt_energy_reading *reading,
                    struct takt_energy_window *settled)
{
    const uint64_t at_ns = moment_of(account, counter, reading);

    if (account->is_open &&
        reading->at_ns - account->open.begin_ns > longest_ns)
        abandon(account);
    if (at_ns == 0)
        return false;
    if (!account->is_open) {
        begin(account, at_ns, reading->cpu_ns);
        return false;
    }
    return at_ns > account->open.begin_ns &&
           at_ns - account->open.begin_ns >= shortest_ns &&
           close_window(account, at_ns, reading, settled);
}

bool takt__account_read(struct takt_energy_account *account,
                        const struct takt_energy_counter *counter,
                        const struct takt_energy_reading *reading,
                        struct takt_energy_window *settled)
{
    bool has_settled = false;

    if (account->windows.is_gone ||
        (account->has_last && reading->at_ns <= account->last.at_ns))
        return false;
    account->windows.is_gone =
        reading->is_gone || (account->has_last && is_stuck(account, reading));
    if (account->windows.is_gone) {
        abandon(account);
        return false;
    }
    if (account->has_last) {
        const double joules = joules_since(counter, &account->last, reading);
        if (joules < 0 ||
            (counter->is_power &&
             reading->at_ns - account->last.at_ns > power_hole_ns))
            abandon(account);
        else
            account->open.joules += joules;
        has_settled = advance(account, counter, reading, settled);
    }
    account->last = *reading;
    account->has_last = true;
    return has_settled;
}

/* ---- uses ---------------------------------------------------------------- */

static double overlap_s(uint64_t begin_ns, uint64_t end_ns,
                        const struct takt_energy_use *use)
{
    const uint64_t first = use->start_ns > begin_ns ? use->start_ns : begin_ns;
    const uint64_t use_end = use->ns > UINT64_MAX - use->start_ns
                                 ? UINT64_MAX
                                 : use->start_ns + use->ns;
    const uint64_t last = use_end < end_ns ? use_end : end_ns;

    return last > first ? (double)(last - first) * 1e-9 : 0;
}

static void add(struct takt_energy_window *window, uint64_t end_ns,
                unsigned term, const struct takt_energy_use *use)
{
    const double seconds =
        overlap_s(window->begin_ns, end_ns, use) * (double)use->runs;

    if (term < TAKT_ENERGY_TERMS)
        window->busy_s[term] += seconds;
    else if (seconds > 0)
        window->is_mixed = true;
}

void takt__account_use(struct takt_energy_account *account, unsigned term,
                       const struct takt_energy_use *use)
{
    if (account->has_closed)
        add(&account->closed, account->closed.end_ns, term, use);
    if (account->is_open)
        add(&account->open, UINT64_MAX, term, use);
}
