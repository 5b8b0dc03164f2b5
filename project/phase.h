/* SPDX-License-Identifier: MIT */
/*
 * phase.h - the pipeline of phases that a project goes through, and its rules.
 *
 *     Analysis, Transpilation, Optimization, Validation, Build
 *
 * A phase runs only when all before it are Completed or Not Needed. One that
 * fails stops the pipeline: those after it refuse until it was resolved. One
 * that runs again makes those after it Stale: what they did was about something
 * else. Transpilation is done by other tools; what became of it is seen from
 * their state and from what lies on the disk.
 *
 * All of it is arithmetic on a struct: nothing here reads a file or a clock.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum takt_phase {
    TAKT_PHASE_ANALYSIS,
    TAKT_PHASE_TRANSPILATION,
    TAKT_PHASE_OPTIMIZATION,
    TAKT_PHASE_VALIDATION,
    TAKT_PHASE_BUILD,
    TAKT_PHASES
};

enum takt_phase_status {
    TAKT_NOT_STARTED,
    TAKT_IN_PROGRESS,
    TAKT_COMPLETED,
    TAKT_FAILED,
    TAKT_STALE,
    TAKT_NOT_NEEDED,
    TAKT_PHASE_STATUSES
};

/* "Analysis", ... */
const char *takt__phase_name(enum takt_phase phase);

/* "Not Started", ... */
const char *takt__phase_status_name(enum takt_phase_status status);

/* What runs it: "analyze"; NULL: other tools. */
const char *takt__phase_command(enum takt_phase phase);

/* A name, a command or "deployment", letters of any case. False: none. */
bool takt__phase_parse(const char *word, enum takt_phase *out);

enum { TAKT_PHASE_TIME = 40, TAKT_PHASE_ERROR = 512 };

struct takt_phase_record {
    enum takt_phase_status status;
    char started_at[TAKT_PHASE_TIME];   /* RFC 3339; empty: never */
    char completed_at[TAKT_PHASE_TIME]; /* or failed; empty: not yet */
    char error[TAKT_PHASE_ERROR];       /* empty: none */
};

struct takt_pipeline {
    struct takt_phase_record phase[TAKT_PHASES];
    int current; /* the phase that ran last, or runs; -1: none */
};

/* What is on the disk of a transpilation. */
enum takt_transpiled {
    TAKT_TRANSPILED_UNUSED, /* no output folder is configured */
    TAKT_TRANSPILED_THERE,  /* it exists */
    TAKT_TRANSPILED_MISSING /* it does not exist */
};

enum takt_phase_event_kind {
    TAKT_STEP_BEGIN,       /* `phase` is to run */
    TAKT_STEP_SUCCEED,     /* `phase`, which runs, did what it should */
    TAKT_STEP_FAIL,        /* ... or did not: `text` says why */
    TAKT_STEP_RESET,       /* `phase` is to be as if it had never run */
    TAKT_STEP_RESET_ALL,   /* all are */
    TAKT_STEP_INTERRUPTED, /* the process that ran a phase has ended */
    TAKT_STEP_LOOK,        /* for what other tools left: see `transpiled` */
    TAKT_STEP_EVENTS
};

struct takt_phase_event {
    enum takt_phase_event_kind kind;
    enum takt_phase phase;
    const char *now;  /* RFC 3339; NULL: "" */
    const char *text; /* FAIL: why; LOOK: the output folder; NULL: "" */
    enum takt_transpiled transpiled;
    bool is_theirs; /* LOOK: the state was written by the other tool too */
};

/* All phases Not Started. */
struct takt_pipeline takt__pipeline_new(void);

/* What becomes of `pipeline`. False: it cannot happen now, and nothing changes;
 * *blocker (may be NULL) is the phase that is in the way. */
bool takt__pipeline_step(struct takt_pipeline *pipeline,
                         const struct takt_phase_event *event,
                         enum takt_phase *blocker);

/* Why `phase` cannot begin because of `blocker`, and what to do about it: one
 * line. `folder` is how the user named the project. */
void takt__pipeline_explain(const struct takt_pipeline *pipeline,
                            enum takt_phase phase, enum takt_phase blocker,
                            const char *folder, char *out, size_t size);

/* The phase of ours that is to run next; TAKT_PHASES: all did. */
enum takt_phase takt__pipeline_next(const struct takt_pipeline *pipeline);
