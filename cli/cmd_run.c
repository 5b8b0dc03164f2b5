/* SPDX-License-Identifier: MIT */
/* cmd_run.c - `takt run`: a program as it is, with its BLAS routed. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/new_file.h"
#include "clean.h"
#include "commands.h"
#include "context.h"
#include "number.h"
#include "report.h"
#include "run.h"
#include "run_compare.h"

struct run_task {
    const struct invocation *invocation;
    struct launch launch;
    bool is_left_alone;
    char reason[reason_size];    /* why it is */
    FILE *out;                   /* of the report; NULL: there is none */
    struct takt_new_file report; /* what `out` writes to, unless stderr */
    const char *report_path;
    bool is_report_short; /* there was no memory for all of it */
};

/* Where a page goes if nothing else was said. */
static const char run_page_name[] = "takt-run.html";

/* ---- the environment ---- */

/* Takes `value` over; NULL removes the variable. */
static void set(struct run_task *task, const char *name, char *value)
{
    task->launch.variable[task->launch.variable_count++] =
        (struct variable){.name = name, .value = value};
}

static bool no_memory(void)
{
    fputs("takt run: out of memory\n", stderr);
    return false;
}

static bool set_copy(struct run_task *task, const char *name, const char *value)
{
    char *copy = strdup(value);

    if (copy == NULL)
        return no_memory();
    set(task, name, copy);
    return true;
}

/* Made absolute: the program may change its folder before the file is
 * opened. */
static bool set_path(struct run_task *task, const char *name, const char *path)
{
    char folder[PATH_MAX], whole[2 * PATH_MAX];

    if (path[0] == '/' || path[0] == '\0' || getcwd(folder, PATH_MAX) == NULL)
        return set_copy(task, name, path);
    snprintf(whole, sizeof whole, "%s/%.*s", folder, PATH_MAX - 2, path);
    return set_copy(task, name, whole);
}

static void drop_variables(struct launch *launch)
{
    for (size_t i = 0; i < launch->variable_count; i++)
        free(launch->variable[i].value);
}

/* ---- options ---- */

/* An option that names a file, and the variable that is set to it. */
struct file_option {
    const char *option, *variable;
    const char *(*check)(const char *path);
};

static bool read_file_option(struct run_task *task,
                             const struct file_option *file)
{
    const char *path = option_value(task->invocation, file->option);

    if (path == NULL)
        return true;
    const char *wrong = file->check(path);
    if (wrong == NULL)
        return file->check == can_trace && is_socket(path)
                   ? set_copy(task, file->variable, path)
                   : set_path(task, file->variable, path);
    return reject(task->invocation->command, "--%s '%s': %s", file->option,
                  path, wrong);
}

static bool read_threads(struct run_task *task)
{
    size_t count = 0;
    char text[32];

    if (!read_count_option(task->invocation, "threads", UINT_MAX,
                           "is no number of threads", &count))
        return false;
    snprintf(text, sizeof text, "%zu", count);
    return count == 0 || set_copy(task, "TAKT_THREADS", text);
}

/* A policy that is asked for here is not overruled from outside. */
static bool read_policy(struct run_task *task)
{
    const char *policy = option_value(task->invocation, "policy");
    const char *objective = option_value(task->invocation, "objective");

    if (!check_objective(task->invocation->command, objective) ||
        (objective != NULL && !set_copy(task, "TAKT_OBJECTIVE", objective)))
        return false;
    if (policy == NULL)
        return true;
    set(task, "TAKT_PIN", NULL);
    return set_copy(task, "TAKT_POLICY", policy);
}

/* Idle threads of OpenBLAS spin for a tenth of a second and slow down routed
 * calls. Where there are few processors they shall sleep sooner: to wake three
 * costs 0.1 ms, to wake fifteen milliseconds (docs/decisions/0028). */
static bool shorten_spinning(struct run_task *task)
{
    enum { few = 4 };
    static const char variable[] = "OPENBLAS_THREAD_TIMEOUT";

    return getenv(variable) != NULL || sysconf(_SC_NPROCESSORS_ONLN) > few ||
           set_copy(task, variable, "25");
}

