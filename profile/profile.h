/* SPDX-License-Identifier: MIT */
/*
 * profile.h - where a program's time went, read from what profilers wrote: perf
 * script, folded stacks, gprof's flat profile, speedscope, Chrome traces, and
 * the report of `takt run`. Which of these a file is shows in its content.
 *
 * Files are read as a stream, and nothing of a stack is kept: the caller
 * says of each frame whether it is the project's (a place) or foreign, and the
 * time of a stack goes to its innermost frame that is not foreign. So the time
 * that a loop spends in exp() is the loop's.
 *
 * Threads: nothing is shared.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <takt/status.h>
#include <takt/store.h>

/* Strings are borrowed for the call, and never NULL. */
struct takt_frame {
    const char *function; /* "": not known */
    const char *file;     /* of its source; "": not known */
    unsigned line;        /* 0: not known */
    const char *module;   /* program or library; "": not known */
};

enum { TAKT_FRAME_FOREIGN = -1 };

/* A routine of BLAS, or a loop of NumPy, that a run report counted. */
struct takt_counted_call {
    const char *routine;  /* "dgemm", "exp f->f" */
    bool is_loop;         /* of NumPy's; else BLAS */
    uint64_t least, most; /* sizes of the class; most 0: no limit */
    double calls, seconds;
};

struct takt_profile_sink {
    void *self;
    /* The place of a frame, 0 or more; or TAKT_FRAME_FOREIGN. Asked for the
     * innermost frame first, until one has a place; or, where a file lists its
     * frames, once for each. */
    int (*place)(void *self, const struct takt_frame *frame);
    /* Time of a stack. TAKT_FRAME_FOREIGN: all of its frames are foreign. */
    void (*add)(void *self, int place, double weight);
    void (*call)(void *self, const struct takt_counted_call *call);
};

struct takt_profile_facts {
    const char *format; /* "perf script", ... */
    double total;       /* of all weights; of a run report, its wall time */
    uint64_t stacks;    /* that had a weight */
};

/* Reads a file. `diag` has one line that names it.
 * TAKT_ENOENT: there is none.  TAKT_EIO: it cannot be read.
 * TAKT_ENOTSUP: it is no profile that is known.
 * TAKT_ECORRUPT: it is broken, or has nothing in it.  TAKT_ENOMEM. */
takt_status takt__profile_read(const char *path,
                               const struct takt_profile_sink *sink,
                               struct takt_profile_facts *facts,
                               takt_diag *diag);

/* The same of an open file, which can be rewound; `name` is for `diag`. */
takt_status takt__profile_read_file(FILE *file, const char *name,
                                    const struct takt_profile_sink *sink,
                                    struct takt_profile_facts *facts,
                                    takt_diag *diag);
