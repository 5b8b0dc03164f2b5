/* SPDX-License-Identifier: MIT */
/*
 * recall.c - between the model and the store.
 *
 * What this machine measured is taken as if measured now; what an older or
 * newer library measured on it counts for three samples at most; what other
 * machines measured is a hint, and so is what another GPU in this one did.
 * Records of ops or experts that this program does not know are kept aside, in
 * case it defines them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "learn/inside.h"

static const uint64_t open_every_ns = 5000000000;

/* Of this machine (a hundred megabytes), and of others or kept for later. */
enum { most_own = 1 << 18, most_records = 1 << 16 };

/* ---- in --------------------------------------------------------------------
 */

void takt__records_add(struct takt_records *list,
                       const struct takt_record *record)
{
    if (list->count == list->room) {
        const size_t room = list->room == 0 ? 64 : 2 * list->room;
        struct takt_record *more = realloc(list->record, room * sizeof *more);
        if (more == NULL) {
            list->status = TAKT_ENOMEM;
            return;
        }
        list->record = more;
        list->room = room;
    }
    list->record[list->count++] = *record;
}

const char *takt__learner_device(const struct takt_learner *learner,
                                 unsigned arm)
{
    const struct takt_learner_names *names = &learner->names;
    const char *device =
        names->device_of == NULL ? NULL : names->device_of(names->self, arm);

    return device == NULL ? "" : device;
}

static bool is_of_device(const struct takt_learner *learner,
                         const struct takt_record *record, unsigned arm)
{
    return strcmp(record->device, takt__learner_device(learner, arm)) == 0;
}

static bool find(struct takt_learner *learner, const struct takt_record *record,
                 struct takt_memory *out)
{
    const struct takt_learner_names *names = &learner->names;
    const int series = names->find_series(names->self, record->op,
                                          record->dtype, record->layout);
    int arm = series < 0 ? -1
                         : names->find_arm(names->self, (unsigned)series,
                                           record->expert);

    if (series >= 0 && arm < 0)
        arm = names->meet_arm(names->self, learner->model, (unsigned)series,
                              record->expert);
    if (arm < 0)
        return false;
    *out = (struct takt_memory){
        .series = (unsigned)series,
        .arm = (unsigned)arm,
        .situation = record->situation,
        .bucket = record->bin,
        .n = record->n,
        .mean = record->mean,
        .m2 = record->m2,
        .first_s = record->first_s,
        .bytes = record->bytes,
        .flops = record->flops,
        .calls = record->calls,
        .seconds = record->seconds,
    };
    return true;
}

/* Samples of another version of the library count as three at most. */
static void weigh(const struct takt_learner *learner,
                  const struct takt_record *record, struct takt_memory *memory)
{
    static const double most = 3;

    if (strcmp(record->software, learner->software) == 0 || memory->n <= most)
        return;
    memory->m2 *= most / memory->n;
    memory->n = most;
}

/* `writer` is under whose name this process writes. */
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

/* All records are read before any is believed: a store that fails half-way
 * would leave half a memory, which would be written over the whole one. */
struct reading {
    struct takt_learner *learner;
    struct takt_records own, foreign; /* machines' */
    size_t others;                    /* records of foreign ones */
};

static void collect(void *self, const struct takt_record *record)
{
    struct reading *reading = self;

    if (strcmp(record->machine, reading->learner->machine) != 0) {
        reading->others++;
        if (reading->foreign.count < most_records)
            takt__records_add(&reading->foreign, record);
    } else if (reading->own.count < most_own) {
        takt__records_add(&reading->own, record);
    } else {
        reading->own.status = TAKT_EFULL;
    }
}

