/* SPDX-License-Identifier: MIT */
/*
 * energy.c - reads counters of energy on Takt's thread, and gives the model
 * what experts draw.
 *
 * The counters are the machine's. Two contexts of a process would each take the
 * calls of the other for somebody else's load, so the first one measures.
 */
#include <math.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/log.h"
#include "learn/inside.h"

static atomic_flag is_taken = ATOMIC_FLAG_INIT;

/* ---- the counters -------------------------------------------------------- */

static void say_problems(const struct takt_energy_meter *meter)
{
    const char *problem;

    for (unsigned i = 0; (problem = takt__meter_problem(meter, i)) != NULL; i++)
        takt__log(TAKT_LOG_INFO, "energy: %s", problem);
}

/* False: nothing can be measured, now or later. */
static bool open_meter(struct takt_learner *learner)
{
    struct takt_energy_watch *watch = &learner->energy;
    const struct takt_hw_source host = takt__host_source();

    if (atomic_flag_test_and_set(&is_taken)) {
        takt__log(TAKT_LOG_INFO, "energy: another context of this process "
                                 "measures it");
        return false;
    }
    watch->is_taken = true;
    watch->meter = takt__meter_open(&host, true);
    if (watch->meter == NULL)
        return false;
    say_problems(watch->meter);
    if (takt__meter_count(watch->meter) == 0 && takt__config()->is_energy_asked)
        takt__log(TAKT_LOG_ERROR, "TAKT_ENERGY asks for energy, and no counter "
                                  "can be read here ('takt doctor' says why)");
    if (takt__meter_count(watch->meter) == 0)
        return false;
    struct takt_energy *energy = takt__energy_create(
        takt__meter_counters(watch->meter), takt__meter_count(watch->meter));
    takt__lock(&learner->lock);
    watch->energy = energy;
    takt__unlock(&learner->lock);
    return energy != NULL;
}

void takt__learner_end_energy(struct takt_learner *learner)
{
    struct takt_energy_watch *watch = &learner->energy;

    takt__energy_destroy(watch->energy);
    takt__meter_close(watch->meter);
    if (watch->is_taken)
        atomic_flag_clear(&is_taken);
}

/* What was measured holds in the child, too; nothing is added to it. */
void takt__learner_forget_energy(struct takt_learner *learner)
{
    struct takt_energy_watch *watch = &learner->energy;

    takt__energy_destroy(watch->energy);
    takt__meter_forget(watch->meter);
    watch->energy = NULL;
    watch->meter = NULL;
    watch->is_wanted = watch->is_wanted && !watch->is_taken;
}

/* ---- uses ---------------------------------------------------------------- */

static int place_of(const struct takt_learner *learner, unsigned arm)
{
    const struct takt_learner_callbacks *callbacks = &learner->callbacks;
    const char *address;

    if (!takt__arm_is_gpu(takt__model_arm(learner->model, arm)))
        return TAKT_ENERGY_PROCESSOR;
    address = callbacks->address_of == NULL
                  ? NULL
                  : callbacks->address_of(callbacks->self, arm);
    return address == NULL
               ? TAKT_ENERGY_UNCOUNTED
               : takt__energy_find_gpu(learner->energy.energy, address);
}

/* Samples of tuning come long after the runs; refusals and openings of a GPU
 * are none. */
static bool is_use(const struct takt_learner *learner,
                   const struct takt_sample *sample)
{
    return (sample->flags & (TAKT_SAMPLE_REFUSED | TAKT_SAMPLE_TUNING)) == 0 &&
           sample->series != TAKT_SERIES_LINKS + TAKT_LINK_OPEN &&
           sample->series < TAKT_SERIES_COUNT &&
           sample->arm < takt__model_arm_count(learner->model) &&
           sample->seconds > 0 && sample->seconds < 1e6;
}

