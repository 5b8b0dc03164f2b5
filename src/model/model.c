/* SPDX-License-Identifier: MIT */
/* model.c - arms, lines, and the memory they take: only what was called. */
#include "model/inside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Calls until losers are tried again; doubled each time. Judgement. */
static const double first_beat = 256;

takt_status takt__model_create(const struct takt_model_options *options,
                               struct takt_model **out)
{
    struct takt_model *model = calloc(1, sizeof *model);

    *out = model;
    if (model == NULL)
        return TAKT_ENOMEM;
    model->options = *options;
    return TAKT_OK;
}

static void free_curve(struct takt_curve *curve)
{
    if (curve != NULL)
        takt__curve_fini(curve);
    free(curve);
}

static void free_line(struct takt_line *line)
{
    if (line == NULL)
        return;
    for (unsigned i = 0; i < line->arm_count; i++) {
        struct takt_track *track = line->track[line->arm[i]];
        for (unsigned s = 0; s < TAKT_SITUATIONS; s++) {
            free_curve(track->curve[s]);
            free_curve(track->hint[s]);
        }
        free(track->asleep_s);
        free(track);
    }
    for (unsigned place = 0; place < TAKT_PLACES; place++)
        free(line->spot[place]);
    free(line);
}

void takt__model_destroy(struct takt_model *model)
{
    if (model == NULL)
        return;
    for (unsigned i = 0; i < TAKT_LINES; i++)
        free_line(model->line[i]);
    free(model);
}

/* ---- arms ------------------------------------------------------------------
 */

int takt__model_add_arm(struct takt_model *model, const struct takt_arm *arm)
{
    const unsigned number = model->arm_count;

    if (number >= TAKT_NO_ARM ||
        (takt__arm_is_gpu(arm) && takt__arm_place(arm) >= TAKT_PLACES))
        return -1;
    model->arm[number] = *arm;
    if (takt__arm_is_gpu(arm))
        model->gpus[number / 64] |= (uint64_t)1 << number % 64;
    model->arm_count++;
    return (int)number;
}

void takt__model_set_arm(struct takt_model *model, unsigned number,
                         const struct takt_arm *arm)
{
    model->arm[number] = *arm;
}

unsigned takt__model_arm_count(const struct takt_model *model)
{
    return model->arm_count;
}

const struct takt_arm *takt__model_arm(const struct takt_model *model,
                                       unsigned arm)
{
    return &model->arm[arm];
}

void takt__model_allow(struct takt_model *model, unsigned line, unsigned arm)
{
    model->allowed[line][arm / 64] |= (uint64_t)1 << arm % 64;
    if (model->line[line] != NULL)
        takt__line_change(model->line[line]); /* a newcomer may be first */
}

bool takt__model_allows(const struct takt_model *model, unsigned line,
                        unsigned arm)
{
    return arm < model->arm_count &&
           (model->allowed[line][arm / 64] >> arm % 64 & 1) != 0;
}

/* All lines that an arm may run, as far as there are any. */
static void change_lines_of(struct takt_model *model, unsigned arm)
{
    for (unsigned l = 0; l < TAKT_LINES; l++)
        if (model->line[l] != NULL && takt__model_allows(model, l, arm))
            takt__line_change(model->line[l]);
}

/* ---- who is asleep ---------------------------------------------------------
 */

void takt__model_set_asleep(struct takt_model *model, unsigned arm,
                            bool is_asleep)
{
    const uint64_t bit = (uint64_t)1 << arm % 64;

    if (takt__model_is_asleep(model, arm) == is_asleep)
        return;
    model->asleep[arm / 64] ^= bit;
    model->missed_s[arm] = model->wake_s[arm] = 0;
    change_lines_of(model, arm);
}

bool takt__model_is_asleep(const struct takt_model *model, unsigned arm)
{
    return (model->asleep[arm / 64] >> arm % 64 & 1) != 0;
}

double takt__model_missed_s(const struct takt_model *model, unsigned arm)
{
    return model->missed_s[arm];
}

/* As it was before, here or else on another machine; but no longer than usual.
 * Where a driver had to compile first, it does not the next time; and nobody
 * waits for it, since it is opened in a thread of its own. */
