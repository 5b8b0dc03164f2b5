/* SPDX-License-Identifier: MIT */
/*
 * test_lapack.c - every name of LAPACK comes to the library with the arguments
 * that it was called with, on some number of threads, which is restored.
 *
 * usage: test_lapack LIBTAKT_BLAS BASELINE [openmp | usual]
 *
 * As in test_names.c the interposer is opened first, for all to see.
 * TAKT_RUN_EAGER has the numbers of threads take turns.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baseline_lapack.h"
#include "support/tap.h"

typedef void any_function(void *, ...);

static void *interposer, *baseline;
static struct lapack_seen *seen;
static jmp_buf **jump;
static bool *ends_thread;
static int (*get_threads)(void);
static void (*set_threads)(int);

static void *find(void *handle, const char *name)
{
    void *found = dlsym(handle, name);

    if (found == NULL)
        printf("# no %s\n", name);
    REQUIRE(found != NULL);
    return found;
}

static any_function *entry_of(const char *name)
{
    any_function *function;
    void *found = find(interposer, name);

    memcpy(&function, &found, sizeof function);
    return function;
}

/* Integers of 32 and of 64 bits read the same here. Columns are too close to
 * each other for the sizes: no other code than the library takes such a call.
 */
static int64_t number[21];
static char letter[] = "U";

/* The first argument behind the options is an order, or a number of rows. */
static void call_of_order(const char *name, unsigned options, int order)
{
    any_function *run = entry_of(name);
    void *a[21];

    for (unsigned i = 0; i < 21; i++) {
        number[i] = 60 - (int)i;
        a[i] = i < options ? (void *)letter : (void *)&number[i];
    }
    number[options] = order;
    run(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10],
        a[11], a[12], a[13], a[14], a[15], a[16], a[17], a[18], a[19], a[20],
        (size_t)1, (size_t)1, (size_t)1);
}

static void call(const char *name, unsigned options)
{
    call_of_order(name, options, 60 - (int)options);
}

static void expect_call(const char *name, unsigned arguments, unsigned options)
{
    const unsigned before = seen->calls;

    call(name, options);
    EXPECT(seen->calls == before + 1);
    EXPECT_STR(seen->name, name);
    EXPECT(seen->arguments == arguments);
    EXPECT(seen->lengths == options);
    for (unsigned i = 0; i < arguments; i++)
        EXPECT(seen->argument[i] ==
               (i < options ? (void *)letter : (void *)&number[i]));
    for (unsigned i = 0; i < options; i++)
        EXPECT(seen->length[i] == 1);
    EXPECT(get_threads() == 8);
}

