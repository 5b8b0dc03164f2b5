/* SPDX-License-Identifier: MIT */
/* cmd_validate.c - `takt validate`: is what was recommended right, here? */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "context.h"
#include "optimize.h"

struct validation {
    const struct invocation *invocation;
    struct workflow workflow;
    struct rules rules;
    struct crossovers crossovers;
    struct search search;
    struct checks checks;
    struct shell_line tests;
    bool has_run_tests;
    char error[512]; /* empty: all is well */
};

/* ---- the checks ---- */

static int visit(void *self, const struct takt_finding *finding)
{
    struct validation *validation = self;
    const struct advice advice =
        advise(&validation->rules, finding, RUNS_SCALAR);

    if (!finding->is_test)
        add_check(&validation->checks, finding, &advice);
    return 0;
}

/* What is compared, on a terminal; NULL: nothing any more. */
static void show_progress(const struct check *check)
{
    if (isatty(STDERR_FILENO) != 1)
        return;
    if (check != NULL)
        fprintf(stderr, "\rtakt validate: %-40s", check->op->name);
    else
        fprintf(stderr, "\r%*s\r", 56, "");
}

/* All of them, also after one that failed: people want to know the extent. */
static bool run_checks(struct validation *validation)
{
    const struct check *wrong = NULL;

    for (size_t i = 0; i < validation->checks.count; i++) {
        struct check *check = &validation->checks.check[i];
        show_progress(check);
        if (!run_check(validation->rules.ctx, check) && wrong == NULL)
            wrong = check;
    }
    show_progress(NULL);
    if (wrong == NULL)
        return true;
    snprintf(validation->error, sizeof validation->error,
             "%s does not compute what scalar does in %s %s %s: %s",
             wrong->failed, wrong->op->name, takt_dtype_name(wrong->dtype),
             shape_text(&wrong->shape).at, wrong->why);
    return false;
}

static bool check_experts(struct validation *validation)
{
    validation->search = (struct search){.invocation = validation->invocation,
                                         .folder = validation->workflow.target,
                                         .visit = visit,
                                         .self = validation};
    return search_sources(&validation->search, validation->error,
                          sizeof validation->error) &&
           run_checks(validation);
}

/* ---- the project's own tests ---- */

static bool run_tests(struct validation *validation)
{
    validation->has_run_tests = true;
    return validation->tests.text == NULL ||
           run_line(&validation->tests, validation->error,
                    sizeof validation->error);
}

/* NULL: there are some, or it did not come to them. */
static const char *why_no_tests(const struct validation *validation)
{
    if (!validation->has_run_tests || validation->tests.text != NULL)
        return NULL;
    return validation->tests.source;
}

/* ---- reporting ---- */

static void print_check(const struct check *check)
{
    char result[240];

    if (check->failed[0] != '\0')
        snprintf(result, sizeof result, "%s is wrong: %s", check->failed,
                 check->why);
    else if (check->experts == 0)
        snprintf(result, sizeof result, "scalar is all that was recommended");
    else
        snprintf(result, sizeof result,
                 "%u expert%s right, %.0f%% of what is allowed", check->experts,
                 check->experts > 1 ? "s" : "", 100 * check->worst);
    printf("  %-15s %s  %-24s %-8s %s\n", check->op->name,
           takt_dtype_name(check->dtype), shape_text(&check->shape).at,
           check->is_found ? "found" : "typical", result);
}

static void print_text(const struct validation *validation)
{
    const struct checks *checks = &validation->checks;

    if (checks->count == 0)
        puts("nothing was recommended: there is nothing to compare");
    else
        puts("recommended experts against scalar code on this machine");
    for (size_t i = 0; i < checks->count; i++)
        print_check(&checks->check[i]);
    if (checks->left_out > 0)
        printf("  and %ju more sizes, which were not compared\n",
               checks->left_out);
    if (validation->has_run_tests && validation->tests.text != NULL) {
        putchar('\n');
        print_line(stdout, "tests: '%s' %s", validation->tests.text,
                   validation->error[0] != '\0' ? "failed" : "succeeded");
    } else if (why_no_tests(validation) != NULL) {
        printf("\ntests: none were run: %s, and takt.toml has no [validation] "
               "test_command\n",
               why_no_tests(validation));
    }
    if (validation->error[0] == '\0') {
        putchar('\n');
        print_line(stdout, "next: takt build %s", validation->workflow.folder);
    }
}

