/* SPDX-License-Identifier: MIT */
/* cmd_tune.c - `takt tune`: measures the experts of this machine. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "commands.h"
#include "context.h"
#include "number.h"
#include "tune.h"
#include "tune/family.h"
#include "tune/operands.h"

enum { most_ops = 64, most_shapes = 256 };

static volatile sig_atomic_t stop_signal;

static double now_s(void)
{
    return (double)takt__now_ns() * 1e-9;
}

static void stop(int number)
{
    stop_signal = number;
}

/* ---- the question ---- */

/* What the options of takt_tune() point to. */
struct question {
    const takt_op *op[most_ops];
    takt_shape shape[most_shapes];
};

static bool add_op(const struct invocation *invocation, const char *name,
                   takt_tune_options *options, struct question *out)
{
    const unsigned both = 1u << TAKT_F32 | 1u << TAKT_F64;
    const takt_op *op = find_named_op(invocation->command, name);

    if (op == NULL)
        return false;
    if (options->dtypes != both && /* else those that there are */
        !has_dtype(invocation->command, op,
                   options->dtypes == 1u << TAKT_F32 ? TAKT_F32 : TAKT_F64))
        return false;
    if (takt__family_at(op, 0) == NULL)
        return reject(invocation->command, "%s moves nothing: nothing to time",
                      op->name);
    if (options->op_count == most_ops)
        return reject(invocation->command, "more than %d ops", most_ops);
    out->op[options->op_count++] = op;
    return true;
}

static bool read_ops(const struct invocation *invocation,
                     takt_tune_options *options, struct question *out)
{
    const char *text = option_value(invocation, "ops");
    char list[longest_list], *rest = NULL;

    if (text == NULL)
        return true;
    if (!copy_list(invocation->command, "ops", text, list))
        return false;
    options->ops = out->op;
    for (char *name = strtok_r(list, ",", &rest); name != NULL;
         name = strtok_r(NULL, ",", &rest))
        if (!add_op(invocation, name, options, out))
            return false;
    if (options->op_count == 0)
        usage_error(invocation->command, "--ops names no op");
    return options->op_count > 0;
}

static bool read_sizes(const struct invocation *invocation,
                       takt_tune_options *options, struct question *out)
{
    const char *text = option_value(invocation, "sizes");
    char list[longest_list], *rest = NULL;

    if (text == NULL)
        return true;
    if (!copy_list(invocation->command, "sizes", text, list))
        return false;
    options->shapes = out->shape;
    for (char *size = strtok_r(list, ",", &rest); size != NULL;
         size = strtok_r(NULL, ",", &rest)) {
        if (options->shape_count == most_shapes)
            return reject(invocation->command, "more than %d sizes",
                          most_shapes);
        takt_shape *shape = &out->shape[options->shape_count++];
        const char *wrong = parse_shape(size, shape);
        if (wrong == NULL && !takt__tune_fits(options, shape))
            wrong = "fits none of the ops";
        if (wrong != NULL)
            return reject(invocation->command, "--sizes '%s' %s", size, wrong);
    }
    if (options->shape_count == 0)
        usage_error(invocation->command, "--sizes names no size");
    return options->shape_count > 0;
}

static bool read_effort(const struct invocation *invocation,
                        takt_tune_options *options)
{
    const bool quick = option_given(invocation, "quick");
    const bool full = option_given(invocation, "full");

    if (quick && full)
        return reject(invocation->command,
                      "--quick and --full exclude another");
    options->effort = quick  ? TAKT_TUNE_QUICK
                      : full ? TAKT_TUNE_FULL
                             : TAKT_TUNE_USUAL;
    return read_rate_option(invocation, "budget", 86400,
                            "is not above 0 and up to 86400",
                            &options->budget_s);
}

static bool read_question(const struct invocation *invocation,
                          struct tune *tune, struct question *question)
{
    static const unsigned dtypes[] = {1u << TAKT_F32, 1u << TAKT_F64,
                                      1u << TAKT_F32 | 1u << TAKT_F64};
    const char *dtype = option_value(invocation, "dtype");
    struct context_wish wish = {.store = option_value(invocation, "db"),
                                .writes_store = true,
                                .objective =
                                    option_value(invocation, "objective"),
                                .asks_drivers = true};
    takt_tune_options *options = &tune->options;
    size_t index = 2, threads = 0;

