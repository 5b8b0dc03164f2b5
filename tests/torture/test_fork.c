/* SPDX-License-Identifier: MIT */
/*
 * test_fork.c - a child that was forked while another thread made the first
 * context of the process can use Takt, and fork in its turn.
 */
#define _GNU_SOURCE /* struct timespec */
#include <pthread.h>

#include "store/scratch.h"
#include "support/tolerance.h"
#include "takt/takt.h"
#include "torture/child.h"

enum { length = 4096, forks = 12, child_s = 60 };

static float numbers[2][length];
static _Atomic bool is_made;
static long most_us; /* that a fork() is drawn out */

static void compute(takt_ctx *ctx, float *out)
{
    const takt_call call = {.op = takt_op_find("exp"),
                            .shape = {.rank = 1, .dim = {length}},
                            .in = {numbers[0]},
                            .out = out};

    REQUIRE(takt_run(ctx, &call, NULL) == TAKT_OK);
}

static takt_ctx *make_ctx(const char *store)
{
    const takt_ctx_options options = {
        .store = store, .blas = "", .gpu = "", .telemetry = "", .threads = 2};
    takt_ctx *ctx;

    REQUIRE(takt_ctx_create(&options, &ctx) == TAKT_OK);
    return ctx;
}

static void use_takt(const char *store)
{
    takt_ctx *ctx = make_ctx(store);

    compute(ctx, numbers[1]);
    REQUIRE(takt_ctx_flush(ctx) == TAKT_OK);
    takt_ctx_destroy(ctx);
    compute(NULL, numbers[1]); /* the default context */
}

static void expect_good(pid_t child)
{
    int status;

    REQUIRE(child >= 0);
    REQUIRE(waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != good_end)
        _exit(bad_end);
}

/* A child uses Takt, and forks itself: handlers of fork() that it has twice
 * would wait for their own locks. */
static void live(const char *store)
{
    alarm(child_s);
    use_takt(store);
    const pid_t child = fork();
    if (child == 0) {
        alarm(child_s);
        use_takt(store);
        exit(good_end);
    }
    expect_good(child);
    exit(good_end);
}

static void *make_first(void *self)
{
    static float out[length];

    compute(NULL, out);
    takt_ctx_destroy(make_ctx(self));
    atomic_store(&is_made, true);
    return NULL;
}

/* A program may have handlers of its own that take their time: the thread that
 * uses Takt goes on meanwhile. */
static void draw_out(void)
{
    nap_us(random_us(most_us));
}

static void fork_beside_first(void *self)
{
    pthread_t thread;
    pid_t child[forks];
    int count = 0;

    most_us = 1500;
    pthread_atfork(draw_out, NULL, NULL);
    REQUIRE(pthread_create(&thread, NULL, make_first, self) == 0);
    do {
        child[count] = fork();
        if (child[count] == 0)
            live(self);
    } while (++count < forks && !atomic_load(&is_made));
    for (int i = 0; i < count; i++)
        expect_good(child[i]);
    pthread_join(thread, NULL);
    exit(good_end);
}

static bool is_left_out(void)
{
    if (is_sanitized)
        SKIP("the sanitizers' own locks do not survive such a fork");
    return is_sanitized;
}

static void a_fork_beside_the_first_context_leaves_a_child_that_works(void)
{
    if (is_left_out())
        return;
    for (int i = 0; i < rounds_or(25); i++)
        EXPECT(ends_well(fork_beside_first, (void *)(uintptr_t)scratch_path()));
}

/* ---- libraries that are opened during a fork -------------------------------
 */

enum { order = 96 };

static takt_ctx *with_libraries;
static _Atomic bool opens;

static void *open_libraries(void *unused)
{
    (void)takt_ctx_library(with_libraries, 0);
    return unused;
}

/* Runs before the handler of Takt's that lets no library be opened: the
 * library's own handlers are set too late for this fork. */
static void open_beside(void)
{
    pthread_t thread;

    if (!atomic_exchange(&opens, false))
        return;
    REQUIRE(pthread_create(&thread, NULL, open_libraries, NULL) == 0);
    pthread_join(thread, NULL);
}