/* When it was at work. Calls on buffers are begun before a GPU gets to them,
 * and it runs them one after another; that they are over is known some time
 * later. That a buffer was moved is told afterwards. */
static void place_in_time(struct takt_learner *learner,
                          const struct takt_sample *sample, uint64_t now_ns,
                          struct takt_energy_use *use)
{
    uint64_t *done_ns = &learner->energy.done_ns[sample->arm];

    if (sample->series >= TAKT_SERIES_LINKS) {
        use->start_ns -= use->ns < use->start_ns ? use->ns : use->start_ns;
        return;
    }
    use->ns *= use->runs;
    use->runs = 1;
    if (use->start_ns < *done_ns)
        use->start_ns = *done_ns;
    if (use->start_ns + use->ns > now_ns)
        use->start_ns = now_ns > use->ns ? now_ns - use->ns : 0;
    *done_ns = use->start_ns + use->ns;
}

void takt__learner_note_use(struct takt_learner *learner,
                            const struct takt_sample *sample, uint64_t now_ns)
{
    if (!is_use(learner, sample))
        return;
    const struct takt_arm *arm = takt__model_arm(learner->model, sample->arm);
    const bool is_gpu = takt__arm_is_gpu(arm);
    struct takt_energy_use use = {
        .arm = sample->arm,
        .bound = takt__model_bound(learner->model, sample),
        .threads = is_gpu ? 1 : arm->rates.threads,
        .where = place_of(learner, sample->arm),
        .start_ns = sample->start_ns,
        .ns = (uint64_t)(sample->seconds * 1e9),
        .runs = sample->calls > 0 ? sample->calls : 1,
    };

    if (is_gpu && (sample->situation & TAKT_RESIDENT) != 0)
        place_in_time(learner, sample, now_ns, &use);
    takt__energy_use(learner->energy.energy, &use);
}

/* ---- watts --------------------------------------------------------------- */

/* Verdicts depend on it: what the model has already is not told again. */
static bool is_news(const struct takt_watts *before,
                    const struct takt_watts *now)
{
    return !before->is_known ||
           fabsf(before->mean - now->mean) > 0.02F * before->mean;
}

/* What was known stays until it is known better: an expert that was not at work
 * for long draws what it drew. */
static void tell(void *self, unsigned arm, unsigned bound)
{
    struct takt_learner *learner = self;
    const struct takt_energy_watts found =
        takt__energy_watts(learner->energy.energy, arm, bound);
    const struct takt_watts watts = {(float)found.mean, (float)found.error,
                                     true},
                            before = takt__watts_get(learner, arm, bound);

    if (found.is_known && is_news(&before, &watts))
        takt__watts_set(learner, arm, bound, watts);
}

static void read_counters(struct takt_learner *learner)
{
    struct takt_energy_watch *watch = &learner->energy;
    struct takt_energy_reading reading;

    takt__lock(&learner->lock);
    uint32_t due = takt__energy_due(watch->energy, takt__now_ns());
    takt__unlock(&learner->lock);
    for (unsigned i = 0; due != 0; i++, due >>= 1) {
        if ((due & 1) == 0)
            continue;
        takt__meter_read(watch->meter, i, &reading); /* takes milliseconds */
        takt__lock(&learner->lock);
        if (takt__energy_read(watch->energy, i, &reading))
            takt__energy_each(watch->energy, tell, learner);
        takt__unlock(&learner->lock);
    }
}

void takt__learner_measure(struct takt_learner *learner)
{
    struct takt_energy_watch *watch = &learner->energy;

    if (watch->energy == NULL && !open_meter(learner)) {
        watch->is_wanted = false;
        return;
    }
    read_counters(learner);
}

struct takt_energy *takt__learner_energy(struct takt_learner *learner)
{
    return learner->energy.energy;
}

_Static_assert((int)TAKT_BOUNDS == (int)TAKT_ENERGY_BOUNDS,
               "calls differ by what bounds them");
