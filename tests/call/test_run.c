/* SPDX-License-Identifier: MIT */
/*
 * test_run.c - takt_run() obeys its policy and says what it did; the default
 * context obeys the environment; an expert that refuses is replaced.
 *
 * The default context is made once per process, so this program runs itself
 * again ("test_run report") with the environment to be tried.
 */
#define _GNU_SOURCE /* environ, execve of ourselves */
#include "takt/call.h"

#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/random.h"
#include "support/tap.h"
#include "support/tolerance.h"
#include "takt/takt.h"

#define MACHINES TAKT_SOURCE_DIR "/tests/fixtures/machines/"

enum { longest = 1100000, side = 300 };

static float *a, *b, *out;

static takt_ctx *ctx_of(takt_policy policy, const char *expert,
                        const char *blas)
{
    takt_ctx *ctx;
    REQUIRE(takt_ctx_create(&(takt_ctx_options){.policy = policy,
                                                .expert = expert,
                                                .threads = 2,
                                                .blas = blas},
                            &ctx) == TAKT_OK);
    return ctx;
}

static takt_call vector_call(const char *op, size_t n)
{
    return (takt_call){.op = takt_op_find(op),
                       .shape = {.rank = 1, .dim = {n}},
                       .in = {a, b},
                       .out = out};
}

static takt_call matmul_call(size_t n)
{
    return (takt_call){.op = takt_op_find("matmul"),
                       .shape = {.rank = 3, .dim = {n, n, n}},
                       .in = {a, b},
                       .out = out,
                       .alpha = 1};
}

