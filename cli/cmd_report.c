/* SPDX-License-Identifier: MIT */
/* cmd_report.c - `takt report`: one page that can be looked at and sent. */

#include <stdio.h>
#include <unistd.h>

#include "commands.h"
#include "context.h"
#include "report.h"

static bool is_store(const char *path)
{
    static const char head[] = "SQLite format 3";

    return begins_with(path, head, sizeof head);
}

/* Sorts the operands: at most one store, and files of JSON. */
static bool read_operands(const struct invocation *invocation,
                          struct report *out)
{
    const char *output = option_value(invocation, "output");

    for (size_t i = 0; i < invocation->operand_count; i++) {
        const char *path = invocation->operands[i];
        if (output != NULL && is_same_file(output, path))
            return reject(invocation->command,
                          "--output '%s' is a file that is to be shown",
                          output);
        if (is_store(path)) {
            if (out->store != NULL)
                return reject(invocation->command,
                              "'%s': a page shows one store", path);
            out->store = path;
            continue;
        }
        if (out->input_count == most_inputs)
            return reject(invocation->command, "more than %d files",
                          most_inputs);
        if (!read_input(invocation->command, path, out->is_anonymous,
                        &out->input[out->input_count]))
            return false;
        out->input_count++;
    }
    return true;
}

/* The machine is shown where nothing else was asked for, or it was. */
static bool open_machine(const struct invocation *invocation,
                         struct report *report)
{
    const char *recording = option_value(invocation, "machine");
    const struct context_wish wish = {
        .recording = recording, .store = report->store, .opens_gpus = true};

    report->is_live = recording == NULL;
    if (report->input_count > 0 && report->store == NULL && recording == NULL)
        return true;
    return open_context(invocation->command, &wish, &report->ctx);
}

/* Every op is asked about at every size: seconds, where others are at work. */
static void announce(const struct report *report)
{
    if (isatty(STDERR_FILENO) && report->input_count == 0)
        fputs("takt report: asks what would run every op at every size\n",
              stderr);
}

static int make(const struct invocation *invocation,
                const struct report *report)
{
    const bool is_json = option_given(invocation, "json");
    const char *path = option_value(invocation, "output");

    if (path != NULL || !is_json)
        return write_report(invocation->command, report, is_json, path,
                            "takt-report.html");
    return print_report_json(stdout, report)
               ? EXIT_DONE
               : complain(invocation->command, "%s",
                          takt_status_text(TAKT_ENOMEM));
}

static int run(const struct invocation *invocation)
{
    struct report report = {.store = option_value(invocation, "db"),
                            .is_anonymous =
                                option_given(invocation, "anonymous")};
    int code = EXIT_USAGE;

    if (read_operands(invocation, &report) &&
        open_machine(invocation, &report)) {
        announce(&report);
        code = make(invocation, &report);
    }
    for (size_t i = 0; i < report.input_count; i++)
        free_input(&report.input[i]);
    takt_ctx_destroy(report.ctx);
    return code;
}

const struct command cmd_report = {
    .name = "report",
    .operands = "[STORE | FILE...]",
    .summary = "write a page to look at and to send",
    .description =
        "Writes one HTML file that opens in a browser without a network.\n"
        "Without operands, or with a store: this machine, which expert is the "
        "fastest at which size, what each expert takes by size, and what was "
        "learned, in all and by day. 'takt tune' and programs that use Takt "
        "fill the store; before that the page shows what is expected.\n"
        "With files: a section for each of them. A file is JSON that 'takt run "
        "--report', 'takt run --compare' or 'takt optimize' wrote with "
        "'--format json', or a trace of 'takt run --trace FILE' or 'takt trace "
        "--record FILE'. Several runs on one page show the gain over time.\n"
        "Every number on a page is one that --json prints. --anonymous leaves "
        "out names of programs, their arguments and paths.",
    .max_operands = max_operands,
    .options = {{"output", "FILE", NULL,
                 "where the page goes; also -o (default takt-report.html)"},
                {"anonymous", NULL, NULL, "leave out names and paths"},
                {"machine", "DIR", NULL, "show a recorded machine"},
                DB_OPTION,
                {"json", NULL, NULL, "print the data of the page, as JSON"}},
    .examples = {"takt report", "takt report -o machine.html",
                 "takt report run.json compare.json -o run.html",
                 "takt report app.trace",
                 "takt report --anonymous -o to-send.html"},
    .run = run,
};
