/* SPDX-License-Identifier: MIT */
/* energy.c - windows become observations, and these become watts. */
#include "energy/energy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "energy/inside.h"

/* Older windows fade: clocks, temperatures and other loads change. */
static const double fade_s = 300;

/* Known: at most this standard error, as a share or in watts. Two of them are a
 * tenth. */
static const double most_error_share = 0.05, most_error_w = 0.5;

/* Windows in which calls took less than this, but something, say little. */
static const double least_share = 0.02;

/* Load of others that is always there, in processors. */
static const double usual_rest = 0.25;

/* A GPU says how busy it was for the last moments only, so it is believed about
 * others where Takt hardly used it: so much, and so busy. */
static const double hardly_used = 0.1, least_others = 0.5;

/* Farther off than so many times what is typical, a window counts less:
 * something else was going on. */
static const double far = 4.5, least_weight = 0.01;

struct takt_energy *
takt__energy_create(const struct takt_energy_counter *counter, unsigned count)
{
    struct takt_energy *energy = calloc(1, sizeof *energy);

    if (energy == NULL || count > TAKT_ENERGY_COUNTERS) {
        free(energy);
        return NULL;
    }
    energy->counters = count;
    memcpy(energy->counter, counter, count * sizeof *counter);
    energy->account = calloc(count > 0 ? count : 1, sizeof *energy->account);
    if (energy->account == NULL) {
        free(energy);
        return NULL;
    }
    return energy;
}

void takt__energy_destroy(struct takt_energy *energy)
{
    if (energy == NULL)
        return;
    free(energy->account);
    free(energy);
}

unsigned takt__energy_counter_count(const struct takt_energy *energy)
{
    return energy->counters;
}

const struct takt_energy_counter *
takt__energy_counter(const struct takt_energy *energy, unsigned counter)
{
    return &energy->counter[counter];
}

void takt__energy_set_log(struct takt_energy *energy, FILE *log)
{
    energy->log = log;
    for (unsigned i = 0; log != NULL && i < energy->counters; i++)
        takt__log_counter(log, &energy->counter[i]);
}

/* ---- addresses ----------------------------------------------------------- */

/* "domain:bus:device.function" in hexadecimal digits, as one number. */
static bool read_address(const char *text, uint64_t *out)
{
    unsigned domain, bus, device, function;

    if (sscanf(text, "%8x:%2x:%2x.%1x", &domain, &bus, &device, &function) != 4)
        return false;
    *out = ((uint64_t)domain << 16) | (bus << 8) | (device << 3) | function;
    return true;
}

int takt__energy_find_gpu(const struct takt_energy *energy, const char *address)
{
    uint64_t wanted, found;

    for (unsigned i = 0; i < energy->counters; i++)
        if (read_address(address, &wanted) &&
            read_address(energy->counter[i].address, &found) && found == wanted)
            return (int)i;
    return TAKT_ENERGY_UNCOUNTED;
}

static bool is_processors(const struct takt_energy *energy, unsigned counter)
{
    return energy->counter[counter].address[0] == '\0';
}

/* Whether a term can draw what a counter counts. */
static bool concerns(const struct takt_energy *energy, unsigned counter,
                     const struct takt_energy_term *term)
{
    return is_processors(energy, counter) || term->where == (int)counter;
}

/* ---- terms --------------------------------------------------------------- */

static int find_term(const struct takt_energy *energy, unsigned arm,
                     unsigned bound)
{
    for (unsigned i = 0; i < TAKT_ENERGY_TERMS; i++)
        if (energy->term[i].is_used && energy->term[i].arm == arm &&
            energy->term[i].bound == bound)
            return (int)i;
    return -1;
}

static bool is_free(const struct takt_energy *energy, unsigned term)
{
    for (unsigned i = 0; i < energy->counters && energy->term[term].is_used;
         i++) {
        const struct takt_energy_account *account = &energy->account[i];
        if (account->open.busy_s[term] > 0 ||
            account->closed.busy_s[term] > 0 ||
            !takt__regression_is_faded(&account->sums, TAKT_TERM_FIRST + term))
            return false;
    }
    return true;
}

/* TAKT_ENERGY_TERMS: there is no room. */
static unsigned add_term(struct takt_energy *energy,
                         const struct takt_energy_use *use)
{
    unsigned term = 0;

    while (term < TAKT_ENERGY_TERMS && !is_free(energy, term))
        term++;
    if (term == TAKT_ENERGY_TERMS)
        return term;
    energy->term[term] = (struct takt_energy_term){
        use->arm, use->bound, use->threads, use->where, true};
    for (unsigned i = 0; i < energy->counters; i++)
        takt__regression_forget(&energy->account[i].sums,
                                &energy->account[i].solution,
                                TAKT_TERM_FIRST + term);
    return term;
}

