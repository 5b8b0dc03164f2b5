/* SPDX-License-Identifier: MIT */
/*
 * test_examples.c - the examples that stand in the query files hold, and each
 * pattern has one.
 */
#include "support/tap.h"

#include "examples.h"
#include "languages.h"

static void check(enum takt_scan_language id)
{
    const struct takt_language *language = takt__language(id);
    struct takt_patterns patterns;
    struct takt_scan_finder finder;
    takt_diag diag = {""};

    REQUIRE(language != NULL);
    if (takt__patterns_open(language, &patterns, &diag) != TAKT_OK) {
        TAP_CHECK(false, "%s", diag.text);
        return;
    }
    REQUIRE(takt__finder_open(&finder) == TAKT_OK);
    const struct examples_score score =
        examples_check(&finder, &patterns, stdout);
    printf("# %s: %u patterns, %u examples to be found and %u not to be\n",
           takt__scan_language_name(id), score.patterns, score.positives,
           score.negatives);
    EXPECT_INT(score.wrong, 0);
    EXPECT_INT(score.without, 0);
    takt__finder_close(&finder);
    takt__patterns_close(&patterns);
}

static void examples_of_c_hold(void)
{
    check(TAKT_SCAN_C);
}

static void examples_of_cpp_hold(void)
{
    check(TAKT_SCAN_CPP);
}

static void examples_of_python_hold(void)
{
    check(TAKT_SCAN_PYTHON);
}

static void examples_of_rust_hold(void)
{
    check(TAKT_SCAN_RUST);
}

int main(void)
{
    RUN(examples_of_c_hold);
    RUN(examples_of_cpp_hold);
    RUN(examples_of_python_hold);
    RUN(examples_of_rust_hold);
    return tap_done();
}
