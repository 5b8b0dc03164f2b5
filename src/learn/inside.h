/* SPDX-License-Identifier: MIT */
/* inside.h - what a learner is made of, for the files of this folder only. */
#pragma once

#include <fenv.h>

#include "base/fork.h"
#include "base/lock.h"
#include "base/worker.h"
#include "energy/energy.h"
#include "energy/meter.h"
#include "learn/learner.h"
#include "model/curve.h"

static const uint64_t takt_save_every_ns = 4500000000;

/* A list of records. */
struct takt_records {
    struct takt_record *record;
    size_t count, capacity;
    takt_status status; /* TAKT_ENOMEM: one could not be added */
};

/* What is kept of a day, see day.c. */
enum takt_day_parts {
    TAKT_DAY_CALLS,   /* that were learned from, their time, samples */
    TAKT_DAY_TRIALS,  /* and what they took beyond the best arm */
    TAKT_DAY_BUDGET,  /* seconds that they might take */
    TAKT_DAY_CHANGES, /* of the speed of experts */
    TAKT_DAY_GAIN,    /* of programs: ln of ratios, as if of seconds */
    TAKT_DAY_PARTS
};

struct takt_day_part {
    struct takt_sums times;
    double calls, seconds;
};

/* The sums of a day under the writer's name, of this process and of those that
 * had the name before. */
struct takt_day {
    int64_t number; /* of days since 1970; 0: none yet */
    struct takt_day_part part[TAKT_DAY_PARTS];
    struct takt_model_counters counted; /* what is in them of the model's */
};

/* What is measured of energy: energy.c. */
struct takt_energy_watch {
    bool is_wanted;
    bool is_taken;                   /* this learner is the one that measures */
    struct takt_energy_meter *meter; /* by the thread alone */
    struct takt_energy *energy;
    uint64_t done_ns[TAKT_MAX_ARMS]; /* of GPUs: the end of what was last known
                                      * to end on buffers */
    /* When what is in the model was stored: by arm, by what bounds calls, and
     * for all of them. */
    int64_t stored_unix_s[TAKT_MAX_ARMS][TAKT_BOUNDS + 1];
};

/* Two locks: one for the model, one for the store, which may wait for a disk or
 * for other processes. The store's is taken first. Except for a reset, and for
 * what is left to write before a fork(), the model's is not held while the
 * store is opened or written to, so that questions wait for neither. */
struct takt_learner {
    pthread_mutex_t lock, store_lock;
    struct takt_journal journal;
    struct takt_worker worker;

    struct takt_model *model;
    struct takt_table *table;
    struct takt_learner_callbacks callbacks;
    bool is_published, is_frozen;
    struct takt_records unclaimed; /* of ops or experts not known here ... */
    struct takt_records unclaimed_hints; /* ... from other machines */
    uint64_t saved_samples; /* of the model: more: there is something to save */
    struct takt_day day;
    struct takt_energy_watch energy;
    double callers; /* at work at the same time, on average; 0: not counted */
    bool has_news;  /* a verdict that was published differs from the last one */
    fenv_t fpenv;   /* of the thread between enter() and leave() */

    /* From here on it is the store's lock. */
    char path[1024];
    char machine[TAKT_SHA256_HEX], software[TAKT_SHA256_HEX];
    struct takt_store *store;        /* NULL: not open */
    bool is_store_foreign;           /* it is read and never written */
    bool is_store_set;               /* the environment names it */
    takt_status store_status;        /* of opening and reading it */
    _Atomic bool is_loaded;          /* it was read */
    _Atomic uint32_t was_tried;      /* to open it, whatever came of it */
    _Atomic uint64_t ask_end_ns;     /* until then calls wait for it; 0: no call
                                      * asked so far */
    bool is_given_up;                /* no store: memory only from now on */
    bool is_last;                    /* what is left is stored now or never */
    _Atomic bool is_hurried;         /* a fork waits for the store's lock */
    unsigned failures;               /* to open or to write, in a row */
    bool cannot_write;               /* the last time */
    char writer[TAKT_RECORD_WRITER]; /* the name under which the model's own
                                      * samples are stored; "": they are not.
                                      * Written with both locks */
    takt_diag diag;
    uint64_t next_open_ns, next_save_ns, seq;
    uint64_t next_second_ns; /* by the thread alone */
    double own_records, other_records;
    struct takt_records unsaved; /* could not be written yet */

    struct takt_fork_entry fork;
};

/* process.c: registers a learner for fork() and exit(). */
void takt__learner_enlist(struct takt_learner *learner);

/* ---- records.c ----------------------------------------------------------- */

/* Without memory the list gets the status TAKT_ENOMEM. */
void takt__records_add(struct takt_records *list,
                       const struct takt_record *record);

/* The same of one that is to be written. Numbers are kept within what a reader
 * accepts; a record that is not valid all the same is left out. */
void takt__records_keep(struct takt_records *list, struct takt_record *record);

