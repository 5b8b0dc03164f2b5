/* SPDX-License-Identifier: MIT */
/* test_probe.c - single facts of machines made up for the purpose. */
#include "hw/probe.h"

#include <sys/resource.h>

#include "hw/files.h"
#include "memory_source.h"
#include "support/tap.h"

#define ARM "arch aarch64\n"

/* An x86 with AVX-512 whose leaf 1 ecx and XCR0 a test chooses. */
#define X86(ecx, xcr0)                    \
    "arch x86_64\nxcr0 " xcr0 "\n"        \
    "0 0: 7 756e6547 6c65746e 49656e69\n" \
    "1 0: 50654 0 " ecx " 4000000\n"      \
    "7 0: 0 d0030020 800 1000000\n"

#define CPU "@/sys/devices/system/cpu/"
#define CACHE "@/sys/devices/system/cpu/cpu0/cache/"
#define GROUP "@/proc/self/cgroup\n"
#define MOUNTS "@/proc/self/mountinfo\n"
#define ALLOWED "@/proc/self/status\nName: x\nCpus_allowed_list:\t"

static takt_machine probe(const char *text)
{
    struct memory_source *memory = malloc(sizeof *memory);
    struct takt_hw_source source;
    takt_machine machine;

    REQUIRE(memory != NULL);
    REQUIRE(memory_source_open(memory, text, strlen(text), &source));
    REQUIRE(takt__machine_probe(&source, &machine) == TAKT_OK);
    memory_source_close(memory);
    free(memory);
    return machine;
}

static unsigned threads_now(const takt_machine *machine, const char *files)
{
    struct memory_source *memory = malloc(sizeof *memory);
    struct takt_hw_source source;
    char text[512];

    REQUIRE(memory != NULL);
    snprintf(text, sizeof text, ARM "%s", files);
    REQUIRE(memory_source_open(memory, text, strlen(text), &source));
    const unsigned threads = takt__machine_threads_now(&source, machine);
    memory_source_close(memory);
    free(memory);
    return threads;
}

static takt_isa best_of(const char *text)
{
    const takt_machine machine = probe(text);
    return takt_machine_best_isa(&machine);
}

static void wide_registers_count_only_when_the_system_saves_them(void)
{
    EXPECT_INT(best_of(X86("18001000", "e7")), TAKT_ISA_AVX512);
    EXPECT_INT(best_of(X86("18001000", "67")), TAKT_ISA_AVX2);
    EXPECT_INT(best_of(X86("18001000", "7")), TAKT_ISA_AVX2);
    EXPECT_INT(best_of(X86("18001000", "3")), TAKT_ISA_SSE2);
    EXPECT_INT(best_of(X86("18001000", "0")), TAKT_ISA_SSE2);
    EXPECT_INT(best_of(X86("10001000", "e7")), TAKT_ISA_SSE2);
}

static void avx2_without_fma_is_not_avx2(void)
{
    EXPECT_INT(best_of(X86("18000000", "e7")), TAKT_ISA_SSE2);
}

static void further_instructions_need_their_registers_saved_too(void)
{
    EXPECT_INT(probe(X86("18001000", "600e7")).features,
               TAKT_CPU_AVX512_VNNI | TAKT_CPU_AMX);
    EXPECT_INT(probe(X86("18001000", "200e7")).features, TAKT_CPU_AVX512_VNNI);
    EXPECT_INT(probe(X86("18001000", "7")).features, 0);
}

static void extended_family_and_model_are_added(void)
{
    const char *table = "arch x86_64\n0 0: 1 0 0 0\n1 0: ";
    char text[96];

    snprintf(text, sizeof text, "%sa10f11 0 0 0\n", table);
    takt_machine machine = probe(text); /* Genoa */
    EXPECT_INT(machine.cpu_family, 25);
    EXPECT_INT(machine.cpu_model, 17);
    EXPECT_INT(machine.cpu_stepping, 1);
    snprintf(text, sizeof text, "%s806f8 0 0 0\n", table);
    machine = probe(text); /* Sapphire Rapids */
    EXPECT_INT(machine.cpu_family, 6);
    EXPECT_INT(machine.cpu_model, 143);
    snprintf(text, sizeof text, "%sf0543 0 0 0\n", table);
    machine = probe(text); /* family 5 takes no extension */
    EXPECT_INT(machine.cpu_family, 5);
    EXPECT_INT(machine.cpu_model, 4);
}

