/* SPDX-License-Identifier: MIT */
/*
 * learn.c - from a sample to statistics.
 *
 * Also says when verdicts should be made anew: a series is marked as changed
 * when a mean moved, when somebody may be tried now, when a suspect may come
 * back, and when a quarter more calls were made.
 */
#include <math.h>
#include <stdlib.h>

#include "model/inside.h"

/* What a sample is about. */
struct lesson {
    const struct takt_sample *sample;
    struct takt_series *series;
    struct takt_track *track;
    struct takt_curve *curve;
    struct takt_stat *stat;
    unsigned situation; /* as it matters to the arm */
    unsigned called_in; /* the situation of the call, ... */
    unsigned place;     /* ... and where it was decided */
    double log_rates;   /* ln(seconds) by the rates and the load */
    double residual;
};

static struct takt_curve *curve_for(struct takt_track *track,
                                    unsigned situation)
{
    if (track->curve[situation] == NULL)
        track->curve[situation] = calloc(1, sizeof *track->curve[situation]);
    return track->curve[situation];
}

/* Without a GPU the operands are where they always are; a GPU that has them all
 * has a place of its own. */
static void find_place(const struct takt_model *model, struct lesson *out)
{
    const struct takt_sample *sample = out->sample;
    const struct takt_arm *arm = &model->arm[sample->arm];

    out->called_in = out->place = sample->situation;
    if ((sample->situation & TAKT_RESIDENT) == 0)
        return;
    if (!takt__model_has_gpu(model, sample->series))
        out->called_in = out->place =
            sample->situation & (unsigned)~TAKT_RESIDENT;
    else if (takt__arm_is_gpu(arm))
        out->place = takt__arm_place(arm);
}

static bool open_lesson(struct takt_model *model,
                        const struct takt_sample *sample, struct lesson *out)
{
    const struct takt_arm *arm = &model->arm[sample->arm];
    const struct takt_work_of work = {(double)sample->bytes,
                                      (double)sample->flops};

    out->sample = sample;
    out->series = takt__series_at(model, sample->series);
    if (out->series == NULL)
        return false;
    find_place(model, out);
    out->situation = takt__track_situation(out->series, arm, sample->situation);
    out->track = takt__track_at(out->series, sample->arm);
    if (out->track == NULL)
        return false;
    out->curve = curve_for(out->track, out->situation);
    if (out->curve == NULL)
        return false;
    out->stat = takt__curve_at(out->curve, sample->bucket);
    out->log_rates =
        log(takt__series_seconds(out->series, arm, &work, out->situation)) +
        model->log_load[arm->device];
    out->residual = log(sample->seconds) - out->log_rates;
    return out->stat != NULL;
}

/* ---- accounts --------------------------------------------------------------
 */

/* An arm that refuses is left alone: 0.1 s, then twice as long each time, up
 * to a minute. Calls that were under way when it was left are no new times. */
static void suspect(struct takt_model *model, const struct lesson *lesson)
{
    static const uint64_t first_ns = 100000000, longest_ns = 60000000000;
    struct takt_track *track = lesson->track;
    const unsigned doublings = track->refusals < 10 ? track->refusals : 10;
    const uint64_t pause_ns = first_ns << doublings;

    model->counters.refused++;
    if (lesson->sample->start_ns < track->suspect_ns)
        return;
    if (track->refusals < UINT8_MAX)
        track->refusals++;
    track->suspect_ns = lesson->sample->start_ns +
                        (pause_ns < longest_ns ? pause_ns : longest_ns);
    if (lesson->series->retry_ns == 0 ||
        track->suspect_ns < lesson->series->retry_ns)
        lesson->series->retry_ns = track->suspect_ns;
    takt__series_change(lesson->series);
    struct takt_spot *spot =
        takt__spot_at(lesson->series, lesson->place, lesson->sample->bucket);
    if (spot != NULL && spot->offered == lesson->sample->arm)
        spot->offered = TAKT_NO_ARM;
}

