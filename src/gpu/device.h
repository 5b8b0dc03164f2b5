/* SPDX-License-Identifier: MIT */
/*
 * device.h - a GPU as the rest of Takt sees it, and what its driver provides.
 *
 * A device has memory of its own, three queues (into it, computing, out of it)
 * and marks: points in a queue that are passed when everything before them is
 * done. A driver (src/cuda, src/vulkan) fills in the methods; everything above
 * them - buffers, staging, failure - is written once, in this folder.
 *
 * Threads: every method but can_run(), complete(), wait(), is_past() and
 * between_s() is called with the lock of the device held.
 */
#pragma once

#include <stdatomic.h>

#include "base/lock.h"
#include "takt/call.h"
#include "takt/context.h"

enum {
    TAKT_MAX_GPUS = 8,
    TAKT_CACHED_BLOCKS = 64,
    TAKT_SLOTS = 32,
    TAKT_SLOT_BYTES = 1 << 20,
    TAKT_SMALL_BUFFERS = 32,
    TAKT_SMALL_BYTES = 1 << 19,
    TAKT_SMALL_FORMS = 16,  /* forms of ops, for what is measured of them */
    TAKT_SMALL_CLASSES = 3, /* powers of two up to TAKT_SMALL_BYTES */
};

enum takt_queue {
    TAKT_QUEUE_IN,
    TAKT_QUEUE_COMPUTE,
    TAKT_QUEUE_OUT,
    TAKT_QUEUES
};

/* Memory that kernels can reach. */
struct takt_block {
    uint64_t address; /* CUDA: where it is. Vulkan: whatever it wants */
    size_t bytes;
    void *host; /* pinned memory: where the processor finds it; else NULL */
    bool is_in_place; /* it was there already, and was pinned by pin() */
};

/* A stretch of it; block NULL: nothing is there. */
struct takt_location {
    const struct takt_block *block;
    size_t offset; /* in bytes */
};

/* An admitted call whose operands are on the device. Of the call's own in[]
 * and out only the sizes count, and whether an optional one is NULL. */
struct takt_device_call {
    const takt_call *call;
    struct takt_location in[4], out;
};

/* A point in a queue. All zero: passed. */
struct takt_mark {
    void *point;
};

struct takt_device;
struct takt_solver_driver; /* solver.h */

/* The methods of a driver, explained below. */
typedef takt_status takt_device_reserve(struct takt_device *device,
                                        size_t bytes, bool is_pinned,
                                        struct takt_block *out);
typedef void takt_device_release(struct takt_device *device,
                                 struct takt_block *block);
typedef bool takt_device_can_run(const struct takt_device *device,
                                 const takt_call *call);
typedef takt_status takt_device_copy(struct takt_device *device,
                                     enum takt_queue queue,
                                     struct takt_location to,
                                     struct takt_location from, size_t bytes);
typedef takt_status takt_device_compute(struct takt_device *device,
                                        const struct takt_device_call *call);
typedef takt_status takt_device_mark(struct takt_device *device,
                                     enum takt_queue queue, bool is_timed,
                                     struct takt_mark *mark);
typedef void takt_device_drop(struct takt_device *device,
                              struct takt_mark *mark);
typedef takt_status takt_device_follow(struct takt_device *device,
                                       enum takt_queue queue,
                                       const struct takt_mark *mark);
typedef takt_status takt_device_wait(struct takt_device *device,
                                     const struct takt_mark *mark);
typedef bool takt_device_is_past(struct takt_device *device,
                                 const struct takt_mark *mark);
typedef double takt_device_between(struct takt_device *device,
                                   const struct takt_mark *from,
                                   const struct takt_mark *to);

/* What a kind of device can do. Unless it says otherwise a method answers
 * TAKT_OK; TAKT_ELOST: the device is gone, with all that was on it; or
 * TAKT_ENODEV: refused, and nothing was begun. */
struct takt_driver {
    const char *name; /* "cuda" or "vulkan" */
    bool is_nvidia;   /* for NVIDIA's GPUs; else for all others */
    unsigned dtypes;  /* bit 1 << dtype: it runs calls of that one */

    /* Whether it has code for an op of the catalogue; NULL: for none. */
    bool (*has)(const takt_op *op, takt_dtype dtype);

    /* Makes the device ready and fills in its facts: takes up to seconds. When
     * it fails, `problem` says why, and nothing is left behind. In haste it may
     * leave what takes long, and what some calls can do without, to complete();
     * is_complete says whether it did. */
    takt_status (*start)(struct takt_device *device, bool is_partial);

    /* Does what is left to do, unless `is_over` becomes true meanwhile; calls
     * on the device may have to wait for it. NULL: start() never leaves
     * anything. When it fails, the device goes on without, and `problem` says
     * why. */
    void (*complete)(struct takt_device *device, const _Atomic bool *is_over);

    /* Gives everything back, in whatever state it is; never fails. */
    void (*stop)(struct takt_device *device);

    /* Memory of the device; or of the host, pinned, that the device reaches
     * too. TAKT_ENOMEM: there is not that much. */
    takt_device_reserve *reserve;
    takt_device_release *release;