static void every_name_is_passed_on_as_it_came(void)
{
    static const struct {
        const char *stem;
        unsigned arguments, options;
    } routine[] = {
#define TAKT_LAPACK(stem_, arguments_, options_, work_, is_query_) \
    {#stem_, arguments_, options_},
#include "lapack.def"
    };
    static const char *const pattern[] = {"s%s_", "d%s_64_", "scipy_s%s_",
                                          "scipy_d%s_64_"};

    for (size_t i = 0; i < sizeof routine / sizeof *routine; i++)
        for (size_t j = 0; j < 4; j++) {
            char name[32];
            snprintf(name, sizeof name, pattern[j], routine[i].stem);
            for (unsigned turn = 0; turn < 4; turn++)
                expect_call(name, routine[i].arguments, routine[i].options);
        }
}

/* 8, 4, 2, 1 in turns. */
static void other_numbers_of_threads_are_used(void)
{
    bool was[9] = {false};

    for (unsigned i = 0; i < 8; i++) {
        call("sgetrf_", 0);
        REQUIRE(seen->threads <= 8);
        was[seen->threads] = true;
    }
    EXPECT(was[1] && was[2] && was[4] && was[8]);
    EXPECT(get_threads() == 8);
}

static void questions_and_empty_calls_are_passed_on(void)
{
    int64_t n = 0, query = -1;
    double work = 0;

    for (unsigned i = 0; i < 8; i++) {
        entry_of("sgetrf_")(&n, &n, &work, &n, &n, &n);
        EXPECT(seen->threads == 8);
        n = 64;
        entry_of("sgeqrf_")(&n, &n, &work, &n, &work, &work, &query, &n);
        EXPECT(seen->threads == 8);
        n = 0;
    }
}

static void calls_inside_of_calls_are_a_part_of_them(void)
{
    for (unsigned i = 0; i < 8; i++) {
        call("dpotrf_", 1);
        EXPECT_STR(seen->name, "dpotrf_");
        EXPECT(seen->is_nested_alike);
        EXPECT(get_threads() == 8);
    }
}

static void a_call_that_was_jumped_out_of_is_put_right(void)
{
    jmp_buf here;

    for (volatile unsigned i = 0; i < 8; i++) {
        if (setjmp(here) == 0) {
            *jump = &here;
            call("sgetrf_", 0);
        }
        *jump = NULL;
    }
    call("sgetrf_", 0);
    EXPECT(get_threads() == 8);
}

static void *end_inside(void *self)
{
    call("sgetrf_", 0);
    return self; /* it does not come here */
}

static void a_call_that_a_thread_ended_in_is_put_right(void)
{
    *ends_thread = true;
    for (unsigned i = 0; i < 8; i++) {
        pthread_t thread;
        void *result;
        REQUIRE(pthread_create(&thread, NULL, end_inside, letter) == 0);
        REQUIRE(pthread_join(thread, &result) == 0);
        EXPECT(result == NULL);
        EXPECT(get_threads() == 8);
    }
    *ends_thread = false;
}

static void one_thread_stays_one(void)
{
    set_threads(1);
    for (unsigned i = 0; i < 4; i++) {
        call("sgetrf_", 0);
        EXPECT(seen->threads == 1);
    }
    EXPECT(get_threads() == 1);
    set_threads(8);
}

/* They are the program's as well, and other threads' calls use them. */
static void threads_of_openmp_are_left_alone(void)
{
    for (unsigned i = 0; i < 8; i++) {
        call("sgetrf_", 0);
        EXPECT(seen->threads == 8);
    }
}

/* As programs have it, most short calls are passed on without a choice. */
static void short_calls_are_passed_on_whatever_came_before(void)
{
    static const struct {
        const char *name;
        unsigned arguments, options;
    } short_call[] = {{"spotrf_", 5, 1}, {"sgetrf_", 6, 0}, {"sgesv_", 8, 0}};
    jmp_buf here;

    for (volatile unsigned i = 0; i < 3000; i++) {
        const unsigned which = i % 1000 < 900 ? i / 1000 : i % 3;
        letter[0] = i % 7 == 0 ? 'L' : 'U';
        expect_call(short_call[which].name, short_call[which].arguments,
                    short_call[which].options);
        call("dpotrf_", 1);
        EXPECT_STR(seen->name, "dpotrf_");
        EXPECT(seen->is_nested_alike);
        if (i % 50 == 0 && setjmp(here) == 0) {
            *jump = &here;
            call("sgetrf_", 0);
        }
        *jump = NULL;
    }
}

/* Whether all of many calls ran on the threads that the program has. */
static bool stays_on_all(const char *name, unsigned options, int order)
{
    bool is_so = true;

    for (unsigned i = 0; i < 500; i++) {
        call_of_order(name, options, order);
        is_so = is_so && seen->threads == 8;
    }
    return is_so;
}

/* Nothing can be gained there, and equal calls have equal bits. */
static void eigenvalues_of_few_rows_keep_their_threads(void)
{
    EXPECT(stays_on_all("dsyevr_64_", 3, 5));
    EXPECT(stays_on_all("ssyevd_", 2, 4));
    EXPECT(stays_on_all("ssyev_", 2, 2));
    EXPECT(!stays_on_all("dsyevr_64_", 3, 6));
    EXPECT(!stays_on_all("sgetrs_", 1, 2));
}

int main(int count, char **argv)
{
    REQUIRE(count >= 3);
    interposer = dlopen(argv[1], RTLD_NOW | RTLD_GLOBAL);
    baseline = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    if (interposer == NULL || baseline == NULL)
        printf("# %s\n", dlerror());
    REQUIRE(interposer != NULL && baseline != NULL);
    seen = find(baseline, "lapack_seen");
    jump = find(baseline, "lapack_jump");
    ends_thread = find(baseline, "lapack_ends_thread");
    *(void **)&get_threads = find(baseline, "openblas_get_num_threads");
    *(void **)&set_threads = find(baseline, "openblas_set_num_threads");
    if (count > 3) {
        if (strcmp(argv[3], "openmp") == 0) {
            RUN(threads_of_openmp_are_left_alone);
        } else {
            RUN(short_calls_are_passed_on_whatever_came_before);
            RUN(eigenvalues_of_few_rows_keep_their_threads);
        }
        return tap_done();
    }
    RUN(every_name_is_passed_on_as_it_came);
    RUN(other_numbers_of_threads_are_used);
    RUN(questions_and_empty_calls_are_passed_on);
    RUN(calls_inside_of_calls_are_a_part_of_them);
    RUN(a_call_that_was_jumped_out_of_is_put_right);
    RUN(a_call_that_a_thread_ended_in_is_put_right);
    RUN(one_thread_stays_one);
    return tap_done();
}
