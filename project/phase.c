/* SPDX-License-Identifier: MIT */
/* phase.c - the rules of the pipeline, one function for each event. */
#include "phase.h"

#include <stdio.h>

#include "base/name.h"

static const struct {
    const char *name, *command;
} phases[TAKT_PHASES] = {
    [TAKT_PHASE_ANALYSIS] = {"Analysis", "analyze"},
    [TAKT_PHASE_TRANSPILATION] = {"Transpilation", NULL},
    [TAKT_PHASE_OPTIMIZATION] = {"Optimization", "optimize"},
    [TAKT_PHASE_VALIDATION] = {"Validation", "validate"},
    [TAKT_PHASE_BUILD] = {"Build", "build"},
};

static const char *const statuses[TAKT_PHASE_STATUSES] = {
    [TAKT_NOT_STARTED] = "Not Started",
    [TAKT_IN_PROGRESS] = "In Progress",
    [TAKT_COMPLETED] = "Completed",
    [TAKT_FAILED] = "Failed",
    [TAKT_STALE] = "Stale",
    [TAKT_NOT_NEEDED] = "Not Needed",
};

const char *takt__phase_name(enum takt_phase phase)
{
    return phases[phase].name;
}

const char *takt__phase_status_name(enum takt_phase_status status)
{
    return statuses[status];
}

const char *takt__phase_command(enum takt_phase phase)
{
    return phases[phase].command;
}

bool takt__phase_parse(const char *word, enum takt_phase *out)
{
    for (int i = 0; i < TAKT_PHASES; i++)
        if (takt__name_equal(word, phases[i].name) ||
            (phases[i].command != NULL &&
             takt__name_equal(word, phases[i].command))) {
            *out = (enum takt_phase)i;
            return true;
        }
    if (!takt__name_equal(word, "deployment"))
        return false;
    *out = TAKT_PHASE_BUILD;
    return true;
}

struct takt_pipeline takt__pipeline_new(void)
{
    return (struct takt_pipeline){.current = -1};
}

/* Whether a phase lets those after it run. */
static bool is_passed(const struct takt_phase_record *record)
{
    return record->status == TAKT_COMPLETED ||
           record->status == TAKT_NOT_NEEDED;
}

/* ---- events ---- */

static void put(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text == NULL ? "" : text);
}

/* Whatever came after is about something that is no more. */
static void make_stale(struct takt_pipeline *pipeline, enum takt_phase after)
{
    for (int i = (int)after + 1; i < TAKT_PHASES; i++) {
        struct takt_phase_record *record = &pipeline->phase[i];
        if (i == TAKT_PHASE_TRANSPILATION)
            continue; /* not ours: see look() */
        if (record->status != TAKT_NOT_STARTED &&
            record->status != TAKT_NOT_NEEDED) {
            record->status = TAKT_STALE;
            record->error[0] = '\0';
        }
    }
}

static bool begin(struct takt_pipeline *pipeline,
                  const struct takt_phase_event *event,
                  enum takt_phase *blocker)
{
    const enum takt_phase phase = event->phase;
    struct takt_phase_record *record = &pipeline->phase[phase];

    *blocker = phase;
    if (phase == TAKT_PHASE_TRANSPILATION || record->status == TAKT_IN_PROGRESS)
        return false;
    for (int i = 0; i < (int)phase; i++)
        if (!is_passed(&pipeline->phase[i])) {
            *blocker = (enum takt_phase)i;
            return false;
        }
    *record = (struct takt_phase_record){.status = TAKT_IN_PROGRESS};
    put(record->started_at, sizeof record->started_at, event->now);
    make_stale(pipeline, phase);
    pipeline->current = (int)phase;
    return true;
}

static bool end(struct takt_pipeline *pipeline,
                const struct takt_phase_event *event, enum takt_phase *blocker)
{
    struct takt_phase_record *record = &pipeline->phase[event->phase];

    *blocker = event->phase;
    if (event->phase == TAKT_PHASE_TRANSPILATION ||
        record->status != TAKT_IN_PROGRESS)
        return false;
    record->status =
        event->kind == TAKT_STEP_SUCCEED ? TAKT_COMPLETED : TAKT_FAILED;
    put(record->completed_at, sizeof record->completed_at, event->now);
    if (event->kind == TAKT_STEP_FAIL)
        put(record->error, sizeof record->error, event->text);
    return true;
}

static void reset(struct takt_pipeline *pipeline, enum takt_phase phase)
{
    pipeline->phase[phase] =
        (struct takt_phase_record){.status = TAKT_NOT_STARTED};
    make_stale(pipeline, phase);
    if (pipeline->current >= (int)phase)
        pipeline->current = (int)phase - 1;
}

