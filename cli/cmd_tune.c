/* SPDX-License-Identifier: MIT */
/* cmd_tune.c - `takt tune`: measures the experts of this machine. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "number.h"
#include "tune.h"

enum { longest_list = 2048, most_ops = 64, most_shapes = 64 };

/* How long each effort may take; --full ends when everything is measured. */
static const double budget_s[] = {4.3, 55, 3600};
static const double gpu_budget_s[] = {3, 25, 0}; /* and that for each GPU */
static const double window_s = 0.5;
static const double store_every_s = 5;

/* The best known first: they get their share even of a small budget. */
static const char usual_ops[] =
    "matmul,add,sum,dot,gemv,axpy,mul,exp,softmax,scale,copy,relu,max,norm2,"
    "layernorm,sub,div,fma,tanh,sigmoid,gelu,log,sqrt,abs,neg,clamp,mean,min,"
    "argmax,argmin,norm1,variance,transpose,batched_matmul,conv2d,attention,"
    "pooling";

volatile int stop_signal;

static void stop(int number)
{
    stop_signal = number;
}

double tune_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

bool tune_is_over(const struct tune *tune)
{
    return stop_signal != 0 || tune_now() > tune->deadline_s;
}

/* ---- the question ---------------------------------------------------------
 */

struct question {
    const takt_op *op[most_ops];
    takt_shape shape[most_shapes];
    struct plan_wish wish;
};

static bool has_wanted_dtype(const struct invocation *invocation,
                             const takt_op *op, const struct question *question)
{
    const bool *wanted = question->wish.dtype;

    if (wanted[TAKT_F32] && wanted[TAKT_F64])
        return true; /* those that there are */
    return has_dtype(invocation->command, op,
                     wanted[TAKT_F32] ? TAKT_F32 : TAKT_F64);
}

static bool read_ops(const struct invocation *invocation, struct question *out)
{
    const char *text = option_value(invocation, "ops");
    char list[longest_list], *rest = NULL;

    snprintf(list, sizeof list, "%s", text != NULL ? text : usual_ops);
    out->wish.op = out->op;
    for (char *name = strtok_r(list, ",", &rest); name != NULL;
         name = strtok_r(NULL, ",", &rest)) {
        const takt_op *op = find_named_op(invocation->command, name);
        if (op == NULL)
            return false;
        if (text != NULL && !has_wanted_dtype(invocation, op, out))
            return false;
        if (family_at(op, 0) == NULL) {
            usage_error(invocation->command,
                        "%s moves nothing: nothing to time", op->name);
            return false;
        }
        if (out->wish.op_count < most_ops)
            out->op[out->wish.op_count++] = op;
    }
    if (out->wish.op_count == 0)
        usage_error(invocation->command, "--ops names no op");
    return out->wish.op_count > 0;
}

static bool is_empty(const takt_op *op, const takt_shape *shape)
{
    for (unsigned i = 0; i < op->rank_min; i++)
        if (shape->dim[i] == 0)
            return true;
    return false;
}

static bool any_fits(const struct question *question, const takt_shape *shape)
{
    for (size_t i = 0; i < question->wish.op_count; i++)
        if (shape->rank >= question->op[i]->rank_min &&
            takt_op_check_shape(question->op[i], shape) == TAKT_OK &&
            !is_empty(question->op[i], shape))
            return true;
    return false;
}

static bool read_sizes(const struct invocation *invocation,
                       struct question *out)
{
    const char *text = option_value(invocation, "sizes");
    char list[longest_list], *rest = NULL;

    if (text == NULL)
        return true;
    snprintf(list, sizeof list, "%s", text);
    out->wish.shape = out->shape;
    for (char *size = strtok_r(list, ",", &rest);
         size != NULL && out->wish.shape_count < most_shapes;
         size = strtok_r(NULL, ",", &rest)) {
        takt_shape *shape = &out->shape[out->wish.shape_count++];
        const char *wrong = parse_shape(size, shape);
        if (wrong == NULL && !any_fits(out, shape))
            wrong = "fits none of the ops";
        if (wrong != NULL) {
            usage_error(invocation->command, "--sizes '%s' %s", size, wrong);
            return false;
        }
    }
    return true;
}