static void best_simd(const takt_ctx *ctx, char name[TAKT_EXPERT_NAME_MAX])
{
    snprintf(name, TAKT_EXPERT_NAME_MAX, "simd.%s",
             takt_isa_name(takt_machine_best_isa(takt_ctx_machine(ctx))));
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* ---- policies
 * ---------------------------------------------------------------- */

/* A rule's answer, and what this machine makes of it. */
static void check_rule(const takt_decision *d, takt_backend rule,
                       const char *simd)
{
    EXPECT_INT(d->backend, rule);
    EXPECT_INT(d->reason, rule == TAKT_BACKEND_GPU ? TAKT_REASON_FALLBACK
                                                   : TAKT_REASON_STATIC);
    if (rule == TAKT_BACKEND_SCALAR)
        EXPECT_STR(d->expert, "scalar");
    else
        TAP_CHECK(starts_with(d->expert, simd), "ran on %s", d->expert);
    EXPECT(d->actual_s >= 0);
    EXPECT_STR(d->runner_up, "");
}

static void moe_and_heuristic_run_what_their_rule_says(void)
{
    static const char *const ops[] = {"add", "exp", "sum", "max", "dot"};
    static const size_t sizes[] = {1,     999,    1001,    10000,  10001,
                                   99999, 100001, 1000000, 1000001};
    takt_ctx *moe = ctx_of(TAKT_POLICY_MOE, NULL, "");
    takt_ctx *heuristic = ctx_of(TAKT_POLICY_HEURISTIC, NULL, "");
    char simd[TAKT_EXPERT_NAME_MAX];
    takt_decision d = {.size = sizeof d};

    best_simd(moe, simd);
    for (size_t i = 0; i < 5 * 9; i++) {
        const takt_call call = vector_call(ops[i / 9], sizes[i % 9]);
        EXPECT_INT(takt_run(moe, &call, &d), TAKT_OK);
        check_rule(&d, takt_moe_select(call.op->complexity, sizes[i % 9]),
                   simd);
        EXPECT_INT(d.elements, sizes[i % 9]);
        EXPECT_INT(takt_run(heuristic, &call, &d), TAKT_OK);
        check_rule(&d, takt_heuristic_select(call.op->name, sizes[i % 9]),
                   simd);
    }
    takt_ctx_destroy(moe);
    takt_ctx_destroy(heuristic);
}

static void cost_runs_what_its_rule_says(void)
{
    takt_cost_model cheap_gpu = takt_cost_model_default();
    char simd[TAKT_EXPERT_NAME_MAX];
    takt_ctx *ctx = ctx_of(TAKT_POLICY_COST, NULL, "");
    takt_decision d = {.size = sizeof d};
    takt_call call = vector_call("add", 5000);

    best_simd(ctx, simd);
    EXPECT_INT(takt_run(ctx, &call, &d), TAKT_OK);
    check_rule(&d, TAKT_BACKEND_SCALAR, simd);
    call = matmul_call(64);
    EXPECT_INT(takt_run(ctx, &call, &d), TAKT_OK);
    check_rule(&d, TAKT_BACKEND_SIMD, simd);
    EXPECT(d.work.flops == 2.0 * 64 * 64 * 64);
    EXPECT(d.work.bytes == 4.0 * 3 * 64 * 64);
    takt_ctx_destroy(ctx);

    REQUIRE(takt_cost_model_set(&cheap_gpu, 1e12, 1e9, 1) == TAKT_OK);
    REQUIRE(takt_ctx_create(&(takt_ctx_options){.policy = TAKT_POLICY_COST,
                                                .cost = &cheap_gpu,
                                                .blas = ""},
                            &ctx) == TAKT_OK);
    EXPECT_INT(takt_run(ctx, &call, &d), TAKT_OK);
    check_rule(&d, TAKT_BACKEND_GPU, simd);
    takt_ctx_destroy(ctx);
}

static void adaptive_expects_somebody_to_be_first(void)
{
    takt_ctx *ctx = ctx_of(TAKT_POLICY_ADAPTIVE, NULL, "");
    char simd[TAKT_EXPERT_NAME_MAX];
    takt_decision d = {.size = sizeof d};
    takt_call call = vector_call("add", 100);

    best_simd(ctx, simd);
    EXPECT_INT(takt_run(ctx, &call, &d), TAKT_OK);
    EXPECT_STR(d.expert, simd); /* too little for two threads */
    EXPECT_INT(d.reason, TAKT_REASON_PRIOR);
    EXPECT_INT(d.backend, TAKT_BACKEND_SIMD);
    EXPECT(d.predicted_s > 0 && d.predicted_s < 1e-3);
    EXPECT(d.actual_s >= 0);
    EXPECT(d.work.bytes == 1200 && d.work.flops == 100);
    call = vector_call("exp", longest);
    EXPECT_INT(takt_run(ctx, &call, &d), TAKT_OK);
    TAP_CHECK(starts_with(d.expert, simd), "ran on %s", d.expert);
    EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_OK);
    takt_ctx_destroy(ctx);
}

static void fixed_runs_one_expert(void)
{
    takt_ctx *all = ctx_of(TAKT_POLICY_ADAPTIVE, NULL, "");
    const char *name;
    takt_backend backend;
    takt_decision d = {.size = sizeof d};

    for (size_t i = 0; (name = takt_ctx_expert(all, i, &backend)); i++) {
        takt_ctx *ctx = ctx_of(TAKT_POLICY_FIXED, name, "");
        const takt_call call = vector_call("mul", 3);
        memcpy(a, (float[]){1, 2, 3}, 3 * sizeof *a);
        memcpy(b, (float[]){4, 5, 6}, 3 * sizeof *b);
        EXPECT_INT(takt_run(ctx, &call, &d), TAKT_OK);
        EXPECT(out[0] == 4 && out[1] == 10 && out[2] == 18);
        EXPECT_STR(d.expert, name);
        EXPECT_INT(d.reason, TAKT_REASON_FORCED);
        EXPECT_INT(d.backend, backend);
        takt_ctx_destroy(ctx);
    }
    takt_ctx_destroy(all);
}

