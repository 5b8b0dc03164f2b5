/* SPDX-License-Identifier: MIT */
/*
 * learn.c - from a sample to statistics.
 *
 * A series is marked for judging anew when a mean moved; for other reasons see
 * budget.c and recovery.c.
 */
#include <math.h>

#include "model/inside.h"

/* Without a GPU the operands are where they always are; a GPU that has them all
 * has a column of its own. */
static void find_column(const struct takt_model *model,
                        struct takt_observation *out)
{
    const struct takt_sample *sample = out->sample;
    const struct takt_arm *arm = &model->arm[sample->arm];

    out->objective = sample->objective;
    out->called_in = out->column = (sample->flags & TAKT_SAMPLE_MISJUDGED) != 0
                                       ? sample->situation ^ TAKT_ASLEEP
                                       : sample->situation;
    if ((sample->situation & TAKT_RESIDENT) == 0)
        return;
    if (!takt__model_has_gpu(model, sample->series))
        out->called_in = out->column = out->column & (unsigned)~TAKT_RESIDENT;
    else if (takt__arm_is_gpu(arm))
        out->column = takt__arm_column(arm);
}

static bool observe(struct takt_model *model, const struct takt_sample *sample,
                    struct takt_observation *out)
{
    const struct takt_arm *arm = &model->arm[sample->arm];
    const takt_work work = {(double)sample->bytes, (double)sample->flops};

    out->sample = sample;
    out->series = takt__series_at(model, sample->series);
    if (out->series == NULL)
        return false;
    find_column(model, out);
    out->situation = takt__track_situation(out->series, arm, sample->situation);
    out->track = takt__track_at(out->series, sample->arm);
    if (out->track == NULL)
        return false;
    out->stat =
        takt__stat_at(&out->track->curve[out->situation], sample->bucket);
    out->curve = out->track->curve[out->situation];
    out->log_rates = log(takt__series_expect(out->series, arm, &work,
                                             out->situation, NULL)) +
                     model->log_load[arm->device];
    out->residual = log(sample->seconds) - out->log_rates;
    return out->stat != NULL;
}

/* The situations in which a sample matters. Asleep or awake share what is known
 * of one thread, and operands on a GPU or not what is known of the processor.
 */
static unsigned affected_by(const struct takt_model *model,
                            const struct takt_observation *seen)
{
    static const unsigned host = (1u << TAKT_RESIDENT) - 1;
    const unsigned s = seen->sample->situation & (TAKT_REPEAT | TAKT_ASLEEP);

    if (seen->series->link >= 0 || seen->situation == TAKT_RESIDENT)
        return 1u << TAKT_RESIDENT;
    if (takt__arm_is_gpu(&model->arm[seen->sample->arm]))
        return host;
    const unsigned shared = 1u << s | 1u << (s ^ TAKT_ASLEEP);
    return shared | shared << TAKT_RESIDENT;
}

/* What a call of this bucket is like, following slowly. */
static void follow_typical(const struct takt_observation *seen)
{
    struct takt_series *series = seen->series;
    const unsigned bucket = seen->sample->bucket;
    const takt_work work = {(double)seen->sample->bytes,
                            (double)seen->sample->flops};
    takt_work *typical = &series->typical[bucket];

    if (!series->is_typical_known[bucket]) {
        takt__series_set_typical(series, bucket, &work);
        return;
    }
    typical->bytes += 0.1 * (work.bytes - typical->bytes);
    typical->flops += 0.1 * (work.flops - typical->flops);
}

/* ---- first runs ---------------------------------------------------------- */

/* The first run in a process is slow for reasons of its own: libraries are
 * loaded, pages touched. It is kept apart, unless it was as fast as others. */
static bool is_slow_first(struct takt_model *model,
                          const struct takt_observation *seen)
{
    const struct takt_sample *sample = seen->sample;
    struct takt_reference reference;
    struct takt_prediction prediction;

    if (seen->track->has_run || (sample->flags & TAKT_SAMPLE_REPORTED) != 0 ||
        seen->series->link == TAKT_LINK_OPEN) /* which is never run twice */
        return false;
    seen->track->has_run = true;
    seen->stat->first_s = (float)sample->seconds;
    takt__predict_reference(model, seen->series, seen->situation, &reference);
    takt__predict(model, seen->series, &reference, sample->arm, seen->situation,
                  &prediction);
    if (seen->residual <=
        (double)prediction.residuals.mean[sample->bucket] + 0.2)
        return false;
    seen->stat->before = (float)seen->residual;
    return true;
}

/* The second run shows whether the first was slow; what counts is the faster of
 * the two. */
static void add_first_two(struct takt_stat *stat, double residual)
{
    const double first = (double)stat->before;

    takt__stat_add(stat, fmin(first, residual));
    if (fabs(first - residual) < 0.2)
        takt__stat_add(stat, fmin(first, residual));
}

/* ---- statistics ---------------------------------------------------------- */

/* While a device is slower as a whole, its load follows and the curves stay. */
static void follow_load(struct takt_model *model,
                        const struct takt_observation *seen)
{
    const unsigned device = model->arm[seen->sample->arm].device;
    const double distance = seen->residual - seen->stat->all.mean;

    if (model->log_load[device] != 0)
        takt__model_move_load(model, device,
                              0.2 * fmax(-0.3, fmin(0.3, distance)));
}