/* Suspects whose time is over come back with the next verdict. */
static void call_back(struct takt_series *series, uint64_t now_ns)
{
    if (series->retry_ns == 0 || now_ns < series->retry_ns)
        return;
    series->retry_ns = 0;
    takt__series_change(series);
    for (unsigned i = 0; i < series->arm_count; i++) {
        const uint64_t then_ns = series->track[series->arm[i]]->suspect_ns;
        if (then_ns > now_ns &&
            (series->retry_ns == 0 || then_ns < series->retry_ns))
            series->retry_ns = then_ns;
    }
}

/* What it took beyond what another takes. A spike is nobody's fault: an arm
 * that was run before is charged no more than it usually takes. */
static double extra_of(const struct lesson *lesson, double other_s)
{
    const struct takt_sums *all = &lesson->stat->all;
    double seconds = lesson->sample->seconds;

    if (all->n >= 2)
        seconds = fmin(seconds, exp(lesson->log_rates + all->mean +
                                    3 * takt__sums_sigma(all)));
    return seconds > other_s ? seconds - other_s : 0;
}

bool takt__spot_affords(const struct takt_model *model,
                        const struct takt_spot *spot, double price_s)
{
    static const double free_calls = 4; /* of the best, before any budget */

    return spot->explored_s + price_s <=
           model->options.exploration * spot->seconds +
               free_calls * spot->best_s;
}

/* Whether a verdict may differ for other reasons than a new mean: because of
 * what may be tried now, and now and then just in case. */
static bool is_worth_judging(const struct takt_model *model,
                             const struct takt_spot *spot)
{
    if (spot->calls >= 1.25 * spot->judged)
        return true;
    return model->options.exploration > 0 &&
           (spot->calls >= spot->next_beat ||
            (spot->wanted_s > 0 &&
             takt__spot_affords(model, spot, spot->wanted_s)));
}

/* The situations in which a lesson is felt. Asleep or awake share what is known
 * of one thread, and operands on a GPU or not what is known of the processor.
 */
static unsigned felt_in(const struct takt_model *model,
                        const struct lesson *lesson)
{
    static const unsigned host = (1u << TAKT_RESIDENT) - 1;
    const unsigned s = lesson->sample->situation & (TAKT_REPEAT | TAKT_ASLEEP);

    if (lesson->series->link >= 0 || lesson->situation == TAKT_RESIDENT)
        return 1u << TAKT_RESIDENT;
    if (takt__arm_is_gpu(&model->arm[lesson->sample->arm]))
        return host;
    const unsigned shared = 1u << s | 1u << (s ^ TAKT_ASLEEP);
    return shared | shared << TAKT_RESIDENT;
}

static void keep_account_at(struct takt_model *model,
                            const struct lesson *lesson, unsigned place)
{
    const struct takt_sample *sample = lesson->sample;
    struct takt_spot *spot =
        takt__spot_at(lesson->series, place, sample->bucket);
    const unsigned felt = place < TAKT_SITUATIONS
                              ? 1u << place | 1u << (place ^ TAKT_ASLEEP)
                              : 1u << TAKT_RESIDENT;

    if (spot == NULL)
        return;
    /* Whether a GPU was tried or chosen, it was run. */
    if (place == lesson->place && place >= TAKT_PLACE_GPU)
        spot->offered = TAKT_NO_ARM;
    if (place == lesson->place && (sample->flags & TAKT_SAMPLE_EXPLORED) != 0) {
        const bool is_aside = (sample->flags & TAKT_SAMPLE_ASIDE) != 0;
        const double extra = extra_of(lesson, is_aside ? 0 : spot->best_s);
        spot->offered = TAKT_NO_ARM;
        spot->explored_s += extra;
        model->counters.explored++;
        model->counters.explored_s += extra;
        takt__series_change_at(lesson->series, felt, sample->bucket);
    }
    spot->calls += sample->calls;
    spot->seconds += sample->seconds * sample->calls;
    if (is_worth_judging(model, spot))
        takt__series_change_at(lesson->series, felt, sample->bucket);
}

typedef void arm_visit(struct takt_model *model, const struct lesson *lesson,
                       unsigned arm);