    /* Pins memory that is there already, so that copies from and to it need no
     * staging. NULL: cannot. Undone by release(). */
    takt_status (*pin)(struct takt_device *device, void *host, size_t bytes,
                       struct takt_block *out);

    /* Whether it can run such a call; asked before every run, without lock. */
    takt_device_can_run *can_run;

    /* Whether other code of the process uses the device, too, or that is not
     * known. NULL: never. */
    bool (*is_shared)(const struct takt_device *device);

    /* Begin in their queue what ends some time later. Of a copy, one end is on
     * the device and the other is pinned, or both are on the device. compute()
     * is for the computing queue. */
    takt_device_copy *copy;
    takt_device_compute *compute;

    /* Marks where a queue is now; a mark that was used before is moved. A timed
     * one can be handed to between_s(). */
    takt_device_mark *mark;
    takt_device_drop *drop;

    /* Keeps a queue from going on before a mark is passed. */
    takt_device_follow *follow;

    /* Waits for a mark. TAKT_ELOST: it will never be passed. */
    takt_device_wait *wait;
    takt_device_is_past *is_past;

    /* Seconds on the device between two timed marks that are past; negative:
     * not known. */
    takt_device_between *between_s;

    /* Routines of LAPACK; NULL: none. */
    const struct takt_solver_driver *solver;
};

/* What is known of a device once it was started. */
struct takt_device_facts {
    char model[64];   /* "NVIDIA H200" */
    char address[16]; /* on the PCI bus; "": not known */
    char version[48]; /* of its driver */
    uint64_t memory_bytes;
    unsigned units;       /* multiprocessors or the like; 0: not known */
    double memory_rate;   /* bytes per second by its data sheet; 0: ... */
    double flops[2];      /* by dtype; 0: not known */
    bool is_software;     /* computes on the processor: never to be preferred */
    bool shares_memory;   /* its memory is the host's */
    bool has_timing;      /* marks can be timed */
    size_t most_elements; /* that a call may have; 0: no limit */
};

enum takt_device_state {
    TAKT_DEVICE_ASLEEP, /* never started */
    TAKT_DEVICE_READY,
    TAKT_DEVICE_LOST,  /* failed; may be started again later */
    TAKT_DEVICE_ABSENT /* there is none, or its driver cannot be used */
};

/* Blocks that were given back and may be taken again: memory.c. */
struct takt_cache {
    struct takt_block block[TAKT_CACHED_BLOCKS];
    unsigned count;
    size_t bytes;
    size_t ceiling;      /* that much was not to be had ... */
    uint64_t ceiling_ns; /* ... and is not asked for again until then */
};

/* Pinned memory that transfers go through: stage.c. */
struct takt_slot {
    struct takt_mark mark;  /* the device is done with it */
    _Atomic unsigned moved; /* shares of its piece */
};

/* What small transfers of one kind took whose inputs are read where they are,
 * and whose inputs are copied first: the least of so many, in nanoseconds. */
struct takt_small_trial {
    _Atomic uint32_t least_ns[2];
    _Atomic uint32_t count[2];
};

struct takt_stage {
    pthread_mutex_t lock; /* one job at a time */
    struct takt_block ring, small;
    struct takt_block results; /* of solver.c; grows as it is needed */
    struct takt_slot slot[TAKT_SLOTS];
    bool is_filling;                  /* copies out of slots may be under way */
    struct takt_mark before, arrived; /* of the computing and the in queue */
    _Atomic uint32_t small_taken;     /* bit i: small buffer i is in use */
    struct takt_mark small_mark[TAKT_SMALL_BUFFERS];
    struct takt_small_trial trial[TAKT_SMALL_FORMS][TAKT_SMALL_CLASSES];
};

struct takt_device {
    const struct takt_driver *driver;
    unsigned index;                  /* among those of its driver */
    char name[TAKT_EXPERT_NAME_MAX]; /* "cuda.0" */
    _Atomic int state;               /* an enum takt_device_state */
    struct takt_device_facts facts;  /* the driver's to fill in */
    char problem[160];               /* why it cannot be used, for people */
    pthread_mutex_t lock;
    void *self;               /* the driver's own */
    _Atomic bool is_complete; /* nothing is left to complete() */

    /* The facts of its first life, for all threads: constant once it was ready,
     * while a driver may be filling in those of the next. */
    struct takt_device_facts known;

    /* Of this folder alone. */
    struct takt_devices *all;
    unsigned number;        /* among all devices of a context */
    _Atomic uint32_t life;  /* how often it was opened: what was on it before is
                             * gone */
    _Atomic unsigned users; /* calls that are under way on it; changed with the
                             * lock */
    uint64_t next_open_ns;  /* not before then, after it was lost */
    unsigned losses;        /* in a row */
    double open_s;          /* what opening it took */
    pthread_t opener;       /* the thread that opens it, if there was one */
    bool has_opener;
    _Atomic bool is_opening;
    pthread_mutex_t solving;        /* one routine of LAPACK at a time */
    pthread_mutex_t completing;     /* held while complete() runs */
    _Atomic bool is_occupied;       /* with that: calls go elsewhere */
    _Atomic bool completion_failed; /* it was tried in vain */
    _Atomic bool is_lacking; /* a call that can_run() had promised needed it */
    struct takt_cache cache;
    struct takt_stage stage;
};