static void offline_cpus_belong_to_the_machine_and_not_to_the_process(void)
{
    const takt_machine machine =
        probe(ARM CPU "present\n0-7\n" CPU "online\n0-5\n" ALLOWED "0-63\n");
    EXPECT_INT(machine.logical_cpus, 8);
    EXPECT_INT(machine.cores, 8);
    EXPECT_INT(machine.allowed_cpus, 6);
    EXPECT_INT(machine.threads, 6);
}

static void affinity_limits_threads_and_not_the_machine(void)
{
    const char *all = ARM CPU "present\n0-7\n" ALLOWED "0-7\n";
    const char *some = ARM CPU "present\n0-7\n" ALLOWED "1,3-4\n";

    EXPECT_INT(probe(some).logical_cpus, 8);
    EXPECT_INT(probe(some).threads, 3);
    EXPECT_STR(probe(some).hw_fingerprint, probe(all).hw_fingerprint);
}

static void cpus_are_counted_in_cpuinfo_when_sysfs_is_absent(void)
{
    const takt_machine machine =
        probe(ARM "@/proc/cpuinfo\nprocessor : 0\n\nprocessor : 1\n");
    EXPECT_INT(machine.logical_cpus, 2);
    EXPECT_INT(machine.cores, 2);
    EXPECT_INT(machine.threads, 2);
}

static void a_list_that_is_no_list_is_ignored(void)
{
    static const char *const lists[] = {
        "",     "-",       "a",    "3-1",   "1,",
        "1-",   "1,,2",    "0-3;", "0-3 4", "99999999999999999999999",
        "8192", "\xff\xfe"};
    char text[128];

    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        snprintf(text, sizeof text, ARM CPU "present\n%s\n", lists[i]);
        TAP_CHECK(probe(text).logical_cpus == 1, "accepted: %s", lists[i]);
    }
    EXPECT_INT(probe(ARM CPU "present\n0-99999999999\n").logical_cpus, 8192);
}

static double quota(const char *files)
{
    char text[2048];
    snprintf(text, sizeof text, ARM CPU "present\n0-7\n%s", files);
    return probe(text).quota_cpus;
}

static void the_smallest_quota_on_the_way_to_the_root_counts(void)
{
    EXPECT_NEAR(quota(GROUP "0::/a/b\n"
                            "@/sys/fs/cgroup/a/b/cpu.max\n600000 100000\n"
                            "@/sys/fs/cgroup/a/cpu.max\n150000 100000\n"
                            "@/sys/fs/cgroup/cpu.max\nmax 100000\n"),
                1.5, 0.0);
    EXPECT_NEAR(quota(GROUP "0::/\n@/sys/fs/cgroup/cpu.max\n50000 100000\n"),
                0.5, 0.0);
}

static void a_quota_of_version_1_is_found_where_it_is_mounted(void)
{
    EXPECT_NEAR(quota(GROUP "4:cpu,cpuacct:/docker/c1\n" MOUNTS
                            "9 8 0:9 /docker/c1 /cg\\040roup rw shared:1 - "
                            "cgroup cgroup rw,cpu,cpuacct\n"
                            "@/cg roup/cpu.cfs_quota_us\n350000\n"
                            "@/cg roup/cpu.cfs_period_us\n100000\n"),
                3.5, 0.0);
}

static void the_tighter_one_of_both_versions_counts(void)
{
    EXPECT_NEAR(quota(GROUP "1:cpu:/\n0::/\n"
                            "@/sys/fs/cgroup/cpu.max\n400000 100000\n"
                            "@/sys/fs/cgroup/cpu/cpu.cfs_quota_us\n200000\n"
                            "@/sys/fs/cgroup/cpu/cpu.cfs_period_us\n100000\n"),
                2.0, 0.0);
}

static void a_group_outside_of_the_mount_is_seen_at_the_mount(void)
{
    const char *file = "@/sys/fs/cgroup/cpu.max\n300000 100000\n";
    char text[256];

    snprintf(text, sizeof text, GROUP "0::/../../x\n%s", file);
    EXPECT_NEAR(quota(text), 3.0, 0.0);
    snprintf(text, sizeof text,
             GROUP "0::/a\n" MOUNTS
                   "9 8 0:9 /b /sys/fs/cgroup rw - cgroup2 c rw\n%s",
             file);
    EXPECT_NEAR(quota(text), 3.0, 0.0);
}