static bool read_options(struct run_task *task)
{
    static const struct file_option files[] = {
        {"db", "TAKT_DB", can_store},
        {"trace", "TAKT_TRACE", can_trace},
        {"pin", "TAKT_PIN", can_read},
        {"library", "TAKT_RUN_LIBRARY", can_load}};
    static const char *const switches[][3] = {
        {"no-gpu", "TAKT_GPU", ""},
        {"no-numpy", "TAKT_RUN_NUMPY", "off"},
        {"no-lapack", "TAKT_RUN_LAPACK", "off"},
        {"same-bits", "TAKT_RUN_SAME_BITS", "1"},
        {"reuse", "TAKT_RUN_REUSE", "1"},
        {"no-reuse", "TAKT_RUN_REUSE", "0"}};

    if (!read_policy(task) || !read_threads(task))
        return false;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (!read_file_option(task, &files[i]))
            return false;
    if (!shorten_spinning(task))
        return false;
    if (!limit_library_threads(&task->launch))
        return no_memory();
    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++)
        if (option_given(task->invocation, switches[i][0]) &&
            !set_copy(task, switches[i][1], switches[i][2]))
            return false;
    return true;
}

enum report_format { format_text, format_json, format_html };

/* Of --report=WORD, or of --format. */
static enum report_format report_format(const struct invocation *invocation)
{
    const char *word = option_value(invocation, "report");

    return (enum report_format)option_choice(
        invocation, word != NULL && word[0] != '\0' ? "report" : "format");
}

/* What makes no sense together, or not at all. */
static bool is_sensible(const struct invocation *invocation)
{
    const struct command *command = invocation->command;
    const bool compares = option_given(invocation, "compare");
    const bool has_report = compares || option_given(invocation, "report");

    if (invocation->program == NULL || invocation->program[0] == NULL)
        return reject(command, "no command after --");
    if (option_given(invocation, "format") && !has_report)
        return reject(command, "--format is for --report and --compare");
    if (option_given(invocation, "output") && !has_report)
        return reject(command, "--output is for --report and --compare");
    if (compares && option_given(invocation, "report"))
        return reject(command, "--compare has a report of its own");
    if (option_given(invocation, "show-output") && !compares)
        return reject(command, "--show-output is for --compare");
    if (option_given(invocation, "reuse") &&
        option_given(invocation, "no-reuse"))
        return reject(command, "--reuse and --no-reuse cannot both hold");
    if (option_given(invocation, "policy") && option_given(invocation, "pin"))
        return reject(command, "--policy and --pin cannot both decide");
    return true;
}

/* The value of --compare; 0: none was given. */
static bool read_pairs(const struct invocation *invocation, size_t *out)
{
    const char *value = option_value(invocation, "compare");

    *out = 0;
    return value == NULL || value[0] == '\0' ||
           read_count_option(invocation, "compare", compare_given,
                             "is no number of pairs (1 to 1000)", out);
}

/* Opened before the program runs, so that it does not run for nothing. */
static FILE *open_report(struct run_task *task, const char *path,
                         unsigned flags)
{
    takt_diag diag = {""};

    if (takt__new_file_open(path, flags, &task->report, &diag) != TAKT_OK) {
        usage_error(task->invocation->command, "%s", diag.text);
        return NULL;
    }
    const int fd = fcntl(task->report.fd, F_DUPFD_CLOEXEC, 0);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (out == NULL)
        usage_error(task->invocation->command, "'%s' cannot be written: %s",
                    path, strerror(errno));
    return out;
}

static bool open_output(struct run_task *task)
{
    const bool compares = option_given(task->invocation, "compare");
    const bool is_page = report_format(task->invocation) == format_html;
    const char *output = option_value(task->invocation, "output");

    if (!compares && !option_given(task->invocation, "report"))
        return true;
    const unsigned flags = page_flags(output != NULL);
    if (output == NULL && is_page)
        output = run_page_name;
    task->report_path = output;
    task->out = output != NULL ? open_report(task, output, flags)
                : compares     ? stdout
                               : stderr;
    return task->out != NULL;
}

/* ---- running ---- */

/* Finds out what is to be loaded into the program, if anything can be. */
static bool prepare(struct run_task *task)
{
    const char *program = task->launch.program[0];

    task->is_left_alone = must_leave_alone(program, task->reason);
    if (task->is_left_alone) {
        complain(&cmd_run, "'%s' %s: it is run as it is", program,
                 task->reason);
        return true;
    }
    char *preload = preload_value();
    char *checks = preload != NULL ? address_sanitizer_value() : NULL;
    set(task, "LD_PRELOAD", preload);
    set(task, ADDRESS_SANITIZER_VARIABLE, checks);
    return checks != NULL;
}