/* A loser that was tried again and is faster than ever: that is no spike. */
static bool is_faster_than_ever(const struct takt_observation *seen)
{
    return (seen->sample->flags & TAKT_SAMPLE_EXPLORED) != 0 &&
           seen->residual < seen->stat->all.mean &&
           takt__sums_is_outlier(&seen->stat->all, seen->residual);
}

static void watch(struct takt_model *model, const struct takt_observation *seen)
{
    if (seen->stat->all.n < 2)
        return;
    if (is_faster_than_ever(seen)) {
        takt__drift_alarm(model, seen, seen->residual - seen->stat->all.mean);
    } else {
        follow_load(model, seen);
        takt__drift_watch(model, seen);
    }
}

static const double settled = 64; /* samples of a mean, or more */

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

/* A sample changes predictions along the whole series and in other situations
 * too, but less and less: all are judged anew when samples have doubled, after
 * what is near to samples of all series. */
static bool is_milestone(double samples)
{
    const uint64_t count = (uint64_t)samples;
    return (count & (count - 1)) == 0;
}

/* A mean of many samples moves slowly, and is judged in its time; a change of
 * speed raises an alarm (drift.c). */
static void mark(const struct takt_model *model,
                 const struct takt_observation *seen, bool has_doubled)
{
    const struct takt_sample *sample = seen->sample;
    const unsigned affected = affected_by(model, seen);

    if (has_doubled || seen->stat->all.n < settled)
        takt__series_change_at(seen->series, affected, sample->bucket);
    else
        takt__series_move_at(seen->series, affected, sample->bucket,
                             sample->start_ns);
}

static void add_residual(struct takt_model *model,
                         const struct takt_observation *seen)
{
    struct takt_stat *stat = seen->stat;
    double *samples = &seen->track->samples[seen->situation];

    if ((seen->sample->flags & TAKT_SAMPLE_TUNING) != 0) {
        takt__stat_add_tuned(stat, seen->residual);
    } else {
        takt__tails_add(model, seen);
        if (takt__drift_is_dense(model, seen))
            return;
        watch(model, seen);
        if (stat->all.n < 1 && stat->before_n == 0 && stat->before != 0)
            add_first_two(stat, seen->residual);
        else
            takt__stat_add(stat, seen->residual);
    }
    ++*samples;
    model->uncalibrated++;
    const bool has_doubled = is_milestone(*samples);
    if (has_doubled)
        seen->series->is_stale = true;
    if (matters(stat) || has_doubled)
        mark(model, seen, has_doubled);
}

static bool is_valid(const struct takt_model *model,
                     const struct takt_sample *sample)
{
    return sample->series < TAKT_SERIES_COUNT &&
           sample->bucket < TAKT_BUCKETS &&
           sample->situation < TAKT_SITUATIONS &&
           sample->objective <= model->objective_count &&
           takt__model_allows(model, sample->series, sample->arm) &&
           isfinite(sample->bytes) && isfinite(sample->flops) &&
           sample->bytes >= 0 && sample->flops >= 0 &&
           ((sample->seconds > 0 && sample->seconds < 1e9) ||
            (sample->flags & TAKT_SAMPLE_REFUSED) != 0);
}

/* A trial that was offered and refused is over. */
static void refuse(struct takt_model *model,
                   const struct takt_observation *seen)
{
    if (!takt__suspend(model, seen))
        return;
    struct takt_bandit *bandit = takt__bandit_at(
        seen->series, seen->objective, seen->column, seen->sample->bucket);
    if (bandit != NULL && bandit->offered == seen->sample->arm)
        takt__offer_end(seen->series, bandit);
}

void takt__model_learn(struct takt_model *model,
                       const struct takt_sample *sample)
{
    struct takt_observation seen;

    if (!is_valid(model, sample) || !observe(model, sample, &seen))
        return;
    model->counters.samples++;
    seen.series->is_wanted = true;
    if ((sample->flags & TAKT_SAMPLE_REFUSED) != 0) {
        refuse(model, &seen);
        return;
    }
    seen.track->refusals = 0;
    seen.track->suspect_ns = 0;
    follow_typical(&seen);
    seen.stat->calls += sample->calls;
    seen.stat->seconds += sample->seconds * sample->calls;
    seen.stat->is_changed = true;
    if ((sample->flags & TAKT_SAMPLE_SWITCHED) == 0 &&
        !is_slow_first(model, &seen))
        add_residual(model, &seen);
    if (seen.series->link < 0) {
        model->runs[sample->arm]++;
        if (sample->calls > 0 || (sample->flags & TAKT_SAMPLE_SHADOW) != 0)
            takt__bandits_charge(model, &seen);
        seen.stat->seen_s =
            (float)takt__bucket_seconds(seen.series, sample->bucket);
        if ((seen.called_in & TAKT_RESIDENT) == 0)
            takt__model_each_arm(model, &seen, model->closed, takt__regret_add);
    }
    takt__end_suspensions(seen.series, sample->start_ns);
}
