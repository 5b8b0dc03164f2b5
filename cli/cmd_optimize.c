/* SPDX-License-Identifier: MIT */
/* cmd_optimize.c - `takt optimize`: what computes here, and where it should. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "compile.h"
#include "context.h"
#include "findings.h"
#include "report.h"

/* In the order of the words of --fail-on. */
enum fail_on { FAIL_ON_NONE, FAIL_ON_GPU, FAIL_ON_SIMD, FAIL_ON_ANY };

/* One run of the command. */
struct optimization {
    const struct invocation *invocation;
    struct workflow workflow;
    struct rules rules;
    struct crossovers crossovers;
    struct search search;
    struct changed_lines changed;
    struct findings findings;
    struct source_notes notes;
    struct fan_in fan_in;
    struct source_paths paths;
    struct evidence_summary evidence;
    struct compile_database *database; /* NULL: none */
    struct compiled_summary compiled;
    char *compiler_words; /* of --cc, cut into words */
    const char *compiler_flag[64];
    struct compile_command compiler;
    struct optimize_report report;
    const struct report_form *form;
    struct takt_memory_file page; /* --report: JSON for it */
    struct profile_outcome profile;
    enum fail_on fail_on;
    uint64_t grave; /* findings that --fail-on is about */
};

/* ---- the search ---- */

static bool open_rules(struct optimization *optimization)
{
    const struct takt_project_config *config = &optimization->workflow.config;
    const struct context_wish wish = {
        .store = option_value(optimization->invocation, "db"),
        .opens_gpus = config->enable_gpu};
    takt_learning learning = {.size = sizeof learning};

    optimization->rules = rules_of(config, &optimization->crossovers);
    if (!open_context(optimization->invocation->command, &wish,
                      &optimization->rules.ctx))
        return false;
    optimization->rules.is_tuned =
        takt_ctx_learning(optimization->rules.ctx, &learning) == TAKT_OK &&
        learning.own_records > 0;
    return true;
}

/* What is not listed is no trouble, unless --all lists it. */
static bool is_grave(const struct optimization *optimization,
                     const struct kept_finding *kept,
                     const struct advice *advice)
{
    const enum fail_on fail_on = optimization->fail_on;

    if (kept->finding.is_test || kept->standing == STANDING_IGNORED ||
        kept->standing == STANDING_KNOWN ||
        (!is_listed(kept) && !optimization->report.lists_all))
        return false;
    return fail_on == FAIL_ON_ANY ||
           (fail_on == FAIL_ON_SIMD &&
            advice->backend != TAKT_BACKEND_SCALAR) ||
           (fail_on == FAIL_ON_GPU && advice->backend == TAKT_BACKEND_GPU);
}

static void visit_file(void *self, const char *path,
                       enum takt_scan_language language, const char *text,
                       size_t size)
{
    struct optimization *optimization = self;

    count_calls(&optimization->fan_in, path, language, text, size);
    if (option_given(optimization->invocation, "profile-data"))
        note_path(&optimization->paths, path);
}

static int visit(void *self, const struct takt_finding *finding)
{
    struct optimization *optimization = self;

    if (option_given(optimization->invocation, "diff") &&
        !is_changed(&optimization->changed, finding)) {
        optimization->report.tally.unchanged++;
        return 0;
    }
    struct kept_finding *kept = keep_finding(&optimization->findings, finding);

    if (kept == NULL)
        return 1;
    mark_by_text(&optimization->notes, &optimization->findings, kept);
    mark_by_kind(kept);
    return 0;
}

/* What a GPU is better at is worth a look, even if a library runs it now. */
static struct advice advise_on(const struct optimization *optimization,
                               struct kept_finding *kept)
{
    const struct advice advice =
        advise(&optimization->rules, &kept->finding, runs_now_of(kept));

    if ((kept->standing == STANDING_LIBRARY ||
         kept->standing == STANDING_VECTORISED) &&
        !advice.is_conditional && advice.backend == TAKT_BACKEND_GPU)
        kept->standing = STANDING_OPEN;
    return advice;
}

static bool read_profiles(struct optimization *optimization, char *error,
                          size_t size)
{
    const char *path;

    for (size_t i = 0; (path = option_value_at(optimization->invocation,
                                               "profile-data", i)) != NULL;
         i++)
        if (!read_evidence(&optimization->findings, &optimization->paths,
                           optimization->search.folder, path,
                           &optimization->evidence, error, size))
            return false;
    finish_evidence(&optimization->findings, &optimization->evidence);
    return true;
}