/* Visits the arms that are in a set and may run the series. */
static void each_arm(struct takt_model *model, const struct lesson *lesson,
                     const uint64_t set[], arm_visit *visit)
{
    const uint64_t *allowed = model->allowed[lesson->sample->series];

    for (unsigned i = 0; i < TAKT_MAX_ARMS / 64; i++)
        for (uint64_t left = set[i] & allowed[i]; left != 0; left &= left - 1)
            visit(model, lesson, 64 * i + (unsigned)__builtin_ctzll(left));
}

static void keep_account_of_gpu(struct takt_model *model,
                                const struct lesson *lesson, unsigned arm)
{
    if (!takt__model_is_asleep(model, arm))
        keep_account_at(model, lesson, takt__arm_place(&model->arm[arm]));
}

/* A call whose operands may be on GPUs counts for the budget of each. */
static void keep_account(struct takt_model *model, const struct lesson *lesson)
{
    keep_account_at(model, lesson, lesson->called_in);
    if ((lesson->called_in & TAKT_RESIDENT) != 0)
        each_arm(model, lesson, model->gpus, keep_account_of_gpu);
}

/* What one who sleeps would have saved. */
static void count_missed(struct takt_model *model, const struct lesson *lesson,
                         unsigned arm)
{
    const struct takt_sample *sample = lesson->sample;

    if (arm == sample->arm)
        return;
    const double would_s =
        takt__expected_asleep(model, lesson->series, arm, sample->bucket);
    if (would_s > 0)
        model->missed_s[arm] += extra_of(lesson, would_s) * sample->calls;
}

/* What a call of this bucket is like, following slowly. */
static void keep_typical(const struct lesson *lesson)
{
    struct takt_series *series = lesson->series;
    const unsigned bucket = lesson->sample->bucket;
    const struct takt_work_of work = {(double)lesson->sample->bytes,
                                      (double)lesson->sample->flops};
    struct takt_work_of *typical = &series->typical[bucket];

    if (bucket < series->first_bucket)
        series->first_bucket = (uint8_t)bucket;
    if (!series->is_met[bucket]) {
        takt__series_meet(series, bucket, &work);
        return;
    }
    typical->bytes += 0.1 * (work.bytes - typical->bytes);
    typical->flops += 0.1 * (work.flops - typical->flops);
}

/* ---- statistics ------------------------------------------------------------
 */

/* While a device is slower as a whole, its load follows and the shapes stay. */
static void follow_load(struct takt_model *model, const struct lesson *lesson)
{
    const unsigned device = model->arm[lesson->sample->arm].device;
    const double distance = lesson->residual - lesson->stat->all.mean;

    if (model->log_load[device] != 0)
        takt__model_move_load(model, device,
                              0.2 * fmax(-0.3, fmin(0.3, distance)));
}

/* The first run in a process is dear for reasons of its own: libraries are
 * loaded, pages touched. It is kept apart, unless it was as fast as any. */
static bool is_dear_first(struct takt_model *model, const struct lesson *lesson)
{
    const struct takt_sample *sample = lesson->sample;
    struct takt_reference reference;
    struct takt_prospect prospect;

    if (lesson->track->has_run || (sample->flags & TAKT_SAMPLE_TOLD) != 0 ||
        lesson->series->link == TAKT_LINK_OPEN) /* which is never run twice */
        return false;
    lesson->track->has_run = true;
    lesson->stat->first_s = (float)sample->seconds;
    takt__reference_find(model, lesson->series, lesson->situation, &reference);
    takt__believe(model, lesson->series, &reference, sample->arm,
                  lesson->situation, &prospect);
    if (lesson->residual <= (double)prospect.belief.mean[sample->bucket] + 0.2)
        return false;
    lesson->stat->first = (float)lesson->residual;
    return true;
}

/* Whether verdicts may have to change: at first with every sample, then when
 * the mean has moved. */
static bool matters(struct takt_stat *stat)
{
    if (stat->all.n > 5 &&
        fabs(stat->all.mean - (double)stat->published) < 0.01)
        return false;
    stat->published = (float)stat->all.mean;
    return true;
}

/* A loser that was tried again and is faster than ever: that is no spike. */
static bool is_news(const struct lesson *lesson)
{
    return (lesson->sample->flags & TAKT_SAMPLE_EXPLORED) != 0 &&
           lesson->residual < lesson->stat->all.mean &&
           takt__sums_is_outlier(&lesson->stat->all, lesson->residual);
}