static void a_context_that_cannot_be_made_says_why(void)
{
    takt_ctx *ctx = (takt_ctx *)(uintptr_t)1;

    EXPECT_INT(takt_ctx_create(&(takt_ctx_options){.policy = TAKT_POLICY_FIXED,
                                                   .expert = "cuda.7",
                                                   .blas = ""},
                               &ctx),
               TAKT_ENODEV);
    EXPECT(ctx == NULL);
    EXPECT_INT(
        takt_ctx_create(
            &(takt_ctx_options){.policy = TAKT_POLICY_FIXED, .blas = ""}, &ctx),
        TAKT_ENODEV);
    EXPECT_INT(
        takt_ctx_create(&(takt_ctx_options){.policy = (takt_policy)9}, &ctx),
        TAKT_EINVAL);
}

static void set_part(void *job, unsigned part, unsigned parts)
{
    EXPECT_INT(parts, 100);
    ((unsigned char *)job)[part]++;
}

static void every_part_of_a_job_runs_once(void)
{
    takt_ctx *ctx = ctx_of(TAKT_POLICY_MOE, NULL, "");
    unsigned char ran[101] = {0};

    EXPECT_INT(takt_run_parts(ctx, 100, set_part, ran), TAKT_OK);
    for (unsigned i = 0; i < 100; i++)
        EXPECT_INT(ran[i], 1);
    EXPECT_INT(takt_run_parts(ctx, 0, set_part, ran), TAKT_OK);
    EXPECT_INT(ran[100], 0);
    takt_ctx_destroy(ctx);
}

static void a_recorded_machine_runs_nothing(void)
{
    unsigned char ran[100] = {0};
    takt_ctx *ctx;
    const takt_call call = vector_call("add", 3);

    REQUIRE(
        takt_ctx_create(&(takt_ctx_options){.recording = MACHINES "haswell-4"},
                        &ctx) == TAKT_OK);
    out[0] = 77;
    EXPECT_INT(takt_run(ctx, &call, NULL), TAKT_ENODEV);
    EXPECT(out[0] == 77);
    EXPECT_INT(takt_run_parts(ctx, 100, set_part, ran), TAKT_ENODEV);
    EXPECT_INT(ran[0], 0);
    double x = 4;
    const takt_solver_call factor = {.size = sizeof factor,
                                     .routine = TAKT_SOLVER_POTRF,
                                     .dtype = TAKT_F64,
                                     .uplo = 'L',
                                     .n = 1,
                                     .a = {&x, 1, &x, 1}};
    EXPECT_INT(takt_solver_run_here(ctx, &factor), TAKT_ENODEV);
    EXPECT_INT(takt_solver_run(ctx, &factor), TAKT_ENODEV);
    EXPECT(x == 4);
    takt_ctx_destroy(ctx);
}

/* ---- refusals
 * ------------------------------------------------------------------ */

static const char *first_library(takt_ctx *ctx)
{
    const char *name;

    for (size_t i = 0; (name = takt_ctx_expert(ctx, i, NULL)) != NULL; i++)
        if (starts_with(name, "blas."))
            return name;
    return NULL;
}

static void a_library_asked_for_a_sum_is_replaced(void)
{
    takt_ctx *all = ctx_of(TAKT_POLICY_ADAPTIVE, NULL, NULL);
    const char *library = first_library(all);
    const takt_call call = vector_call("sum", 3);
    char simd[TAKT_EXPERT_NAME_MAX];
    takt_decision d = {.size = sizeof d};

    if (library == NULL) {
        SKIP("this machine has no BLAS library");
        takt_ctx_destroy(all);
        return;
    }
    takt_ctx *ctx = ctx_of(TAKT_POLICY_FIXED, library, NULL);
    best_simd(ctx, simd);
    memcpy(a, (float[]){1, 2, 4}, 3 * sizeof *a);
    EXPECT_INT(takt_run(ctx, &call, &d), TAKT_OK);
    EXPECT(out[0] == 7);
    EXPECT_STR(d.expert, simd);
    EXPECT_INT(d.reason, TAKT_REASON_FALLBACK);
    takt_ctx_destroy(ctx);
    takt_ctx_destroy(all);
}

