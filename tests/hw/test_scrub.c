/* SPDX-License-Identifier: MIT */
/* test_scrub.c - names out, names back, and what happens when there are too
 * many of them. */
#include "hw/scrub.h"

#include "support/tap.h"

static struct takt_scrub scrub;

static const char *scrubbed(const char *path, const char *text)
{
    static char copy[8192];
    static char out[8192];

    snprintf(copy, sizeof copy, "%s", text);
    const size_t length = takt__scrub_text(&scrub, path, copy, out, sizeof out);
    EXPECT_INT(length, strlen(out));
    return out;
}

static void forget_names(void)
{
    memset(&scrub, 0, sizeof scrub);
}

static void a_neutral_name_leads_back_to_the_real_one(void)
{
    char path[128];

    forget_names();
    EXPECT_STR(scrubbed("/proc/self/cgroup", "0::/user.slice/g7/user.slice\n"),
               "0::/g0/g1/g0\n");
    EXPECT(takt__scrub_restore(&scrub, "/sys/fs/cgroup/g0/g1/g0/cpu.max", path,
                               sizeof path));
    EXPECT_STR(path, "/sys/fs/cgroup/user.slice/g7/user.slice/cpu.max");
    EXPECT(takt__scrub_restore(&scrub, "/g2/g/g0x/gpu", path, sizeof path));
    EXPECT_STR(path, "/g2/g/g0x/gpu");
    EXPECT(!takt__scrub_restore(&scrub, "/sys/fs/cgroup/g0", path, 24));
}

static void a_group_with_too_many_names_is_left_out(void)
{
    char text[1024];
    size_t length = (size_t)snprintf(text, sizeof text, "0::");

    forget_names();
    for (int i = 0; i <= TAKT_SCRUB_NAMES; i++)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "/group-%d", i);
    EXPECT_STR(scrubbed("/proc/self/cgroup", text), "");
    EXPECT_STR(scrubbed("/proc/self/cgroup", "0::/group-0\n"), "0::/g0\n");
}

static void a_name_longer_than_the_kernel_allows_is_left_out(void)
{
    char text[TAKT_SCRUB_NAME + 8] = "0::/";

    forget_names();
    memset(text + 4, 'x', TAKT_SCRUB_NAME);
    EXPECT_STR(scrubbed("/proc/self/cgroup", text), "");
    EXPECT_INT(scrub.count, 0);
}

static void a_line_that_does_not_fit_is_left_out_whole(void)
{
    char text[] = "processor : 0\nprocessor : 1\n";
    char out[24];

    EXPECT_INT(takt__scrub_text(&scrub, "/proc/cpuinfo", text, out, sizeof out),
               14);
    EXPECT_STR(out, "processor : 0\n");
    EXPECT_INT(takt__scrub_text(&scrub, "/proc/cpuinfo", text, out, 0), 0);
}

static void a_file_of_proc_that_is_not_listed_is_not_recorded(void)
{
    EXPECT_STR(scrubbed("/proc/self/environ", "USER=someone"), "");
    EXPECT_STR(scrubbed("/proc/sys/kernel/hostname", "someone"), "");
    EXPECT_STR(scrubbed("/proc/sys/abi/sve_default_vector_length", "32\n"),
               "32\n");
    EXPECT_STR(scrubbed("/sys/devices/system/cpu/present", "0-7\n"), "0-7\n");
}

static void lines_that_are_not_of_the_kernel_are_left_out(void)
{
    forget_names();
    EXPECT_STR(scrubbed("/proc/self/cgroup", "\n:\n::\n0::\n0::x\nhost\n"), "");
    EXPECT_STR(scrubbed("/proc/self/mountinfo",
                        "\n1 2 3\n1 0 0:1 / /host rw - \n"
                        "1 0 0:1 host /host rw - cgroup2 x rw\n"
                        "1 0 0:1 / /host rw cgroup2 x rw\n"),
               "");
    EXPECT_INT(scrub.count, 0);
}

int main(void)
{
    RUN(a_neutral_name_leads_back_to_the_real_one);
    RUN(a_group_with_too_many_names_is_left_out);
    RUN(a_name_longer_than_the_kernel_allows_is_left_out);
    RUN(a_line_that_does_not_fit_is_left_out_whole);
    RUN(a_file_of_proc_that_is_not_listed_is_not_recorded);
    RUN(lines_that_are_not_of_the_kernel_are_left_out);
    return tap_done();
}
