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
#include <time.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/log.h"
#include "base/name.h"
#include "learn/inside.h"

static const uint64_t save_every_ns = 4500000000;
static const uint64_t open_every_ns = 5000000000;
static const size_t most_records = 65536;

/* ---- in --------------------------------------------------------------------
 */

static bool keep(struct takt_records *list, const struct takt_record *record)
{
    if (list->count >= most_records)
        return false;
    if (list->count == list->room) {
        const size_t room = list->room == 0 ? 64 : 2 * list->room;
        struct takt_record *more = realloc(list->record, room * sizeof *more);
        if (more == NULL)
            return false;
        list->record = more;
        list->room = room;
    }
    list->record[list->count++] = *record;
    return true;
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
    const int line = names->find_line(names->self, record->op, record->dtype,
                                      record->layout);
    int arm =
        line < 0 ? -1
                 : names->find_arm(names->self, (unsigned)line, record->expert);

    if (line >= 0 && arm < 0)
        arm = names->meet_arm(names->self, learner->model, (unsigned)line,
                              record->expert);
    if (arm < 0)
        return false;
    *out = (struct takt_memory){
        .line = (unsigned)line,
        .arm = (unsigned)arm,
        .situation = record->situation,
        .bin = record->bin,
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

struct reading {
    struct takt_learner *learner;
    struct takt_records foreign;
};

static void take_in(struct takt_learner *learner,
                    const struct takt_record *record,
                    struct takt_memory *memory, bool is_own)
{
    weigh(learner, record, memory);
    takt__model_recall(learner->model, memory, is_own);
}

static void sort_in(void *self, const struct takt_record *record)
{
    struct reading *reading = self;
    struct takt_learner *learner = reading->learner;
    const bool is_here = strcmp(record->machine, learner->machine) == 0;
    struct takt_memory memory;
    const bool is_known = is_here && find(learner, record, &memory);

    if (!is_here || (is_known && !is_of_device(learner, record, memory.arm))) {
        learner->other_records++;
        keep(&reading->foreign, record);
        return;
    }
    if (is_of_store(learner, record) && record->seq > learner->seq)
        learner->seq = record->seq;
    learner->own_records++;
    if (is_known)
        take_in(learner, record, &memory, is_of_store(learner, record));
    else
        keep(&learner->unclaimed, record);
}

static void read_all(struct takt_learner *learner)
{
    struct reading reading = {.learner = learner};

    takt__store_read(learner->store, sort_in, &reading);
    takt__learner_hint(learner, &reading.foreign);
    free(reading.foreign.record);
}

/* ---- in again --------------------------------------------------------------
 * A store that was closed, for a fork() or for trouble, may give another
 * writer's name when it is opened again, and somebody else may have written
 * under ours meanwhile. What is stored under the name goes on from there.
 */

struct survey {
    struct takt_learner *learner;
    bool is_stored; /* what we call our own is in there, under `writer` */
    uint64_t seq;   /* the last one under the name we have now */
};

static void look_for_own(void *self, const struct takt_record *record)
{
    struct survey *survey = self;

    survey->is_stored |= strcmp(record->writer, survey->learner->writer) == 0;
    if (is_of_store(survey->learner, record) && record->seq > survey->seq)
        survey->seq = record->seq;
}

static void adopt(void *self, const struct takt_record *record)
{
    struct takt_learner *learner = self;
    struct takt_memory memory;

    if (is_of_store(learner, record) && find(learner, record, &memory) &&
        is_of_device(learner, record, memory.arm))
        takt__model_adopt(learner->model, &memory);
}

static void read_again(struct takt_learner *learner)
{
    struct survey survey = {.learner = learner};
    const bool is_same =
        strcmp(learner->writer, takt__store_writer(learner->store)) == 0;

    takt__store_read(learner->store, look_for_own, &survey);
    if (is_same && survey.is_stored && survey.seq <= learner->seq)
        return; /* nobody wrote but us */
    if (survey.is_stored)
        takt__learner_disown(learner);
    takt__store_read(learner->store, adopt, learner);
    if (survey.seq > learner->seq)
        learner->seq = survey.seq;
}

/* A store that opens after all, with something to say, was repaired. */
static void log_store(const struct takt_learner *learner, takt_status status)
{
    const bool is_asked = takt__config()->db != NULL;

    if (learner->diag.text[0] != '\0')
        takt__log(status == TAKT_OK || is_asked ? TAKT_LOG_ERROR
                                                : TAKT_LOG_INFO,
                  "store: %s", learner->diag.text);
    else if (status == TAKT_OK)
        takt__log(TAKT_LOG_INFO, "store: %s", learner->path);
}

/* Trouble that may pass is met again after a while, then after twice as
 * long. */
static bool open_store(struct takt_learner *learner)
{
    const struct takt_store_identity identity = {.machine = learner->machine,
                                                 .software = learner->software};
    const uint64_t now_ns = takt__now_ns();

    if (learner->is_given_up || learner->path[0] == '\0' ||
        now_ns < learner->next_open_ns)
        return false;
    const takt_status status = takt__store_open(
        learner->path, &identity, &learner->diag, &learner->store);
    log_store(learner, status);
    if (status != TAKT_OK) {
        learner->is_given_up = status != TAKT_EIO && status != TAKT_ENOMEM;
        learner->next_open_ns = now_ns + (open_every_ns << learner->failures);
        learner->failures += learner->failures < 6;
        return false;
    }
    learner->next_save_ns = now_ns + save_every_ns;
    return true;
}

/* Readers of the store wait for nobody, or (where the file is far away and has
 * no log) for who commits: the model's lock may be held. */
static void read_store(struct takt_learner *learner)
{
    takt__lock(&learner->lock);
    if (learner->is_loaded)
        read_again(learner);
    else
        read_all(learner);
    learner->is_loaded = true;
    snprintf(learner->writer, sizeof learner->writer, "%s",
             takt__store_writer(learner->store));
    takt__unlock(&learner->lock);
}

bool takt__learner_load(struct takt_learner *learner)
{
    if (learner->store != NULL)
        return true;
    const bool is_open = open_store(learner);
    if (is_open)
        read_store(learner);
    learner->was_tried = true;
    return is_open;
}

/* Without the store's lock, so by the name that both locks guard. */
void takt__learner_claim(struct takt_learner *learner)
{
    struct takt_records *list = &learner->unclaimed;
    struct takt_memory memory;
    size_t left = 0;

    for (size_t i = 0; i < list->count; i++) {
        const struct takt_record *record = &list->record[i];
        if (!find(learner, record, &memory))
            list->record[left++] = *record;
        else if (is_of_device(learner, record, memory.arm))
            take_in(learner, record, &memory,
                    is_own(learner, record, learner->writer));
    }
    list->count = left;
}

/* ---- out -------------------------------------------------------------------
 */

/* The store would refuse a whole batch for one record that makes no sense. The
 * first four names but for the device are the store's to fill in. */
static bool is_sound(const struct takt_record *record)
{
    for (size_t i = 1; i < TAKT_RECORD_FIELDS; i++)
        if ((i == 1 || i >= 4) &&
            takt__field_fault(&takt__record_fields[i], record) != NULL)
            return false;
    return true;
}

static void write_down(void *self, const struct takt_memory *memory)
{
    struct takt_learner *learner = self;
    const char *op = learner->names.op_of(learner->names.self, memory->line);
    struct takt_record record = {
        .situation = memory->situation,
        .bin = memory->bin,
        .seq = learner->seq,
        .n = memory->n,
        .mean = memory->mean,
        .m2 = memory->m2,
        .first_s = memory->first_s,
        .bytes = memory->bytes,
        .flops = memory->flops,
        .calls = memory->calls,
        .seconds = memory->seconds,
        .last_unix_s = (int64_t)time(NULL),
    };
    enum takt_op_id id;
    unsigned user_op;
    takt_dtype dtype;

    if (op == NULL)
        return;
    takt__line_name(memory->line, &id, &user_op, &dtype, record.layout);
    record.dtype = (unsigned)dtype;
    snprintf(record.op, sizeof record.op, "%s", op);
    snprintf(record.device, sizeof record.device, "%s",
             takt__learner_device(learner, memory->arm));
    snprintf(record.expert, sizeof record.expert, "%s",
             takt__model_arm(learner->model, memory->arm)->name);
    if (is_sound(&record))
        keep(&learner->unsaved, &record);
}

static uint64_t samples_of(const struct takt_learner *learner)
{
    return takt__model_counters(learner->model).samples;
}

static bool has_news(struct takt_learner *learner)
{
    takt__lock(&learner->lock);
    const bool has_learned = samples_of(learner) != learner->saved_samples;
    takt__unlock(&learner->lock);
    return has_learned || learner->unsaved.count > 0;
}

/* With both locks. */
static void write_down_changes(struct takt_learner *learner)
{
    learner->seq++;
    learner->saved_samples = samples_of(learner);
    takt__model_visit_changed(learner->model, write_down, learner);
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

static void close_store(struct takt_learner *learner)
{
    takt__store_close(learner->store);
    learner->store = NULL;
}

/* A file that was removed or found damaged has to be opened again; one that
 * is locked or on a full disk need not be, and keeps us our name; one that the
 * program took from us cannot be. */
static void note_failure(struct takt_learner *learner, takt_status status)
{
    if (takt__store_is_lost(learner->store)) {
        snprintf(learner->diag.text, sizeof learner->diag.text, "%s",
                 TAKT_STORE_LOST);
        learner->is_given_up = true;
        close_store(learner);
        return;
    }
    snprintf(learner->diag.text, sizeof learner->diag.text,
             "%.400s cannot be written now: what is learned stays in memory "
             "until it can",
             learner->path);
    learner->failures += learner->failures < 6;
    if (learner->failures >= 2 || status == TAKT_ECORRUPT)
        close_store(learner);
}

takt_status takt__learner_save(struct takt_learner *learner, uint64_t now_ns,
                               bool now)
{
    if (learner->path[0] == '\0' || (!now && now_ns < learner->next_save_ns))
        return TAKT_OK;
    learner->next_save_ns = now_ns + save_every_ns;
    if (!has_news(learner))
        return TAKT_OK;
    if (!takt__learner_load(learner) || learner->writer[0] == '\0')
        return TAKT_EIO;
    /* What could not be written last time goes first. */
    takt_status status = write_unsaved(learner);
    if (status == TAKT_OK) {
        takt__lock(&learner->lock);
        write_down_changes(learner);
        takt__unlock(&learner->lock);
        status = write_unsaved(learner);
    }
    if (status != TAKT_OK) {
        note_failure(learner, status);
        return status;
    }
    if (learner->failures > 0)
        learner->diag.text[0] = '\0';
    learner->failures = 0;
    return TAKT_OK;
}

/* Without the records of an op, or (NULL) of any. */
static void drop(struct takt_records *list, const char *op)
{
    size_t left = 0;

    for (size_t i = 0; op != NULL && i < list->count; i++)
        if (!takt__name_equal(list->record[i].op, op))
            list->record[left++] = list->record[i];
    list->count = left;
}

takt_status takt__learner_reset(struct takt_learner *learner, const char *op)
{
    drop(&learner->unclaimed, op);
    drop(&learner->unsaved, op);
    if (learner->path[0] == '\0')
        return TAKT_OK;
    return learner->store != NULL ? takt__store_reset(learner->store, op)
                                  : TAKT_EIO;
}

void takt__learner_disown(struct takt_learner *learner)
{
    takt__model_disown(learner->model);
    learner->unsaved.count = 0;
    learner->saved_samples = samples_of(learner);
    learner->writer[0] = '\0';
}

void takt__learner_close(struct takt_learner *learner)
{
    if (learner->store == NULL)
        return;
    takt_status status = takt__learner_save(learner, takt__now_ns(), true);
    takt__lock(&learner->lock);
    if (status == TAKT_OK && learner->store != NULL &&
        samples_of(learner) != learner->saved_samples) {
        write_down_changes(learner); /* what came while that was written */
        status = write_unsaved(learner);
    }
    if (status == TAKT_OK)
        takt__learner_disown(learner);
    takt__unlock(&learner->lock);
    close_store(learner);
}
