/* SPDX-License-Identifier: MIT */
/* team_choice.c - means per number of threads, and which one is tried next. */
#include "team_choice.h"

/* Other choices than the program's have to be better by this factor. */
static const float least_gain = 1.03f;

/* A call counts as 24 times the mean at most. Threads that share their
 * processors with others are a part of what a team takes. */
static const float far = 24;

/* What trials may cost: 2% of all time, and at the beginning 4 calls or 5 ms,
 * whichever is less. */
static const float share = 0.02f, free_calls = 4, free_ns = 5e6f;

/* A choice that is known is tried again after 64 calls at least; its old mean
 * then weighs as much as 4 calls. */
enum { least_since = 64, kept = 4 };

/* While nothing is tried, one in 8 calls below 10 us is timed. */
static const float short_ns = 10000;
enum { timed_of_short = 8 };

/* That a call is chosen for takes this long. Short ones that stay as the
 * program has them are not (takt__team_passes()): others have to gain more than
 * that.
 */
static const float choosing_ns = 100;

static uint32_t load(const _Atomic uint32_t *at)
{
    return atomic_load_explicit(at, memory_order_relaxed);
}

static void store(_Atomic uint32_t *at, uint32_t value)
{
    atomic_store_explicit(at, value, memory_order_relaxed);
}

static float load_ns(const _Atomic float *at)
{
    return atomic_load_explicit(at, memory_order_relaxed);
}

static void add_ns(_Atomic float *at, float ns)
{
    atomic_store_explicit(at, load_ns(at) + ns, memory_order_relaxed);
}

/* ---- teams --------------------------------------------------------------- */

static unsigned below(unsigned threads)
{
    unsigned power = 1;

    while (2 * power < threads)
        power *= 2;
    return power;
}

unsigned takt__teams_of(unsigned threads)
{
    unsigned count = 1;

    for (; threads > 1 && count < TAKT_TEAMS; threads = below(threads))
        count++;
    return count;
}

unsigned takt__team_threads(unsigned choice, unsigned threads)
{
    while (choice-- > 0)
        threads = below(threads);
    return threads;
}

static bool is_known(const struct takt_team_kind *kind, unsigned choice)
{
    return takt__mean_count(&kind->team[choice]) >= 2;
}

static float mean_of(const struct takt_team_kind *kind, unsigned choice)
{
    return takt__mean_of(&kind->team[choice]);
}

unsigned takt__team_preferred(const struct takt_team_kind *kind)
{
    unsigned best = 0;

    if (!is_known(kind, 0))
        return 0;
    for (unsigned i = 1; i < TAKT_TEAMS; i++)
        if (is_known(kind, i) &&
            mean_of(kind, i) * (best == 0 ? least_gain : 1) <
                mean_of(kind, best))
            best = i;
    return best;
}

/* Choices that are no numbers of threads. */
static bool is_offered(const struct takt_team_call *call, unsigned choice)
{
    return choice == TAKT_CHOICE_GPU ? call->has_gpu : call->has_own;
}

static unsigned fastest(const struct takt_team_kind *kind,
                        const struct takt_team_call *call)
{
    unsigned best = takt__team_preferred(kind);

    for (unsigned i = TAKT_TEAMS; i < TAKT_CHOICES; i++)
        if (is_known(kind, 0) && is_known(kind, i) && is_offered(call, i) &&
            mean_of(kind, i) * (best < TAKT_TEAMS ? least_gain : 1) <
                mean_of(kind, best))
            best = i;
    return best;
}

unsigned takt__team_fastest(const struct takt_team_kind *kind)
{
    return fastest(
        kind, &(const struct takt_team_call){.has_gpu = true, .has_own = true});
}

double takt__team_share(const struct takt_team_kind *kind, unsigned choice)
{
    return is_known(kind, 0) && is_known(kind, choice) && mean_of(kind, 0) > 0
               ? (double)(mean_of(kind, choice) / mean_of(kind, 0))
               : 0;
}

/* ---- trials -------------------------------------------------------------- */

/* A trial of short calls lasts for some of them, of which the first does not
 * count: sleeping threads have to be woken. A GPU's library loads code with the
 * first call of a routine. */
static uint32_t trial_calls(unsigned choice, float call_ns)
{
    return choice == TAKT_CHOICE_GPU ? 3
           : call_ns < 250e3f        ? 4
           : call_ns < 5e6f          ? 2
                                     : 1;
}

/* Other code is tried at once: it is opened because it is expected to gain, a
 * GPU with calls that take this long. Where a GPU is the fastest, the rest is
 * as slow as the library. `TAKT_CHOICES`: there is none. */