/* The second run tells whether the first was dear, and no run is slower than
 * one that was dear. */
static void count_first(struct takt_stat *stat, double residual)
{
    const double first = (double)stat->first;

    takt__stat_add(stat, fmin(first, residual));
    if (fabs(first - residual) < 0.2)
        takt__stat_add(stat, fmin(first, residual));
}

/* A sample is felt along the whole series and in other situations too, but less
 * and less: everything is judged anew when samples have doubled. */
static bool is_milestone(double samples)
{
    const uint64_t count = (uint64_t)samples;
    return (count & (count - 1)) == 0;
}

static void watch(struct takt_model *model, const struct lesson *lesson)
{
    const struct takt_sample *sample = lesson->sample;
    struct takt_stat *stat = lesson->stat;
    const double residual = lesson->residual;

    if (stat->all.n < 2)
        return;
    if (is_news(lesson)) {
        takt__drift_alarm(model, lesson->series, sample->arm, lesson->curve,
                          sample->bucket, residual - stat->all.mean,
                          sample->start_ns);
    } else {
        follow_load(model, lesson);
        takt__drift_watch(model, lesson->series, sample->arm, lesson->curve,
                          stat, residual, sample->start_ns);
    }
}

static void take_in(struct takt_model *model, const struct lesson *lesson)
{
    const struct takt_sample *sample = lesson->sample;
    struct takt_stat *stat = lesson->stat;
    const double residual = lesson->residual;

    if ((sample->flags & TAKT_SAMPLE_TRIAL) != 0) {
        takt__stat_add_plainly(stat, residual);
    } else {
        watch(model, lesson);
        if (stat->all.n < 1 && stat->first != 0)
            count_first(stat, residual);
        else
            takt__stat_add(stat, residual);
    }
    lesson->track->samples[lesson->situation]++;
    model->uncalibrated++;
    if (is_milestone(lesson->track->samples[lesson->situation]))
        takt__series_change(lesson->series);
    else if (matters(stat))
        takt__series_change_at(lesson->series, felt_in(model, lesson),
                               sample->bucket);
}

static bool makes_sense(const struct takt_model *model,
                        const struct takt_sample *sample)
{
    return sample->series < TAKT_SERIES_COUNT &&
           sample->bucket < TAKT_BUCKETS &&
           sample->situation < TAKT_SITUATIONS &&
           takt__model_allows(model, sample->series, sample->arm) &&
           isfinite(sample->bytes) && isfinite(sample->flops) &&
           sample->bytes >= 0 && sample->flops >= 0 &&
           ((sample->seconds > 0 && sample->seconds < 1e9) ||
            (sample->flags & TAKT_SAMPLE_REFUSED) != 0);
}

void takt__model_learn(struct takt_model *model,
                       const struct takt_sample *sample)
{
    struct lesson lesson;

    if (!makes_sense(model, sample) || !open_lesson(model, sample, &lesson))
        return;
    model->counters.samples++;
    if ((sample->flags & TAKT_SAMPLE_REFUSED) != 0) {
        suspect(model, &lesson);
        return;
    }
    lesson.track->refusals = 0;
    lesson.track->suspect_ns = 0;
    keep_typical(&lesson);
    lesson.stat->calls += sample->calls;
    lesson.stat->seconds += sample->seconds * sample->calls;
    lesson.stat->seen_ns = sample->start_ns;
    lesson.stat->is_changed = true;
    if ((sample->flags & TAKT_SAMPLE_SWITCHED) == 0 &&
        !is_dear_first(model, &lesson))
        take_in(model, &lesson);
    if (lesson.series->link < 0) {
        model->runs[sample->arm]++;
        if (sample->calls > 0 || (sample->flags & TAKT_SAMPLE_ASIDE) != 0)
            keep_account(model, &lesson);
        if ((lesson.called_in & TAKT_RESIDENT) == 0)
            each_arm(model, &lesson, model->asleep, count_missed);
    }
    call_back(lesson.series, sample->start_ns);
}
