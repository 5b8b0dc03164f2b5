/* SPDX-License-Identifier: MIT */
/*
 * test_phase.c - the line of phases, exhaustively: every state that five phases
 * of six statuses can be in, by every event, against the rules as a person
 * would say them.
 */
#include "project/phase.h"

#include "support/tap.h"

enum { all_lines = 6 * 6 * 6 * 6 * 6, all_events = 5 * 4 + 2 + 6 };

static const char earlier[] = "2026-01-01T00:00:00Z";
static const char now[] = "2026-02-02T00:00:00Z";

/* Phases that have a status have what belongs to it, too. */
static struct takt_pipeline line_of(int number)
{
    struct takt_pipeline line = takt__pipeline_new();

    for (int i = 0; i < TAKT_PHASES; i++, number /= 6) {
        struct takt_phase_record *record = &line.phase[i];
        record->status = (enum takt_phase_status)(number % 6);
        if (record->status != TAKT_NOT_STARTED &&
            record->status != TAKT_NOT_NEEDED)
            strcpy(record->started_at, earlier);
        if (record->status == TAKT_COMPLETED || record->status == TAKT_FAILED)
            strcpy(record->completed_at, earlier);
        if (record->status == TAKT_FAILED)
            strcpy(record->error, "it broke");
        if (record->started_at[0] != '\0')
            line.current = i;
    }
    return line;
}

static struct takt_phase_event event_of(int number)
{
    static const enum takt_phase_event_kind of_a_phase[] = {
        TAKT_STEP_BEGIN, TAKT_STEP_SUCCEED, TAKT_STEP_FAIL, TAKT_STEP_RESET};
    struct takt_phase_event event = {.now = now, .text = "why"};

    if (number < 20) {
        event.kind = of_a_phase[number / 5];
        event.phase = (enum takt_phase)(number % 5);
    } else if (number < 22) {
        event.kind = number == 20 ? TAKT_STEP_RESET_ALL : TAKT_STEP_INTERRUPTED;
    } else {
        event.kind = TAKT_STEP_LOOK;
        event.transpiled = (enum takt_transpiled)((number - 22) / 2);
        event.is_theirs = number % 2 != 0;
    }
    return event;
}

/* ---- the rules, said again ------------------------------------------------
 */

static bool passed(enum takt_phase_status status)
{
    return status == TAKT_COMPLETED || status == TAKT_NOT_NEEDED;
}

static bool may_happen(const struct takt_pipeline *line,
                       const struct takt_phase_event *event)
{
    const enum takt_phase_status own = line->phase[event->phase].status;
    bool all_passed = true;

    if (event->kind > TAKT_STEP_FAIL)
        return true;
    if (event->phase == TAKT_PHASE_TRANSPILATION)
        return false;
    if (event->kind != TAKT_STEP_BEGIN)
        return own == TAKT_IN_PROGRESS;
    for (int i = 0; i < (int)event->phase; i++)
        all_passed = all_passed && passed(line->phase[i].status);
    return all_passed && own != TAKT_IN_PROGRESS;
}

static enum takt_phase_status looked(enum takt_phase_status old,
                                     const struct takt_phase_event *event)
{
    static const enum takt_phase_status by_disk[] = {
        [TAKT_TRANSPILED_UNUSED] = TAKT_NOT_NEEDED,
        [TAKT_TRANSPILED_THERE] = TAKT_COMPLETED,
        [TAKT_TRANSPILED_MISSING] = TAKT_FAILED};

    if (event->is_theirs && (old == TAKT_IN_PROGRESS || old == TAKT_FAILED))
        return old;
    if (event->is_theirs && old == TAKT_COMPLETED &&
        event->transpiled == TAKT_TRANSPILED_UNUSED)
        return old;
    return by_disk[event->transpiled];
}