void takt__energy_use(struct takt_energy *energy,
                      const struct takt_energy_use *use)
{
    if (energy->log != NULL)
        takt__log_use(energy->log, use);
    if (use->bound >= TAKT_ENERGY_BOUNDS)
        return;
    const int found = find_term(energy, use->arm, use->bound);
    const unsigned term = found >= 0 ? (unsigned)found : add_term(energy, use);
    const struct takt_energy_term *at = &energy->term[term];

    for (unsigned i = 0; i < energy->counters; i++)
        if (term == TAKT_ENERGY_TERMS || concerns(energy, i, at))
            takt__account_use(&energy->account[i], term, use);
}

/* ---- observations -------------------------------------------------------- */

struct observation {
    double watts, seconds;
    double x[TAKT_REGRESSION_TERMS];
    double busy;    /* shares of all experts */
    double threads; /* of the processor that were Takt's */
};

static void observe(const struct takt_energy *energy, unsigned counter,
                    const struct takt_energy_window *window,
                    struct observation *out)
{
    memset(out, 0, sizeof *out);
    out->seconds = (double)(window->end_ns - window->begin_ns) * 1e-9;
    out->watts = window->joules / out->seconds;
    out->x[TAKT_TERM_IDLE] = 1;
    for (unsigned i = 0; i < TAKT_ENERGY_TERMS; i++) {
        const double share = window->busy_s[i] / out->seconds;
        out->x[TAKT_TERM_FIRST + i] = share;
        out->busy += share;
        out->threads += share * energy->term[i].threads;
    }
    if (is_processors(energy, counter))
        out->x[TAKT_TERM_REST] =
            fmax(0, window->cpu_s / out->seconds - out->threads);
}

/* Whether most of what was going on was not Takt's. */
static bool is_others(const struct takt_energy *energy, unsigned counter,
                      const struct takt_energy_window *window,
                      const struct observation *seen)
{
    if (is_processors(energy, counter))
        return seen->x[TAKT_TERM_REST] > usual_rest &&
               seen->x[TAKT_TERM_REST] > seen->threads;
    return seen->busy < hardly_used && window->share_pml <= 1000 &&
           window->share_pml * 1e-3 > least_others;
}

/* The median of how far windows are off, followed step by step: unlike a mean
 * of squares, it is not moved by the windows that it is there to find. */
static void follow_typical(struct takt_energy_account *account, double off)
{
    const double step = 1.2, least = 0.3;

    if (account->typical_w == 0)
        account->typical_w = account->solution.noise;
    account->typical_w *= off > account->typical_w ? step : 1 / step;
    account->typical_w = fmax(account->typical_w, least);
}

static double weigh_window(struct takt_energy_account *account,
                           const struct observation *seen)
{
    double off = seen->watts;

    if (!account->is_solved)
        return 1;
    for (unsigned i = 0; i < TAKT_REGRESSION_TERMS; i++)
        off -= seen->x[i] * account->solution.value[i];
    follow_typical(account, fabs(off));
    const double most = far * account->typical_w;
    const double share = fmin(1, most / fabs(off));
    return fmax(least_weight, share * share);
}

/* True: it was used. */
static bool settle(struct takt_energy *energy, unsigned counter,
                   const struct takt_energy_window *window)
{
    struct takt_energy_account *account = &energy->account[counter];
    struct observation seen;

    observe(energy, counter, window, &seen);
    if (window->is_mixed) {
        account->windows.mixed++;
        return false;
    }
    if (is_others(energy, counter, window, &seen)) {
        account->windows.busy_elsewhere++;
        return false;
    }
    if (seen.busy > 0 && seen.busy < least_share)
        return false;
    takt__regression_add(&account->sums, seen.x, seen.watts,
                         weigh_window(account, &seen),
                         exp(-seen.seconds / fade_s));
    account->is_solved =
        takt__regression_solve(&account->sums, &account->solution);
    account->windows.used++;
    return true;
}

/* ---- readings ------------------------------------------------------------ */

uint32_t takt__energy_due(const struct takt_energy *energy, uint64_t now_ns)
{
    uint32_t due = 0;

    for (unsigned i = 0; i < energy->counters; i++)
        if (takt__account_is_due(&energy->account[i], &energy->counter[i],
                                 now_ns))
            due |= UINT32_C(1) << i;
    return due;
}

bool takt__energy_read(struct takt_energy *energy, unsigned counter,
                       const struct takt_energy_reading *reading)
{
    struct takt_energy_window settled;

    if (energy->log != NULL)
        takt__log_reading(energy->log, counter, reading);
    return counter < energy->counters &&
           takt__account_read(&energy->account[counter],
                              &energy->counter[counter], reading, &settled) &&
           settle(energy, counter, &settled);
}

struct takt_energy_windows
takt__energy_windows(const struct takt_energy *energy, unsigned counter)
{
    return energy->account[counter].windows;
}

/* ---- watts --------------------------------------------------------------- */

static struct takt_energy_watts judged(double mean, double error)
{
    const bool is_known =
        isfinite(mean) &&
        error <= fmax(most_error_share * fmax(mean, 0), most_error_w);