/* Leaves no room for anything of a few pages or more. */
static bool use_up_memory(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");

    if (file == NULL || fscanf(file, "%lu", &pages) != 1)
        return false;
    fclose(file);
    const rlim_t used = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
    const struct rlimit limit = {used, used};
    if (setrlimit(RLIMIT_AS, &limit) != 0)
        return false;
    for (int i = 0; i < 1 << 16; i++) /* what was freed before */
        if (malloc(1 << 14) == NULL)
            return true;
    return false;
}

enum { refused = 0, wrong = 1, not_full = 2 };

/* Runs in a child: the simd expert gets no scratch, scalar needs none. */
static int run_without_memory(void)
{
    takt_ctx *ctx = ctx_of(TAKT_POLICY_ADAPTIVE, NULL, "");
    takt_call call = matmul_call(side);
    takt_decision d = {.size = sizeof d};

    call.flags = TAKT_TRANS_B; /* which vectors want to copy first */
    for (size_t i = 0; i < side * side; i++)
        a[i] = 1, b[i] = 2, out[i] = -1;
    if (!use_up_memory())
        return not_full;
    if (takt_run(ctx, &call, &d) != TAKT_OK ||
        strcmp(d.expert, "scalar") != 0 || d.reason != TAKT_REASON_FALLBACK)
        return wrong;
    for (size_t i = 0; i < side * side; i++)
        if (out[i] != 2 * side)
            return wrong;
    return refused;
}

static void an_expert_without_memory_is_replaced(void)
{
    int status = 0;

    if (is_sanitized) {
        SKIP("sanitizers need the address space");
        return;
    }
    fflush(stdout);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        alarm(60);
        _exit(run_without_memory());
    }
    REQUIRE(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == not_full)
        SKIP("memory could not be used up");
    else
        TAP_CHECK(WIFEXITED(status) && WEXITSTATUS(status) == refused,
                  "the child ended with status %#x", (unsigned)status);
}

/* ---- the environment
 * ------------------------------------------------------------- */

/* What the default context is, in three lines. */
static int report(void)
{
    const takt_call call = matmul_call(64);
    takt_decision d = {.size = sizeof d};
    const char *name;

    for (size_t i = 0; i < 64 * 64; i++)
        a[i] = 1, b[i] = 2;
    for (size_t i = 0;
         (name = takt_ctx_expert(takt_ctx_default(), i, NULL)) != NULL; i++)
        printf("%s ", name);
    if (takt_run(NULL, &call, &d) != TAKT_OK || out[0] != 128)
        return 1;
    printf("\n%s\n%s\n", d.expert, takt_reason_name(d.reason));
    return 0;
}

struct answer {
    char experts[1024], expert[64], reason[64];
};

/* An emulated program cannot start itself again without the emulator. */
#if defined(TAKT_TEST_EMULATED)
enum { can_start_itself = 0 };
#else
enum { can_start_itself = 1 };
#endif

/* Runs ourselves with exactly these variables. */
static struct answer ask(const char *const *variables)
{
    struct answer answer;
    int ends[2], status;

