/* SPDX-License-Identifier: MIT */
/*
 * recall.c - opens the store, and restores the model from it.
 *
 * Records of this machine count as if measured now, but for three samples at
 * most if another version of the library measured them. Records of other
 * machines are hints, and so are those of another GPU in this machine. Records
 * of ops or experts that this program has not defined are kept until it does.
 * Records of days are for people; only a writer's own of today is needed here.
 * What experts draw (watts.c) holds for this machine alone.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/log.h"
#include "learn/inside.h"

static const uint64_t open_every_ns = 5000000000;

/* Of this machine (a hundred megabytes), and of others or kept for later. */
enum { most_own = 1 << 18, most_records = 1 << 16 };

void takt__learner_close_store(struct takt_learner *learner)
{
    takt__store_close(learner->store);
    learner->store = NULL;
}

void takt__learner_disown(struct takt_learner *learner)
{
    takt__model_disown(learner->model);
    takt__day_forget(learner);
    learner->unsaved.count = 0;
    learner->saved_samples = takt__model_counters(learner->model).samples;
    learner->writer[0] = '\0';
}

/* ---- reading ------------------------------------------------------------- */

static bool is_of_device(const struct takt_learner *learner,
                         const struct takt_record *record, unsigned expert)
{
    return strcmp(record->device, takt__learner_device(learner, expert)) == 0;
}

/* Whether a record was written under that name by this library here. */
static bool is_own(const struct takt_learner *learner,
                   const struct takt_record *record, const char *writer)
{
    return strcmp(record->writer, writer) == 0 &&
           strcmp(record->machine, learner->machine) == 0 &&
           strcmp(record->software, learner->software) == 0;
}

static bool is_of_store(const struct takt_learner *learner,
                        const struct takt_record *record)
{
    return is_own(learner, record, takt__store_writer(learner->store));
}

/* All records are read before any is restored: a store that fails half-way
 * would leave half of the samples, to be written over all of them. */
struct reading {
    struct takt_learner *learner;
    struct takt_records own, foreign; /* of this machine and of others */
    size_t others;                    /* how many there were of others */
};

static void add_foreign(struct reading *reading,
                        const struct takt_record *record)
{
    reading->others += !takt__is_tail(record);
    if (reading->foreign.count < most_records)
        takt__records_add(&reading->foreign, record);
}

static void collect(void *self, const struct takt_record *record)
{
    struct reading *reading = self;

    if (takt__is_day(record) && !is_of_store(reading->learner, record))
        return;
    if (takt__is_watts(record) &&
        strcmp(record->machine, reading->learner->machine) != 0)
        return; /* other machines draw what they draw */
    if (strcmp(record->machine, reading->learner->machine) != 0)
        add_foreign(reading, record);
    else if (reading->own.count < most_own)
        takt__records_add(&reading->own, record);
    else
        reading->own.status = TAKT_EFULL;
}

static takt_status collect_all(struct reading *reading)
{
    takt_status status =
        takt__store_scan(reading->learner->store, collect, reading);

    if (status == TAKT_OK)
        status = reading->own.status;
    if (status == TAKT_OK)
        status = reading->foreign.status;
    return status;
}

static void end_reading(struct reading *reading)
{
    free(reading->own.record);
    free(reading->foreign.record);
}

/* Samples of another version of the library count as three at most. */
static takt_status restore(struct takt_learner *learner,
                           const struct takt_record *record,
                           struct takt_summary *summary, bool is_own)
{
    static const double most = 3;

    if (strcmp(record->software, learner->software) != 0 && summary->n > most) {
        summary->m2 *= most / summary->n;
        summary->n = most;
    }
    return takt__model_restore(learner->model, summary, is_own);
}

/* A record of this machine; another GPU in it is like another machine. */
static takt_status restore_record(struct reading *reading,
                                  const struct takt_record *record)
{
    struct takt_learner *learner = reading->learner;
    struct takt_summary summary;
    const bool is_known = takt__record_find(learner, record, true, &summary);

    if (takt__is_tail(record) && is_known &&
        is_of_device(learner, record, summary.arm)) {
        takt__tail_restore(learner, record,
                           is_of_store(learner, record) ? TAKT_TAIL_OWN
                                                        : TAKT_TAIL_OF_MACHINE);
        return TAKT_OK;
    }
    if (is_known && !is_of_device(learner, record, summary.arm)) {
        add_foreign(reading, record);
        return reading->foreign.status;
    }
    if (is_of_store(learner, record) && record->seq > learner->seq)
        learner->seq = record->seq;
    if (takt__is_day(record)) {
        takt__day_restore(learner, record);
        return TAKT_OK;
    }
    learner->own_records++;
    if (takt__is_watts(record) && takt__watts_restore(learner, record))
        return TAKT_OK;
    if (is_known)
        return restore(learner, record, &summary, is_of_store(learner, record));
    if (learner->unclaimed.count < most_records)
        takt__records_add(&learner->unclaimed, record);
    return learner->unclaimed.status;
}