static double opening_of(const struct takt_model *model, unsigned arm)
{
    const struct takt_line *line =
        model->line[TAKT_LINE_LINKS + TAKT_LINK_OPEN];
    const struct takt_track *track = line == NULL ? NULL : line->track[arm];
    const struct takt_curve *curve = NULL;
    uint8_t bound;

    if (track != NULL)
        curve = track->curve[0] != NULL ? track->curve[0] : track->hint[0];
    const struct takt_stat *stat =
        curve == NULL ? NULL : takt__curve_find(curve, 0);
    return takt__rates_link(&model->arm[arm].rates, TAKT_LINK_OPEN, 0, &bound) *
           fmin(exp(stat == NULL ? 0 : stat->all.mean), 1);
}

bool takt__model_next_wake(struct takt_model *model, unsigned *arm)
{
    for (unsigned a = 0; a < model->arm_count; a++) {
        if (!takt__model_is_asleep(model, a) || model->missed_s[a] <= 0)
            continue;
        if (model->wake_s[a] <= 0)
            model->wake_s[a] = opening_of(model, a);
        if (model->missed_s[a] < model->wake_s[a])
            continue;
        model->wake_s[a] = 2 * model->missed_s[a];
        *arm = a;
        return true;
    }
    return false;
}

bool takt__model_has_gpu(const struct takt_model *model, unsigned line)
{
    uint64_t found = 0;

    for (unsigned i = 0; i < TAKT_MAX_ARMS / 64; i++)
        found |= model->allowed[line][i] & model->gpus[i] & ~model->asleep[i];
    return found != 0;
}

/* ---- lines -----------------------------------------------------------------
 */

static bool counts_flops(unsigned line)
{
    enum takt_op_id op;
    unsigned user_op;
    takt_dtype dtype;
    char layout[TAKT_LAYOUT_NAME];

    takt__line_name(line, &op, &user_op, &dtype, layout);
    return op != TAKT_OP_COUNT &&
           takt__form_counts_flops(takt__op_entry(takt_op_at(op))->form);
}

struct takt_line *takt__line_at(struct takt_model *model, unsigned line)
{
    if (model->line[line] != NULL)
        return model->line[line];
    struct takt_line *made = calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->counts_flops = counts_flops(line);
    made->link =
        (int8_t)(line < TAKT_LINE_LINKS ? -1 : (int)line - TAKT_LINE_LINKS);
    made->first_bin = TAKT_BINS;
    for (unsigned i = 0; i < TAKT_BINS; i++)
        made->typical[i] =
            (struct takt_work_of){takt__bin_work(i), takt__bin_work(i)};
    model->line[line] = made;
    return made;
}

struct takt_track *takt__track_at(struct takt_line *line, unsigned arm)
{
    if (line->track[arm] == NULL) {
        line->track[arm] = calloc(1, sizeof *line->track[arm]);
        if (line->track[arm] != NULL)
            line->arm[line->arm_count++] = (uint8_t)arm;
    }
    return line->track[arm];
}

struct takt_spot *takt__spot_at(struct takt_line *line, unsigned place,
                                unsigned bin)
{
    if (line->spot[place] == NULL) {
        line->spot[place] = calloc(TAKT_BINS, sizeof *line->spot[place]);
        if (line->spot[place] == NULL)
            return NULL;
        for (unsigned i = 0; i < TAKT_BINS; i++)
            line->spot[place][i] = (struct takt_spot){
                .offered = TAKT_NO_ARM,
                .incumbent = TAKT_NO_ARM,
                .next_beat = first_beat,
                .beat_calls = first_beat,
            };
    }
    return &line->spot[place][bin];
}

const struct takt_spot *takt__spot_find(const struct takt_line *line,
                                        unsigned place, unsigned bin)
{
    return line->spot[place] == NULL ? NULL : &line->spot[place][bin];
}

bool takt__model_has_line(const struct takt_model *model, unsigned line)
{
    return line < TAKT_LINES && model->line[line] != NULL;
}

takt_status takt__model_meet(struct takt_model *model, unsigned line,
                             unsigned bin, const struct takt_work_of *work)
{
    struct takt_line *found = takt__line_at(model, line);

    if (found == NULL)
        return TAKT_ENOMEM;
    if (!found->is_met[bin]) {
        takt__line_meet(found, bin, work);
        takt__line_change(found);
    }
    return TAKT_OK;
}

static unsigned nearest_met(const struct takt_line *line, unsigned bin)
{
    for (unsigned away = 1; away < TAKT_BINS; away++) {
        if (bin >= away && line->is_met[bin - away])
            return bin - away;
        if (bin + away < TAKT_BINS && line->is_met[bin + away])
            return bin + away;
    }
    return bin;
}

/* Bins that were never met are like the nearest one that was. Of matrices,
 * bytes grow with the power 2/3 of the operations; of everything else both
 * grow alike. */
