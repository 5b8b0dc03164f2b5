/* SPDX-License-Identifier: MIT */
/* cmd_history.c - `takt history`: what was learned and what it was good for */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/new_file.h"
#include "clean.h"
#include "commands.h"
#include "context.h"
#include "history.h"
#include "number.h"
#include "report.h"

#define action_choice "list|show|days|export|import|merge|reset|gain"

/* One question about a store. */
struct asking {
    const struct invocation *invocation;
    const char *const *words; /* after the action */
    size_t word_count;
    char store[1024]; /* empty: none */
    bool is_json;
};

/* What a diagnosis says, or at least the status. */
static int store_trouble(const struct asking *asking, takt_status status,
                         const takt_diag *diag)
{
    if (diag->text[0] == '\0')
        return complain(&cmd_history, "%s: %s", asking->store,
                        takt_status_text(status));
    return complain(&cmd_history, "%s", diag->text);
}

/* One that cannot be looked at may be there: opening it says what is wrong. */
static bool may_be_there(const char *store)
{
    return access(store, F_OK) == 0 || errno != ENOENT;
}

/* EXIT_DONE: it is open and was read. Otherwise that was said. */
static int open_store(const struct asking *asking, bool writes_store,
                      takt_ctx **out)
{
    /* To look at a store that is not there makes none; to name one is a
     * mistake. */
    const bool is_needed = writes_store ||
                           option_given(asking->invocation, "db") ||
                           may_be_there(asking->store);
    const struct context_wish wish = {.store = is_needed ? asking->store : "",
                                      .writes_store = writes_store};
    takt_learning learning = {.size = sizeof learning};

    if (!open_context(asking->invocation->command, &wish, out))
        return EXIT_USAGE;
    const takt_status status = takt_ctx_learning(*out, &learning);
    if (status == TAKT_OK && learning.store_status == TAKT_OK)
        return EXIT_DONE;
    takt_ctx_destroy(*out);
    *out = NULL;
    return EXIT_FINDING;
}

/* ---- looking ---- */

/* An op of Takt's, or a program of the store, which only a context that was
 * told of it knows. NULL: that was said. */
static const takt_op *find_op(const struct asking *asking, takt_ctx *ctx)
{
    const char *name = asking->words[0];
    const takt_op *op = takt_ctx_find_op(ctx, name);

    if (op == NULL && is_program_name(name))
        usage_error(asking->invocation->command,
                    "the store knows no program '%s'", name);
    else if (op == NULL)
        find_named_op(asking->invocation->command, name);
    return op;
}

/* Before the store is opened, which may not be there. */
static bool may_be_op(const struct asking *asking)
{
    return is_program_name(asking->words[0]) ||
           find_named_op(asking->invocation->command, asking->words[0]) != NULL;
}

typedef int memories_printer(const struct asking *asking, takt_ctx *ctx,
                             const struct memories *memories);

/* Opens the store, reads all rows of it, and prints them in some way. */
static int print_memories(const struct asking *asking, memories_printer *print)
{
    struct memories memories;
    takt_ctx *ctx;
    int code = open_store(asking, false, &ctx);

    if (code != EXIT_DONE)
        return code;
    const bool has_programs = define_programs(ctx, asking->store);
    read_memories(ctx, &memories);
    memories.lacks_programs = !has_programs;
    code = memories.is_short /* better no rows than some */
               ? complain(&cmd_history, "what was learned: %s",
                          takt_status_text(TAKT_ENOMEM))
               : print(asking, ctx, &memories);
    free_memories(&memories);
    takt_ctx_destroy(ctx);
    return code;
}

static int print_all(const struct asking *asking, takt_ctx *ctx,
                     const struct memories *memories)
{
    print_list(stdout, memories, asking->is_json);
    if (memories->count == 0 && !asking->is_json)
        print_no_history(ctx, asking->store);
    return EXIT_DONE;
}

static int list(const struct asking *asking)
{
    return print_memories(asking, print_all);
}

