/* SPDX-License-Identifier: MIT */
/* test_config.c - the environment is read once, and mistakes in it are said. */
#define _GNU_SOURCE /* clearenv() */
#include "base/config.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/environment.h"
#include "base/log.h"
#include "support/child.h"
#include "support/comma.h"
#include "takt/takt.h"

static char heard[4096];

static void hear(void *self, takt_log_level level, const char *text)
{
    (void)self;
    const size_t used = strlen(heard);
    snprintf(heard + used, sizeof heard - used, "%s: %s\n",
             takt_log_level_name(level), text);
}

static void listen_now(void)
{
    REQUIRE(takt_log_set(TAKT_LOG_ERROR, hear, NULL) == TAKT_OK);
}

static void expect_said(const char *words)
{
    TAP_CHECK(strstr(heard, words) != NULL, "\"%s\" is not in \"%s\"", words,
              heard);
}

static void set_numbers(void)
{
    listen_now();
    setenv("TAKT_THREADS", "3", 1);
    setenv("TAKT_EXPLORE", "0", 1);
    setenv("TAKT_TRACE_THRESHOLD_US", "250", 1);
    setenv("TAKT_TRACE_RATE", "0.5", 1);
    setenv("TAKT_HOT_RATE", "inf", 1);
    setenv("TAKT_TRACE_DEBUG", "0", 1);
    const struct takt_config *config = takt__config();
    EXPECT_INT(config->threads, 3);
    EXPECT(config->exploration < 0);
    EXPECT_NEAR(config->trace_threshold_s, 250e-6, 1e-12);
    EXPECT_NEAR(config->trace_rate, 0.5, 0);
    EXPECT(isinf(config->hot_rate));
    EXPECT(!config->is_tracing_all);
    EXPECT(!config->is_privileged);
    EXPECT_STR(heard, "");
}

static void numbers_are_read(void)
{
    in_child(set_numbers);
}

static void numbers_have_a_point_in_every_locale(void)
{
    if (!comma_begin()) {
        SKIP("no locale with a comma can be made");
        return;
    }
    in_child(set_numbers);
    comma_end();
}

static void set_nonsense(void)
{
    listen_now();
    setenv("TAKT_THREADS", "many", 1);
    setenv("TAKT_EXPLORE", "1.5", 1);
    setenv("TAKT_TRACE_THRESHOLD_US", "-1", 1);
    setenv("TAKT_TRACE_RATE", "nan", 1);
    setenv("TAKT_LOG", "loud", 1);
    setenv("TAKT_TREADS", "2", 1);
    setenv("TAKT_RUN_NUMPI", "off", 1);
    setenv("TAKT_RUN_SAMEBITS", "1", 1);
    setenv("TAKT_RUN_NUMPY", "never", 1);
    setenv("TAKT_RUN_REUSE", "sometimes", 1);
    setenv("TAKT_RUN_SAME_BITS", "2", 1);
    setenv("TAKT_RUN_COUNT_LARGE", "small", 1);
    setenv("TAKT_RUN_EAGER", "first", 1);
    setenv("TAKT_TRACE_DEBUG", "maybe", 1);
    setenv("TAKT_OF_THE_PROGRAMS_OWN", "1", 1);
    setenv("TAKT_FOO", "1", 1);
    const struct takt_config *config = takt__config();
    EXPECT_INT(config->threads, 0);
    EXPECT_NEAR(config->exploration, 0, 0);
    EXPECT(config->trace_threshold_s < 0 && config->trace_rate < 0);
    expect_said("error: TAKT_THREADS=many is ignored: it is not a whole");
    expect_said("TAKT_EXPLORE=1.5 is ignored");
    expect_said("TAKT_TRACE_THRESHOLD_US=-1 is ignored");
    expect_said("TAKT_TRACE_RATE=nan is ignored");
    expect_said("TAKT_LOG=loud is ignored: it is not off, error, info or");
    expect_said("TAKT_TREADS is not a variable of Takt; did you mean "
                "TAKT_THREADS?");
    expect_said("did you mean TAKT_RUN_NUMPY?");
    expect_said("did you mean TAKT_RUN_SAME_BITS?");
    expect_said("TAKT_RUN_NUMPY=never is ignored: it is not 1 or 0");
    expect_said("TAKT_RUN_REUSE=sometimes is ignored");
    expect_said("TAKT_RUN_SAME_BITS=2 is ignored");
    expect_said("TAKT_RUN_COUNT_LARGE=small is ignored");
    expect_said("TAKT_RUN_EAGER=first is ignored");
    expect_said("TAKT_TRACE_DEBUG=maybe is ignored");
    EXPECT(!config->is_tracing_all);
    EXPECT(strstr(heard, "PROGRAMS_OWN") == NULL);
    EXPECT(strstr(heard, "TAKT_FOO") == NULL);
}