void takt__line_meet(struct takt_line *line, unsigned bin,
                     const struct takt_work_of *work)
{
    line->is_met[bin] = true;
    line->typical[bin] = *work;
    for (unsigned i = 0; i < TAKT_BINS; i++) {
        if (line->is_met[i])
            continue;
        const unsigned near = nearest_met(line, i);
        const double ratio = takt__bin_work(i) / takt__bin_work(near);
        line->typical[i].flops = line->typical[near].flops * ratio;
        line->typical[i].bytes =
            line->typical[near].bytes *
            (line->counts_flops ? pow(ratio, 2.0 / 3) : ratio);
    }
}

void takt__line_change(struct takt_line *line)
{
    line->changed = (1u << TAKT_SITUATIONS) - 1;
    line->changed_first = 0;
    line->changed_last = TAKT_BINS - 1;
}

void takt__line_change_at(struct takt_line *line, unsigned situations,
                          unsigned bin)
{
    if (line->changed == 0) {
        line->changed_first = line->changed_last = (uint8_t)bin;
    } else {
        if (bin < line->changed_first)
            line->changed_first = (uint8_t)bin;
        if (bin > line->changed_last)
            line->changed_last = (uint8_t)bin;
    }
    line->changed |= (uint8_t)situations;
}

/* Without a GPU nothing is resident; where one has just fallen asleep, what was
 * published of it is taken back. Of a link nothing but GPUs is judged. */
static unsigned situations_of(struct takt_model *model, unsigned number)
{
    struct takt_line *line = model->line[number];
    const bool has_gpu = takt__model_has_gpu(model, number);
    const bool has_places = has_gpu || line->has_places;

    line->has_places = has_gpu;
    if (line->link >= 0)
        return has_places ? line->changed & 1u << TAKT_RESIDENT : 0;
    return has_places ? line->changed
                      : line->changed & ((1u << TAKT_RESIDENT) - 1);
}

/* Beliefs fade with the distance; within three octaves they are judged too. */
static struct takt_change change_of(struct takt_model *model, unsigned number)
{
    const struct takt_line *line = model->line[number];
    enum { reach = 6 };
    const unsigned first = line->changed_first, last = line->changed_last;

    return (struct takt_change){
        .line = number,
        .situations = situations_of(model, number),
        .first = first > reach ? first - reach : 0,
        .last = last + reach < TAKT_BINS ? last + reach : TAKT_BINS - 1,
    };
}

bool takt__model_next_change(struct takt_model *model, struct takt_change *out)
{
    for (unsigned i = 0; i < TAKT_LINES; i++) {
        const unsigned line = (model->next_changed + i) % TAKT_LINES;
        if (model->line[line] == NULL || model->line[line]->changed == 0)
            continue;
        *out = change_of(model, line);
        model->line[line]->changed = 0;
        if (out->situations == 0)
            continue;
        model->next_changed = line + 1;
        return true;
    }
    return false;
}

void takt__model_forget(struct takt_model *model, unsigned line)
{
    free_line(model->line[line]);
    model->line[line] = NULL;
    model->is_calibrated = false;
}

/* ---- questions -------------------------------------------------------------
 */

struct takt_model_counters takt__model_counters(const struct takt_model *model)
{
    return model->counters;
}

static void change_all(struct takt_model *model)
{
    for (unsigned l = 0; l < TAKT_LINES; l++)
        if (model->line[l] != NULL)
            takt__line_change(model->line[l]);
}

/* Small loads are none, so that shapes are learned and not the load. */
void takt__model_move_load(struct takt_model *model, unsigned device,
                           double shift)
{
    double load = model->log_load[device] + shift;

    load = fmax(log(0.25), fmin(log(20), load));
    if (fabs(load) < 0.03)
        load = 0;
    model->log_load[device] = load;
    if (fabs(load - model->published_load[device]) < 0.02)
        return;
    model->published_load[device] = load;
    change_all(model);
}

double takt__model_load(const struct takt_model *model, unsigned device)
{
    return exp(model->log_load[device]);
}

struct takt_account takt__model_account(const struct takt_model *model,
                                        unsigned line, unsigned situation,
                                        unsigned bin)
{
    const struct takt_line *found = model->line[line];
    const struct takt_spot *spot =
        found == NULL ? NULL : takt__spot_find(found, situation, bin);

    if (spot == NULL)
        return (struct takt_account){0};
    return (struct takt_account){spot->calls, spot->seconds, spot->explored_s};
}