/* The page of `takt report`. */
static int print_html_page(const struct asking *asking)
{
    takt_ctx *ctx;
    const int code = open_store(asking, false, &ctx);

    if (code != EXIT_DONE)
        return code;
    const bool is_whole = print_page(
        stdout,
        &(struct report){.ctx = ctx, .store = asking->store, .is_live = true});
    takt_ctx_destroy(ctx);
    return is_whole
               ? EXIT_DONE
               : complain(&cmd_history, "%s", takt_status_text(TAKT_ENOMEM));
}

/* The work of a shape in every dtype is the same but for its bytes; f32 is
 * taken, as everywhere. */
static bool read_work(const struct asking *asking, const takt_op *op,
                      takt_work *out)
{
    const struct command *command = asking->invocation->command;
    takt_shape shape;
    const char *wrong = parse_shape(asking->words[1], &shape);

    if (wrong != NULL)
        return reject(command, "size '%s' %s", asking->words[1], wrong);
    if (shape.rank < op->rank_min ||
        takt_op_work(op, TAKT_F32, &shape, out) != TAKT_OK)
        return shape_error(command, op, asking->words[1]);
    return true;
}

static int print_op(const struct asking *asking, takt_ctx *ctx,
                    const struct memories *memories)
{
    const takt_op *op = find_op(asking, ctx);
    const bool has_size = asking->word_count == 2;
    takt_work work;

    if (op == NULL || (has_size && !read_work(asking, op, &work)))
        return EXIT_USAGE;
    print_rows(memories, op, has_size ? &work : NULL, asking->is_json);
    return EXIT_DONE;
}

static int show(const struct asking *asking)
{
    return may_be_op(asking) ? print_memories(asking, print_op) : EXIT_USAGE;
}

static int print_gains(const struct asking *asking, takt_ctx *ctx,
                       const struct memories *memories)
{
    print_gain(stdout, ctx, memories, asking->is_json);
    return EXIT_DONE;
}

static int gain(const struct asking *asking)
{
    return print_memories(asking, print_gains);
}

static int days(const struct asking *asking)
{
    takt_ctx *ctx;
    const int code = open_store(asking, false, &ctx);

    if (code != EXIT_DONE)
        return code;
    const bool is_read = print_days(ctx, asking->store, asking->is_json);
    takt_ctx_destroy(ctx);
    return is_read ? EXIT_DONE
                   : complain(&cmd_history, "%s: days cannot be read from it",
                              asking->store);
}

/* ---- moving ---- */

static bool is_stream(const struct asking *asking)
{
    return asking->word_count == 0 || strcmp(asking->words[0], "-") == 0;
}

static int export_to(const struct asking *asking, const char *path)
{
    struct takt_new_file file;
    takt_diag diag = {""};
    takt_status status =
        takt__new_file_open(path, TAKT_NEW_FILE_STREAMS, &file, &diag);

    if (status == TAKT_OK)
        status = takt_store_export(asking->store, file.fd, &diag);
    if (status == TAKT_OK)
        status = takt__new_file_commit(&file, &diag);
    takt__new_file_drop(&file);
    return status == TAKT_OK ? EXIT_DONE : store_trouble(asking, status, &diag);
}

static int export(const struct asking *asking)
{
    takt_diag diag = {""};

    if (!is_stream(asking))
        return export_to(asking, asking->words[0]);
    const takt_status status =
        takt_store_export(asking->store, STDOUT_FILENO, &diag);
    return status == TAKT_OK ? EXIT_DONE : store_trouble(asking, status, &diag);
}

static void print_report(const struct asking *asking,
                         const takt_store_report *report)
{
    struct json json = json_begin(stdout);

    if (!asking->is_json) {
        print_line(stdout, "%zu records read, %zu added, %zu renewed in %s",
                   report->read, report->added, report->renewed, asking->store);
        return;
    }
    json_print(&json, "{store:%s read:%zu added:%zu renewed:%zu}\n",
               asking->store, report->read, report->added, report->renewed);
}