    return (struct takt_energy_watts){fmax(mean, 0), error, is_known};
}

/* A sum of coefficients by their weights, and its error. */
static struct takt_energy_watts
combine(const struct takt_coefficients *solution,
        const double weight[TAKT_REGRESSION_TERMS])
{
    double mean = 0, variance = 0;

    for (unsigned i = 0; i < TAKT_REGRESSION_TERMS; i++) {
        mean += weight[i] * solution->value[i];
        for (unsigned j = 0; j < TAKT_REGRESSION_TERMS; j++)
            variance += weight[i] * weight[j] * solution->covariance[i][j];
    }
    return (struct takt_energy_watts){mean, sqrt(fmax(variance, 0)), true};
}

/* The weights of an arm and bound by a counter; false: it has none there. */
static bool weigh(const struct takt_energy *energy, unsigned counter,
                  unsigned arm, unsigned bound,
                  double weight[TAKT_REGRESSION_TERMS])
{
    const struct takt_regression *sums = &energy->account[counter].sums;
    double all = 0;

    memset(weight, 0, TAKT_REGRESSION_TERMS * sizeof *weight);
    for (unsigned i = 0; i < TAKT_ENERGY_TERMS; i++) {
        const struct takt_energy_term *term = &energy->term[i];
        const unsigned at = TAKT_TERM_FIRST + i;
        if (!term->is_used || term->arm != arm ||
            (bound != TAKT_ENERGY_BOUNDS && term->bound != bound) ||
            !concerns(energy, counter, term))
            continue;
        weight[at] = bound != TAKT_ENERGY_BOUNDS ? 1 : sums->x[at];
        all += weight[at];
    }
    for (unsigned i = 0; i < TAKT_REGRESSION_TERMS && all > 0; i++)
        weight[i] /= all;
    return all > 0;
}

/* Where the arm works; TAKT_ENERGY_UNCOUNTED: it was not at work. */
static int place_of(const struct takt_energy *energy, unsigned arm)
{
    for (unsigned i = 0; i < TAKT_ENERGY_TERMS; i++)
        if (energy->term[i].is_used && energy->term[i].arm == arm)
            return energy->term[i].where;
    return TAKT_ENERGY_UNCOUNTED;
}

/* Whether the energy of what works there cannot be known without a counter. */
static bool is_needed(const struct takt_energy *energy, unsigned counter,
                      int where)
{
    return where == TAKT_ENERGY_PROCESSOR ? is_processors(energy, counter)
                                          : where == (int)counter;
}

static struct takt_energy_watts watts_of(const struct takt_energy *energy,
                                         unsigned arm, unsigned bound,
                                         double idle)
{
    const struct takt_energy_watts unknown = {0, INFINITY, false};
    const int where = place_of(energy, arm);
    double mean = 0, error = 0, weight[TAKT_REGRESSION_TERMS];
    unsigned needed = 0;

    for (unsigned i = 0; i < energy->counters; i++) {
        const struct takt_energy_account *account = &energy->account[i];
        if (!weigh(energy, i, arm, bound, weight))
            continue;
        needed += is_needed(energy, i, where);
        if (!account->is_solved || account->windows.is_gone)
            return unknown;
        weight[TAKT_TERM_IDLE] = idle;
        const struct takt_energy_watts part =
            combine(&account->solution, weight);
        mean += part.mean;
        error += part.error; /* they are not independent */
    }
    return needed == 0 ? unknown : judged(mean, error);
}

struct takt_energy_watts takt__energy_watts(const struct takt_energy *energy,
                                            unsigned arm, unsigned bound)
{
    return watts_of(energy, arm, bound, 0);
}

struct takt_energy_watts
takt__energy_total_watts(const struct takt_energy *energy, unsigned arm,
                         unsigned bound)
{
    return watts_of(energy, arm, bound, 1);
}

struct takt_energy_watts takt__energy_idle(const struct takt_energy *energy,
                                           unsigned counter)
{
    const struct takt_energy_account *account = &energy->account[counter];
    const double weight[TAKT_REGRESSION_TERMS] = {[TAKT_TERM_IDLE] = 1};

    if (!account->is_solved)
        return (struct takt_energy_watts){0, INFINITY, false};
    const struct takt_energy_watts idle = combine(&account->solution, weight);
    return judged(idle.mean, idle.error);
}

void takt__energy_each(const struct takt_energy *energy,
                       void (*visit)(void *self, unsigned arm, unsigned bound),
                       void *self)
{
    for (unsigned i = 0; i < TAKT_ENERGY_TERMS; i++) {
        const struct takt_energy_term *term = &energy->term[i];
        unsigned first = 0;
        if (!term->is_used)
            continue;
        visit(self, term->arm, term->bound);
        while (!energy->term[first].is_used ||
               energy->term[first].arm != term->arm)
            first++;
        if (first == i)
            visit(self, term->arm, TAKT_ENERGY_BOUNDS);
    }
}