static bool read_effort(const struct invocation *invocation, struct tune *tune)
{
    const char *budget = option_value(invocation, "budget");
    const bool quick = option_given(invocation, "quick");
    double seconds = 0;

    tune->effort = quick                              ? effort_quick
                   : option_given(invocation, "full") ? effort_full
                                                      : effort_usual;
    if (quick && option_given(invocation, "full")) {
        usage_error(invocation->command, "--quick and --full exclude another");
        return false;
    }
    seconds = budget_s[tune->effort];
    const char *wrong = budget == NULL ? NULL : parse_rate(budget, &seconds);
    if (wrong == NULL && !(seconds > 0 && seconds <= 86400))
        wrong = "is not above 0 and up to 86400";
    if (wrong != NULL)
        usage_error(invocation->command, "--budget '%s' %s", budget, wrong);
    tune->deadline_s = tune->start_s + seconds;
    tune->has_own_budget = budget != NULL;
    return wrong == NULL;
}

/* Memory: a tenth of the machine's is not missed. */
static void set_pace(struct tune *tune)
{
    static const struct pace paces[] = {
        {.rounds = 2, .enough = 2, .longest_s = 0.02, .most_bytes = 0x1p24},
        {.rounds = 4,
         .enough = 3,
         .longest_s = 0.2,
         .most_bytes = 0x1p28,
         .times_repeated_alone = true},
        {.rounds = 8,
         .enough = 6,
         .longest_s = 5,
         .most_bytes = 0x1p30,
         .times_repeated_alone = true},
    };
    const double most = (double)tune->machine->memory_bytes / 10;

    tune->pace = paces[tune->effort];
    if (most > 0 && tune->pace.most_bytes > most)
        tune->pace.most_bytes = most;
}

static bool read_threads(const struct invocation *invocation, unsigned *out)
{
    const char *text = option_value(invocation, "threads");
    size_t threads = 0;
    const char *wrong = text == NULL ? NULL : parse_count(text, &threads);

    if (text != NULL && wrong == NULL && (threads == 0 || threads > 1024))
        wrong = "is not from 1 to 1024";
    if (wrong != NULL)
        usage_error(invocation->command, "--threads '%s' %s", text, wrong);
    *out = (unsigned)threads;
    return wrong == NULL;
}

static bool read_question(const struct invocation *invocation,
                          struct tune *tune, struct question *question)
{
    const char *dtype = option_value(invocation, "dtype");
    struct context_wish wish = {.store = option_value(invocation, "db"),
                                .writes_store = true,
                                .asks_drivers = true};
    size_t index = 2;

    tune->command = invocation->command;
    tune->is_json = option_given(invocation, "json");
    tune->takes_anything = option_given(invocation, "anyway");
    tune->start_s = tune_now();
    tune->random = (uint64_t)(tune->start_s * 1e9) | 1;
    if (dtype != NULL)
        find_choice(dtype, "f32|f64|both", &index);
    question->wish.dtype[TAKT_F32] = index != 1;
    question->wish.dtype[TAKT_F64] = index != 0;
    return read_effort(invocation, tune) && read_ops(invocation, question) &&
           read_sizes(invocation, question) &&
           read_threads(invocation, &wish.threads) &&
           open_context(invocation->command, &wish, &tune->ctx);
}

/* ---- the work -------------------------------------------------------------
 */

static void find_experts(struct tune *tune)
{
    const char *name;

    for (size_t i = 0; i < most_experts &&
                       (name = takt_ctx_expert(tune->ctx, i, NULL)) != NULL;
         i++)
        tune->expert[tune->expert_count++] = name;
}

/* Opening them took part of the time that each adds. */
static void find_gpus(struct tune *tune)
{
    takt_gpu_device gpu;

    for (size_t i = 0; tune->gpu_count < most_gpus &&
                       takt_ctx_gpu(tune->ctx, i, &gpu) == TAKT_OK;
         i++) {
        size_t expert = 0;
        while (expert < tune->expert_count &&
               strcmp(tune->expert[expert], gpu.expert) != 0)
            expert++;
        if (gpu.state != TAKT_GPU_READY || gpu.is_software ||
            expert == tune->expert_count)
            continue;
        tune->gpu[tune->gpu_count++] = (struct tuned_gpu){
            .expert = expert, .memory_bytes = (double)gpu.memory_bytes};
        if (!tune->has_own_budget)
            tune->deadline_s += gpu_budget_s[tune->effort];
    }
}