static void a_quota_that_makes_no_sense_is_no_limit(void)
{
    static const char *const values[] = {"",         "max 100000", "100000 0",
                                         "0 100000", "-1 100000",  "100000",
                                         "max",      "\x80\x81"};
    char text[128];

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        snprintf(text, sizeof text, GROUP "0::/\n@/sys/fs/cgroup/cpu.max\n%s\n",
                 values[i]);
        TAP_CHECK(quota(text) <= 0.0, "accepted: %s", values[i]);
    }
}

static unsigned threads_at(const char *limit)
{
    char text[160];
    snprintf(text, sizeof text,
             ARM CPU "present\n0-7\n" GROUP
                     "0::/\n@/sys/fs/cgroup/cpu.max\n%s 100000\n",
             limit);
    return probe(text).threads;
}

static void a_quarter_of_a_cpu_is_worth_a_thread(void)
{
    EXPECT_INT(threads_at("224999"), 2);
    EXPECT_INT(threads_at("225000"), 3);
    EXPECT_INT(threads_at("300000"), 3);
    EXPECT_INT(threads_at("100000"), 1);
    EXPECT_INT(threads_at("50000"), 1);
    EXPECT_INT(threads_at("20000"), 1);
    EXPECT_INT(threads_at("90000000"), 8);
    EXPECT_INT(threads_at("max"), 8);
}

static void a_quota_that_has_changed_is_read_again(void)
{
    takt_machine machine =
        probe(ARM CPU "present\n0-7\n" GROUP "0::/\n@/sys/fs/"
                      "cgroup/cpu.max\n400000 100000\n");
    EXPECT_INT(machine.threads, 4);
    EXPECT_INT(threads_now(&machine, GROUP "0::/\n@/sys/fs/cgroup/cpu.max\n"
                                           "50000 100000\n"),
               1);
    EXPECT_INT(threads_now(&machine, GROUP "0::/\n@/sys/fs/cgroup/cpu.max\n"
                                           "max 100000\n"),
               8);
}

static void caches_come_from_cpuid_when_sysfs_has_none(void)
{
    const char *amd = "arch x86_64\n0 0: 1 0 0 0\n"
                      "80000000 0: 8000001e 0 0 0\n"
                      "8000001d 0: 121 1c0003f 3f 0\n"
                      "8000001d 1: 122 1c0003f 3f 0\n"
                      "8000001d 2: 143 1c0003f 7ff 0\n"
                      "8000001d 3: 163 3c0003f 7fff 0\n";
    const takt_machine machine = probe(amd);

    EXPECT_INT(machine.l1d_bytes, 32 << 10);
    EXPECT_INT(machine.l2_bytes, 1 << 20);
    EXPECT_INT(machine.l3_bytes, 32 << 20);
}

static void cache_sizes_that_make_no_sense_are_unknown(void)
{
    static const char *const sizes[] = {"", "K", "-1K", "99999999999999999G",
                                        "18446744073709551616"};
    char text[256];

    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        snprintf(text, sizeof text,
                 ARM CACHE "index0/level\n1\n" CACHE "index0/type\nData\n" CACHE
                           "index0/size\n%s\n",
                 sizes[i]);
        TAP_CHECK(probe(text).l1d_bytes == 0, "accepted: %s", sizes[i]);
    }
}

static void memory_that_makes_no_sense_is_unknown(void)
{
    EXPECT_INT(probe(ARM "@/proc/meminfo\nMemTotal: 2 kB\n").memory_bytes,
               2048);
    EXPECT_INT(probe(ARM "@/proc/meminfo\nMemTotal: x kB\n").memory_bytes, 0);
    EXPECT_INT(probe(ARM "@/proc/meminfo\nMemTotal: 18446744073709551615 kB\n")
                   .memory_bytes,
               0);
}

#define PCI "@/sys/bus/pci/devices/"