/* What is left of them waits for experts that are not known yet. */
static void give_hints(struct reading *reading)
{
    struct takt_records *left = &reading->learner->unclaimed_hints;

    takt__learner_hint(reading->learner, &reading->foreign);
    free(left->record);
    *left = reading->foreign;
    reading->foreign = (struct takt_records){0};
}

static takt_status read_all(struct takt_learner *learner)
{
    struct reading reading = {.learner = learner};
    takt_status status = collect_all(&reading);

    learner->unclaimed.count = 0;
    learner->unclaimed.status = TAKT_OK;
    learner->own_records = 0;
    for (size_t i = 0; status == TAKT_OK && i < reading.own.count; i++)
        status = restore_record(&reading, &reading.own.record[i]);
    learner->other_records = (double)reading.others;
    if (status == TAKT_OK)
        give_hints(&reading);
    else
        takt__learner_disown(learner);
    end_reading(&reading);
    return status;
}

/* ---- reading again ------------------------------------------------------- */
/*
 * A store that was closed, for a fork() or after a failure, may give another
 * writer's name when it is opened again, and another process may have written
 * under the old one meanwhile. What is stored under the new name is adopted.
 */

static takt_status adopt(struct takt_learner *learner,
                         const struct takt_record *record)
{
    struct takt_summary summary;

    if (is_of_store(learner, record) && takt__is_day(record))
        takt__day_restore(learner, record);
    else if (is_of_store(learner, record) && takt__is_tail(record))
        takt__tail_restore(learner, record, TAKT_TAIL_ADOPTED);
    else if (is_of_store(learner, record) &&
             takt__record_find(learner, record, true, &summary) &&
             is_of_device(learner, record, summary.arm))
        return takt__model_adopt(learner->model, &summary);
    return TAKT_OK;
}

static takt_status resume(struct takt_learner *learner,
                          const struct takt_records *own)
{
    const bool is_same =
        strcmp(learner->writer, takt__store_writer(learner->store)) == 0;
    bool is_stored = false; /* our own samples, under learner->writer */
    uint64_t seq = 0;       /* the last one under the new name */
    takt_status status = TAKT_OK;

    for (size_t i = 0; i < own->count; i++) {
        is_stored |= strcmp(own->record[i].writer, learner->writer) == 0;
        if (is_of_store(learner, &own->record[i]) && own->record[i].seq > seq)
            seq = own->record[i].seq;
    }
    if (is_same && is_stored && seq <= learner->seq)
        return TAKT_OK; /* no other process wrote */
    if (is_stored)
        takt__learner_disown(learner);
    for (size_t i = 0; status == TAKT_OK && i < own->count; i++)
        status = adopt(learner, &own->record[i]);
    if (status != TAKT_OK)
        takt__learner_disown(learner);
    if (seq > learner->seq)
        learner->seq = seq;
    return status;
}

static takt_status read_again(struct takt_learner *learner)
{
    struct reading reading = {.learner = learner};
    takt_status status = collect_all(&reading);

    if (status == TAKT_OK)
        status = resume(learner, &reading.own);
    end_reading(&reading);
    return status;
}

/* A writable store with a diagnosis was repaired. That is an error, as is a
 * diagnosis of a file that the environment names; a home that is read-only is
 * common. */
static void log_store(const struct takt_learner *learner, takt_status status)
{
    const bool is_repaired =
        status == TAKT_OK && takt__store_writer(learner->store)[0] != '\0';

    if (learner->diag.text[0] != '\0')
        takt__log(learner->is_store_set || is_repaired ? TAKT_LOG_ERROR
                                                       : TAKT_LOG_INFO,
                  "store: %s", learner->diag.text);
    else if (status == TAKT_OK)
        takt__log(TAKT_LOG_INFO, "store: %s", learner->path);
}