static void watch_signals(void)
{
    /* A second signal ends the program at once. */
    struct sigaction action = {.sa_handler = stop,
                               .sa_flags = (int)SA_RESETHAND};

    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* A cell may be planned twice: as one that needs a reason, and later. */
static void visit(struct tune *tune, struct cell_plan *cell)
{
    const bool was_known = cell->series->is_known[cell->step];

    if (cell->needs_reason && !is_near_crossover(cell->series, cell->step))
        return;
    show_progress(tune, cell);
    if (measure_cell(tune, cell))
        tune->cells++;
    else if (!was_known)
        tune->known_cells++;
    tune->done_s += cell->expected_s;
}

/* What was measured while others were at work is measured again when they are
 * done, if there is time. Returns the cell to go on with. */
static size_t end_window(struct tune *tune, size_t first, size_t cells_before,
                         size_t next)
{
    double others;

    if (close_window(tune))
        return next;
    tune->cells = cells_before;
    while (!tune_is_over(tune) && !wait_for_calm(tune, window_s, &others))
        show_waiting(tune);
    open_window(tune);
    return first;
}

static void measure_all(struct tune *tune)
{
    double stored_s = tune_now();
    size_t first = 0, cells_before = 0, i = 0;

    open_window(tune);
    while (!tune_is_over(tune)) {
        if (i < tune->plan.count)
            visit(tune, &tune->plan.cell[i++]);
        if (i < tune->plan.count &&
            tune_now() - tune->window.start_s < window_s)
            continue;
        first = i = end_window(tune, first, cells_before, i);
        cells_before = tune->cells;
        if (i == tune->plan.count) {
            tune->is_complete = true;
            return;
        }
        if (tune_now() - stored_s > store_every_s) {
            takt_ctx_flush(tune->ctx);
            stored_s = tune_now();
        }
    }
    if (!close_window(tune))
        tune->cells = cells_before;
}

/* ---- the command ----------------------------------------------------------
 */

static void release(struct tune *tune)
{
    free_stage(&tune->stage);
    free_plan(&tune->plan);
    free(tune->window.note);
    takt_ctx_destroy(tune->ctx);
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
    takt_learning learning;

    if (pin != NULL && !can_write_beside(pin)) {
        fprintf(stderr, "takt tune: --pin '%s': %s\n", pin, strerror(errno));
        return false;
    }
    takt_ctx_learning(tune->ctx, &learning);
    if (learning.is_stored)
        return true;
    if (learning.store[0] == '\0' && learning.diag.text[0] == '\0')
        fputs("takt tune: there is no store (set TAKT_DB or use --db FILE): "
              "what is measured will not be kept\n",
              stderr);
    else if (pin == NULL)
        fprintf(stderr, "takt tune: nothing was measured: %s\n",
                learning.diag.text);
    return pin != NULL || learning.diag.text[0] == '\0';
}

static int tune_machine(const struct invocation *invocation, struct tune *tune,
                        const struct question *question)
{
    const char *pin = option_value(invocation, "pin");
    double others;

    if (!can_keep(tune, pin))
        return EXIT_FINDING;
    tune->machine = takt_ctx_machine(tune->ctx);
    set_pace(tune);
    find_experts(tune);
    find_gpus(tune);
    watch_signals();
    if (!tune->takes_anything &&
        !wait_for_calm(tune, tune->effort == effort_quick ? 1 : 5, &others)) {
        fprintf(stderr,
                "takt tune: others use %.1f processors of this machine: "
                "nothing was measured; run it when they are done, or with "
                "--anyway\n",
                others);
        return stop_signal != 0 ? 128 + stop_signal : EXIT_FINDING;
    }
    if (stop_signal != 0)
        return 128 + stop_signal;
    if (!make_plan(tune, &question->wish)) {
        fputs("takt tune: out of memory\n", stderr);
        return EXIT_FINDING;
    }
    measure_links(tune);
    measure_all(tune);
    return report_tune(tune, pin);
}

static int run(const struct invocation *invocation)
{
    struct tune *tune = calloc(1, sizeof *tune);
    struct question question = {0};
    int code = EXIT_USAGE;

    if (tune == NULL)
        return usage_error(invocation->command, "out of memory");
    if (read_question(invocation, tune, &question))
        code = tune_machine(invocation, tune, &question);
    release(tune);
    free(tune);
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
                DB_OPTION,
                {"anyway", NULL, NULL, "keep what a loaded machine measures"},
                {"json", NULL, NULL, "print one JSON object"}},
    .examples = {"takt tune --quick",
                 "takt tune --ops add,matmul --dtype f32 --budget 3",
                 "takt tune --ops matmul --sizes 64x64x64,512x512x512",
                 "takt tune --quick --db my.db --pin my.pin"},
    .run = run,
};
