/* SPDX-License-Identifier: MIT */
/*
 * learner.h - the learner thread: learn, publish, store.
 *
 * Callers leave samples in a journal and go on. This thread takes them out,
 * teaches the model, writes verdicts into the table that callers read, and now
 * and then writes statistics to the store. It is started by the first sample,
 * or with the context where there is a store to read,
 * looks at the journal every few milliseconds while calls come, and sleeps when
 * none do.
 *
 * Threads: the functions may be called from any thread; all but notify(),
 * journal() and dropped() take a lock and are not for the path of a call, but
 * for the first of a series.
 */
#pragma once

#include "decide/table.h"
#include "model/model.h"
#include "observe/journal.h"
#include "store/store.h"

struct takt_learner;

/* What the learner reads, and what it reports. Called with the lock held, but
 * for each_second(). An expert is the number of its arm. */
struct takt_learner_callbacks {
    void *self;
    /* The name of the op of a series; NULL: it has none (yet). */
    const char *(*op_of)(void *self, unsigned series);
    /* The series and the expert of a stored record; -1: unknown. */
    int (*find_series)(void *self, const char *op, unsigned dtype,
                       const char *layout);
    int (*find_expert)(void *self, unsigned series, const char *expert);
    /* Adds the expert of such a record to the model; -1: none. */
    int (*add_expert)(void *self, struct takt_model *model, unsigned series,
                      const char *expert);
    /* Verdicts of a series were published. */
    void (*published)(void *self, unsigned series);
    /* The fingerprint of the GPU of an expert, under which its records are
     * stored; NULL or "": it has none. May be NULL. Asked whenever records are
     * read or written. */
    const char *(*device_of)(void *self, unsigned expert);
    /* Opening a GPU would have paid: begins to open it, and returns at once.
     * May be NULL. */
    void (*open)(void *self, unsigned expert);
    /* Called every second while there are calls, without the lock. May be NULL.
     */
    void (*each_second)(void *self);
    /* The address of an expert's GPU on the PCI bus; NULL or "": not known, or
     * it has none. May be NULL. */
    const char *(*address_of)(void *self, unsigned expert);
    /* How many callers are inside of calls just now; negative: they are not
     * counted. Asked in every round. May be NULL. */
    double (*callers)(void *self);
    /* A sample was learned from. The counters are those of the model after it.
     * May be NULL. */
    void (*learned)(void *self, const struct takt_sample *sample,
                    const struct takt_model_counters *counters);
};

struct takt_learner_options {
    struct takt_model *model; /* owned from here on */
    struct takt_table *table; /* borrowed */
    struct takt_learner_callbacks callbacks;
    const char *store_path;         /* copied; "": memory only */
    bool is_store_foreign;          /* it is read and never written */
    bool is_store_set;              /* the environment names it */
    const char *machine, *software; /* fingerprints, copied */
    bool is_published; /* false: learn, but decide nothing (policy pinned) */
    bool is_frozen;    /* samples are reported, but not learned from */
    bool is_energy_wanted; /* what experts draw is measured */
};

/* On failure the model is destroyed too. */
takt_status takt__learner_create(const struct takt_learner_options *options,
                                 struct takt_learner **out);

/* Ends the thread, learns what is left and stores it. NULL is allowed. */
void takt__learner_destroy(struct takt_learner *learner);

/* Where callers leave their samples. */
struct takt_journal *takt__learner_journal(struct takt_learner *learner);

/* Says that there is a sample in the journal: starts or wakes the thread if
 * need be, otherwise one load. */
void takt__learner_notify(struct takt_learner *learner);

/* Ends a rest of the thread: the journal fills up. */
void takt__learner_hurry(struct takt_learner *learner);

/* Before the first decision about a series in such situations (bit 1 <<
 * situation): publishes what the store knows of it there; of others the thread
 * does soon. Waits for the store to be read, which the thread does, and for its
 * lock; for a tenth of a second at most, all calls together. */
void takt__learner_ask(struct takt_learner *learner, unsigned series,
                       unsigned situations);

/* Reads the store, takes the lock, learns what is in the journal, and returns
 * the model. Waits for the store only the first time. */
struct takt_model *takt__learner_enter(struct takt_learner *learner);
void takt__learner_leave(struct takt_learner *learner); /* publishes changes */

/* The same without waiting for the store. */
struct takt_model *takt__learner_enter_early(struct takt_learner *learner);

/* The same with the lock of the store too: for what is done to both. May wait
 * for as long as SQLite does. */
struct takt_model *takt__learner_enter_all(struct takt_learner *learner);
void takt__learner_leave_all(struct takt_learner *learner);

/* Between enter and leave: restores records that were read before their op or
 * expert was defined. */
void takt__learner_claim(struct takt_learner *learner);

/* Between enter and leave: a program's calls were compared, and took so much of
 * the time of its baseline library. For the gain of the day. */
void takt__learner_compare(struct takt_learner *learner, double ratio);

/* Between enter and leave: what is known of energy; NULL: it is not measured,
 * or the thread has not begun to. */
struct takt_energy;
struct takt_energy *takt__learner_energy(struct takt_learner *learner);

/* How many samples the full journal dropped. */
uint64_t takt__learner_dropped(struct takt_learner *learner);

/* Learns what is in the journal and writes all that changed to the store. Not
 * between enter and leave. */
takt_status takt__learner_store(struct takt_learner *learner);

/* Between enter_all and leave_all: deletes an op, or (NULL) all, in store. */
takt_status takt__learner_reset(struct takt_learner *learner, const char *op);

struct takt_learner_state {
    const char *path;   /* "": memory only */
    const char *diag;   /* "": all is well */
    takt_status status; /* of reading it; TAKT_OK: or there is none */
    double own_records, other_records;
    bool is_writable; /* the store is open for writing */
};
/* Between enter_all and leave_all, where its texts can be read. */
struct takt_learner_state takt__learner_state(struct takt_learner *learner);