/* A failure that may pass: tried again after a while, then twice as long. */
static void postpone_opening(struct takt_learner *learner, takt_status status)
{
    learner->is_given_up =
        status != TAKT_EIO && status != TAKT_ENOMEM && status != TAKT_ECORRUPT;
    learner->next_open_ns =
        takt__now_ns() + (open_every_ns << learner->failures);
    learner->failures += learner->failures < 6;
}

/* A store that is opened to be read is not waited for by a program that ends,
 * forks or has no more use for the context. */
static bool may_wait(void *self)
{
    struct takt_learner *learner = self;
    const uint32_t state = atomic_load(&learner->worker.state);

    return learner->is_last ||
           (state != TAKT_WORKER_ENDING && state != TAKT_WORKER_LEAVING &&
            !atomic_load(&learner->is_hurried));
}

static bool open_store(struct takt_learner *learner)
{
    const struct takt_patience patience = {may_wait, learner};
    const struct takt_store_identity identity = {.machine = learner->machine,
                                                 .software = learner->software,
                                                 .is_foreign =
                                                     learner->is_store_foreign,
                                                 .patience = &patience};

    if (learner->is_given_up || learner->path[0] == '\0' ||
        takt__now_ns() < learner->next_open_ns)
        return false;
    learner->next_save_ns = takt__now_ns() + takt_save_every_ns;
    learner->store_status = takt__store_open(learner->path, &identity,
                                             &learner->diag, &learner->store);
    log_store(learner, learner->store_status);
    if (learner->store_status != TAKT_OK) {
        postpone_opening(learner, learner->store_status);
        learner->is_given_up |= learner->store_status == TAKT_ECORRUPT;
    }
    return learner->store_status == TAKT_OK;
}

void takt__learner_say_unwritable(struct takt_learner *learner)
{
    if (learner->cannot_write && learner->diag.text[0] == '\0')
        snprintf(learner->diag.text, sizeof learner->diag.text,
                 "%.360s cannot be written now: what is learned stays in "
                 "memory until it can; check the space left, and what else "
                 "uses it",
                 learner->path);
}

/* Readers of the store do not wait, or (for a remote file without a log) for a
 * commit alone: the model's lock may be held. */
static bool read_store(struct takt_learner *learner)
{
    takt__lock(&learner->lock);
    const takt_status status =
        learner->is_loaded ? read_again(learner) : read_all(learner);
    if (status == TAKT_OK) {
        learner->is_loaded = true;
        snprintf(learner->writer, sizeof learner->writer, "%s",
                 takt__store_writer(learner->store));
    }
    takt__unlock(&learner->lock);
    learner->store_status = status;
    if (status == TAKT_OK) {
        takt__learner_say_unwritable(learner);
        return true;
    }
    snprintf(learner->diag.text, sizeof learner->diag.text,
             "what is in %.400s could not be read: %s", learner->path,
             status == TAKT_EFULL ? "there are too many records"
                                  : takt_status_text(status));
    log_store(learner, status);
    postpone_opening(learner, status);
    takt__learner_close_store(learner);
    return false;
}

bool takt__learner_load(struct takt_learner *learner)
{
    if (learner->store != NULL)
        return true;
    const bool is_read = open_store(learner) && read_store(learner);
    atomic_store(&learner->was_tried, 1);
    takt__futex_wake(&learner->was_tried);
    return is_read;
}

/* Without the store's lock, so by learner->writer, which both locks guard.
 * False: it is not known yet, or there is no memory. */
static bool claim(struct takt_learner *learner,
                  const struct takt_record *record)
{
    struct takt_summary summary;

    if (takt__is_watts(record))
        return takt__watts_restore(learner, record);
    if (!takt__record_find(learner, record, true, &summary))
        return false;
    if (!is_of_device(learner, record, summary.arm))
        return true;
    const bool is_ours = is_own(learner, record, learner->writer);
    if (takt__is_tail(record)) {
        takt__tail_restore(learner, record,
                           is_ours ? TAKT_TAIL_OWN : TAKT_TAIL_OF_MACHINE);
        return true;
    }
    return restore(learner, record, &summary, is_ours) == TAKT_OK;
}

void takt__learner_claim(struct takt_learner *learner)
{
    struct takt_records *list = &learner->unclaimed;
    size_t left = 0;

    for (size_t i = 0; i < list->count; i++)
        if (!claim(learner, &list->record[i]))
            list->record[left++] = list->record[i];
    list->count = left;
    takt__learner_hint(learner, &learner->unclaimed_hints);
}
