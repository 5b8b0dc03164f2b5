/* SPDX-License-Identifier: MIT */
/*
 * tap.h - a test program in the Test Anything Protocol.
 *
 *     static void two_and_two_make_four(void) { EXPECT_INT(2 + 2, 4); }
 *     int main(void) { RUN(two_and_two_make_four); return tap_done(); }
 *
 * A failed EXPECT prints both values and goes on; a failed REQUIRE ends the
 * program, because what follows would not make sense.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int tap_tests, tap_failed_tests, tap_failures;
static const char *tap_skip_reason;

#define TAP_CHECK(condition, ...)                    \
    do {                                             \
        if (!(condition)) {                          \
            tap_failures++;                          \
            printf("# %s:%d: ", __FILE__, __LINE__); \
            printf(__VA_ARGS__);                     \
            putchar('\n');                           \
        }                                            \
    } while (0)

#define EXPECT(condition) TAP_CHECK(condition, "%s", #condition)

#define EXPECT_INT(got, want)                                                \
    do {                                                                     \
        const long long got_ = (long long)(got);                             \
        const long long want_ = (long long)(want);                           \
        TAP_CHECK(got_ == want_, "%s is %lld, not %lld", #got, got_, want_); \
    } while (0)

#define EXPECT_STR(got, want)                                              \
    do {                                                                   \
        const char *got_ = (got);                                          \
        const char *want_ = (want);                                        \
        TAP_CHECK(tap_same(got_, want_), "%s is \"%s\", not \"%s\"", #got, \
                  got_ ? got_ : "(null)", want_ ? want_ : "(null)");       \
    } while (0)

#define EXPECT_NEAR(got, want, tolerance)                                      \
    do {                                                                       \
        const double got_ = (got);                                             \
        const double want_ = (want);                                           \
        TAP_CHECK(fabs(got_ - want_) <= (tolerance), "%s is %.17g, not %.17g", \
                  #got, got_, want_);                                          \
    } while (0)

#define REQUIRE(condition)                                                   \
    do {                                                                     \
        if (!(condition)) {                                                  \
            printf("Bail out! %s:%d: %s\n", __FILE__, __LINE__, #condition); \
            exit(1);                                                         \
        }                                                                    \
    } while (0)

#define RUN(test) tap_run(#test, test)

/* Marks the running test as skipped; the caller then returns. */
#define SKIP(reason) (tap_skip_reason = (reason))

static inline bool tap_same(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static inline void tap_run(const char *name, void (*test)(void))
{
    const int failures_before = tap_failures;

    tap_skip_reason = NULL;
    test();
    tap_tests++;
    const bool passed = tap_failures == failures_before;
    tap_failed_tests += !passed;
    printf("%s %d - %s%s%s\n", passed ? "ok" : "not ok", tap_tests, name,
           tap_skip_reason ? " # SKIP " : "",
           tap_skip_reason ? tap_skip_reason : "");
    fflush(stdout);
}

static inline int tap_done(void)
{
    printf("1..%d\n", tap_tests);
    return tap_failed_tests != 0;
}