static enum takt_phase_status expected(const struct takt_pipeline *line,
                                       const struct takt_phase_event *event,
                                       int i)
{
    const enum takt_phase_status old = line->phase[i].status;
    const bool is_it = i == (int)event->phase;
    const bool is_later =
        i > (int)event->phase && i != TAKT_PHASE_TRANSPILATION;
    const bool was_done = old != TAKT_NOT_STARTED && old != TAKT_NOT_NEEDED;

    switch (event->kind) {
    case TAKT_STEP_BEGIN:
        return is_it                  ? TAKT_IN_PROGRESS
               : is_later && was_done ? TAKT_STALE
                                      : old;
    case TAKT_STEP_SUCCEED:
        return is_it ? TAKT_COMPLETED : old;
    case TAKT_STEP_FAIL:
        return is_it ? TAKT_FAILED : old;
    case TAKT_STEP_RESET:
        return is_it                  ? TAKT_NOT_STARTED
               : is_later && was_done ? TAKT_STALE
                                      : old;
    case TAKT_STEP_RESET_ALL:
        return TAKT_NOT_STARTED;
    case TAKT_STEP_INTERRUPTED:
        return old == TAKT_IN_PROGRESS && i != TAKT_PHASE_TRANSPILATION
                   ? TAKT_FAILED
                   : old;
    case TAKT_STEP_LOOK:
        return i == TAKT_PHASE_TRANSPILATION ? looked(old, event) : old;
    case TAKT_STEP_EVENTS:
        break;
    }
    return TAKT_PHASE_STATUSES;
}

static void check(int line_number, int event_number)
{
    const struct takt_pipeline before = line_of(line_number);
    const struct takt_phase_event event = event_of(event_number);
    struct takt_pipeline after = before;
    const bool happened = takt__pipeline_step(&after, &event, NULL);

    if (happened != may_happen(&before, &event)) {
        TAP_CHECK(false, "line %d, event %d: %s", line_number, event_number,
                  happened ? "happened" : "was refused");
        return;
    }
    for (int i = 0; i < TAKT_PHASES; i++) {
        const enum takt_phase_status want =
            happened ? expected(&before, &event, i) : before.phase[i].status;
        TAP_CHECK(after.phase[i].status == want,
                  "line %d, event %d: %s is %s, not %s", line_number,
                  event_number, takt__phase_name((enum takt_phase)i),
                  takt__phase_status_name(after.phase[i].status),
                  takt__phase_status_name(want));
    }
    TAP_CHECK(happened || memcmp(&before, &after, sizeof after) == 0,
              "line %d, event %d: refused, and changed", line_number,
              event_number);
}

static void every_state_by_every_event(void)
{
    for (int line = 0; line < all_lines; line++)
        for (int event = 0; event < all_events; event++)
            check(line, event);
    printf("# %d states by %d events\n", all_lines, all_events);
}

/* Whatever the state and the event: no phase after one that failed can begin,
 * and none is Completed that did not succeed just now. */
static void nothing_passes_a_failure(void)
{
    for (int number = 0; number < all_lines; number++)
        for (int i = 0; i < 5; i++) {
            struct takt_pipeline line = line_of(number);
            bool failed_before = false;
            for (int k = 0; k < i; k++)
                failed_before |= line.phase[k].status == TAKT_FAILED;
            const bool began = takt__pipeline_step(
                &line,
                &(struct takt_phase_event){.kind = TAKT_STEP_BEGIN,
                                           .phase = (enum takt_phase)i},
                NULL);
            TAP_CHECK(!began || !failed_before, "line %d: %d began", number, i);
            for (int k = i + 1; k < TAKT_PHASES && began; k++)
                TAP_CHECK(k == TAKT_PHASE_TRANSPILATION ||
                              line.phase[k].status != TAKT_COMPLETED,
                          "line %d: %d is still completed", number, k);
        }
}

/* ---- details --------------------------------------------------------------
 */

static bool step(struct takt_pipeline *line, enum takt_phase_event_kind kind,
                 enum takt_phase phase)
{
    return takt__pipeline_step(
        line,
        &(struct takt_phase_event){
            .kind = kind, .phase = phase, .now = now, .text = "it broke"},
        NULL);
}

static void run_until(struct takt_pipeline *line, enum takt_phase last)
{
    takt__pipeline_step(
        line, &(struct takt_phase_event){.kind = TAKT_STEP_LOOK}, NULL);
    for (int i = 0; i <= (int)last; i++) {
        if (i == TAKT_PHASE_TRANSPILATION)
            continue;
        REQUIRE(step(line, TAKT_STEP_BEGIN, (enum takt_phase)i));
        REQUIRE(step(line, TAKT_STEP_SUCCEED, (enum takt_phase)i));
    }
}