static const float least_of_gpu_ns = 1e6f;

static unsigned due_choice(const struct takt_team_kind *kind,
                           unsigned preferred,
                           const struct takt_team_call *call, float call_ns)
{
    if (preferred == TAKT_CHOICE_GPU)
        return TAKT_CHOICES;
    for (unsigned i = TAKT_TEAMS; i < TAKT_CHOICES; i++)
        if (is_offered(call, i) && !is_known(kind, i) &&
            (i != TAKT_CHOICE_GPU || call_ns >= least_of_gpu_ns))
            return i;
    return TAKT_CHOICES;
}

/* A choice that nothing is known of: what similar calls prefer, then the
 * neighbours of the preferred, then one thread. `count`: there is none. */
static unsigned unknown_choice(const struct takt_team_kind *kind,
                               unsigned preferred, unsigned hint,
                               unsigned count)
{
    const unsigned next[] = {hint, preferred + 1,
                             preferred > 0 ? preferred - 1 : 0, count - 1};

    for (unsigned i = 0; i < sizeof next / sizeof *next; i++)
        if (next[i] > 0 && next[i] < count && !is_known(kind, next[i]))
            return next[i];
    return count;
}

/* A known choice that is tried again, in turns: as the program has it, and the
 * neighbours of the preferred. The preferred itself: there is none. */
static unsigned known_choice(const struct takt_team_kind *kind,
                             unsigned preferred,
                             const struct takt_team_call *call, unsigned count)
{
    const uint32_t choice = load(&kind->retries) % 4;

    for (unsigned i = TAKT_TEAMS; i < TAKT_CHOICES; i++)
        if (choice == 2 && i != preferred && is_offered(call, i) &&
            is_known(kind, i))
            return i;
    if (preferred >= TAKT_TEAMS)
        return 0;
    const unsigned other = choice == 1   ? preferred + 1
                           : choice == 3 ? preferred - (preferred > 0)
                                         : 0;
    const unsigned next = preferred > 0 ? other : 1;

    return next == preferred || next >= count ? 0 : next;
}

/* What a call of a choice takes longer than one of the preferred. Fewer threads
 * take longer at most by the ratio of their numbers. */
static float extra_of(const struct takt_team_kind *kind, unsigned choice,
                      unsigned preferred, unsigned threads)
{
    const float best = mean_of(kind, preferred);
    const bool is_code = preferred >= TAKT_TEAMS || choice >= TAKT_TEAMS;
    const float ratio = is_code
                            ? 1
                            : (float)takt__team_threads(preferred, threads) /
                                  (float)takt__team_threads(choice, threads);
    const float extra = is_known(kind, choice) ? mean_of(kind, choice) - best
                        : ratio > 1            ? best * (ratio - 1)
                                               : best;

    return extra > 0 ? extra : 0;
}

static bool is_affordable(const struct takt_team_kind *kind, float extra_ns,
                          float call_ns)
{
    const float begin_ns =
        free_calls * call_ns < free_ns ? free_calls * call_ns : free_ns;

    return load_ns(&kind->extra_ns) + extra_ns <=
           share * load_ns(&kind->all_ns) + begin_ns;
}

/* What is tried next; the preferred: nothing. */
static unsigned next_choice(const struct takt_team_kind *kind,
                            unsigned preferred,
                            const struct takt_team_call *call, float call_ns)
{
    const unsigned count = takt__teams_of(call->threads);

    const unsigned due = due_choice(kind, preferred, call, call_ns);

    if (due < TAKT_CHOICES)
        return due;
    const unsigned unknown =
        preferred >= TAKT_TEAMS
            ? count
            : unknown_choice(kind, preferred, call->hint, count);
    return unknown < count ? unknown
                           : known_choice(kind, preferred, call, count);
}

static void look_for_trial(struct takt_team_kind *kind, unsigned preferred,
                           const struct takt_team_call *call)
{
    const float work = (float)call->work;
    const float call_ns = mean_of(kind, preferred) * work;
    const unsigned choice = next_choice(kind, preferred, call, call_ns);
    const bool is_new = !is_known(kind, choice);

    if (choice == preferred || (!is_new && load(&kind->since) < least_since))
        return;
    const uint32_t calls = trial_calls(choice, call_ns);
    const float extra_ns =
        (float)calls * work * extra_of(kind, choice, preferred, call->threads);
    const bool is_hinted = /* expected to gain */
        is_new && (choice == call->hint || choice >= TAKT_TEAMS);
    if (!is_affordable(kind, is_hinted ? 0 : extra_ns, call_ns))
        return;
    if (!is_new) {
        takt__mean_forget(&kind->team[choice], kept);
        store(&kind->retries, load(&kind->retries) + 1);
    }
    store(&kind->since, 0);
    store(&kind->left, calls);
    store(&kind->trial, choice + 1);
}

