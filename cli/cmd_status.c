/* SPDX-License-Identifier: MIT */
/* cmd_status.c - `takt status` and `takt reset`: where a project stands on its
 * line, and phases as if they had never run. */
#define _DEFAULT_SOURCE /* timegm */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "commands.h"
#include "json.h"
#include "workflow.h"

/* Seconds since 1970 of "2026-11-15T14:02:11.25Z"; negative: it is no such. */
static double seconds_of(const char *text)
{
    struct tm at = {0};
    int used = 0;
    double second;

    if (sscanf(text, "%4d-%2d-%2dT%2d:%2d:%lf%n", &at.tm_year, &at.tm_mon,
               &at.tm_mday, &at.tm_hour, &at.tm_min, &second, &used) != 6 ||
        strcmp(text + used, "Z") != 0)
        return -1;
    at.tm_year -= 1900;
    at.tm_mon -= 1;
    return (double)timegm(&at) + second;
}

static double duration_of(const struct takt_phase_record *record)
{
    const double start = seconds_of(record->started_at);
    const double end = seconds_of(record->completed_at);

    return start < 0 || end < start ? -1 : end - start;
}

static const char *colour_of(enum takt_phase_status status)
{
    return !wants_colour(stdout)        ? ""
           : status == TAKT_FAILED      ? "\033[31m"
           : status == TAKT_COMPLETED   ? "\033[32m"
           : status == TAKT_IN_PROGRESS ? "\033[33m"
                                        : "";
}

static void print_row(const struct takt_pipeline *pipeline, int i)
{
    const struct takt_phase_record *record = &pipeline->phase[i];
    const char *colour = colour_of(record->status);
    const double seconds = duration_of(record);
    char took[24] = "", error[TAKT_PHASE_ERROR], started[TAKT_PHASE_TIME];

    if (seconds >= 1)
        snprintf(took, sizeof took, "%.0f s", seconds);
    else if (seconds >= 0)
        snprintf(took, sizeof took, "< 1 s");
    clean_text(record->started_at, started, sizeof started);
    if (strlen(started) > 19)
        started[19] = '\0'; /* no fractions, and it is UTC */
    if (strlen(started) > 10)
        started[10] = ' ';
    clean_text(record->error, error, sizeof error);
    printf("%-14s  %s%-11s%s  %-19s  %8s  %s\n",
           takt__phase_name((enum takt_phase)i), colour,
           takt__phase_status_name(record->status),
           colour[0] != '\0' ? "\033[0m" : "", started, took, error);
}

static void print_text(const struct workflow *workflow)
{
    const struct takt_pipeline *pipeline = &workflow->state.pipeline;
    const enum takt_phase next = takt__pipeline_next(pipeline);

    printf("%-14s  %-11s  %-19s  %8s  %s\n", "phase", "status", "started (UTC)",
           "took", "error");
    for (int i = 0; i < TAKT_PHASES; i++)
        print_row(pipeline, i);
    if (next == TAKT_PHASES) {
        puts("\nall phases are completed");
    } else if (takt__phase_command(next) == NULL) {
        puts("\nnext: transpile the project with the tool that does it");
    } else {
        putchar('\n');
        print_line(stdout, "next: %stakt %s %s",
                   pipeline->phase[next].status == TAKT_FAILED
                       ? "resolve that, then "
                       : "",
                   takt__phase_command(next), workflow->folder);
    }
}

static void print_json(const struct workflow *workflow)
{
    const struct takt_pipeline *pipeline = &workflow->state.pipeline;
    const enum takt_phase next = takt__pipeline_next(pipeline);
    struct json json = json_begin(stdout);

    json_print(&json,
               "{project:%s state:%s current_phase:%s next_phase:%s phases:[",
               workflow->folder, workflow->state.path,
               pipeline->current < 0
                   ? NULL
                   : takt__phase_name((enum takt_phase)pipeline->current),
               next == TAKT_PHASES ? NULL : takt__phase_name(next));
    for (int i = 0; i < TAKT_PHASES; i++) {
        const struct takt_phase_record *record = &pipeline->phase[i];
        json_print(
            &json,
            "{phase:%s status:%s started_at:%s completed_at:%s error:%s}",
            takt__phase_name((enum takt_phase)i),
            takt__phase_status_name(record->status),
            known_text(record->started_at), known_text(record->completed_at),
            known_text(record->error));
    }
    json_print(&json, "]}\n");
}

static int show_status(const struct invocation *invocation)
{
    struct workflow workflow;
    const int code = workflow_open(invocation, WORKFLOW_LOOKS, &workflow);

    if (code != EXIT_DONE)
        return code;
    if (option_given(invocation, "json"))
        print_json(&workflow);
    else
        print_text(&workflow);
    workflow_close(&workflow);
    return EXIT_DONE;
}

const struct command cmd_status = {
    .name = "status",
    .operands = "[DIR]",
    .summary = "show the phases of a project",
    .description =
        "Prints, for each phase of the line, whether it has not started, is in "
        "progress, completed, failed, is stale (something before it ran again) "
        "or not needed; when that began, how long it took, and what went "
        "wrong. A phase whose process has died failed: it was interrupted. "
        "Changes nothing.",
    .max_operands = 1,
    .options = {{"json", NULL, NULL, "print one JSON object"}},
    .examples = {"takt status", "takt status --json app"},
    .run = show_status,
};

static int reset(const struct invocation *invocation)
{
    const char *word = option_value(invocation, "phase");
    struct takt_phase_event event = {.kind = TAKT_STEP_RESET_ALL};
    struct workflow workflow;
    takt_diag diag = {""};

    if (word != NULL) {
        event.kind = TAKT_STEP_RESET;
        takt__phase_parse(word, &event.phase); /* the table knows the words */
    }
    int code = workflow_open(invocation, WORKFLOW_CHANGES, &workflow);
    if (code != EXIT_DONE)
        return code;
    struct stat facts; /* of the file or of a link, which is refused below */
    if (lstat(workflow.state.path, &facts) != 0) {
        puts("nothing to reset: no phase has run");
        workflow_close(&workflow);
        return EXIT_DONE;
    }
    takt__pipeline_step(&workflow.state.pipeline, &event, NULL);
    if (takt__state_save(&workflow.state, &diag) != TAKT_OK)
        code = complain(invocation->command, "%s", diag.text);
    else if (word != NULL)
        printf("%s was reset; phases after it that had run are stale\n",
               takt__phase_name(event.phase));
    else
        puts("all phases were reset");
    workflow_close(&workflow);
    return code;
}

const struct command cmd_reset = {
    .name = "reset",
    .operands = "[DIR]",
    .summary = "take phases of a project back",
    .description =
        "Marks one phase, or all of them, as Not Started. Phases after it that "
        "had run become Stale. What they wrote (the profile in Cargo.toml, "
        "build output) stays as it is. A damaged state file is kept aside.",
    .max_operands = 1,
    .options = {{"phase", "NAME",
                 "analysis|transpilation|optimization|validation|build",
                 "this phase, instead of all"}},
    .examples = {"takt reset", "takt reset --phase validation app"},
    .run = reset,
};
