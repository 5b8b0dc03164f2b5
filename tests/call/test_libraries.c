/* SPDX-License-Identifier: MIT */
/*
 * test_libraries.c - BLAS libraries are opened by those who need them, and by
 * nobody else.
 *
 * Looked for in the memory of the process; each case has a process of its own,
 * since a library stays once it is loaded.
 */
#define _GNU_SOURCE /* strcasestr() */
#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/tap.h"
#include "support/tolerance.h"
#include "takt/takt.h"

enum { large = 64, small = 8, callers = 4 };

static float a[large * large], b[large * large], c[callers][large * large];

/* ---- what is loaded --------------------------------------------------------
 */

/* Whether one of the usual libraries is in the memory of this process. */
static bool has_library(void)
{
    static const char *const names[] = {"openblas", "libblis", "xsmm",
                                        "libblas.so"};
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[1024];
    bool found = false;

    REQUIRE(maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            found = found || strcasestr(line, names[i]) != NULL;
    fclose(maps);
    return found;
}

/* Whether there is any on this machine. */
static bool is_installed;

static takt_ctx *new_ctx(const char *expert)
{
    const takt_ctx_options options = {
        .policy = expert == NULL ? TAKT_POLICY_ADAPTIVE : TAKT_POLICY_FIXED,
        .expert = expert,
        .store = "",
        .gpu = "",
        .threads = 2,
    };
    takt_ctx *ctx;

    return takt_ctx_create(&options, &ctx) == TAKT_OK ? ctx : NULL;
}

static takt_call product(size_t n, float *out)
{
    return (takt_call){.op = takt_op_find("matmul"),
                       .shape = {.rank = 3, .dim = {n, n, n}},
                       .in = {a, b},
                       .alpha = 1,
                       .out = out};
}

/* ---- cases: 0 is as it should be ------------------------------------------
 */

static int an_add(void)
{
    takt_ctx *ctx = new_ctx(NULL);
    const takt_call call = {.op = takt_op_find("add"),
                            .shape = {.rank = 1, .dim = {large * large}},
                            .in = {a, b},
                            .out = c[0]};

    return ctx == NULL || has_library() ||
           takt_run(ctx, &call, NULL) != TAKT_OK ||
           takt_add_f32(large * large, a, b, c[0]) != TAKT_OK ||
           takt_sum_f32(large * large, a, c[0]) != TAKT_OK || has_library();
}

static int a_small_product(void)
{
    takt_ctx *ctx = new_ctx(NULL);
    const takt_call call = product(small, c[0]);

    return ctx == NULL || takt_run(ctx, &call, NULL) != TAKT_OK ||
           takt_matmul_f32(small, small, small, a, b, c[0]) != TAKT_OK ||
           has_library();
}

static int an_urgent_product(void)
{
    takt_ctx *ctx = new_ctx(NULL);
    takt_call call = product(large, c[0]);

    call.flags = TAKT_CALL_URGENT;
    return ctx == NULL || takt_run(ctx, &call, NULL) != TAKT_OK ||
           has_library();
}

static int a_large_product(void)
{
    takt_ctx *ctx = new_ctx(NULL);
    const takt_call call = product(large, c[0]);

    return ctx == NULL || has_library() ||
           takt_run(ctx, &call, NULL) != TAKT_OK ||
           has_library() != is_installed;
}

static int a_list_of_experts(void)
{
    takt_ctx *ctx = new_ctx(NULL);
    const char *name;
    bool is_listed = false;

    if (ctx == NULL)
        return 1;
    for (size_t i = 0; (name = takt_ctx_expert(ctx, i, NULL)) != NULL; i++) {
        if (name[0] == '\0')
            return 2;
        is_listed = is_listed || strncmp(name, "blas.", 5) == 0;
    }
    return is_listed != is_installed ||
           (takt_ctx_library(ctx, 0) != NULL) != is_installed ||
           (takt_ctx_library_problem(ctx) == NULL) != is_installed;
}

static int a_question(void)
{
    takt_ctx *ctx = new_ctx(NULL);
    const takt_request request = {.op = takt_op_find("matmul"),
                                  .shape = {.rank = 3, .dim = {64, 64, 64}}};
    takt_estimate all[64] = {{.size = sizeof all[0]}};
    size_t count = 0, libraries = 0;

    if (ctx == NULL || takt_explain(ctx, &request, all, 64, &count) != TAKT_OK)
        return 1;
    for (size_t i = 0; i < count; i++)
        libraries += strncmp(all[i].expert, "blas.", 5) == 0;
    return (libraries > 0) != is_installed;
}

/* Experts that come late leave those of the user where they are. */
static takt_status run_own(const takt_call *call, void *self)
{
    *(int *)self += 1;
    *(float *)call->out = 3;
    return TAKT_OK;
}

static int a_product_after_experts_of_the_user(void)
{
    takt_ctx *ctx = new_ctx(NULL);
    const takt_op *op;
    int runs = 0;
    const takt_call large_one = product(large, c[0]);

    if (ctx == NULL ||
        takt_ctx_define_op(ctx, &(takt_op_spec){.name = "own"}, &op) !=
            TAKT_OK ||
        takt_ctx_add_expert(ctx, op,
                            &(takt_expert_spec){.name = "mine",
                                                .run = run_own,
                                                .self = &runs}) != TAKT_OK ||
        takt_run(ctx, &large_one, NULL) != TAKT_OK)
        return 1;
    const takt_call own = {
        .op = op, .shape = {.rank = 1, .dim = {1}}, .out = c[0]};
    takt_decision decision = {.size = sizeof decision};
    if (takt_run(ctx, &own, &decision) != TAKT_OK)
        return 2;
    return runs != 1 || strcmp(decision.expert, "user.mine") != 0 ||
           (takt_ctx_library(ctx, 0) != NULL) != is_installed;
}

static takt_ctx *shared;
static pthread_barrier_t barrier;

static void *call_at_once(void *out)
{
    const takt_call call = product(large, out);

    pthread_barrier_wait(&barrier);
    return takt_run(shared, &call, NULL) == TAKT_OK ? NULL : out;
}

static int products_at_once(void)
{
    pthread_t thread[callers];
    void *failed;
    int wrong = 0, experts = 0;

    shared = new_ctx(NULL);
    pthread_barrier_init(&barrier, NULL, callers);
    for (int i = 0; i < callers; i++)
        wrong += pthread_create(&thread[i], NULL, call_at_once, c[i]) != 0;
    for (int i = 0; i < callers && wrong == 0; i++) {
        pthread_join(thread[i], &failed);
        wrong += failed != NULL || c[i][0] != (float)large;
    }
    for (size_t i = 0; takt_ctx_expert(shared, i, NULL) != NULL; i++)
        experts++;
    takt_ctx *other = new_ctx(NULL); /* which has as many */
    for (size_t i = 0; takt_ctx_expert(other, i, NULL) != NULL; i++)
        experts--;
    takt_ctx_destroy(other);
    takt_ctx_destroy(shared);
    return wrong != 0 || experts != 0;
}

static int an_expert_that_is_named(void)
{
    takt_ctx *ctx = new_ctx("scalar");
    char name[TAKT_EXPERT_NAME_MAX] = "";
    const char *at;

    if (ctx == NULL || has_library())
        return 1;
    for (size_t i = 0; (at = takt_ctx_expert(ctx, i, NULL)) != NULL; i++)
        if (strncmp(at, "blas.", 5) == 0)
            snprintf(name, sizeof name, "%s", at);
    takt_ctx_destroy(ctx);
    ctx = new_ctx(name[0] == '\0' ? "blas.none" : name);
    if ((ctx != NULL) != is_installed)
        return 2;
    takt_ctx_destroy(ctx);
    return 0;
}

/* With no memory to be had they are absent, or (BLIS) the fault is theirs; but
 * who only adds does not notice. */
static int an_add_without_memory(void)
{
    takt_ctx *ctx = new_ctx(NULL);
    const struct rlimit none = {1 << 20, 1 << 20};
    const takt_call call = {.op = takt_op_find("add"),
                            .shape = {.rank = 1, .dim = {large}},
                            .in = {a, b},
                            .out = c[0]};

    if (ctx == NULL || setrlimit(RLIMIT_AS, &none) != 0)
        return 1;
    return takt_run(ctx, &call, NULL) != TAKT_OK;
}

/* Leaves so much of the address space, and ends a process that tries for ever:
 * while libraries are opened, by SIGKILL alone. */
static void leave_memory(size_t bytes)
{
    const struct rlimit seconds = {10, 10};
    struct rlimit memory;
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    REQUIRE(file != NULL && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    memory.rlim_cur = memory.rlim_max = pages * 4096 + bytes;
    REQUIRE(setrlimit(RLIMIT_AS, &memory) == 0);
    REQUIRE(setrlimit(RLIMIT_CPU, &seconds) == 0);
}

/* Each thread of OpenBLAS works in 128 MiB, and waits for them for ever. */
static int a_product_without_memory(void)
{
    takt_ctx *ctx = new_ctx(NULL);
    const takt_call call = product(large, c[0]);

    leave_memory((size_t)100 << 20);
    if (ctx == NULL || takt_run(ctx, &call, NULL) != TAKT_OK || has_library())
        return 1;
    return strcmp(takt_ctx_library_problem(ctx),
                  "there is no room for their threads") != 0;
}

static pthread_barrier_t has_little;
static size_t openblas; /* its expert; 0: there is none */

static void find_openblas(void)
{
    const char *name;

    for (size_t i = 0; (name = takt_ctx_expert(shared, i, NULL)) != NULL; i++)
        if (strcmp(name, "blas.openblas") == 0)
            openblas = i;
}

static void *multiply_there(void *out)
{
    const takt_call call = product(large, out);

    pthread_barrier_wait(&has_little);
    for (int i = 0; i < 500; i++) {
        const takt_status status = takt_run_on(shared, &call, openblas);
        if (status != TAKT_OK && status != TAKT_ENODEV)
            return out;
    }
    return NULL;
}

/* So does each call that is inside at once. */
static int products_with_memory_for_one(void)
{
    pthread_t thread[callers];
    void *failed = NULL;

    shared = new_ctx(NULL);
    find_openblas();
    const takt_call call = product(large, c[0]);
    if (openblas == 0)
        return 0;
    if (takt_run_on(shared, &call, openblas) != TAKT_OK)
        return 1;
    pthread_barrier_init(&has_little, NULL, callers + 1);
    for (int i = 0; i < callers; i++)
        if (pthread_create(&thread[i], NULL, multiply_there, c[i]) != 0)
            return 2;
    leave_memory((size_t)20 << 20);
    pthread_barrier_wait(&has_little);
    for (int i = 0; i < callers; i++) {
        void *result;
        pthread_join(thread[i], &result);
        failed = result != NULL ? result : failed;
    }
    return failed != NULL ? 3 : 0;
}

/* ---- fork() and signals ----------------------------------------------------
 */

static useconds_t pause_us; /* differs from try to try: no moment may matter */

static int multiply(float *out)
{
    const takt_call call = {.op = takt_op_find("matmul"),
                            .shape = {.rank = 3, .dim = {large, large, large}},
                            .in = {a, b},
                            .out = out,
                            .alpha = 1};

    return takt_run(shared, &call, NULL) != TAKT_OK;
}

static void *multiply_first(void *out)
{
    return multiply(out) == 0 ? NULL : out;
}

/* The child must not wait for a thread that it does not have. */
static int a_fork_while_they_are_opened(void)
{
    pthread_t thread;
    void *failed;
    int status;

    shared = new_ctx(NULL);
    if (pthread_create(&thread, NULL, multiply_first, c[0]) != 0)
        return 1;
    usleep(pause_us);
    const pid_t child = fork();
    if (child == 0) {
        alarm(60); /* ends a child that hangs */
        _exit(multiply(c[1]));
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return 2;
    pthread_join(thread, &failed);
    return failed != NULL || status != 0 ? 3 : 0;
}

/* Whether a thread of this process blocks SIGUSR1. */
static bool blocks_signals(const char *thread)
{
    char path[300], line[256];
    unsigned long long blocked = 0;

    snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
    FILE *status = fopen(path, "re");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        sscanf(line, "SigBlk: %llx", &blocked);
    if (status != NULL)
        fclose(status);
    return status == NULL || (blocked >> (SIGUSR1 - 1) & 1) != 0;
}

/* All threads but this one are Takt's or a library's. */
static int threads_with_signals(void)
{
    const struct dirent *entry;
    int count = 0;

    shared = new_ctx(NULL);
    if (multiply(c[0]) != 0)
        return 1;
    DIR *threads = opendir("/proc/self/task");
    while (threads != NULL && (entry = readdir(threads)) != NULL)
        count += entry->d_name[0] != '.' && atoi(entry->d_name) != getpid() &&
                 !blocks_signals(entry->d_name);
    if (threads != NULL)
        closedir(threads);
    return count == 0 ? 0 : 2;
}

/* ---- the tests -------------------------------------------------------------
 */

static int run_apart(int (*act)(void))
{
    int status;
    const pid_t child = fork();

    if (child == 0)
        _exit(act());
    REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

/* The loader's word for it, unless the environment forbids them. */
static int look_for_libraries(void)
{
    static const char *const files[] = {"libopenblas.so.0", "libblis.so.4",
                                        "libxsmm.so.1", "libxsmm.so",
                                        "libblas.so.3"};
    const char *wanted = getenv("TAKT_BLAS");
    bool found = false;

    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        found = found || dlopen(files[i], RTLD_NOW | RTLD_LOCAL) != NULL;
    return !found || (wanted != NULL && wanted[0] == '\0');
}

#define TEST_APART(act, name)          \
    static void name(void)             \
    {                                  \
        EXPECT_INT(run_apart(act), 0); \
    }

TEST_APART(an_add, an_add_opens_none)
TEST_APART(a_small_product, a_small_product_opens_none)
TEST_APART(an_urgent_product, an_urgent_product_opens_none)
TEST_APART(a_large_product, a_large_product_opens_them)
TEST_APART(a_list_of_experts, a_list_of_experts_has_them)
TEST_APART(a_question, a_question_about_products_knows_them)
TEST_APART(a_product_after_experts_of_the_user,
           experts_of_the_user_stay_as_they_are)
TEST_APART(products_at_once, threads_that_open_them_at_once_share_them)
/* A library counts in int: a side of 2^31 is too long for it, however fast it
 * was said to be. */
static int a_product_that_libraries_refuse(void)
{
    takt_ctx *ctx = new_ctx(NULL);
    takt_request request = {.op = takt_op_find("matmul"),
                            .shape = {3, {(size_t)1 << 31, 2, 2}}};
    takt_measurement told = {.request = &request, .seconds = 1e-3, .calls = 1};
    takt_estimate all[64] = {{.size = sizeof all[0]}};
    takt_decision decision = {.size = sizeof decision};
    size_t count = 0;
    int wrong = 0;

    for (size_t i = 0; takt_ctx_expert(ctx, i, NULL) != NULL; i++) {
        told.expert = takt_ctx_expert(ctx, i, NULL);
        for (int n = 0; strncmp(told.expert, "blas.", 5) == 0 && n < 50; n++)
            wrong += takt_record(ctx, &told) != TAKT_OK;
    }
    takt_ctx_flush(ctx);
    wrong += takt_select(ctx, &request, &decision) != TAKT_OK;
    wrong += strncmp(decision.expert, "blas.", 5) == 0;
    wrong += takt_explain(ctx, &request, all, 64, &count) != TAKT_OK;
    wrong += count == 0 || !all[0].is_chosen;
    for (size_t i = 0; i < count; i++)
        wrong += strncmp(all[i].expert, "blas.", 5) == 0;
    request.shape.dim[0] = (size_t)1 << 30; /* as fast, and possible */
    wrong += takt_explain(ctx, &request, all, 64, &count) != TAKT_OK;
    bool has_library_now = !is_installed;
    for (size_t i = 0; i < count; i++)
        has_library_now |= strncmp(all[i].expert, "blas.", 5) == 0;
    wrong += !has_library_now;
    takt_ctx_destroy(ctx);
    return wrong;
}

TEST_APART(an_expert_that_is_named, an_expert_that_is_named_is_found)
TEST_APART(a_product_that_libraries_refuse,
           an_expert_that_would_refuse_is_not_named)
TEST_APART(threads_with_signals, their_threads_take_no_signals)

static void a_fork_meanwhile_leaves_a_child_that_computes(void)
{
    if (is_sanitized) {
        SKIP("the sanitizers' own locks do not survive such a fork");
        return;
    }
    for (pause_us = 0; pause_us < 6000; pause_us += 400)
        EXPECT_INT(run_apart(a_fork_while_they_are_opened), 0);
}

static void calls_without_memory_run(void)
{
    if (is_sanitized) {
        SKIP("sanitizers need the memory");
        return;
    }
    EXPECT_INT(run_apart(an_add_without_memory), 0);
    EXPECT_INT(run_apart(a_product_without_memory), 0);
    EXPECT_INT(run_apart(products_with_memory_for_one), 0);
}

int main(void)
{
    for (size_t i = 0; i < large * large; i++)
        a[i] = b[i] = 1;
    is_installed = run_apart(look_for_libraries) == 0;
    RUN(an_add_opens_none);
    RUN(a_small_product_opens_none);
    RUN(an_urgent_product_opens_none);
    RUN(a_large_product_opens_them);
    RUN(a_list_of_experts_has_them);
    RUN(a_question_about_products_knows_them);
    RUN(experts_of_the_user_stay_as_they_are);
    RUN(threads_that_open_them_at_once_share_them);
    RUN(an_expert_that_is_named_is_found);
    RUN(an_expert_that_would_refuse_is_not_named);
    RUN(their_threads_take_no_signals);
    RUN(a_fork_meanwhile_leaves_a_child_that_computes);
    RUN(calls_without_memory_run);
    return tap_done();
}