/* Removes the records of an op, or (NULL) all. */
void takt__records_drop(struct takt_records *list, const char *op);

/* The fingerprint of an expert's GPU; "": it has none. */
const char *takt__learner_device(const struct takt_learner *learner,
                                 unsigned expert);

/* The summary that a record holds, with the model's lock. An expert that is not
 * known may be added. False: its op or its expert is not known. */
bool takt__record_find(struct takt_learner *learner,
                       const struct takt_record *record, bool may_add,
                       struct takt_summary *out);

/* ---- recall.c: with the store's lock, takes the other one as well -------- */

/* Opens the store, unless it is open, and reads it; false: there is none. */
bool takt__learner_load(struct takt_learner *learner);

/* Closes the store and writes nothing. */
void takt__learner_close_store(struct takt_learner *learner);

/* Says that the store could not be written; also once it was opened anew,
 * unless there is more to say. */
void takt__learner_say_unwritable(struct takt_learner *learner);

/* With both locks. No sample is this writer's own from then on. */
void takt__learner_disown(struct takt_learner *learner);

/* ---- save.c: with the store's lock, takes the other one as well ---------- */

/* Writes what changed, if it is time or `now`; opens nothing for nothing. */
takt_status takt__learner_save(struct takt_learner *learner, uint64_t now_ns,
                               bool now);

/* Saves and closes the store: SQLite's connection must not see a fork(). The
 * samples are disowned until the store is opened again. */
void takt__learner_close(struct takt_learner *learner);

/* ---- day.c: with the model's lock ---------------------------------------- */

bool takt__is_day(const struct takt_record *record);

/* Adds what is stored of today under the writer's name. */
void takt__day_restore(struct takt_learner *learner,
                       const struct takt_record *record);

/* Begins anew: what was counted is another writer's, or forgotten. */
void takt__day_forget(struct takt_learner *learner);

/* Queues the records of today; with both locks. */
void takt__day_collect(struct takt_learner *learner);

/* ---- energy.c ------------------------------------------------------------ */

/* By the thread, without a lock: opens and reads the counters that are due. */
void takt__learner_measure(struct takt_learner *learner);

/* With the model's lock: an expert was at work, as is known at `now_ns`. */
void takt__learner_note_use(struct takt_learner *learner,
                            const struct takt_sample *sample, uint64_t now_ns);

/* At the end, without a thread; and in a child of fork(). */
void takt__learner_end_energy(struct takt_learner *learner);
void takt__learner_forget_energy(struct takt_learner *learner);

/* ---- watts.c: with the model's lock -------------------------------------- */

bool takt__is_watts(const struct takt_record *record);

/* What the model has; `bound` TAKT_BOUNDS: of all calls. */
void takt__watts_set(struct takt_learner *learner, unsigned arm, unsigned bound,
                     struct takt_watts watts);
struct takt_watts takt__watts_get(const struct takt_learner *learner,
                                  unsigned arm, unsigned bound);

/* Gives the model what a record of this machine says, if it is the latest.
 * False: its expert is not known (yet). */
bool takt__watts_restore(struct takt_learner *learner,
                         const struct takt_record *record);

/* Queues what was measured here; with both locks. */
void takt__watts_collect(struct takt_learner *learner);

/* ---- tails.c: with the model's lock -------------------------------------- */

bool takt__is_tail(const struct takt_record *record);

/* Queues the records of a tail, beside that of its mean. */
void takt__tail_collect(struct takt_learner *learner,
                        const struct takt_record *mean,
                        const struct takt_tail *tail);

/* Whose tail a record is. */
enum takt_tail_owner {
    TAKT_TAIL_OF_MACHINE,
    TAKT_TAIL_OWN,     /* of this writer, and so of this machine */
    TAKT_TAIL_ADOPTED, /* of this writer; the machine's has it already */
    TAKT_TAIL_FOREIGN  /* of another machine */
};

/* Adds what a record says of a tail to the model. False: its op or its expert
 * is not known. */
bool takt__tail_restore(struct takt_learner *learner,
                        const struct takt_record *record,
                        enum takt_tail_owner owner);

/* ---- publish.c, hint.c: with the model's lock ---------------------------- */

/* Judges what changed and writes the verdicts, for about `limit_ns` (0: until
 * all is done). True: there may be more to do soon, because an expert took the
 * place of another one, trials were offered, or the time was over. */
bool takt__learner_publish(struct takt_learner *learner, uint64_t now_ns,
                           uint64_t limit_ns);

/* The same for one series in some situations alone (bit 1 << situation). */
void takt__learner_publish_series(struct takt_learner *learner, unsigned series,
                                  unsigned situations, uint64_t now_ns);

/* Gives the model what other machines measured: records of one key together.
 * Those of ops or experts that are not known stay in the list. */
void takt__learner_hint(struct takt_learner *learner,
                        struct takt_records *foreign);