/* Searches, and settles what is to be said of each finding. */
static bool find_all(struct optimization *optimization, char *error,
                     size_t size)
{
    struct findings *findings = &optimization->findings;

    if (!search_sources(&optimization->search, error, size))
        return false;
    if (findings->is_memory_short || optimization->paths.is_memory_short) {
        snprintf(error, size, "no memory for all findings");
        return false;
    }
    if (optimization->database != NULL)
        mark_by_compiler(findings, optimization->search.folder,
                         optimization->database, &optimization->compiled);
    rank_findings(findings, &optimization->fan_in);
    return true;
}

/* What options name, before anything is written. */
static bool open_inputs(struct optimization *optimization)
{
    const struct invocation *invocation = optimization->invocation;
    const char *list = option_value(invocation, "compile-commands");
    const char *base = option_value(invocation, "diff");
    const char *compiler = option_value(invocation, "cc");
    char error[512];

    if (compiler != NULL) {
        optimization->compiler_words = strdup(compiler);
        if (optimization->compiler_words == NULL ||
            !parse_compiler(optimization->compiler_words,
                            optimization->compiler_flag,
                            &optimization->compiler))
            return reject(invocation->command,
                          "--cc '%s' is no compiler that is known (gcc, clang "
                          "and the like)",
                          compiler);
    }

    if (list != NULL) {
        optimization->database =
            open_compile_database(list, error, sizeof error);
        if (optimization->database == NULL)
            return reject(invocation->command, "%s", error);
    }
    return base == NULL ||
           find_changed(&optimization->changed, optimization->workflow.target,
                        base) ||
           reject(invocation->command,
                  "--diff: git cannot tell what changed since '%s'", base);
}

/* Files of our own: what is known, and what is to be known. */
static bool use_baseline(struct optimization *optimization, char *error,
                         size_t size)
{
    const struct invocation *invocation = optimization->invocation;
    const char *path = option_value(invocation, "baseline");

    if (path == NULL)
        return true;
    if (option_given(invocation, "write-baseline"))
        return write_baseline(&optimization->findings, path, error, size);
    return mark_by_baseline(&optimization->findings, path, error, size);
}

/* By time where there are profiles, else in the order of files. */
static void report_findings(struct optimization *optimization)
{
    struct optimize_report *report = &optimization->report;
    struct findings *findings = &optimization->findings;
    const bool is_by_time =
        optimization->evidence.files > 0 && report->order != NULL;

    for (size_t i = 0; i < findings->count; i++) {
        struct kept_finding *kept =
            &findings->at[is_by_time ? report->order[i] : i];
        const struct advice advice = advise_on(optimization, kept);
        count_finding(&report->tally, kept, &advice);
        optimization->grave += is_grave(optimization, kept, &advice);
        optimization->form->finding(report, kept, &advice);
    }
}

/* ---- the command ---- */

static void prepare_report(struct optimization *optimization)
{
    optimization->search =
        (struct search){.invocation = optimization->invocation,
                        .folder = optimization->workflow.target,
                        .visit = visit,
                        .file = visit_file,
                        .self = optimization};
    optimization->notes.search = &optimization->search;
    open_fan_in(&optimization->fan_in);
    pthread_mutex_init(&optimization->paths.lock, NULL);
    optimization->report = (struct optimize_report){
        .workflow = &optimization->workflow,
        .rules = &optimization->rules,
        .lists_all = option_given(optimization->invocation, "all"),
        .findings = &optimization->findings,
        .evidence = &optimization->evidence,
        .compiled = &optimization->compiled,
        .database = optimization->database,
        .compiler = optimization->compiler_words != NULL
                        ? &optimization->compiler
                        : NULL,
        .search = &optimization->search,
        .out = optimization->page.stream != NULL ? optimization->page.stream
                                                 : stdout,
        .profile = &optimization->profile};
}

/* Of what was written as JSON. */
static int write_page(struct optimization *optimization)
{
    const struct invocation *invocation = optimization->invocation;
    const char *path = option_value(invocation, "output");
    struct takt_memory_file *page = &optimization->page;
    struct report report = {.input_count = 1};

    if (!takt__memory_file_close(page))
        return complain(invocation->command, "%s",
                        takt_status_text(TAKT_ENOMEM));
    if (page->length == 0) {
        free(page->text); /* what is wrong was said */
        return EXIT_FINDING;
    }
    report.input[0] = (struct report_input){.path = optimization->search.folder,
                                            .kind = "optimize",
                                            .text = page->text,
                                            .length = page->length};
    const int code = write_report(invocation->command, &report, false, path,
                                  "takt-optimize.html");
    free(page->text);
    return code;
}

