/* SPDX-License-Identifier: MIT */
/* cmd_report.c - `takt report`: one page that can be looked at and sent. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/new_file.h"
#include "clean.h"
#include "commands.h"
#include "context.h"
#include "report.h"

/* Of a pipe nothing is read: that would be missing afterwards. */
static bool is_store(const char *path)
{
    static const char head[] = "SQLite format 3";
    char text[sizeof head] = "";
    struct stat facts;
    FILE *file = stat(path, &facts) == 0 && S_ISREG(facts.st_mode)
                     ? fopen(path, "re")
                     : NULL;

    if (file == NULL)
        return false;
    const size_t got = fread(text, 1, sizeof text, file);
    fclose(file);
    return got == sizeof text && memcmp(text, head, sizeof head) == 0;
}

/* Sorts the operands: at most one store, and files of JSON. */
static bool read_operands(const struct invocation *invocation,
                          struct report *out)
{
    for (size_t i = 0; i < invocation->operand_count; i++) {
        const char *path = invocation->operands[i];
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

static bool print(FILE *stream, const struct report *report, bool is_json)
{
    return is_json ? print_report_json(stream, report)
                   : print_page(stream, report);
}

static int no_memory(const struct invocation *invocation)
{
    return complain(invocation->command, "%s", takt_status_text(TAKT_ENOMEM));
}

static int write_file(const struct invocation *invocation,
                      const struct report *report, bool is_json,
                      const char *path)
{
    struct takt_new_file file;
    takt_diag diag = {""};

    if (takt__new_file_open(path, TAKT_NEW_FILE_STREAMS, &file, &diag) !=
        TAKT_OK)
        return usage_error(invocation->command, "%s", diag.text);
    const int fd = fcntl(file.fd, F_DUPFD_CLOEXEC, 0);
    FILE *stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (stream == NULL) {
        takt__new_file_drop(&file);
        return usage_error(invocation->command, "'%s': %s", path,
                           strerror(errno));
    }
    const bool is_whole = print(stream, report, is_json);
    const bool is_bad = ferror(stream) != 0;
    if (fclose(stream) != 0 || is_bad || !is_whole) {
        takt__new_file_drop(&file);
        return !is_whole ? no_memory(invocation)
                         : complain(invocation->command,
                                    "'%s' could not be written", path);
    }
    if (takt__new_file_commit(&file, &diag) != TAKT_OK)
        return complain(invocation->command, "%s", diag.text);
    print_line(stderr, "takt report: wrote %s", path);
    return EXIT_DONE;
}

static int make(const struct invocation *invocation,
                const struct report *report)
{
    const bool is_json = option_given(invocation, "json");
    const char *path = option_value(invocation, "output");

    if (path == NULL && !is_json)
        path = "takt-report.html";
    if (path != NULL)
        return write_file(invocation, report, is_json, path);
    return print(stdout, report, true) ? EXIT_DONE : no_memory(invocation);
}

static int run(const struct invocation *invocation)
{
    struct report report = {.store = option_value(invocation, "db"),
                            .is_anonymous =
                                option_given(invocation, "anonymous")};
    int code = EXIT_USAGE;

    if (read_operands(invocation, &report) && open_machine(invocation, &report))
        code = make(invocation, &report);
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
        "Writes one HTML file that opens in a browser without a network. "
        "Without operands, or with a store: this machine, which expert is the "
        "fastest at which size, what each expert takes, and what was learned. "
        "With files that 'takt run --report --format json', 'takt run "
        "--compare --format json' or 'takt optimize --format json' wrote: "
        "pages of those. Every number on it is one that --json prints.\n\n"
        "--anonymous leaves out names of programs, their arguments and paths.",
    .max_operands = max_operands,
    .options = {{"output", "FILE", NULL,
                 "where the page goes; also -o (default takt-report.html)"},
                {"anonymous", NULL, NULL, "without names and paths"},
                {"machine", "DIR", NULL, "of a recorded machine"},
                DB_OPTION,
                {"json", NULL, NULL, "the data of the page, as JSON"}},
    .examples = {"takt report", "takt report -o machine.html",
                 "takt report run.json compare.json -o run.html",
                 "takt report --anonymous -o to-send.html"},
    .run = run,
};
