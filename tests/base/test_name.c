/* SPDX-License-Identifier: MIT */
/* test_name.c - comparing names, and measuring how far apart they are. */
#include "base/name.h"

#include <stdint.h>

#include "support/tap.h"

static void names_compare_without_case(void)
{
    EXPECT(takt__name_equal("MatMul", "matmul"));
    EXPECT(takt__name_equal("", ""));
    EXPECT(!takt__name_equal("mat", "matmul"));
    EXPECT(!takt__name_equal("matmul", "mat"));
    EXPECT(takt__name_equal_n("add sub", 3, "Add"));
    EXPECT(!takt__name_equal_n("add sub", 2, "add"));
    EXPECT(!takt__name_equal("[", "{")); /* 0x20 apart, but no letters */
}

static void distance_counts_edits(void)
{
    EXPECT_INT(takt__name_distance("", ""), 0);
    EXPECT_INT(takt__name_distance("", "abc"), 3);
    EXPECT_INT(takt__name_distance("sum", "SUM"), 0);
    EXPECT_INT(takt__name_distance("summ", "sum"), 1);
    EXPECT_INT(takt__name_distance("smu", "sum"), 1);
    EXPECT_INT(takt__name_distance("kitten", "sitting"), 3);
    EXPECT_INT(takt__name_distance("ca", "abc"), 3);
}

static void long_names_are_infinitely_far(void)
{
    char longest[80];

    memset(longest, 'a', sizeof longest);
    longest[64] = '\0';
    EXPECT(takt__name_distance(longest, "a") == SIZE_MAX);
    longest[63] = '\0';
    EXPECT_INT(takt__name_distance(longest, "a"), 62);
}

static void near_is_what_a_typing_mistake_makes(void)
{
    EXPECT(takt__name_near("summ", "sum", 1));
    EXPECT(takt__name_near("ad", "add", 1));
    EXPECT(!takt__name_near("ab", "xy", 2));
    EXPECT(!takt__name_near("transpose", "transform", 3));
}

int main(void)
{
    RUN(names_compare_without_case);
    RUN(distance_counts_edits);
    RUN(long_names_are_infinitely_far);
    RUN(near_is_what_a_typing_mistake_makes);
    return tap_done();
}