static void set_more_than_fits(void)
{
    static char text[70000];

    listen_now();
    memset(text, '/', sizeof text - 1);
    setenv("OTHERS", text, 1);
    setenv("TAKT_DB", text, 1);
    setenv("TAKT_THREADS", "3", 1);
    EXPECT(takt__config()->db == NULL);
    EXPECT_INT(takt__config()->threads, 3);
    expect_said("error: TAKT_DB is ignored: it is too long");
    EXPECT(strstr(heard, "OTHERS") == NULL);
}

static void nonsense_counts_as_not_set_and_is_said(void)
{
    in_child(set_nonsense);
    in_child(set_more_than_fits);
}

static void switches_have_words_for_yes_and_no(void)
{
    static const char *const yes[] = {"1", "on", "ON", "yes", "True"},
                             *const no[] = {"0", "off", "No", "FALSE"};
    bool is_on;

    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        is_on = false;
        EXPECT(takt__environment_switch(yes[i], &is_on) && is_on);
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        is_on = true;
        EXPECT(takt__environment_switch(no[i], &is_on) && !is_on);
    }
    EXPECT(!takt__environment_switch("", &is_on) && !is_on);
    EXPECT(!takt__environment_switch("10", &is_on) && !is_on);
}

static void change_later(void)
{
    setenv("TAKT_DB", "/first.db", 1);
    const struct takt_config *config = takt__config();
    setenv("TAKT_DB", "/second.db", 1);
    EXPECT(takt__config() == config);
    EXPECT_STR(config->db, "/first.db");
}

static void a_later_setenv_changes_nothing(void)
{
    in_child(change_later);
}

/* Threads of Takt's do not read the environment while the program changes it:
 * under a thread sanitizer this is a race if they do. */
static void *change_environment(void *self)
{
    char value[32];

    for (int i = 0; i < 20000; i++) {
        snprintf(value, sizeof value, "%d", i);
        setenv("OF_THE_PROGRAM", value, 1);
    }
    return self;
}

static void compute_meanwhile(void)
{
    static float x[4096], y[4096];
    pthread_t thread;

    REQUIRE(takt_add_f32(4096, x, y, y) == TAKT_OK);
    REQUIRE(pthread_create(&thread, NULL, change_environment, NULL) == 0);
    for (int i = 0; i < 20000; i++)
        EXPECT_INT(takt_add_f32(4096, x, y, y), TAKT_OK);
    pthread_join(thread, NULL);
}

static void programs_may_change_it_while_they_compute(void)
{
    in_child(compute_meanwhile);
}

/* Under `takt run` a thread of Takt's reads the environment, while a program
 * that knows of no other thread changes it. */
static _Atomic bool is_over;

/* clearenv() frees the list, and other data takes its place. */
static void *replace_environment(void *self)
{
    enum { own = 400, bytes = (own + 2) * sizeof(char *) };
    static char first[] = "TAKT_DB=/some.db", others[own][16];

    for (int i = 0; i < own; i++)
        snprintf(others[i], sizeof others[i], "OWN_%d=1", i);
    while (!atomic_load(&is_over)) {
        clearenv();
        char *volatile data = malloc(bytes);
        REQUIRE(data != NULL);
        memset(data, 'U', bytes);
        free(data);
        putenv(first);
        for (int i = 0; i < own; i++)
            putenv(others[i]);
    }
    return self;
}