static void multiply_everywhere(void)
{
    static float in[order * order], out[order * order];
    const takt_call call = {.op = takt_op_find("matmul"),
                            .shape = {.rank = 3, .dim = {order, order, order}},
                            .in = {in, in},
                            .out = out,
                            .alpha = 1};
    takt_status status;

    for (int i = 0; i < order * order; i++)
        in[i] = 1;
    for (size_t i = 0; takt_ctx_expert(with_libraries, i, NULL) != NULL; i++) {
        out[1] = order;
        status = takt_run_on(with_libraries, &call, i);
        REQUIRE(status == TAKT_OK || status == TAKT_ENODEV);
        REQUIRE(out[1] == (float)order);
    }
}

static void open_while_forking(void *unused)
{
    const takt_ctx_options options = {
        .store = "", .gpu = "", .telemetry = "", .threads = 2};

    (void)unused;
    REQUIRE(takt_ctx_create(&options, &with_libraries) == TAKT_OK);
    atomic_store(&opens, true);
    pthread_atfork(open_beside, NULL, NULL);
    for (int i = 0; i < 2; i++) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(child_s);
            multiply_everywhere();
            exit(good_end);
        }
        expect_good(child);
        multiply_everywhere();
    }
    exit(good_end);
}

static void a_child_calls_libraries_that_were_opened_during_its_fork(void)
{
    if (is_left_out())
        return;
    EXPECT(ends_well(open_while_forking, NULL));
}

/* ---- an exporter that is opened during a fork ------------------------------
 */

static void *export_first(void *unused)
{
    takt_diag diag;

    (void)takt_ctx_export(with_libraries, NULL, &diag);
    return unused;
}

static void load_while_forking(void *unused)
{
    pthread_t thread;
    takt_diag diag;
    int loading[2];
    char byte, text[16];

    (void)unused;
    REQUIRE(pipe(loading) == 0);
    snprintf(text, sizeof text, "%d", loading[1]);
    setenv("TAKT_TEST_LOADING", text, 1);
    setenv("TAKT_OTEL", TAKT_SLOW_OTEL, 1);
    with_libraries = make_ctx("");
    REQUIRE(pthread_create(&thread, NULL, export_first, NULL) == 0);
    REQUIRE(read(loading[0], &byte, 1) == 1);
    const pid_t child = fork();
    if (child == 0) {
        alarm(child_s);
        REQUIRE(takt_ctx_export(with_libraries, NULL, &diag) == TAKT_ENOENT);
        exit(good_end);
    }
    expect_good(child);
    pthread_join(thread, NULL);
    exit(good_end);
}

static void a_child_has_no_half_of_an_exporter(void)
{
    if (is_left_out())
        return;
    EXPECT(ends_well(load_while_forking, NULL));
}

/* ---- a library that waits for a fork --------------------------------------
 */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* So that a fork waits as long as with this one. */
size_t confstr(int name, char *text, size_t size)
{
    (void)name;
    return (size_t)snprintf(text, size, "glibc 2.31") + 1;
}
#endif

struct library {
    const char *variable, *file; /* that is to be set, to what */
    void *(*load)(void *unused);
};

static const struct library blas_library = {"", TAKT_SLOW_BLAS, open_libraries};
static const struct library exporter = {"TAKT_OTEL", TAKT_SLOW_OTEL,
                                        export_first};

/* It uses the same context, opens nothing, and may fork itself. */
static void live_with_half(void)
{
    takt_diag diag;

    alarm(child_s);
    multiply_everywhere();
    REQUIRE(takt_ctx_library(with_libraries, 0) == NULL);
    REQUIRE(strstr(takt_ctx_library_problem(with_libraries), "forked") != NULL);
    REQUIRE(takt_ctx_export(with_libraries, NULL, &diag) == TAKT_ENOTSUP);
    REQUIRE(strstr(diag.text, "forked") != NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(child_s);
        REQUIRE(takt_ctx_export(with_libraries, NULL, &diag) == TAKT_ENOTSUP);
        multiply_everywhere();
        use_takt("");
        exit(good_end);
    }
    expect_good(child);
    use_takt("");
    exit(good_end);
}