/* False: no memory. */
static bool print_run_page(FILE *out, const struct run_report *report)
{
    struct takt_memory_file page;

    if (!takt__memory_file_open(&page))
        return false;
    print_run_json(page.stream, report);
    return page_end(&page, "run", out);
}

static void print_report(struct run_task *task, const struct ending *ending,
                         const struct takt_stats *stats)
{
    struct run_report report = {.program = task->launch.program,
                                .ending = *ending,
                                .left_alone =
                                    task->is_left_alone ? task->reason : NULL,
                                .stats = stats};

    if (stats != NULL && !tally_stats(stats, &report.tally))
        report.stats = NULL;
    const enum report_format format = report_format(task->invocation);
    if (format == format_json)
        print_run_json(task->out, &report);
    else if (format == format_html)
        task->is_report_short = !print_run_page(task->out, &report);
    else
        print_run_text(task->out, &report);
    tally_drop(&report.tally);
}

static bool is_file(const struct run_task *task)
{
    return task->out != NULL && task->out != stderr && task->out != stdout;
}

/* False: the report could not be written, which was said. */
static bool close_output(struct run_task *task)
{
    bool is_bad = fflush(task->out) != 0 || ferror(task->out) != 0 ||
                  task->is_report_short;

    if (is_file(task)) {
        is_bad |= fclose(task->out) != 0;
        is_bad =
            is_bad || takt__new_file_commit(&task->report, NULL) != TAKT_OK;
    }
    if (is_bad)
        fputs("takt run: the report could not be written\n", stderr);
    task->out = NULL;
    if (!is_bad && report_format(task->invocation) == format_html)
        print_line(stderr, "takt run: wrote %s", task->report_path);
    return !is_bad;
}

static int run_reported(struct run_task *task)
{
    struct stats_file stats;
    struct signals before;
    struct ending ending;
    int code = EXIT_FINDING;

    hold_signals(&before);
    if (!stats_make(&stats))
        return code;
    if (!set_copy(task, TAKT_STATS_VARIABLE, stats.path)) {
        stats_remove(&stats);
        return code;
    }
    if (!watch_program(&task->launch, &before, &ending, &code)) {
        stats_remove(&stats);
        return code;
    }
    struct takt_stats *counted = stats_read(stats.fd);
    stats_remove(&stats);
    print_report(task, &ending, counted);
    (void)close_output(task); /* the program's exit status is not ours */
    free(counted);
    return end_alike(&ending);
}

/* Whether takt itself is, so that every program would be. */
static bool is_preloaded(void)
{
    const char *before = getenv("LD_PRELOAD");

    return before != NULL && strstr(before, "libtakt-blas.so") != NULL;
}

static bool can_compare(const struct run_task *task)
{
    if (task->is_left_alone) /* which was said */
        complain(&cmd_run, "there is nothing to compare");
    else if (is_preloaded())
        complain(&cmd_run, "LD_PRELOAD has libtakt-blas.so: there would be no "
                           "run without Takt");
    else
        return true;
    return false;
}

static int run_comparison(struct run_task *task, size_t pairs)
{
    char store[PATH_MAX];
    int signal_number = 0;

    if (!can_compare(task))
        return EXIT_FINDING;
    /* To count a small call takes longer than to run it: that would be measured
     * and is not what the program takes without a report. */
    if (!set_copy(task, "TAKT_RUN_COUNT_LARGE", "1"))
        return EXIT_FINDING;
    find_store(option_value(task->invocation, "db"), store, sizeof store);
    const enum report_format format = report_format(task->invocation);
    struct takt_memory_file page = {0};
    if (format == format_html && !takt__memory_file_open(&page))
        return no_memory(), EXIT_FINDING;
    const struct compare_wish wish = {
        .launch = &task->launch,
        .store = store,
        .pairs = pairs,
        .shows_output = option_given(task->invocation, "show-output"),
        .is_json = format != format_text,
        .out = page.stream != NULL ? page.stream : task->out};
    const int code = run_compared(&wish, &signal_number);
    if (page.stream != NULL)
        task->is_report_short = !page_end(&page, "compare", task->out);
    const bool is_written = close_output(task);
    if (signal_number != 0)
        suffer_signal(signal_number);
    return is_written ? code : EXIT_FINDING;
}