static void copy_meanwhile(void)
{
    static struct takt_environment copy;
    pthread_t thread;

    setenv("TAKT_DB", "/some.db", 1);
    REQUIRE(pthread_create(&thread, NULL, replace_environment, NULL) == 0);
    for (int i = 0; i < 2000; i++) {
        takt__environment_read(&copy);
        const char *db = takt__environment_find(&copy, "TAKT_DB");
        EXPECT_STR(db == NULL ? "/some.db" : db, "/some.db");
    }
    atomic_store(&is_over, true);
    pthread_join(thread, NULL);
}

static void it_can_be_read_while_the_program_changes_it(void)
{
#ifdef __SANITIZE_THREAD__
    SKIP("setenv() and a look at environ are a race on purpose");
    return;
#endif
#ifdef TAKT_TEST_EMULATED
    SKIP("an emulated program cannot read its memory by a file");
    return;
#endif
    in_child(copy_meanwhile);
}

/* ---- what the default context says of it -----------------------------------
 */

static void use_default(void)
{
    static float x[64], y[64];

    listen_now();
    EXPECT_INT(takt_add_f32(64, x, y, y), TAKT_OK);
    EXPECT(takt_ctx_default() != NULL);
}

static void misname_policy(void)
{
    setenv("TAKT_POLICY", "mow", 1);
    use_default();
    expect_said("error: TAKT_POLICY=mow is ignored");
}

static void misname_expert(void)
{
    setenv("TAKT_EXPERT", "simd.avx1024", 1);
    use_default();
    expect_said("error: TAKT_EXPERT=simd.avx1024 is ignored");
}

static void name_no_expert(void)
{
    setenv("TAKT_POLICY", "fixed", 1);
    use_default();
    expect_said("error: TAKT_POLICY=fixed is ignored");
}

static void misname_pin(void)
{
    setenv("TAKT_PIN", "/nope", 1);
    use_default();
    expect_said("error: TAKT_PIN=/nope is ignored");
}

static void misname_trace(void)
{
    setenv("TAKT_TRACE", "/proc/nope/x", 1);
    use_default();
    expect_said("error: telemetry: ");
    expect_said("/proc/nope/x");
}

static void misname_exporter(void)
{
    setenv("TAKT_OTEL", "/nope.so", 1);
    setenv("TAKT_OTLP_FILE", "/proc/nope/x", 1);
    use_default();
    expect_said("error: telemetry: there is no exporter");
}

static void mistakes_of_the_environment_are_said(void)
{
    in_child(misname_policy);
    in_child(misname_expert);
    in_child(name_no_expert);
    in_child(misname_pin);
    in_child(misname_trace);
    in_child(misname_exporter);
}

static void name_blas(const char *path)
{
    takt_ctx *ctx = NULL;

    listen_now();
    REQUIRE(takt_ctx_create(&(takt_ctx_options){.blas = path, .store = ""},
                            &ctx) == TAKT_OK);
    float c[4096] = {0}, a[4096] = {0};
    EXPECT_INT(takt_matmul_f32(64, 64, 64, a, a, c), TAKT_OK);
    takt_ctx_open_gpus(ctx);
    takt_ctx_library(ctx, 0);
    takt_ctx_destroy(ctx);
}

static void misname_blas(void)
{
    name_blas("/nope.so");
    expect_said("the BLAS library /nope.so is not used: ");
}

/* As a pipe, for whose writer the loader would wait. */
static void name_a_device(void)
{
    name_blas("/dev/null");
    expect_said("the BLAS library /dev/null is not used: it is not a regular");
}

static void a_library_that_was_named_and_is_not_used_is_said(void)
{
    in_child(misname_blas);
    in_child(name_a_device);
}

int main(void)
{
    unsetenv("TAKT_BLAS"); /* as few settings as there can be */
    RUN(numbers_are_read);
    RUN(numbers_have_a_point_in_every_locale);
    RUN(nonsense_counts_as_not_set_and_is_said);
    RUN(switches_have_words_for_yes_and_no);
    RUN(a_later_setenv_changes_nothing);
    RUN(programs_may_change_it_while_they_compute);
    RUN(it_can_be_read_while_the_program_changes_it);
    setenv("TAKT_BLAS", "", 1);
    RUN(mistakes_of_the_environment_are_said);
    RUN(a_library_that_was_named_and_is_not_used_is_said);
    return tap_done();
}