static void gpus_are_display_devices_of_known_vendors(void)
{
    const takt_machine machine = probe(
        ARM PCI
        "0000:01:00.0/class\n0x030000\n" PCI "0000:01:00.0/vendor\n0x10de\n" PCI
        "0000:01:00.0/device\n0x2684\n" PCI "0000:01:00.1/class\n0x040300\n" PCI
        "0000:01:00.1/vendor\n0x10de\n" PCI "0000:02:00.0/class\n0x030000\n" PCI
        "0000:02:00.0/vendor\n0x1a03\n" PCI "0000:03:00.0/class\n0x120000\n" PCI
        "0000:03:00.0/vendor\n0x1002\n" PCI "0000:03:00.0/device\n0x74a1\n" PCI
        "0000:04:00.0/class\n0x120000\n" PCI "0000:04:00.0/vendor\n0x8086\n"
        "@/proc/driver/nvidia/gpus/0000:01:00.0/information\n"
        "Model: \t\t NVIDIA  GeForce RTX 4090\nIRQ: 1\n");

    EXPECT_INT(machine.gpu_count, 2);
    EXPECT_STR(machine.gpu[0].name, "NVIDIA GeForce RTX 4090");
    EXPECT_STR(machine.gpu[0].address, "0000:01:00.0");
    EXPECT_STR(machine.gpu[1].name, "AMD device 74a1");
    EXPECT_STR(machine.gpu[1].address, "0000:03:00.0");
}

static void more_gpus_than_fit_are_left_out(void)
{
    static char text[8192];
    int length = snprintf(text, sizeof text, ARM);

    for (int i = 0; i < 20; i++)
        length += snprintf(text + length, sizeof text - (size_t)length,
                           PCI "0000:%02x:00.0/class\n0x030200\n" PCI
                               "0000:%02x:00.0/vendor\n0x10de\n",
                           (unsigned)i, (unsigned)i);
    const takt_machine machine = probe(text);
    EXPECT_INT(machine.gpu_count, TAKT_MACHINE_MAX_GPUS);
    EXPECT_STR(machine.gpu[15].address, "0000:0f:00.0");
}

static void an_arm_core_nobody_named_is_told_by_its_number(void)
{
    const takt_machine machine =
        probe(ARM "@/proc/cpuinfo\nprocessor : 0\nFeatures : fp asimd sve\n"
                  "CPU implementer : 0x48\nCPU variant : 0x2\n"
                  "CPU part : 0xd01\nCPU revision : 1\n\nprocessor : 1\n"
                  "CPU part : 0xd08\n");

    EXPECT_STR(machine.cpu_vendor, "HiSilicon");
    EXPECT_STR(machine.cpu_name, "HiSilicon part 0xd01");
    EXPECT_INT(machine.cpu_family, 0x48);
    EXPECT_INT(machine.cpu_model, 0xd01);
    EXPECT_INT(machine.cpu_stepping, 0x21);
    EXPECT_INT(machine.sve_bits, 128);
    EXPECT_INT(takt_machine_best_isa(&machine), TAKT_ISA_NEON);
}

static void names_hold_nothing_a_terminal_would_obey(void)
{
    const takt_machine machine = probe("arch x86_64\n0 0: 1 1b5b41 0a4242 0\n");
    EXPECT_STR(machine.cpu_vendor, "A[");
}

/* ---- what cannot be read ---- */

static const char *unreadable; /* a path */
static bool is_asked;

static size_t fail_file(void *self, const char *path, char *buf, size_t cap)
{
    buf[0] = '\0';
    if (strcmp(path, unreadable) != 0)
        return memory_source_file(self, path, buf, cap);
    is_asked = true;
    return TAKT_HW_FAILED;
}

static size_t fail_list(void *self, const char *folder, char *buf, size_t cap)
{
    buf[0] = '\0';
    if (strcmp(folder, unreadable) != 0)
        return memory_source_list(self, folder, buf, cap);
    is_asked = true;
    return TAKT_HW_FAILED;
}