static int import(const struct asking *asking)
{
    takt_store_report report = {0};
    takt_diag diag = {""};
    const int fd = is_stream(asking)
                       ? STDIN_FILENO
                       : open(asking->words[0], O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return usage_error(asking->invocation->command, "'%s': %s",
                           asking->words[0], strerror(errno));
    const takt_status status =
        takt_store_import(asking->store, fd, &report, &diag);
    if (fd != STDIN_FILENO)
        close(fd);
    if (status != TAKT_OK)
        return store_trouble(asking, status, &diag);
    print_report(asking, &report);
    return EXIT_DONE;
}

static int merge(const struct asking *asking)
{
    takt_store_report sum = {0};

    for (size_t i = 0; i < asking->word_count; i++) {
        takt_store_report report = {0};
        takt_diag diag = {""};
        const takt_status status =
            takt_store_merge(asking->store, asking->words[i], &report, &diag);
        if (status != TAKT_OK && diag.text[0] == '\0')
            return complain(&cmd_history, "%s: %s", asking->words[i],
                            takt_status_text(status));
        if (status != TAKT_OK)
            return store_trouble(asking, status, &diag);
        sum.read += report.read;
        sum.added += report.added;
        sum.renewed += report.renewed;
    }
    print_report(asking, &sum);
    return EXIT_DONE;
}

/* ---- forgetting ---- */

static bool is_agreed(const struct asking *asking, const char *what)
{
    char answer[16];

    if (option_given(asking->invocation, "yes"))
        return true;
    if (!isatty(STDIN_FILENO))
        return reject(asking->invocation->command,
                      "reset forgets %s: add --yes if that is meant", what);
    fprintf(stderr, "Forget %s in ", what);
    print_clean(stderr, asking->store);
    fputs("? [y/N] ", stderr);
    return fgets(answer, sizeof answer, stdin) != NULL &&
           (answer[0] == 'y' || answer[0] == 'Y');
}

static int forget(const struct asking *asking, takt_ctx *ctx)
{
    const bool is_one = asking->word_count == 1;
    const takt_op *op = NULL;

    if (is_one) {
        define_programs(ctx, asking->store);
        op = find_op(asking, ctx);
        if (op == NULL)
            return EXIT_USAGE;
    }
    const takt_status status = takt_history_reset(ctx, op);
    if (status != TAKT_OK)
        return complain(&cmd_history, "%s: %s", asking->store,
                        takt_status_text(status));
    print_line(stdout, "forgot %s in %s", is_one ? op->name : "everything",
               asking->store);
    return EXIT_DONE;
}

static int reset(const struct asking *asking)
{
    const bool is_one = asking->word_count == 1;
    takt_ctx *ctx;

    if (is_one && !may_be_op(asking))
        return EXIT_USAGE;
    if (!may_be_there(asking->store)) {
        print_line(stdout, "nothing to forget: there is no %s", asking->store);
        return EXIT_DONE;
    }
    if (!is_agreed(asking, is_one ? asking->words[0] : "everything"))
        return EXIT_USAGE;
    int code = open_store(asking, true, &ctx);
    if (code != EXIT_DONE)
        return code;
    code = forget(asking, ctx);
    takt_ctx_destroy(ctx);
    return code;
}

/* ---- the command ---- */

static const struct action {
    const char *name, *needs;
    size_t min_words, max_words;
    int (*run)(const struct asking *asking);
    bool has_json;
} actions[] = {
    {"list", "list", 0, 0, list, true},
    {"show", "show OP [SHAPE]", 1, 2, show, true},
    {"days", "days", 0, 0, days, true},
    {"export", "export [FILE]", 0, 1, export, false},
    {"import", "import FILE", 1, 1, import, true},
    {"merge", "merge FILE...", 1, max_operands, merge, true},
    {"reset", "reset [OP]", 0, 1, reset, false},
    {"gain", "gain", 0, 0, gain, true},
};

static int unknown_action(const struct invocation *invocation)
{
    char near[16];
    const char *word = invocation->operands[0];

    if (nearest_choice(word, action_choice, near, sizeof near) != NULL)
        return usage_error(invocation->command,
                           "no action '%s'; did you mean '%s'?", word, near);
    return usage_error(invocation->command, "'%s' is not one of %s", word,
                       action_choice);
}

/* NULL: what is wrong was said. */
static const struct action *find_action(const struct asking *asking)
{
    const struct invocation *invocation = asking->invocation;
    size_t index;

    if (invocation->operand_count == 0)
        return usage_error(invocation->command, "needs an action, one of %s",
                           action_choice),
               NULL;
    if (!find_choice(invocation->operands[0], action_choice, &index))
        return unknown_action(invocation), NULL;
    const struct action *action = &actions[index];
    if (asking->is_json && !action->has_json)
        return usage_error(invocation->command, "'%s' does not print JSON",
                           action->name),
               NULL;
    if (asking->word_count >= action->min_words &&
        asking->word_count <= action->max_words)
        return action;
    usage_error(invocation->command, "'%s' takes: %s", action->name,
                action->needs);
    return NULL;
}

/* Whether a page has what is asked for: the list, the days and the gain. */
static bool is_shown(const struct asking *asking)
{
    const struct invocation *invocation = asking->invocation;
    size_t index;

    return invocation->operand_count == 0 ||
           (invocation->operand_count == 1 &&
            find_choice(invocation->operands[0], "list|days|gain", &index));
}

static int run(const struct invocation *invocation)
{
    const char *db = option_value(invocation, "db");
    const size_t count = invocation->operand_count;
    struct asking asking = {.invocation = invocation,
                            .words = invocation->operands + 1,
                            .word_count = count - (count > 0),
                            .is_json = option_given(invocation, "json")};
    const struct action *action = NULL;
    const bool is_page = option_given(invocation, "html");

    if (!is_page && (action = find_action(&asking)) == NULL)
        return EXIT_USAGE;
    if (is_page && !is_shown(&asking))
        return usage_error(invocation->command,
                           "--html goes with list, days or gain");
    if (!choose_store(&cmd_history, db, asking.store, sizeof asking.store))
        return EXIT_FINDING;
    return is_page ? print_html_page(&asking) : action->run(&asking);
}

const struct command cmd_history = {
    .name = "history",
    .operands = "ACTION [WORDS...]",
    .actions = action_choice,
    .summary = "show what was learned, move it, forget it, what it gained",
    .description =
        "list: the ops that were measured, with the calls that programs made; "
        "and programs under 'takt run': run.NAME-HASH, whose experts are the "
        "baseline library (set to one second) and what calls were routed to, "
        "and lapack.NAME-HASH, what calls of LAPACK gained by, as gesv.---.gpu "
        "(routine, letters, choice), and what a GPU was worth in a run.\n"
        "show OP [SHAPE]: each size, situation and expert of an op: mean, "
        "spread, samples, and what the first call in a process took; situation "
        "on-gpu: operands were in the memory of that GPU already.\n"
        "days: each of the last 400 days (UTC): samples, calls and their time, "
        "trials, what they took beyond the best expert and its budget, changes "
        "of an expert's speed, and the gain of programs under 'takt run'.\n"
        "export [FILE], import FILE: all records as text; '-': standard I/O.\n"
        "merge FILE...: adds other stores; again, it changes nothing.\n"
        "reset [OP]: forgets an op, a program or everything.\n"
        "gain: what routing gained or lost, with 95% intervals: in programs "
        "under 'takt run', against their own BLAS library, which takes turns "
        "with routing in the same runs; and over all routed calls, against "
        "always using one expert and against the static rule (moe), by "
        "measured means. What was not measured is marked so.",
    .max_operands = max_operands,
    .options =
        {DB_OPTION,
         {"yes", NULL, NULL, "reset: do not ask"},
         {"json", NULL, NULL, "print JSON"},
         {"html", NULL, NULL,
          "list, days, gain, or alone: print the page of 'takt report'"}},
    .examples = {"takt history list", "takt history --html > my-history.html",
                 "takt history show matmul 512x512x512", "takt history days",
                 "takt history export my-machine.tsv",
                 "takt history import my-machine.tsv",
                 "takt history merge my-machine.db",
                 "takt history reset sum --yes", "takt history gain"},
    .run = run,
};