static void print_check_json(struct json *json, const struct check *check)
{
    json_print(json,
               "{op:%s dtype:%s shape:%p found_size:%d experts:%u "
               "worst_share:%g right:%d wrong_expert:%s why:%s}",
               check->op->name, takt_dtype_name(check->dtype),
               (const void *)&check->shape, check->is_found, check->experts,
               check->worst, check->failed[0] == '\0',
               known_text(check->failed), known_text(check->why));
}

static void print_json(const struct validation *validation)
{
    struct json json = json_begin(stdout);

    json_print(&json, "{checks:[");
    for (size_t i = 0; i < validation->checks.count; i++)
        print_check_json(&json, &validation->checks.check[i]);
    json_print(
        &json,
        "] left_out:%ju test_command:%s no_tests:%s succeeded:%d error:%s}\n",
        validation->checks.left_out,
        validation->has_run_tests ? validation->tests.text : NULL,
        why_no_tests(validation), validation->error[0] == '\0',
        known_text(validation->error));
}

/* ---- the command ---- */

static bool open_machine(struct validation *validation)
{
    struct takt_project_config *config = &validation->workflow.config;
    const struct invocation *invocation = validation->invocation;

    config->enable_gpu =
        (config->enable_gpu || option_given(invocation, "enable-gpu")) &&
        !option_given(invocation, "no-gpu");
    const struct context_wish wish = {.store = "",
                                      .opens_gpus = config->enable_gpu};
    validation->rules = rules_of(config, &validation->crossovers);
    return open_context(invocation->command, &wish, &validation->rules.ctx);
}

static int validate(struct validation *validation)
{
    struct workflow *workflow = &validation->workflow;

    validation->tests =
        find_line(workflow, workflow->config.test_command, "cargo test");
    int code = workflow_agree(workflow, validation->invocation,
                              TAKT_PHASE_VALIDATION, &validation->tests);
    if (code == EXIT_DONE)
        code = workflow_begin(workflow, TAKT_PHASE_VALIDATION);
    if (code != EXIT_DONE)
        return code;
    if (!open_machine(validation))
        return workflow_end(workflow, TAKT_PHASE_VALIDATION,
                            "this machine cannot be asked");
    const bool are_right = check_experts(validation);
    takt_ctx_destroy(validation->rules.ctx);
    const bool is_valid = are_right && run_tests(validation);
    if (option_given(validation->invocation, "json"))
        print_json(validation);
    else
        print_text(validation);
    return workflow_end(workflow, TAKT_PHASE_VALIDATION,
                        is_valid ? NULL : validation->error);
}

static int run(const struct invocation *invocation)
{
    struct validation *validation = calloc(1, sizeof *validation);

    if (validation == NULL)
        return complain(invocation->command, "no memory");
    validation->invocation = invocation;
    int code =
        check_languages(invocation)
            ? workflow_open(invocation, WORKFLOW_CHANGES, &validation->workflow)
            : EXIT_USAGE;
    if (code == EXIT_DONE) {
        code = validate(validation);
        workflow_close(&validation->workflow);
    }
    free(validation);
    return code;
}

const struct command cmd_validate = {
    .name = "validate",
    .operands = "[DIR]",
    .summary = "check on this machine what was recommended, and run the tests",
    .description =
        "For every op that was found outside of tests, each expert of the "
        "backends that were recommended for it computes it at the size that "
        "was found (or a typical one; large ones are cut down), and must agree "
        "with scalar code within the tolerances of docs/numerics.md. What adds "
        "up is tried with small whole numbers as well, where nothing is "
        "rounded and results must be the same. Then the "
        "project's own tests are run: the command that takt.toml names "
        "([validation] test_command), or 'cargo test' where there is a "
        "Cargo.toml and cargo. What they print goes to stderr.\n\n"
        "That command is the project's, and so is the code that cargo runs: it "
        "is shown and asked about once. Without a terminal, and without "
        "--trust, nothing is run and the exit status is 1.\n\n"
        "A difference or a failing test makes the phase Failed, with exit "
        "status 1; 'takt build' is then refused.",
    .max_operands = 1,
    .options = {{"enable-gpu", NULL, NULL, "check GPUs too"},
                {"no-gpu", NULL, NULL, "do not"},
                SEARCH_OPTIONS,
                TRUST_OPTION,
                {"json", NULL, NULL, "print one JSON object"}},
    .examples = {"takt validate", "takt validate --trust --enable-gpu app"},
    .run = run,
};