/* The program and its context go on as if there had been no fork. */
static void live_with_all(const struct library *library)
{
    takt_diag diag;

    if (library == &blas_library)
        REQUIRE(strstr(takt_ctx_library(with_libraries, 0), TAKT_SLOW_BLAS));
    else
        REQUIRE(takt_ctx_export(with_libraries, NULL, &diag) == TAKT_ENOENT);
    multiply_everywhere();
}

static void fork_while_it_waits(void *self)
{
    const struct library *library = self;
    const takt_ctx_options options = {.store = "",
                                      .blas = TAKT_SLOW_BLAS,
                                      .gpu = "",
                                      .telemetry = "",
                                      .threads = 2};
    int says[2], hears[2];
    pthread_t thread;
    char byte, text[32];

    REQUIRE(pipe(says) == 0 && pipe(hears) == 0);
    snprintf(text, sizeof text, "%d %d", says[1], hears[0]);
    setenv("TAKT_TEST_WAITING", text, 1);
    if (library->variable[0] != '\0')
        setenv(library->variable, library->file, 1);
    REQUIRE(takt_ctx_create(&options, &with_libraries) == TAKT_OK);
    REQUIRE(pthread_create(&thread, NULL, library->load, NULL) == 0);
    REQUIRE(read(says[0], &byte, 1) == 1);
    const pid_t early = fork();
    if (early == 0) {
        close(hears[1]);
        live_with_half();
    }
    expect_good(early);
    close(hears[1]);
    pthread_join(thread, NULL);
    const pid_t late = fork();
    live_with_all(library);
    if (late != 0)
        expect_good(late);
    exit(good_end);
}

static void a_fork_does_not_wait_for_a_library_that_waits_for_it(void)
{
    if (is_left_out())
        return;
    EXPECT(ends_well(fork_while_it_waits, (void *)(uintptr_t)&blas_library));
    EXPECT(ends_well(fork_while_it_waits, (void *)(uintptr_t)&exporter));
}

/* ---- files that another thread writes -------------------------------------
 */

static void *write_pins(void *path)
{
    for (;;)
        takt_ctx_write_pin(with_libraries, path, NULL);
    return NULL;
}

static void *use_stack(void *self)
{
    volatile char used[1 << 18];

    for (size_t i = 0; i < sizeof used; i++)
        used[i] = 1;
    return self;
}

/* The stacks of threads that a child does not have are those of its new ones.
 */
static void leave_with_new_threads(void)
{
    pthread_t thread[16];

    for (size_t i = 0; i < sizeof thread / sizeof thread[0]; i++)
        REQUIRE(pthread_create(&thread[i], NULL, use_stack, NULL) == 0);
    for (size_t i = 0; i < sizeof thread / sizeof thread[0]; i++)
        pthread_join(thread[i], NULL);
    exit(good_end);
}

static void fork_while_a_file_is_written(void *path)
{
    pthread_t thread;

    with_libraries = make_ctx("");
    compute(with_libraries, numbers[1]);
    REQUIRE(takt_ctx_flush(with_libraries) == TAKT_OK);
    REQUIRE(pthread_create(&thread, NULL, write_pins, path) == 0);
    for (int i = 0; i < rounds_or(100); i++) {
        nap_us(random_us(200));
        const pid_t child = fork();
        if (child == 0) {
            alarm(child_s);
            leave_with_new_threads();
        }
        expect_good(child);
    }
    _exit(good_end);
}

/* In a folder that is not there, so that the text is what takes the time. */
static void a_child_ends_while_its_parent_writes_a_file(void)
{
    char path[160];

    if (is_left_out())
        return;
    snprintf(path, sizeof path, "%s/none/pin", scratch);
    EXPECT(ends_well(fork_while_a_file_is_written, path));
}

int main(int count, char **arguments)
{
    torture_read(count, arguments);
    scratch_make();
    setenv("TAKT_DB", "", 1);
    RUN(a_fork_beside_the_first_context_leaves_a_child_that_works);
    RUN(a_child_calls_libraries_that_were_opened_during_its_fork);
    RUN(a_child_ends_while_its_parent_writes_a_file);
    RUN(a_child_has_no_half_of_an_exporter);
    RUN(a_fork_does_not_wait_for_a_library_that_waits_for_it);
    return tap_done();
}