/* ---- calls --------------------------------------------------------------- */

/* Short calls that stay as the program has them need no choice for a while. */
static void let_pass(struct takt_team_kind *kind, unsigned preferred,
                     unsigned threads)
{
    enum { passes = 31 };
    const unsigned count = takt__teams_of(threads);

    if (preferred == 0 && unknown_choice(kind, 0, 0, count) == count)
        store(&kind->passes, passes);
}

struct takt_team_choice takt__team_choose(struct takt_team_kind *kind,
                                          const struct takt_team_call *call)
{
    const uint32_t calls = load(&kind->calls);
    const unsigned preferred = fastest(kind, call);
    const uint32_t tried = load(&kind->trial);

    store(&kind->calls, calls + 1);
    store(&kind->since, load(&kind->since) + 1);
    if (tried > TAKT_TEAMS && !is_offered(call, tried - 1))
        store(&kind->trial, 0);
    if (load(&kind->trial) == 0 && is_known(kind, 0))
        look_for_trial(kind, preferred, call);
    const uint32_t trial = load(&kind->trial);
    const unsigned choice = trial > 0 ? trial - 1 : preferred;
    const bool is_short =
        mean_of(kind, preferred) * (float)call->work < short_ns;
    if (trial == 0 && is_short && load(&kind->is_settling) == 0)
        let_pass(kind, preferred, call->threads);
    return (struct takt_team_choice){
        .choice = choice,
        .threads = choice >= TAKT_TEAMS
                       ? call->threads
                       : takt__team_threads(choice, call->threads),
        .is_timed = trial > 0 || load(&kind->is_settling) ||
                    !is_known(kind, 0) || !is_short ||
                    calls % timed_of_short == 0};
}

/* Whether a call of a trial counts: all but the first of several. */
static bool ends_trial_call(struct takt_team_kind *kind, uint32_t calls)
{
    const uint32_t left = load(&kind->left);

    if (left <= 1) {
        store(&kind->trial, 0);
        store(&kind->is_settling, 1);
    }
    if (left > 0)
        store(&kind->left, left - 1);
    return left < calls || calls == 1;
}

/* The first call after a trial pays for waking threads: that is a part of what
 * the trial took. */
static bool ends_settling(struct takt_team_kind *kind)
{
    const bool is_settling = load(&kind->is_settling) != 0;

    store(&kind->is_settling, 0);
    return is_settling;
}

/* What a call counts as. */
static float counted_ns(const struct takt_team_kind *kind, unsigned choice,
                        uint64_t ns, float usual_ns)
{
    const float took_ns = (float)ns + (choice > 0 ? choosing_ns : 0);

    return is_known(kind, choice) && took_ns > far * usual_ns ? far * usual_ns
                                                              : took_ns;
}

bool takt__team_learn(struct takt_team_kind *kind,
                      const struct takt_team_choice *choice, double work,
                      uint64_t ns)
{
    const struct takt_team_call call = {
        .has_gpu = choice->choice == TAKT_CHOICE_GPU,
        .has_own = choice->choice == TAKT_CHOICE_OWN};
    const unsigned preferred = fastest(kind, &call);
    const float usual_ns = mean_of(kind, preferred) * (float)work;
    const bool is_trial = load(&kind->trial) == choice->choice + 1;
    const bool is_settling = !is_trial && ends_settling(kind);
    const bool is_single = is_trial || is_settling || !(usual_ns < short_ns);
    const float took_ns = counted_ns(kind, choice->choice, ns, usual_ns);

    add_ns(&kind->all_ns, is_single ? took_ns : timed_of_short * took_ns);
    /* What a GPU's first calls take beyond that is a part of opening it. */
    const bool is_opening =
        choice->choice == TAKT_CHOICE_GPU && !is_known(kind, TAKT_CHOICE_GPU);
    if ((is_trial || is_settling) && !is_opening && took_ns > usual_ns)
        add_ns(&kind->extra_ns, took_ns - usual_ns);
    if (is_settling ||
        (is_trial &&
         !ends_trial_call(kind, trial_calls(choice->choice, usual_ns))))
        return false;
    takt__mean_add(&kind->team[choice->choice], took_ns / (float)work, far);
    return is_trial && load(&kind->trial) == 0;
}