static takt_status collect_all(struct reading *reading)
{
    takt_status status =
        takt__store_read(reading->learner->store, collect, reading);

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

static takt_status take_in(struct takt_learner *learner,
                           const struct takt_record *record,
                           struct takt_memory *memory, bool is_own)
{
    weigh(learner, record, memory);
    return takt__model_recall(learner->model, memory, is_own);
}

/* Of this machine; another GPU in it is as another machine. */
static takt_status sort_in(struct reading *reading,
                           const struct takt_record *record)
{
    struct takt_learner *learner = reading->learner;
    struct takt_memory memory;
    const bool is_known = find(learner, record, &memory);

    if (is_known && !is_of_device(learner, record, memory.arm)) {
        reading->others++;
        if (reading->foreign.count < most_records)
            takt__records_add(&reading->foreign, record);
        return reading->foreign.status;
    }
    if (is_of_store(learner, record) && record->seq > learner->seq)
        learner->seq = record->seq;
    learner->own_records++;
    if (is_known)
        return take_in(learner, record, &memory, is_of_store(learner, record));
    if (learner->unclaimed.count < most_records)
        takt__records_add(&learner->unclaimed, record);
    return learner->unclaimed.status;
}

static takt_status read_all(struct takt_learner *learner)
{
    struct reading reading = {.learner = learner};
    takt_status status = collect_all(&reading);

    learner->unclaimed.count = 0;
    learner->unclaimed.status = TAKT_OK;
    learner->own_records = 0;
    for (size_t i = 0; status == TAKT_OK && i < reading.own.count; i++)
        status = sort_in(&reading, &reading.own.record[i]);
    learner->other_records = (double)reading.others;
    if (status == TAKT_OK)
        takt__learner_hint(learner, &reading.foreign);
    else
        takt__learner_disown(learner);
    end_reading(&reading);
    return status;
}

/* ---- in again --------------------------------------------------------------
 * A store that was closed, for a fork() or for trouble, may give another
 * writer's name when it is opened again, and somebody else may have written
 * under ours meanwhile. What is stored under the name goes on from there.
 */

static takt_status adopt(struct takt_learner *learner,
                         const struct takt_record *record)
{
    struct takt_memory memory;

    if (is_of_store(learner, record) && find(learner, record, &memory) &&
        is_of_device(learner, record, memory.arm))
        return takt__model_adopt(learner->model, &memory);
    return TAKT_OK;
}

static takt_status resume(struct takt_learner *learner,
                          const struct takt_records *own)
{
    const bool is_same =
        strcmp(learner->writer, takt__store_writer(learner->store)) == 0;
    bool is_stored = false; /* what we call our own, under learner->writer */
    uint64_t seq = 0;       /* the last one under the name we have now */
    takt_status status = TAKT_OK;

    for (size_t i = 0; i < own->count; i++) {
        is_stored |= strcmp(own->record[i].writer, learner->writer) == 0;
        if (is_of_store(learner, &own->record[i]) && own->record[i].seq > seq)
            seq = own->record[i].seq;
    }
    if (is_same && is_stored && seq <= learner->seq)
        return TAKT_OK; /* nobody wrote but us */
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

/* A store that can be written, with something to say, was repaired. That is an
 * error, as is a file that the environment names; a home that is read-only is
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

/* Trouble that may pass is met again after a while, then after twice as
 * long. */
static void note_trouble(struct takt_learner *learner, takt_status status)
{
    learner->is_given_up =
        status != TAKT_EIO && status != TAKT_ENOMEM && status != TAKT_ECORRUPT;
    learner->next_open_ns =
        takt__now_ns() + (open_every_ns << learner->failures);
    learner->failures += learner->failures < 6;
}

static bool open_store(struct takt_learner *learner)
{
    const struct takt_store_identity identity = {.machine = learner->machine,
                                                 .software = learner->software,
                                                 .is_foreign =
                                                     learner->is_store_foreign};

    if (learner->is_given_up || learner->path[0] == '\0' ||
        takt__now_ns() < learner->next_open_ns)
        return false;
    learner->next_save_ns = takt__now_ns() + takt_save_every_ns;
    learner->store_status = takt__store_open(learner->path, &identity,
                                             &learner->diag, &learner->store);
    log_store(learner, learner->store_status);
    if (learner->store_status != TAKT_OK) {
        note_trouble(learner, learner->store_status);
        learner->is_given_up |= learner->store_status == TAKT_ECORRUPT;
    }
    return learner->store_status == TAKT_OK;
}

void takt__learner_close_store(struct takt_learner *learner)
{
    takt__store_close(learner->store);
    learner->store = NULL;
}

/* Readers of the store wait for nobody, or (where the file is far away and has
 * no log) for who commits: the model's lock may be held. */
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
    if (status == TAKT_OK)
        return true;
    snprintf(learner->diag.text, sizeof learner->diag.text,
             "what is in %.400s could not be read: %s", learner->path,
             status == TAKT_EFULL ? "there are too many records"
                                  : takt_status_text(status));
    log_store(learner, status);
    note_trouble(learner, status);
    takt__learner_close_store(learner);
    return false;
}

bool takt__learner_load(struct takt_learner *learner)
{
    if (learner->store != NULL)
        return true;
    const bool is_read = open_store(learner) && read_store(learner);
    learner->was_tried = true;
    return is_read;
}

/* Without the store's lock, so by the name that both locks guard. */
void takt__learner_claim(struct takt_learner *learner)
{
    struct takt_records *list = &learner->unclaimed;
    struct takt_memory memory;
    size_t left = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct takt_record *record = &list->record[i];
        const bool is_known = find(learner, record, &memory);
        if (!is_known ||
            (is_of_device(learner, record, memory.arm) &&
             take_in(learner, record, &memory,
                     is_own(learner, record, learner->writer)) != TAKT_OK))
            list->record[left++] = *record;
    }
    list->count = left;
}