/* A manifest that cannot be written ends it before anything is reported, so
 * that a report is always a whole one. */
static int optimize(struct optimization *optimization)
{
    struct workflow *workflow = &optimization->workflow;
    struct optimize_report *report = &optimization->report;
    char error[512];

    prepare_report(optimization);
    if (!find_all(optimization, error, sizeof error))
        report->error = error;
    else if (!read_profiles(optimization, error, sizeof error) ||
             !use_baseline(optimization, error, sizeof error)) {
        workflow_end(workflow, TAKT_PHASE_OPTIMIZATION, error);
        return EXIT_USAGE; /* nothing was written or reported */
    }
    char trouble[512];
    if (!set_cargo_profile(workflow,
                           option_given(optimization->invocation, "profile"),
                           &optimization->profile, trouble, sizeof trouble))
        return workflow_end(workflow, TAKT_PHASE_OPTIMIZATION, trouble);
    size_t *order = order_findings(&optimization->findings);
    report->order = order;
    if (optimization->form->begin != NULL)
        optimization->form->begin(report);
    report_findings(optimization);
    optimization->form->end(report);
    free(order);
    if (optimization->crossovers.lacks_memory && report->error == NULL)
        report->error = "no memory: the advice may be wrong";
    const int code =
        workflow_end(workflow, TAKT_PHASE_OPTIMIZATION, report->error);
    return code == EXIT_DONE && optimization->grave > 0 ? EXIT_FINDING : code;
}

/* A page is written even if there are findings that --fail-on is about. */
static int optimize_into(struct optimization *optimization)
{
    const bool has_page = option_given(optimization->invocation, "report");

    if (has_page && !takt__memory_file_open(&optimization->page))
        return complain(optimization->invocation->command, "no memory");
    const int code = optimize(optimization);
    const int written = has_page ? write_page(optimization) : EXIT_DONE;
    return code == EXIT_DONE ? written : code;
}

/* Runs the analysis first if it has not started or is stale. One that failed
 * has to be looked at by the user. */
static int prepare(struct optimization *optimization)
{
    struct workflow *workflow = &optimization->workflow;
    const enum takt_phase_status analysis =
        workflow->state.pipeline.phase[TAKT_PHASE_ANALYSIS].status;

    if (!workflow->is_dry &&
        (analysis == TAKT_NOT_STARTED || analysis == TAKT_STALE)) {
        struct analysis *made = calloc(1, sizeof *made);
        if (made == NULL)
            return complain(workflow->command, "no memory");
        const int code = analyze(optimization->invocation, workflow, made);
        free_analysis(made);
        if (code != EXIT_DONE)
            return code;
    }
    return workflow_begin(workflow, TAKT_PHASE_OPTIMIZATION);
}

static int run(const struct invocation *invocation)
{
    struct optimization *optimization = calloc(1, sizeof *optimization);
    const bool is_dry = option_given(invocation, "dry-run");

    if (optimization == NULL)
        return complain(invocation->command, "no memory");
    optimization->invocation = invocation;
    optimization->form = optimize_form(invocation);
    optimization->fail_on = (enum fail_on)option_choice(invocation, "fail-on");
    int code = check_optimize_flags(invocation)
                   ? workflow_open(invocation,
                                   is_dry ? WORKFLOW_IGNORES : WORKFLOW_CHANGES,
                                   &optimization->workflow)
                   : EXIT_USAGE;
    if (code == EXIT_DONE) {
        apply_optimize_flags(invocation, &optimization->workflow.config);
        code = open_inputs(optimization) && open_rules(optimization)
                   ? prepare(optimization)
                   : EXIT_USAGE;
        if (code == EXIT_DONE)
            code = optimize_into(optimization);
        takt_ctx_destroy(optimization->rules.ctx);
        free(optimization->profile.diff);
        free_findings(&optimization->findings);
        free_hot(&optimization->evidence.hot);
        free_notes(&optimization->notes);
        free_paths(&optimization->paths);
        free_fan_in(&optimization->fan_in);
        close_compile_database(optimization->database);
        free_changed(&optimization->changed);
        free(optimization->compiler_words);
        workflow_close(&optimization->workflow);
    }
    free(optimization);
    return code;
}