    REQUIRE(pipe(ends) == 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        char *const arguments[] = {"test_run", "report", NULL};
        dup2(ends[1], 1);
        close(ends[0]);
        alarm(60);
        execve("/proc/self/exe", arguments,
               (char *const *)(uintptr_t)variables);
        _exit(3);
    }
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    REQUIRE(from != NULL);
    const int read = fscanf(from, "%1023[^\n] %63s %63s", answer.experts,
                            answer.expert, answer.reason);
    fclose(from);
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(read == 3 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return answer;
}

static struct answer ask1(const char *variable)
{
    const char *const variables[] = {variable, "TAKT_BLAS=", NULL};
    return ask(variables);
}

/* Whether there is an expert on that many threads; "avx2" is none. */
static bool has_team(const struct answer *answer, char threads)
{
    for (const char *c = answer->experts + 1; c[0] != '\0' && c[1]; c++)
        if (c[-1] != 'v' && c[0] == 'x' && c[1] == threads && c[2] == ' ')
            return true;
    return false;
}

static void threads_come_from_the_environment(void)
{
    if (!can_start_itself) {
        SKIP("an emulated program cannot start itself");
        return;
    }
    struct answer d = ask1("TAKT_THREADS=1");

    TAP_CHECK(!has_team(&d, '2'), "experts: %s", d.experts);
    d = ask1("TAKT_THREADS=3");
    TAP_CHECK(has_team(&d, '2') && has_team(&d, '3'), "experts: %s", d.experts);
    const struct answer usual = ask1("NOTHING=1");
    d = ask1("TAKT_THREADS=many");
    EXPECT_STR(d.experts, usual.experts);
    d = ask1("TAKT_THREADS=0");
    EXPECT_STR(d.experts, usual.experts);
    d = ask1("TAKT_THREADS=-2");
    EXPECT_STR(d.experts, usual.experts);
}

static void the_expert_comes_from_the_environment(void)
{
    if (!can_start_itself) {
        SKIP("an emulated program cannot start itself");
        return;
    }
    struct answer d = ask1("TAKT_EXPERT=scalar");

    EXPECT_STR(d.expert, "scalar");
    EXPECT_STR(d.reason, "forced");
    d = ask1("TAKT_EXPERT=SCALAR");
    EXPECT_STR(d.expert, "scalar");
    d = ask1("TAKT_EXPERT=no.such");
    EXPECT_STR(d.reason, "prior");
}

static void the_policy_comes_from_the_environment(void)
{
    if (!can_start_itself) {
        SKIP("an emulated program cannot start itself");
        return;
    }
    const char *const fixed[] = {"TAKT_POLICY=fixed", "TAKT_EXPERT=scalar",
                                 "TAKT_BLAS=", NULL};
    const char *const ruled[] = {"TAKT_POLICY=moe", "TAKT_EXPERT=scalar",
                                 "TAKT_BLAS=", NULL};

    EXPECT_STR(ask1("TAKT_POLICY=adaptive").reason, "prior");
    EXPECT_STR(ask1("TAKT_POLICY=moe").reason, "static");
    EXPECT_STR(ask1("TAKT_POLICY=COST").reason, "static");
    EXPECT_STR(ask1("TAKT_POLICY=heuristic").expert, "scalar");
    EXPECT_STR(ask1("TAKT_POLICY=fixed").reason, "prior"); /* on whom? */
    EXPECT_STR(ask1("TAKT_POLICY=whatever").reason, "prior");
    EXPECT_STR(ask(fixed).reason, "forced");
    EXPECT_STR(ask(ruled).reason, "static");
}

static void libraries_come_from_the_environment(void)
{
    if (!can_start_itself) {
        SKIP("an emulated program cannot start itself");
        return;
    }
    const char *const none[] = {"TAKT_BLAS=", NULL};
    const char *const usual[] = {"NOTHING=1", NULL};
    const char *const missing[] = {"TAKT_BLAS=/no/such/libblas.so", NULL};

    EXPECT(strstr(ask(none).experts, "blas.") == NULL);
    const struct answer as_found = ask(usual);
    EXPECT_STR(ask(missing).experts, as_found.experts);
}

int main(int argc, char **argv)
{
    a = calloc(longest, sizeof *a);
    b = calloc(longest, sizeof *b);
    out = calloc(longest, sizeof *out);
    REQUIRE(a != NULL && b != NULL && out != NULL);
    if (argc > 1 && strcmp(argv[1], "report") == 0)
        return report();
    RUN(moe_and_heuristic_run_what_their_rule_says);
    RUN(cost_runs_what_its_rule_says);
    RUN(adaptive_expects_somebody_to_be_first);
    RUN(fixed_runs_one_expert);
    RUN(a_context_that_cannot_be_made_says_why);
    RUN(every_part_of_a_job_runs_once);
    RUN(a_recorded_machine_runs_nothing);
    RUN(a_library_asked_for_a_sum_is_replaced);
    RUN(an_expert_without_memory_is_replaced);
    RUN(threads_come_from_the_environment);
    RUN(the_expert_comes_from_the_environment);
    RUN(the_policy_comes_from_the_environment);
    RUN(libraries_come_from_the_environment);
    free(a);
    free(b);
    free(out);
    return tap_done();
}