static void check_unreadable(const char *path, bool has_fingerprint)
{
    static const char text[] = X86("98001000", "e7") CPU
        "present\n0-3\n" CPU "online\n0-3\n" CPU
        "cpu0/topology/thread_siblings_list\n0-1\n" CACHE
        "index0/level\n1\n" CACHE "index0/type\nData\n" CACHE
        "index0/size\n48K\n"
        "@/sys/devices/system/node/online\n0-1\n"
        "@/sys/bus/pci/devices/0000:01:00.0/class\n0x030200\n"
        "@/sys/bus/pci/devices/0000:01:00.0/vendor\n0x10de\n";
    struct memory_source *memory = malloc(sizeof *memory);
    struct takt_hw_source source;
    takt_machine machine;

    REQUIRE(memory != NULL);
    REQUIRE(memory_source_open(memory, text, strlen(text), &source));
    source.file = fail_file;
    source.list = fail_list;
    unreadable = path;
    is_asked = false;
    REQUIRE(takt__machine_probe(&source, &machine) == TAKT_OK);
    TAP_CHECK(is_asked != has_fingerprint, "%s is not asked", path);
    TAP_CHECK((machine.hw_fingerprint[0] != '\0') == has_fingerprint,
              "%s: fingerprint \"%s\"", path, machine.hw_fingerprint);
    for (unsigned i = 0; i < machine.gpu_count; i++)
        TAP_CHECK((machine.gpu[i].fingerprint[0] != '\0') == has_fingerprint,
                  "%s: fingerprint of a GPU", path);
    memory_source_close(memory);
    free(memory);
}

static void a_machine_that_cannot_be_read_has_no_fingerprint(void)
{
    static const char *const paths[] = {
        "/sys/devices/system/cpu/present",
        "/sys/devices/system/cpu/cpu0/topology/thread_siblings_list",
        "/sys/devices/system/cpu/cpu0/cache",
        "/sys/devices/system/cpu/cpu0/cache/index0/size",
        "/sys/devices/system/node/online",
        "/sys/bus/pci/devices",
        "/sys/bus/pci/devices/0000:01:00.0/device",
        "/proc/self/cgroup",
        "/proc/meminfo"};

    check_unreadable("none", true);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
        check_unreadable(paths[i], false);
}

/* A program that has as many files open as it may. */
static void a_file_that_cannot_be_opened_now_is_not_taken_for_absent(void)
{
    struct rlimit before, none;
    char text[64] = "x";

    EXPECT_INT(takt__file_read("/nowhere/x", text, sizeof text), 0);
    EXPECT_INT(takt__folder_list("/nowhere", text, sizeof text), 0);
    REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
    none = before;
    none.rlim_cur = 0;
    REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
    const size_t file = takt__file_read("/proc/meminfo", text, sizeof text);
    const size_t folder = takt__folder_list("/proc", text, sizeof text);
    REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
    EXPECT(file == TAKT_HW_FAILED);
    EXPECT(folder == TAKT_HW_FAILED);
    EXPECT_STR(text, "");
}

int main(void)
{
    RUN(wide_registers_count_only_when_the_system_saves_them);
    RUN(avx2_without_fma_is_not_avx2);
    RUN(further_instructions_need_their_registers_saved_too);
    RUN(extended_family_and_model_are_added);
    RUN(offline_cpus_belong_to_the_machine_and_not_to_the_process);
    RUN(affinity_limits_threads_and_not_the_machine);
    RUN(cpus_are_counted_in_cpuinfo_when_sysfs_is_absent);
    RUN(a_list_that_is_no_list_is_ignored);
    RUN(the_smallest_quota_on_the_way_to_the_root_counts);
    RUN(a_quota_of_version_1_is_found_where_it_is_mounted);
    RUN(the_tighter_one_of_both_versions_counts);
    RUN(a_group_outside_of_the_mount_is_seen_at_the_mount);
    RUN(a_quota_that_makes_no_sense_is_no_limit);
    RUN(a_quarter_of_a_cpu_is_worth_a_thread);
    RUN(a_quota_that_has_changed_is_read_again);
    RUN(caches_come_from_cpuid_when_sysfs_has_none);
    RUN(cache_sizes_that_make_no_sense_are_unknown);
    RUN(memory_that_makes_no_sense_is_unknown);
    RUN(gpus_are_display_devices_of_known_vendors);
    RUN(more_gpus_than_fit_are_left_out);
    RUN(an_arm_core_nobody_named_is_told_by_its_number);
    RUN(names_hold_nothing_a_terminal_would_obey);
    RUN(a_machine_that_cannot_be_read_has_no_fingerprint);
    RUN(a_file_that_cannot_be_opened_now_is_not_taken_for_absent);
    return tap_done();
}