    tune->is_json = option_given(invocation, "json");
    options->ignores_load = option_given(invocation, "anyway");
    if (dtype != NULL)
        find_choice(dtype, "f32|f64|both", &index);
    options->dtypes = dtypes[index];
    if (!read_effort(invocation, options) ||
        !read_ops(invocation, options, question) ||
        !read_sizes(invocation, options, question) ||
        !read_count_option(invocation, "threads", 1024, "is not from 1 to 1024",
                           &threads))
        return false;
    wish.threads = (unsigned)threads;
    return open_context(invocation->command, &wish, &tune->ctx);
}

/* ---- progress: a bar for people, lines for logs, nothing for programs ---- */

enum { bar_width = 24 };
static const double bar_every_s = 0.1, line_every_s = 5;

static struct phrase name_stage(const takt_tune_progress *progress)
{
    if (progress->stage == TAKT_TUNE_TRANSFERS)
        return phrase("moving operands to %s", progress->expert);
    if (progress->stage == TAKT_TUNE_MEASURING)
        return phrase("%s %s %s", progress->op->name,
                      takt_dtype_name(progress->dtype),
                      shape_text(&progress->shape).at);
    return phrase("waiting: others use the machine");
}

/* Shows how far it is, at most ten times a second. */
static void show_progress(struct tune *tune, const takt_tune_progress *progress)
{
    const double now = now_s();
    const bool is_bar = isatty(STDERR_FILENO) != 0;
    char bar[bar_width + 1];

    if (tune->is_json || now < tune->next_line_s ||
        progress->stage == TAKT_TUNE_STARTING)
        return;
    const struct phrase what = name_stage(progress);
    memset(bar, '.', bar_width);
    memset(bar, '#', (size_t)(progress->done * bar_width));
    bar[bar_width] = '\0';
    if (is_bar)
        fprintf(stderr, "\r[%s] %3.0f%%  %3.0f s left  %-32.32s", bar,
                100 * progress->done, progress->left_s, what.at);
    else
        fprintf(stderr, "takt tune: %.0f%%, about %.0f s left, %s\n",
                100 * progress->done, progress->left_s, what.at);
    tune->next_line_s = now + (is_bar ? bar_every_s : line_every_s);
}

static void hide_progress(const struct tune *tune)
{
    if (!tune->is_json && isatty(STDERR_FILENO))
        fprintf(stderr, "\r%*s\r", 78, "");
}

/* ---- the command ---- */