static void a_whole_line_runs_through(void)
{
    struct takt_pipeline line = takt__pipeline_new();

    run_until(&line, TAKT_PHASE_BUILD);
    EXPECT_INT(takt__pipeline_next(&line), TAKT_PHASES);
    EXPECT_INT(line.current, TAKT_PHASE_BUILD);
    EXPECT_STR(line.phase[TAKT_PHASE_BUILD].started_at, now);
    EXPECT_STR(line.phase[TAKT_PHASE_BUILD].completed_at, now);
}

static void a_failure_is_named_and_resolved(void)
{
    struct takt_pipeline line = takt__pipeline_new();
    enum takt_phase blocker;
    char why[512];

    run_until(&line, TAKT_PHASE_ANALYSIS);
    REQUIRE(step(&line, TAKT_STEP_BEGIN, TAKT_PHASE_OPTIMIZATION));
    REQUIRE(step(&line, TAKT_STEP_FAIL, TAKT_PHASE_OPTIMIZATION));
    EXPECT(!takt__pipeline_step(
        &line,
        &(struct takt_phase_event){.kind = TAKT_STEP_BEGIN,
                                   .phase = TAKT_PHASE_BUILD},
        &blocker));
    EXPECT_INT(blocker, TAKT_PHASE_OPTIMIZATION);
    takt__pipeline_explain(&line, TAKT_PHASE_BUILD, blocker, "app", why,
                           sizeof why);
    EXPECT_STR(why, "Build is refused: Optimization failed: it broke; resolve "
                    "that, then run 'takt optimize app'");
    EXPECT(step(&line, TAKT_STEP_BEGIN, TAKT_PHASE_OPTIMIZATION));
    EXPECT_STR(line.phase[TAKT_PHASE_OPTIMIZATION].error, "");
    EXPECT(step(&line, TAKT_STEP_SUCCEED, TAKT_PHASE_OPTIMIZATION));
    EXPECT(step(&line, TAKT_STEP_BEGIN, TAKT_PHASE_VALIDATION));
}

static void every_blocker_is_explained(void)
{
    for (int status = 0; status < TAKT_PHASE_STATUSES; status++)
        for (int i = 0; i < TAKT_PHASES; i++) {
            struct takt_pipeline line = takt__pipeline_new();
            char why[512] = "";
            line.phase[i].status = (enum takt_phase_status)status;
            takt__pipeline_explain(&line, TAKT_PHASE_BUILD, (enum takt_phase)i,
                                   ".", why, sizeof why);
            TAP_CHECK(strstr(why, takt__phase_name((enum takt_phase)i)) != NULL,
                      "%d %d: %s", status, i, why);
        }
}

static void who_waits_for_other_tools_is_named_too(void)
{
    struct takt_pipeline line = takt__pipeline_new();
    struct takt_phase_record *theirs = &line.phase[TAKT_PHASE_TRANSPILATION];
    char why[512];

    theirs->status = TAKT_IN_PROGRESS;
    takt__pipeline_explain(&line, TAKT_PHASE_BUILD, TAKT_PHASE_TRANSPILATION,
                           "app", why, sizeof why);
    EXPECT(strstr(why, "Build is refused") != NULL);
    EXPECT(strstr(why, "'takt reset --phase transpilation app'") != NULL);
    theirs->status = TAKT_FAILED;
    takt__pipeline_explain(&line, TAKT_PHASE_BUILD, TAKT_PHASE_TRANSPILATION,
                           "app", why, sizeof why);
    EXPECT(strstr(why, "Build is refused") != NULL);
}

static void phases_have_names(void)
{
    enum takt_phase phase;

    EXPECT(takt__phase_parse("ANALYSIS", &phase) &&
           phase == TAKT_PHASE_ANALYSIS);
    EXPECT(takt__phase_parse("optimize", &phase) &&
           phase == TAKT_PHASE_OPTIMIZATION);
    EXPECT(takt__phase_parse("Deployment", &phase) &&
           phase == TAKT_PHASE_BUILD);
    EXPECT(!takt__phase_parse("", &phase));
    EXPECT(!takt__phase_parse("analysi", &phase));
    EXPECT(takt__phase_command(TAKT_PHASE_TRANSPILATION) == NULL);
}

int main(void)
{
    RUN(every_state_by_every_event);
    RUN(nothing_passes_a_failure);
    RUN(a_whole_line_runs_through);
    RUN(a_failure_is_named_and_resolved);
    RUN(every_blocker_is_explained);
    RUN(who_waits_for_other_tools_is_named_too);
    RUN(phases_have_names);
    return tap_done();
}