static int start(struct run_task *task, size_t pairs)
{
    if (!prepare(task))
        return EXIT_FINDING;
    if (option_given(task->invocation, "compare"))
        return run_comparison(task, pairs);
    return task->out != NULL ? run_reported(task)
                             : become_program(&task->launch);
}

static int run(const struct invocation *invocation)
{
    static struct run_task task;
    int code = EXIT_USAGE;
    size_t pairs;

    task = (struct run_task){.invocation = invocation,
                             .launch = {.program = invocation->program},
                             .report = {.fd = -1, .folder = -1}};
    if (is_sensible(invocation) && read_pairs(invocation, &pairs) &&
        read_options(&task) && open_output(&task))
        code = start(&task, pairs);
    if (is_file(&task))
        fclose(task.out);
    takt__new_file_drop(&task.report);
    drop_variables(&task.launch);
    return code;
}

const struct command cmd_run = {
    .name = "run",
    .operands = "-- COMMAND [ARG...]",
    .summary = "run a program with its BLAS routed",
    .description =
        "Runs a program that calls BLAS (NumPy, SciPy, R, Octave, ...) and has "
        "each call run where it finishes first: in the library that the "
        "program has, by Takt's own kernels, or on a GPU. Nothing of the "
        "program is changed; its children are routed, too. NumPy's own loops "
        "run on several threads where that is faster.\n"
        "Its input, output, signals and exit status are its own. Without "
        "--report takt becomes the program. 127: there is no such command; "
        "126: it cannot be run; 1: takt lacks something, and the program was "
        "not started.\n"
        "A program that is linked statically, has rights of its own (setuid), "
        "or is for another machine or C library is run as it is, and a line "
        "says so.\n"
        "The report tells where the time went, and for each routine and size "
        "where calls ran, what they took, what was gained against calls of the "
        "same kind in the baseline library (measured in the same run), and why "
        "calls were not routed.\n"
        "--compare runs the program with and without Takt, in pairs in random "
        "order, and tells the ratios of wall and of CPU time with 95% "
        "intervals: N pairs, or until the interval is narrow (+-2%), which is "
        "6 to 25 pairs, and none begins after 10 minutes. One pair before "
        "these is told apart. The report is on standard output; what the "
        "program prints is compared, not shown. Status 0: compared; 1: a run "
        "failed.",
    .takes_program = true,
    .options = {{"report", "[=WORD]", "text|json|html",
                 "say at the end what came of it; html: a page"},
                {"compare", "[=N]", NULL,
                 "run it with and without Takt, in N pairs, and compare"},
                {"show-output", NULL, NULL,
                 "with --compare: on standard error, all that it prints"},
                {"format", "WORD", "text|json|html", "how to print the report"},
                {"output", "FILE", NULL,
                 "the report goes there, not to a standard stream"},
                {"same-bits", NULL, NULL,
                 "results do not vary within a run: little is routed"},
                {"policy", "NAME", policy_choice, "how calls are decided"},
                OBJECTIVE_OPTION,
                {"pin", "FILE", NULL,
                 "decisions from a file: every run gives the same bits"},
                {"no-gpu", NULL, NULL, "use no GPU"},
                {"no-numpy", NULL, NULL, "leave NumPy's own loops alone"},
                {"no-lapack", NULL, NULL,
                 "leave the threads of LAPACK's calls alone"},
                {"threads", "N", NULL, "threads of Takt's own, at most"},
                {"reuse", NULL, NULL,
                 "keep on the GPU what is unchanged, whatever tracking costs"},
                {"no-reuse", NULL, NULL, "move all operands each time"},
                {"library", "FILE", NULL,
                 "the baseline BLAS, where it is not found by itself"},
                {"trace", "FILE", NULL, "tell of calls, for 'takt trace'"},
                DB_OPTION},
    .examples = {"takt run -- python3 app.py",
                 "takt run --report -- python3 app.py",
                 "takt run --compare -- python3 app.py",
                 "takt run --report=html -- python3 app.py",
                 "takt run --report --format json --output run.json -- "
                 "Rscript fit.R",
                 "takt run --no-gpu --threads 4 -- octave model.m",
                 "takt run --pin my.pin -- ./solver"},
    .run = run,
};