static void watch_signals(void)
{
    /* A second signal ends the program at once. */
    struct sigaction action = {.sa_handler = stop,
                               .sa_flags = (int)SA_RESETHAND};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

static int watch(void *self, const takt_tune_progress *progress)
{
    if (stop_signal == 0)
        show_progress(self, progress);
    return stop_signal != 0;
}

/* The file is replaced by one that is written beside it. */
static bool can_write_beside(const char *path)
{
    char folder[4096];
    const char *slash = strrchr(path, '/');
    const size_t length = slash != NULL ? (size_t)(slash - path) + 1 : 1;

    if (length >= sizeof folder) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(folder, slash != NULL ? path : ".", length);
    folder[length] = '\0';
    return access(folder, W_OK | X_OK) == 0;
}

/* Whether there will be somewhere to keep the result. Asked before anything is
 * measured; says what is wrong. */
static bool can_keep(const struct tune *tune, const char *pin)
{
    takt_learning learning = {.size = sizeof learning};

    if (pin != NULL && !can_write_beside(pin)) {
        complain(&cmd_tune, "--pin '%s': %s", pin, strerror(errno));
        return false;
    }
    takt_ctx_learning(tune->ctx, &learning);
    const char *full =
        learning.is_stored ? store_room_problem(learning.store) : NULL;
    if (full != NULL && pin == NULL) {
        complain(&cmd_tune, "nothing was measured: %s: %s", learning.store,
                 full);
        return false;
    }
    if (learning.is_stored)
        return true;
    if (learning.store[0] == '\0' && learning.diag.text[0] == '\0')
        fputs("takt tune: there is no store (set TAKT_DB or use --db FILE): "
              "what is measured will not be kept\n",
              stderr);
    else if (pin == NULL)
        complain(&cmd_tune, "nothing was measured: %s", learning.diag.text);
    return pin != NULL || learning.diag.text[0] == '\0';
}

static int tune_machine(const struct invocation *invocation, struct tune *tune)
{
    const char *pin = option_value(invocation, "pin");

    if (!can_keep(tune, pin))
        return EXIT_FINDING;
    watch_signals();
    if (tune->options.budget_s > 0) /* opening GPUs is a part of it */
        tune->options.budget_s =
            fmax(tune->options.budget_s - (now_s() - tune->start_s), 1e-9);
    tune->options.watch = watch;
    tune->options.self = tune;
    const takt_status status =
        takt_tune(tune->ctx, &tune->options, &tune->result);
    hide_progress(tune);
    tune->signal = stop_signal;
    if (status != TAKT_OK) {
        fprintf(stderr, "takt tune: %s\n", takt_status_text(status));
        return EXIT_FINDING;
    }
    if (tune->result.end != TAKT_TUNE_BUSY)
        return report_tune(tune, pin);
    fprintf(stderr,
            "takt tune: others use %.1f processors of this machine: "
            "nothing was measured; run it when they are done, or with "
            "--anyway\n",
            tune->result.others);
    return EXIT_FINDING;
}

static int run(const struct invocation *invocation)
{
    struct tune tune = {.start_s = now_s()};
    struct question question;
    int code = EXIT_USAGE;

    if (read_question(invocation, &tune, &question))
        code = tune_machine(invocation, &tune);
    takt_ctx_destroy(tune.ctx);
    return code;
}

const struct command cmd_tune = {
    .name = "tune",
    .operands = "",
    .summary = "measure which expert of this machine is best at what",
    .description =
        "Runs every expert of this machine over ops and sizes, and keeps what "
        "each took, so that programs route by it from their first call on. "
        "Experts take turns, after a warm-up; each is timed with operands "
        "where its previous call left them, with operands that this thread "
        "has just written or that are in no cache, and with threads that "
        "sleep. Samples during which the processor was taken away are "
        "rejected, and nothing is kept that was measured while others used "
        "the machine.\n\n"
        "GPUs are opened and take part: on operands of the host, which they "
        "have to move, and on operands that they have already, as in a "
        "takt_buffer; and what moving takes is measured. Software that calls "
        "itself a GPU is left out.\n\n"
        "It can be interrupted at any moment and goes on where it was when "
        "run again. --pin writes the decisions to a file that TAKT_PIN=FILE "
        "replays, so that two runs of a program give the same bits.",
    .options = {{"quick", NULL, NULL, "at most 5 seconds, and 3 per GPU"},
                {"full", NULL, NULL, "all sizes and layouts: many minutes"},
                {"ops", "LIST", NULL, "these ops, separated by commas"},
                {"sizes", "LIST", NULL, "these sizes, separated by commas"},
                {"dtype", "TYPE", "f32|f64|both",
                 "element type (default both)"},
                {"budget", "SECONDS", NULL,
                 "time to use (default 60, and 25 per GPU)"},
                {"pin", "FILE", NULL, "write the decisions for TAKT_PIN"},
                {"threads", "N", NULL, "threads to use at most"},
                OBJECTIVE_OPTION,
                DB_OPTION,
                {"anyway", NULL, NULL, "keep what a loaded machine measures"},
                {"json", NULL, NULL, "print one JSON object"}},
    .examples = {"takt tune --quick",
                 "takt tune --ops add,matmul --dtype f32 --budget 3",
                 "takt tune --ops matmul --sizes 64x64x64,512x512x512",
                 "takt tune --quick --db my.db --pin my.pin"},
    .run = run,
};