/* Only one process works at a time, so the one before has ended. */
static void interrupt(struct takt_pipeline *pipeline)
{
    for (int i = 0; i < TAKT_PHASES; i++) {
        struct takt_phase_record *record = &pipeline->phase[i];
        if (i == TAKT_PHASE_TRANSPILATION || record->status != TAKT_IN_PROGRESS)
            continue;
        record->status = TAKT_FAILED;
        put(record->error, sizeof record->error, "was interrupted");
    }
}

/* Transpilation: the word of the tool that does it counts, and where it says
 * nothing, what it left on the disk. */
static void look(struct takt_pipeline *pipeline,
                 const struct takt_phase_event *event)
{
    struct takt_phase_record *record =
        &pipeline->phase[TAKT_PHASE_TRANSPILATION];
    const bool is_missing = event->transpiled == TAKT_TRANSPILED_MISSING;

    if (event->is_theirs &&
        (record->status == TAKT_IN_PROGRESS || record->status == TAKT_FAILED))
        return;
    if (event->is_theirs && record->status == TAKT_COMPLETED && !is_missing)
        return;
    record->error[0] = '\0';
    if (is_missing) {
        record->status = TAKT_FAILED;
        snprintf(record->error, sizeof record->error,
                 "the output folder '%.400s' does not exist",
                 event->text == NULL ? "" : event->text);
    } else {
        record->status = event->transpiled == TAKT_TRANSPILED_THERE
                             ? TAKT_COMPLETED
                             : TAKT_NOT_NEEDED;
    }
}

bool takt__pipeline_step(struct takt_pipeline *pipeline,
                         const struct takt_phase_event *event,
                         enum takt_phase *blocker)
{
    enum takt_phase unused;

    if (blocker == NULL)
        blocker = &unused;
    switch (event->kind) {
    case TAKT_STEP_BEGIN:
        return begin(pipeline, event, blocker);
    case TAKT_STEP_SUCCEED:
    case TAKT_STEP_FAIL:
        return end(pipeline, event, blocker);
    case TAKT_STEP_RESET:
        reset(pipeline, event->phase);
        return true;
    case TAKT_STEP_RESET_ALL:
        *pipeline = takt__pipeline_new();
        return true;
    case TAKT_STEP_INTERRUPTED:
        interrupt(pipeline);
        return true;
    case TAKT_STEP_LOOK:
        look(pipeline, event);
        return true;
    case TAKT_STEP_EVENTS:
        break;
    }
    return false;
}

/* ---- words ---- */

/* What to do about a phase of other tools. */
static void explain_theirs(const struct takt_phase_record *record,
                           const char *phase, const char *folder, char *out,
                           size_t size)
{
    if (record->status == TAKT_FAILED)
        snprintf(out, size,
                 "%s is refused: Transpilation failed: %.400s; run the tool "
                 "that transpiles this project, or correct [transpilation] "
                 "output_dir",
                 phase, record->error);
    else if (record->status == TAKT_IN_PROGRESS)
        snprintf(out, size,
                 "%s is refused: Transpilation is in progress; wait for the "
                 "tool that does it, or 'takt reset --phase transpilation %s'",
                 phase, folder);
    else
        snprintf(out, size, "Transpilation is done by other tools");
}

void takt__pipeline_explain(const struct takt_pipeline *pipeline,
                            enum takt_phase phase, enum takt_phase blocker,
                            const char *folder, char *out, size_t size)
{
    const struct takt_phase_record *record = &pipeline->phase[blocker];
    const char *refused = phases[phase].name, *name = phases[blocker].name;
    const char *command = phases[blocker].command;

    if (blocker == TAKT_PHASE_TRANSPILATION)
        explain_theirs(record, refused, folder, out, size);
    else if (record->status == TAKT_FAILED)
        snprintf(out, size,
                 "%s is refused: %s failed: %.400s; resolve that, then run "
                 "'takt %s %s'",
                 refused, name, record->error, command, folder);
    else if (record->status == TAKT_STALE)
        snprintf(out, size,
                 "%s is refused: %s is stale, because something before it ran "
                 "again; run 'takt %s %s'",
                 refused, name, command, folder);
    else if (record->status == TAKT_IN_PROGRESS)
        snprintf(out, size, "%s is in progress", name);
    else
        snprintf(out, size,
                 "%s is refused: %s has not run; run 'takt %s %s' first",
                 refused, name, command, folder);
}

enum takt_phase takt__pipeline_next(const struct takt_pipeline *pipeline)
{
    for (int i = 0; i < TAKT_PHASES; i++)
        if (!is_passed(&pipeline->phase[i]))
            return (enum takt_phase)i;
    return TAKT_PHASES;
}