const struct command cmd_optimize = {
    .name = "optimize",
    .operands = "[DIR]",
    .summary = "find what computes in a code base, and say where it should run",
    .description =
        "Searches the Rust, Python, C and C++ sources of a project for matrix "
        "products, reductions and element-wise work, and says for each where "
        "it should run: on a GPU (with --enable-gpu, from --gpu-threshold on), "
        "as SIMD code, or as it is; where the size is not known, from which "
        "size on. Listed is what can be acted on; what a library, the "
        "compiler or a GPU runs already, and what is too small, is counted. "
        "--profile-data sorts by the time that a profile shows (perf script, "
        "folded stacks, gprof, speedscope, Chrome traces, a report of 'takt "
        "run'). On a machine that was tuned it predicts how many times as "
        "fast that is as what runs the code now. In "
        "a project of Cargo it sets [profile.release] of Cargo.toml, and keeps "
        "a backup; values that are there are raised and never lowered, unless "
        "--profile or takt.toml names the profile.\n\n"
        "Options come before takt.toml ([optimization] profile, enable_simd, "
        "enable_gpu, gpu_threshold, use_moe_routing), that before the "
        "defaults. The phase is put on record ('takt status'); an analysis is "
        "made first where there is none. It is refused while an earlier phase "
        "has failed.\n\n"
        "--dry-run writes nothing, asks for no earlier phase, and shows what "
        "would change in Cargo.toml. With --fail-on the exit status is 1 if "
        "there is such a finding outside of tests; one that depends on an "
        "unknown size counts as what it is at the smallest. What a comment "
        "ignores ('takt: ignore REASON') or the --baseline knows does not "
        "fail.\n\n"
        "--patch prints a diff for C and C++ that makes calls of libtakt in "
        "the places of exact findings, compiled where a command is known "
        "(--compile-commands, --cc).\n\n"
        "Exit status: 0 done; 1 there is a finding that --fail-on is about, or "
        "the phase failed; 2 the command line or a file that it names is "
        "wrong.",
    .max_operands = 1,
    .options = {{"enable-gpu", NULL, NULL, "recommend GPUs where they pay"},
                {"no-gpu", NULL, NULL, "do not (default)"},
                {"enable-simd", NULL, NULL, "recommend SIMD code (default)"},
                {"no-simd", NULL, NULL, "do not"},
                {"gpu-threshold", "N", NULL,
                 "matrix dimension from which on a GPU pays (default 500)"},
                {"profile", "NAME", "fast|balanced|aggressive",
                 "release profile for Cargo.toml (default balanced)"},
                {"dry-run", NULL, NULL, "write nothing, show what would be"},
                {"format", "NAME", "text|json|sarif",
                 "how to report (default text)"},
                {"json", NULL, NULL, "the same as --format json"},
                {"report", NULL, NULL, "write a page to look at"},
                {"output", "FILE", NULL,
                 "--report: where the page goes (default takt-optimize.html)"},
                {"all", NULL, NULL,
                 "list every finding, also those nothing is to be done about"},
                {"profile-data", "FILE", NULL,
                 "a profile of the program: what takes most time comes first; "
                 "may be given several times"},
                {"fail-on", "WHAT", "none|gpu|simd|any",
                 "exit with 1 on such findings (default none)"},
                {"patch", NULL, NULL,
                 "print a diff that puts calls of libtakt into C and C++ "
                 "sources, and nothing else"},
                {"cc", "COMMAND", NULL,
                 "a compiler and flags for what --patch changes: 'gcc -Iinc'"},
                {"baseline", "FILE", NULL,
                 "findings that are known: only others are listed and fail"},
                {"write-baseline", NULL, NULL,
                 "write what was found to the --baseline"},
                {"diff", "BASE", NULL,
                 "only findings in lines that changed since a revision of git"},
                {"compile-commands", "FILE", NULL,
                 "compile_commands.json: the compiler is asked which loops it "
                 "vectorises"},
                SEARCH_OPTIONS,
                DB_OPTION},
    .examples = {"takt optimize", "takt optimize --dry-run app",
                 "takt optimize --enable-gpu --gpu-threshold 1000 app",
                 "takt optimize --profile aggressive app",
                 "takt optimize --dry-run --format sarif app > takt.sarif",
                 "takt optimize --dry-run --report app",
                 "takt optimize --dry-run --diff HEAD --fail-on any",
                 "takt optimize --dry-run --profile-data app.perf app"},
    .run = run,
};
