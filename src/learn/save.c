/* SPDX-License-Identifier: MIT */
/* save.c - writes the model's own statistics to the store. */
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "base/log.h"
#include "learn/inside.h"

static void collect(void *self, const struct takt_summary *summary)
{
    struct takt_learner *learner = self;
    const char *op =
        learner->callbacks.op_of(learner->callbacks.self, summary->series);
    struct takt_record record = {
        .situation = summary->situation,
        .bin = summary->bucket,
        .seq = learner->seq,
        .n = summary->n,
        .mean = summary->mean,
        .m2 = summary->m2,
        .first_s = summary->first_s,
        .bytes = summary->bytes,
        .flops = summary->flops,
        .calls = summary->calls,
        .seconds = summary->seconds,
        .last_unix_s = (int64_t)time(NULL),
    };
    enum takt_op_id id;
    unsigned user_op;
    takt_dtype dtype;

    if (op == NULL)
        return;
    takt__series_name(summary->series, &id, &user_op, &dtype, record.layout);
    record.dtype = (unsigned)dtype;
    snprintf(record.op, sizeof record.op, "%s", op);
    snprintf(record.device, sizeof record.device, "%s",
             takt__learner_device(learner, summary->arm));
    snprintf(record.expert, sizeof record.expert, "%s",
             takt__model_arm(learner->model, summary->arm)->name);
    takt__records_keep(&learner->unsaved, &record);
    takt__tail_collect(learner, &record, &summary->tail);
}

static uint64_t samples_of(const struct takt_learner *learner)
{
    return takt__model_counters(learner->model).samples;
}

static bool has_changes(struct takt_learner *learner)
{
    takt__lock(&learner->lock);
    const bool has_learned = samples_of(learner) != learner->saved_samples;
    takt__unlock(&learner->lock);
    return has_learned || learner->unsaved.count > 0;
}

/* With both locks. */
static void collect_changes(struct takt_learner *learner)
{
    learner->seq++;
    learner->saved_samples = samples_of(learner);
    takt__model_visit(learner->model, true, collect, learner);
    takt__day_collect(learner);
    takt__watts_collect(learner);
}

static takt_status write_unsaved(struct takt_learner *learner)
{
    struct takt_records *list = &learner->unsaved;
    const takt_status status =
        list->count == 0
            ? TAKT_OK
            : takt__store_write(learner->store, list->record, list->count);

    if (status == TAKT_OK)
        list->count = 0;
    return status;
}

/* A file that was removed or damaged has to be opened again. One that is locked
 * or on a full disk stays open, under the same writer's name. One whose
 * descriptor the program closed cannot be used any more. That many processes
 * write at once passes, and is no mistake. */
static void handle_failure(struct takt_learner *learner, takt_status status)
{
    if (takt__store_is_lost(learner->store)) {
        snprintf(learner->diag.text, sizeof learner->diag.text, "%s",
                 TAKT_STORE_LOST);
        learner->is_given_up = true;
        takt__learner_close_store(learner);
        return;
    }
    learner->diag.text[0] = '\0';
    learner->cannot_write = true;
    takt__learner_say_unwritable(learner);
    takt__log(learner->is_store_set && !takt__store_is_locked(learner->store)
                  ? TAKT_LOG_ERROR
                  : TAKT_LOG_INFO,
              "store: %s", learner->diag.text);
    learner->failures += learner->failures < 6;
    if (learner->failures >= 2 || status == TAKT_ECORRUPT ||
        takt__store_is_renamed(learner->store))
        takt__learner_close_store(learner);
}

takt_status takt__learner_save(struct takt_learner *learner, uint64_t now_ns,
                               bool now)
{
    if (learner->path[0] == '\0' || (!now && now_ns < learner->next_save_ns))
        return TAKT_OK;
    learner->next_save_ns = now_ns + takt_save_every_ns;
    if (!has_changes(learner))
        return TAKT_OK;
    if (!takt__learner_load(learner) || learner->writer[0] == '\0')
        return learner->store_status != TAKT_OK ? learner->store_status
                                                : TAKT_EIO;
    /* What could not be written last time goes first. */
    takt_status status = write_unsaved(learner);
    if (status == TAKT_OK) {
        takt__lock(&learner->lock);
        collect_changes(learner);
        takt__unlock(&learner->lock);
        status = write_unsaved(learner);
    }
    if (status != TAKT_OK) {
        handle_failure(learner, status);
        return status;
    }
    if (learner->failures > 0)
        learner->diag.text[0] = '\0';
    learner->failures = 0;
    learner->cannot_write = false;
    return TAKT_OK;
}

takt_status takt__learner_reset(struct takt_learner *learner, const char *op)
{
    takt__records_drop(&learner->unclaimed, op);
    takt__records_drop(&learner->unclaimed_hints, op);
    takt__records_drop(&learner->unsaved, op);
    if (op == NULL)
        takt__day_forget(learner);
    if (learner->path[0] == '\0')
        return TAKT_OK;
    return learner->store != NULL ? takt__store_reset(learner->store, op)
                                  : TAKT_EIO;
}

void takt__learner_close(struct takt_learner *learner)
{
    if (learner->store == NULL)
        return;
    takt_status status = takt__learner_save(learner, takt__now_ns(), true);
    takt__lock(&learner->lock);
    if (status == TAKT_OK && learner->store != NULL &&
        samples_of(learner) != learner->saved_samples) {
        collect_changes(learner); /* what came while that was written */
        status = write_unsaved(learner);
    }
    if (status == TAKT_OK)
        takt__learner_disown(learner);
    takt__unlock(&learner->lock);
    takt__learner_close_store(learner);
}
